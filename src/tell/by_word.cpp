#include "tell/by_word.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/score.hpp"
#include "graph/address.hpp"
#include "support/error.hpp"
#include "tell/describe.hpp"
#include "tell/steps.hpp"

namespace attn {
namespace {

constexpr std::size_t most_written = 48;  // that are written out before one score must stand for all

std::shared_ptr<const Matrix> share(Matrix matrix) {
  return std::make_shared<const Matrix>(std::move(matrix));
}

// One row of a node as a table.
Table row_table(const Node& node, std::size_t i) {
  Matrix matrix({1, node.frame.shape.columns});
  std::ranges::copy(row(node.matrix(), i), row(matrix, 0).begin());
  return {.title = node.title(),
          .rows = axis(node.frame.rows.name, {node.frame.rows.label(i)}),
          .columns = node.frame.columns,
          .cells = share(std::move(matrix)),
          .heat = Heat::around_zero};
}

// Follows one row of one matrix of weights, from its query to its output.
class WordWalk {
 public:
  WordWalk(Page& page, const Node& output, std::size_t query)
      : page_(page),
        output_(output),
        weights_(*output.operands[0]),
        values_(*output.operands[1]),
        query_(query) {}

  void add() {
    const std::string place = output_.place ? fmt::format(" ({})", output_.place->title()) : "";
    page_.head(2, fmt::format("{} as the query{}", asker(), place));
    add_vectors();
    add_scores();
    add_weights();
    add_sum();
  }

 private:
  Span next_step() { return strong(fmt::format("Step {}.", ++step_)); }

  // "it", or without words: Query 8.
  std::string asker() const {
    const Axis& queries = weights_.frame.rows;
    return queries.labels ? "\"" + queries.label(query_) + "\"" : fmt::format("Query {}", query_ + 1);
  }

  const Node* find(const Role& role) const { return output_.beside(role); }

  // The formulas that lead to a node from what was given: a head's part of q, and q itself.
  void say_formulas(const Node& node) {
    if (!node.operation) return;
    for (const Node* operand : node.operands) {
      if (operand->role == node.role) say_formulas(*operand);
    }
    page_.say(formula_block(node));
  }

  void add_vectors() {
    const Node* scores = find(role::scores);
    if (!scores || !scores->operation) return;
    const Node *asking = find(role::q), *answering = find(role::k);
    if (!asking || !answering) return;
    const Node &q = *asking, &k = *answering;
    page_.say(text(next_step(),
                   " Every query is compared with every key, and every key has a value. The row of q for ",
                   strong(asker()), " is below the formulas."));
    for (const Node* node : {&q, &k, &values_}) say_formulas(*node);
    page_.say(row_table(q, query_));
    SideBySide tables{{table_of(k), table_of(values_)}};
    for (Table& table : tables.tables) table.told.push_back({most_weighted(), 0});
    page_.say(std::move(tables));
  }

  // The key with the largest weight, the first of several.
  std::size_t most_weighted() const {
    const std::span<const double> weights = row(weights_.matrix(), query_);
    return static_cast<std::size_t>(std::ranges::max_element(weights) - weights.begin());
  }

  // They are written out for all keys, or where that is too long for the one with the largest weight.
  void add_scores() {
    const Node* scores = find(role::scores);
    if (!scores || !scores->operation) return;
    const std::size_t keys = scores->frame.shape.columns;
    const Expression first = explain({scores, query_, 0}).expression;
    const bool all = keys * cells_of(first).size() <= most_written;
    page_.say(text(next_step(), " ", meaning_of_scores(*scores),
                   all ? "" : " This is the score of the key with the largest weight."));
    const std::size_t most = most_weighted();
    for (std::size_t j = 0; j < keys; ++j) {
      if (!all && j != most) continue;
      page_.say(derivation({scores, query_, j}, 0));
    }
  }

  bool scores_of_asker_are_masked() const {
    return std::ranges::all_of(row(weights_.operands[0]->matrix(), query_),
                               [](double score) { return std::isinf(score); });
  }

  void tell_stages() {
    const Node *scaled = find(role::scaled), *masked = find(role::masked);
    if (!weights_.operation) return page_.say(text(strong("The weights"), " were given."));
    if (scaled && scaled->operation && !scaled->is_alias()) {
      page_.say(text(next_step(), " The scores are divided: ", code(formula_of(*scaled).plain), "."));
    }
    if (masked && !masked->is_alias()) page_.say(text("The mask: ", code(formula_of(*masked).plain), "."));
    page_.say(text(next_step(), " ",
                   scores_of_asker_are_masked()
                       ? "All keys are masked, so all weights are 0."
                       : "Softmax turns the scores into weights from 0 to 1 that sum to one."));
  }

  // One row for each key; the columns are the scores on their way to weights.
  void add_weights() {
    std::vector<const Node*> stages;
    for (const Role* role : {&role::scores, &role::scaled, &role::masked}) {
      const Node* stage = find(*role);
      if (stage && !stage->is_alias()) stages.push_back(stage);
    }
    stages.push_back(&weights_);
    const std::size_t keys = weights_.frame.shape.columns;
    // Masked cells are those whose score is −∞, and weights made of them.
    Matrix numbers = Matrix({keys, stages.size()}), scores = numbers;
    std::vector<std::string> names, labels;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      names.emplace_back(stages[s]->leaf());
      const Node& decides = weights_.operation && s + 1 == stages.size() ? *weights_.operands[0] : *stages[s];
      for (std::size_t j = 0; j < keys; ++j) {
        numbers(j, s) = stages[s]->matrix()(query_, j);
        scores(j, s) = decides.matrix()(query_, j);
      }
    }
    for (std::size_t j = 0; j < keys; ++j) labels.push_back(weights_.frame.columns.label(j));
    tell_stages();
    page_.say(Table{.title = weights_.frame.rows.label(query_),
                    .rows = axis("keys", std::move(labels)),
                    .columns = axis("stages", std::move(names)),
                    .cells = share(std::move(numbers)),
                    .scores = share(std::move(scores)),
                    .columns_differ = true,
                    .told = {{most_weighted(), 0}}});
  }

  // The products under the sum are the terms that explain the output: they are not worked out again here.
  void add_sum() {
    const std::size_t size = output_.frame.shape.columns, keys = weights_.frame.shape.columns;
    Matrix products({keys, size});
    for (std::size_t c = 0; c < size; ++c) {
      const Explanation sum = output_.operation->explain(output_.operands, query_, c);
      for (std::size_t j = 0; j < keys; ++j) products(j, c) = sum.expression.parts[j].value;
    }
    std::vector<std::string> labels;
    for (std::size_t j = 0; j < keys; ++j) labels.push_back(weights_.frame.columns.label(j));
    page_.say(text(next_step(),
                   " Every value is multiplied by its weight. Values with a weight near 0 contribute almost "
                   "nothing."));
    page_.say(Table{.title = "weight ⋅ value",
                    .rows = axis("keys", std::move(labels)),
                    .columns = output_.frame.columns,
                    .cells = share(std::move(products)),
                    .heat = Heat::around_zero,
                    .told = {{most_weighted(), 0}}});
    page_.say(text(next_step(), " The sum of these products is the output for ", strong(asker()), "."));
    page_.say(row_table(output_, query_));
  }

  Page& page_;
  const Node& output_;
  const Node& weights_;
  const Node& values_;
  std::size_t query_;
  int step_ = 0;
};

bool has_row(const Node& node, const std::string& word) {
  return has_place(node.frame.rows, node.frame.shape.rows, word);
}

// The scope of the sentence that a node belongs to: without that of a head.
const NamedScope* sentence_of(const Node& node) {
  return around(node.place, scope::head);
}

// One sentence: its heads one after another, and what joins them.
void add_sentence(Page& page, const Graph& graph, const std::vector<const Node*>& sums, std::size_t query) {
  for (const Node* node : sums) WordWalk(page, *node, query).add();
  for (const Node& node : graph.nodes()) {
    const bool joins = node.operation && (node.is(role::concat) || node.is(role::output)) &&
                       node.place == sentence_of(*sums.front()) && !is_weighted_sum(node);
    if (!joins) continue;
    page.say(formula_block(node));
    if (!node.is_alias()) page.say(row_table(node, query));
  }
}

}  // namespace

void add_word_walk(Page& page, const Graph& graph, const std::string& word) {
  std::vector<std::vector<const Node*>> sentences;
  for (const Node& node : graph.nodes()) {
    if (!is_weighted_sum(node)) continue;
    if (sentences.empty() || sentence_of(*sentences.back().front()) != sentence_of(node))
      sentences.emplace_back();
    sentences.back().push_back(&node);
  }
  if (sentences.empty())
    fail("there is no output to follow, because there are no values: give ‹v›, or ‹w_v› with ‹x›");
  const bool found =
      std::ranges::any_of(sentences, [&](const auto& sums) { return has_row(*sums.front(), word); });
  for (const auto& sums : sentences) {
    const Node& first = *sums.front();
    if (found && !has_row(first, word)) continue;
    add_sentence(page, graph, sums,
                 find_place(first.frame.rows, first.frame.shape.rows, word, fmt::format("word {}", word)));
  }
}

}  // namespace attn
