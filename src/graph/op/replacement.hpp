#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/op/operations.hpp"
#include "support/error.hpp"

namespace attn {

/// Cells where a mask is 0 are replaced by a number; and where a whole row of it is 0, by another.
class Replacement : public Operation {
 public:
  Replacement(double fill, double fill_of_empty_row) : fill_(fill), fill_of_empty_row_(fill_of_empty_row) {}

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
    for (std::size_t i = 0; fill_ != fill_of_empty_row_ && i < result.shape().rows; ++i) {
      if (is_empty(operands[1].matrix(), i)) std::ranges::fill(row(result, i), fill_of_empty_row_);
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula fill = written(fill_), other = written(fill_of_empty_row_);
    const Formula scores = within(Binding::sum, operands[0]), allowed = within(Binding::sum, operands[1]);
    const bool two = fill_ != fill_of_empty_row_;
    return {scores.plain + " where " + allowed.plain + " = 1, else " + fill.plain +
                (two ? " (" + other.plain + " in a row without any 1)" : ""),
            "\\begin{cases}" + scores.latex + " & " + allowed.latex + " = 1 \\\\ " + fill.latex +
                " & \\text{otherwise}" +
                (two ? " \\\\ " + other.latex + " & \\text{in a row without any 1}" : "") + "\\end{cases}",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Axis &queries = operands[0]->frame.rows, &keys = operands[0]->frame.columns;
    if (operands[1]->matrix()(row, column) != 0.0) {
      return {cell(*operands[0], row, column),
              fmt::format("key {} is not masked for query {}, so the score stays", keys.label(column),
                          queries.label(row))};
    }
    if (fill_ != fill_of_empty_row_ && is_empty(operands[1]->matrix(), row)) {
      const Formula fill = written(fill_of_empty_row_);
      return {number(fill_of_empty_row_, fill),
              fmt::format("all keys are masked for query {}: {} replaces the scores", queries.label(row),
                          fill.plain)};
    }
    return {number(fill_, written(fill_)),
            fmt::format("key {} is masked for query {}: {} replaces the score", keys.label(column),
                        queries.label(row), written(fill_).plain)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

 private:
  static bool is_empty(const Matrix& allowed, std::size_t query) {
    return std::ranges::all_of(attn::row(allowed, query), [](double cell) { return cell == 0.0; });
  }

  static Formula written(double fill) {
    if (std::isinf(fill)) return {"−∞", "-\\infty"};
    return {fmt::format("{}", fill), fmt::format("{}", fill)};
  }

  double fill_;
  double fill_of_empty_row_;
};

}  // namespace attn
