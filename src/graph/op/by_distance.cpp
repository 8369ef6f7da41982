#include <fmt/format.h>

#include <algorithm>

#include "graph/op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

class ByDistance final : public Operation {
 public:
  explicit ByDistance(Frame result) : result_(std::move(result)) {}

  std::string_view name() const override { return "by_distance"; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Shape table = operands[0]->frame.shape;
    const bool rows_fit = table.rows == 1 || table.rows == result_.shape.rows;
    if (!rows_fit || table.columns % 2 == 0) {
      fail(
          "{} is {}: it must have an odd number of columns, one for each distance from −c to c, in one row "
          "or in one for each of the {} queries",
          operands[0]->title(), to_string(table), result_.shape.rows);
    }
    return result_;
  }

  Matrix compute(std::span<Value> operands) const override {
    const Matrix& table = operands[0].matrix();
    Matrix result(result_.shape);
    for (std::size_t i = 0; i < result_.shape.rows; ++i) {
      for (std::size_t j = 0; j < result_.shape.columns; ++j) {
        result(i, j) = table(row_of(table.shape(), i), column_of(table.shape(), i, j));
      }
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula table = within(Binding::whole, operands[0]);
    return {table.plain + " at the distance j − i", "{" + table.latex + "}_{\\operatorname{clip}(j - i)}",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Shape table = operands[0]->frame.shape;
    const auto distance = static_cast<long>(column) - static_cast<long>(row);
    const long most = most_distance(table);
    const std::string clipped =
        std::abs(distance) > most ? fmt::format(", and counts as {}", std::clamp(distance, -most, most)) : "";
    return {
        cell(*operands[0], row_of(table, row), column_of(table, row, column)),
        fmt::format("the distance from query {} to key {} is {}{}", row + 1, column + 1, distance, clipped)};
  }

  Cost cost(std::span<const Shape>) const override { return {.element_operations = result_.shape.cells()}; }

 private:
  static long most_distance(Shape table) { return static_cast<long>(table.columns / 2); }
  static std::size_t row_of(Shape table, std::size_t query) { return table.rows == 1 ? 0 : query; }
  static std::size_t column_of(Shape table, std::size_t query, std::size_t key) {
    const long most = most_distance(table), distance = static_cast<long>(key) - static_cast<long>(query);
    return static_cast<std::size_t>(std::clamp(distance, -most, most) + most);
  }

  Frame result_;
};

}  // namespace

Value by_distance(Value table, const Value& q, const Value& k) {
  const Frame &queries = q.node().frame, &keys = k.node().frame;
  return apply(ByDistance({{queries.shape.rows, keys.shape.rows}, queries.rows, keys.rows}),
               std::move(table));
}

}  // namespace attn
