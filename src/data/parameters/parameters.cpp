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

// The best match of the names of matrices; nothing: of no layout but our own, or some are missing.
std::optional<LayoutMatch> match_among(std::span<const MatrixFile> matrices) {
  TensorNames names;
  for (const MatrixFile& file : matrices) {
    if (file.count == 1) names.insert(file.name);
  }
  const std::vector<LayoutMatch> layouts = recognize(names);
  if (layouts.empty() || layouts.front().layout->name == own_layout || layouts.front().missing) return std::nullopt;
  return layouts.front();
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
  const std::optional<LayoutMatch> match = match_among(matrices);
  if (!match) return std::nullopt;
  ParametersAmong among;
  for (const PlacedTensor& tensor : match->tensors) among.names.insert(tensor.name);
  const auto read = [&](const std::string& name) {
    return std::ranges::find_if(matrices, [&](const MatrixFile& file) { return file.count == 1 && file.name == name; })
        ->matrix;
  };
  among.file = translate({among.names, read, {}}, where);
  return among;
}

std::string_view layout_among(std::span<const MatrixFile> matrices) {
  const std::optional<LayoutMatch> match = match_among(matrices);
  return match ? match->layout->name : std::string_view();
}

const Matrix* embedding_in(const ParameterSet& parameters) {
  const auto found = std::ranges::find_if(
      parameters, [](const auto& parameter) { return &name_from_text(parameter.first).role() == &role::e; });
  return found == parameters.end() ? nullptr : &found->second;
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
