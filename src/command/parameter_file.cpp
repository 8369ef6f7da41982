#include "command/parameter_file.hpp"

#include "support/error.hpp"

namespace attn {

ParameterFile parameters_asked_for(const Arguments& arguments, const std::string& path) {
  return read_parameters(path, arguments.text("prefix").value_or(""));
}

void require_no_idle_prefix(const Arguments& arguments) {
  if (arguments.has("prefix") && !arguments.has("parameters")) {
    fail("--prefix needs --parameters FILE: give both");
  }
}

void fail_without_heads(const std::string& path) {
  fail("--parameters {}: the file does not say how many heads there are: give --heads N", path);
}

}  // namespace attn
