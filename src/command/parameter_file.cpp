#include "command/parameter_file.hpp"

#include <algorithm>
#include <array>

#include "parameters/layout.hpp"
#include "support/error.hpp"

namespace attn {

ParameterFile parameters_asked_for(const Arguments& arguments, const std::string& path) {
  return read_parameters(path, arguments.text(option::prefix).value_or(""));
}

Arguments with_part(const Arguments& arguments, const ScopeKind& part, OptionList options,
                    std::string_view whose) {
  const std::optional<std::string> path = arguments.text(option::parameters);
  if (!path) return arguments;
  std::vector<NamedParameter> found = read_part(*path, arguments.text(option::prefix).value_or(""), part);
  if (found.empty() && whose.empty()) return arguments;
  if (found.empty()) {
    fail("{} has no {}, as {} has: give another file, or choose a part of it with --prefix NAME", *path,
         tensors_of_part(part).front().name, whose);
  }
  Arguments all = arguments;
  for (NamedParameter& parameter : found) {
    const Option& option = **std::ranges::find(options, &parameter.role, &Option::role);
    if (arguments.has(option))
      fail("{} has {}, and {} is given too: leave out one of them", *path, parameter.name, option.name);
    all.put(option, MatrixFile{.matrix = std::move(parameter.matrix)});
  }
  all.leave_out(std::array{&option::parameters, &option::prefix});
  return all;
}

void fail_without_heads(const std::string& path) {
  fail("--parameters {}: the file does not say how many heads there are: give --heads N", path);
}

}  // namespace attn
