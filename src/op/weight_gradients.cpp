#include "math/row_gradients.hpp"
#include "math/rows.hpp"
#include "op/gradients.hpp"
#include "op/known.hpp"
#include "op/row_by_row.hpp"
#include "support/error.hpp"

// How a gradient flows back from weights to what they were made of.

namespace attn {
namespace {

// Σ_k a_ik b_ik, as an expression.
Expression dot_of_rows(const Node& a, const Node& b, std::size_t row) {
  std::vector<Expression> terms;
  for (std::size_t k = 0; k < a.frame.shape.columns; ++k) {
    terms.push_back(product({cell(a, row, k), cell(b, row, k)}));
  }
  return sum(std::move(terms));
}

// Operands: d and the weights. A row of zeros, which may look at nothing, gets zeros.
class SoftmaxGradient final : public InPlace {
 public:
  std::string_view name() const override { return "softmax_gradient"; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula d = within(Binding::product, operands[0]), weights = within(Binding::product, operands[1]);
    const Formula d_whole = within(Binding::whole, operands[0]),
                  w_whole = within(Binding::whole, operands[1]);
    return {weights.plain + " ⊙ (" + d.plain + " − row sums of " + weights.plain + " ⊙ " + d.plain + ")",
            "{" + w_whole.latex + "}_{ij} \\left({" + d_whole.latex + "}_{ij} - \\sum_{k} {" + w_whole.latex +
                "}_{ik} {" + d_whole.latex + "}_{ik}\\right)",
            Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Node &d = *operands[0], &weights = *operands[1];
    return {product({cell(weights, row, column), cell(d, row, column) - dot_of_rows(weights, d, row)}),
            "softmax has the Jacobian diag(α) − ααᵀ, where α is the row of weights"};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 3;  // product and sum, distance, product
    return {.element_operations = passes * operands[0].cells()};
  }

  // g = α ⊙ (d − r) with r = rowsum(α ⊙ d). By d the matrix is symmetric; by α both factors count.
  Gradients gradients(const Value&, const Value& u, std::span<const Value> operands) const override {
    const Value &d = operands[0], &weights = operands[1];
    const Value distances = subtract(d, row_sums(multiply(weights, d)));
    const Value of_sums = multiply(d, row_sums(multiply(weights, u)));
    return {softmax_gradient(weights, u), subtract(multiply(u, distances), of_sums)};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows> others) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      softmax_gradient_row(rows.row(i), others[0].row(i));
    }
  }
};

// Operands: d, y and x.
class NormalizeGradient final : public InPlace {
 public:
  std::string_view name() const override { return "normalize_gradient"; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula d = within(Binding::product, operands[0]), y = within(Binding::product, operands[1]),
                  x = within(Binding::whole, operands[2]);
    const std::string d_latex = "{" + within(Binding::whole, operands[0]).latex + "}",
                      y_latex = "{" + within(Binding::whole, operands[1]).latex + "}";
    return {"(" + d.plain + " − row sums of " + y.plain + " ⊙ " + d.plain + ") / row sums of " + x.plain,
            "\\frac{" + d_latex + "_{ij} - \\sum_{k} " + y_latex + "_{ik} " + d_latex + "_{ik}}{\\sum_{k} {" +
                x.latex + "}_{ik}}",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Node &d = *operands[0], &y = *operands[1], &x = *operands[2];
    if (sum_of(x.row(row)) == 0.0) {
      return {number(0.0), "the row's sum is 0, and nothing was divided by it"};
    }
    std::vector<Expression> terms;
    for (std::size_t k = 0; k < x.frame.shape.columns; ++k) terms.push_back(cell(x, row, k));
    return {(cell(d, row, column) - dot_of_rows(y, d, row)) / sum(std::move(terms))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 4;  // product and sum, the other sum, distance, division
    return {.element_operations = passes * operands[0].cells()};
  }

  Gradients gradients(const Value&, const Value&, std::span<const Value>) const override {
    no_second_gradient(*this);
  }

 private:
  void change(RowsToMake rows, std::span<const Rows> others) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const std::span<double> d = rows.row(i);
      const double mean = dot_product(others[0].row(i), d), sum = sum_of(others[1].row(i));
      for (double& value : d) value = sum == 0.0 ? 0.0 : (value - mean) / sum;
    }
  }
};

}  // namespace

bool is_softmax_gradient(const Operation& operation) {
  return dynamic_cast<const SoftmaxGradient*>(&operation) != nullptr;
}

Value softmax_gradient(const Value& weights, const Value& d) {
  return apply(SoftmaxGradient(), d, weights);
}

Value normalize_gradient(const Value& d, const Value& y, const Value& x) {
  return apply(NormalizeGradient(), d, y, x);
}

}  // namespace attn
