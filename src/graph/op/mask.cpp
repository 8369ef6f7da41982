#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

class Mask final : public Operation {
 public:
  explicit Mask(double fill) : fill_(fill) {}

  std::string_view name() const override { return "mask"; }
  double fill() const { return fill_; }

  Frame frame(Operands operands) const override {
    const Frame &scores = operands[0]->frame, &allowed = operands[1]->frame;
    if (scores.shape != allowed.shape) {
      fail("{} is {} but {} is {}: a mask needs one row for each query and one column for each key",
           operands[1]->title(), to_string(allowed.shape), operands[0]->title(), to_string(scores.shape));
    }
    return scores;
  }

  Matrix compute(std::span<Value> operands) const override {
    Matrix result = std::move(operands[0]).take();
    const std::span<double> scores = cells(result);
    const std::span<const double> allowed = cells(operands[1].matrix());
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = allowed[i] != 0.0 ? scores[i] : fill_;
    // A finite fill in a whole row would come out of the softmax as equal weights on what may not be looked
    // at.
    for (std::size_t i = 0; i < result.shape()[0]; ++i) {
      if (looks_at_nothing(operands[1].matrix(), i)) std::ranges::fill(row(result, i), minus_infinity);
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula fill = written_fill();
    const Formula scores = within(Binding::sum, operands[0]), allowed = within(Binding::sum, operands[1]);
    return {scores.plain + " where " + allowed.plain + " = 1, else " + fill.plain,
            "\\begin{cases}" + scores.latex + " & " + allowed.latex + " = 1 \\\\ " + fill.latex +
                " & \\text{otherwise}\\end{cases}",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Axis &queries = operands[0]->frame.rows, &keys = operands[0]->frame.columns;
    if (operands[1]->matrix()(row, column) != 0.0) {
      return {cell(*operands[0], row, column), fmt::format("query {} may look at key {}, so the score stays",
                                                           queries.label(row), keys.label(column))};
    }
    if (looks_at_nothing(operands[1]->matrix(), row)) {
      return {number(minus_infinity, {"−∞", "-\\infty"}),
              fmt::format("query {} may look at no key", queries.label(row))};
    }
    return {number(fill_, written_fill()),
            fmt::format("query {} may not look at key {}: {} takes the place of the score",
                        queries.label(row), keys.label(column), written_fill().plain)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

 private:
  static bool looks_at_nothing(const Matrix& allowed, std::size_t query) {
    return std::ranges::all_of(attn::row(allowed, query), [](double cell) { return cell == 0.0; });
  }

  Formula written_fill() const {
    if (std::isinf(fill_)) return {"−∞", "-\\infty"};
    return {fmt::format("{}", fill_), fmt::format("{}", fill_)};
  }

  double fill_;
};

}  // namespace

double mask_fill(const Operation& operation) {
  const auto* mask = dynamic_cast<const Mask*>(&operation);
  return mask ? mask->fill() : minus_infinity;
}

Value mask(Value scores, Value allowed, double fill) {
  return apply(Mask(fill), std::move(scores), std::move(allowed));
}

}  // namespace attn
