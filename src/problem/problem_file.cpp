#include "problem/problem_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "files/json.hpp"
#include "files/json_writer.hpp"
#include "problem/options.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

// A member of a file.
struct Member {
  const Option& option;
  const Json& value;
  const std::string& where;

  [[noreturn]] void fail_kind(std::string_view expected) const {
    fail("{}: \"{}\" must be {}", where, option.member, expected);
  }
};

std::vector<std::string> strings_from(const Member& member, const Json& value) {
  if (value.is_string()) return {value.get<std::string>()};
  std::vector<std::string> strings;
  if (!value.is_array() || value.empty()) member.fail_kind("a list of strings");
  for (const Json& item : value) {
    if (!item.is_string()) member.fail_kind("a list of strings");
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

bool is_nested(const Json& value) {
  return value.is_array() && !value.empty() && value.front().is_array() && !value.front().empty() &&
         value.front().front().is_array();
}

std::vector<MatrixFile> matrices_from(const Member& member) {
  const std::string place = fmt::format("{}: \"{}\"", member.where, member.option.member);
  if (member.option.kind != Kind::matrices || !is_nested(member.value))
    return {matrix_from_json(member.value, place)};
  std::vector<MatrixFile> matrices;
  for (const Json& item : member.value) matrices.push_back(matrix_from_json(item, place));
  return matrices;
}

// Numbers may stand where the option takes a name or a number.
std::string word_from(const Member& member) {
  if (member.value.is_string()) return member.value.get<std::string>();
  if (member.value.is_number()) return fmt::format("{}", member.value.get<double>());
  member.fail_kind("a string or a number");
}

std::size_t count_from(const Member& member, const Json& value) {
  if (!value.is_number_unsigned()) member.fail_kind("a whole number that is not negative");
  return count_from(member.option, fmt::format("{}", value.get<std::uint64_t>()), member.option.most);
}

std::vector<std::size_t> counts_from(const Member& member) {
  if (!member.value.is_array()) return {count_from(member, member.value)};
  std::vector<std::size_t> counts;
  for (const Json& item : member.value) counts.push_back(count_from(member, item));
  if (counts.empty()) member.fail_kind("at least one whole number");
  return counts;
}

std::vector<std::vector<std::string>> words_from(const Member& member) {
  const Json& value = member.value;
  if (!value.is_array() || value.empty() || !value.front().is_array()) return {strings_from(member, value)};
  std::vector<std::vector<std::string>> lists;
  for (const Json& item : value) lists.push_back(strings_from(member, item));
  return lists;
}

OptionValue value_of(const Member& member) {
  switch (member.option.kind) {
    case Kind::flag:
      if (!member.value.is_boolean()) member.fail_kind("true or false");
      return member.value.get<bool>();
    case Kind::count:
      return count_from(member, member.value);
    case Kind::counts:
      return counts_from(member);
    case Kind::number:
      return number_from(member.option, word_from(member));
    case Kind::word:
    case Kind::word_or_number:
      return word_from(member);
    case Kind::text:
      if (!member.value.is_string()) member.fail_kind("a string");
      return member.value.get<std::string>();
    case Kind::texts:
      return strings_from(member, member.value);
    case Kind::words:
      return words_from(member);
    case Kind::matrix:
    case Kind::matrices:
      return matrices_from(member);
    case Kind::path:
      break;
  }
  fail("{}: \"{}\" names a file, and a problem file may not name other files: give {} on the command line",
       member.where, member.option.member, member.option.name);
}

const Option& member_called(std::string_view name, const OptionList& members, const std::string& where) {
  const auto found = std::ranges::find(members, name, &Option::member);
  if (found != members.end()) return **found;
  std::vector<std::string> names;
  for (const Option* option : members) names.emplace_back(option->member);
  fail("{}: {}", where, unknown("field", name, names));
}

}  // namespace

OptionValues read_problem_file(std::string_view text, const std::string& where, const OptionList& members,
                               const OptionValues& given) {
  const Json file = parse_json(text, where);
  if (!file.is_object())
    fail("{}: a problem must be a JSON object of fields, such as {{\"x\": [[1, 0]]}}", where);
  const bool wrapped = file.contains("problem") && file["problem"].is_object();
  if (!file.contains("problem") && file.contains("schema"))
    fail("{}: this is a trace without a problem, which can only be shown: use attn show", where);
  const Json& problem = wrapped ? file["problem"] : file;
  if (wrapped && file.contains("schema") && file["schema"] != schema) {
    fail("{}: its \"schema\" is {}, and this version of attn reads only \"{}\"", where,
         file["schema"].dump().substr(0, 40), schema);
  }
  OptionValues values;
  for (const auto& [name, json] : problem.items()) {
    const Option& option = member_called(name, members, where);
    if (option.kind == Kind::path && given.has(option)) continue;
    OptionValue value = value_of({option, json, where});
    // A flag is given or not; where there is one for the opposite, false is that one.
    const bool* const set = std::get_if<bool>(&value);
    if (!set || *set) {
      values.put(option, std::move(value));
    } else if (const auto other = std::ranges::find(members, option.opposite, &Option::member);
               !option.opposite.empty() && other != members.end()) {
      values.put(**other, true);
    }
  }
  for (const std::string& name : values.texts(option::drawn)) values.mark_random(name);
  return values;
}

namespace {

struct ValueWriter {
  const Option& option;
  JsonWriter& json;

  void operator()(const Unread&) const {}
  void operator()(bool value) const { json.boolean(value); }
  void operator()(std::size_t value) const { json.integer(value); }
  void operator()(double value) const { json.number(value); }
  void operator()(const std::string& value) const {
    const std::optional<double> number = parsed<double>(value);
    if (option.kind == Kind::word_or_number && number) {
      json.number(*number);
    } else {
      json.string(value);
    }
  }
  void operator()(const std::vector<std::string>& value) const { json.strings(value); }
  void operator()(const std::vector<std::size_t>& value) const {
    json.begin_array();
    for (const std::size_t count : value) json.integer(count);
    json.end_array();
  }
  // One stands for itself; several are a batch.
  template <class T>
  void operator()(const std::vector<T>& values) const {
    if (values.size() > 1) json.begin_array();
    for (const T& value : values) write(value);
    if (values.size() > 1) json.end_array();
  }
  void write(const std::vector<std::string>& words) const { json.strings(words); }
  // A mask that is added is told from permissions by its points, which permissions have none of, not even −0.
  void write(const MatrixFile& file) const {
    if (!option.is_mask) return json.matrix(file.matrix);
    if (file.kind == CellKind::real) return json.matrix(file.matrix, CellKind::real);
    Matrix permissions = file.matrix;
    for (double& cell : cells(permissions)) cell += 0.0;
    json.matrix(permissions);
  }
};

}  // namespace

void write_members(const OptionValues& values, JsonWriter& json) {
  json.begin_object();
  for (const auto& entry : values.entries()) {
    if (entry.option->member.empty()) continue;
    json.key(entry.option->member);
    std::visit(ValueWriter{*entry.option, json}, entry.value);
  }
  json.end_object();
}

void write_problem(const Problem& problem, JsonWriter& json) {
  write_members(values_of(problem), json);
}

std::function<void(JsonWriter&)> recipe_of(std::shared_ptr<const Problem> problem) {
  return [problem = std::move(problem)](JsonWriter& json) { write_problem(*problem, json); };
}

}  // namespace attn
