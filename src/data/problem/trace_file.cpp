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
#include "data/files/cell_values.hpp"
#include "data/files/json.hpp"
#include "data/files/json_writer.hpp"
#include "data/files/npz.hpp"
#include "data/files/safetensors.hpp"

namespace attn {

namespace {

// The matrices of one file, as they are read.
class TraceReader {
 public:
  explicit TraceReader(const std::string& where) : where_(where) {}

  void add(const std::string& name, MatrixFile file) {
    file.where = where_;
    InputReports::tell(input_report_of(name, file));
    Matrix& cells = file.matrix;
    if (name.empty()) fail("{} has a matrix without a name: give each a name", where_);
    if (!places_.emplace(name, matrices_.size()).second) {
      fail("{} has two matrices named {}: leave out one of them", where_, name_in_quotes(name));
    }
    total_ += cells.size();
    if (total_ > most_cells) fail("{} has more than {} numbers: write fewer matrices with --only", where_, most_cells);
    const Name read = name_from_text(name);
    Formula formula = symbol(read);
    if (formula.plain != name) formula = {name, latex_of_name(name)};  // "../a": its scopes have no names
    matrices_.push_back({.name = name,
                         .role = &read.role(),
                         .formula = std::move(formula),
                         .frame = {cells.shape(), axis("rows"), axis("columns")},
                         .cells = [shared = std::make_shared<const Matrix>(std::move(cells))] { return shared; }});
  }

  TracedMatrix& at(const std::string& name) {
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
  std::vector<TracedMatrix> matrices_;
};

// What a node says of its matrix. Nothing is believed before it has been checked.
class NodeReader {
 public:
  NodeReader(const Json& node, const std::string& where) : node_(node), where_(where) {
    if (!node.is_object()) fail("{}: each of its \"nodes\" must be an object", where);
    name_ = string("name");
  }

  const std::string& name() const { return name_; }

  void read_into(TracedMatrix& matrix) const {
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
