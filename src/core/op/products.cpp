#include <fmt/format.h>

#include <algorithm>

#include "core/math/product.hpp"
#include "core/math/rows.hpp"
#include "core/op/operations.hpp"
#include "core/op/ways.hpp"
#include "core/support/error.hpp"

namespace attn {

// --- products
// Matrix products: every row of the result needs one row of the first matrix and all of the second.

namespace {

// Of a batch, every sentence of the first matrix meets its own of the second.
class Matmul final : public RowByMatrix {
 public:
  explicit Matmul(Sentences sentences) : sentences_(sentences) {}

  const Op& op() const override { return op::matmul; }

  Frame frame(Operands operands) const override {
    const Frame &a = operands[0]->frame, &b = operands[1]->frame;
    if (a.shape.columns != sentences_.other) {
      fail("{} is {} but {} is {}: the first must have as many columns as the second has rows", operands[0]->title(),
           to_string(a.shape), operands[1]->title(), to_string(b.shape));
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
    return {matmul_transposed(d, b), sentences_.count == 1 ? transposed_matmul(a, d) : matmul(transpose(a), d)};
  }

 private:
  Sentences sentences_;
};

class MatmulTransposed final : public RowByMatrix {
 public:
  explicit MatmulTransposed(Sentences sentences) : sentences_(sentences) {}

  const Op& op() const override { return op::matmul_transposed; }

  Frame frame(Operands operands) const override {
    const Frame &a = operands[0]->frame, &b = operands[1]->frame;
    if (a.shape.columns != b.shape.columns) {
      fail("{} is {} but {} is {}: both must have the same number of columns", operands[0]->title(), to_string(a.shape),
           operands[1]->title(), to_string(b.shape));
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
  const Op& op() const override { return op::transposed_matmul; }

  Frame frame(Operands operands) const override {
    const Frame &a = operands[0]->frame, &b = operands[1]->frame;
    if (a.shape.rows != b.shape.rows) {
      fail("{} is {} but {} is {}: both must have the same number of rows", operands[0]->title(), to_string(a.shape),
           operands[1]->title(), to_string(b.shape));
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

Value matmul(const Value& a, const Value& b) {
  const Sentences sentences = sentences_of(a, b);
  const bool meets_all = a.shape().columns == b.shape().rows;
  return apply(Matmul(meets_all ? Sentences{1, a.shape().rows, b.shape().rows} : sentences), a, b);
}

Value matmul_transposed(const Value& a, const Value& b) { return apply(MatmulTransposed(sentences_of(a, b)), a, b); }

Value transposed_matmul(const Value& a, const Value& b) { return apply(TransposedMatmul(), a, b); }

// --- sums
// Rows and columns added up, and the same ones repeated.

namespace {

class RowSums final : public RowByRow {
 public:
  const Op& op() const override { return op::row_sums; }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    return {{x.shape.rows, 1}, x.rows, axis("sum")};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    for (std::size_t i = result.first; i < result.end(); ++i) {
      result.row(i)[0] = sum_of_cells(operands[0].row(i));
    }
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::whole, operands[0]);
    return {"row sums of " + x.plain, "\\sum_{j} {" + x.latex + "}_{ij}", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t) const override {
    std::vector<Expression> terms;
    for (std::size_t j = 0; j < operands[0]->frame.shape.columns; ++j) {
      terms.push_back(cell(*operands[0], row, j));
    }
    return {sum(std::move(terms))};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    const Frame& x = operands[0].node().frame;
    return {repeat_columns(d, x.shape.columns, x.columns)};
  }
};

class RepeatColumns final : public RowByRow {
 public:
  RepeatColumns(std::size_t count, Axis columns) : count_(count), columns_(std::move(columns)) {}

  const Op& op() const override { return op::repeat_columns; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    if (x.shape.columns != 1) {
      fail("{} is {}: only one column can be repeated", operands[0]->title(), to_string(x.shape));
    }
    return {{x.shape.rows, count_}, x.rows, columns_};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    for (std::size_t i = result.first; i < result.end(); ++i) {
      std::ranges::fill(result.row(i), operands[0](i, 0));
    }
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::whole, operands[0]);
    return {x.plain + fmt::format(" in each of {} columns", count_), "{" + x.latex + "}_{i}", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t) const override {
    return {cell(*operands[0], row, 0)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].rows * count_};
  }

  Gradients gradients(const Value&, const Value& d, std::span<const Value>) const override { return {row_sums(d)}; }

 private:
  std::size_t count_;
  Axis columns_;
};

std::vector<Attribute> attributes_of(RowGroups groups) {
  return {{"parts", static_cast<double>(groups.parts)}, {"apart", static_cast<double>(groups.apart)}};
}

// The part that row i belongs to and its place there, where all of them have as many rows; and the row that
// stands for it in a matrix of one row for each group.
std::size_t row_of_group(std::size_t i, RowGroups groups, std::size_t all_rows) {
  const std::size_t rows_of_part = all_rows / groups.parts;
  return i / rows_of_part * groups.apart + i % groups.apart;
}

class SumRows final : public Operation {
 public:
  SumRows(RowGroups groups, Axis rows) : groups_(groups), rows_(std::move(rows)) {}

  const Op& op() const override { return op::sum_rows; }
  std::vector<Attribute> attributes() const override { return attributes_of(groups_); }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    const std::size_t groups = groups_.parts * groups_.apart;
    if (groups == 0 || x.shape.rows % groups != 0) {
      fail("{} has {} rows, which is not divisible by {}", operands[0]->title(), x.shape.rows, groups);
    }
    return {{groups, x.shape.columns}, rows_, x.columns};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    const Rows& x = operands[0];
    for (std::size_t r = result.first; r < result.end(); ++r) {
      const std::span<double> sums = result.row(r);
      const std::size_t first = first_of(r, x.shape.rows), end = end_of(r, x.shape.rows);
      if (groups_.apart == 1) {
        sum_columns({x.row(first).data(), first, {end - first, x.shape.columns}}, sums);
        continue;
      }
      std::ranges::fill(sums, 0.0);
      for (std::size_t i = first; i < end; i += groups_.apart) {
        attn::add(sums, x.row(i));
      }
    }
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::whole, operands[0]);
    const auto of = [&](const std::string& index) { return "\\sum_{k} {" + x.latex + "}_{" + index + "}"; };
    if (groups_.apart == 1 && groups_.parts == 1) {
      return {"column sums of " + x.plain, of("kj"), Binding::words};
    }
    if (groups_.apart == 1) {
      return {"rows of " + x.plain + ", added up neighbor by neighbor to " + fmt::format("{}", groups_.parts),
              of("i, k"), Binding::words};
    }
    return {"rows of " + x.plain + fmt::format(", added up where they lie {} apart", groups_.apart),
            of(fmt::format("i + {} k", groups_.apart)), Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    std::vector<Expression> terms;
    const std::size_t all = operands[0]->frame.shape.rows;
    for (std::size_t i = first_of(row, all); i < end_of(row, all); i += groups_.apart) {
      terms.push_back(cell(*operands[0], i, column));
    }
    return {sum(std::move(terms))};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  Gradients gradients(const Value& result, const Value& d, std::span<const Value> operands) const override {
    const Frame& x = operands[0].node().frame;
    return {repeat_rows(d, groups_, x.shape.rows / result.shape().rows, x.rows)};
  }

 private:
  // The first row of the group that row r of the result stands for, and the end of its part.
  std::size_t first_of(std::size_t r, std::size_t all_rows) const {
    return r / groups_.apart * (all_rows / groups_.parts) + r % groups_.apart;
  }
  std::size_t end_of(std::size_t r, std::size_t all_rows) const {
    return (r / groups_.apart + 1) * (all_rows / groups_.parts);
  }

  RowGroups groups_;
  Axis rows_;
};

class RepeatRows final : public Operation {
 public:
  RepeatRows(RowGroups groups, std::size_t times, Axis rows) : groups_(groups), times_(times), rows_(std::move(rows)) {}

  const Op& op() const override { return op::repeat_rows; }
  bool moves() const override { return true; }
  std::vector<Attribute> attributes() const override { return attributes_of(groups_); }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    if (x.shape.rows != groups_.parts * groups_.apart) {
      fail("{} has {} rows: {} groups of rows need one each", operands[0]->title(), x.shape.rows,
           groups_.parts * groups_.apart);
    }
    return {{x.shape.rows * times_, x.shape.columns}, rows_, x.columns};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    const std::size_t all = operands[0].shape.rows * times_;
    for (std::size_t i = result.first; i < result.end(); ++i) {
      std::ranges::copy(operands[0].row(row_of_group(i, groups_, all)), result.row(i).begin());
    }
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::whole, operands[0]);
    return {"rows of " + x.plain + fmt::format(", each {} times", times_), "{" + x.latex + "}_{j}", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t all = operands[0]->frame.shape.rows * times_;
    return {cell(*operands[0], row_of_group(row, groups_, all), column)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells() * times_};
  }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {sum_rows(d, groups_, operands[0].node().frame.rows)};
  }

 private:
  RowGroups groups_;
  std::size_t times_;
  Axis rows_;
};

}  // namespace

Value row_sums(const Value& x) { return apply(RowSums(), x); }
Value sum_rows(const Value& x, RowGroups groups, Axis rows) { return apply(SumRows(groups, std::move(rows)), x); }
Value repeat_rows(const Value& x, RowGroups groups, std::size_t k, Axis rows) {
  return apply(RepeatRows(groups, k, std::move(rows)), x);
}
Value repeat_columns(const Value& x, std::size_t n, Axis columns) {
  return apply(RepeatColumns(n, std::move(columns)), x);
}

Scalar minus_one() { return {-1.0, {"(−1)", "\\left(-1\\right)"}}; }

Value summed_like(const Value& d, const Value& operand) {
  const Shape whole = d.shape(), part = operand.shape();
  const Value columns = part.columns == whole.columns ? d : row_sums(d);
  if (part.rows == whole.rows) return columns;
  return sum_rows(columns, {.parts = 1, .apart = part.rows}, operand.node().frame.rows);
}

void no_second_gradient(const Operation& operation) {
  fail("{} has no gradient of its own: a gradient of gradients cannot go through it", operation.name());
}

}  // namespace attn
