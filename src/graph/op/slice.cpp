#include "graph/op/slice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"

namespace attn {
namespace {

class SliceOperation final : public Operation {
 public:
  SliceOperation(const Slice& kind, Range range) : kind_(kind), range_(range) {}

  std::string_view name() const override { return kind_.name; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    Frame result = operands[0]->frame;
    std::size_t& size = size_along(kind_.along, result.shape);
    if (range_.first + range_.count > size) {
      fail("{0} has {1} {2}: {2} {3} to {4} are not among them", operands[0]->title(), size, kind_.name,
           range_.first + 1, range_.first + range_.count);
    }
    size = range_.count;
    Axis& labels = kind_.along == Along::rows ? result.rows : result.columns;
    labels = part(labels, range_.first, range_.count);
    return result;
  }

  Matrix compute(std::span<Value> operands) const override {
    const Matrix& x = operands[0].matrix();
    const Shape from = first();
    Matrix result = Matrix(shape_within(x.shape()));
    for (std::size_t i = 0; i < result.shape().rows; ++i) {
      const std::span<double> cells = row(result, i);
      std::ranges::copy(row(x, from.rows + i).subspan(from.columns, cells.size()), cells.begin());
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const std::size_t first = range_.first + 1, last = range_.first + range_.count;
    const bool one = range_.count == 1;
    const Formula whole = within(Binding::whole, operands[0]);
    const std::string which =
        one ? fmt::format("{} {}", kind_.one, first) : fmt::format("{} {}…{}", kind_.name, first, last);
    return {which + " of " + whole.plain,
            kind_.latex(whole.latex, one ? fmt::format("{}", first) : fmt::format("{}:{}", first, last)),
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Shape from = first();
    return {cell(*operands[0], from.rows + row, from.columns + column)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = shape_within(operands[0]).cells()};
  }

 private:
  // Where the range begins.
  Shape first() const {
    Shape place;
    size_along(kind_.along, place) = range_.first;
    return place;
  }
  Shape shape_within(Shape whole) const {
    size_along(kind_.along, whole) = range_.count;
    return whole;
  }

  const Slice& kind_;
  Range range_;
};

}  // namespace

Value slice(const Slice& kind, Value x, Range range) {
  return apply(SliceOperation(kind, range), std::move(x));
}

}  // namespace attn
