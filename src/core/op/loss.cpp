#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/math/functions.hpp"
#include "core/math/rows.hpp"
#include "core/op/operations.hpp"
#include "core/op/ways.hpp"
#include "core/support/error.hpp"

// How far a distribution is from the word that should have come.

namespace attn {
namespace {

// What one row of logits is made into, with its largest number subtracted.
class Shifted {
 public:
  Shifted(const Node& logits, std::size_t row)
      : logits_(logits), row_(row), values_(logits.row(row)), largest_(place_of_largest(values_)) {}

  Expression at(std::size_t k) const { return cell(logits_, row_, k) - cell(logits_, row_, largest_); }
  Expression exponential_at(std::size_t k) const { return call(exponential, at(k)); }
  // The terms of −∞ are exp(−∞) = 0 and are left out.
  Expression sum_of_exponentials() const {
    std::vector<Expression> terms;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      if (!is_masked(values_[k])) terms.push_back(exponential_at(k));
    }
    return sum(std::move(terms));
  }
  std::string reason(std::size_t target, std::string_view stays) const {
    return fmt::format(
        "the target is column {}. {}[{},{}], the largest logit of the row, is subtracted first: "
        "{} the same, and exp cannot overflow",
        target + 1, logits_.title(), row_ + 1, largest_ + 1, stays);
  }

 private:
  const Node& logits_;
  std::size_t row_;
  std::vector<double> values_;
  std::size_t largest_;
};

// The operations on logits and the ids of target words.
struct Targets {
  Targets(const Node& logits, const Node& of_words, double epsilon)
      : ids(of_words, logits, "columns", logits.frame.shape.columns), smoothing(epsilon) {}

  void require_fit(const Node& logits, const Node& of_words) const {
    const Shape shape = of_words.frame.shape;
    if (shape == Shape{logits.frame.shape.rows, 1}) return;
    fail("{} is {}: it must have one id for each of the {} rows of {}", of_words.title(), to_string(shape),
         logits.frame.shape.rows, logits.title());
  }

  double at_target() const { return 1.0 - smoothing; }
  double everywhere() const { return smoothing / static_cast<double>(ids.count()); }
  std::vector<Attribute> attributes() const { return {{"smoothing", smoothing}}; }

  IdsOf ids;
  double smoothing;
};

class CrossEntropy final : public RowByRow {
 public:
  CrossEntropy(const Node& logits, const Node& ids, double smoothing) : targets_(logits, ids, smoothing) {}

  const Op& op() const override { return op::cross_entropy; }
  Bounds bounds() const override {
    return {.least = 0.0, .says = "A loss is never negative: it is minus the logarithm of a probability."};
  }
  double smoothing() const { return targets_.smoothing; }
  std::vector<Attribute> attributes() const override { return targets_.attributes(); }

  Frame frame(Operands operands) const override {
    const Frame& logits = operands[0]->frame;
    targets_.require_fit(*operands[0], *operands[1]);
    return {{logits.shape.rows, 1}, logits.rows, axis("cross-entropy")};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    std::vector<double> shifted(operands[0].shape.columns);
    for (std::size_t i = result.first; i < result.end(); ++i) {
      const std::span<const double> logits = operands[0].row(i);
      const std::size_t target = targets_.ids.place(operands[1], i);
      const double largest = logits[place_of_largest(logits)];
      for (std::size_t k = 0; k < logits.size(); ++k) shifted[k] = logits[k] - largest;
      double expected = targets_.at_target() * shifted[target];
      if (targets_.smoothing > 0.0) {
        expected += targets_.everywhere() * sum_of_cells(shifted);
      }
      elementary::exp(shifted);
      result.row(i)[0] = elementary::log(sum_of_cells(shifted)) - expected;
    }
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula logits = within(Binding::whole, operands[0]), ids = within(Binding::whole, operands[1]);
    const std::string z = "{" + logits.latex + "}";
    const std::string plain = "ln row sums of exp(" + logits.plain + ") − ";
    const std::string latex = "\\ln \\sum_{k} \\exp " + z + "_{ik} - ";
    if (targets_.smoothing == 0.0) {
      return {plain + logits.plain + " at " + ids.plain, latex + z + "_{i, " + ids.latex + "}", Binding::words};
    }
    const std::string one = fmt::format("{}", targets_.at_target()), rest = fmt::format("{}", targets_.smoothing);
    return {plain + one + " ⋅ " + logits.plain + " at " + ids.plain + " − " + rest + " ⋅ mean of each row of " +
                logits.plain,
            latex + one + " \\, " + z + "_{i, " + ids.latex + "} - \\tfrac{" + rest + "}{" +
                fmt::format("{}", targets_.ids.count()) + "} \\sum_{k} " + z + "_{ik}",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t) const override {
    const Shifted shifted(*operands[0], row);
    const std::size_t target = place_of(operands[1]->cell(row, 0));
    Expression loss = call(logarithm, shifted.sum_of_exponentials());
    if (targets_.smoothing == 0.0) {
      loss = std::move(loss) - shifted.at(target);
    } else {
      std::vector<Expression> all;
      for (std::size_t k = 0; k < targets_.ids.count(); ++k) all.push_back(shifted.at(k));
      const auto count = static_cast<double>(targets_.ids.count());
      loss = std::move(loss) - product({number(targets_.at_target()), shifted.at(target)}) -
             product({number(targets_.smoothing) / number(count), sum(std::move(all))});
    }
    return {std::move(loss), shifted.reason(target, "the loss stays")};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 2;  // largest, exponential and sum
    return {.element_operations = passes * operands[0].cells()};
  }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {cross_entropy_gradient(operands[0], operands[1], d, targets_.smoothing), std::nullopt};
  }

 private:
  Targets targets_;
};

// Operands: the logits, the ids and d.
class CrossEntropyGradient final : public InPlace {
 public:
  CrossEntropyGradient(const Node& logits, const Node& ids, double smoothing) : targets_(logits, ids, smoothing) {}

  const Op& op() const override { return op::cross_entropy_gradient; }
  std::vector<Attribute> attributes() const override { return targets_.attributes(); }

  Frame frame(Operands operands) const override {
    targets_.require_fit(*operands[0], *operands[1]);
    return operands[0]->frame;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula &logits = operands[0], &ids = operands[1], d = within(Binding::product, operands[2]);
    const bool smooth = targets_.smoothing != 0.0;
    const std::string one = smooth ? fmt::format("{} ⋅ ", targets_.at_target()) : "",
                      one_latex = smooth ? fmt::format("{} \\, ", targets_.at_target()) : "",
                      rest = fmt::format("{}", targets_.smoothing), count = fmt::format("{}", targets_.ids.count());
    return {"(softmax(" + logits.plain + ") − " + one + "one_hot(" + ids.plain + ")" +
                (smooth ? " − " + rest + "/" + count : "") + ") ⊙ " + d.plain,
            "\\left(\\operatorname{softmax}\\left(" + logits.latex + "\\right) - " + one_latex +
                "\\operatorname{onehot}\\left(" + ids.latex + "\\right)" +
                (smooth ? " - \\tfrac{" + rest + "}{" + count + "}" : "") + "\\right) \\odot " + d.latex,
            Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Shifted shifted(*operands[0], row);
    const std::size_t target = place_of(operands[1]->cell(row, 0));
    const Expression d = cell(*operands[2], row, 0);
    Expression probability = is_masked(operands[0]->cell(row, column))
                                 ? number(0.0)
                                 : shifted.exponential_at(column) / shifted.sum_of_exponentials();
    const double wanted = targets_.everywhere() + (column == target ? targets_.at_target() : 0.0);
    if (wanted != 0.0) probability = std::move(probability) - number(wanted);
    return {product({std::move(probability), d}), shifted.reason(target, "the probabilities stay")};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 4;  // largest, exponential and sum, division, product
    return {.element_operations = passes * operands[0].cells()};
  }

  // Of uniform(d), whose one column is 1 everywhere, it is what multiplies d.
  Gradients gradients(const Value&, const Value& u, std::span<const Value> operands) const override {
    const Value &logits = operands[0], &ids = operands[1], &d = operands[2];
    const Value distances = cross_entropy_gradient(logits, ids, uniform(d), targets_.smoothing);
    return {multiply(softmax_gradient(softmax(logits), u), d), std::nullopt, row_sums(multiply(distances, u))};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows> others) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const std::size_t target = targets_.ids.place(others[0], i);
      const double d = others[1](i, 0);
      const std::span<double> row = rows.row(i);
      softmax_row(row);
      row[target] -= targets_.at_target();
      for (double& value : row) value = (value - targets_.everywhere()) * d;
    }
  }

  Targets targets_;
};

}  // namespace

std::optional<double> smoothing_of(const Operation& operation) {
  const auto* loss = dynamic_cast<const CrossEntropy*>(&operation);
  return loss ? std::optional(loss->smoothing()) : std::nullopt;
}

Value cross_entropy(const Value& logits, const Value& ids, double smoothing) {
  if (!(smoothing >= 0.0 && smoothing <= 1.0)) {
    fail("label smoothing is {}: give a number from 0 to 1", smoothing);
  }
  return apply(CrossEntropy(logits.node(), ids.node(), smoothing), logits, ids);
}

Value cross_entropy_gradient(const Value& logits, const Value& ids, const Value& d, double smoothing) {
  return apply(CrossEntropyGradient(logits.node(), ids.node(), smoothing), logits, ids, d);
}

}  // namespace attn
