#include "lesson/quantity_functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

constexpr std::array named_numbers = {Constant{"e", std::numbers::e}};

constexpr std::array of_numbers = {
    NumberFunction{"sqrt", [](double x) { return std::sqrt(x); }},
    NumberFunction{"exp", [](double x) { return std::exp(x); }},
    NumberFunction{"log", [](double x) { return std::log(x); }},
    NumberFunction{"sin", [](double x) { return std::sin(x); }},
    NumberFunction{"cos", [](double x) { return std::cos(x); }},
    NumberFunction{"tanh", [](double x) { return std::tanh(x); }},
    NumberFunction{"abs", [](double x) { return std::fabs(x); }},
};

// The column of this cell. A question whose answer is one of several words alike has no answer.
std::string label_of(const MatrixRow& row, std::span<const double>::iterator found) {
  const auto label_at = [&](auto place) {
    return row.columns.label(static_cast<std::size_t>(place - row.cells.begin()));
  };
  for (auto other = row.cells.begin(); other != row.cells.end(); ++other) {
    if (other != found && equal_but_for_last_bits(*other, *found))
      fail("'{}' and '{}' are tied at {}: ask about a row without a tie", label_at(found), label_at(other),
           written(*found));
  }
  return label_at(found);
}

constexpr std::array of_rows = {
    RowFunction{"sum",
                [](const MatrixRow& row) -> Quantity {
                  double sum = 0.0;
                  for (const double cell : row.cells) sum += cell;
                  return sum;
                }},
    RowFunction{"largest",
                [](const MatrixRow& row) -> Quantity { return *std::ranges::max_element(row.cells); }},
    RowFunction{"smallest",
                [](const MatrixRow& row) -> Quantity { return *std::ranges::min_element(row.cells); }},
    RowFunction{
        "most",
        [](const MatrixRow& row) -> Quantity { return label_of(row, std::ranges::max_element(row.cells)); }},
    RowFunction{
        "least",
        [](const MatrixRow& row) -> Quantity { return label_of(row, std::ranges::min_element(row.cells)); }},
};

constexpr std::array of_shapes = {
    ShapeFunction{"rows", [](const Shape& shape) -> Quantity { return static_cast<double>(shape.rows); }},
    ShapeFunction{"columns",
                  [](const Shape& shape) -> Quantity { return static_cast<double>(shape.columns); }},
    ShapeFunction{"shape", [](const Shape& shape) -> Quantity { return shape; }},
};

// A size by its letter, and the matrices that have it, the first that there is.
struct Size {
  std::string_view name;
  std::array<std::string_view, 2> matrices;
  std::size_t Shape::*side;
};

constexpr std::array sizes = {
    Size{"n_q", {"scores", "weights"}, &Shape::rows}, Size{"n_k", {"scores", "weights"}, &Shape::columns},
    Size{"d_model", {"x", "x"}, &Shape::columns},     Size{"d_k", {"head.1.q", "q"}, &Shape::columns},
    Size{"d_v", {"head.1.v", "v"}, &Shape::columns},
};

const Node* first_matching(const Graph& graph, std::string_view pattern) {
  const auto found = std::ranges::find_if(
      graph.nodes(), [&](const Node& node) { return !node.name.empty() && matches(pattern, node.name); });
  return found == graph.nodes().end() ? nullptr : &*found;
}

std::size_t heads_of(const Graph& graph) {
  std::size_t heads = 1;
  while (first_matching(graph, fmt::format("head.{}.weights", heads + 1))) ++heads;
  return heads;
}

}  // namespace

bool equal_but_for_last_bits(double a, double b) {
  return a == b || std::fabs(a - b) <= 1e-12 * std::fmax(std::fabs(a), std::fabs(b));
}

std::span<const Constant> constants() {
  return named_numbers;
}

std::span<const NumberFunction> number_functions() {
  return of_numbers;
}

std::span<const RowFunction> row_functions() {
  return of_rows;
}

std::span<const ShapeFunction> shape_functions() {
  return of_shapes;
}

double size_of(const Graph& graph, std::string_view name) {
  if (name == "h") return static_cast<double>(heads_of(graph));
  const Size& size = look_up(std::span<const Size>(sizes), name, "size");
  for (const std::string_view pattern : size.matrices) {
    if (const Node* node = first_matching(graph, pattern))
      return static_cast<double>(node->frame.shape.*size.side);
  }
  fail("{} is not known here: this computation has no {}", name, size.matrices.back());
}

}  // namespace attn
