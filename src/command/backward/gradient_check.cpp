#include "command/backward/gradient_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "command/backward/graph_copy.hpp"
#include "core/graph/graph.hpp"
#include "core/math/difference.hpp"
#include "core/op/kinks.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/number_pair.hpp"

namespace attn {

namespace {

// Steps are halved from about this part of a number, or of 1 where it is smaller.
constexpr double first_part = 1.0 / 16.0;
constexpr int most_halvings = 60;
constexpr double last_part = 0x1p-50;      // of a number: shorter steps are lost in its last bits
constexpr double bound = 1e-6;             // of a relative difference, and of the error of what it is compared with
constexpr double far_beyond = 100.0;       // how many errors make a disagreement
constexpr std::size_t most_compared = 64;  // numbers of one matrix
constexpr std::uint64_t most_work = std::uint64_t{1} << 31;  // for one matrix, where all goes well
constexpr std::uint64_t most_work_at_all = 4 * most_work;

bool has_kinks(const Node& node) { return kink_of(*node.op) != nullptr; }

// A normalization takes out what rounding has left of the mean, so it takes out a step of the mean as well.
bool is_taken_out_again(const Node& node) { return node.is(role::mean); }

// How a gradient compares with finite differences.
struct GradientComparison {
  std::size_t compared = 0, infinite = 0, undefined = 0, vanishing = 0, unsettled = 0;
  std::map<const Kink*, std::size_t> at_kinks = {};
  Difference absolute = {}, relative = {};  // from the quotients
  std::string where = {};                   // the relative one is largest
  double gradient = 0.0, quotient = 0.0;    // there
  bool agrees = true;
};

// A derivative from finite differences.
struct Quotient {
  double value, error;  // and how far it may be off, by its own estimate
  double rounding;      // what rounding alone may make of it
  double step;          // the shortest one that it is taken from
};

double larger_size(double a, double b) { return std::max(std::fabs(a), std::fabs(b)); }

// Equal as far as the quotient can tell, which has to be far enough.
bool agrees_with_quotient(double gradient, const Quotient& quotient) {
  if (gradient == 0.0 && quotient.value == 0.0) return true;
  const double within = bound * larger_size(gradient, quotient.value);
  return std::isfinite(gradient) && quotient.error <= within && std::fabs(gradient - quotient.value) <= within;
}

// What a step meets, so that it gives no difference: a place without a derivative, or else numbers for which something
// is not defined.
struct Obstacle {
  const Kink* kink;  // null: not defined
};

class Differences {
 public:
  // `noise` is what rounding may make of the loss.
  Differences(const Loss& loss, const Node& of, double noise)
      : varied_(of, loss.from.node(), has_kinks), factors_(loss.d_from.node().cells()), noise_(noise) {
    compute();
    for (const Node* node : varied_.watched()) before_.emplace_back(*node->operands.front()->cells());
  }

  std::uint64_t work() const { return varied_.work(); }
  double at(std::size_t i, std::size_t j) const { return varied_.at(i, j); }

  // Derivatives by one number, from ever shorter steps: the last one agrees with the gradient, or else all are there
  // that say anything. None where steps meet an obstacle().
  std::vector<Quotient> quotients(std::size_t i, std::size_t j, double gradient) {
    const double x = varied_.at(i, j);
    double h = std::exp2(std::floor(std::log2(first_part * std::max(1.0, std::fabs(x)))));
    std::vector<Quotient> found;
    std::vector<double> row;
    obstacle_.reset();
    for (int n = 0; n < most_halvings && h > last_part * std::fabs(x); ++n, h /= 2.0) {
      const std::optional<double> quotient = central(i, j, x, h);
      if (quotient) {
        obstacle_.reset();
        row = extrapolated(*quotient, row, h, found);
      } else {
        row.clear();
      }
      if (!found.empty() && agrees_with_quotient(gradient, found.back())) break;
      const bool says_nothing = quotient && noise_ / h > larger_size(*quotient, gradient);
      if (!found.empty() && (says_nothing || spent_ > most_work_at_all)) break;
    }
    varied_.put(i, j, x);
    return found;
  }

  // What the shortest step has met; nothing: it has met nothing.
  const std::optional<Obstacle>& obstacle() const { return obstacle_; }

  // How far the slopes of both sides are apart, where they do not come together as the step is halved; otherwise 0.
  double bend(std::size_t i, std::size_t j, double h) {
    const double x = varied_.at(i, j);
    const auto apart = [&](double step) {
      const double above = loss_at(i, j, x + step), here = loss_at(i, j, x), below = loss_at(i, j, x - step);
      return std::fabs((above - here) - (here - below)) / step;
    };
    const double wide = apart(2.0 * h), narrow = apart(h);
    varied_.put(i, j, x);
    return narrow > 0.75 * wide ? narrow : 0.0;
  }

 private:
  void compute() {
    spent_ += varied_.work();
    varied_.compute();
  }

  double loss_at(std::size_t i, std::size_t j, double x) {
    varied_.put(i, j, x);
    compute();
    return loss();
  }

  // Of the numbers that were computed last.
  double loss() const {
    const Matrix& numbers = varied_.result();
    double sum = 0.0;
    for (std::size_t k = 0; k < factors_->size(); ++k) {
      const double factor = cells(*factors_)[k];
      if (factor != 0.0) sum += factor * cells(numbers)[k];
    }
    return sum;
  }

  // The next row of the table of extrapolations, in whose columns the errors cancel that grow with h², h⁴ and h⁶
  // (Richardson 1911). The best of its columns is found, if three steps speak for it; its error is estimated by its
  // distance from what it is made of (Ridders 1982).
  std::vector<double> extrapolated(double quotient, const std::vector<double>& above, double h,
                                   std::vector<Quotient>& found) const {
    std::vector<double> row = {quotient};
    std::optional<Quotient> best;
    double power = 1.0;
    for (std::size_t m = 1; m <= std::min<std::size_t>(above.size(), 3); ++m) {
      power *= 4.0;
      row.push_back(row[m - 1] + (row[m - 1] - above[m - 1]) / (power - 1.0));
      const double off = larger_size(row[m] - row[m - 1], row[m] - above[m - 1]);
      if (!best || off < best->error) best = Quotient{row[m], off, 2.0 * noise_ / h, h};
    }
    if (row.size() < 3) return row;
    best->error += best->rounding;
    if (std::isfinite(best->value) && std::isfinite(best->error)) found.push_back(*best);
    return row;
  }

  // The difference quotient of one step; nothing where the step meets an obstacle.
  std::optional<double> central(std::size_t i, std::size_t j, double x, double h) {
    if (!steps_to(i, j, x + h)) return std::nullopt;
    const Matrix above = varied_.result();
    if (!steps_to(i, j, x - h)) return std::nullopt;
    const Matrix& below = varied_.result();
    double sum = 0.0;
    for (std::size_t k = 0; k < factors_->size(); ++k) {
      const double factor = cells(*factors_)[k];
      if (factor != 0.0) sum += factor * (cells(above)[k] - cells(below)[k]);
    }
    return sum / ((x + h) - (x - h));
  }

  // Computes with another number; false where the step meets an obstacle.
  bool steps_to(std::size_t i, std::size_t j, double x) {
    varied_.put(i, j, x);
    try {
      compute();
    } catch (const InputError&) {
      obstacle_ = Obstacle{nullptr};
      return false;
    }
    if (!std::isfinite(loss())) {
      obstacle_ = Obstacle{nullptr};
      return false;
    }
    const Kink* const kink = kink_met();
    if (kink) obstacle_ = Obstacle{kink};
    return !kink;
  }

  // The first kink that a step has met; null: none.
  const Kink* kink_met() const {
    for (std::size_t n = 0; n < before_.size(); ++n) {
      const Node& node = *varied_.watched()[n];
      const Kink* const kink = kink_of(*node.op);
      const std::shared_ptr<const Matrix> after = node.operands.front()->cells();
      for (std::size_t i = 0; i < after->shape().rows; ++i) {
        if (kink->meets(row(before_[n], i), row(*after, i))) return kink;
      }
    }
    return nullptr;
  }

  PerturbedRun varied_;
  std::shared_ptr<const Matrix> factors_;
  double noise_;
  std::uint64_t spent_ = 0;
  std::vector<Matrix> before_;  // the first operands of what has kinks
  std::optional<Obstacle> obstacle_;
};

// What rounding changes in the loss where it changes one matrix, each number in its last bit: to first order its
// gradient times this, and the changes are as independent as random ones.
double noise_by(const Node& forward, const Node& gradient) {
  const std::shared_ptr<const Matrix> numbers = forward.cells(), factors = gradient.cells();
  double size = 0.0;
  for (std::size_t k = 0; k < factors->size(); ++k) {
    const double part = cells(*factors)[k] * cells(*numbers)[k];
    if (std::isfinite(part)) size = std::hypot(size, part);
  }
  return std::numeric_limits<double>::epsilon() * size;
}

// The same for all that is computed from a matrix, and for itself.
double noise_behind(const Node& first, const Loss& loss, const std::vector<GradientStep>& steps) {
  double noise = noise_by(loss.from.node(), loss.d_from.node());
  for (const GradientStep& step : steps) {
    if (step.forward->original().index >= first.original().index)
      noise = std::hypot(noise, noise_by(*step.forward, *step.gradient));
  }
  return noise;
}

// Whether it is known to be 0 or not, and then to three digits.
bool has_settled(const Quotient& quotient) {
  return quotient.error <= 1e-3 * std::fabs(quotient.value) || std::fabs(quotient.value) <= quotient.rounding;
}

// Whether neither the gradient nor the quotient can be told from 0.
bool vanishes(double gradient, const std::vector<Quotient>& quotients) {
  const Quotient& best = *std::ranges::min_element(quotients, {}, &Quotient::error);
  return larger_size(gradient, best.value) <= best.rounding;
}

// What a number is compared with; nothing where no quotient is precise enough, or they contradict each other.
std::optional<Quotient> chosen(const std::vector<Quotient>& quotients, double gradient,
                               const std::function<double(double)>& bend) {
  if (agrees_with_quotient(gradient, quotients.back())) return quotients.back();
  std::vector<Quotient> settled;
  std::ranges::copy_if(quotients, std::back_inserter(settled), has_settled);
  if (settled.empty()) return std::nullopt;
  const Quotient best = *std::ranges::min_element(settled, {}, &Quotient::error);
  const double difference = std::fabs(gradient - best.value);
  const double seen = std::isfinite(gradient) ? difference : std::fabs(best.value);
  const bool is_clear = seen > far_beyond * best.error && seen > bound * larger_size(gradient, best.value);
  if (std::isfinite(gradient) && !is_clear) return std::nullopt;
  if (!std::isfinite(gradient) && best.error > bound * std::fabs(best.value)) return std::nullopt;
  const bool is_contradicted = std::ranges::any_of(quotients, [&](const Quotient& other) {
    return far_beyond * other.error <= seen && std::fabs(other.value - best.value) > seen / 2.0;
  });
  if (is_contradicted || bend(best.step) > seen / 10.0) return std::nullopt;
  return best;
}

GradientComparison compared(const Loss& loss, const GradientStep& step, double noise) {
  Differences differences(loss, *step.forward, noise);
  const std::shared_ptr<const Matrix> gradient = step.gradient->cells();
  const std::size_t all = gradient->size(), columns = gradient->shape().columns;
  const std::uint64_t of_one = 6 * std::max<std::uint64_t>(differences.work(), 1);
  const std::size_t count = std::min({all, most_compared, std::size_t(most_work / of_one + 1)});
  GradientComparison result;
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t place = n * all / count, i = place / columns, j = place % columns;
    if (!std::isfinite(differences.at(i, j))) {
      ++result.infinite;
      continue;
    }
    const double exact = cells(*gradient)[place];
    const std::vector<Quotient> quotients = differences.quotients(i, j, exact);
    if (quotients.empty()) {
      const std::optional<Obstacle>& obstacle = differences.obstacle();
      ++(!obstacle ? result.unsettled : obstacle->kink ? result.at_kinks[obstacle->kink] : result.undefined);
      continue;
    }
    const std::optional<Quotient> quotient =
        chosen(quotients, exact, [&](double h) { return differences.bend(i, j, h); });
    if (!quotient) {
      ++(vanishes(exact, quotients) ? result.vanishing : result.unsettled);
      continue;
    }
    ++result.compared;
    const bool is_right = agrees_with_quotient(exact, *quotient);
    const double apart = distance(exact, quotient->value);
    const double size = std::isfinite(apart) ? larger_size(exact, quotient->value) : 1.0;
    if (apart > 0.0) result.absolute.add(i, j, apart);
    if (apart > 0.0 && result.relative.add(i, j, apart / size)) {
      result.where = fmt::format("{}[{},{}]", step.gradient->name, i + 1, j + 1);
      result.gradient = exact;
      result.quotient = quotient->value;
    }
    result.agrees = result.agrees && is_right;
  }
  return result;
}

void add_rule(Page& page) {
  page.say(text(
      "Each gradient is compared with a difference quotient of the loss: ",
      math({"D(h) = (L(x + h) − L(x − h)) / 2h", "D(h) = \\frac{L(x + h) - L(x - h)}{2h}"}),
      ". The first step h is about 1/16 of the size of the number, or 1/16 for numbers below 1. "
      "Then h is halved again and again. "
      "Everything that depends on the number is computed again for each step. "
      "From three or more steps the errors are removed that grow with h², h⁴ and h⁶. "
      "The first extrapolation is ",
      math({"(4 D(h/2) − D(h)) / 3", "\\frac{4 D(h/2) - D(h)}{3}"}),
      ". Each result has an estimated error: how far successive extrapolations are apart, and what rounding may make of them. "
      "A number agrees where this error and the difference are at most 0.000001 of the larger one. "
      "A gradient is called wrong where the difference is more than that, and more than 100 times the estimated error. "
      "All other numbers are not compared."));
  page.say(fmt::format("Of a matrix with more than {0} numbers, {0} are compared, evenly spread.", most_compared));
}

}  // namespace

Answer check_gradients(const Loss& loss, const std::vector<GradientStep>& steps) {
  Page page;
  page.head(1, "Gradients and finite differences");
  page.say(loss.told);
  add_rule(page);
  Listing listing{{"gradient", "numbers", "compared", "largest difference", "relative"}, {}, true};
  std::size_t infinite = 0, undefined = 0, vanishing = 0, unsettled = 0, all = 0;
  std::map<const Kink*, std::size_t> at_kinks;
  GradientComparison worst;
  bool agrees = true, has_means = false;
  for (const GradientStep& step : steps) {
    if (step.forward->is_alias() || &step.forward->original() == &loss.from.node().original()) continue;
    if (is_taken_out_again(*step.forward)) {
      has_means = true;
      continue;
    }
    const GradientComparison one = compared(loss, step, noise_behind(*step.forward, loss, steps));
    infinite += one.infinite;
    undefined += one.undefined;
    for (const auto& [kink, count] : one.at_kinks) at_kinks[kink] += count;
    vanishing += one.vanishing;
    unsettled += one.unsettled;
    all += one.compared;
    if (worst.where.empty() || !one.agrees || (worst.agrees && one.relative.largest > worst.relative.largest))
      worst = one;
    agrees = agrees && one.agrees;
    listing.rows.push_back({step.gradient->name, with_commas(step.gradient->frame.shape.cells()),
                            with_commas(one.compared),
                            one.compared == 0 ? "–" : written_difference(one.absolute.largest),
                            one.compared == 0 ? "–" : written_difference(one.relative.largest)});
  }
  page.say(std::move(listing));
  const auto leave_out = [&](std::size_t count, std::string_view because) {
    if (count > 0) page.say(fmt::format("{:# number is|# numbers are} not compared: {}", Count{count}, because));
  };
  leave_out(infinite, "a masked score is −∞, and a step does not change it.");
  for (const Kink& kink : kinks()) leave_out(at_kinks[&kink], kink.because);
  leave_out(undefined,
            "the loss is no finite number after the shortest step, or not defined there. "
            "Such a step is not taken.");
  leave_out(vanishing, "the gradient and the difference quotient are so small that rounding alone could make them.");
  leave_out(unsettled,
            "the difference quotients did not settle. "
            "For no step is the estimated error small enough.");
  if (has_means) {
    page.say(
        "The gradients of the means of normalized rows are not compared: a normalization subtracts what rounding has left of the mean, and with it a step of the mean. "
        "Those of the rows are compared.");
  }
  if (!agrees) {
    const auto [gradient, quotient] = written_apart(worst.gradient, worst.quotient, 8);
    page.say(fmt::format("They disagree: {} is {}, and the finite difference is {}.", worst.where, gradient, quotient));
  } else if (all == 0) {
    page.say("No number is compared.");
  } else {
    page.say(fmt::format(
        "{:The compared number agrees|All # compared numbers agree}. The largest relative difference is {}.",
        Count{all}, written_difference(worst.relative.largest)));
  }
  return {.page = std::move(page), .verdict = agrees ? Verdict::passed : Verdict::failed};
}

}  // namespace attn
