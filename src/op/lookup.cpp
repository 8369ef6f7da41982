#include <fmt/format.h>

#include <algorithm>

#include "math/rows.hpp"
#include "op/gradients.hpp"
#include "op/ids.hpp"
#include "op/row_by_row.hpp"
#include "support/error.hpp"

// The rows of a table that ids stand for, counted from 1.

namespace attn {
namespace {

class Embed final : public RowByMatrix {
 public:
  Embed(const Node& ids, const Node& table) : ids_(ids, table, "rows", table.frame.shape.rows) {}

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

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {std::nullopt, add_rows_by_id(operands[0], d, operands[1])};
  }

 private:
  IdsOf ids_;
};

// Operands: the ids and d.
class AddRowsById final : public Operation {
 public:
  AddRowsById(const Node& ids, const Node& table)
      : ids_(ids, table, "rows", table.frame.shape.rows), result_(table.frame) {}

  std::string_view name() const override { return "add_rows_by_id"; }

  Frame frame(Operands operands) const override {
    const Shape ids = operands[0]->frame.shape, d = operands[1]->frame.shape;
    if (d != Shape{ids.rows, result_.shape.columns}) {
      fail("{} is {}: it must have a row of {} numbers for each of {} ids", operands[1]->title(),
           to_string(d), result_.shape.columns, ids.rows);
    }
    return result_;
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    std::ranges::fill(result.all(), 0.0);
    for (std::size_t i = 0; i < operands[0].shape.rows; ++i) {
      const std::size_t place = ids_.place(operands[0], i);
      if (place >= result.first && place < result.end()) attn::add(result.row(place), operands[1].row(i));
    }
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula ids = within(Binding::whole, operands[0]), d = within(Binding::whole, operands[1]);
    return {fmt::format("rows of {} added up by {}", d.plain, ids.plain),
            fmt::format("\\sum_{{k: \\, {{{}}}_{{k}} = i}} {{{}}}_{{k,\\,\\cdot}}", ids.latex, d.latex),
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Axis& words = operands[0]->frame.rows;
    std::vector<Expression> terms;
    std::string which;
    for (std::size_t i = 0; i < operands[0]->frame.shape.rows; ++i) {
      if (place_of(operands[0]->cell(i, 0)) != row) continue;
      terms.push_back(cell(*operands[1], i, column));
      which += (which.empty() ? "" : ", ") + words.label(i);
    }
    if (terms.empty()) return {number(0.0), fmt::format("no word has the id {}", row + 1)};
    return {sum(std::move(terms)), fmt::format("the id {} is that of {}", row + 1, which)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[1].cells()};
  }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {std::nullopt, embed(operands[0], d)};
  }

 private:
  IdsOf ids_;
  Frame result_;
};

class OneHot final : public RowByRow {
 public:
  OneHot(const Node& ids, const Node& table)
      : ids_(ids, table, "rows", table.frame.shape.rows), words_(table.frame.rows) {}

  std::string_view name() const override { return "one_hot"; }

  Frame frame(Operands operands) const override {
    const Frame& ids = operands[0]->frame;
    return {{ids.shape.rows, ids_.count()}, ids.rows, words_};
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
    return {.element_operations = operands[0].rows * ids_.count()};
  }

  Gradients gradients(const Value&, const Value&, std::span<const Value>) const override {
    return {std::nullopt};
  }

 private:
  IdsOf ids_;
  Axis words_;
};

}  // namespace

Value add_rows_by_id(const Value& ids, const Value& d, const Value& table) {
  return apply(AddRowsById(ids.node(), table.node()), ids, d);
}

Value embed(const Value& ids, const Value& table) {
  return apply(Embed(ids.node(), table.node()), ids, table);
}

Value one_hot(const Value& ids, const Value& table) {
  return apply(OneHot(ids.node(), table.node()), ids);
}

}  // namespace attn
