#include "apart/annex.hpp"
#include "apart/apart_options.hpp"

namespace attn {

std::vector<Command> apart_commands() {
  // clang-format off
  return {
      {.name = "break",   .subject = &subject::checking,
       .summary = "failures that people meet, made in your computation, and the laws that catch them",
       .words = {{"NAME", PositionalArgument::Count::optional, Kind::text, choices::failures},
                 {"COMMAND", PositionalArgument::Count::optional, Kind::word, choices::with_matrices}},
       .shown_as = &option::broken, .groups = {&problem_options()}, .told = {"NAME", choices::failures},
       .examples = {"attn break", "attn break wrong-axis --text 'the cat sat'",
                    "attn break look-into-the-future --example animal",
                    "attn break forgotten-residual encoder --layers 1"},
       .run = run_break},
      {.name = "explore", .subject = &subject::whole,
       .summary = "walk about all matrices on a full screen, cell by cell, and change their numbers",
       .words = {{"COMMAND", PositionalArgument::Count::optional, Kind::word, choices::with_matrices}},
       .shown_as = &option::explore,
       .own = {.options = {option::trace, option::as, option::second, option::keys, option::print, option::picture,
                           option::recording, option::screen},
               .needs = {{&option::as, {&option::trace}, "--as belongs to --trace FILE: give both"}}},
       .groups = {&problem_options()},
       .examples = {"attn explore", "attn explore walk --example animal",
                    "attn explore --print matrices --keys 'right enter'"},
       .run = run_explore},
      {.name = "what-if", .subject = &subject::whole,
       .summary = "change a number, a word or a part, and see what becomes of everything behind it",
       .words = {{"COMMAND", PositionalArgument::Count::optional, Kind::word, choices::with_matrices}},
       .shown_as = &option::what_if,
       .own = {{option::only, {option::of, "number, row or matrix that --each-head looks at, such as 'output[it]'"}},
               {}, {{&option::of, {&option::each_head}, of_each_head}}},
       .groups = {&what_if_options(), &problem_options()},
       .examples = {"attn what-if --set 'k[2,1] = 3'", "attn what-if --without scale",
                    "attn what-if walk --example animal --each-head --of 'output[it]'",
                    "attn what-if generate --model copy --source 'c a b' --without positions"},
       .run = run_what_if},
      {.name = "diff",    .subject = &subject::checking,
       .summary = "compare two computations or files, matrix by matrix: the first step that differs, and why",
       .words = {{"A", PositionalArgument::Count::one, Kind::path, choices::with_matrices},
                 {"B", PositionalArgument::Count::one, Kind::path, choices::with_matrices}},
       .own = {{option::tolerance}},
       .examples = {"attn diff walk 'walk --causal'",
                    "attn diff 'walk --example animal' 'walk --example animal --scale 1'",
                    "attn diff trace.json 'encoder --seed 2'"},
       .run = run_diff},
  };
  // clang-format on
}

}  // namespace attn
