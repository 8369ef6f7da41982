#include "data/problem/problem_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/graph/name.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cells.hpp"
#include "data/files/json.hpp"
#include "data/files/json_writer.hpp"
#include "data/files/npz.hpp"
#include "data/files/safetensors.hpp"
#include "data/problem/options.hpp"

namespace attn {

// --- problem file

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

namespace {

MembersOfFiles* innermost_members = nullptr;

}  // namespace

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

std::string MembersOfFiles::placed(const std::string& sentence) const {
  for (const Given& given : all_) {
    std::string_view rest = sentence;
    if (const std::string before = given.where + ": "; rest.starts_with(before)) rest.remove_prefix(before.size());
    if (!rest.starts_with(given.option->name)) continue;
    rest.remove_prefix(given.option->name.size());
    if (rest.starts_with(' ') || rest.starts_with(':')) return place_of_member(given.where, *given.option).append(rest);
  }
  return sentence;
}

void require_choice(const OptionValues& values, const Offered& offered, const std::string& where) {
  const Option& option = *offered.option;
  if (option.kind != Kind::word || !offered.choices || !values.has(option)) return;
  const std::vector<OptionChoice> choices = offered.choices();
  const std::string_view word = values.name(option);
  if (std::ranges::find(choices, word.substr(0, word.find(':')), &OptionChoice::name) != choices.end()) return;
  fail("{}: {}", place_of_member(where, option), unknown("name", word, names_of(std::span(choices))));
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

void write_problem(const Problem& problem, JsonWriter& json) { write_members(values_of(problem), json); }

std::function<void(JsonWriter&)> recipe_of(std::shared_ptr<const Problem> problem) {
  return [problem = std::move(problem)](JsonWriter& json) { write_problem(*problem, json); };
}

// --- trace file

namespace {

// The matrices of one file, as they are read.
class TraceReader {
 public:
  explicit TraceReader(const std::string& where) : where_(where) {}

  void add(const std::string& name, MatrixFile file) {
    file.where = where_;
    ReadInputs::tell(read_input_of(name, file));
    Matrix& cells = file.matrix;
    if (name.empty()) fail("{} has a matrix without a name: give each a name", where_);
    if (!places_.emplace(name, matrices_.size()).second) {
      fail("{} has two matrices named {}: leave out one of them", where_, name_in_quotes(name));
    }
    total_ += cells.size();
    if (total_ > most_cells) fail("{} has more than {} numbers: write fewer matrices with --only", where_, most_cells);
    const Name read = called(name);
    Formula formula = symbol(read);
    if (formula.plain != name) formula = {name, written_out(name)};  // "../a": its scopes have no names
    matrices_.push_back({.name = name,
                         .role = &read.role(),
                         .formula = std::move(formula),
                         .frame = {cells.shape(), axis("rows"), axis("columns")},
                         .cells = [shared = std::make_shared<const Matrix>(std::move(cells))] { return shared; }});
  }

  Traced& at(const std::string& name) {
    const auto found = places_.find(name);
    if (found == places_.end())
      fail("{}: its \"nodes\" name {}, which is not among its \"arrays\"", where_, name_in_quotes(name));
    return matrices_[found->second];
  }

  Trace take() && {
    if (matrices_.empty()) fail("{} has no matrices: give a file with at least one", where_);
    return Trace(std::move(matrices_));
  }

 private:
  const std::string& where_;
  std::map<std::string, std::size_t> places_;
  std::size_t total_ = 0;
  std::vector<Traced> matrices_;
};

// What a node says of its matrix. Nothing is believed before it has been checked.
class NodeReader {
 public:
  NodeReader(const Json& node, const std::string& where) : node_(node), where_(where) {
    if (!node.is_object()) fail("{}: each of its \"nodes\" must be an object", where);
    name_ = string("name");
  }

  const std::string& name() const { return name_; }

  void read_into(Traced& matrix) const {
    matrix.operation = string("operation");
    matrix.operands = strings(member("operands"), "operands");
    matrix.formula = {string("formula"), string("latex")};
    const Shape shape = matrix.frame.shape;
    const Json& told = member("shape");
    if (!told.is_array() || told != Json::array({shape.rows, shape.columns}))
      fail_about("shape", fmt::format("must be [{}, {}], as its matrix is", shape.rows, shape.columns));
    matrix.frame.rows = read_axis("rows", shape.rows);
    matrix.frame.columns = read_axis("columns", shape.columns);
    matrix.cost = {count("multiply_adds"), count("element_operations")};
  }

 private:
  [[noreturn]] void fail_about(std::string_view key, std::string_view complaint) const {
    const std::string node = name_.empty() ? "a node" : fmt::format("the node {}", name_in_quotes(name_));
    fail("{}: \"{}\" of {} {}", where_, key, node, complaint);
  }

  const Json& member(std::string_view key) const {
    const auto found = node_.find(key);
    if (found == node_.end()) fail_about(key, "is missing");
    return *found;
  }

  std::string string(std::string_view key) const {
    const Json& value = member(key);
    if (!value.is_string()) fail_about(key, "must be a string");
    return value.get<std::string>();
  }

  std::uint64_t count(std::string_view key) const {
    const Json& value = member(key);
    if (!value.is_number_unsigned()) fail_about(key, "must be a whole number");
    return value.get<std::uint64_t>();
  }

  std::vector<std::string> strings(const Json& list, std::string_view key) const {
    const auto is_string = [](const Json& value) { return value.is_string(); };
    if (!list.is_array() || !std::ranges::all_of(list, is_string)) fail_about(key, "must be a list of strings");
    return list.get<std::vector<std::string>>();
  }

  Axis read_axis(std::string_view key, std::size_t size) const {
    const Json& value = member(key);
    const auto name = value.is_object() ? value.find("axis") : value.end();
    if (!value.is_object() || name == value.end() || !name->is_string())
      fail_about(key, "must be an object with the name of its axis");
    const auto labels = value.find("labels");
    if (labels == value.end()) return axis(name->get<std::string>());
    std::vector<std::string> words = strings(*labels, key);
    if (words.size() != size)
      fail_about(key, fmt::format("has {}, and its matrix has {}", count_of(words.size(), "label"), size));
    return axis(name->get<std::string>(), std::move(words));
  }

  const Json& node_;
  const std::string& where_;
  std::string name_;
};

TraceFile from_json(std::string_view bytes, const std::string& where) {
  Json file = parse_json(bytes, where);
  if (!file.is_object()) fail("{} is not an object of matrices by name: give what --format json has written", where);
  const auto schema_told = file.find("schema"), arrays = file.find("arrays"), nodes = file.find("nodes");
  if (schema_told != file.end() && *schema_told != schema) {
    fail("{}: its \"schema\" is {}, and this version of attn reads only \"{}\"", where,
         schema_told->dump().substr(0, 40), schema);
  }
  const bool has_nodes = nodes != file.end() && nodes->is_array() && !nodes->empty() && nodes->front().is_object();
  if (arrays == file.end() && (schema_told != file.end() || has_nodes)) {
    fail("{}: its \"arrays\" are missing: give the whole file that --format json wrote, or matrices by name", where);
  }
  if (arrays != file.end() && !arrays->is_object()) fail("{}: its \"arrays\" must be an object", where);
  TraceReader reader(where);
  for (const auto& [name, value] : (arrays == file.end() ? file : *arrays).items())
    reader.add(name, matrix_from_json(value, fmt::format("{}:{}", where, name)));
  TraceFile read;
  if (nodes != file.end() && arrays != file.end()) {
    if (!nodes->is_array()) fail("{}: its \"nodes\" must be a list", where);
    std::set<std::string> names;
    for (const Json& node : *nodes) {
      const NodeReader one(node, where);
      if (!names.insert(one.name()).second) {
        fail("{}: its \"nodes\" name {} twice: leave out one of them", where, name_in_quotes(one.name()));
      }
      one.read_into(reader.at(one.name()));
    }
  }
  read.trace = std::move(reader).take();
  if (const auto problem = file.find("problem"); arrays != file.end() && problem != file.end()) {
    read.recipe = [kept = std::make_shared<const Json>(std::move(*problem))](JsonWriter& json) { json.value(*kept); };
  }
  return read;
}

// What is no matrix is left out, and hides none of the others.
TraceFile from_safetensors(std::string_view bytes, const std::string& where) {
  TraceReader reader(where);
  TraceFile read;
  std::vector<MatrixFile> files = read_all_safetensors(bytes, where);
  for (MatrixFile& file : files) {
    if (file.count > 1) file.refused = fmt::format("{}:{} has three dimensions", where, file.name);
    if (file.refused.empty()) {
      const std::string name = file.name;
      reader.add(name, std::move(file));
    } else {
      read.remarks.push_back(fmt::format("{} is left out: {}", name_in_quotes(file.name), file.refused));
    }
  }
  if (read.remarks.size() == files.size()) fail("{}", read.remarks.front());
  read.trace = std::move(reader).take();
  return read;
}

TraceFile from_npz(std::string_view bytes, const std::string& where) {
  const NpzArchive archive(bytes, where);
  archive.require_room();
  TraceReader reader(where);
  for (std::size_t i = 0; i < archive.names().size(); ++i) reader.add(archive.names()[i], archive.read(i));
  return {std::move(reader).take()};
}

struct TraceKind {
  std::string_view name;
  TraceFile (*read)(std::string_view bytes, const std::string& where);
};

constexpr TraceKind kinds_of_traces[] = {
    {"json", from_json},
    {"npz", from_npz},
    {"safetensors", from_safetensors},
};

}  // namespace

TraceFile read_trace(const std::string& path) {
  const std::string bytes = read_bytes(path);
  const std::string where = place_of_file(path);
  const std::string_view name = kind_of_file(path, bytes);
  const TraceKind* kind = find_row(std::span<const TraceKind>(kinds_of_traces), name);
  if (!kind) {
    fail("{} is read as {}, and a trace is not read from that: give a .json, .npz or .safetensors file", where, name);
  }
  return kind->read(bytes, where);
}

}  // namespace attn
