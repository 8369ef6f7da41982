#include "page/tell/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "core/graph/find.hpp"
#include "core/model/encoder_decoder.hpp"
#include "core/support/number.hpp"
#include "page/tell/attention_steps.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

constexpr std::size_t most_influences = 2500;  // outputs times inputs, each a whole translation of its own

class AlignmentEnds {
 public:
  AlignmentEnds(Page& page, const Graph& graph, const Translation& translation)
      : page_(page), graph_(graph), translation_(translation), model_(translation.model) {}

  void add() {
    add_alignment();
    add_probabilities();
    add_influence();
    add_paths();
  }

 private:
  void say(Block block) { page_.blocks.push_back(std::move(block)); }
  void say(std::string sentence) { say(Prose{text(std::move(sentence))}); }
  void title(std::string words) { say(Heading{2, text(std::move(words))}); }
  void say_shares(std::string title, Axis rows, Axis columns, Matrix cells) {
    say(Table{.title = std::move(title),
              .rows = std::move(rows),
              .columns = std::move(columns),
              .cells = std::make_shared<const Matrix>(std::move(cells)),
              .heat = Heat::weights});
  }

  const std::string& source_word(std::size_t id) const { return model_.source_words[id - 1]; }
  const std::string& target_word(std::size_t id) const { return model_.target_words[id - 1]; }
  bool attends() const { return !model_.variant->score.empty(); }

  void add_alignment() {
    if (!attends()) return;
    const Node* transposed = graph_.find(role::alignment_transposed);
    const Node& node = transposed ? *transposed : graph_.at(role::alignment);
    title("The alignment");
    say(transposed ? "The attention weights of all steps: inputs as rows, outputs as columns. Every column sums to 1."
                   : "The attention weights of all steps: outputs as rows, inputs as columns. Every row sums to 1. "
                     "--transpose exchanges rows and columns.");
    Table table = table_of(node);
    table.row_sums = !transposed;
    if (transposed) say(formula_block(node));
    say(table);
    say(HeatMap{std::move(table)});
  }

  void add_probabilities() {
    title("The whole sentence");
    const std::size_t outputs = translation_.target.size();
    Matrix shares({outputs, 1});
    std::vector<std::string> words;
    double all = 1.0;
    for (std::size_t t = 1; t <= outputs; ++t) {
      const std::size_t id = translation_.target[t - 1];
      words.push_back(target_word(id));
      shares(t - 1, 0) = graph_.at({{scope::decoder, {scope::number, t}}, role::distribution}).matrix()(0, id - 1);
      all *= shares(t - 1, 0);
    }
    say_shares("outputs", axis("outputs", std::move(words)), axis("stages", {"probability"}), std::move(shares));
    say(Prose{text("The product of these probabilities is the probability of all these outputs together: ",
                   strong(written_digits(all, 4)), ".")});
  }

  void add_influence() {
    const std::size_t inputs = translation_.source.size(), outputs = translation_.target.size();
    if (inputs * outputs > most_influences) return;
    SourceInfluence found = source_influence(model_, translation_.source, translation_.target);
    title(attends() ? "What each output depends on" : "What the bottleneck loses");
    say("One source word at a time is replaced by the word with the nearest embedding. "
        "The target words stay the same. "
        "The table shows how much the distribution of each output changes (total variation distance: 0 = unchanged, 1 = completely different words).");
    if (!std::ranges::equal(found.replacements, translation_.source, std::ranges::not_equal_to()))
      say("A word stays as it is where the vocabulary has no other word.");
    std::vector<std::string> columns, rows;
    for (std::size_t i = 0; i < inputs; ++i) {
      columns.push_back(source_word(translation_.source[i]) + "->" + source_word(found.replacements[i]));
    }
    for (const std::size_t id : translation_.target) rows.push_back(target_word(id));
    say_shares("moves", axis("outputs", std::move(rows)), axis("inputs", std::move(columns)), std::move(found.moved));
    if (attends()) return;
    say(
        fmt::format("All information about the source passes through one state of size {}. "
                    "A column near 0 means that replacing this word hardly changes any output. "
                    "With --variant bahdanau each output attends to every state.",
                    model_.state_size));
  }

  // How many states lie on the shortest path through the network, found by searching the graph.
  void add_paths() {
    const std::size_t n = translation_.source.size(), steps = translation_.target.size();
    std::set<const Node*> states;
    for (std::size_t i = 1; i <= n; ++i) states.insert(&encoder_state(i));
    for (std::size_t t = 0; t <= steps; ++t) states.insert(&decoder_state(t));
    const auto counts = [&](const Node& node) { return states.contains(&node); };
    const ShortestPaths from_first(graph_, encoder_state(1), counts);
    const ShortestPaths from_output(graph_, decoder_state(1), counts);
    const Node& last_output = graph_.at({{scope::decoder, {scope::number, steps}}, role::distribution});
    const std::size_t to_last = from_first.length(encoder_state(n)).value_or(0),
                      to_output = from_first.length(last_output).value_or(0),
                      between_outputs = from_output.length(decoder_state(steps)).value_or(0);
    title("Paths through the states");
    say("The number of states on the shortest path from one state to another, or to an output, without the first; found by searching the graph.");
    Matrix cells({3, 1});
    cells(0, 0) = static_cast<double>(to_last);
    cells(1, 0) = static_cast<double>(between_outputs);
    cells(2, 0) = static_cast<double>(to_output);
    say(Table{.title = "path",
              .rows = axis("paths", {fmt::format("h_1 to h_{}", n), fmt::format("s_1 to s_{}", steps),
                                     fmt::format("h_1 to output {}", steps)}),
              .columns = axis("quantity", {"states"}),
              .cells = std::make_shared<const Matrix>(std::move(cells))});
    if (!attends()) {
      say("Without attention, the first word reaches an output only through all later states of the encoder, and all states of the decoder up to that output.");
      return;
    }
    say("With attention, each output has a path to each encoder state that is no longer for more words. "
        "Two bottlenecks are left: between the states of the encoder, where h_1 reaches h_n only through all states in between, and likewise between the states of the decoder. "
        "Self-attention replaces both.");
  }

  const Node& encoder_state(std::size_t i) const { return graph_.at({{scope::encoder, {scope::number, i}}, role::h}); }
  const Node& decoder_state(std::size_t t) const {
    return graph_.at({{scope::decoder, {scope::number, t}}, role::state});
  }

  Page& page_;
  const Graph& graph_;
  const Translation& translation_;
  const EncoderDecoder& model_;
};

}  // namespace

void add_alignment_ends(Page& page, const Graph& graph, const Translation& translation) {
  AlignmentEnds(page, graph, translation).add();
}

}  // namespace attn
