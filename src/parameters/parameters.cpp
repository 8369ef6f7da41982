#include "parameters/parameters.hpp"

#include "files/matrix_file.hpp"
#include "files/safetensors.hpp"
#include "parameters/translate.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {

namespace {

bool is_vector(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);  // npos + 1 is 0: all of it
  return last.starts_with("b_") || last == "b" || last == "gamma" || last == "beta";
}

}  // namespace

ParameterFile read_parameters(const std::string& path, std::string_view scope) {
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
  return translate(kind->open(bytes, where, prefix), where);
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
