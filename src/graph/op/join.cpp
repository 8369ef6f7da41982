#include "graph/op/join.hpp"

#include <algorithm>

#include "support/error.hpp"

namespace attn {
namespace {

class JoinOperation final : public Operation {
 public:
  explicit JoinOperation(const Join& kind) : kind_(kind) {}

  std::string_view name() const override { return kind_.name; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Frame& first = operands[0]->frame;
    const bool below = kind_.along == Along::rows;
    Frame result{first.shape, first.rows, first.columns};
    (below ? result.rows : result.columns) = kind_.axis(operands);
    std::size_t& size = size_along(kind_.along, result.shape);
    size = 0;
    const Along other = below ? Along::columns : Along::rows;
    for (const Node* part : operands) {
      const std::size_t ours = size_along(other, first.shape), theirs = size_along(other, part->frame.shape);
      if (ours != theirs) {
        fail("{0} has {1} {2} but {3} has {4}: matrices {5} need the same number of {2}",
             operands[0]->title(), ours, below ? "columns" : "rows", part->title(), theirs, kind_.place);
      }
      size += size_along(kind_.along, part->frame.shape);
    }
    return result;
  }

  Matrix compute(std::span<Value> operands) const override {
    Shape shape = operands[0].shape();
    size_along(kind_.along, shape) = 0;
    for (const Value& part : operands) size_along(kind_.along, shape) += along(part.shape());
    Matrix result(shape);
    Shape place;
    for (const Value& part : operands) {
      for (std::size_t i = 0; i < part.shape().rows; ++i) {
        const std::span<double> whole = row(result, place.rows + i);
        std::ranges::copy(row(part.matrix(), i), whole.subspan(place.columns).begin());
      }
      size_along(kind_.along, place) += along(part.shape());
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override { return kind_.formula(operands); }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    std::size_t& place = kind_.along == Along::rows ? row : column;
    for (const Node* part : operands) {
      const std::size_t size = along(part->frame.shape);
      if (place < size) return {cell(*part, row, column)};
      place -= size;
    }
    return {};
  }

  Cost cost(std::span<const Shape> operands) const override {
    Cost total;
    for (const Shape& part : operands) total.element_operations += part.cells();
    return total;
  }

 private:
  std::size_t along(const Shape& shape) const { return size_along(kind_.along, shape); }

  const Join& kind_;
};

}  // namespace

Value join(const Join& kind, std::vector<Value> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  Graph& graph = parts.front().graph();
  return graph.apply(std::make_unique<const JoinOperation>(kind), std::move(parts));
}

Formula listed(std::span<const Formula> operands, std::string_view plain, std::string_view latex) {
  Formula result = operands[0];
  for (const Formula& part : operands.subspan(1)) {
    result.plain.append(plain).append(part.plain);
    result.latex.append(latex).append(part.latex);
  }
  return result;
}

}  // namespace attn
