#include "parameters/parameters.hpp"

#include <algorithm>
#include <cmath>

#include "files/matrix_file.hpp"
#include "files/safetensors.hpp"
#include "model/schema.hpp"
#include "parameters/layout.hpp"
#include "parameters/recognize.hpp"
#include "parameters/source.hpp"
#include "parameters/translate.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {

namespace {

bool is_vector(std::string_view name) {
  const Parameter* const parameter = find_parameter(called(name).role());
  return parameter && parameter->is_vector();
}

// What `use` makes of the matrices in the scope of a file.
template <class Use>
auto with_source(const std::string& path, std::string_view scope, const Use& use) {
  const std::string bytes = read_bytes(path);
  const std::string where = place_of_file(path);
  const std::string_view name = kind_of_file(path, bytes);
  const ParameterKind* kind = find_row(parameter_kinds(), name);
  if (!kind) {
    fail("{} is a .{} file, which has one matrix: give the parameters in a .safetensors, .npz or .json file",
         where, name);
  }
  const std::string prefix =
      scope.empty() || scope.ends_with('.') ? std::string(scope) : std::string(scope) + '.';
  return use(kind->open(bytes, where, prefix), where);
}

}  // namespace

ParameterFile read_parameters(const std::string& path, std::string_view scope) {
  return with_source(path, scope, [](const ParameterSource& source, const std::string& where) {
    return translate(source, where);
  });
}

std::optional<ParametersAmong> parameters_among(std::span<const MatrixFile> matrices,
                                                const std::string& where) {
  std::map<std::string, const Matrix*, std::less<>> by_name;
  TensorNames names;
  for (const MatrixFile& file : matrices) {
    if (file.count > 1) continue;
    by_name.emplace(file.name, &file.matrix);
    names.insert(file.name);
  }
  const std::vector<Recognized> layouts = recognize(names);
  if (layouts.empty() || layouts.front().layout->name == own_layout || layouts.front().missing)
    return std::nullopt;
  ParametersAmong among;
  for (const PlacedTensor& tensor : layouts.front().tensors) among.names.insert(tensor.name);
  among.file = translate({among.names, [&](const std::string& name) { return *by_name.at(name); }}, where);
  return among;
}

std::vector<NamedParameter> read_part(const std::string& path, std::string_view scope,
                                      const ScopeKind& part) {
  return with_source(path, scope, [&](const ParameterSource& source, const std::string& where) {
    std::vector<NamedParameter> parameters;
    for (const PartTensor& row : tensors_of_part(part)) {
      const std::string name(row.name);
      if (!source.names.contains(name)) continue;
      Matrix tensor = source.read(name);
      if (!std::ranges::all_of(cells(tensor), [](double cell) { return std::isfinite(cell); }))
        fail("{}: {} has a number that is not finite: every number must be finite", where, name);
      parameters.push_back({name, row.role, row.is_transposed ? transposed(tensor) : std::move(tensor)});
    }
    return parameters;
  });
}

void write_safetensors(const std::vector<NamedMatrix>& parameters, Sink& sink) {
  std::vector<WrittenTensor> tensors;
  for (const NamedMatrix& parameter : parameters) {
    const bool one_dimension = is_vector(parameter.name) && parameter.matrix->shape().rows == 1;
    tensors.push_back({parameter.name, parameter.matrix, one_dimension ? std::size_t{1} : std::size_t{2}});
  }
  write_safetensors(tensors, sink);
}

void write_safetensors(const ParameterSet& parameters, Sink& sink) {
  std::vector<NamedMatrix> named;
  for (const auto& [name, matrix] : parameters) named.push_back({name, &matrix});
  write_safetensors(named, sink);
}

}  // namespace attn
