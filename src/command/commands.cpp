#include <array>
#include <charconv>

#include "attention/steps.hpp"
#include "command/command.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

constexpr std::array<Option, 0> no_options = {};
constexpr std::array only_option = {
    Option{"--only", "PATTERN", "only the matrices whose names match: weights, 'head.2.*', '*.q'"},
};
constexpr std::array walk_options = {
    only_option[0],
    Option{"--by-word", "WORD", "follow one word's query through the six steps, with vectors"},
};
constexpr std::array explain_options = {
    Option{"--depth", "N", "follow the terms N steps back, down to inputs and parameters (0)"},
};
constexpr std::array convert_options = {
    Option{"--key", "NAME", "which matrix, when the file holds several"},
};

using Lines = std::string_view;
constexpr std::array<Lines, 4> walk_examples = {
    "attn walk", "attn walk --by-word Thinking",
    "attn walk --text 'Every word looks at every word' --heads 2",
    "attn walk --x x.npy --wq wq.npy --wk wk.npy --wv wv.npy --causal -o walk.md"};
constexpr std::array<Lines, 2> explain_examples = {
    "attn explain 'weights[1,2]' --depth 3", "attn explain 'head.2.weights[it,animal]' --example animal"};
constexpr std::array<Lines, 2> examples_examples = {"attn examples", "attn examples animal"};
constexpr std::array<Lines, 2> convert_examples = {"attn convert scores.csv scores.npy",
                                                   "attn convert trace.npz weights.csv --key head.1.weights"};
constexpr std::array<Lines, 1> version_examples = {"attn version"};
constexpr std::array<Lines, 2> help_examples = {"attn help walk", "attn help explain"};
constexpr std::array<Lines, 2> project_examples = {"attn project",
                                                   "attn project --x '1 0; 0 1' --wq '[[1,2],[3,4]]'"};
constexpr std::array<Lines, 2> scores_examples = {"attn scores", "attn scores --q q.csv --k k.csv"};
constexpr std::array<Lines, 2> scale_examples = {"attn scale --scale 8",
                                                 "attn scale --scores '112 96' --scale 8"};
constexpr std::array<Lines, 2> mask_examples = {"attn mask --causal",
                                                "attn mask --scores s.csv --mask '[[1,0],[1,1]]'"};
constexpr std::array<Lines, 2> softmax_examples = {"attn softmax --scores '14 12'",
                                                   "attn softmax --scores s.csv --format csv"};
constexpr std::array<Lines, 2> weigh_examples = {"attn weigh",
                                                 "attn weigh --weights '0.9 0.1' --v '1 0; 0 1'"};
constexpr std::array<Lines, 2> heads_examples = {"attn heads --example animal",
                                                 "attn heads --q q.npy --k k.npy --v "
                                                 "v.npy --heads 4"};
constexpr std::array<Lines, 2> concat_examples = {"attn concat --example animal",
                                                  "attn concat --text 'two heads' --heads 2"};

// A step's command bears the step's name and tells its summary.
constexpr Command step(std::string_view name, std::string_view summary, std::span<const Lines> examples) {
  return {name, summary, "", 0, 0, true, only_option, examples, run_step};
}

constexpr std::array table = {
    Command{"walk", "all steps of attention in order", "", 0, 0, true, walk_options, walk_examples, run_walk},
    step("project", "queries, keys and values from the embeddings", project_examples),
    step("scores", "every query against every key", scores_examples),
    step("scale", "scores divided by √d_k", scale_examples),
    step("mask", "scores of keys that may not be looked at, removed", mask_examples),
    step("softmax", "weights: every row nonnegative, with sum one", softmax_examples),
    step("weigh", "the values, averaged with the weights", weigh_examples),
    step("heads", "the parts of q, k and v, and what each head found", heads_examples),
    step("concat", "the heads side by side, and the output projection", concat_examples),
    Command{"explain", "one number, down to its last multiplication", "CELL", 1, 1, true, explain_options,
            explain_examples, run_explain},
    Command{"examples", "the examples that are built in", "[NAME]", 0, 1, false, no_options,
            examples_examples, run_examples},
    Command{"convert", "one matrix file into another kind", "SRC DST", 2, 2, false, convert_options,
            convert_examples, run_convert},
    Command{"help", "this text, or the help of a command", "[COMMAND]", 0, 1, false, no_options,
            help_examples, run_help},
    Command{"version", "which version this is", "", 0, 0, false, no_options, version_examples, run_version},
};

constexpr std::array problem_table = {
    Option{"--example", "NAME", "a built-in example; the options below change it (thinking-machines)"},
    Option{"--problem", "FILE", "a JSON file with any of the fields below, or what --format json wrote"},
};

constexpr std::array output_table = {
    Option{"--format", "NAME", "text, markdown, csv, tsv, json, npy or npz"},
    Option{"--output", "FILE", "-o FILE: write there, the format chosen by the ending"},
    Option{"--precision", "N", "most decimals that are shown (4)"},
    Option{"--width", "N", "columns of the terminal; large matrices are shortened to fit"},
    Option{"--full", "", "leave nothing out"},
    Option{"--ascii", "", "no signs beyond ASCII of our own"},
    Option{"--color", "WHEN", "always, never or auto"},
    Option{"--help", "", "-h: this text"},
};

}  // namespace

std::span<const Command> commands() {
  return table;
}

std::span<const Option> problem_options() {
  return problem_table;
}

std::span<const Option> output_options() {
  return output_table;
}

std::optional<std::string> Arguments::text(std::string_view option) const {
  const auto found = options.find(option);
  if (found == options.end()) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> Arguments::count(std::string_view option, std::size_t least,
                                            std::size_t most) const {
  const std::optional<std::string> given = text(option);
  if (!given) return std::nullopt;
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), value);
  if (error != std::errc() || end != given->data() + given->size() || value < least || value > most) {
    fail("--{}: '{}' is not a whole number from {} to {}", option, *given, least, most);
  }
  return value;
}

}  // namespace attn
