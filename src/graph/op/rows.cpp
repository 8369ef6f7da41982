#include <fmt/format.h>

#include <algorithm>

#include "graph/op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

class Rows final : public Operation {
 public:
  Rows(std::size_t first, std::size_t count) : first_(first), count_(count) {}

  std::string_view name() const override { return "rows"; }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    if (first_ + count_ > x.shape.rows) {
      fail("{} has {} rows: rows {} to {} are not among them", operands[0]->title(), x.shape.rows, first_ + 1,
           first_ + count_);
    }
    return {{count_, x.shape.columns}, part(x.rows, first_, count_), x.columns};
  }

  Matrix compute(std::span<Value> operands) const override {
    const Matrix& x = operands[0].matrix();
    Matrix result = make_matrix({count_, x.shape()[1]});
    const std::size_t size = x.shape()[1];
    std::ranges::copy(cells(x).subspan(first_ * size, count_ * size), cells(result).begin());
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const std::string which = count_ == 1 ? fmt::format("row {}", first_ + 1)
                                          : fmt::format("rows {}…{}", first_ + 1, first_ + count_);
    const std::string subscript =
        count_ == 1 ? fmt::format("{}", first_ + 1) : fmt::format("{}:{}", first_ + 1, first_ + count_);
    const Formula whole = within(Binding::whole, operands[0]);
    return {which + " of " + whole.plain, fmt::format("{{{}}}_{{{},\\,\\cdot}}", whole.latex, subscript),
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {cell(*operands[0], first_ + row, column)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = count_ * operands[0].columns};
  }

 private:
  std::size_t first_;
  std::size_t count_;
};

}  // namespace

Value rows(Value x, std::size_t first, std::size_t count) {
  return apply(Rows(first, count), std::move(x));
}

}  // namespace attn
