#include "command/command.hpp"

namespace attn {

std::vector<Command> apart_commands() {
  std::vector<Command> commands;
  commands.push_back(
      {.name = "what-if",
       .subject = &subject::whole,
       .summary = "change a number, a word or a part, and see what becomes of everything behind it",
       .words = {{"COMMAND", Word::Count::optional, Kind::word, choices::with_matrices}},
       .shown_as = &option::what_if,
       .own = {{option::only, {option::of, "number, row or matrix that --each-head looks at, such as 'output[it]'"}},
               {},
               {{&option::of, {&option::each_head}, of_tells_of_others}}},
       .groups = {&what_if_options(), &problem_options()},
       .examples = {"attn what-if --set 'k[2,1] = 3'", "attn what-if --without scale",
                    "attn what-if walk --example animal --each-head --of 'output[it]'",
                    "attn what-if generate --model copy --source 'c a b' --without positions"},
       .run = run_what_if});
  commands.push_back(
      {.name = "diff",
       .subject = &subject::checking,
       .summary = "compare two computations or files, matrix by matrix: the first step that differs, and why",
       .words = {{"A", Word::Count::one, Kind::path, choices::with_matrices},
                 {"B", Word::Count::one, Kind::path, choices::with_matrices}},
       .own = {{option::tolerance}},
       .examples = {"attn diff walk 'walk --causal'",
                    "attn diff 'walk --example animal' 'walk --example animal --scale 1'",
                    "attn diff trace.json 'encoder --seed 2'"},
       .run = run_diff});
  return commands;
}

}  // namespace attn
