#include <fmt/format.h>

#include <algorithm>

#include "graph/op/ids.hpp"
#include "graph/op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

class Embed final : public Operation {
 public:
  std::string_view name() const override { return "embed"; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Frame &ids = operands[0]->frame, &table = operands[1]->frame;
    if (ids.shape.columns != 1) {
      fail("{} is {}: ids are one column, with one number for each word", operands[0]->title(),
           to_string(ids.shape));
    }
    return {{ids.shape.rows, table.shape.columns}, ids.rows, table.columns};
  }

  Matrix compute(std::span<Value> operands) const override {
    require_ids(operands[0], operands[1].node());
    const Matrix &ids = operands[0].matrix(), &table = operands[1].matrix();
    Matrix result({ids.shape().rows, table.shape().columns});
    for (std::size_t i = 0; i < ids.shape().rows; ++i) {
      std::ranges::copy(row(table, place_of_id(ids, i)), row(result, i).begin());
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula ids = within(Binding::whole, operands[0]), table = within(Binding::whole, operands[1]);
    return {fmt::format("rows {} of {}", ids.plain, table.plain),
            fmt::format("{{{}}}_{{{},\\,\\cdot}}", table.latex, ids.latex), Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t place = place_of_id(operands[0]->matrix(), row);
    return {cell(*operands[1], place, column),
            fmt::format("the id of {} is {}: its vector is row {} of {}", operands[0]->frame.rows.label(row),
                        place + 1, place + 1, operands[1]->title())};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].rows * operands[1].columns};
  }
};

}  // namespace

Value embed(Value ids, Value table) {
  return apply(Embed(), std::move(ids), std::move(table));
}

}  // namespace attn
