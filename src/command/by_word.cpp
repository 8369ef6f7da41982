#include "command/by_word.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "command/address.hpp"
#include "page/describe.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

constexpr std::size_t most_terms = 24;  // products that are written out before a table takes their place

std::shared_ptr<const Matrix> share(Matrix matrix) {
  return std::make_shared<const Matrix>(std::move(matrix));
}

// One row of a node as a table.
Table row_table(const Node& node, std::size_t i) {
  Matrix matrix = make_matrix({1, node.frame.shape.columns});
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
        graph_(*output.graph),
        output_(output),
        weights_(*output.operands[0]),
        values_(*output.operands[1]),
        query_(query),
        scope_(output.scope()) {}

  void add() {
    const std::string word = "\"" + weights_.frame.rows.label(query_) + "\"";
    const std::string place = scope_.empty() ? "" : fmt::format(" ({})", scope_.substr(0, scope_.size() - 1));
    say(Heading{2, text(fmt::format("{} asks{}", word, place))});
    add_vectors(word);
    add_scores(word);
    add_weights();
    add_sum(word);
  }

 private:
  void say(Block block) { page_.blocks.push_back(std::move(block)); }

  const Node* find(std::string_view leaf) const {
    return graph_.find(std::string(scope_) + std::string(leaf));
  }
  // Without heads' scopes, q stands where its sentence stands.
  const Node* operand(const Node* node, std::size_t which) const {
    return node && node->operation ? node->operands[which] : nullptr;
  }

  void add_vectors(const std::string& word) {
    const Node* scores = find("scores");
    const Node *q = operand(scores, 0), *k = operand(scores, 1);
    if (!q || !k) return;
    say(Prose{text(strong("Step 1."), " Every word has a query, a key and a value. ", strong(word),
                   " asks with its query; all words answer with their keys.")});
    if (q->operation) say(formula_block(*q));
    say(row_table(*q, query_));
    if (k->operation) say(formula_block(*k));
    say(table_of(*k));
    if (values_.operation) say(formula_block(values_));
    say(table_of(values_));
  }

  void add_scores(const std::string& word) {
    const Node* scores = find("scores");
    if (!scores || !scores->operation) return;
    say(Prose{text(strong("Step 2."), " The score of a word is the dot product of the query of ",
                   strong(word), " with that word's key.")});
    const std::size_t keys = scores->frame.shape.columns;
    const std::size_t terms = scores->operands[0]->frame.shape.columns;
    if (keys * terms > most_terms) return;
    for (std::size_t j = 0; j < keys; ++j) {
      for (Block& block : derivations({scores, query_, j}, 0)) say(std::move(block));
    }
  }

  // One row for each key; the columns are the scores on their way to weights.
  void add_weights() {
    std::vector<const Node*> stages;
    for (const char* leaf : {"scores", "scaled", "masked"}) {
      const Node* stage = find(leaf);
      if (stage && !stage->is_alias()) stages.push_back(stage);
    }
    stages.push_back(&weights_);
    const Axis& keys = weights_.frame.columns;
    Matrix matrix = make_matrix({weights_.frame.shape.columns, stages.size()});
    std::vector<std::string> names, labels;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      names.emplace_back(stages[s]->leaf());
      for (std::size_t j = 0; j < matrix.shape()[0]; ++j) matrix(j, s) = stages[s]->matrix()(query_, j);
    }
    for (std::size_t j = 0; j < matrix.shape()[0]; ++j) labels.push_back(keys.label(j));
    const Node* scaled = find("scaled");
    if (scaled && scaled->operation && !scaled->is_alias()) {
      say(Prose{text(strong("Steps 3 and 4."), " The scores are divided: ", code(formula_of(*scaled).plain),
                     ". Softmax then makes them weights that are positive and sum to one.")});
    } else {
      say(Prose{text(strong("Steps 3 and 4."),
                     " Softmax makes the scores weights that are positive and sum to one.")});
    }
    auto cells = share(std::move(matrix));
    say(Table{.title = weights_.frame.rows.label(query_),
              .rows = axis("keys", std::move(labels)),
              .columns = axis("stages", std::move(names)),
              .cells = cells,
              .scores = cells,
              .columns_differ = true});
  }

  // The products under the sum are the terms that explain the output: they are not worked out again here.
  void add_sum(const std::string& word) {
    const std::size_t size = output_.frame.shape.columns, keys = weights_.frame.shape.columns;
    Matrix products = make_matrix({keys, size});
    for (std::size_t c = 0; c < size; ++c) {
      const Explanation sum = output_.operation->explain(output_.operands, query_, c);
      for (std::size_t j = 0; j < keys; ++j) products(j, c) = sum.expression.parts[j].value;
    }
    std::vector<std::string> labels;
    for (std::size_t j = 0; j < keys; ++j) labels.push_back(weights_.frame.columns.label(j));
    say(Prose{text(strong("Step 5."),
                   " Every word's value is multiplied by its weight: a word with a weight near zero "
                   "hardly counts.")});
    say(Table{.title = "weight ⋅ value",
              .rows = axis("keys", std::move(labels)),
              .columns = output_.frame.columns,
              .cells = share(std::move(products)),
              .heat = Heat::around_zero});
    say(Prose{text(strong("Step 6."), " Their sum is what ", strong(word), " has gathered.")});
    say(row_table(output_, query_));
  }

  Page& page_;
  const Graph& graph_;
  const Node& output_;
  const Node& weights_;
  const Node& values_;
  std::size_t query_;
  std::string_view scope_;
};

bool sums_weighted_values(const Node& node) {
  return node.operation && !node.name.empty() && !node.is_alias() && node.operands.size() == 2 &&
         node.operands[0]->leaf() == "weights";
}

// Whether this row label, or number, is among the node's rows.
bool has_row(const Node& node, const std::string& word) {
  try {
    find_place(node.frame.rows, node.frame.shape.rows, word, "");
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

void add_word_walk(Page& page, const std::string& word) {
  std::vector<const Node*> sums;
  for (const Node& node : page.graph->nodes()) {
    if (sums_weighted_values(node)) sums.push_back(&node);
  }
  if (sums.empty()) fail("--by-word needs a weighted sum, and there is none: give values as well");
  const bool found = std::ranges::any_of(sums, [&](const Node* node) { return has_row(*node, word); });
  std::string scope;
  std::size_t query = 0;
  for (const Node* node : sums) {
    if (found && !has_row(*node, word)) continue;
    query = find_place(node->frame.rows, node->frame.shape.rows, word, fmt::format("--by-word {}", word));
    WordWalk(page, *node, query).add();
    scope = node->scope();
  }
  for (const Node* node : page.trace) {
    const bool joins = node->operation && (node->leaf() == "concat" || node->leaf() == "output");
    if (!joins || sums_weighted_values(*node) || query >= node->frame.shape.rows) continue;
    page.blocks.emplace_back(formula_block(*node));
    if (!node->is_alias()) page.blocks.emplace_back(row_table(*node, query));
  }
}

}  // namespace attn
