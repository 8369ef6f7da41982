#include "command/solve.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {

// The weights of a problem. Those of a model are shown by the command of the model.
Outcome run_map(const Command& command, const Arguments& arguments) {
  if (!arguments.words.empty()) {
    std::vector<std::string> names;
    for (const OptionChoice& choice : command.words.front().choices()) names.emplace_back(choice.name);
    fail_unknown("command", arguments.words.front(), names);
  }
  const Solved solved = solve(arguments, Extent::weights);
  return solved.outcome(solved.page({}));
}

}  // namespace attn
