#include <algorithm>
#include <array>

#include "attention/steps.hpp"
#include "command/command.hpp"
#include "command/model/options.hpp"
#include "command/parameter_file.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

const Option only = {"--only", "PATTERN", "only the matrices whose names match: weights, 'head.2.*', '*.q'"};
const Option by_word = {"--by-word", "WORD", "follow one word's query through the six steps, with vectors"};
const Option depth = {"--depth", "N", "follow the terms N steps back, down to inputs and parameters (0)"};
const Option state = {"--state", "FILE", "keep the progress there (~/.local/state/attn/lessons.json)"};
const Option no_input = {"--no-input", "", "print all of a lesson at once, with the answers"};
const Option answers = {"--answers", "FILE",
                        "answer from a file, one answer in a line; exit code 1 for a wrong one"};
const Option key = {"--key", "NAME", "which matrix, when the file holds several"};

const Option swap = {"--swap", "I,J", "swap two words: what changes without positions, and with them"};
const Option transpose = {"--transpose", "", "also the weights transposed: keys as rows, queries as columns"};
const Option outline = {"--outline", "", "one picture, and the tree of matrices with shapes and costs"};
const Option sweep = {"--sweep", "N,…", "divide by one number after another: how the weights saturate"};

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
    {"softmax", {"attn softmax --scores '14 12'", "attn softmax --scores s.csv --format csv"}, {transpose}},
    {"weigh", {"attn weigh", "attn weigh --weights '0.9 0.1' --v '1 0; 0 1'"}},
    {"heads", {"attn heads --example animal", "attn heads --q q.npy --k k.npy --v v.npy --heads 4"}},
    {"concat", {"attn concat --example animal", "attn concat --text 'two heads' --heads 2"}},
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
    std::vector<Option> options = {only};
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

std::vector<Option> with_model_options(std::vector<Option> own) {
  const std::vector<Option> options = model_options();
  own.insert(own.end(), options.begin(), options.end());
  return own;
}

// The Transformer, whole and in parts.
void add_models(std::vector<Command>& commands) {
  commands.push_back(
      {.name = "layer-norm",
       .summary = "mean, variance, normalised rows, γ and β",
       .takes_problem = true,
       .options = {{"--gamma", "MATRIX", "one row of factors (ones)"},
                   {"--beta", "MATRIX", "one row of summands (zeros)"},
                   {"--epsilon", "NUMBER", "keeps the divisor from being 0 (1e-5)"}},
       .examples = {"attn layer-norm", "attn layer-norm --x '1 2 3; 10 20 30' --gamma '1 1 2'"},
       .run = run_layer_norm});
  const std::vector<Option> of_parts = with_model_options(
      {only, outline, {"--explain", "CELL", "one number, such as 'encoder.1.norm_1.output[1,2]'"}, depth});
  commands.push_back({.name = "encoder",
                      .summary = "self-attention and feed-forward, layer by layer",
                      .options = of_parts,
                      .examples = {"attn encoder", "attn encoder --size base --outline",
                                   "attn encoder --parameters encoder.safetensors --heads 4 --x x.npy"},
                      .run = run_transformer});
  std::vector<Option> of_decoders = of_parts;
  of_decoders.push_back({"--kind", "NAME", "encoder-decoder or decoder-only (encoder-decoder)"});
  of_decoders.push_back({"--check-causal", "", "change later words: does an earlier output move?"});
  commands.push_back({.name = "decoder",
                      .summary = "masked self-attention, attention to what was encoded, feed-forward",
                      .options = of_decoders,
                      .examples = {"attn decoder", "attn decoder --kind decoder-only --check-causal"},
                      .run = run_transformer});
  commands.push_back({.name = "transformer",
                      .summary = "encoder and decoder, from words to the distribution of the next word",
                      .options = of_decoders,
                      .examples = {"attn transformer --outline", "attn transformer --check-causal",
                                   "attn transformer --size base --only 'encoder.2.*.weights'"},
                      .run = run_transformer});
  std::vector<Option> of_parameters = with_model_options({});
  of_parameters.push_back({"--kind", "NAME", "encoder-decoder, encoder-only or decoder-only"});
  commands.push_back(
      {.name = "parameters",
       .summary = "every learned matrix of a model with its shape and count",
       .options = of_parameters,
       .examples = {"attn parameters --size base", "attn parameters --save-parameters tiny.safetensors"},
       .run = run_parameters});
  std::vector<Option> of_generation =
      with_model_options({only,
                          {"--kind", "NAME", "encoder-decoder or decoder-only (encoder-decoder)"},
                          {"--steps", "N", "at most so many words (8)"},
                          {"--no-cache", "", "let all words go in again at every step"},
                          {"--sample", "", "draw words from the distribution, instead of the most probable"},
                          {"--temperature", "T", "divide the logits by T before the softmax, and draw"},
                          {"--top-k", "K", "draw from the K most probable words"},
                          {"--top-p", "P", "draw from the most probable words that together have P"},
                          {"--sample-seed", "N", "of the words that are drawn (1)"}});
  commands.push_back({.name = "generate",
                      .summary = "one word after another, with a ledger of what was computed",
                      .options = of_generation,
                      .examples = {"attn generate", "attn generate --model copy --source 'c a b'",
                                   "attn generate --temperature 1.5 --sample-seed 3"},
                      .run = run_generate});
}

std::vector<Command> make_commands() {
  std::vector<Command> commands;
  commands.push_back(
      {.name = "walk",
       .summary = "all steps of attention in order",
       .takes_problem = true,
       .options = {only, by_word, swap, transpose, outline},
       .examples = {"attn walk", "attn walk --by-word Thinking",
                    "attn walk --text 'Every word looks at every word' --heads 2",
                    "attn walk --x x.npy --wq wq.npy --wk wk.npy --wv wv.npy --causal -o walk.md"},
       .run = run_walk});
  add_steps(commands);
  commands.push_back({.name = "explain",
                      .summary = "one number, down to its last multiplication",
                      .words = "CELL",
                      .least_words = 1,
                      .most_words = 1,
                      .takes_problem = true,
                      .options = {depth},
                      .examples = {"attn explain 'weights[1,2]' --depth 3",
                                   "attn explain 'head.2.weights[it,animal]' --example animal"},
                      .run = run_explain});
  commands.push_back(
      {.name = "compare-scores",
       .summary = "all scoring functions on the same queries and keys",
       .takes_problem = true,
       .examples = {"attn compare-scores", "attn compare-scores --q '1 0; 0 2' --k '1 1; 0 1; 2 0'"},
       .run = run_compare_scores});
  commands.push_back(
      {.name = "compare-masks",
       .summary = "masking scores, weights, with −∞ and with numbers",
       .takes_problem = true,
       .default_example = "padding",
       .examples = {"attn compare-masks", "attn compare-masks --scores '3 1 2; 0 5 1' --causal"},
       .run = run_compare_masks});
  commands.push_back({.name = "pool",
                      .summary = "average, look-up, sum and softmax over the same scores",
                      .takes_problem = true,
                      .default_example = "pooling",
                      .examples = {"attn pool", "attn pool --score-sigma 0.3",
                                   "attn pool --q '1 0' --k '1 0; 0 1; 1 1' --v '10; 20; 30'"},
                      .run = run_pool});
  commands.push_back({.name = "embed",
                      .summary = "words, their ids, and the rows of a table they stand for",
                      .takes_problem = true,
                      .examples = {"attn embed --text 'the cat and the dog' --d-model 4", "attn embed"},
                      .run = run_embed});
  commands.push_back(
      {.name = "positions",
       .summary = "how attention is told the order: a table, a heat map, curves",
       .takes_problem = true,
       .options = {{"--n", "N", "how many places (32)"},
                   {"--columns", "I,…", "which columns are drawn as curves (1,2,3,4)"}},
       .examples = {"attn positions", "attn positions --n 60 --d-model 32 --columns 7,8,9,10",
                    "attn positions --positions relative-bias --position-table '-2 -1 0 -1 -2' --n 6"},
       .run = run_positions});
  commands.push_back({.name = "errata",
                      .summary = "where the documents err or disagree, with numbers",
                      .words = "[ERRATUM]",
                      .most_words = 1,
                      .examples = {"attn errata", "attn errata E10"},
                      .run = run_errata});
  commands.push_back({.name = "cost",
                      .summary = "multiply-adds, memory and sequential steps, and layers compared",
                      .takes_problem = true,
                      .options = {{"--n", "N", "positions, to compare layers at (those of the problem)"},
                                  {"--d", "N", "numbers at each position"},
                                  {"--kernel", "N", "positions that a convolution sees (3)"},
                                  {"--measure", "", "how long each takes on this machine"}},
                      .examples = {"attn cost", "attn cost --example animal",
                                   "attn cost --n 3072 --d 512 --kernel 3", "attn cost --measure"},
                      .run = run_cost});
  commands.push_back(
      {.name = "align",
       .summary = "a recurrent encoder-decoder with attention, word by word",
       .options = {{"--variant", "NAME", "bahdanau, luong, scaled-dot, or none: the bottleneck (bahdanau)"},
                   {"--cell", "NAME", "tanh or gru (tanh)"},
                   {"--source", "SENTENCE", "what is translated (la maison blanche est petite)"},
                   {"--target", "SENTENCE",
                    "teacher forcing: follow these words, not the most probable ones"},
                   {"--steps", "N", "at most so many outputs (two more than inputs)"},
                   {"--parameters", "FILE",
                    "words and matrices in JSON, as in lessons/align/white-house.json"},
                   {"--seed", "N", "draw all matrices, for any words (1)"},
                   {"--hidden", "N", "numbers in a state and in a vector that are drawn (4)"},
                   {"--transpose", "", "the alignment with inputs as rows and outputs as columns"},
                   only,
                   {"--explain", "CELL", "one number, such as 'decoder.2.weights[1,3]'"},
                   depth},
       .examples = {"attn align", "attn align --variant none",
                    "attn align --variant luong --source 'la fleur petite est blanche' --transpose",
                    "attn align --target 'the small house is white'",
                    "attn align --explain 'decoder.2.weights[1,3]' --depth 3",
                    "attn align --seed 7 --hidden 8 --cell gru --source 'one two three'"},
       .run = run_align});
  add_models(commands);
  commands.push_back({.name = "examples",
                      .summary = "the examples that are built in",
                      .words = "[NAME]",
                      .most_words = 1,
                      .examples = {"attn examples", "attn examples animal"},
                      .run = run_examples});
  commands.push_back({.name = "convert",
                      .summary = "one matrix file into another kind",
                      .words = "SRC DST",
                      .least_words = 2,
                      .most_words = 2,
                      .options = {key},
                      .examples = {"attn convert scores.csv scores.npy",
                                   "attn convert trace.npz weights.csv --key head.1.weights"},
                      .run = run_convert});
  commands.push_back({.name = "lesson",
                      .summary = "lessons to take step by step: list, show, run, reset, export; for authors: "
                                 "new, check, coverage",
                      .words = "[ACTION] [LESSON]",
                      .most_words = 1000,
                      .options = {state, no_input, answers},
                      .examples = {"attn lesson list", "attn lesson run 1", "attn lesson check my-lesson.md"},
                      .run = run_lesson});
  commands.push_back({.name = "docs",
                      .summary = "the output of commands in Markdown files: update, check, clean",
                      .words = "ACTION FILE...",
                      .least_words = 2,
                      .most_words = 1000,
                      .examples = {"attn docs update README.md", "attn docs check README.md docs/*.md"},
                      .run = run_docs});
  commands.push_back({.name = "help",
                      .summary = "this text, or the help of a command",
                      .words = "[COMMAND]",
                      .most_words = 1,
                      .examples = {"attn help walk", "attn help explain"},
                      .run = run_help});
  commands.push_back({.name = "version",
                      .summary = "which version this is",
                      .examples = {"attn version"},
                      .run = run_version});
  return commands;
}

constexpr std::array problem_table = {
    Option{"--example", "NAME", "a built-in example; the options below change it (thinking-machines)"},
    Option{"--problem", "FILE", "a JSON file with any of the fields below, or what --format json wrote"},
    Option{"--parameters", "FILE", "w_q … b_o: safetensors, npz or JSON; PyTorch's nn.MultiheadAttention"},
    prefix_option,
};

constexpr std::array output_table = {
    Option{"--format", "NAME", "one of the formats listed below (text)"},
    Option{"--output", "FILE", "-o FILE: write there, the format chosen by the ending"},
    Option{"--precision", "N", "most decimals that are shown (4)"},
    Option{"--width", "N", "columns of the terminal; large matrices are shortened to fit"},
    Option{"--full", "", "leave nothing out"},
    Option{"--section", "NAME", "only what stands under the headings that begin so; several with |"},
    Option{"--ascii", "", "no signs beyond ASCII of our own"},
    Option{"--color", "WHEN", "always, never or auto"},
    Option{"--help", "", "-h: this text"},
};

}  // namespace

std::span<const Command> commands() {
  static const std::vector<Command> all = make_commands();
  return all;
}

std::span<const Option> problem_options() {
  return problem_table;
}

std::span<const Option> output_options() {
  return output_table;
}

}  // namespace attn
