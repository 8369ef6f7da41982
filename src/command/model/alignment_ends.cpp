#include "command/model/alignment_ends.hpp"

#include <fmt/format.h>

#include "model/influence.hpp"
#include "page/describe.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

constexpr std::size_t most_influences = 2500;  // outputs times inputs, each a whole translation of its own

class AlignmentEnds {
 public:
  AlignmentEnds(Page& page, const Translation& translation)
      : page_(page), graph_(*page.graph), translation_(translation), model_(translation.model) {}

  void add() {
    add_alignment();
    add_probabilities();
    add_influence();
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
    const Node* transposed = graph_.find("alignment_transposed");
    const Node& node = transposed ? *transposed : graph_.at("alignment");
    title("The alignment");
    say(transposed
            ? "The weights of all steps beside each other: inputs as rows, outputs as columns. Every column "
              "sums to one."
            : "The weights of all steps below each other: outputs as rows, inputs as columns. Every row sums "
              "to one; --transpose exchanges them.");
    Table table = table_of(node);
    table.heat = Heat::weights;
    table.row_sums = !transposed;
    if (transposed) say(formula_block(node));
    say(table);
    say(HeatMap{std::move(table)});
  }

  void add_probabilities() {
    title("The whole sentence");
    const std::size_t outputs = translation_.target.size();
    Matrix shares = make_matrix({outputs, 1});
    std::vector<std::string> words;
    double all = 1.0;
    for (std::size_t t = 1; t <= outputs; ++t) {
      const std::size_t id = translation_.target[t - 1];
      words.push_back(target_word(id));
      shares(t - 1, 0) = graph_.at(fmt::format("decoder.{}.distribution", t)).matrix()(0, id - 1);
      all *= shares(t - 1, 0);
    }
    say_shares("outputs", axis("outputs", std::move(words)), axis("stages", {"probability"}),
               std::move(shares));
    say(Prose{text("Their product, the probability of the whole sentence, is ",
                   strong(written_digits(all, 4)), ".")});
  }

  void add_influence() {
    const std::size_t inputs = translation_.source.size(), outputs = translation_.target.size();
    if (inputs * outputs > most_influences) return;
    Influence found = influence(model_, translation_.source, translation_.target);
    title(attends() ? "What each output depends on" : "What the bottleneck loses");
    say("One word of the source at a time is replaced by the word with the nearest vector, and the same "
        "words are "
        "followed. The table says how far each output's distribution moves, from 0 (not at all) to 1 (to "
        "other words "
        "altogether).");
    std::vector<std::string> columns, rows;
    for (std::size_t i = 0; i < inputs; ++i) {
      columns.push_back(source_word(translation_.source[i]) + "->" + source_word(found.replacements[i]));
    }
    for (const std::size_t id : translation_.target) rows.push_back(target_word(id));
    say_shares("moves", axis("outputs", std::move(rows)), axis("inputs", std::move(columns)),
               std::move(found.moved));
    if (attends()) return;
    say("Everything has to pass through one state. What a word left there has faded with every word after "
        "it, and a "
        "later word of the same kind writes over it: a column near 0 is a word that no output can tell from "
        "another. "
        "With --variant bahdanau every output reaches every state itself.");
  }

  Page& page_;
  const Graph& graph_;
  const Translation& translation_;
  const EncoderDecoder& model_;
};

}  // namespace

void add_alignment_ends(Page& page, const Translation& translation) {
  AlignmentEnds(page, translation).add();
}

}  // namespace attn
