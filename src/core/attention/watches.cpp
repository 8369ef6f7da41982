#include "core/attention/watches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <vector>

#include "core/graph/run.hpp"
#include "core/math/rows.hpp"
#include "core/math/stored_matrix.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"

namespace attn {
namespace {

// --- numbers that overflow

// Only masking makes a score −∞; any other number that is not finite has overflowed.
bool overflowed(double value, bool masking) {
  return std::isnan(value) || (std::isinf(value) && !(masking && value < 0.0));
}

// A number of a file that is none, among those that an operation was given: large matrices are not looked at before.
void refuse_given(const Node& node) {
  for (const Node* operand : node.operands) {
    const Matrix* const given = operand->original().given.get();
    const StoredMatrix* const stored = given ? given->stored() : nullptr;
    std::vector<double> numbers(stored ? stored->line_length() : 0);
    for (std::size_t i = 0; stored && i < stored->line_count(); ++i) {
      stored->widen(i, 0, numbers.size(), numbers.data());
      const auto found = std::ranges::find_if_not(numbers, [](double number) { return std::isfinite(number); });
      if (found == numbers.end()) continue;
      std::size_t at_row = i + 1, at_column = static_cast<std::size_t>(found - numbers.begin()) + 1;
      if (stored->is_transposed) std::swap(at_row, at_column);
      fail("{}[{},{}] is {} in the file: every number of a model must be finite", operand->title(), at_row, at_column,
           std::isnan(*found) ? std::fabs(*found) : *found);
    }
  }
}

// Notes the first cell that has overflowed, in the order of nodes and rows.
class OverflowWatch final : public Watch {
 public:
  void made(const Node& node, Rows rows) override {
    if (!node.op || node.op->moves) return;
    const bool masking = node.may_be_masked();
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const std::span<const double> values = rows.row(i);
      if (masking ? is_below_infinity(values) : is_finite(values)) continue;
      const auto found = std::ranges::find_if(values, [&](double value) { return overflowed(value, masking); });
      return note({&node, i, static_cast<std::size_t>(found - values.begin()), *found});
    }
  }

  void ends() override {
    if (!first_.node) return;
    refuse_given(*first_.node);
    fail("{}[{},{}] is {}: that is beyond double precision; give numbers of moderate size", first_.node->title(),
         first_.row + 1, first_.column + 1, std::isnan(first_.value) ? std::fabs(first_.value) : first_.value);
  }

 private:
  struct Found {
    const Node* node = nullptr;
    std::size_t row = 0, column = 0;
    double value = 0.0;
  };

  void note(const Found& found) {
    const std::lock_guard lock(mutex_);
    const auto place = [](const Found& one) { return std::pair(one.node->index, one.row); };
    if (!first_.node || place(found) < place(first_)) first_ = found;
  }

  std::mutex mutex_;
  Found first_;
};

// --- what a mask does to the weights

// How much weight the masked keys of a query have.
double leaked(std::span<const double> weights, std::span<const double> allowed) {
  double sum = 0.0;
  for (std::size_t j = 0; j < weights.size(); ++j) sum += allowed[j] == 0.0 ? weights[j] : 0.0;
  return sum;
}

// The mask that stands before weights, where it puts a finite number in the place of a score.
const Node* leaking_mask(const Node& weights) {
  const Node& masked = *weights.operands.front();
  const bool may_leak = masked.op && std::isfinite(mask_fill(masked));
  return may_leak ? &masked : nullptr;
}

// Looks for queries whose keys are all masked, and for masked keys that have some weight all the same.
class MaskWatch final : public Watch {
 public:
  void made(const Node& node, Rows rows) override {
    if (!node.op || node.op != &op::softmax) return;
    Found found;
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const auto is_zero = [](double weight) { return weight == 0.0; };
      if (std::ranges::all_of(rows.row(i), is_zero)) found.empty.push_back(i);
    }
    if (const Node* masked = leaking_mask(node)) {
      Matrix memory;
      const RowRange range{rows.first, rows.shape.rows};
      const Rows allowed = node.graph->run().rows_of_input(*masked->operands[1], range, memory);
      for (std::size_t i = rows.first; i < rows.end(); ++i) {
        found.note({leaked(rows.row(i), allowed.row(i)), i});
      }
    }
    const std::lock_guard lock(mutex_);
    Found& all = found_[&node];
    all.seen.resize(node.frame.shape.rows);
    for (std::size_t i = rows.first; i < rows.end(); ++i) all.seen[i] = true;
    all.empty.insert(all.empty.end(), found.empty.begin(), found.empty.end());
    all.note(found.most);
  }

  // What was found on the weights of a node.
  void tell(const Node& node, std::vector<std::string>& told) const {
    const auto found = found_.find(&node);
    const bool is_whole =
        found != found_.end() && std::ranges::find(found->second.seen, false) == found->second.seen.end();
    if (!is_whole) return;  // of a block alone nothing is known about the others
    tell_leak(node, found->second.most, told);
    tell_empty_rows(node, found->second.empty, told);
  }

 private:
  struct Leak {
    double weight = 0.0;
    std::size_t query = 0;
  };
  struct Found {
    Leak most;
    std::vector<std::size_t> empty;
    std::vector<bool> seen;  // the rows

    void note(Leak leak) {
      const bool is_first = leak.weight == most.weight && leak.query < most.query;
      if (leak.weight > most.weight || is_first) most = leak;
    }
  };

  // What stands in for a masked score must lie so far below the real ones of the same query that masked keys
  // get no weight that shows.
  static void tell_leak(const Node& weights, Leak most, std::vector<std::string>& told) {
    constexpr double shows = 1e-6;
    if (most.weight < shows) return;
    told.push_back(
        fmt::format("{}: masked keys of query {} get weight {}: the mask value {:.6g} is not far below the scores. "
                    "Give a lower ‹mask_fill›, or leave it out for −∞",
                    weights.name, place_in_lists(weights.frame.rows, most.query), written_digits(most.weight, 2),
                    mask_fill(*leaking_mask(weights))));
  }

  static void tell_empty_rows(const Node& node, std::vector<std::size_t> rows, std::vector<std::string>& told) {
    if (rows.empty()) return;
    // A block that is made again for an explanation is seen again.
    std::ranges::sort(rows);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    constexpr std::size_t shown = 5;
    const std::size_t more = rows.size() > shown ? rows.size() - shown : 0;
    rows.resize(rows.size() - more);
    std::vector<std::string> queries;
    for (const std::size_t row : rows) queries.push_back(place_in_lists(node.frame.rows, row));
    if (more) queries.push_back(fmt::format("{} more", more));
    told.push_back(
        fmt::format("{0}: every key is masked for {1:query|the queries} {2}. {1:Its|Their} weights are set to 0",
                    node.name, Count{queries.size()}, list_in_words(queries)));
  }

  std::mutex mutex_;
  std::map<const Node*, Found> found_;
};

// --- digits that are lost

// Numbers that are much larger than their difference lose its digits.
void warn_of_cancellation(const Node& node, std::vector<std::string>& found) {
  constexpr double rounding = 1e-9, of_its_size = 1e-12;
  const Node& scores = scores_beside(node);
  const std::span<const double> expanded = cells(node.matrix()), right = cells(scores.matrix());
  std::size_t worst = 0;
  double most = 0.0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double lost = std::fabs(expanded[i] - right[i]);
    if (lost > of_its_size * std::fabs(right[i]) && lost > most) {
      most = lost;
      worst = i;
    }
  }
  if (most <= rounding) return;
  const std::size_t columns = node.frame.shape.columns;
  const std::string cell = fmt::format("[{},{}]", worst / columns + 1, worst % columns + 1);
  found.push_back(fmt::format(
      "{0}{1} is {2:.6g}, and differs from {4}{1} by {3:.2g}: dot, half_k and half_q are so large that their difference loses digits. "
      "{4} is computed from q − k and keeps them",
      node.name, cell, expanded[worst], most, scores.name));
}

}  // namespace

const Node& scores_beside(const Node& expanded) {
  const Node* content = expanded.beside(role::content);
  return content ? *content : *expanded.beside(role::scores);
}

void watch(const Graph& graph) {
  Run& run = graph.run();
  if (!run.find<OverflowWatch>()) run.add(std::make_shared<OverflowWatch>());
  if (!run.find<MaskWatch>()) run.add(std::make_shared<MaskWatch>());
}

std::shared_ptr<Graph> watched_graph() {
  auto graph = std::make_shared<Graph>();
  watch(*graph);
  return graph;
}

void compute_watched(const Graph& graph) {
  watch(graph);
  graph.run().compute();
}

void compute_watched(const Graph& graph, const std::vector<const Node*>& nodes) {
  watch(graph);
  graph.run().compute(nodes);
}

std::vector<std::string> warnings(const Graph& graph) {
  std::vector<std::string> told;
  const Run& run = graph.run();
  const MaskWatch* masks = run.find<MaskWatch>();
  if (!masks) return told;
  for (const Node& node : graph.nodes()) {
    masks->tell(node, told);
    if (node.is(role::expanded) && run.holds(node)) warn_of_cancellation(node, told);
  }
  return told;
}

}  // namespace attn
