#include "core/term/expression_functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/graph/function.hpp"
#include "core/math/rows.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"

namespace attn {
namespace {

constexpr std::array named_numbers = {Constant{"e", std::numbers::e}};

// What people type for a function.
constexpr std::array of_numbers = {
    NumberFunction{"sqrt", &square_root},
    NumberFunction{"exp", &exponential},
    NumberFunction{"log", &logarithm},
    NumberFunction{"ln", &logarithm},
    NumberFunction{"sin", &sine},
    NumberFunction{"cos", &cosine},
    NumberFunction{"tanh", &hyperbolic_tangent},
    NumberFunction{"abs", &absolute_value},
};

// The column of this cell. A question whose answer is one of several words alike has no answer.
std::string label_of(const MatrixRow& row, std::span<const double>::iterator found) {
  const auto label_at = [&](auto place) {
    return row.columns.label(static_cast<std::size_t>(place - row.cells.begin()));
  };
  for (auto other = row.cells.begin(); other != row.cells.end(); ++other) {
    if (other == found || !equal_but_for_last_bits(*other, *found)) continue;
    throw TieError(label_at(found), label_at(other), *found);
  }
  return label_at(found);
}

constexpr std::array functions_of_rows = {
    RowFunction{"sum", "sum",
                [](const MatrixRow& row) -> Quantity {
                  double sum = 0.0;
                  for (const double cell : row.cells) sum += cell;
                  return sum;
                }},
    RowFunction{"entropy", "entropy in bits", [](const MatrixRow& row) -> Quantity { return entropy(row.cells); }},
    RowFunction{"largest", "largest number",
                [](const MatrixRow& row) -> Quantity { return *std::ranges::max_element(row.cells); }},
    RowFunction{"smallest", "smallest number",
                [](const MatrixRow& row) -> Quantity { return *std::ranges::min_element(row.cells); }},
    RowFunction{"most", "word with the largest number",
                [](const MatrixRow& row) -> Quantity { return label_of(row, std::ranges::max_element(row.cells)); }},
    RowFunction{"least", "word with the smallest number",
                [](const MatrixRow& row) -> Quantity { return label_of(row, std::ranges::min_element(row.cells)); }},
};

constexpr std::array of_shapes = {
    ShapeFunction{"rows", [](const Shape& shape) -> Quantity { return static_cast<double>(shape.rows); }},
    ShapeFunction{"columns", [](const Shape& shape) -> Quantity { return static_cast<double>(shape.columns); }},
    ShapeFunction{"shape", [](const Shape& shape) -> Quantity { return shape; }},
};

// A size by its letter, and the matrices that have it, the first that there is: of a head rather than of all.
struct Size {
  std::string_view name;
  std::array<const Role*, 2> roles;
  std::size_t Shape::*side;
};

constexpr std::array sizes = {
    Size{"n_q", {&role::scores, &role::weights}, &Shape::rows},
    Size{"n_k", {&role::scores, &role::weights}, &Shape::columns},
    Size{"d_model", {&role::x, &role::x}, &Shape::columns},
    Size{"d_k", {&role::q, &role::q}, &Shape::columns},
    Size{"d_v", {&role::v, &role::v}, &Shape::columns},
};

const Node* first_of(const Graph& graph, const Role& role) {
  const Node* first = nullptr;
  for (const Node& node : graph.nodes()) {
    if (!node.is(role)) continue;
    if (node.within(scope::head)) return &node;
    if (!first) first = &node;
  }
  return first;
}

}  // namespace

TieError::TieError(const std::string& one, const std::string& other, double number)
    : InputError(
          fmt::format("'{}' and '{}' are tied at {}: ask about a row without a tie", one, other, written(number))),
      tie_(fmt::format("'{}' and '{}' are tied at {}", one, other, written(number))) {}

bool equal_but_for_last_bits(double a, double b) {
  return a == b || std::fabs(a - b) <= 1e-12 * std::fmax(std::fabs(a), std::fabs(b));
}

std::span<const Constant> constants() { return named_numbers; }

std::span<const NumberFunction> number_functions() { return of_numbers; }

std::span<const RowFunction> row_functions() { return functions_of_rows; }

std::span<const ShapeFunction> shape_functions() { return of_shapes; }

FoundSize find_size(const Graph& graph, std::string_view name) {
  const Size& size = look_up(std::span<const Size>(sizes), name, "size");
  for (const Role* role : size.roles) {
    if (const Node* node = first_of(graph, *role)) return {*node, size.side};
  }
  fail("{} is not known here: this computation has no {}", name, size.roles.back()->leaf);
}

std::size_t heads_of(const Graph& graph) {
  std::size_t heads = 1;
  for (const Node& node : graph.nodes()) {
    const NamedScope* const head = node.is(role::weights) ? node.within(scope::head) : nullptr;
    if (head) heads = std::max(heads, *head->number);
  }
  return heads;
}

}  // namespace attn
