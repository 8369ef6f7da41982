// Problems, models and computations: files that a stranger may have written, and whole command lines.

#include <algorithm>
#include <array>

#include "core/attention/watches.hpp"
#include "core/graph/run.hpp"
#include "core/support/error.hpp"
#include "data/problem/problem.hpp"
#include "data/problem/problem_file.hpp"
#include "data/problem/problem_options.hpp"
#include "fuzz.hpp"
#include "page/document/document.hpp"
#include "school/training/trainer.hpp"

namespace attn::fuzz {
namespace {

// More random numbers take long because they are asked for.
constexpr double most_asked_for = 1e6;

// An upper bound for the cells of random matrices: the product of all sizes that are given.
double cells_asked_for(const OptionValues& values) {
  double product = 1;
  for (const OptionValues::Entry& entry : values.entries()) {
    const auto* const count = std::get_if<std::size_t>(&entry.value);
    if (count && entry.option != &option::seed) product *= static_cast<double>(std::max(*count, std::size_t{1}));
  }
  return product;
}

std::string file_of(const Problem& problem) {
  return printed([&](Sink& sink) {
    JsonWriter json(sink);
    write_problem(problem, json);
  });
}

void compute_all(const Problem& problem, Graph& graph) {
  const Budget budget(of_case);
  add_computation(problem, graph);
  compute_watched(graph);
}

// What was computed is the same when it is computed from what the problem is written as.
void problem(std::string_view bytes) {
  const OptionValues values = read_problem_file(bytes, "case.json");
  if (cells_asked_for(values) > most_asked_for) return;
  const Problem first = build_problem(values);
  Graph graph, again;
  compute_all(first, graph);
  must("a problem can be written and read",
       [&] { compute_all(build_problem(read_problem_file(file_of(first), "written.json")), again); });
  require(std::ranges::equal(graph.nodes(), again.nodes(),
                             [&](const Node& one, const Node& other) {
                               return same_numbers(*graph.run().at(one), *again.run().at(other));
                             }),
          "a problem that was written and read computes the same");
  write_case("case.json", bytes);
  for (const char* format : {"text", "markdown", "json"})
    output_of({"walk", "--problem", "case.json", "--format", format});
}

void model(std::string_view bytes) {
  write_case("model.json", bytes);
  output_of({"transformer", "--model", "model.json", "--format", "json"});
  output_of({"generate", "--model", "model.json", "--steps", "2"});
}

void alignment(std::string_view bytes) {
  write_case("align.json", bytes);
  for (const char* variant : {"bahdanau", "none"})
    output_of({"align", "--parameters", "align.json", "--variant", variant, "--steps", "3"});
}

// Learned matrices in any layout and kind of file.
void parameters(std::string_view bytes) {
  write_case("parameters", bytes);
  output_of({"parameters", "--parameters", "parameters"});
  output_of({"walk", "--parameters", "parameters", "--text", "a b", "--heads", "1"});
}

// A computation that was written can be shown, and what is shown as JSON shows the same.
void trace(std::string_view bytes) {
  write_case("trace", bytes);
  output_of({"show", "trace"}, bytes.size() % 2 == 0);
  const std::string once = output_of({"show", "trace", "--format", "json"});
  write_case("trace", once);
  require(output_of({"show", "trace", "--format", "json"}) == once, "what is shown as JSON can be shown again");
}

// Somebody's matrices, compared with a computation of their own and with another. Where the file
// has no input, an error is a proper end of the second.
void comparison(std::string_view bytes) {
  write_case("mine", bytes);
  const std::vector<std::string> line = {
      "check", "mine", "--q", "1 2 0; 0 1 1", "--k", "2 1 1; 1 0 2; 0 1 1", "--v", "1 2; 5 7; 4 4", "--causal"};
  const std::string page = output_of(line, bytes.size() % 2 == 0);
  require(output_of(line, bytes.size() % 2 == 0) == page, "the same matrices are told the same");
  output_of({"check", "mine", "--format", "json"});
}

// A state of training from anywhere: what can be read is written as it was read. Few of a stranger's bytes
// have parameters of the right shapes, so the seed is a state of a tiny model.
void state(std::string_view bytes) {
  const TrainingState read = read_state(bytes, "case");
  const std::string once = bytes_of(read);
  require(bytes_of(read_state(once, "again")) == once, "a state that was written is read as it was");
}

// Sentences of a reader's own.
void sentences(std::string_view text) {
  for (const TextPair& pair : read_pairs(text, "case")) {
    require(!pair.source.empty() && !pair.target.empty(), "both sides of a pair have words");
  }
}

// Each line is a command line, as in a document. They may read the files below.
void commands(std::string_view text) {
  static const bool files_are_there = [] {
    write_case("m.csv", "a,1,2\nb,3,-4.5\n");
    write_case("p.json", R"({"q": [[1, 2]], "k": [[1, 0], [0, 1]], "v": [[1], [2]]})");
    write_case("w.txt", "the 1 2\nof 3 4\n");
    write_case("d.md", "# D\n\n```attn\nattn softmax --scores '1 2'\n```\n");
    return true;
  }();
  require(files_are_there, "the files that commands read are there");
  for (const CommandLine& line : command_lines(text, "case", 1)) {
    if (is_quick(line.words)) output_of(line.words, text.size() % 2 == 0);
  }
}

constexpr std::array table = {
    Target{"problem", problem},       Target{"model", model},     Target{"alignment", alignment},
    Target{"parameters", parameters}, Target{"trace", trace},     Target{"commands", commands},
    Target{"state", state},           Target{"pairs", sentences}, Target{"comparison", comparison},
};

}  // namespace

std::span<const Target> computations() { return table; }

}  // namespace attn::fuzz
