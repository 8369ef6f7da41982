#include "data/parameters/parameters.hpp"

#include <algorithm>
#include <cmath>

#include "core/model/schema.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/safetensors.hpp"
#include "data/parameters/shards.hpp"
#include "data/parameters/source.hpp"

namespace attn {

namespace {

bool is_vector(std::string_view name) {
  const Parameter* const parameter = find_parameter(name_from_text(name).role());
  return parameter && parameter->is_vector();
}

// What `use` makes of the matrices in the scope of a file.
template <class Use>
auto with_source(const std::string& path, std::string_view scope, const Use& use) {
  const std::string where = place_of_file(path);
  const std::string prefix = scope.empty() || scope.ends_with('.') ? std::string(scope) : std::string(scope) + '.';
  try {
    return use(open_parameters(path, where, prefix), where);
  } catch (InputError& error) {
    error.is_about_file(path);
    throw;
  }
}

}  // namespace

ParameterFile read_parameters(const std::string& path, std::string_view scope, std::size_t heads) {
  return with_source(path, scope, [heads](const ParameterSource& source, const std::string& where) {
    ParameterFile file = translate(source, where, heads);
    InputReports::tell({"parameters", where, count_of(file.parameters.size(), "matrix", "matrices"), file.assumed});
    return file;
  });
}

std::optional<ParametersAmong> parameters_among(std::span<const MatrixFile> matrices, const std::string& where) {
  std::map<std::string, const Matrix*, std::less<>> by_name;
  TensorNames names;
  for (const MatrixFile& file : matrices) {
    if (file.count > 1) continue;
    by_name.emplace(file.name, &file.matrix);
    names.insert(file.name);
  }
  const std::vector<LayoutMatch> layouts = recognize(names);
  if (layouts.empty() || layouts.front().layout->name == own_layout || layouts.front().missing) return std::nullopt;
  ParametersAmong among;
  for (const PlacedTensor& tensor : layouts.front().tensors) among.names.insert(tensor.name);
  among.file = translate({among.names, [&](const std::string& name) { return *by_name.at(name); }, {}}, where);
  return among;
}

std::vector<NamedParameter> read_part(const std::string& path, std::string_view scope, const ScopeKind& part) {
  return with_source(path, scope, [&](const ParameterSource& source, const std::string& where) {
    std::vector<NamedParameter> parameters;
    for (const PartTensor& row : tensors_of_part(part)) {
      const std::string name(row.name);
      if (!source.names.contains(name)) continue;
      Matrix tensor = source.read(name);
      if (!std::ranges::all_of(cells(tensor), [](double cell) { return std::isfinite(cell); }))
        fail("{}: {} has a number that is not finite: every number must be finite", where, name);
      parameters.push_back({name, row.role, row.is_transposed ? transposed(tensor) : std::move(tensor)});
      InputReport told{name, where, to_string(parameters.back().matrix.shape())};
      if (row.is_transposed) told.assumed.push_back(order_of_weights(true));
      InputReports::tell(std::move(told));
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
