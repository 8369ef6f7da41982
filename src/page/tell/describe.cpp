#include "page/tell/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/attention/pooling.hpp"
#include "core/attention/watches.hpp"
#include "core/graph/find.hpp"
#include "core/graph/name.hpp"
#include "core/op/operations.hpp"
#include "core/support/number.hpp"
#include "data/problem/model_file.hpp"
#include "page/tell/attention_steps.hpp"

namespace attn {

namespace {

// A query, the one key with its largest weight, and that weight.
struct Look {
  std::size_t query, key;
  double weight;
};

constexpr int digits_of_percent = 2;  // decimals of a weight that a percentage shows

// Those of the queries for which one key has more weight than any other.
std::vector<Look> decided_looks(const Matrix& weights) {
  std::vector<Look> looks;
  for (std::size_t i = 0; i < weights.shape().rows; ++i) {
    const std::span<const double> values = row(weights, i);
    if (const auto best = preferred_key(values, digits_of_percent)) looks.push_back({i, *best, values[*best]});
  }
  return looks;
}

// The most decided of them, told in the order of the rows.
std::vector<Look> told_looks(const Matrix& weights) {
  constexpr std::size_t most_told = 3;
  std::vector<Look> looks = decided_looks(weights);
  std::ranges::stable_sort(looks, std::greater(), &Look::weight);
  looks.resize(std::min(looks.size(), most_told));
  std::ranges::sort(looks, std::less(), &Look::query);
  return looks;
}

Heat heat_of(Content content) {
  if (content == Content::weights) return Heat::weights;
  return content == Content::permissions ? Heat::none : Heat::around_zero;
}

// A softmax of two scores or more has no weight of 1, and equal weights only of equal scores: what rounding leaves.
bool are_rounded(const Node& weights, std::size_t query) {
  if (!weights.op || weights.op != &op::softmax) return false;
  const std::span<const double> cells = row(weights.matrix(), query),
                                scores = row(weights.operands[0]->matrix(), query);
  const auto kept = std::ranges::count_if(scores, [](double score) { return !std::isinf(score); });
  const auto differ = [](std::span<const double> all) {
    return std::ranges::adjacent_find(all, std::not_equal_to()) != all.end();
  };
  return (kept > 1 && std::ranges::find(cells, 1.0) != cells.end()) || (differ(scores) && !differ(cells));
}

}  // namespace

const Node* scores_behind(const Node& node) {
  const Node* source = &node.original();
  if (source->content() != Content::weights) return nullptr;
  const bool is_transposed = source->op && source->op == &op::transpose;
  if (is_transposed) source = &source->operands.front()->original();
  return source->rows_sum_to_one() && source->op ? source->operands.front() : nullptr;
}

std::vector<const Node*> shown_in_tables(std::vector<const Node*> nodes) {
  const std::size_t count = nodes.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (const Node* scores = scores_behind(*nodes[i])) nodes.push_back(scores);
    if (nodes[i]->is(role::expanded)) nodes.push_back(&scores_beside(*nodes[i]));
  }
  return nodes;
}

Table shown_as(Table table, Content content, bool rows_sum_to_one, std::shared_ptr<const Matrix> scores) {
  table.heat = heat_of(content);
  table.row_sums = rows_sum_to_one;
  table.ranks = table.ranks || content == Content::weights;
  if (rows_sum_to_one) {
    for (const Look& look : told_looks(*table.cells)) table.told.push_back({look.query, look.key});
  }
  table.scores = content == Content::weights ? std::move(scores) : table.cells;
  return table;
}

Table table_of(const Node& node) {
  const Node& source = node.original();
  std::shared_ptr<const Matrix> scores;
  if (const Node* const behind = scores_behind(node)) {
    scores = source.rows_sum_to_one() ? behind->cells() : std::make_shared<const Matrix>(transposed(behind->matrix()));
  }
  return shown_as({.title = node.title(),
                   .array = node.name,
                   .rows = node.frame.rows,
                   .columns = node.frame.columns,
                   .cells = node.cells(),
                   .ranks = source.is(role::logits)},
                  source.content(), source.rows_sum_to_one(), std::move(scores));
}

Table quantities(std::string title, Axis rows, std::vector<std::string> kinds, Matrix numbers) {
  return {.title = std::move(title),
          .rows = std::move(rows),
          .columns = axis("quantities", std::move(kinds)),
          .cells = std::make_shared<const Matrix>(std::move(numbers)),
          .columns_differ = true};
}

FormulaBlock formula_block(const Node& node, std::string_view scope) {
  std::vector<Shape> operands;
  for (const Node* operand : node.named_operands()) operands.push_back(operand->frame.shape);
  return {formula_of(node, scope), std::move(operands), node.frame.shape};
}

void add_results(Page& page, const std::vector<const Node*>& nodes, std::string_view scope) {
  SideBySide tables;
  for (const Node* node : nodes) {
    page.say(formula_block(*node, scope));
    tables.tables.push_back(table_of(*node));
    tables.tables.back().title = node->name_within(scope);
  }
  if (nodes.size() == 1) {
    page.say(std::move(tables.tables.front()));
  } else {
    page.say(std::move(tables));
  }
}

void add_formulas_and_tables(Page& page, const std::vector<const Node*>& nodes) {
  for (const Node* node : nodes) add_results(page, {node});
}

std::vector<std::vector<const Node*>> by_scope(const std::vector<const Node*>& nodes) {
  std::vector<std::vector<const Node*>> groups;
  for (const Node* node : nodes) {
    if (groups.empty() || groups.back().back()->place != node->place) groups.emplace_back();
    groups.back().push_back(node);
  }
  return groups;
}

void add_short_names(Page& page, const Node& example) {
  page.say(text("Names are shortened: ", code(std::string(example.leaf())), " is ", code(example.name), "."));
}

void add_results_by_scope(Page& page, const std::vector<const Node*>& nodes) {
  for (const std::vector<const Node*>& group : by_scope(nodes)) {
    const Node& first = *group.front();
    if (!first.scope().empty()) page.head(2, std::string(first.scope_name()));
    for (const Node* node : group) add_results(page, {node}, first.scope());
  }
}

std::string note_on_random_matrices(const Problem& problem) {
  if (problem.drawn.empty()) return "";
  return fmt::format("Random numbers ({}), not trained: {}. The results below have no meaning for language.{}",
                     problem.drawn_from, fmt::join(problem.drawn, ", "),
                     pointer_to_trained("walk", [](const Transformer&) { return true; }));
}

std::string what_is_random(const Calculation& computation) {
  return computation.problem ? note_on_random_matrices(*computation.problem) : computation.random;
}

std::string what_is_random_in_short(const Calculation& computation) {
  if (what_is_random(computation).empty()) return "";
  if (!computation.problem) return "Random numbers, not trained.";
  return fmt::format("Random numbers, not trained: {}.", fmt::join(computation.problem->drawn, ", "));
}

std::string with_note_on_random(const Node& numbers, std::string sentence) {
  if (!follows_from_random(numbers)) return sentence;
  if (!sentence.empty())
    sentence.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence.front())));
  return std::string(with_random_numbers) + sentence;
}

void add_note_on_random_matrices(Page& page, const Problem& problem) {
  if (std::string sentence = note_on_random_matrices(problem); !sentence.empty()) page.say(std::move(sentence));
}

Listing regimes_of_rows(const Node& weights) {
  Listing listing{{"query", "regime", "what that is"}, {}};
  for (std::size_t i = 0; i < weights.frame.shape.rows; ++i) {
    const std::span<const double> cells = row(weights.matrix(), i);
    const Regime& regime = regime_of(cells);
    const double sum = std::accumulate(cells.begin(), cells.end(), 0.0);
    listing.rows.push_back({place_in_lists(weights.frame.rows, i), std::string(regime.name),
                            std::string(regime.summary) +
                                (is_one(sum) ? "" : fmt::format(" (the sum is {:.12g})", sum)) +
                                (are_rounded(weights, i) ? " (rounded in double precision)" : "")});
  }
  return listing;
}

void add_reading(Page& page, const Node& node) {
  // It is not known yet what given weights are.
  if (is_weighted_sum(node) && !node.operands.front()->op) {
    return page.say(regimes_of_rows(*node.operands.front()));
  }
  if (!node.original().rows_sum_to_one()) return;
  const Node& weights = node;
  const std::vector<Look> looks = told_looks(weights.matrix());
  if (looks.empty()) return;
  // A distribution of the next word is no attention, though a softmax as well.
  const bool of_words = weights.is(role::distribution);
  const bool is_next = of_words && node.graph->find(Name({scope::decoder}, role::output));
  const std::string_view preposition = is_next ? "after " : "at ";
  const std::string begin = follows_from_random(node) ? std::string(with_random_numbers) : "";
  Text reading;
  for (const Look& look : looks) {
    const std::string share = written_fixed(100.0 * look.weight, digits_of_percent - 2);
    const bool is_begun = !reading.empty() || !begin.empty();  // the sentence
    if (reading.empty()) {
      if (is_begun) reading.push_back({Span::Style::plain, begin});
    } else {
      reading.push_back({Span::Style::plain, "; "});
    }
    if (of_words)
      reading.push_back({Span::Style::plain, is_begun ? std::string(preposition) : is_next ? "After " : "At "});
    const char* const row_name = of_words ? "position" : is_begun ? "query" : "Query";
    reading.push_back({Span::Style::strong, place_in_words(weights.frame.rows, look.query, row_name)});
    reading.push_back({Span::Style::plain, of_words ? " the most probable word is " : " attends most to "});
    reading.push_back(
        {Span::Style::strong, place_in_words(weights.frame.columns, look.key, of_words ? "word" : "key")});
    reading.push_back({Span::Style::plain, fmt::format(" ({}\u00A0%)", share)});
  }
  reading.push_back({Span::Style::plain, "."});
  if (const std::size_t decided = decided_looks(weights.matrix()).size(); looks.size() < decided) {
    reading.push_back(
        {Span::Style::plain, fmt::format(" These are {} of {} {}, to the nearest percent.", looks.size(), decided,
                                         of_words ? "positions with a single most probable word"
                                                  : "queries with a single largest weight")});
  }
  page.say(std::move(reading));
}

Derivation derivation(const Cell& cell, std::size_t depth, std::string_view scope) {
  return {[cell, depth, scope = std::string(scope), graph = cell.node->graph->weak_from_this().lock()](
              const TakeDerivationStep& take) { derive(cell, depth, scope, take); }};
}

}  // namespace attn
