#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "math/definitions.hpp"
#include "math/rows.hpp"
#include "op/gradients.hpp"
#include "op/operations.hpp"
#include "op/row_by_row.hpp"

// Weights from scores.

namespace attn {
namespace {

bool is_masked(double score) {
  return std::isinf(score) && score < 0.0;
}

class Softmax final : public InPlace {
 public:
  std::string_view name() const override { return "softmax"; }

  Formula formula(std::span<const Formula> operands) const override {
    return {"softmax(" + operands[0].plain + ")",
            "\\operatorname{softmax}\\left(" + operands[0].latex + "\\right)"};
  }

  // The terms of −∞ are exp(−∞) = 0 and are left out.
  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Node& scores = *operands[0];
    const std::vector<double> values = scores.row(row);
    const auto largest = static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
    if (is_masked(values[largest])) {
      return {number(0.0), fmt::format("every number of row {} is −∞, so its weights are 0",
                                       scores.frame.rows.label(row))};
    }
    if (is_masked(values[column])) {
      return {number(0.0), fmt::format("its score is −∞, and exp(−∞) = 0")};
    }
    const auto term = [&](std::size_t j) {
      return call(exponential, cell(scores, row, j) - cell(scores, row, largest));
    };
    std::vector<Expression> terms;
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (!is_masked(values[j])) terms.push_back(term(j));
    }
    return {
        term(column) / sum(std::move(terms)),
        fmt::format(
            "{}[{},{}], the largest score of the row, is subtracted first: the weights stay the same, and "
            "exp cannot overflow",
            scores.title(), row + 1, largest + 1)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 3;  // largest, exponential and sum, division
    return {.element_operations = passes * operands[0].cells()};
  }

  Gradients gradients(const Value& result, const Value& d, std::span<const Value>) const override {
    return {softmax_gradient(result, d)};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows>) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) softmax_row(rows.row(i));
  }
};

class Normalize final : public InPlace {
 public:
  std::string_view name() const override { return "normalize"; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula scores = within(Binding::whole, operands[0]);
    return {scores.plain + " / its row's sum",
            "\\frac{{" + scores.latex + "}_{ij}}{\\sum_{j'} {" + scores.latex + "}_{ij'}}", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Node& x = *operands[0];
    if (sum_of(x.row(row)) == 0.0) {
      return {number(0.0), "the row's sum is 0, and nothing can be divided by 0"};
    }
    std::vector<Expression> terms;
    for (std::size_t j = 0; j < x.frame.shape.columns; ++j) terms.push_back(cell(x, row, j));
    return {cell(x, row, column) / sum(std::move(terms))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 2;  // sum, division
    return {.element_operations = passes * operands[0].cells()};
  }

  Gradients gradients(const Value& result, const Value& d, std::span<const Value> operands) const override {
    return {normalize_gradient(d, result, operands[0])};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows>) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const double sum = sum_of(rows.row(i));
      for (double& value : rows.row(i)) value = sum == 0.0 ? 0.0 : value / sum;
    }
  }
};

// The scores count for nothing but their number.
class Uniform final : public Operation {
 public:
  std::string_view name() const override { return "uniform"; }

  Frame frame(Operands operands) const override { return operands[0]->frame; }

  void compute(std::span<const Rows>, RowsToMake result) const override { definition::uniform(result); }
  RowRange needed(std::size_t, RowRange, std::span<const Shape>) const override { return {0, 0}; }

  Formula formula(std::span<const Formula> operands) const override {
    return {"1 / the number of columns of " + within(Binding::whole, operands[0]).plain,
            "\\frac{1}{\\operatorname{columns}\\left(" + operands[0].latex + "\\right)}", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t, std::size_t) const override {
    return {number(1.0) / number(static_cast<double>(operands[0]->frame.shape.columns)),
            "every column counts the same, whatever the scores are"};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

  // The weights are the same whatever the scores are.
  Gradients gradients(const Value&, const Value&, std::span<const Value>) const override {
    return {std::nullopt};
  }
};

std::size_t place_of_largest(std::span<const double> row) {
  return static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
}

class Largest final : public InPlace {
 public:
  std::string_view name() const override { return "largest"; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula scores = within(Binding::whole, operands[0]);
    return {"1 at the row's largest of " + scores.plain + ", else 0",
            "\\operatorname{onehot}\\left(\\arg\\max_{j} {" + scores.latex + "}_{ij}\\right)",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t place = place_of_largest(operands[0]->row(row));
    return {number(place == column ? 1.0 : 0.0), fmt::format("the largest of row {} is {}[{},{}]", row + 1,
                                                             operands[0]->title(), row + 1, place + 1)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

  // A small change of the scores changes no weight.
  Gradients gradients(const Value&, const Value&, std::span<const Value>) const override {
    return {std::nullopt};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows>) const override { definition::largest(rows, rows); }
};

}  // namespace

Value softmax(const Value& scores) {
  return apply(Softmax(), scores);
}
bool is_softmax(const Operation& operation) {
  return dynamic_cast<const Softmax*>(&operation);
}
Value normalize(const Value& x) {
  return apply(Normalize(), x);
}
Value uniform(const Value& scores) {
  return apply(Uniform(), scores);
}
Value largest(const Value& scores) {
  return apply(Largest(), scores);
}

}  // namespace attn
