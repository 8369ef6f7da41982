#include "math/product.hpp"

#include "op/operations.hpp"
#include "op/row_by_row.hpp"
#include "support/error.hpp"

// Matrix products: every row of the result needs one row of the first matrix and all of the second.

namespace attn {
namespace {

class Matmul final : public RowByMatrix {
 public:
  std::string_view name() const override { return "matmul"; }

  Frame frame(Operands operands) const override {
    const Frame &a = operands[0]->frame, &b = operands[1]->frame;
    if (a.shape.columns != b.shape.rows) {
      fail("{} is {} but {} is {}: the first must have as many columns as the second has rows",
           operands[0]->title(), to_string(a.shape), operands[1]->title(), to_string(b.shape));
    }
    return {{a.shape.rows, b.shape.columns}, a.rows, b.columns};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    product(operands[0], operands[1], result);
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula a = within(Binding::product, operands[0]), b = within(Binding::whole, operands[1]);
    return {a.plain + " ⋅ " + b.plain, a.latex + " \\, " + b.latex, Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    std::vector<Expression> terms;
    for (std::size_t k = 0; k < operands[1]->frame.shape.rows; ++k) {
      terms.push_back(attn::product({cell(*operands[0], row, k), cell(*operands[1], k, column)}));
    }
    return {sum(std::move(terms))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.multiply_adds = operands[0].rows * operands[0].columns * operands[1].columns};
  }
};

class MatmulTransposed final : public RowByMatrix {
 public:
  std::string_view name() const override { return "matmul_transposed"; }

  Frame frame(Operands operands) const override {
    const Frame &a = operands[0]->frame, &b = operands[1]->frame;
    if (a.shape.columns != b.shape.columns) {
      fail("{} is {} but {} is {}: both must have the same number of columns", operands[0]->title(),
           to_string(a.shape), operands[1]->title(), to_string(b.shape));
    }
    return {{a.shape.rows, b.shape.rows}, a.rows, b.rows};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    product_transposed(operands[0], operands[1], result);
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula a = within(Binding::product, operands[0]), b = within(Binding::whole, operands[1]);
    return {a.plain + " ⋅ " + b.plain + "ᵀ", a.latex + " \\, {" + b.latex + "}^{\\top}", Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    std::vector<Expression> terms;
    for (std::size_t k = 0; k < operands[0]->frame.shape.columns; ++k) {
      terms.push_back(attn::product({cell(*operands[0], row, k), cell(*operands[1], column, k)}));
    }
    return {sum(std::move(terms))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.multiply_adds = operands[0].rows * operands[0].columns * operands[1].rows};
  }
};

}  // namespace

bool is_matmul(const Operation& operation) {
  return dynamic_cast<const Matmul*>(&operation) != nullptr;
}

bool is_matmul_transposed(const Operation& operation) {
  return dynamic_cast<const MatmulTransposed*>(&operation) != nullptr;
}

Value matmul(const Value& a, const Value& b) {
  return apply(Matmul(), a, b);
}

Value matmul_transposed(const Value& a, const Value& b) {
  return apply(MatmulTransposed(), a, b);
}

}  // namespace attn
