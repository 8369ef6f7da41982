#include <fmt/format.h>

#include "core/math/rows.hpp"
#include "core/op/operations.hpp"
#include "core/op/ways.hpp"
#include "core/support/error.hpp"

// Operations on cells: of two matrices, of a matrix and a number, and functions of one number.

namespace attn {
namespace {

// --- two matrices

struct CellByCell {
  const Op& op;
  std::string_view sign;
  std::string_view latex_sign;
  Binding binding;
  void (*cells)(std::span<double> x, std::span<const double> y);  // x ← x ∘ y
  Expression (*expression)(Expression x, Expression y);
  Gradients (*gradients)(const Value& d, const Value& x, const Value& y);
};

constexpr CellByCell addition = {op::add,
                                 "+",
                                 "+",
                                 Binding::sum,
                                 attn::add,
                                 [](Expression x, Expression y) {
                                   return sum({std::move(x), std::move(y)});
                                 },
                                 [](const Value& d, const Value&, const Value& y) -> Gradients {
                                   return {d, summed_like(d, y)};
                                 }};

constexpr CellByCell subtraction = {op::subtract,
                                    "−",
                                    "-",
                                    Binding::sum,
                                    attn::subtract,
                                    [](Expression x, Expression y) { return std::move(x) - std::move(y); },
                                    [](const Value& d, const Value&, const Value& y) -> Gradients {
                                      return {d, times(summed_like(d, y), minus_one())};
                                    }};

constexpr CellByCell multiplication = {op::multiply,
                                       "⊙",
                                       "\\odot",
                                       Binding::product,
                                       attn::multiply,
                                       [](Expression x, Expression y) {
                                         return product({std::move(x), std::move(y)});
                                       },
                                       [](const Value& d, const Value& x, const Value& y) -> Gradients {
                                         return {multiply(d, y), summed_like(multiply(d, x), y)};
                                       }};

// The second matrix has the shape of the first, or is one row or one column for all of it; without a batch,
// it is the same for every sentence of one.
class CellByCellOperation final : public InPlace {
 public:
  CellByCellOperation(const CellByCell& kind, Sentences sentences) : kind_(kind), sentences_(sentences) {}

  const Op& op() const override { return kind_.op; }

  Frame frame(Operands operands) const override {
    const Shape whole = operands[0]->frame.shape, part = operands[1]->frame.shape;
    const bool rows_fit = part.rows == whole.rows || part.rows == 1 || part.rows == sentences_.rows;
    const bool columns_fit = part.columns == whole.columns || part.columns == 1;
    if (!rows_fit || !columns_fit) {
      fail("{} is {} but {} is {}: it must have the same shape, or be one row of {} or one column of {} numbers",
           operands[0]->title(), to_string(whole), operands[1]->title(), to_string(part), whole.columns, whole.rows);
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

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return kind_.gradients(d, operands[0], operands[1]);
  }

  const CellByCell& kind() const { return kind_; }

 private:
  void change(RowsToMake rows, std::span<const Rows> others) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const std::span<double> x = rows.row(i);
      const std::span<const double> y = others[0].beside(is_repeated(others[0].shape) ? sentences_.place(i) : i);
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
  const Op& op;
  void (*cells)(std::span<double> x, double number);  // x ← x ∘ number
  Formula (*formula)(const Formula& x, const Formula& number);
  Expression (*expression)(Expression x, Expression number);
};

constexpr ByNumber division = {op::divide, attn::divide,
                               [](const Formula& x, const Formula& divisor) -> Formula {
                                 return {within(Binding::product, x).plain + " / " + divisor.plain,
                                         "\\frac{" + x.latex + "}{" + divisor.latex + "}", Binding::product};
                               },
                               [](Expression x, Expression divisor) { return std::move(x) / std::move(divisor); }};

constexpr ByNumber scaling = {
    op::times, attn::multiply,
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

  const Op& op() const override { return kind_.op; }

  Formula formula(std::span<const Formula> operands) const override {
    return kind_.formula(operands[0], number_.notation);
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {kind_.expression(cell(*operands[0], row, column), attn::number(number_.value, number_.notation))};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  std::vector<Attribute> attributes() const override {
    return {{"number", number_.value}, {"notation", number_.notation.plain}};
  }

  // What multiplies x multiplies its gradient.
  Gradients gradients(const Value&, const Value& d, std::span<const Value>) const override {
    return {apply(ByNumberOperation(kind_, number_), d)};
  }

  const Scalar& number() const { return number_; }
  bool divides() const { return &kind_ == &division; }

 private:
  void change(RowsToMake rows, std::span<const Rows>) const override { kind_.cells(rows.all(), number_.value); }

  const ByNumber& kind_;
  Scalar number_;
};

// --- functions of one number

// What multiplies a gradient by the derivative of a function, and what flows back to that of which the
// derivative was made: d is the gradient, u the gradient of their product.
struct FunctionGradient {
  const Op& op;
  const Function& function;
  std::optional<Value> (*again)(const Value& u, const Value& d, const Value& z);  // null: not known
};

constexpr FunctionGradient of_tanh = {
    op::tanh_gradient, hyperbolic_tangent, [](const Value& u, const Value& d, const Value& y) -> std::optional<Value> {
      return times(multiply(multiply(u, d), y), {-2.0, {"(−2)", "\\left(-2\\right)"}});
    }};
constexpr FunctionGradient of_sigmoid = {op::sigmoid_gradient, logistic,
                                         [](const Value& u, const Value& d, const Value& y) -> std::optional<Value> {
                                           const Value both = multiply(u, d);  // times 1 − 2y
                                           return subtract(both, times(multiply(both, y), {2.0, {"2", "2"}}));
                                         }};
constexpr FunctionGradient of_relu = {
    op::relu_gradient, rectifier,
    [](const Value&, const Value&, const Value&) -> std::optional<Value> { return std::nullopt; }};
constexpr FunctionGradient of_gelu = {op::gelu_gradient, gelu_function, nullptr};
constexpr FunctionGradient of_gelu_by_tanh = {op::gelu_tanh_gradient, gelu_by_tanh_function, nullptr};
constexpr FunctionGradient of_silu = {op::silu_gradient, silu_function, nullptr};

// Operands: d, and the result or the argument of the function.
class FunctionGradientOperation final : public InPlace {
 public:
  explicit FunctionGradientOperation(const FunctionGradient& kind) : kind_(kind) {}

  const Op& op() const override { return kind_.op; }

  const Function& function() const { return kind_.function; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula d = within(Binding::product, operands[0]),
                  slope = within(Binding::product, derivative().formula(operands[1]));
    return {d.plain + " ⊙ " + slope.plain, d.latex + " \\odot " + slope.latex, Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Expression z = cell(*operands[1], row, column);
    const std::string name = fmt::format("{}[{},{}]", operands[1]->title(), row + 1, column + 1);
    return {product({cell(*operands[0], row, column), derivative().worked_out(z)}),
            derivative().reason ? derivative().reason(name, z.value) : ""};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  Gradients gradients(const Value&, const Value& u, std::span<const Value> operands) const override {
    if (!kind_.again) no_second_gradient(*this);
    return {apply(FunctionGradientOperation(kind_), u, operands[1]), kind_.again(u, operands[0], operands[1])};
  }

 private:
  const Derivative& derivative() const { return *kind_.function.derivative; }

  void change(RowsToMake rows, std::span<const Rows> others) const override {
    const std::size_t cells = rows.shape.cells();
    derivative().multiply(rows.all(), {others[0].row(rows.first).data(), cells});
  }

  const FunctionGradient& kind_;
};

class CellFunction final : public InPlace {
 public:
  CellFunction(const Op& op, const FunctionGradient& gradient) : op_(op), gradient_(gradient) {}

  const Op& op() const override { return op_; }

  Formula formula(std::span<const Formula> operands) const override {
    return {fmt::format("{}({})", function().name, operands[0].plain),
            fmt::format("{}\\left({}\\right)", function().latex, operands[0].latex)};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {worked_out(function(), cell(*operands[0], row, column))};
  }

  const Function& function() const { return gradient_.function; }
  Bounds bounds() const override { return function().bounds; }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  Gradients gradients(const Value& result, const Value& d, std::span<const Value> operands) const override {
    const Value& z = function().derivative->of_result ? result : operands[0];
    return {apply(FunctionGradientOperation(gradient_), d, z)};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows>) const override { function().evaluate_all(rows.all()); }

  const Op& op_;
  const FunctionGradient& gradient_;
};

// Its result is its own derivative.
class Exponential final : public InPlace {
 public:
  const Op& op() const override { return op::exp; }

  Formula formula(std::span<const Formula> operands) const override {
    return {fmt::format("exp({})", operands[0].plain), fmt::format("\\exp\\left({}\\right)", operands[0].latex)};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {call(exponential, cell(*operands[0], row, column))};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  Gradients gradients(const Value& result, const Value& d, std::span<const Value>) const override {
    return {multiply(d, result)};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows>) const override { exponential.evaluate_all(rows.all()); }
};

Value cell_by_cell(const CellByCell& kind, const Value& x, const Value& y) {
  const bool has_its_own = y.node().frame.rows.batch > 1 || y.shape().rows == x.shape().rows;
  const Sentences all{1, x.shape().rows, x.shape().rows};
  return apply(CellByCellOperation(kind, has_its_own ? all : sentences_of(x)), x, y);
}

}  // namespace

std::optional<Value> same_cell_by_cell(const Operation& operation, const std::vector<Value>& operands) {
  const auto* by_cell = dynamic_cast<const CellByCellOperation*>(&operation);
  return by_cell ? std::optional(cell_by_cell(by_cell->kind(), operands[0], operands[1])) : std::nullopt;
}

Value add(const Value& x, const Value& y) { return cell_by_cell(addition, x, y); }
bool is_addition(const Operation& operation) {
  const auto* by_cell = dynamic_cast<const CellByCellOperation*>(&operation);
  return by_cell && &by_cell->kind() == &addition;
}
Value subtract(const Value& x, const Value& y) { return cell_by_cell(subtraction, x, y); }
Value multiply(const Value& x, const Value& y) { return cell_by_cell(multiplication, x, y); }

Value divide(const Value& x, const Scalar& divisor) { return apply(ByNumberOperation(division, divisor), x); }
Value times(const Value& x, const Scalar& factor) { return apply(ByNumberOperation(scaling, factor), x); }

const Scalar* number_of(const Operation& operation) {
  const auto* by = dynamic_cast<const ByNumberOperation*>(&operation);
  return by ? &by->number() : nullptr;
}

bool is_division(const Operation& operation) {
  const auto* by = dynamic_cast<const ByNumberOperation*>(&operation);
  return by && by->divides();
}

Value tanh(const Value& x) { return apply(CellFunction(op::tanh, of_tanh), x); }
Value sigmoid(const Value& x) { return apply(CellFunction(op::sigmoid, of_sigmoid), x); }
Value relu(const Value& x) { return apply(CellFunction(op::relu, of_relu), x); }
Value gelu(const Value& x) { return apply(CellFunction(op::gelu, of_gelu), x); }
Value gelu_by_tanh(const Value& x) { return apply(CellFunction(op::gelu_tanh, of_gelu_by_tanh), x); }
Value silu(const Value& x) { return apply(CellFunction(op::silu, of_silu), x); }

Value exp(const Value& x) { return apply(Exponential(), x); }

Value tanh_gradient(const Value& d, const Value& result) {
  return apply(FunctionGradientOperation(of_tanh), d, result);
}
Value sigmoid_gradient(const Value& d, const Value& result) {
  return apply(FunctionGradientOperation(of_sigmoid), d, result);
}
Value relu_gradient(const Value& d, const Value& result) {
  return apply(FunctionGradientOperation(of_relu), d, result);
}
Value gelu_gradient(const Value& d, const Value& x) { return apply(FunctionGradientOperation(of_gelu), d, x); }
Value gelu_by_tanh_gradient(const Value& d, const Value& x) {
  return apply(FunctionGradientOperation(of_gelu_by_tanh), d, x);
}
Value silu_gradient(const Value& d, const Value& x) { return apply(FunctionGradientOperation(of_silu), d, x); }

const Function* differentiated_by(const Operation& operation) {
  const auto* by_cell = dynamic_cast<const FunctionGradientOperation*>(&operation);
  return by_cell ? &by_cell->function() : nullptr;
}

const Function* function_of(const Operation& operation) {
  const auto* by_cell = dynamic_cast<const CellFunction*>(&operation);
  return by_cell ? &by_cell->function() : nullptr;
}

}  // namespace attn
