#include "data/problem/problem_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/json.hpp"
#include "data/files/json_writer.hpp"
#include "data/problem/problem_options.hpp"

namespace attn {

namespace {

std::string place_of_member(const std::string& where, const Option& option) {
  return fmt::format("{}: \"{}\"", where, option.member);
}

// A member of a file.
struct OptionMember {
  const Option& option;
  const Json& value;
  const std::string& where;

  std::string place() const { return place_of_member(where, option); }
  [[noreturn]] void fail_kind(std::string_view expected) const { fail("{} must be {}", place(), expected); }
};

std::vector<std::string> strings_from(const OptionMember& member, const Json& value) {
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

std::vector<MatrixFile> matrices_in_member(const OptionMember& member) {
  const auto matrix_from = [&](const Json& value) {
    MatrixFile file = matrix_from_json(value, member.place());
    file.where = member.where;
    tell_of(member.option, member.option.member, file);
    return file;
  };
  if (member.option.kind != Kind::matrices || !is_nested(member.value)) return {matrix_from(member.value)};
  std::vector<MatrixFile> matrices;
  for (const Json& item : member.value) matrices.push_back(matrix_from(item));
  return matrices;
}

// One of the choices of a field, or one with something behind a colon, such as a seed. Of what is no field, a command
// may offer other choices.
std::string choice_from(const OptionMember& member) {
  const std::string word = member.value.get<std::string>();
  const OptionList& fields = problem_members();
  const bool is_field = std::ranges::find(fields, &member.option) != fields.end();
  if (!is_field || !member.option.choices || member.option.kind != Kind::word) return word;
  const std::vector<OptionChoice> choices = member.option.choices();
  if (std::ranges::find(choices, word.substr(0, word.find(':')), &OptionChoice::name) == choices.end())
    fail("{}: {}", member.place(), unknown("name", word, names_of(std::span(choices))));
  return word;
}

// Numbers may stand where the option takes a name or a number.
std::string word_from(const OptionMember& member) {
  if (member.value.is_string()) return choice_from(member);
  if (member.value.is_number()) return fmt::format("{}", member.value.get<double>());
  member.fail_kind("a string or a number");
}

std::size_t count_in_member(const OptionMember& member, const Json& value) {
  if (!value.is_number_unsigned()) member.fail_kind("a whole number that is not negative");
  return count_from(member.option, member.place(), fmt::format("{}", value.get<std::uint64_t>()), member.option.most);
}

std::vector<std::size_t> counts_in_member(const OptionMember& member) {
  if (!member.value.is_array()) return {count_in_member(member, member.value)};
  std::vector<std::size_t> counts;
  for (const Json& item : member.value) counts.push_back(count_in_member(member, item));
  if (counts.empty()) member.fail_kind("at least one whole number");
  return counts;
}

std::vector<std::vector<std::string>> words_in_member(const OptionMember& member) {
  const Json& value = member.value;
  if (!value.is_array() || value.empty() || !value.front().is_array()) return {strings_from(member, value)};
  std::vector<std::vector<std::string>> lists;
  for (const Json& item : value) lists.push_back(strings_from(member, item));
  return lists;
}

OptionValue value_in_member(const OptionMember& member) {
  switch (member.option.kind) {
    case Kind::flag:
      if (!member.value.is_boolean()) member.fail_kind("true or false");
      return member.value.get<bool>();
    case Kind::count:
      return count_in_member(member, member.value);
    case Kind::counts:
      return counts_in_member(member);
    case Kind::number:
      return number_from(member.option, member.place(), word_from(member));
    case Kind::word:
    case Kind::word_or_number:
      return word_from(member);
    case Kind::text:
      if (!member.value.is_string()) member.fail_kind("a string");
      return member.value.get<std::string>();
    case Kind::texts:
      return strings_from(member, member.value);
    case Kind::words:
      return words_in_member(member);
    case Kind::matrix:
    case Kind::matrices:
      return matrices_in_member(member);
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

MembersOfFiles* innermost_members = nullptr;

struct ValueWriter {
  const Option& option;
  JsonWriter& json;

  void operator()(const UnreadText&) const {}
  void operator()(bool value) const { json.boolean(value); }
  void operator()(std::size_t value) const { json.integer(value); }
  void operator()(double value) const { json.number(value); }
  void operator()(const std::string& value) const {
    const std::optional<double> number = parse_number<double>(value);
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

OptionValues read_problem_file(std::string_view text, const std::string& where, const OptionList& members,
                               const OptionValues& given) {
  const Json file = parse_json(text, where);
  if (!file.is_object()) fail("{}: a problem must be a JSON object of fields, such as {{\"x\": [[1, 0]]}}", where);
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
    OptionValue value = value_in_member({option, json, where});
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

MembersOfFiles::MembersOfFiles() : around_(std::exchange(innermost_members, this)) {}

MembersOfFiles::~MembersOfFiles() { innermost_members = around_; }

void MembersOfFiles::tell(const OptionValues& values, const std::string& where, const OptionValues& typed) {
  if (!innermost_members) return;
  for (const OptionValues::Entry& entry : values.entries()) {
    const Option& option = *entry.option;
    if (!option.member.empty() && !option.name.empty() && !typed.has(option))
      innermost_members->all_.push_back({&option, where});
  }
}

std::string MembersOfFiles::with_places(const std::string& sentence) const {
  for (const Given& given : all_) {
    std::string_view rest = sentence;
    if (const std::string before = given.where + ": "; rest.starts_with(before)) rest.remove_prefix(before.size());
    if (!rest.starts_with(given.option->name)) continue;
    rest.remove_prefix(given.option->name.size());
    if (rest.starts_with(' ') || rest.starts_with(':')) return place_of_member(given.where, *given.option).append(rest);
  }
  return sentence;
}

void require_choice(const OptionValues& values, const OfferedOption& offered, const std::string& where) {
  const Option& option = *offered.option;
  if (option.kind != Kind::word || !offered.choices || !values.has(option)) return;
  const std::vector<OptionChoice> choices = offered.choices();
  const std::string_view word = values.name(option);
  if (std::ranges::find(choices, word.substr(0, word.find(':')), &OptionChoice::name) != choices.end()) return;
  fail("{}: {}", place_of_member(where, option), unknown("name", word, names_of(std::span(choices))));
}

void write_members(const OptionValues& values, JsonWriter& json) {
  json.begin_object();
  for (const auto& entry : values.entries()) {
    if (entry.option->member.empty()) continue;
    json.key(entry.option->member);
    std::visit(ValueWriter{*entry.option, json}, entry.value);
  }
  json.end_object();
}

void write_problem(const Problem& problem, JsonWriter& json) { write_members(values_of(problem), json); }

std::function<void(JsonWriter&)> problem_writer(std::shared_ptr<const Problem> problem) {
  return [problem = std::move(problem)](JsonWriter& json) { write_problem(*problem, json); };
}

}  // namespace attn
