#include "command/parameter_file.hpp"

#include <array>

#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {

ParameterFile parameters_asked_for(const Arguments& arguments, const std::string& path) {
  return read_parameters(path, arguments.text(option::prefix).value_or(""));
}

Arguments with_tensors(const Arguments& arguments, std::span<const PartTensor> tensors,
                       std::string_view whose) {
  const std::optional<std::string> path = arguments.text(option::parameters);
  if (!path) return arguments;
  ParameterSet found = read_tensors(*path, arguments.text(option::prefix).value_or(""), names_of(tensors));
  Arguments all = arguments;
  for (const PartTensor& tensor : tensors) {
    const auto matrix = found.find(tensor.name);
    if (matrix == found.end()) continue;
    if (arguments.has(*tensor.option))
      fail("{} has {}, and {} is given too: leave out one of them", *path, tensor.name, tensor.option->name);
    all.put(*tensor.option,
            MatrixFile{.matrix = tensor.is_transposed ? transposed(matrix->second) : matrix->second});
  }
  if (found.empty() && whose.empty()) return arguments;
  if (found.empty()) {
    fail("{} has no {}, as {} has: give another file, or choose a part of it with --prefix NAME", *path,
         tensors.front().name, whose);
  }
  all.leave_out(std::array{&option::parameters, &option::prefix});
  return all;
}

void fail_without_heads(const std::string& path) {
  fail("--parameters {}: the file does not say how many heads there are: give --heads N", path);
}

}  // namespace attn
