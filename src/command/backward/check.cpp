#include "command/backward/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/op/operations.hpp"
#include "core/support/number.hpp"

namespace attn {

// --- check

namespace {

// Numbers move by these parts of their size, or of 1 where they are smaller; by the later ones only where the
// first is not precise enough, or would step over a kink.
constexpr double moves[] = {1e-4, 1e-3, 1e-5, 1e-6, 1e-7};
constexpr double bound = 1e-6;       // of a relative difference
constexpr double too_coarse = 1e-3;  // of a derivative: an error that says nothing about it
constexpr double of_errors = 4.0;    // how far beyond its estimate an error may be
constexpr double rounding_of_difference =
    1e-11;                                 // of the largest number: what rounding leaves of a difference quotient
constexpr double of_step = 1e-15;          // of the largest number, divided by the step: the same for short steps
constexpr std::size_t most_compared = 64;  // numbers of one matrix
constexpr std::uint64_t most_work = std::uint64_t{1} << 31;  // for one matrix

bool has_kinks(const Node& node) { return node.op->function == &rectifier; }

// A normalization takes out what rounding has left of the mean, so it takes out a step of the mean as well.
bool is_taken_out_again(const Node& node) { return node.is(role::mean); }

// How a gradient compares with finite differences.
struct Comparison {
  std::size_t compared = 0, infinite = 0, at_kinks = 0, without = 0, inaccurate = 0;
  double difference = 0.0, relative = 0.0;  // the largest
  std::string where;                        // of the relative one
  double gradient = 0.0, quotient = 0.0;    // there
  bool agrees = true;
};

// A derivative from finite differences.
struct Quotient {
  double value, error;  // and how far it may be off, by its own estimate
};

class Differences {
 public:
  Differences(const Loss& loss, const Node& of, double largest)
      : varied_(of, loss.from.node(), has_kinks),
        factors_(loss.d_from.node().cells()),
        rounding_(rounding_of_difference * std::max(largest, 1.0)) {
    varied_.compute();
    kinks_ = sides();
  }

  std::uint64_t work() const { return varied_.work(); }
  double at(std::size_t i, std::size_t j) const { return varied_.at(i, j); }
  // What rounding may make of a difference quotient.
  double rounding() const { return rounding_; }

  // The derivative by one number, from the steps that give the smallest error; nothing where kinks lie among
  // all of them.
  std::optional<Quotient> quotient(std::size_t i, std::size_t j) {
    const double x = varied_.at(i, j);
    std::optional<Quotient> found;
    for (const double part : moves) {
      const double h = part * std::max(1.0, std::fabs(x));
      const std::optional<Quotient> one = extrapolated(i, j, x, h);
      if (one && (!found || !(found->error <= one->error))) found = one;
      if (found && found->error <= std::max(rounding_, bound / of_errors * std::fabs(found->value))) break;
    }
    varied_.put(i, j, x);
    return found;
  }

  // Whether the loss jumps or bends in this place, however short the steps: the difference quotients of both
  // sides stay apart.
  bool has_no_derivative(std::size_t i, std::size_t j) {
    const double x = varied_.at(i, j), h = moves[std::size(moves) - 1] * std::max(1.0, std::fabs(x));
    const double wide = bend(i, j, x, h), narrow = bend(i, j, x, h / 2.0), slope = steepness(i, j, x, h / 2.0);
    const double jump_wide = steepness(i, j, x, h);
    varied_.put(i, j, x);
    const double seen = 1e3 * rounding_ + 1e-3 * slope;
    const double noise = 1e3 * of_step / rounding_of_difference * rounding_ / h;
    const bool bends = narrow > seen && narrow > noise && narrow > 0.75 * wide;
    const bool jumps = slope > 1.5 * jump_wide && slope > 10.0 * noise;
    return bends || jumps;
  }

 private:
  double loss_at(std::size_t i, std::size_t j, double x) {
    varied_.put(i, j, x);
    varied_.compute();
    const Matrix& numbers = varied_.result();
    double sum = 0.0;
    for (std::size_t k = 0; k < factors_->size(); ++k) {
      const double factor = cells(*factors_)[k];
      if (factor != 0.0) sum += factor * cells(numbers)[k];
    }
    return sum;
  }

  // How far the slopes of both sides are apart.
  double bend(std::size_t i, std::size_t j, double x, double h) {
    const double above = loss_at(i, j, x + h), here = loss_at(i, j, x), below = loss_at(i, j, x - h);
    return std::fabs((above - here) - (here - below)) / h;
  }

  double steepness(std::size_t i, std::size_t j, double x, double h) {
    const double above = loss_at(i, j, x + h), below = loss_at(i, j, x - h);
    return std::fabs(above - below) / (2.0 * h);
  }

  std::optional<Quotient> extrapolated(std::size_t i, std::size_t j, double x, double h) {
    const std::optional<double> wide = central(i, j, x, h), middle = central(i, j, x, h / 2.0),
                                narrow = central(i, j, x, h / 4.0);
    if (!wide || !middle || !narrow) return std::nullopt;
    // The error that grows with h² cancels.  (Richardson 1911)
    const double first = (4.0 * *middle - *wide) / 3.0, second = (4.0 * *narrow - *middle) / 3.0;
    const double of_short_steps = of_step / rounding_of_difference * rounding_ / (h / 4.0);
    return Quotient{second, std::fabs(second - first) + of_short_steps};
  }

  std::optional<double> central(std::size_t i, std::size_t j, double x, double h) {
    varied_.put(i, j, x + h);
    varied_.compute();
    const Matrix above = varied_.result();
    if (sides() != kinks_) return std::nullopt;
    varied_.put(i, j, x - h);
    varied_.compute();
    if (sides() != kinks_) return std::nullopt;
    const Matrix& below = varied_.result();
    double sum = 0.0;
    for (std::size_t k = 0; k < factors_->size(); ++k) {
      const double factor = cells(*factors_)[k];
      if (factor != 0.0) sum += factor * (cells(above)[k] - cells(below)[k]);
    }
    return sum / ((x + h) - (x - h));
  }

  // On which side of their kinks all numbers lie.
  std::vector<bool> sides() const {
    std::vector<bool> all;
    for (const Node* node : varied_.watched()) {
      const std::shared_ptr<const Matrix> numbers = node->cells();
      for (const double number : cells(*numbers)) all.push_back(number > 0.0);
    }
    return all;
  }

  Varied varied_;
  std::shared_ptr<const Matrix> factors_;
  double rounding_;
  std::vector<bool> kinks_;
};

// The largest number that is computed on the way there, without the −∞ of masks.
double largest_number(const Node& last) {
  double largest = 0.0;
  for (const Node& node : last.graph->nodes()) {
    if (node.index > last.original().index || !node.op || node.name.empty()) continue;
    const std::shared_ptr<const Matrix> numbers = node.cells();
    for (const double number : cells(*numbers)) {
      if (std::isfinite(number)) largest = std::max(largest, std::fabs(number));
    }
  }
  return largest;
}

Comparison compared(const Loss& loss, const GradientStep& step, double largest) {
  Differences differences(loss, *step.forward, largest);
  const std::shared_ptr<const Matrix> gradient = step.gradient->cells();
  const std::size_t size = gradient->size(), columns = gradient->shape().columns;
  const std::uint64_t of_one = 6 * std::max<std::uint64_t>(differences.work(), 1);
  const std::size_t count = std::min({size, most_compared, std::size_t(most_work / of_one + 1)});
  Comparison result;
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t place = n * size / count, i = place / columns, j = place % columns;
    if (!std::isfinite(differences.at(i, j))) {
      ++result.infinite;
      continue;
    }
    const std::optional<Quotient> quotient = differences.quotient(i, j);
    if (!quotient) {
      ++result.at_kinks;
      continue;
    }
    const double exact = cells(*gradient)[place], difference = std::fabs(exact - quotient->value);
    const double within = differences.rounding() + of_errors * quotient->error;
    const double beyond = difference <= within ? 0.0 : difference - within;
    const double size_here = std::max(std::fabs(exact), std::fabs(quotient->value));
    const double relative = beyond == 0.0 ? 0.0 : beyond / size_here;
    const bool is_coarse = difference > differences.rounding() && quotient->error > too_coarse * size_here;
    if ((!(relative <= bound) || is_coarse) && differences.has_no_derivative(i, j)) {
      ++result.without;
      continue;
    }
    if (relative <= bound && is_coarse) {
      ++result.inaccurate;
      continue;
    }
    ++result.compared;
    result.difference = std::max(result.difference, difference);
    const bool is_number = relative <= bound;  // not NaN
    result.agrees = result.agrees && is_number;
    if (relative >= result.relative || !is_number) {
      result.relative = relative;
      result.where = fmt::format("{}[{},{}]", step.gradient->name, i + 1, j + 1);
      result.gradient = exact;
      result.quotient = quotient->value;
    }
  }
  return result;
}

void add_rule(Page& page) {
  page.say(text(
      "Each gradient is compared with a difference quotient of the loss: ",
      math({"D(h) = (L(x + h) − L(x − h)) / 2h", "D(h) = \\frac{L(x + h) - L(x - h)}{2h}"}), ", taken as ",
      math({"(4 D(h/2) − D(h)) / 3", "\\frac{4 D(h/2) - D(h)}{3}"}),
      ", in which the error that grows with h² cancels. "
      "The step h is 0.0001 times the size of the number, or 0.0001 for numbers below 1. "
      "Everything that depends on the number is computed again for it. "
      "The same with h/2 in place of h says how precise this is. "
      "Where it is not precise enough, longer and shorter steps are tried, and the most precise one counts. "
      "They disagree where the difference is more than 0.000001 of the larger one, beyond 4 times this error and what rounding may make: 1e-11 of the largest number that is computed, or of 1."));
  page.say(fmt::format("Of a matrix with more than {0} numbers, {0} are compared, evenly spread.", most_compared));
}

}  // namespace

Answer check_gradients(const Loss& loss, const std::vector<GradientStep>& steps) {
  Page page;
  page.head(1, "Gradients and finite differences");
  page.say(loss.told);
  add_rule(page);
  Listing listing{{"gradient", "numbers", "compared", "largest difference", "relative"}, {}, true};
  std::size_t infinite = 0, at_kinks = 0, without = 0, inaccurate = 0, all = 0;
  Comparison worst;
  bool agrees = true, has_means = false;
  const double largest = largest_number(loss.from.node());
  for (const GradientStep& step : steps) {
    if (step.forward->is_alias() || &step.forward->original() == &loss.from.node().original()) continue;
    if (is_taken_out_again(*step.forward)) {
      has_means = true;
      continue;
    }
    const Comparison one = compared(loss, step, largest);
    infinite += one.infinite;
    at_kinks += one.at_kinks;
    without += one.without;
    inaccurate += one.inaccurate;
    all += one.compared;
    if (worst.where.empty() || !one.agrees || (worst.agrees && one.relative > worst.relative)) worst = one;
    agrees = agrees && one.agrees;
    listing.rows.push_back({step.gradient->name, with_commas(step.gradient->frame.shape.cells()),
                            with_commas(one.compared), one.compared == 0 ? "–" : written_difference(one.difference),
                            one.compared == 0 ? "–" : written_difference(one.relative)});
  }
  page.say(std::move(listing));
  if (infinite > 0) {
    page.say(fmt::format("{} not compared: a masked score is −∞, and a step does not change it.",
                         infinite == 1 ? "1 number is" : fmt::format("{} numbers are", infinite)));
  }
  if (at_kinks > 0) {
    page.say(
        fmt::format("{} not compared: a step would cross a kink of ReLU, where the slope changes from 0 to 1. "
                    "At the kink itself the gradient takes the slope 0.",
                    at_kinks == 1 ? "1 number is" : fmt::format("{} numbers are", at_kinks)));
  }
  if (without > 0) {
    page.say(
        fmt::format("{} not compared: the loss has no derivative there. "
                    "The difference quotients of both sides stay apart, however short the step.",
                    without == 1 ? "1 number is" : fmt::format("{} numbers are", without)));
  }
  if (inaccurate > 0) {
    page.say(fmt::format("{} too inaccurate to compare: no step gives a precise enough difference quotient.",
                         inaccurate == 1 ? "1 number is" : fmt::format("{} numbers are", inaccurate)));
  }
  if (has_means) {
    page.say(
        "The gradients of the means of normalized rows are not compared: a normalization subtracts what rounding has left of the mean, and with it a step of the mean. "
        "Those of the rows are compared.");
  }
  page.say(agrees ? fmt::format("All {} agree. The largest relative difference is {}.",
                                count_of(all, "compared number"), written_difference(worst.relative))
                  : fmt::format("They disagree: {} is {}, and the finite difference is {}.", worst.where,
                                written_digits(worst.gradient, 8), written_digits(worst.quotient, 8)));
  return {.page = std::move(page), .verdict = agrees ? Verdict::passed : Verdict::failed};
}

// --- copy

namespace {

// An input with the numbers of another one. Its name is whole, since no scope is open.
Value as_input(const Node& node, Graph& graph, std::shared_ptr<const Matrix> numbers) {
  const Name name(node.role ? *node.role : role::other, node.title());
  return graph.input(name, std::move(numbers), node.frame.rows, node.frame.columns);
}

Value input_again(const Node& node, Graph& graph) {
  if (node.given) return as_input(node, graph, node.given);
  const Name name(*node.role, node.name);
  return node.made ? graph.input(name, node.made, node.frame) : graph.input(name, node.frame);
}

// The nodes that a node is computed from, itself among them, by index.
std::vector<bool> behind(const Node& last) {
  std::vector<bool> found(last.index + 1, false);
  found[last.index] = true;
  for (std::size_t i = last.index + 1; i-- > 0;) {
    if (!found[i]) continue;
    for (const Node* operand : last.graph->nodes()[i].operands) found[operand->index] = true;
  }
  return found;
}

}  // namespace

GraphCopy copied_up_to(const Node& asked, const std::map<const Node*, std::shared_ptr<const Matrix>>& instead) {
  const Node& last = asked.original();
  const std::vector<bool> needed = behind(last);
  GraphCopy copy{std::make_shared<Graph>(keep_nothing()), {}, {}};
  for (std::size_t i = 0; i <= last.index; ++i) {
    const Node& node = last.graph->nodes()[i];
    if (!needed[i]) continue;
    std::vector<Value> operands;
    for (const Node* operand : node.operands) operands.emplace_back(*copy.of.at(operand));
    const auto other = instead.find(&node);
    const Value made = other != instead.end() ? as_input(node, *copy.graph, other->second)
                       : node.op              ? copy.graph->apply(*node.op, operands, node.settings)
                                              : input_again(node, *copy.graph);
    copy.of.emplace(&node, &made.node());
    copy.originals.emplace(&made.node(), &node);
  }
  return copy;
}

Varied::Varied(const Node& of, const Node& result, const std::function<bool(const Node&)>& watched)
    : graph_(std::make_shared<Graph>(keep_nothing())), numbers_(std::make_shared<Matrix>(*of.cells())) {
  const Node &first = of.original(), &last = result.original();
  const std::vector<bool> needed = behind(last);
  std::map<const Node*, const Node*> made;
  made.emplace(&first, &as_input(first, *graph_, numbers_).node());
  const auto operand_of = [&](const Node& node) {
    const auto found = made.find(&node);
    if (found != made.end()) return Value(*found->second);
    const Value input = as_input(node, *graph_, node.cells());
    made.emplace(&node, &input.node());
    return input;
  };
  std::vector<bool> depends(last.index + 1, false);
  depends[first.index] = true;
  std::vector<const Node*> targets;
  for (std::size_t i = first.index + 1; i <= last.index; ++i) {
    const Node& node = last.graph->nodes()[i];
    for (const Node* operand : node.operands) depends[i] = depends[i] || depends[operand->index];
    if (!needed[i] || !depends[i]) continue;
    std::vector<Value> operands;
    for (const Node* operand : node.operands) operands.push_back(operand_of(*operand));
    const Node& copy = graph_->apply(*node.op, operands, node.settings).node();
    made.emplace(&node, &copy);
    if (watched(node)) targets.push_back(&copy);
  }
  watched_ = targets;
  result_ = made.at(&last);
  targets.push_back(result_);
  plan_ = graph_->run().plan_to_repeat(targets);
}

}  // namespace attn
