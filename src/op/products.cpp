#include "math/product.hpp"

#include "op/known.hpp"
#include "op/operations.hpp"
#include "op/row_by_row.hpp"
#include "op/sentences.hpp"
#include "support/error.hpp"

// Matrix products: every row of the result needs one row of the first matrix and all of the second.

namespace attn {
namespace {

// Of a batch, every sentence of the first matrix meets its own of the second.
class Matmul final : public RowByMatrix {
 public:
  explicit Matmul(Sentences sentences) : sentences_(sentences) {}

  std::string_view name() const override { return "matmul"; }

  Frame frame(Operands operands) const override {
    const Frame &a = operands[0]->frame, &b = operands[1]->frame;
    if (a.shape.columns != sentences_.other) {
      fail("{} is {} but {} is {}: the first must have as many columns as the second has rows",
           operands[0]->title(), to_string(a.shape), operands[1]->title(), to_string(b.shape));
    }
    return {{a.shape.rows, b.shape.columns}, a.rows, b.columns};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    sentence_by_sentence(sentences_, operands[0], operands[1], result,
                         [](Rows a, Rows b, RowsToMake made) { product(a, b, made); });
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula a = within(Binding::product, operands[0]), b = within(Binding::whole, operands[1]);
    return {a.plain + " ⋅ " + b.plain, a.latex + " \\, " + b.latex, Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    std::vector<Expression> terms;
    const std::size_t first = sentences_.of(row) * sentences_.other;
    for (std::size_t k = 0; k < sentences_.other; ++k) {
      terms.push_back(attn::product({cell(*operands[0], row, k), cell(*operands[1], first + k, column)}));
    }
    return {sum(std::move(terms))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.multiply_adds = operands[0].rows * operands[0].columns * operands[1].columns};
  }

  // C = A B: ∂L/∂A = (∂L/∂C) Bᵀ and ∂L/∂B = Aᵀ (∂L/∂C).
  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    const Value &a = operands[0], &b = operands[1];
    return {matmul_transposed(d, b),
            sentences_.count == 1 ? transposed_matmul(a, d) : matmul(transpose(a), d)};
  }

 private:
  Sentences sentences_;
};

class MatmulTransposed final : public RowByMatrix {
 public:
  explicit MatmulTransposed(Sentences sentences) : sentences_(sentences) {}

  std::string_view name() const override { return "matmul_transposed"; }

  Frame frame(Operands operands) const override {
    const Frame &a = operands[0]->frame, &b = operands[1]->frame;
    if (a.shape.columns != b.shape.columns) {
      fail("{} is {} but {} is {}: both must have the same number of columns", operands[0]->title(),
           to_string(a.shape), operands[1]->title(), to_string(b.shape));
    }
    return {{a.shape.rows, sentences_.other}, a.rows, sentences_.count == 1 ? b.rows : rows_of_one(b.rows)};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    sentence_by_sentence(sentences_, operands[0], operands[1], result, product_transposed);
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula a = within(Binding::product, operands[0]), b = within(Binding::whole, operands[1]);
    return {a.plain + " ⋅ " + b.plain + "ᵀ", a.latex + " \\, {" + b.latex + "}^{\\top}", Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    std::vector<Expression> terms;
    const std::size_t beside = sentences_.of(row) * sentences_.other + column;
    for (std::size_t k = 0; k < operands[0]->frame.shape.columns; ++k) {
      terms.push_back(attn::product({cell(*operands[0], row, k), cell(*operands[1], beside, k)}));
    }
    return {sum(std::move(terms))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.multiply_adds = operands[0].rows * operands[0].columns * operands[1].rows / sentences_.count};
  }

  // C = A Bᵀ: ∂L/∂A = (∂L/∂C) B and ∂L/∂B = (∂L/∂C)ᵀ A.
  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    const Value &a = operands[0], &b = operands[1];
    return {matmul(d, b), sentences_.count == 1 ? transposed_matmul(d, a) : matmul(transpose(d), a)};
  }

 private:
  Sentences sentences_;
};

// Sums over all rows of both: of a batch, over all of its sentences.
class TransposedMatmul final : public Operation {
 public:
  std::string_view name() const override { return "transposed_matmul"; }

  Frame frame(Operands operands) const override {
    const Frame &a = operands[0]->frame, &b = operands[1]->frame;
    if (a.shape.rows != b.shape.rows) {
      fail("{} is {} but {} is {}: both must have the same number of rows", operands[0]->title(),
           to_string(a.shape), operands[1]->title(), to_string(b.shape));
    }
    return {{a.shape.columns, b.shape.columns}, a.columns, b.columns};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    product_of_transposed(operands[0], operands[1], result);
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula a = within(Binding::whole, operands[0]), b = within(Binding::product, operands[1]);
    return {a.plain + "ᵀ ⋅ " + b.plain, "{" + a.latex + "}^{\\top} \\, " + b.latex, Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    std::vector<Expression> terms;
    for (std::size_t k = 0; k < operands[0]->frame.shape.rows; ++k) {
      terms.push_back(attn::product({cell(*operands[0], k, row), cell(*operands[1], k, column)}));
    }
    return {sum(std::move(terms))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.multiply_adds = operands[0].rows * operands[0].columns * operands[1].columns};
  }

  // C = Aᵀ B: ∂L/∂A = B (∂L/∂C)ᵀ and ∂L/∂B = A (∂L/∂C).
  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {matmul_transposed(operands[1], d), matmul(operands[0], d)};
  }
};

}  // namespace

bool is_matmul(const Operation& operation) {
  return dynamic_cast<const Matmul*>(&operation) != nullptr;
}

bool is_matmul_transposed(const Operation& operation) {
  return dynamic_cast<const MatmulTransposed*>(&operation) != nullptr;
}

bool is_transposed_matmul(const Operation& operation) {
  return dynamic_cast<const TransposedMatmul*>(&operation) != nullptr;
}

Value matmul(const Value& a, const Value& b) {
  const Sentences sentences = sentences_of(a, b);
  const bool meets_all = a.shape().columns == b.shape().rows;
  return apply(Matmul(meets_all ? Sentences{1, a.shape().rows, b.shape().rows} : sentences), a, b);
}

Value matmul_transposed(const Value& a, const Value& b) {
  return apply(MatmulTransposed(sentences_of(a, b)), a, b);
}

Value transposed_matmul(const Value& a, const Value& b) {
  return apply(TransposedMatmul(), a, b);
}

}  // namespace attn
