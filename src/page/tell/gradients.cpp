#include "page/tell/gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "core/op/operations.hpp"
#include "page/tell/attention_steps.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

// --- backward walk

constexpr std::size_t most_keys_of_jacobian = 16;

double norm_of(std::span<const double> numbers) {
  double sum = 0.0;
  for (const double number : numbers) sum += std::fabs(number);
  return sum;
}

// The row with the largest gradient; of equal ones the first that has weights.
std::size_t telling_row(const Matrix& gradient, const Matrix& weights) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < gradient.shape().rows; ++i) {
    const double here = norm_of(row(gradient, i)), there = norm_of(row(gradient, best));
    const bool has_more = norm_of(row(weights, i)) > 0.0 && norm_of(row(weights, best)) == 0.0;
    if (here > there || (here == there && has_more)) best = i;
  }
  return best;
}

class BackwardWalk {
 public:
  BackwardWalk(Page& page, bool by_scope) : page_(page), by_scope_(by_scope) {}

  void add(const GradientStep& step) {
    std::string heading = heading_of(step, by_scope_);
    if (heading != heading_) {
      page_.head(2, by_scope_ ? heading : fmt::format("{}. {}", ++count_, heading));
      heading_ = std::move(heading);
    }
    const std::string meaning = meaning_of_gradient(step);
    if (!meaning.empty() && told_.insert(meaning).second) page_.say(meaning);
    const std::string_view scope = by_scope_ ? step.gradient->scope() : std::string_view();
    if (step.gradient->is_alias()) return page_.say(formula_block(*step.gradient, scope));
    add_results(page_, {step.gradient}, scope);
    if (step.user && step.user->op == &op::softmax) add_jacobian(step);
  }

 private:
  // Of the row with the largest gradient, where it can be read.
  void add_jacobian(const GradientStep& step) {
    const Node& weights = *step.user;
    const std::size_t n = weights.frame.shape.columns, i = telling_row(step.gradient->matrix(), weights.matrix());
    if (shows_jacobian_ || n > most_keys_of_jacobian || n < 2 || weights.name.empty()) return;
    shows_jacobian_ = true;
    const std::span<const double> alpha = row(weights.matrix(), i);
    Matrix jacobian({n, n});
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) jacobian(j, k) = (j == k ? alpha[j] : 0.0) - alpha[j] * alpha[k];
    }
    page_.say(text(weights.frame.rows.labels ? "The row of " : "", place_in_words(weights.frame.rows, i, "Row"), " in ",
                   code(weights.name), " has the Jacobian ",
                   math({"diag(α) − ααᵀ", "\\operatorname{diag}(\\alpha) - \\alpha\\alpha^{\\top}"}),
                   ": the derivative of each weight (row) with respect to each score (column). "
                   "Multiplied by the same row of the gradient of the weights, it gives this row of ",
                   code(step.gradient->name), "."));
    page_.say(Table{.title = "Jacobian",
                    .rows = weights.frame.columns,
                    .columns = weights.frame.columns,
                    .cells = std::make_shared<const Matrix>(std::move(jacobian)),
                    .heat = Heat::around_zero});
  }

  Page& page_;
  bool by_scope_;
  std::string heading_ = std::string(heading_of_loss);
  int count_ = 0;
  bool shows_jacobian_ = false;
  std::set<std::string> told_;
};

// --- gradient steps

// By a matrix, the first operation that uses it and through which something flows back.
std::map<const Node*, const Node*> first_users(const Graph& graph, const GradientBy& by) {
  std::map<const Node*, const Node*> users;
  for (const Node& node : graph.nodes()) {
    if (!node.op || node.is_alias() || node.family == &family::gradient || !by(node)) continue;
    for (const Node* operand : node.operands) users.emplace(operand, &node);
  }
  return users;
}

// --- what a gradient means

bool is_operand(const GradientStep& step, std::size_t i) {
  return step.user->operands.size() > i && step.user->operands[i] == &step.forward->original();
}

bool weighs_values(const Node& product) {
  return product.op == &op::matmul && product.operands.front()->content() == Content::weights;
}

bool of_weights(const GradientStep& step) { return weighs_values(*step.user) && is_operand(step, 0); }

bool of_values(const GradientStep& step) { return weighs_values(*step.user) && is_operand(step, 1); }

bool is_by_scores(const GradientStep& step) { return step.user->op == &op::softmax; }

bool of_masked(const GradientStep& step) { return step.user->op == &op::mask; }

bool of_capped(const GradientStep& step) { return step.result && step.result->is(role::capped); }

bool of_scaled(const GradientStep& step) { return step.user->find(setting::number) != nullptr && !of_capped(step); }

bool of_similarity(const GradientStep& step) { return step.user->op == &op::matmul_transposed; }

bool of_parameter(const GradientStep& step) {
  return step.user->op == &op::matmul && is_operand(step, 1) && !step.forward->op;
}

bool of_factor(const GradientStep& step) { return step.user->op == &op::matmul; }

bool applies_function(const GradientStep& step) { return step.user->op->function != nullptr; }

// The smaller operand of a sum is added to every row.
bool of_bias(const GradientStep& step) {
  return step.user->op == &op::add && step.forward->frame.shape.rows < step.user->frame.shape.rows;
}

bool of_moved(const GradientStep& step) { return step.user->op->moves; }

bool of_sum(const GradientStep& step) { return step.user->op == &op::add || step.user->op == &op::subtract; }

bool of_embedding(const GradientStep& step) { return step.user->op == &op::embed; }

bool of_standardized(const GradientStep& step) { return step.user->op == &op::standardize; }

bool of_stretched(const GradientStep& step) {
  const Op* const by = step.user->op;
  return by == &op::divide_by_root_mean_square || by == &op::unit_rows || by == &op::normalize;
}

bool of_distances(const GradientStep& step) { return step.user->op == &op::minus_half_squared_distances; }

bool of_cells(const GradientStep& step) { return step.user->op == &op::multiply; }

bool of_loss(const GradientStep& step) { return step.user->op == &op::cross_entropy; }

bool of_smoothed_loss(const GradientStep& step) { return of_loss(step) && *step.user->find(setting::smoothing) != 0.0; }

bool of_mean(const GradientStep& step) { return step.user->is(role::loss); }

// The first claim that holds of a gradient tells of it.
constexpr Claim<GradientStep> meanings[] = {
    {of_mean, "The loss is a weighted sum of the words' losses, so each has its weight as gradient."},
    {of_smoothed_loss,
     "The gradient of the logits is the probability of each word minus its smoothed target, multiplied by how much this position counts in the loss."},
    {of_loss,
     "The gradient of the logits is the probability of each word, minus 1 for the right one, multiplied by how much this position counts in the loss."},
    {of_weights,
     "dA = dO Vᵀ. Each weight multiplies a value. "
     "So its gradient is the dot product of this value with the gradient of the output row: how much the loss changes if the query takes more of this value."},
    {of_values,
     "dV = Aᵀ dO. Each value is added to every output row, multiplied by a weight. "
     "So its gradient is the sum of the gradients of these rows, each multiplied by the same weight."},
    {is_by_scores,
     "Back through softmax. "
     "Each row α of the weights has the Jacobian diag(α) − ααᵀ. So the gradient of a score is its weight times a difference: the gradient of this weight, minus the sum of the row's gradients, each multiplied by its weight. "
     "Each row of the result sums to 0."},
    {of_masked, "Back through the mask. A masked score was replaced, so nothing depends on it: its gradient is 0."},
    {of_capped, "Back through the soft cap: each gradient is multiplied by the slope of the cap at this score."},
    {of_scaled, "The matrix was scaled by one number, and its gradient is scaled by the same number."},
    {of_similarity,
     "Each number of the product is the dot product of a row of one matrix with a row of the other. "
     "So the gradient of a row is the sum of all rows of the other matrix, each multiplied by the gradient of their dot product."},
    {of_parameter,
     "A parameter multiplies one column of what goes in, in every row. "
     "So its gradient adds up, over the rows, what goes in times the gradient of what comes out."},
    {of_factor, "Back through a product of matrices: the gradient of the result times the other factor, transposed."},
    {applies_function,
     "Back through a function of single numbers: each gradient is multiplied by the slope of the function at this number."},
    {of_bias, "This row is added to every row of a matrix, so its gradient is the sum of the gradients of the rows."},
    {of_embedding,
     "Each word takes its row of the table. "
     "So a row gets the gradients of all positions where its word stands, and a row whose word does not occur gets 0."},
    {of_standardized,
     "Back through a normalization. "
     "The mean and the variance of a row are computed from it, so they have gradients of their own, and these flow back to the row as well."},
    {of_stretched,
     "Back through a normalization. What a row is divided by is computed from the row itself. "
     "Without ε, stretching a whole row has no effect on the result, and this part of the gradient is taken out."},
    {of_distances,
     "A score is minus half the squared distance of a query and a key. "
     "Its derivative with respect to the query is the key minus the query, and with respect to the key the query minus the key. "
     "Each is multiplied by the gradient of the score and summed."},
    {of_cells, "Numbers are multiplied one by one: each gradient is multiplied by the other factor."},
    {of_sum, "In a sum, each term gets the gradient of the sum."},
    {of_moved, "The numbers were only moved, so their gradients are moved back."},
};

}  // namespace

// --- backward walk

std::string heading_of(const GradientStep& step, bool by_scope) {
  if (!step.result) return std::string(heading_of_loss);
  if (by_scope) {
    const NamedScope* const place = step.gradient->place;
    return fmt::format("{}, backward", place ? place->title() : step.forward->name);
  }
  const Step* const told = step_of(*step.result);
  std::string heading = fmt::format("{}, backward", told ? heading_of(*told, *step.result) : step.result->name);
  // What several heads use flows back from all of them.
  const NamedScope* place = place_in_walk(*step.result);
  while (place && !lies_within(step.gradient->place, place)) place = place->outer;
  if (place) heading += fmt::format(" ({})", place->title());
  return heading;
}

void add_backward_walk(Page& page, const std::vector<GradientStep>& steps, bool by_scope) {
  BackwardWalk walk(page, by_scope);
  for (const GradientStep& step : steps) walk.add(step);
}

// --- gradient steps

std::vector<GradientStep> gradient_steps(const Graph& graph, const GradientBy& by) {
  const std::map<const Node*, const Node*> users = first_users(graph, by);
  const auto user_of = [&](const Node& node) {
    const auto found = users.find(&node.original());
    return found == users.end() ? nullptr : found->second;
  };
  std::vector<GradientStep> steps;
  for (const Node& node : graph.nodes()) {
    if (node.family == &family::gradient || node.name.empty()) continue;
    const Node* const gradient = by(node);
    if (!gradient) continue;
    const Node* const own = graph.find(node.place, Name(family::gradient, *node.role, std::string(node.plain_leaf())));
    const Node* const user = user_of(node);
    const Node* result = user;
    while (result && result->name.empty()) result = user_of(*result);
    steps.push_back({own ? own : gradient, &node, user, result});
  }
  // What is complete when everything has flowed back through an operation belongs together, parameters first.
  const auto comes_before = [](const GradientStep& a, const GradientStep& b) {
    if (a.user != b.user) return !a.user || (b.user && a.user->index > b.user->index);
    const bool is_given = !a.forward->op, other_is_given = !b.forward->op;
    return is_given != other_is_given ? is_given : a.gradient->index < b.gradient->index;
  };
  std::ranges::stable_sort(steps, comes_before);
  return steps;
}

std::string meaning_of_gradient(const GradientStep& step) {
  if (!step.user) return "";
  const auto found = std::ranges::find_if(meanings, [&](const auto& claim) { return claim.holds(step); });
  return found == std::end(meanings) ? "" : std::string(found->sentence);
}

}  // namespace attn
