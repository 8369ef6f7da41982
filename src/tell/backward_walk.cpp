#include "tell/backward_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "op/operations.hpp"
#include "tell/describe.hpp"
#include "tell/steps.hpp"

namespace attn {
namespace {

constexpr std::size_t most_keys_of_jacobian = 16;

double size_of(std::span<const double> numbers) {
  double sum = 0.0;
  for (const double number : numbers) sum += std::fabs(number);
  return sum;
}

// The row with the largest gradient; of equal ones the first that has weights.
std::size_t telling_row(const Matrix& gradient, const Matrix& weights) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < gradient.shape().rows; ++i) {
    const double here = size_of(row(gradient, i)), there = size_of(row(gradient, best));
    const bool has_more = size_of(row(weights, i)) > 0.0 && size_of(row(weights, best)) == 0.0;
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
    if (step.user && is_softmax(*step.user->operation)) add_jacobian(step);
  }

 private:
  // Of the row with the largest gradient, where it can be read.
  void add_jacobian(const GradientStep& step) {
    const Node& weights = *step.user;
    const std::size_t n = weights.frame.shape.columns,
                      i = telling_row(step.gradient->matrix(), weights.matrix());
    if (shows_jacobian_ || n > most_keys_of_jacobian || n < 2 || weights.name.empty()) return;
    shows_jacobian_ = true;
    const std::span<const double> alpha = row(weights.matrix(), i);
    Matrix jacobian({n, n});
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) jacobian(j, k) = (j == k ? alpha[j] : 0.0) - alpha[j] * alpha[k];
    }
    page_.say(text("Row ", strong(weights.frame.rows.label(i)), " of ", code(weights.name),
                   " has the Jacobian ",
                   math({"diag(α) − ααᵀ", "\\operatorname{diag}(\\alpha) - \\alpha\\alpha^{\\top}"}),
                   ": the derivative of each weight (row) by each score (column). Multiplied by the same row "
                   "of the gradient of the weights, it gives this row of ",
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

}  // namespace

std::string heading_of(const GradientStep& step, bool by_scope) {
  if (!step.result) return std::string(heading_of_loss);
  if (by_scope) {
    const NamedScope* const place = step.gradient->place;
    return fmt::format("{}, backward", place ? place->title() : step.forward->name);
  }
  const Step* const told = step_of(*step.result);
  std::string heading =
      fmt::format("{}, backward", told ? heading_of(*told, *step.result) : step.result->name);
  if (const NamedScope* const place = place_in_walk(*step.result))
    heading += fmt::format(" ({})", place->title());
  return heading;
}

void add_backward_walk(Page& page, const std::vector<GradientStep>& steps, bool by_scope) {
  BackwardWalk walk(page, by_scope);
  for (const GradientStep& step : steps) walk.add(step);
}

}  // namespace attn
