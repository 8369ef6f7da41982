#include "command/backward/by_hand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "attention/watches.hpp"
#include "command/backward/copy.hpp"
#include "support/error.hpp"
#include "support/number.hpp"
#include "tell/backward_walk.hpp"
#include "tell/describe.hpp"
#include "tell/steps.hpp"

namespace attn {
namespace {

constexpr std::size_t most_numbers = 1000;
constexpr double of_rounding = 1e-14;  // of the loss: what rounding may leave of a change

bool is_shown(const Node& node, const Loss& loss) {
  return node.operation && !node.is_alias() && !node.name.empty() && node.family == &family::forward &&
         node.index <= loss.from.node().original().index;
}

// What goes in is no parameter.
bool is_parameter(const Node& node) {
  constexpr std::array data = {&role::x,    &role::memory, &role::value_memory, &role::q,
                               &role::k,    &role::v,      &role::scores,       &role::weights,
                               &role::bias, &role::ids,    &role::counted};
  return !node.operation && std::ranges::find(data, node.role) == data.end();
}

void add_numbers(Page& page, const Node& node) {
  add_results(page, {&node});
  const Shape shape = node.frame.shape;
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.columns; ++j) page.say(derivation({&node, i, j}, 0));
  }
}

void add_forward(Page& page, const Graph& graph, const Loss& loss) {
  page.head(2, "Given");
  SideBySide given;
  for (const Node& node : graph.nodes()) {
    if (!node.operation && node.family == &family::forward) given.tables.push_back(table_of(node));
  }
  page.say(std::move(given));
  int count = 0;
  std::string last;
  for (const Node& node : graph.nodes()) {
    if (!is_shown(node, loss)) continue;
    const Step* const step = step_of(node);
    std::string heading = step ? heading_of(*step, node) : node.name;
    if (heading != last) page.head(2, fmt::format("{}. {}", ++count, heading));
    last = std::move(heading);
    add_numbers(page, node);
  }
}

void add_backward(Page& page, const std::vector<GradientStep>& steps, std::string& last) {
  int count = 0;
  std::set<std::string> told;
  for (const GradientStep& step : steps) {
    std::string heading = heading_of(step, false);
    if (heading != last) page.head(2, fmt::format("{}. {}", ++count, heading));
    last = std::move(heading);
    const std::string meaning = meaning_of_gradient(step);
    if (!meaning.empty() && told.insert(meaning).second) page.say(meaning);
    if (step.gradient->is_alias()) {
      page.say(formula_block(*step.gradient));
    } else if (step.gradient->operation) {
      add_numbers(page, *step.gradient);
    } else {
      add_results(page, {step.gradient});
    }
  }
}

// One step of gradient descent on a copy of the computation.
void add_step(Page& page, const Loss& loss, const std::vector<GradientStep>& steps, double size) {
  std::map<const Node*, std::shared_ptr<const Matrix>> changed;
  double squares = 0.0;
  page.head(2, "One step");
  if (std::ranges::none_of(steps, [](const GradientStep& step) { return is_parameter(*step.forward); }))
    return page.say("There is no parameter here, so nothing moves.");
  page.say(fmt::format(
      "Each parameter moves against its gradient: {} times the gradient is subtracted from it. Then the loss "
      "is computed again.",
      written_digits(size, 6)));
  for (const GradientStep& step : steps) {
    if (!is_parameter(*step.forward)) continue;
    const std::shared_ptr<const Matrix> gradient = step.gradient->cells();
    auto after = std::make_shared<Matrix>(*step.forward->cells());
    for (std::size_t i = 0; i < after->size(); ++i) {
      cells(*after)[i] -= size * cells(*gradient)[i];
      squares += cells(*gradient)[i] * cells(*gradient)[i];
    }
    Table there = table_of(*step.forward), moved = there;
    moved.title += " after the step";
    moved.array.clear();
    moved.cells = after;
    page.say(SideBySide{{std::move(there), table_of(*step.gradient), std::move(moved)}});
    changed.emplace(step.forward, std::move(after));
  }
  const GraphCopy copy = copied_up_to(loss.from.node(), changed);
  const Node& from = *copy.of.at(&loss.from.node().original());
  copy.graph->run().compute({&from});
  const double before = value_of(loss), after = value_of({Value(from), loss.d_from, {}});
  const double change = after - before, first = 0.0 - size * squares, rest = change - first;
  if (!std::isfinite(after) || !std::isfinite(first))
    fail("--step-size {}: after this step the loss is not finite. Give a smaller step",
         written_digits(size, 6));
  page.say(text("The loss was ", strong(written_digits(before, 6)), " and is now ",
                strong(written_digits(after, 6)),
                change == 0.0 ? std::string(": it has not changed.")
                              : fmt::format(": it has changed by {}.", written_digits(change, 6))));
  page.say(
      fmt::format("To first order, it changes by minus the step size times the sum of all squared gradients, "
                  "{} × {} = {}. {}",
                  written_digits(-size, 6), written_digits(squares, 6), written_digits(first, 6),
                  std::fabs(rest) <= of_rounding * std::max(std::fabs(before), std::fabs(after))
                      ? "Here this is the whole change, but for rounding."
                      : "The rest comes from the curvature: the gradient itself changes during the step."));
}

}  // namespace

void add_by_hand(Page& page, const Loss& loss, const std::vector<GradientStep>& steps, double step_size) {
  const Graph& graph = loss.from.graph();
  std::size_t numbers = 0;
  for (const Node& node : graph.nodes()) numbers += is_shown(node, loss) ? node.frame.shape.cells() : 0;
  for (const GradientStep& step : steps) numbers += step.gradient->frame.shape.cells();
  if (numbers > most_numbers) {
    fail(
        "--by-hand writes out every number, and there are {}, more than {}: give fewer words or smaller "
        "sizes",
        numbers, most_numbers);
  }
  add_forward(page, graph, loss);
  page.head(2, std::string(heading_of_loss));
  page.say(loss.told);
  page.say(text("The loss is ", strong(written_digits(value_of(loss), 6)), "."));
  std::string last(heading_of_loss);
  add_backward(page, steps, last);
  add_step(page, loss, steps, step_size);
}

}  // namespace attn
