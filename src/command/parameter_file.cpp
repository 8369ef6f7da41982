#include "command/parameter_file.hpp"

#include "support/error.hpp"

namespace attn {

ParameterFile parameters_asked_for(const Arguments& arguments, const std::string& path) {
  return read_parameters(path, arguments.text(option::prefix).value_or(""));
}

void fail_without_heads(const std::string& path) {
  fail("--parameters {}: the file does not say how many heads there are: give --heads N", path);
}

}  // namespace attn
