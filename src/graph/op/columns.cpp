#include <fmt/format.h>

#include <algorithm>

#include "graph/op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

class Columns final : public Operation {
 public:
  Columns(std::size_t first, std::size_t count) : first_(first), count_(count) {}

  std::string_view name() const override { return "columns"; }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    if (first_ + count_ > x.shape.columns) {
      fail("{} has {} columns: columns {} to {} are not among them", operands[0]->title(), x.shape.columns,
           first_ + 1, first_ + count_);
    }
    return {{x.shape.rows, count_}, x.rows, part(x.columns, first_, count_)};
  }

  Matrix compute(std::span<Value> operands) const override {
    const Matrix& x = operands[0].matrix();
    Matrix result = make_matrix({x.shape()[0], count_});
    for (std::size_t i = 0; i < x.shape()[0]; ++i) {
      std::ranges::copy(row(x, i).subspan(first_, count_), row(result, i).begin());
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const std::string which = count_ == 1 ? fmt::format("column {}", first_ + 1)
                                          : fmt::format("columns {}…{}", first_ + 1, first_ + count_);
    const Formula whole = within(Binding::whole, operands[0]);
    return {which + " of " + whole.plain,
            fmt::format("{{{}}}_{{\\,\\cdot\\,,\\,{}:{}}}", whole.latex, first_ + 1, first_ + count_),
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {cell(*operands[0], row, first_ + column)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].rows * count_};
  }

 private:
  std::size_t first_;
  std::size_t count_;
};

}  // namespace

Value columns(Value x, std::size_t first, std::size_t count) {
  return apply(Columns(first, count), std::move(x));
}

}  // namespace attn
