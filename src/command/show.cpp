#include "command/command.hpp"
#include "problem/trace_file.hpp"
#include "tell/matrices.hpp"

namespace attn {

Outcome run_show(const Command&, const Arguments& arguments) {
  TraceFile file = read_trace(arguments.words.front());
  Page page{.trace = file.trace, .recipe = std::move(file.recipe)};
  add_matrices(page, file.trace, file.trace.matrices());
  return {std::move(page)};
}

}  // namespace attn
