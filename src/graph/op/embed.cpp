#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

// The row that an id stands for, counted from zero.
std::size_t place_of(const Node& ids, std::size_t row) {
  return static_cast<std::size_t>(ids.matrix()(row, 0)) - 1;
}

void require_ids(const Node& ids, const Matrix& numbers, const Node& table) {
  for (std::size_t i = 0; i < numbers.shape()[0]; ++i) {
    const double id = numbers(i, 0);
    const bool is_place =
        id >= 1.0 && id <= static_cast<double>(table.frame.shape.rows) && id == std::floor(id);
    if (is_place) continue;
    fail("{}[{},1] is {}: {} has rows 1 to {}", ids.title(), i + 1, id, table.title(),
         table.frame.shape.rows);
  }
}

class Embed final : public Operation {
 public:
  std::string_view name() const override { return "embed"; }

  Frame frame(Operands operands) const override {
    const Frame &ids = operands[0]->frame, &table = operands[1]->frame;
    if (ids.shape.columns != 1) {
      fail("{} is {}: ids are one column, with one number for each word", operands[0]->title(),
           to_string(ids.shape));
    }
    return {{ids.shape.rows, table.shape.columns}, ids.rows, table.columns};
  }

  Matrix compute(std::span<Value> operands) const override {
    const Matrix &ids = operands[0].matrix(), &table = operands[1].matrix();
    require_ids(operands[0].node(), ids, operands[1].node());
    Matrix result = make_matrix({ids.shape()[0], table.shape()[1]});
    for (std::size_t i = 0; i < ids.shape()[0]; ++i) {
      std::ranges::copy(row(table, static_cast<std::size_t>(ids(i, 0)) - 1), row(result, i).begin());
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula ids = within(Binding::whole, operands[0]), table = within(Binding::whole, operands[1]);
    return {fmt::format("rows {} of {}", ids.plain, table.plain),
            fmt::format("{{{}}}_{{{},\\,\\cdot}}", table.latex, ids.latex), Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t place = place_of(*operands[0], row);
    return {cell(*operands[1], place, column),
            fmt::format("the id of {} is {}: its vector is row {} of {}", operands[0]->frame.rows.label(row),
                        place + 1, place + 1, operands[1]->title())};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].rows * operands[1].columns};
  }
};

class OneHot final : public Operation {
 public:
  explicit OneHot(const Node& table) : table_(table) {}

  std::string_view name() const override { return "one_hot"; }

  Frame frame(Operands operands) const override {
    const Frame& ids = operands[0]->frame;
    return {{ids.shape.rows, table_.frame.shape.rows}, ids.rows, table_.frame.rows};
  }

  Matrix compute(std::span<Value> operands) const override {
    const Matrix& ids = operands[0].matrix();
    require_ids(operands[0].node(), ids, table_);
    Matrix result = make_matrix({ids.shape()[0], table_.frame.shape.rows}, 0.0);
    for (std::size_t i = 0; i < ids.shape()[0]; ++i) result(i, static_cast<std::size_t>(ids(i, 0)) - 1) = 1.0;
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {"one_hot(" + operands[0].plain + ")",
            "\\operatorname{onehot}\\left(" + operands[0].latex + "\\right)"};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t place = place_of(*operands[0], row);
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

Value embed(Value ids, Value table) {
  return apply(Embed(), std::move(ids), std::move(table));
}

Value one_hot(Value ids, const Value& table) {
  return apply(OneHot(table.node()), std::move(ids));
}

}  // namespace attn
