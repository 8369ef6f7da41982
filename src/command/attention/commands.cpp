#include <algorithm>

#include "command/command_lists.hpp"
#include "tell/steps.hpp"

namespace attn {
namespace {

const Option by_word = {"--by-word", "WORD", "show the steps for one word, with vectors"};
const Option swap = {"--swap", "I,J", "swap two words: what changes without and with positional encoding"};
const Option transposition = {"--transpose", "",
                              "show the weights transposed: keys as rows, queries as columns"};
const Option from = {"--from", "WORD", "show the weights of one query in every head, and their average"};
const Option sweep = {"--sweep", "N,…",
                      "divide by one number after another, to see how the weights saturate"};

// The same, and what positions do.
constexpr std::string_view of_positions[] = {
    "text",      "embeddings",     "d_model",      "seed",  "random", "tokens", "x",
    "positions", "position_table", "max_distance", "heads", "d_k",    "w_q"};

// What the command of a step has beside what all steps have.
struct StepCommand {
  std::string_view step;
  std::vector<std::string_view> examples;
  std::vector<Option> options = {};
  Outcome (*run)(const Command& command, const Arguments& arguments) = run_step;
  std::string_view default_example = {};
};

const std::vector<StepCommand> step_commands = {
    {"add-positions",
     {"attn add-positions", "attn add-positions --text 'who comes first' --positions learned"},
     {},
     run_step,
     "order"},
    {"project", {"attn project", "attn project --x '1 0; 0 1' --wq '[[1,2],[3,4]]'"}},
    {"scores", {"attn scores", "attn scores --q q.csv --k k.csv"}},
    {"scale", {"attn scale --scale 8", "attn scale --sweep 1,2,4,8,16,32"}, {sweep}, run_scale},
    {"mask", {"attn mask --causal", "attn mask --scores s.csv --mask '[[1,0],[1,1]]'"}},
    {"softmax",
     {"attn softmax --scores '14 12'", "attn softmax --example animal --from it"},
     {transposition, from},
     run_softmax},
    {"weigh", {"attn weigh", "attn weigh --weights '0.9 0.1' --v '1 0; 0 1'"}},
    {"heads", {"attn heads", "attn heads --q q.npy --k k.npy --v v.npy --heads 4"}, {}, run_step, "animal"},
    {"concat", {"attn concat", "attn concat --text 'two heads' --heads 2"}, {}, run_step, "animal"},
    {"feed-forward",
     {"attn feed-forward", "attn feed-forward --text 'each word alone' --d-ff 16"},
     {},
     run_step,
     "two-layers"},
    {"averaging", {"attn averaging --no-feed-forward", "attn averaging"}, {}, run_step, "two-layers"},
};

// Every step has a command of its own name.
void add_steps(std::vector<Command>& commands) {
  for (const Step& step : steps()) {
    const auto found = std::ranges::find(step_commands, step.name, &StepCommand::step);
    const StepCommand own = found == step_commands.end() ? StepCommand{step.name, {}} : *found;
    std::vector<Option> options = {only_option()};
    options.insert(options.end(), own.options.begin(), own.options.end());
    commands.push_back({.name = step.name,
                        .summary = step.summary,
                        .takes_problem = true,
                        .default_example = own.default_example,
                        .options = std::move(options),
                        .examples = own.examples,
                        .run = own.run});
  }
}

}  // namespace

std::vector<Command> attention_commands() {
  std::vector<Command> commands;
  commands.push_back(
      {.name = "walk",
       .summary = "all steps of attention in order",
       .takes_problem = true,
       .options = {only_option(), by_word, swap, transposition, outline_option()},
       .examples = {"attn walk", "attn walk --by-word Thinking",
                    "attn walk --text 'Every word attends to every word' --heads 2",
                    "attn walk --x x.npy --wq wq.npy --wk wk.npy --wv wv.npy --causal -o walk.md"},
       .run = run_walk});
  add_steps(commands);
  commands.push_back({.name = "explain",
                      .summary = "explain how one number was computed, step by step",
                      .words = "CELL",
                      .least_words = 1,
                      .most_words = 1,
                      .takes_problem = true,
                      .options = {depth_option()},
                      .examples = {"attn explain 'weights[1,2]' --depth 3",
                                   "attn explain 'head.2.weights[it,animal]' --example animal"},
                      .run = run_explain});
  commands.push_back(
      {.name = "compare-scores",
       .summary = "compare the scoring functions on the same queries and keys",
       .takes_problem = true,
       .examples = {"attn compare-scores", "attn compare-scores --q '1 0; 0 2' --k '1 1; 0 1; 2 0'"},
       .run = run_compare_scores});
  commands.push_back(
      {.name = "compare-masks",
       .summary = "compare ways to mask: scores or weights, −∞ or a finite number",
       .takes_problem = true,
       .default_example = "padding",
       .examples = {"attn compare-masks", "attn compare-masks --scores '3 1 2; 0 5 1' --causal"},
       .run = run_compare_masks});
  commands.push_back({.name = "pool",
                      .summary = "attention pooling: average, lookup, sum and softmax of the same scores",
                      .takes_problem = true,
                      .default_example = "pooling",
                      .examples = {"attn pool", "attn pool --score-sigma 0.3",
                                   "attn pool --q '1 0' --k '1 0; 0 1; 1 1' --v '10; 20; 30'",
                                   "attn pool --weights '2 3; 0 1'"},
                      .run = run_pool});
  commands.push_back({.name = "embed",
                      .summary = "words, their ids, and their rows in the embedding table",
                      .takes_problem = true,
                      .heeds = fields_of_embeddings(),
                      .examples = {"attn embed --text 'the cat and the dog' --d-model 4", "attn embed"},
                      .run = run_embed});
  commands.push_back(
      {.name = "positions",
       .summary = "positional encodings as a table, a heat map and curves",
       .takes_problem = true,
       .heeds = of_positions,
       .options = {{"--n", "N", "number of positions (default 32)"},
                   {"--columns", "I,…", "columns to plot as curves (default 1,2,3,4)"}},
       .examples = {"attn positions", "attn positions --n 60 --d-model 32 --columns 7,8,9,10",
                    "attn positions --positions relative-bias --position-table '-2 -1 0 -1 -2' --n 6"},
       .run = run_positions});
  commands.push_back({.name = "errata",
                      .summary = "errors and disagreements in published texts, checked with numbers",
                      .words = "[NAME]",
                      .most_words = 1,
                      .options = {only_option()},
                      .examples = {"attn errata", "attn errata E10", "attn errata E10 --only output_wrong"},
                      .run = run_errata});
  commands.push_back(
      {.name = "cost",
       .summary = "multiply-adds, memory and sequential steps, and layers compared",
       .takes_problem = true,
       .options = {{"--n", "N",
                    "number of positions when layers are compared (default: those of the problem)"},
                   {"--d", "N", "size of the vector at each position"},
                   {"--kernel", "N", "width of the convolution, in positions (default 3)"},
                   {"--measure", "", "measure how long each takes on this machine"}},
       .examples = {"attn cost", "attn cost --example animal", "attn cost --n 3072 --d 512 --kernel 3",
                    "attn cost --measure"},
       .run = run_cost});
  return commands;
}

}  // namespace attn
