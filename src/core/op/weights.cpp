#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math/rows.hpp"
#include "core/op/operations.hpp"
#include "core/op/ways.hpp"
#include "core/support/error.hpp"

namespace attn {

// --- weights
// Weights from scores.

namespace {

class Softmax final : public InPlace {
 public:
  const Op& op() const override { return op::softmax; }

  Formula formula(std::span<const Formula> operands) const override {
    return {"softmax(" + operands[0].plain + ")", "\\operatorname{softmax}\\left(" + operands[0].latex + "\\right)"};
  }

  // The terms of −∞ are exp(−∞) = 0 and are left out.
  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Node& scores = *operands[0];
    const std::vector<double> values = scores.row(row);
    const auto largest = static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
    if (is_masked(values[largest])) {
      return {number(0.0),
              fmt::format("every number of row {} is −∞, so its weights are 0", scores.frame.rows.label(row))};
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
            "{}[{},{}], the largest score of the row, is subtracted first: the weights stay the same, and exp cannot overflow",
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
  const Op& op() const override { return op::normalize; }

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
  const Op& op() const override { return op::uniform; }

  Frame frame(Operands operands) const override { return operands[0]->frame; }

  void compute(std::span<const Rows>, RowsToMake result) const override {
    const double share = 1.0 / static_cast<double>(result.shape.columns);
    for (std::size_t i = result.first; i < result.end(); ++i) std::ranges::fill(result.row(i), share);
  }
  RowRange needed(std::size_t, RowRange, std::span<const Shape>) const override { return {0, 0}; }

  Formula formula(std::span<const Formula> operands) const override {
    return {"1 / the number of columns of " + within(Binding::whole, operands[0]).plain,
            "\\frac{1}{\\operatorname{columns}\\left(" + operands[0].latex + "\\right)}", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t, std::size_t) const override {
    return {number(1.0) / number(static_cast<double>(operands[0]->frame.shape.columns)),
            "every column counts the same, whatever the scores are"};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  // The weights are the same whatever the scores are.
  Gradients gradients(const Value&, const Value&, std::span<const Value>) const override { return {std::nullopt}; }
};

class Largest final : public InPlace {
 public:
  const Op& op() const override { return op::largest; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula scores = within(Binding::whole, operands[0]);
    return {"1 at the row's largest of " + scores.plain + ", else 0",
            "\\operatorname{onehot}\\left(\\arg\\max_{j} {" + scores.latex + "}_{ij}\\right)", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t place = place_of_largest(operands[0]->row(row));
    return {number(place == column ? 1.0 : 0.0),
            fmt::format("the largest of row {} is {}[{},{}]", row + 1, operands[0]->title(), row + 1, place + 1)};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  // A small change of the scores changes no weight.
  Gradients gradients(const Value&, const Value&, std::span<const Value>) const override { return {std::nullopt}; }

 private:
  void change(RowsToMake rows, std::span<const Rows>) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const std::size_t place = place_of_largest(rows.row(i));
      std::ranges::fill(rows.row(i), 0.0);
      rows.row(i)[place] = 1.0;
    }
  }
};

}  // namespace

Value softmax(const Value& scores) { return apply(Softmax(), scores); }
Value normalize(const Value& x) { return apply(Normalize(), x); }
Value uniform(const Value& scores) { return apply(Uniform(), scores); }
Value largest(const Value& scores) { return apply(Largest(), scores); }

// --- masks
// Cells where a mask is 0 are replaced by a number.

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

bool is_empty(std::span<const double> allowed) {
  return std::ranges::all_of(allowed, [](double cell) { return cell == 0.0; });
}

Formula formula_of_fill(double fill) {
  if (std::isinf(fill)) return {"−∞", "-\\infty"};
  const std::string written = fmt::format("{}", fill);
  return {written, written};
}

// A row where the mask is 0 everywhere may have a fill of its own.
class Replacement : public InPlace {
 public:
  Replacement(const Op& op, double fill, double fill_of_empty_row, const MaskNouns& nouns)
      : op_(op), fill_(fill), fill_of_empty_row_(fill_of_empty_row), nouns_(nouns) {}

  const Op& op() const override { return op_; }

  Frame frame(Operands operands) const override {
    const Frame &scores = operands[0]->frame, &allowed = operands[1]->frame;
    if (scores.shape != allowed.shape) {
      fail("{} is {} but {} is {}: a mask must have the shape of the matrix that it masks", operands[1]->title(),
           to_string(allowed.shape), operands[0]->title(), to_string(scores.shape));
    }
    return scores;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula fill = formula_of_fill(fill_), other = formula_of_fill(fill_of_empty_row_);
    const Formula scores = within(Binding::sum, operands[0]), allowed = within(Binding::sum, operands[1]);
    const bool two = fill_ != fill_of_empty_row_;
    return {scores.plain + " where " + allowed.plain + " = 1, else " + fill.plain +
                (two ? " (" + other.plain + " in a row without any 1)" : ""),
            "\\begin{cases}" + scores.latex + " & " + allowed.latex + " = 1 \\\\ " + fill.latex +
                " & \\text{otherwise}" + (two ? " \\\\ " + other.latex + " & \\text{in a row without any 1}" : "") +
                "\\end{cases}",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::string in_row = fmt::format("{} {}", nouns_.row, operands[0]->frame.rows.label(row));
    const std::string of_column = fmt::format("{} {}", nouns_.column, operands[0]->frame.columns.label(column));
    if (operands[1]->cell(row, column) != 0.0) {
      return {cell(*operands[0], row, column),
              fmt::format("{} is not masked for {}, so the {} stays", of_column, in_row, nouns_.cell)};
    }
    if (fill_ != fill_of_empty_row_ && is_empty(operands[1]->row(row))) {
      const Formula fill = formula_of_fill(fill_of_empty_row_);
      return {number(fill_of_empty_row_, fill), fmt::format("every {} is masked for {}: {} replaces the {}s",
                                                            nouns_.column, in_row, fill.plain, nouns_.cell)};
    }
    return {number(fill_, formula_of_fill(fill_)), fmt::format("{} is masked for {}: {} replaces the {}", of_column,
                                                               in_row, formula_of_fill(fill_).plain, nouns_.cell)};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  std::vector<Attribute> attributes() const override {
    return {{"fill", fill_},
            {"row_noun", std::string(nouns_.row)},
            {"column_noun", std::string(nouns_.column)},
            {"cell_noun", std::string(nouns_.cell)}};
  }

  // Where a cell was replaced, nothing flows back.
  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override;

  double fill() const { return fill_; }

 private:
  void change(RowsToMake rows, std::span<const Rows> others) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const std::span<double> scores = rows.row(i);
      const std::span<const double> allowed = others[0].row(i);
      for (std::size_t j = 0; j < scores.size(); ++j) scores[j] = allowed[j] != 0.0 ? scores[j] : fill_;
      if (fill_ != fill_of_empty_row_ && is_empty(allowed)) std::ranges::fill(scores, fill_of_empty_row_);
    }
  }

  const Op& op_;
  double fill_;
  double fill_of_empty_row_;
  MaskNouns nouns_;
};

Gradients Replacement::gradients(const Value&, const Value& d, std::span<const Value> operands) const {
  const MaskNouns nouns{.row = nouns_.row, .column = nouns_.column, .cell = "gradient"};
  return {apply(Replacement(op::replace, 0.0, 0.0, nouns), d, operands[1]), std::nullopt};
}

// A finite fill in a whole row would come out of a softmax as equal weights for what is masked.
class Mask final : public Replacement {
 public:
  Mask(double fill, const MaskNouns& nouns) : Replacement(op::mask, fill, minus_infinity, nouns) {}
};

}  // namespace

Value mask(const Value& scores, const Value& allowed, double fill, const MaskNouns& nouns) {
  return apply(Mask(fill, nouns), scores, allowed);
}

Value replace(const Value& x, const Value& kept, double fill) {
  return apply(Replacement(op::replace, fill, fill, {}), x, kept);
}

double mask_fill(const Operation& operation) {
  const auto* mask = dynamic_cast<const Mask*>(&operation);
  return mask ? mask->fill() : minus_infinity;
}

// --- weight gradients
// How a gradient flows back from weights to what they were made of.

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
  const Op& op() const override { return op::softmax_gradient; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula d = within(Binding::product, operands[0]), weights = within(Binding::product, operands[1]);
    const Formula d_whole = within(Binding::whole, operands[0]), w_whole = within(Binding::whole, operands[1]);
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
  const Op& op() const override { return op::normalize_gradient; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula d = within(Binding::product, operands[0]), y = within(Binding::product, operands[1]),
                  x = within(Binding::whole, operands[2]);
    const std::string d_latex = "{" + within(Binding::whole, operands[0]).latex + "}",
                      y_latex = "{" + within(Binding::whole, operands[1]).latex + "}";
    return {"(" + d.plain + " − row sums of " + y.plain + " ⊙ " + d.plain + ") / row sums of " + x.plain,
            "\\frac{" + d_latex + "_{ij} - \\sum_{k} " + y_latex + "_{ik} " + d_latex + "_{ik}}{\\sum_{k} {" + x.latex +
                "}_{ik}}",
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

  Gradients gradients(const Value&, const Value&, std::span<const Value>) const override { no_second_gradient(*this); }

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

Value softmax_gradient(const Value& weights, const Value& d) { return apply(SoftmaxGradient(), d, weights); }

Value normalize_gradient(const Value& d, const Value& y, const Value& x) { return apply(NormalizeGradient(), d, y, x); }

}  // namespace attn
