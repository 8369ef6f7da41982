#include <fmt/format.h>

#include "graph/op/ids.hpp"
#include "graph/op/operations.hpp"

namespace attn {
namespace {

class OneHot final : public Operation {
 public:
  explicit OneHot(const Node& table) : table_(table) {}

  std::string_view name() const override { return "one_hot"; }

  Frame frame(Operands operands) const override {
    const Frame& ids = operands[0]->frame;
    return {{ids.shape.rows, table_.frame.shape.rows}, ids.rows, table_.frame.rows};
  }

  Matrix compute(std::span<Value> operands) const override {
    require_ids(operands[0], table_);
    const Matrix& ids = operands[0].matrix();
    Matrix result({ids.shape().rows, table_.frame.shape.rows}, 0.0);
    for (std::size_t i = 0; i < ids.shape().rows; ++i) result(i, place_of_id(ids, i)) = 1.0;
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {"one_hot(" + operands[0].plain + ")",
            "\\operatorname{onehot}\\left(" + operands[0].latex + "\\right)"};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t place = place_of_id(operands[0]->matrix(), row);
    return {number(place == column ? 1.0 : 0.0),
            fmt::format("the id of {} is {}: only column {} of its row is 1",
                        operands[0]->frame.rows.label(row), place + 1, place + 1)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].rows * table_.frame.shape.rows};
  }

 private:
  const Node& table_;  // lives in the same graph
};

}  // namespace

Value one_hot(Value ids, const Value& table) {
  return apply(OneHot(table.node()), std::move(ids));
}

}  // namespace attn
