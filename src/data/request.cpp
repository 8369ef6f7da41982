#include "data/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "data/words.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

// The fields that say what is attended to.
constexpr std::array sources = {"text", "x", "q", "k", "v", "scores", "weights", "n_q", "n_k", "memory"};

std::size_t whole_number(const Field& field, std::string_view text) {
  const std::size_t least = field.kind == FieldKind::count ? 1 : 0;
  const std::size_t most =
      field.kind == FieldKind::seed ? std::numeric_limits<std::uint32_t>::max() : std::size_t{1} << 31;
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    fail("{}: '{}' is not a whole number from {} to {}", field.option, text, least, most);
  }
  return value;
}

std::vector<std::string> split_list(std::string_view text) {
  const std::string_view separators = text.find(',') != std::string_view::npos ? "," : " \t\n";
  std::vector<std::string> pieces;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) pieces.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

void require_once(const Field& field, const std::vector<std::string>& values) {
  if (values.size() != 1) fail("{} is given {} times: give it once", field.option, values.size());
}

[[noreturn]] void fail_kind(const Field& field, const std::string& where, std::string_view expected) {
  fail("{}: \"{}\" must be {}", where, field.name, expected);
}

std::vector<std::string> strings_from_json(const Field& field, const Json& value, const std::string& where) {
  if (value.is_string()) return {value.get<std::string>()};
  std::vector<std::string> strings;
  if (!value.is_array() || value.empty()) fail_kind(field, where, "a list of strings");
  for (const Json& item : value) {
    if (!item.is_string()) fail_kind(field, where, "a list of strings");
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

bool is_nested(const Json& value) {
  return value.is_array() && !value.empty() && value.front().is_array() && !value.front().empty() &&
         value.front().front().is_array();
}

std::vector<MatrixFile> matrices_from_json(const Field& field, const Json& value, const std::string& where) {
  const std::string place = fmt::format("{}: \"{}\"", where, field.name);
  std::vector<MatrixFile> matrices;
  if (field.kind == FieldKind::matrices && is_nested(value)) {
    for (const Json& item : value) matrices.push_back(matrix_from_json(item, place));
  } else {
    matrices.push_back(matrix_from_json(value, place));
  }
  return matrices;
}

// Numbers may stand where the option takes a name or a number.
std::string word_from_json(const Field& field, const Json& value, const std::string& where) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return fmt::format("{}", value.get<double>());
  fail_kind(field, where, "a string or a number");
}

std::string digits_from_json(const Field& field, const Json& value, const std::string& where) {
  if (!value.is_number_unsigned()) fail_kind(field, where, "a whole number that is not negative");
  return fmt::format("{}", value.get<std::uint64_t>());
}

}  // namespace

void Request::set(const Field& field, const std::vector<std::string>& values) {
  FieldValue& value = values_[std::string(field.name)];
  const auto list_of = [&](auto convert) {
    std::vector<decltype(convert(values.front()))> list;
    for (const std::string& text : values) list.push_back(convert(text));
    return list;
  };
  switch (field.kind) {
    case FieldKind::flag:
      value = true;
      break;
    case FieldKind::texts:
      value = values;
      break;
    case FieldKind::words:
      value = list_of([&](const std::string& text) {
        std::vector<std::string> words = split_list(text);
        if (words.empty()) fail("{}: '{}' has no words: give at least one", field.option, text);
        return words;
      });
      break;
    case FieldKind::matrices:
      value = list_of([](const std::string& text) { return read_matrix(text); });
      break;
    case FieldKind::matrix:
      require_once(field, values);
      value = list_of([](const std::string& text) { return read_matrix(text); });
      break;
    case FieldKind::count:
    case FieldKind::seed:
      require_once(field, values);
      value = whole_number(field, values.front());
      break;
    case FieldKind::counts: {
      require_once(field, values);
      std::vector<std::size_t> list;
      for (const std::string& text : split_list(values.front())) list.push_back(whole_number(field, text));
      if (list.empty()) fail("{}: give at least one whole number", field.option);
      value = std::move(list);
      break;
    }
    case FieldKind::path:
    case FieldKind::word:
      require_once(field, values);
      value = values.front();
      break;
  }
}

void Request::set(const Field& field, const Json& json, const std::string& where) {
  FieldValue& value = values_[std::string(field.name)];
  switch (field.kind) {
    case FieldKind::flag:
      if (!json.is_boolean()) fail_kind(field, where, "true or false");
      value = json.get<bool>();
      break;
    case FieldKind::texts:
      value = strings_from_json(field, json, where);
      break;
    case FieldKind::words: {
      std::vector<std::vector<std::string>> lists;
      if (json.is_array() && !json.empty() && json.front().is_array()) {
        for (const Json& item : json) lists.push_back(strings_from_json(field, item, where));
      } else {
        lists.push_back(strings_from_json(field, json, where));
      }
      value = std::move(lists);
      break;
    }
    case FieldKind::matrices:
    case FieldKind::matrix:
      value = matrices_from_json(field, json, where);
      break;
    case FieldKind::count:
    case FieldKind::seed:
      value = whole_number(field, digits_from_json(field, json, where));
      break;
    case FieldKind::counts: {
      std::vector<std::size_t> list;
      if (json.is_array()) {
        for (const Json& item : json)
          list.push_back(whole_number(field, digits_from_json(field, item, where)));
      } else {
        list.push_back(whole_number(field, digits_from_json(field, json, where)));
      }
      if (list.empty()) fail_kind(field, where, "at least one whole number");
      value = std::move(list);
      break;
    }
    case FieldKind::path:
      fail("{}: \"{}\" names a file, which a problem file may not do: give {} on the command line", where,
           field.name, field.option);
    case FieldKind::word:
      value = word_from_json(field, json, where);
      break;
  }
}

void Request::set(const Field& field, Matrix matrix) {
  std::vector<MatrixFile> files(1);
  files.front().matrix = std::move(matrix);
  values_.insert_or_assign(std::string(field.name), std::move(files));
}

bool Request::has_source() const {
  return std::ranges::any_of(sources, [&](std::string_view name) { return has(name); });
}

void Request::leave_out(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto found = values_.find(name); found != values_.end()) values_.erase(found);
  }
}

void Request::override_with(const Request& other) {
  // What belongs to the field that is replaced goes with it: the words of other embeddings, the lengths of
  // other sentences, the scale of another score function.
  constexpr std::pair<std::string_view, std::string_view> belongings[] = {
      {"text", "x"},
      {"text", "tokens"},
      {"text", "valid_length"},
      {"text", "mask"},
      {"x", "text"},
      {"x", "tokens"},
      {"x", "valid_length"},
      {"x", "mask"},
      {"score", "scale"},
      {"memory_text", "memory"},
      {"memory_text", "key_tokens"},
      {"memory", "memory_text"},
      {"no_feed_forward", "d_ff"},
      {"no_feed_forward", "w_1"},
      {"no_feed_forward", "b_1"},
      {"no_feed_forward", "w_2"},
      {"no_feed_forward", "b_2"},
      {"d_ff", "no_feed_forward"},
      {"w_1", "no_feed_forward"},
      {"w_2", "no_feed_forward"},
      {"d_ff", "w_1"},
      {"d_ff", "b_1"},
      {"d_ff", "w_2"},
      {"w_1", "d_ff"},
      {"w_2", "d_ff"},
  };
  for (const auto& [given, replaced] : belongings) {
    const auto found = values_.find(replaced);
    if (other.has(given) && found != values_.end()) values_.erase(found);
  }
  for (const auto& [name, value] : other.values_) values_.insert_or_assign(name, value);
}

Request read_request(std::string_view text, const std::string& where) {
  const Json file = parse_json(text, where);
  if (!file.is_object()) fail("{}: a problem is an object of fields, such as {{\"x\": [[1, 0]]}}", where);
  const bool wrapped = file.contains("problem") && file["problem"].is_object();
  const Json& problem = wrapped ? file["problem"] : file;
  if (wrapped && file.contains("schema") && file["schema"] != schema) {
    fail("{}: its schema is {}, and this version reads {}", where, file["schema"].dump().substr(0, 40),
         schema);
  }
  Request request;
  for (const auto& [name, value] : problem.items()) {
    if (name == "title" || name == "summary") {
      if (!value.is_string()) fail("{}: \"{}\" must be a string", where, name);
      (name == "title" ? request.title : request.summary) = value.get<std::string>();
    } else if (name == "about") {
      request.about = strings_from_json({"about", "", "", "", FieldKind::words}, value, where);
    } else if (const Field* field = find_row(fields(), name)) {
      request.set(*field, value, where);
    } else {
      fail("{}: there is no field \"{}\"{}", where, name, did_you_mean(name, names_of(fields())));
    }
  }
  return request;
}

}  // namespace attn
