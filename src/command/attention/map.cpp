#include "command/explanation.hpp"
#include "command/solve.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {

namespace {

// All attentions of a model.
Outcome map_of_model(const Arguments& arguments) {
  const Command& shows_model = *find_row(commands(), "transformer");
  Arguments with_map = arguments;
  with_map.put(option::map, true);
  Outcome outcome = shows_model.run(shows_model, with_map);
  narrow(outcome, shows_model, with_map);
  return outcome;
}

}  // namespace

// The weights of a problem, of a model, or of one of its layers.
Outcome run_map(const Command& command, const Arguments& arguments) {
  if (!arguments.words.empty()) {
    std::vector<std::string> names;
    for (const OptionChoice& choice : command.words.front().choices()) names.emplace_back(choice.name);
    fail_unknown("command", arguments.words.front(), names);
  }
  if (arguments.has(option::model) && !arguments.has(option::layer)) return map_of_model(arguments);
  const Solved solved = solve(arguments, Extent::weights);
  return solved.outcome(solved.page({}));
}

}  // namespace attn
