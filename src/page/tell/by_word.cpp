#include "page/tell/by_word.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/graph/find.hpp"
#include "core/support/error.hpp"
#include "page/tell/attention_steps.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

constexpr std::size_t most_written = 48;  // that are written out before one score must stand for all

std::shared_ptr<const Matrix> share(Matrix matrix) { return std::make_shared<const Matrix>(std::move(matrix)); }

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

// Follows one row of one matrix of weights, from its query to its output: the steps of the walk, with its headings and
// sentences.
class WordWalk {
 public:
  WordWalk(Page& page, const Node& output, std::size_t query)
      : page_(page), output_(output), weights_(*output.operands[0]), values_(*output.operands[1]), query_(query) {}

  void add() {
    const std::string place = output_.place ? fmt::format(" ({})", output_.place->title()) : "";
    page_.head(2, fmt::format("{} as the query{}", asker(), place));
    add_vectors();
    add_scores();
    add_weights();
    add_sum();
  }

 private:
  // "it", or without words: Query 8.
  std::string asker() const { return place_in_words(weights_.frame.rows, query_, "Query"); }

  const Node* find(const Role& role) const { return output_.beside(role); }

  // The heading of the step of a result, and what that means; further results of the same step have none.
  void tell(const Node& result) {
    const Step* const step = step_of(result);
    if (!step || step == told_) return;
    told_ = step;
    page_.say(
        text(strong(fmt::format("Step {}. {}.", ++count_, heading_of(*step, result))), " ", meaning_of(*step, result)));
  }

  // What leads to a node from what was given: a head's part of q, and q itself.
  void gather(const Node& node, std::vector<const Node*>& made) const {
    if (!node.op) return;
    for (const Node* operand : node.operands) {
      if (operand->role == node.role) gather(*operand, made);
    }
    made.push_back(&node);
  }

  void add_vectors() {
    const Node* scores = find(role::scores);
    if (!scores || !scores->op) return;
    const Node *asking = find(role::q), *answering = find(role::k);
    if (!asking || !answering) return;
    const Node &q = *asking, &k = *answering;
    std::vector<const Node*> made;
    for (const Node* node : {&q, &k, &values_}) gather(*node, made);
    std::ranges::stable_sort(made, {}, step_of_made);
    for (const Node* node : made) {
      tell(*node);
      page_.say(formula_block(*node));
    }
    page_.say(text("The row of ", code(q.title()), " for ", strong(asker()), ", and all keys and values:"));
    page_.say(row_table(q, query_));
    SideBySide tables{{table_of(k), table_of(values_)}};
    for (Table& table : tables.tables) table.told.push_back({most_weighted(), 0});
    page_.say(std::move(tables));
  }

  // In the order of the steps.
  static const Step* step_of_made(const Node* node) { return step_of(*node); }

  // The key with the largest weight, the first of several.
  std::size_t most_weighted() const {
    const std::span<const double> weights = row(weights_.matrix(), query_);
    return static_cast<std::size_t>(std::ranges::max_element(weights) - weights.begin());
  }

  // They are written out for all keys, or where that is too long for one with the largest weight.
  void add_scores() {
    const Node* scores = find(role::scores);
    if (!scores || !scores->op) return;
    const std::size_t keys = scores->frame.shape.columns;
    const Term first = explain(Cell{scores, query_, 0}).term;
    const bool all = keys * cells_of(first).size() <= most_written;
    const std::size_t most = most_weighted();
    tell(*scores);
    if (!all) page_.say(text("This is the score of ", strong(place_in_words(scores->frame.columns, most, "key")), "."));
    for (std::size_t j = 0; j < keys; ++j) {
      if (!all && j != most) continue;
      page_.say(derivation({scores, query_, j}, 0));
    }
  }

  // The scores on their way to weights: what the steps make of them, one after another.
  std::vector<const Node*> stages() const {
    std::vector<const Node*> all;
    for (const Node& node : output_.graph->nodes()) {
      if (node.place != output_.place || node.is_alias()) continue;
      const Step* const step = step_of(node);
      const bool is_stage = step && step->extent == Extent::weights && !leads_to_scores(node);
      if (is_stage || node.is(role::scores)) all.push_back(&node);
    }
    if (all.empty() || all.back() != &weights_) all.push_back(&weights_);
    return all;
  }

  // One row for each key; the columns are the stages.
  void add_weights() {
    const std::vector<const Node*> all = stages();
    const std::size_t keys = weights_.frame.shape.columns;
    // Masked cells are those whose score is −∞, and weights made of them.
    Matrix numbers = Matrix({keys, all.size()}), scores = numbers;
    std::vector<std::string> names, labels;
    for (std::size_t s = 0; s < all.size(); ++s) {
      names.emplace_back(all[s]->leaf());
      const Node& decides = weights_.op && s + 1 == all.size() ? *weights_.operands[0] : *all[s];
      for (std::size_t j = 0; j < keys; ++j) {
        numbers(j, s) = all[s]->matrix()(query_, j);
        scores(j, s) = decides.matrix()(query_, j);
      }
    }
    for (std::size_t j = 0; j < keys; ++j) labels.push_back(weights_.frame.columns.label(j));
    if (!weights_.op) page_.say(text(strong("The weights"), " were given."));
    for (const Node* stage : all) {
      if (!stage->op || stage->is(role::scores)) continue;
      tell(*stage);
      page_.say(formula_block(*stage));
    }
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
      const Explanation sum = explain(output_, query_, c);
      for (std::size_t j = 0; j < keys; ++j) products(j, c) = sum.term.parts[j].value;
    }
    std::vector<std::string> labels;
    for (std::size_t j = 0; j < keys; ++j) labels.push_back(weights_.frame.columns.label(j));
    tell(output_);
    page_.say(Table{.title = "weight ⋅ value",
                    .rows = axis("keys", std::move(labels)),
                    .columns = output_.frame.columns,
                    .cells = share(std::move(products)),
                    .heat = Heat::around_zero,
                    .told = {{most_weighted(), 0}}});
    page_.say(text("The sum of these products is the output for ", strong(asker()), "."));
    page_.say(row_table(output_, query_));
  }

  Page& page_;
  const Node& output_;
  const Node& weights_;
  const Node& values_;
  std::size_t query_;
  int count_ = 0;
  const Step* told_ = nullptr;
};

bool has_row(const Node& node, const std::string& word) {
  return has_named_place(node.frame.rows, node.frame.shape.rows, word);
}

// The scope of the sentence that a node belongs to: without that of a head.
const NamedScope* sentence_around(const Node& node) { return around(node.place, scope::head); }

// One sentence: its heads one after another, and what joins them.
void add_sentence(Page& page, const Graph& graph, const std::vector<const Node*>& sums, std::size_t query) {
  for (const Node* node : sums) WordWalk(page, *node, query).add();
  const Step* told = nullptr;
  for (const Node& node : graph.nodes()) {
    const bool joins = node.op && (node.is(role::concat) || node.is(role::output)) &&
                       node.place == sentence_around(*sums.front()) && !is_weighted_sum(node);
    if (!joins) continue;
    const Step* const step = node.is_alias() ? nullptr : step_of(node);
    if (step && step != told) page.say(text(strong(heading_of(*step, node) + "."), " ", meaning_of(*step, node)));
    if (step) told = step;
    page.say(formula_block(node));
    if (!node.is_alias()) page.say(row_table(node, query));
  }
}

}  // namespace

void add_word_walk(Page& page, const Graph& graph, const std::string& word) {
  std::vector<std::vector<const Node*>> sentences;
  for (const Node& node : graph.nodes()) {
    if (!is_weighted_sum(node)) continue;
    if (sentences.empty() || sentence_around(*sentences.back().front()) != sentence_around(node))
      sentences.emplace_back();
    sentences.back().push_back(&node);
  }
  if (sentences.empty()) fail("there is no output to follow, because there are no values: give ‹v›, or ‹w_v› with ‹x›");
  const bool found = std::ranges::any_of(sentences, [&](const auto& sums) { return has_row(*sums.front(), word); });
  for (const auto& sums : sentences) {
    const Node& first = *sums.front();
    if (found && !has_row(first, word)) continue;
    add_sentence(page, graph, sums,
                 find_named_place(first.frame.rows, first.frame.shape.rows, word, fmt::format("--by-word {}", word)));
  }
}

}  // namespace attn
