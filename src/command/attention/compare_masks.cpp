#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "command/computed_problem.hpp"
#include "core/attention/watches.hpp"
#include "core/math/difference.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/problem_options.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

constexpr double published_fill = -1e6;  // Zhang et al., Dive into Deep Learning, 11.3.2.1
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// The last head or sentence that has a mask: of a batch it is usually the most padded one.
const Node& masked_node(const Graph& graph) {
  const Node* found = nullptr;
  bool adds = false;
  for (const Node& node : graph.nodes()) {
    if (node.op && node.op == &op::mask) found = &node;
    adds = adds || node.is(role::bias);
  }
  if (!found && adds) {
    fail(
        "attn compare-masks needs a mask of 1 and 0, and the numbers of this one are added to the scores: give --mask with 0 for each masked key and 1 for the others, or --causal");
  }
  if (!found) {
    fail("attn compare-masks needs a mask: give --mask, --causal or --valid-length, or --example padding");
  }
  if (std::ranges::find(cells(found->operands[1]->matrix()), 0.0) == cells(found->operands[1]->matrix()).end())
    fail("attn compare-masks needs a mask that masks a key, and this one masks none: give another one");
  return *found;
}

// How much weight masked keys have, at most in one row.
double leaked(const Matrix& weights, const Matrix& allowed) {
  double most = 0.0;
  for (std::size_t i = 0; i < weights.shape().rows; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < weights.shape().columns; ++j) sum += allowed(i, j) == 0.0 ? weights(i, j) : 0.0;
    most = std::max(most, sum);
  }
  return most;
}

bool has_query_without_keys(const Matrix& allowed) {
  for (std::size_t i = 0; i < allowed.shape().rows; ++i) {
    if (std::ranges::all_of(row(allowed, i), [](double cell) { return cell == 0.0; })) return true;
  }
  return false;
}

// What lowers every score that is not masked to below the mask value.
double lowered_below(const Matrix& scores, const Matrix& allowed, double fill) {
  double highest = 0.0;
  for (std::size_t i = 0; i < scores.shape().rows; ++i) {
    for (std::size_t j = 0; j < scores.shape().columns; ++j) {
      if (allowed(i, j) != 0.0) highest = std::max(highest, scores(i, j));
    }
  }
  double lowered = 2.0 * fill;
  while (highest + lowered >= fill) lowered *= 2.0;
  return lowered;
}

class MaskComparison {
 public:
  MaskComparison(Page& page, Graph& graph, const Node& masked)
      : page_(page), graph_(graph), scores_(Value(*masked.operands[0])), allowed_(Value(*masked.operands[1])) {}

  void add() {
    const Node& right = before();
    finite_fills(right);
    afterwards(right, weights_filled());
  }

 private:
  void show(const std::vector<const Node*>& nodes) {
    add_results(page_, nodes);
    page_.trace.add(nodes);
  }

  const Node& before() {
    const Graph::Scope scope(graph_, {scope::other, "before"});
    page_.head(2, "The scores, before the softmax");
    page_.say(
        text("Masked scores are replaced by −∞. The exponential of −∞ is 0, so masked keys get no weight. "
             "The other weights of a row sum to one, if there are any."));
    const Value masked = name(role::masked, mask(scores_, allowed_, minus_infinity));
    const Value weights = name(role::weights, softmax(masked));
    show({&masked.node(), &weights.node()});
    return weights.node();
  }

  // What leaks, for fills that are higher and higher, and for the usual one under low scores.
  void finite_fills(const Node& right) {
    page_.head(2, "A number in place of −∞");
    const double fills[] = {published_fill, -10.0, -5.0, -2.0, -1.0, 0.0};
    const bool allows_any = std::ranges::any_of(cells(allowed_.matrix()), [](double cell) { return cell != 0.0; });
    Matrix numbers({std::size(fills) + (allows_any ? 1 : 0), 2});
    std::vector<std::string> labels;
    const auto measure = [&](std::size_t place, const Value& scores, double fill) {
      const Value weights = softmax(mask(scores, allowed_, fill));
      numbers(place, 0) = leaked(weights.matrix(), allowed_.matrix());
      numbers(place, 1) = largest_difference(weights.matrix(), right.matrix());
    };
    for (std::size_t i = 0; i < std::size(fills); ++i) {
      measure(i, scores_, fills[i]);
      labels.push_back(fmt::format("{}", fills[i]));
    }
    std::string told =
        "A finite mask value works if it is far below every score. "
        "If it is near the scores, masked keys get some weight: the mask leaks. "
        "The leaked weight is the largest total weight of masked keys in one row.";
    if (has_query_without_keys(allowed_.matrix()))
      told += " A row whose keys are all masked is set to −∞ instead, so nothing leaks there.";
    if (allows_any) {
      const double lowered = lowered_below(scores_.matrix(), allowed_.matrix(), published_fill);
      const Value low =
          graph_.input(role::lowered_scores, shifted(scores_.matrix(), lowered), axis("queries"), axis("keys"));
      measure(std::size(fills), low, published_fill);
      labels.push_back(std::string("lowered scores"));
      told += fmt::format(
          " In the last line all scores are lowered by {}. "
          "In exact arithmetic that changes no weight, but now the mask value {} is above all scores that are not masked.",
          written_digits(-lowered, 7), published_fill);
    }
    page_.say(std::move(told));
    page_.say(quantities("mask value", axis("fills", std::move(labels)), {"leaked weight", "largest error"},
                         std::move(numbers)));
  }

  const Node& weights_filled() {
    const Graph::Scope scope(graph_, {scope::other, "of_weights"});
    page_.head(2, "The weights instead of the scores");
    page_.say(
        text(fmt::format("Dive into Deep Learning (11.3) replaces the masked weights by {}, not the masked scores. "
                         "A row with such a number is not a row of weights (filled). "
                         "If masked weights are set to 0 instead (left), the rest of the row need not sum to one.",
                         published_fill)));
    const Value all = name(role::unmasked, softmax(scores_));
    const Value filled = name(role::filled, replace(all, allowed_, published_fill));
    const Value left = name(role::left, multiply(all, allowed_));
    show({&all.node(), &filled.node(), &left.node()});
    Matrix sums({left.shape().rows, 2});
    for (std::size_t i = 0; i < left.shape().rows; ++i) {
      const auto sum = [&](const Value& value) {
        const std::span<const double> cells = row(value.matrix(), i);
        return std::accumulate(cells.begin(), cells.end(), 0.0);
      };
      sums(i, 0) = sum(filled);
      sums(i, 1) = sum(left);
    }
    page_.say(quantities("sum of the row", left.node().frame.rows, {"filled", "left"}, std::move(sums)));
    return left.node();
  }

  void afterwards(const Node& right, const Node& left) {
    const Graph::Scope scope(graph_, {scope::other, "after"});
    page_.head(2, "After the softmax, then divided by the row's sum");
    const Value weights = name(role::weights, normalize(Value(left)));
    show({&weights.node()});
    const double difference = largest_difference(weights.matrix(), right.matrix());
    page_.say(text(
        fmt::format("In exact arithmetic this gives the same weights as masking the scores. "
                    "The largest difference here is {}. It is large only where masked keys have nearly all the weight.",
                    written_difference(difference))));
  }

  static Matrix shifted(Matrix matrix, double by) {
    for (double& cell : cells(matrix)) cell += by;
    return matrix;
  }

  Page& page_;
  Graph& graph_;
  Value scores_;
  Value allowed_;
};

}  // namespace

Answer run_compare_masks(const Command&, const Arguments& arguments) {
  auto problem = std::make_shared<const Problem>(problem_of(arguments));
  const std::shared_ptr<Graph> graph = watched_graph();
  add_computation(*problem, *graph, Extent::weights);
  compute_watched(*graph);
  const Node& masked = masked_node(*graph);
  const ComputedProblem solved{problem, graph};
  Page page = solved.page(masked.operands);
  page.head(1, "Ways to mask");
  std::string which;
  if (!masked.scope().empty()) which = fmt::format(" These are those of {}.", masked.scope_name());
  page.say(text("The scores and the mask: 0 marks a masked score." + which));
  page.say(SideBySide{{table_of(*masked.operands[0]), table_of(*masked.operands[1])}});
  MaskComparison(page, *graph, masked).add();
  return solved.answer(std::move(page), problem->remarks);
}

}  // namespace attn
