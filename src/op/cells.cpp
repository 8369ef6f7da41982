#include <fmt/format.h>

#include "math/rows.hpp"
#include "op/operations.hpp"
#include "op/row_by_row.hpp"
#include "op/sentences.hpp"
#include "support/error.hpp"

// Operations on cells: of two matrices, of a matrix and a number, and functions of one number.

namespace attn {
namespace {

// --- two matrices

struct CellByCell {
  std::string_view name;
  std::string_view sign;
  std::string_view latex_sign;
  Binding binding;
  void (*cells)(std::span<double> x, std::span<const double> y);  // x ← x ∘ y
  Expression (*expression)(Expression x, Expression y);
};

constexpr CellByCell addition = {
    "add",        "+",       "+",
    Binding::sum, attn::add, [](Expression x, Expression y) {
      return sum({std::move(x), std::move(y)}); }};

constexpr CellByCell subtraction = {
    "subtract", "−", "-", Binding::sum, attn::subtract, [](Expression x, Expression y) {
      return std::move(x) - std::move(y);
    }};

constexpr CellByCell multiplication = {
    "multiply",     "⊙",
    "\\odot",       Binding::product,
    attn::multiply, [](Expression x, Expression y) {
      return product({std::move(x), std::move(y)}); }};

// The second matrix has the shape of the first, or is one row or one column for all of it; without a batch,
// it is the same for every sentence of one.
class CellByCellOperation final : public InPlace {
 public:
  CellByCellOperation(const CellByCell& kind, Sentences sentences) : kind_(kind), sentences_(sentences) {}

  std::string_view name() const override { return kind_.name; }

  Frame frame(Operands operands) const override {
    const Shape whole = operands[0]->frame.shape, part = operands[1]->frame.shape;
    const bool rows_fit = part.rows == whole.rows || part.rows == 1 || part.rows == sentences_.rows;
    const bool columns_fit = part.columns == whole.columns || part.columns == 1;
    if (!rows_fit || !columns_fit) {
      fail(
          "{} is {} but {} is {}: it must have the same shape, or be one row of {} or one column of {} "
          "numbers",
          operands[0]->title(), to_string(whole), operands[1]->title(), to_string(part), whole.columns,
          whole.rows);
    }
    return operands[0]->frame;
  }

  Formula formula(std::span<const Formula> operands) const override {
    // What is computed first stands on the left; on the right it would need parentheses: a − (b − c).
    const auto firmer = static_cast<Binding>(static_cast<int>(kind_.binding) + 1);
    const Formula left = within(kind_.binding, operands[0]), right = within(firmer, operands[1]);
    return {fmt::format("{} {} {}", left.plain, kind_.sign, right.plain),
            fmt::format("{} {} {}", left.latex, kind_.latex_sign, right.latex), kind_.binding};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const auto beside = [](std::size_t place, std::size_t size) { return size == 1 ? 0 : place % size; };
    const Shape part = operands[1]->frame.shape;
    return {kind_.expression(cell(*operands[0], row, column),
                             cell(*operands[1], beside(row, part.rows), beside(column, part.columns)))};
  }

  RowRange needed(std::size_t operand, RowRange made, std::span<const Shape> operands) const override {
    if (operand == 1 && is_repeated(operands[1])) return {0, sentences_.rows};
    return InPlace::needed(operand, made, operands);
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows> others) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const std::span<double> x = rows.row(i);
      const std::span<const double> y =
          others[0].beside(is_repeated(others[0].shape) ? sentences_.place(i) : i);
      if (y.size() == x.size()) {
        kind_.cells(x, y);
      } else {
        for (double& cell : x) kind_.cells({&cell, 1}, y);
      }
    }
  }

  bool is_repeated(Shape part) const { return sentences_.count > 1 && part.rows == sentences_.rows; }

  const CellByCell& kind_;
  Sentences sentences_;
};

// --- a matrix and a number

struct ByNumber {
  std::string_view name;
  void (*cells)(std::span<double> x, double number);  // x ← x ∘ number
  Formula (*formula)(const Formula& x, const Formula& number);
  Expression (*expression)(Expression x, Expression number);
};

constexpr ByNumber division = {
    "divide", attn::divide,
    [](const Formula& x, const Formula& divisor) -> Formula {
      return {within(Binding::product, x).plain + " / " + divisor.plain,
              "\\frac{" + x.latex + "}{" + divisor.latex + "}", Binding::product};
    },
    [](Expression x, Expression divisor) { return std::move(x) / std::move(divisor); }};

constexpr ByNumber scaling = {
    "times",
    [](std::span<double> x, double factor) {
      for (double& cell : x) cell *= factor;
    },
    [](const Formula& x, const Formula& factor) -> Formula {
      const Formula left = within(Binding::product, x);
      return {left.plain + " ⋅ " + factor.plain, left.latex + " \\cdot " + factor.latex, Binding::product};
    },
    [](Expression x, Expression factor) {
      return product({std::move(x), std::move(factor)});
    }};

class ByNumberOperation final : public InPlace {
 public:
  ByNumberOperation(const ByNumber& kind, Scalar number) : kind_(kind), number_(std::move(number)) {}

  std::string_view name() const override { return kind_.name; }

  Formula formula(std::span<const Formula> operands) const override {
    return kind_.formula(operands[0], number_.notation);
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {kind_.expression(cell(*operands[0], row, column), attn::number(number_.value, number_.notation))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

  std::vector<Attribute> attributes() const override {
    return {{"number", number_.value}, {"notation", number_.notation.plain}};
  }

  const Scalar& number() const { return number_; }
  bool divides() const { return &kind_ == &division; }

 private:
  void change(RowsToMake rows, std::span<const Rows>) const override {
    kind_.cells(rows.all(), number_.value);
  }

  const ByNumber& kind_;
  Scalar number_;
};

// --- functions of one number

class CellFunction final : public InPlace {
 public:
  CellFunction(std::string_view name, const Function& function) : name_(name), function_(function) {}

  std::string_view name() const override { return name_; }

  Formula formula(std::span<const Formula> operands) const override {
    return {fmt::format("{}({})", function_.name, operands[0].plain),
            fmt::format("{}\\left({}\\right)", function_.latex, operands[0].latex)};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {worked_out(function_, cell(*operands[0], row, column))};
  }

  const Function& function() const { return function_; }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows>) const override { function_.evaluate_all(rows.all()); }

  std::string_view name_;
  const Function& function_;
};

Value cell_by_cell(const CellByCell& kind, const Value& x, const Value& y) {
  const bool has_its_own = y.node().frame.rows.batch > 1 || y.shape().rows == x.shape().rows;
  const Sentences all{1, x.shape().rows, x.shape().rows};
  return apply(CellByCellOperation(kind, has_its_own ? all : sentences_of(x)), x, y);
}

}  // namespace

Value add(const Value& x, const Value& y) {
  return cell_by_cell(addition, x, y);
}
Value subtract(const Value& x, const Value& y) {
  return cell_by_cell(subtraction, x, y);
}
Value multiply(const Value& x, const Value& y) {
  return cell_by_cell(multiplication, x, y);
}

Value divide(const Value& x, const Scalar& divisor) {
  return apply(ByNumberOperation(division, divisor), x);
}
Value times(const Value& x, const Scalar& factor) {
  return apply(ByNumberOperation(scaling, factor), x);
}

const Scalar* number_of(const Operation& operation) {
  const auto* by = dynamic_cast<const ByNumberOperation*>(&operation);
  return by ? &by->number() : nullptr;
}

bool is_division(const Operation& operation) {
  const auto* by = dynamic_cast<const ByNumberOperation*>(&operation);
  return by && by->divides();
}

Value tanh(const Value& x) {
  return apply(CellFunction("tanh", hyperbolic_tangent), x);
}
Value sigmoid(const Value& x) {
  return apply(CellFunction("sigmoid", logistic), x);
}
Value relu(const Value& x) {
  return apply(CellFunction("relu", rectifier), x);
}
Value gelu(const Value& x) {
  return apply(CellFunction("gelu", gelu_function), x);
}
Value gelu_by_tanh(const Value& x) {
  return apply(CellFunction("gelu_tanh", gelu_by_tanh_function), x);
}
Value silu(const Value& x) {
  return apply(CellFunction("silu", silu_function), x);
}

const Function* function_of(const Operation& operation) {
  const auto* by_cell = dynamic_cast<const CellFunction*>(&operation);
  return by_cell ? &by_cell->function() : nullptr;
}

}  // namespace attn
