#include "command/model/saved_parameters.hpp"

#include "parameters/parameters.hpp"
#include "support/error.hpp"

namespace attn {

std::vector<FileToWrite> saved_parameters(const Arguments& arguments, const Transformer& model) {
  const std::optional<std::string> path = arguments.text(option::save_parameters);
  if (!path) return {};
  std::string bytes;
  Sink sink([&](std::string_view piece) { bytes += piece; });
  std::vector<NamedMatrix> matrices;
  for (const auto& [name, matrix] : model.parameters) matrices.push_back({name, matrix.get()});
  if (path->ends_with(".npz")) {
    write_npz(matrices, sink);
  } else if (path->ends_with(".safetensors")) {
    write_safetensors(matrices, sink);
  } else {
    fail("--save-parameters {}: the file name must end in .safetensors or .npz", *path);
  }
  sink.flush();
  return {{*path, std::move(bytes)}};
}

}  // namespace attn
