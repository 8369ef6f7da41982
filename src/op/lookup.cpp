#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "op/operations.hpp"
#include "op/row_by_row.hpp"
#include "support/error.hpp"

// The rows of a table that ids stand for, counted from 1.

namespace attn {
namespace {

std::size_t place_of(double id) {
  return static_cast<std::size_t>(id) - 1;
}

// Reads ids, and refuses the first that is no row of the table.
class IdsOf {
 public:
  IdsOf(const Node& ids, const Node& table) : ids_(ids), table_(table) {}

  const Node& table() const { return table_; }

  std::size_t place(Rows ids, std::size_t row) const {
    const double id = ids(row, 0);
    const auto rows = static_cast<double>(table_.frame.shape.rows);
    if (!(id >= 1.0 && id <= rows && id == std::floor(id))) {
      fail("{}[{},1] is {}: {} has rows 1 to {}", ids_.title(), row + 1, id, table_.title(), rows);
    }
    return place_of(id);
  }

 private:
  const Node &ids_, &table_;  // live in the same graph
};

class Embed final : public RowByMatrix {
 public:
  Embed(const Node& ids, const Node& table) : ids_(ids, table) {}

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

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    for (std::size_t i = result.first; i < result.end(); ++i) {
      std::ranges::copy(operands[1].row(ids_.place(operands[0], i)), result.row(i).begin());
    }
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula ids = within(Binding::whole, operands[0]), table = within(Binding::whole, operands[1]);
    return {fmt::format("rows {} of {}", ids.plain, table.plain),
            fmt::format("{{{}}}_{{{},\\,\\cdot}}", table.latex, ids.latex), Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t place = place_of(operands[0]->cell(row, 0));
    return {cell(*operands[1], place, column),
            fmt::format("the id of {} is {}: its vector is row {} of {}", operands[0]->frame.rows.label(row),
                        place + 1, place + 1, operands[1]->title())};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].rows * operands[1].columns};
  }

 private:
  IdsOf ids_;
};

class OneHot final : public RowByRow {
 public:
  OneHot(const Node& ids, const Node& table) : ids_(ids, table) {}

  std::string_view name() const override { return "one_hot"; }

  Frame frame(Operands operands) const override {
    const Frame& ids = operands[0]->frame;
    return {{ids.shape.rows, ids_.table().frame.shape.rows}, ids.rows, ids_.table().frame.rows};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    std::ranges::fill(result.all(), 0.0);
    for (std::size_t i = result.first; i < result.end(); ++i) result.row(i)[ids_.place(operands[0], i)] = 1.0;
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {"one_hot(" + operands[0].plain + ")",
            "\\operatorname{onehot}\\left(" + operands[0].latex + "\\right)"};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t place = place_of(operands[0]->cell(row, 0));
    return {number(place == column ? 1.0 : 0.0),
            fmt::format("the id of {} is {}: only column {} of its row is 1",
                        operands[0]->frame.rows.label(row), place + 1, place + 1)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].rows * ids_.table().frame.shape.rows};
  }

 private:
  IdsOf ids_;
};

}  // namespace

Value embed(const Value& ids, const Value& table) {
  return apply(Embed(ids.node(), table.node()), ids, table);
}

Value one_hot(const Value& ids, const Value& table) {
  return apply(OneHot(ids.node(), table.node()), ids);
}

}  // namespace attn
