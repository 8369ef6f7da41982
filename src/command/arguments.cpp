#include "command/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "files/opened.hpp"
#include "support/error.hpp"

namespace attn {

std::optional<std::string> Arguments::only() const {
  if (!has(option::only)) return std::nullopt;
  return fmt::format("{}", fmt::join(texts(option::only), "|"));
}

void Arguments::tell(std::string_view stage) const {
  if (environment && environment->progress) environment->progress(stage);
}

void refuse_own_source(const std::string& source, const std::string& path) {
  if (path != "-" && is_same_file(path, source))
    fail("{} is the document itself and would be overwritten: give another file", path);
}

void refuse_output_onto(const std::string& source, const Arguments& arguments) {
  if (const std::optional<std::string> output = arguments.text(option::output))
    refuse_own_source(source, *output);
}

}  // namespace attn
