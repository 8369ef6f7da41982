#include "tell/gradient_steps.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "op/operations.hpp"

namespace attn {
namespace {

// By a matrix, the first operation that uses it and through which something flows back.
std::map<const Node*, const Node*> first_users(const Graph& graph, const GradientBy& by) {
  std::map<const Node*, const Node*> users;
  for (const Node& node : graph.nodes()) {
    if (!node.operation || node.is_alias() || node.family == &family::gradient || !by(node)) continue;
    for (const Node* operand : node.operands) users.emplace(operand, &node);
  }
  return users;
}

// --- what a gradient means

bool is_operand(const GradientStep& step, std::size_t i) {
  return step.user->operands.size() > i && step.user->operands[i] == &step.forward->original();
}

bool weighs(const Node& product) {
  return is_matmul(*product.operation) && product.operands.front()->content() == Content::weights;
}

bool of_weights(const GradientStep& step) {
  return weighs(*step.user) && is_operand(step, 0);
}

bool of_values(const GradientStep& step) {
  return weighs(*step.user) && is_operand(step, 1);
}

bool of_scores(const GradientStep& step) {
  return is_softmax(*step.user->operation);
}

bool of_masked(const GradientStep& step) {
  return is_mask(*step.user->operation);
}

bool of_scaled(const GradientStep& step) {
  return number_of(*step.user->operation) != nullptr;
}

bool of_similarity(const GradientStep& step) {
  return is_matmul_transposed(*step.user->operation);
}

bool of_parameter(const GradientStep& step) {
  return is_matmul(*step.user->operation) && is_operand(step, 1) && !step.forward->operation;
}

bool of_factor(const GradientStep& step) {
  return is_matmul(*step.user->operation);
}

bool of_function(const GradientStep& step) {
  return function_of(*step.user->operation) != nullptr;
}

// The smaller operand of a sum is added to every row.
bool of_bias(const GradientStep& step) {
  return step.user->operation->name() == "add" &&
         step.forward->frame.shape.rows < step.user->frame.shape.rows;
}

template <class... Names>
constexpr bool is_one_of(std::string_view name, Names... names) {
  return ((name == names) || ...);
}

bool of_moved(const GradientStep& step) {
  return step.user->operation->moves();
}

bool of_sum(const GradientStep& step) {
  return is_one_of(step.user->operation->name(), "add", "subtract");
}

bool of_embedding(const GradientStep& step) {
  return step.user->operation->name() == "embed";
}

bool of_standardized(const GradientStep& step) {
  return step.user->operation->name() == "standardize";
}

bool of_stretched(const GradientStep& step) {
  return is_one_of(step.user->operation->name(), "divide_by_root_mean_square", "unit_rows", "normalize");
}

bool of_distances(const GradientStep& step) {
  return step.user->operation->name() == "minus_half_squared_distances";
}

bool of_cells(const GradientStep& step) {
  return step.user->operation->name() == "multiply";
}

bool of_loss(const GradientStep& step) {
  return step.user->operation->name() == "cross_entropy";
}

bool of_mean(const GradientStep& step) {
  return step.user->is(role::loss);
}

// The first row that fits a gradient tells of it.
struct Meaning {
  bool (*fits)(const GradientStep& step);
  std::string_view sentence;
};

constexpr Meaning meanings[] = {
    {of_mean, "The loss is a weighted sum of the words' losses, so each has its weight as gradient."},
    {of_loss,
     "The gradient of the logits is the probability of each word, minus 1 for the right one, multiplied by "
     "how much this position counts in the loss."},
    {of_weights,
     "dA = dO Vᵀ. Each weight multiplies a value. So its gradient is the dot product of this value with the "
     "gradient of the output row: how much the loss changes if the query takes more of this value."},
    {of_values,
     "dV = Aᵀ dO. Each value is added to every output row, multiplied by a weight. So its gradient is the "
     "sum "
     "of the gradients of these rows, each multiplied by the same weight."},
    {of_scores,
     "Back through softmax. Each row α of the weights has the Jacobian diag(α) − ααᵀ. So the gradient of a "
     "score is its weight times a difference: the gradient of this weight, minus the sum of the row's "
     "gradients, each multiplied by its weight. Each row of the result sums to 0."},
    {of_masked,
     "Back through the mask. A masked score was replaced, so nothing depends on it: its gradient is 0."},
    {of_scaled, "The matrix was scaled by one number, and its gradient is scaled by the same number."},
    {of_similarity,
     "Each number of the product is the dot product of a row of one matrix with a row of the other. So the "
     "gradient of a row is the sum of all rows of the other matrix, each multiplied by the gradient of their "
     "dot product."},
    {of_parameter,
     "A parameter multiplies one column of what goes in, in every row. So its gradient adds up, over the "
     "rows, "
     "what goes in times the gradient of what comes out."},
    {of_factor,
     "Back through a product of matrices: the gradient of the result times the other factor, transposed."},
    {of_function,
     "Back through a function of single numbers: each gradient is multiplied by the slope of the function at "
     "this number."},
    {of_bias,
     "This row is added to every row of a matrix, so its gradient is the sum of the gradients of the rows."},
    {of_embedding,
     "Each word takes its row of the table. So a row gets the gradients of all positions where its word "
     "stands, and a row whose word does not occur gets 0."},
    {of_standardized,
     "Back through a normalization. The mean and the variance of a row are computed from it, so they have "
     "gradients of their own, and these flow back to the row as well."},
    {of_stretched,
     "Back through a normalization. What a row is divided by is computed from the row itself. Without ε, "
     "stretching a whole row has no effect on the result, and this part of the gradient is taken out."},
    {of_distances,
     "A score is minus half the squared distance of a query and a key. Its derivative by the query is the "
     "key minus the query, and by the key the query minus the key. Each is multiplied by the gradient of "
     "the score and summed."},
    {of_cells, "Numbers are multiplied one by one: each gradient is multiplied by the other factor."},
    {of_sum, "In a sum, each term gets the gradient of the sum."},
    {of_moved, "The numbers were only moved, so their gradients are moved back."},
};

}  // namespace

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
    const Node* const own =
        graph.find(node.place, Name(family::gradient, *node.role, std::string(node.plain_leaf())));
    const Node* const user = user_of(node);
    const Node* result = user;
    while (result && result->name.empty()) result = user_of(*result);
    steps.push_back({own ? own : gradient, &node, user, result});
  }
  // What is complete when everything has flowed back through an operation belongs together, parameters first.
  const auto comes_before = [](const GradientStep& a, const GradientStep& b) {
    if (a.user != b.user) return !a.user || (b.user && a.user->index > b.user->index);
    const bool is_given = !a.forward->operation, other_is_given = !b.forward->operation;
    return is_given != other_is_given ? is_given : a.gradient->index < b.gradient->index;
  };
  std::ranges::stable_sort(steps, comes_before);
  return steps;
}

std::string meaning_of_gradient(const GradientStep& step) {
  if (!step.user) return "";
  const auto found = std::ranges::find_if(meanings, [&](const Meaning& row) { return row.fits(step); });
  return found == std::end(meanings) ? "" : std::string(found->sentence);
}

}  // namespace attn
