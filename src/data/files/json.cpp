#include "data/files/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/utf8.hpp"
#include "data/files/cells.hpp"
#include "data/files/matrix_file.hpp"

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

// --- json matrix

namespace {

std::optional<double> number_in_words(const std::string& word) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (word == "Infinity") return infinity;
  if (word == "-Infinity") return -infinity;
  return std::nullopt;
}

bool is_cell(const Json& value) {
  if (value.is_string()) return number_in_words(value.get_ref<const std::string&>()).has_value();
  return value.is_number() || value.is_boolean();
}

bool begins_like_row(const Json& value) { return value.is_array() && !value.empty() && is_cell(value.front()); }

bool begins_like_matrix(const Json& value) {
  return begins_like_row(value) || (value.is_array() && !value.empty() && begins_like_matrix(value.front()));
}

[[noreturn]] void refuse_cell(const Json& value, const std::string& place) {
  if (value.is_null()) {
    fail("{} is null, which is not a number: write a number there", place);
  }
  if (value.is_array()) fail("{} is an array, one level too deep: give rows of numbers", place);
  if (value.is_object()) fail("{} is an object: give rows of numbers", place);
  fail("{} is the text {}: write a number, true, false, \"NaN\", \"Infinity\" or \"-Infinity\"", place,
       in_quotes(value.get_ref<const std::string&>()));
}

double number_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_string()) return *number_in_words(value.get_ref<const std::string&>());
  return value.get<double>();
}

CellKind kind_of(const Json& value) {
  return value.is_boolean() ? CellKind::boolean : value.is_number_integer() ? CellKind::whole : CellKind::real;
}

// Whether a whole number is no double.
bool is_no_double(const Json& value) { return value.is_number_integer() && is_rounded(value.dump()); }

// Returns the greatest kind of the cells.
CellKind fill_row(std::span<double> cells, const Json& values, std::size_t i, const std::string& where) {
  CellKind kind = CellKind::boolean;
  for (std::size_t j = 0; j < cells.size(); ++j) {
    if (!is_cell(values[j])) refuse_cell(values[j], fmt::format("{}: row {}, column {}", where, i + 1, j + 1));
    cells[j] = number_of(values[j]);
    kind = std::max(kind, kind_of(values[j]));
  }
  return kind;
}

MatrixFile from_rows(const std::vector<const Json*>& rows, const std::string& where) {
  const std::size_t columns = rows.front()->is_array() ? rows.front()->size() : 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]->is_array()) {
      fail("{}: row {} is not an array of numbers, as the rows above are: put it in brackets", where, i + 1);
    }
    if (rows[i]->size() == columns) continue;
    fail("{}: row {} has {}, the rows above have {}: every row must have the same number", where, i + 1,
         count_of(rows[i]->size(), "cell"), columns);
  }
  if (columns == 0) fail("{} has a row without cells: give at least one number", where);
  MatrixFile file;
  file.matrix = Matrix({rows.size(), columns});
  file.kind = CellKind::boolean;
  for (std::size_t i = 0; i < rows.size(); ++i)
    file.kind = std::max(file.kind, fill_row(row(file.matrix, i), *rows[i], i, where));
  for (std::size_t i = 0; i < rows.size() && file.assumed.empty(); ++i) {
    const auto found = std::ranges::find_if(*rows[i], [](const Json& value) { return is_no_double(value); });
    if (found != rows[i]->end()) file.assumed.push_back(rounded_to_double(found->dump()));
  }
  const auto has_truth = [](const Json* values) { return std::ranges::any_of(*values, &Json::is_boolean); };
  if (std::ranges::any_of(rows, has_truth)) file.assumed.push_back(truth_as_numbers());
  return file;
}

// Numbers, and null, which is what others write for NaN; no words, and no lists of them.
bool may_be_meant_as_matrix(const Json& value) {
  if (!value.is_array()) return value.is_number() || value.is_null();
  return value.empty() || is_cell(value.front()) || !value.front().is_string();
}

using Members = std::vector<std::pair<std::string, const Json*>>;

void append_members(Members& members, const Json& object) {
  for (const auto& [name, value] : object.items()) {
    if (begins_like_matrix(value)) members.emplace_back(name, &value);
  }
}

// Where members may stand: in the object itself, or in one of the two objects that our own output has.
std::vector<const Json*> homes_in(const Json& object) {
  std::vector<const Json*> homes = {&object};
  for (const char* name : {"arrays", "problem"}) {
    const auto found = object.find(name);
    if (found != object.end() && found->is_object()) homes.push_back(&*found);
  }
  return homes;
}

const Json& only_member(const Json& object, const std::string& where) {
  Members all;
  for (const Json* home : homes_in(object)) {
    Members members;
    append_members(members, *home);
    if (all.empty() && members.size() == 1) return *members.front().second;
    all.insert(all.end(), members.begin(), members.end());
  }
  if (all.empty()) fail("{} is an object without a matrix: give rows of numbers", where);
  std::vector<std::string> names;
  for (const auto& [name, value] : all) names.push_back(name);
  return *all[choose_matrix(names, "", where)].second;
}

const Json& member(const Json& object, std::string_view key, const std::string& where) {
  const Json* other = nullptr;
  Members all;
  for (const Json* home : homes_in(object)) {
    append_members(all, *home);
    const auto found = home->find(std::string(key));
    if (found == home->end()) continue;
    if (found->is_array()) return *found;
    if (!other) other = &*found;
  }
  if (other) return *other;
  if (all.empty()) fail("{} has no matrix {}, and no other matrix: give rows of numbers", where, in_quotes(key));
  std::vector<std::string> names;
  for (const auto& [name, value] : all) names.push_back(name);
  return *all[choose_matrix(names, key, where)].second;
}

// [[[[1, 0], [0, 1]]]] is an array of matrices.
const Json& without_batch_of_one(const Json& value) {
  const Json* inner = &value;
  for (int depth = 0; depth < 4; ++depth) {
    if (!inner->is_array() || inner->empty()) return value;
    if (depth < 3) inner = &inner->front();
  }
  return value.size() == 1 ? value.front() : value;
}

}  // namespace

MatrixFile matrix_from_json(const Json& value, const std::string& where) {
  if (!value.is_array()) fail("{} is not an array: give rows of numbers, like [[1, 0], [0, 1]]", where);
  if (value.empty()) fail("{} is empty: give rows of numbers, like [[1, 0], [0, 1]]", where);
  std::vector<const Json*> rows;
  if (value.front().is_array()) {
    for (const Json& row : value) rows.push_back(&row);
  } else {
    rows.push_back(&value);
  }
  MatrixFile file = from_rows(rows, where);
  if (!value.front().is_array()) file.assumed.push_back(vector_as_row(value.size()));
  return file;
}

namespace {

// How many arrays lie in each other.
std::size_t depth_of(const Json& value) {
  std::size_t depth = 0;
  for (const Json* inner = &value; inner->is_array() && !inner->empty(); inner = &inner->front()) ++depth;
  return depth;
}

// Parts that have the same shape, below each other.
MatrixFile below_each_other(const Json& values, const std::function<MatrixFile(const Json&, const std::string&)>& read,
                            std::string_view what, const std::string& where) {
  MatrixFile all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const MatrixFile one = read(values[i], fmt::format("{}: {} {}", where, what, i + 1));
    const Shape shape = one.matrix.shape();
    if (i == 0) {
      all = one;
      all.count = one.count * values.size();
      all.matrix = Matrix({shape.rows * values.size(), shape.columns});
    }
    if (shape.cells() * values.size() != all.matrix.size() || shape.columns != all.matrix.shape().columns ||
        one.count * values.size() != all.count) {
      fail("{}: {} {} is {}, which is not the shape of the first: all must have the same", where, what, i + 1,
           to_string(shape));
    }
    all.kind = std::max(all.kind, one.kind);
    if (all.assumed.empty()) all.assumed = one.assumed;
    std::ranges::copy(cells(one.matrix), cells(all.matrix).begin() + static_cast<std::ptrdiff_t>(i * shape.cells()));
  }
  return all;
}

}  // namespace

MatrixFile matrices_from_json(const Json& given, const std::string& where) {
  const Json& value = without_batch_of_one(given);
  if (!begins_like_matrix(value) || depth_of(value) < 3) return matrix_from_json(value, where);
  if (depth_of(value) < most_array_dimensions) return below_each_other(value, matrix_from_json, "matrix", where);
  const auto part = [](const Json& inner, const std::string& place) {
    MatrixFile one = matrices_from_json(inner, place);
    if (one.outer > 1) fail("{} is an array, one level too deep: an array has at most four dimensions", place);
    return one;
  };
  MatrixFile all = below_each_other(value, part, "part", where);
  all.outer = value.size();
  return all;
}

MatrixFile read_json(std::string_view bytes, std::string_view key, const std::string& where) {
  const Json value = parse_json(bytes, where);
  if (!value.is_object()) {
    refuse_key(key, where);
    return matrices_from_json(value, where);
  }
  if (key.empty()) return matrices_from_json(only_member(value, where), where);
  return matrices_from_json(member(value, key, where), fmt::format("{}:{}", where, key));
}

// Of what the program itself writes, the matrices of the computation.
std::vector<MatrixFile> read_all_json(std::string_view bytes, const std::string& where) {
  const Json value = parse_json(bytes, where);
  if (!value.is_object()) return {matrices_from_json(value, where)};
  const auto arrays = value.find("arrays");
  std::vector<MatrixFile> all;
  for (const auto& [name, member] : (arrays != value.end() && arrays->is_object() ? *arrays : value).items()) {
    if (!may_be_meant_as_matrix(member)) continue;
    try {
      all.push_back(matrices_from_json(member, fmt::format("{}:{}", where, name)));
    } catch (const InputError& error) {
      all.push_back({.refused = error.what()});
    }
    all.back().name = name;
  }
  if (all.empty()) fail("{} is an object without matrices: give each a name, as in {{\"weights\": [[1, 0]]}}", where);
  return all;
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
