#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "files/json_writer.hpp"
#include "problem/request.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

// A request as a problem file has it.

namespace attn {
namespace {

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

// What a problem says of itself, beside its fields.
std::string* words_called(std::string_view name, Request& request) {
  const std::pair<std::string_view, std::string*> rows[] = {
      {"title", &request.title}, {"summary", &request.summary}, {"drawn_from", &request.drawn_from}};
  for (const auto& [row, words] : rows) {
    if (row == name) return words;
  }
  return nullptr;
}

// Of all that a problem may have.
std::vector<std::string> names_of_members() {
  std::vector<std::string> names = {"title", "summary", "about", "drawn", "drawn_from"};
  std::ranges::move(names_of(fields()), std::back_inserter(names));
  return names;
}

}  // namespace

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
      fail(
          "{}: \"{}\" names a file, and a problem file may not name other files: give {} on the command line",
          where, field.name, field.option);
    case FieldKind::word:
      value = word_from_json(field, json, where);
      break;
  }
}

Request read_request(std::string_view text, const std::string& where) {
  const Json file = parse_json(text, where);
  if (!file.is_object())
    fail("{}: a problem must be a JSON object of fields, such as {{\"x\": [[1, 0]]}}", where);
  const bool wrapped = file.contains("problem") && file["problem"].is_object();
  const Json& problem = wrapped ? file["problem"] : file;
  if (wrapped && file.contains("schema") && file["schema"] != schema) {
    fail("{}: its \"schema\" is {}, and this version of attn reads only \"{}\"", where,
         file["schema"].dump().substr(0, 40), schema);
  }
  Request request;
  for (const auto& [name, value] : problem.items()) {
    if (std::string* const words = words_called(name, request)) {
      if (!value.is_string()) fail("{}: \"{}\" must be a string", where, name);
      *words = value.get<std::string>();
    } else if (name == "about") {
      request.about = strings_from_json({"about", "", "", "", FieldKind::words}, value, where);
    } else if (name == "drawn") {
      request.drawn = strings_from_json({"drawn", "", "", "", FieldKind::words}, value, where);
    } else if (const Field* field = find_row(fields(), name)) {
      request.set(*field, value, where);
    } else {
      fail("{}: {}", where, unknown("field", name, names_of_members()));
    }
  }
  return request;
}

}  // namespace attn
