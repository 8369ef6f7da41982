#include <algorithm>

#include "command/command.hpp"
#include "page/tell/attention_steps.hpp"

namespace attn {
namespace {

constexpr std::size_t most_sizes = 1'000'000'000;

// What the command of a step has beside what all steps have.
struct StepCommand {
  std::string_view step;
  std::vector<std::string_view> examples;
  OptionGroup own = {};
  Answer (*run)(const Command& command, const Arguments& arguments) = run_step;
  std::string_view default_example = {};
  bool shows_weights = false;  // which can be shown in other forms, too
  bool has_gradients = false;
};

// clang-format off
const std::vector<StepCommand> step_commands = {
    {.step = "add-positions", .examples = {"attn add-positions",
                                           "attn add-positions --text 'who comes first' --positions learned"},
     .default_example = "order"},
    {.step = "project",       .examples = {"attn project", "attn project --x '1 0; 0 1' --wq '[[1,2],[3,4]]'"}},
    {.step = "scores",        .examples = {"attn scores", "attn scores --q q.csv --k k.csv"}},
    {.step = "scale",         .examples = {"attn scale --scale 8", "attn scale --sweep 1,2,4,8,16,32"},
     .own = {{option::sweep}, {{&option::sweep, &option::scale}, {&option::sweep, &option::multiply}}},
     .run = run_scale},
    {.step = "mask",          .examples = {"attn mask --causal", "attn mask --scores s.csv --mask '[[1,0],[1,1]]'"}},
    {.step = "softmax",       .examples = {"attn softmax --scores '14 12'", "attn softmax --example animal --from it"},
     .own = {{option::transpose}}, .shows_weights = true},
    {.step = "weigh",         .examples = {"attn weigh", "attn weigh --weights '0.9 0.1' --v '1 0; 0 1'"}},
    {.step = "heads",         .examples = {"attn heads", "attn heads --q q.npy --k k.npy --v v.npy --heads 4"},
     .default_example = "animal"},
    {.step = "concat",        .examples = {"attn concat", "attn concat --text 'two heads' --heads 2",
                                           "attn concat --left '1 2; 3 4' --right '5; 6'",
                                           "attn concat --above '1 2; 3 4' --below '5 6'"},
     .own = {{{option::left, "matrix whose columns come first, such as the output of head 1"},
              {option::right, "matrix whose columns follow"}, option::above, option::below},
             {{&option::left, &option::above}},
             {{&option::left, {&option::right}, "--left is followed by --right: give both"},
              {&option::right, {&option::left}, "--right follows --left: give both"},
              {&option::above, {&option::below}, "--above is followed by --below: give both"},
              {&option::below, {&option::above}, "--below follows --above: give both"}}},
     .run = run_concat, .default_example = "animal"},
    {.step = "feed-forward",  .examples = {"attn feed-forward",
                                           "attn feed-forward --text 'each word alone' --d-ff 16",
                                           "attn feed-forward --activation gelu",
                                           "attn backward feed-forward --check"},
     .run = run_feed_forward, .default_example = "two-layers", .has_gradients = true},
    {.step = "averaging",     .examples = {"attn averaging --no-feed-forward", "attn averaging"},
     .default_example = "two-layers"},
};
// clang-format on

// Every step has a command of its own name; they stand behind the first one, which has them all.
void add_steps(std::vector<Command>& commands) {
  std::vector<Command> added;
  for (const Step& step : steps()) {
    const auto found = std::ranges::find(step_commands, step.name, &StepCommand::step);
    const StepCommand own = found == step_commands.end() ? StepCommand{step.name, {}} : *found;
    std::vector<const OptionGroup*> groups = {&matrix_options(), &comparison_options(), &problem_options()};
    if (own.has_gradients) groups.insert(groups.begin() + 1, &gradient_options());
    if (own.shows_weights) groups.insert(groups.begin() + 1, &weight_options());
    added.push_back({.name = step.name,
                     .subject = &subject::steps,
                     .summary = step.summary,
                     .own = own.own,
                     .groups = std::move(groups),
                     .default_example = own.default_example,
                     .examples = own.examples,
                     .run = own.run});
  }
  commands.insert(commands.begin() + 1, added.begin(), added.end());
}

}  // namespace

std::vector<Command> attention_commands() {
  // clang-format off
  std::vector<Command> commands = {
      {.name = "walk",              .subject = &subject::whole,
       .summary = "all steps of attention in order",
       .own = {{option::by_word, option::swap, option::transpose, option::outline},
               {{&option::outline, &option::from}}},
       .groups = {&matrix_options(), &weight_options(), &gradient_options(), &comparison_options(), &problem_options()},
       .examples = {"attn walk", "attn walk --by-word Thinking",
                    "attn walk --text 'Every word attends to every word' --heads 2",
                    "attn walk --x x.npy --wq wq.npy --wk wk.npy --wv wv.npy --causal -o walk.md"},
       .run = run_walk},
      {.name = "map",               .subject = &subject::whole,
       .summary = "where each head attends, how concentrated it is, and its strongest pairs",
       .words = {{"COMMAND", PositionalArgument::Count::optional, Kind::word, choices::mapped}},
       .shown_as = &option::map,
       .own = {{option::only}}, .groups = {&problem_options()}, .default_example = "animal",
       .examples = {"attn map", "attn map --text 'the cat saw the dog' --heads 4", "attn map transformer",
                    "attn map encoder --size base --only 'encoder.1.*'"},
       .run = run_map},
      {.name = "product",           .subject = &subject::whole,
       .summary = "draw a matrix product: one factor at the left, one above, the result in the corner",
       .words = {{"MATRIX", PositionalArgument::Count::optional}},
       .own = {{option::left, option::right, option::chosen_cell}, {},
               {{&option::left, {&option::right}, "--left is multiplied by --right: give both"},
                {&option::right, {&option::left}, "--right is multiplied by --left: give both"}}},
       .groups = {&problem_options()},
       .examples = {"attn product --cell Thinking,Machines", "attn product q --cell 1,2",
                    "attn product --left '1 2; 3 4' --right '5 6; 7 8' --cell 1,2",
                    "attn encoder --product 'encoder.1.self_attention.head.1.scores[1,2]'"},
       .run = run_product},
      {.name = "explain",           .subject = &subject::whole,
       .summary = "explain how one number was computed, step by step",
       .words = {{"CELL", PositionalArgument::Count::one, Kind::text, nullptr, "walk"},
                 {"COMMAND", PositionalArgument::Count::optional, Kind::word, choices::with_matrices}},
       .shown_as = &option::explain, .own = {{option::depth, option::code}}, .groups = {&problem_options()},
       .examples = {"attn explain 'weights[1,2]' --depth 3",
                    "attn explain 'head.2.weights[it,animal]' --example animal",
                    "attn explain 'logits[1,die]' transformer --depth 2"},
       .run = run_explain},
      {.name = "assert",            .subject = &subject::checking,
       .summary = "hold laws to the matrices of a computation: exit code 1 if one does not hold",
       .words = {{"LAWS", PositionalArgument::Count::one, Kind::text},
                 {"COMMAND", PositionalArgument::Count::optional, Kind::word, choices::with_matrices}},
       .shown_as = &option::assertion,
       .own = {{option::trace, option::tolerance,
                {option::as, "name of the matrix of --trace, where its file does not name it"}},
               {},
               {{&option::as, {&option::trace}, "--as belongs to --trace FILE: give both"}}},
       .groups = {&problem_options()}, .told = {"What LAWS can call", choices::law_functions},
       .examples = {"attn assert 'row_sums(weights) = 1'", "attn assert 'causal(weights)' walk --causal",
                    "attn assert 'largest(abs(scores)) < 50' encoder --seed 2",
                    "attn assert 'entropy(weights[it]) > 0.5; finite(output)' --example animal",
                    "attn assert 'row_sums(weights) = 1' --trace walk.json"},
       .run = run_assert},
      {.name = "backward",          .subject = &subject::training,
       .summary = "the gradients, step by step from a loss back to what goes in",
       .words = {{"COMMAND", PositionalArgument::Count::optional, Kind::word, choices::with_gradients}},
       .shown_as = &option::backward,
       .own = {{option::of, option::upstream, option::check_gradients, option::recompute, option::by_hand,
                option::step_size,
                {option::outline, "show the tree of gradients with shapes and costs, without numbers"}},
               {}, gradient_options().needs},
       .groups = {&matrix_options(), &comparison_options(), &problem_options()}, .default_example = "by-hand",
       .examples = {"attn backward", "attn backward --by-hand",
                    "attn backward --example animal --of 'output[it,1]' --only 'head.*.d_weights'",
                    "attn backward --explain 'd_scores[1,2]' --depth 2", "attn backward transformer --check",
                    "attn backward encoder --recompute --layers 4"},
       .run = run_backward},
      {.name = "influence",         .subject = &subject::training,
       .summary = "which numbers depend on which, and how strongly; attention beside gradients",
       .words = {{"CELL", PositionalArgument::Count::optional, Kind::text, choices::with_gradients, "walk"}},
       .shown_as = &option::influence,
       .own = {{{option::of,
                 "number whose derivatives are taken, such as 'output[2,1]', a row: 'output[2]', or a matrix: the size "
                 "of the Jacobian of each of its rows"},
                option::by, option::only},
               {}, gradient_options().needs},
       .groups = {&browser_options(), &problem_options()}, .default_example = "animal",
       .examples = {"attn influence", "attn influence 'x[animal,2]'", "attn influence 'x[animal]'",
                    "attn influence --of 'output[it,1]'", "attn influence encoder --by 'source.x[cat,1]'",
                    "attn influence align --variant none"},
       .run = run_influence},
      {.name = "check",             .subject = &subject::checking,
       .summary = "compare your own matrices with a computation, and find the mistake that explains them",
       .words = {{"FILE", PositionalArgument::Count::some, Kind::path},
                 {"COMMAND", PositionalArgument::Count::optional, Kind::word, choices::checked}},
       .shown_as = &option::against,
       .own = {{option::as, option::only, option::strict, option::each, option::recorder, option::input}},
       .groups = {&problem_options()}, .wordless = {&option::recorder, &option::input},
       .examples = {"attn check mine.npz", "attn check mine.npz --example thinking-machines",
                    "attn check weights.csv --x x.npy --wq wq.npy --wk wk.npy --causal",
                    "attn check mine.npz encoder --parameters encoder.safetensors --heads 4 --x x.npy",
                    "attn check --each ana.npz bob.npz --causal", "attn check --recorder pytorch",
                    "attn check --input --heads 2 --causal -o input.npz"},
       .run = run_check},
      {.name = "page",              .subject = &subject::files,
       .summary = "write a page for browsers, in which every number can be explained and changed",
       .words = {{"COMMAND", PositionalArgument::Count::optional, Kind::word, choices::browser_pages}},
       .shown_as = &option::page,
       .own = {{{option::from, "the word that the page asks about first, or its number"}},
               browser_options().exclusions},
       .groups = {&problem_options()},
       .examples = {"attn page -o walk.html", "attn page --example animal -o animal.html",
                    "attn page walk --example animal --from it -o it.html",
                    "attn page encoder --layers 2 -o encoder.html", "attn page backward -o backward.html",
                    "attn page generate --model names -o names.html", "attn page train reverse -o reverse.html"},
       .run = run_page},
      {.name = "compare-scores",    .subject = &subject::comparing,
       .summary = "compare the scoring functions on the same queries and keys",
       .groups = {&matrix_options(), &problem_options()}, .idle = {&option::scale},
       .examples = {"attn compare-scores", "attn compare-scores --q '1 0; 0 2' --k '1 1; 0 1; 2 0'"},
       .run = run_compare_scores},
      {.name = "compare-masks",     .subject = &subject::comparing,
       .summary = "compare ways to mask: scores or weights, −∞ or a finite number",
       .groups = {&matrix_options(), &problem_options()}, .idle = {&option::mask_fill}, .default_example = "padding",
       .examples = {"attn compare-masks", "attn compare-masks --scores '3 1 2; 0 5 1' --causal"},
       .run = run_compare_masks},
      {.name = "compare-positions", .subject = &subject::comparing,
       .summary = "compare the kinds of positions: learned numbers, distances, periods, beyond n",
       .own = {{{option::n, "number of positions", "16", 512},
                {option::d, "size of the vectors, an even number", "8", 512}, option::base}},
       .groups = {&matrix_options()},
       .examples = {"attn compare-positions", "attn compare-positions --n 64 --d 16"}, .run = run_compare_positions},
      {.name = "split-heads",       .subject = &subject::steps,
       .summary = "reshape and transpose q, k and v for all heads at once, and how not to",
       .groups = {&matrix_options(), &comparison_options(), &problem_options()}, .default_example = "animal",
       .examples = {"attn split-heads", "attn split-heads --text 'the cat sat' --heads 2 --d-model 4"},
       .run = run_split_heads},
      {.name = "pool",              .subject = &subject::steps,
       .summary = "attention pooling: average, lookup, sum and softmax of the same scores",
       .groups = {&matrix_options(), &comparison_options(), &problem_options()}, .default_example = "pooling",
       .examples = {"attn pool", "attn pool --score-sigma 0.3",
                    "attn pool --q '1 0' --k '1 0; 0 1; 1 1' --v '10; 20; 30'", "attn pool --weights '2 3; 0 1'"},
       .run = run_pool},
      {.name = "embed",             .subject = &subject::steps,
       .summary = "words, their ids, and their rows in the embedding table",
       .groups = {&matrix_options(), &comparison_options(), &problem_options()}, .shows = on_embeddings,
       .examples = {"attn embed --text 'the cat and the dog' --d-model 4", "attn embed"}, .run = run_embed},
      {.name = "positions",         .subject = &subject::steps,
       .summary = "positional encodings as a table, a heat map and curves",
       .own = {{{option::n, "", "32", 100000}, option::columns}},
       .groups = {&matrix_options(), &comparison_options(), &problem_options()}, .shows = on_positions,
       .examples = {"attn positions", "attn positions --n 60 --d-model 32 --columns 7,8,9,10",
                    "attn check pe.npy positions",
                    "attn positions --positions relative-bias --position-table '-2 -1 0 -1 -2' --n 6"},
       .run = run_positions},
      {.name = "errata",            .subject = &subject::checking,
       .summary = "errors and disagreements in published texts, checked with numbers",
       .words = {{"NAME", PositionalArgument::Count::optional, Kind::word, choices::errata}},
       .groups = {&matrix_options()},
       .examples = {"attn errata", "attn errata E10", "attn errata E10 --only output_wrong"}, .run = run_errata},
      {.name = "cost",              .subject = &subject::comparing,
       .summary = "multiply-adds, memory and sequential steps, and layers compared",
       .own = {.options = {{option::n, "number of positions when layers are compared", ": those of the problem",
                            most_sizes},
                           {option::d, "", "", most_sizes}, {option::kernel, "", "", most_sizes}, option::measure,
                           {option::outline,
                            "show a diagram of what self-attention, recurrent layers and convolutions reach, for --n "
                            "positions (default 5, at most 16)"}},
               .exclusions = {{&option::outline, &option::measure}, {&option::outline, &option::only},
                              {&option::outline, &option::d}}},
       .groups = {&matrix_options(), &problem_options()},
       .examples = {"attn cost", "attn cost --example animal", "attn cost --n 3072 --d 512 --kernel 3",
                    "attn cost --measure", "attn cost --outline --n 7 --kernel 3"},
       .run = run_cost},
  };
  // clang-format on
  add_steps(commands);
  return commands;
}

}  // namespace attn
