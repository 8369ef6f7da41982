#include "data/files/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/utf8.hpp"

namespace attn {

// --- json

namespace {

constexpr std::size_t deepest = 100;
constexpr std::size_t most_values = std::size_t{1} << 24;  // each takes 16 bytes or more once parsed
constexpr std::size_t most_members = 100'000;              // each keeps its name

// Where the string that begins at `at` ends, or the text.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at, text.size());
}

// "where:line:column" of a byte of a text; columns count characters.
std::string place_in(std::string_view text, std::size_t at, const std::string& where) {
  const std::string_view before = text.substr(0, at);
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
  const auto begins_character = [](char c) { return !continues_character(c); };
  const auto column = std::ranges::count_if(before.substr(line_begin), begins_character) + 1;
  return fmt::format("{}:{}:{}", where, std::ranges::count(before, '\n') + 1, column);
}

// Where the name of a member stands, counted from 1 through all of the text: each has a colon behind it.
std::size_t place_of_name(std::string_view text, std::size_t number) {
  std::size_t name = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ':' && --number == 0) break;
    if (text[at] != '"') continue;
    name = at;
    at = end_of_string(text, at);
  }
  return name;
}

// Throws InputError when JSON text would take too much to hold, before any of it is held: too many values,
// values nested too deep, or an object with too many members. Says nothing about any other mistake.
void refuse_oversized_json(std::string_view text, const std::string& where) {
  std::array<std::size_t, deepest + 1> members{};
  std::size_t depth = 0;
  std::size_t values = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') at = end_of_string(text, at);
    if (c == '[' || c == '{') {
      if (depth == deepest) {
        fail("{}: brackets are nested more than {} deep: give rows of numbers", place_in(text, at, where), deepest);
      }
      members[++depth] = 0;
      ++values;
    }
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == ':' && ++members[depth] > most_members) {
      fail("{}: an object has more than {} members: split it into several files", place_in(text, at, where),
           most_members);
    }
    if (c == ',' && ++values > most_values) {
      fail("{}: there are more than {} values: use an .npy file for a matrix this large", place_in(text, at, where),
           most_values);
    }
  }
}

// A text in which numbers that JSON has no way to write, but Python's json module writes all the same, stand
// in quotes.
struct QuotedWords {
  std::string text;
  std::vector<std::size_t> quotes;  // the places of those that were put in
};

constexpr std::array<std::string_view, 3> quoted_words = {"-Infinity", "Infinity", "NaN"};

QuotedWords with_quotes(std::string_view text) {
  QuotedWords result;
  std::size_t copied = 0;
  const auto put_quote_at = [&](std::size_t at) {
    result.text += text.substr(copied, at - copied);
    copied = at;
    result.quotes.push_back(result.text.size());
    result.text += '"';
  };
  for (std::size_t at = 0; (at = text.find_first_of("\"-IN", at)) < text.size(); ++at) {
    if (text[at] == '"') {
      at = end_of_string(text, at);
      continue;
    }
    const auto begins = [&](std::string_view word) { return text.substr(at).starts_with(word); };
    const auto word = std::ranges::find_if(quoted_words, begins);
    if (word == quoted_words.end()) continue;
    put_quote_at(at);
    put_quote_at(at + word->size());
    at += word->size() - 1;
  }
  if (!result.quotes.empty()) result.text += text.substr(copied);
  return result;
}

// Where the token that begins at `at` ends: a string, a bracket, a sign between values, or a word.
std::size_t end_of_token(std::string_view text, std::size_t at) {
  if (text[at] == '"') return std::min(end_of_string(text, at) + 1, text.size());
  return std::max(std::min(text.find_first_of(" \t\r\n\"[]{},:", at), text.size()), at + 1);
}

// Whether a token is JSON by itself, or one of the words that are put in quotes.
bool is_correct(std::string_view token) {
  return std::string_view("[]{},:").find(token.front()) != std::string_view::npos ||
         std::ranges::find(quoted_words, token) != quoted_words.end() || Json::accept(token);
}

constexpr std::string_view expected_value =
    "a value is expected here: a number, true, false, \"NaN\", \"Infinity\", a '[' or a '{'";

// What JSON allows after the two last correct tokens of a text, within what is open there, if anything is.
std::string_view expected_after(std::string_view before, std::string_view last, const Json* open) {
  if (last.empty()) return expected_value;
  if (open == nullptr) return "nothing may follow the end of the JSON value: remove this";
  const bool begins_one = last == "[" || last == "{" || last == ",";
  if (!open->is_object()) return begins_one ? expected_value : "a ',' or ']' is expected here";
  if (begins_one) return "the name of a member in double quotes is expected here";
  if (last == ":") return expected_value;
  const bool is_name = before == "{" || before == ",";
  return is_name ? "a ':' is expected here, between a name and its value" : "a ',' or '}' is expected here";
}

// What is wrong with a token that is not correct.
std::string_view mistake_in(std::string_view token, std::string_view expected) {
  if (token.front() == '"')
    return "this string is not closed, or has a character that JSON does not allow: write it in plain double quotes";
  const bool is_like_number = std::string_view("-+.0123456789").find(token.front()) != std::string_view::npos;
  return is_like_number && expected == expected_value ? "this is not a number in JSON: write it like -1.5 or 2e-3"
                                                      : expected;
}

// What is wrong where the parser stopped. It is told from the text, because the parser's own words differ
// between its releases.
std::string_view mistake_at(std::string_view text, std::size_t at, const Json* open) {
  std::string_view before, last;
  for (std::size_t end = 0;;) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n", end);
    if (begin > at) return expected_after(before, last, open);
    end = end_of_token(text, begin);
    const std::string_view token = text.substr(begin, end - begin);
    // A token that is not correct has stopped the parser within it or right behind it.
    if (end >= at && !is_correct(token)) return mistake_in(token, expected_after(before, last, open));
    if (end > at) return expected_after(before, last, open);
    before = std::exchange(last, token);
  }
}

// Builds the value from the parser's events, so that every mistake is met together with its place.
class JsonBuilder {
  struct Open {
    Json* value;
    std::unordered_set<std::string> members;  // the names of those of an object
  };

 public:
  /// `quotes` are the places of what stands in the parsed text, but not in this one.
  JsonBuilder(std::string_view text, const std::string& where, const std::vector<std::size_t>& quotes)
      : text_(text), where_(where), quotes_(quotes) {}

  Json take() { return std::move(root_); }

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(Json::number_integer_t value) { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
  bool number_float(Json::number_float_t value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t&) { return false; }
  bool key(std::string& name) {
    ++members_;
    if (!open_.back().members.insert(name).second) {
      fail("{}: the member {} is given twice: leave out one of them",
           place_in(text_, place_of_name(text_, members_), where_), name_in_quotes(name));
    }
    key_ = std::move(name);
    return true;
  }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& error) {
    constexpr int number_overflow = 406;
    const std::size_t parsed = std::max<std::size_t>(position, 1) - 1;
    const auto added = std::ranges::lower_bound(quotes_, parsed) - quotes_.begin();
    const std::size_t at = std::min(parsed - static_cast<std::size_t>(added), text_.size());
    const std::string place = place_in(text_, at, where_);
    if (error.id == number_overflow) {
      fail("{}: {} is too large for a number: write \"Infinity\" if that is meant", place, in_quotes(token));
    }
    fail("{}: {}", place, mistake_at(text_, at, open_.empty() ? nullptr : open_.back().value));
  }

 private:
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back().value;
    if (parent.is_object()) return member(std::move(value));
    parent.push_back(std::move(value));
    return parent.back();
  }
  // No name is there already: the object itself would look through all of its members for it.
  Json& member(Json value) {
    Json::object_t& members = open_.back().value->get_ref<Json::object_t&>();
    members.push_back({key_, std::move(value)});
    return members.back().second;
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    open_.push_back({&place(std::move(value)), {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& where_;
  const std::vector<std::size_t>& quotes_;
  Json root_;
  std::vector<Open> open_;  // from the root down to what is being filled, so that none of them moves
  std::string key_;
  std::size_t members_ = 0;  // that have begun
};

}  // namespace

Json parse_json(std::string_view text, const std::string& where) {
  // An archive or a file of tensors, not text that has gone wrong.
  if (text.find('\0') != std::string_view::npos) fail("{} is not text: give a JSON file", where);
  refuse_oversized_json(text, where);
  const QuotedWords quoted = with_quotes(text);
  const std::string_view parsed = quoted.quotes.empty() ? text : quoted.text;
  JsonBuilder builder(text, where, quoted.quotes);
  Json::sax_parse(parsed.begin(), parsed.end(), &builder);
  return builder.take();
}

std::string json_string(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// --- members of a file

std::string string_of(const JsonMember& member) {
  if (!member.value.is_string()) fail("{} must be a string", member.place);
  return member.value.get<std::string>();
}

std::vector<std::string> strings_of(const JsonMember& member) {
  if (!member.value.is_array()) fail("{} must be a list of strings", member.place);
  std::vector<std::string> strings;
  for (const Json& item : member.value) {
    if (!item.is_string()) fail("{} must be a list of strings", member.place);
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

std::vector<std::string> different_strings_of(const JsonMember& member) {
  std::vector<std::string> strings = strings_of(member);
  std::set<std::string_view> seen;
  for (const std::string& string : strings) {
    if (!seen.insert(string).second) fail("{} has {} twice: give every word once", member.place, in_quotes(string));
  }
  return strings;
}

}  // namespace attn
