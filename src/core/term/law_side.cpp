#include "core/term/law_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/graph/find.hpp"
#include "core/math/rows.hpp"
#include "core/support/error.hpp"
#include "core/term/term.hpp"

namespace attn::laws {
namespace {

// The shape that two sides have together, of which one number, row or column goes with all.
Shape shape_of_both(const Shape& a, const Shape& b, std::string_view law) {
  const auto size = [&](std::size_t one, std::size_t other) {
    if (one != other && one != 1 && other != 1)
      fail("'{}': {} and {} cells do not go together cell by cell", law, to_string(a), to_string(b));
    return one == 1 ? other : one;
  };
  return {size(a.rows, b.rows), size(a.columns, b.columns)};
}

// --- what a law can call

// Of each row, one number.
template <double (*of_row)(std::span<const double>)>
Side of_rows(const Side& x) {
  Side result{.cells = Matrix({x.cells.shape().rows, 1}), .rows = x.rows};
  for (std::size_t i = 0; i < x.cells.shape().rows; ++i) result.cells(i, 0) = of_row(row(x.cells, i));
  return result;
}

Side transposed_side(const Side& x) {
  Side result{.cells = Matrix({x.cells.shape().columns, x.cells.shape().rows}), .rows = x.columns, .columns = x.rows};
  for (std::size_t i = 0; i < x.cells.shape().rows; ++i) {
    for (std::size_t j = 0; j < x.cells.shape().columns; ++j) result.cells(j, i) = x.cells(i, j);
  }
  return result;
}

double sum_of_row(std::span<const double> row) {
  double sum = 0.0;
  for (const double x : row) sum += x;
  return sum;
}
double length_of_row(std::span<const double> row) {
  double sum = 0.0;
  for (const double x : row) sum += x * x;
  return std::sqrt(sum);
}
double mean_of_row(std::span<const double> row) { return sum_of_row(row) / static_cast<double>(row.size()); }
double variance_of_row(std::span<const double> row) {
  const double mean = mean_of_row(row);
  double sum = 0.0;
  for (const double x : row) sum += (x - mean) * (x - mean);
  return sum / static_cast<double>(row.size());
}
// Of what are no weights there is none.
double entropy_of_row(std::span<const double> row) {
  const bool are_weights = std::ranges::all_of(row, [](double x) { return x >= 0.0 && std::isfinite(x); });
  return are_weights ? entropy(row) : std::numeric_limits<double>::quiet_NaN();
}

// The first cell that is NaN, and else the one that comes before all others; where that is, is known.
template <bool (*comes_before)(double, double)>
Side foremost(const Side& x) {
  const std::span<const double> all = cells(x.cells);
  if (all.empty()) fail("the matrix has no cells, and so no largest or smallest number");
  auto found = std::ranges::find_if(all, [](double cell) { return std::isnan(cell); });
  if (found == all.end()) found = std::ranges::min_element(all, comes_before);
  const auto place = static_cast<std::size_t>(found - all.begin());
  const std::size_t columns = x.cells.shape().columns;
  return {.cells = Matrix({1, 1}, *found),
          .rows = x.rows.only(place / columns),
          .columns = x.columns.only(place % columns)};
}
bool is_larger(double a, double b) { return a > b; }
bool is_smaller(double a, double b) { return a < b; }

Side sum_of_all_cells(const Side& x) { return one(sum_of_row(cells(x.cells))); }
Side row_count(const Side& x) { return one(static_cast<double>(x.cells.shape().rows)); }
Side column_count(const Side& x) { return one(static_cast<double>(x.cells.shape().columns)); }

constexpr std::array of_sides = {
    SideFunction{"row_sums", "the sum of each row", of_rows<sum_of_row>},
    SideFunction{"column_sums", "the sum of each column",
                 [](const Side& x) { return transposed_side(of_rows<sum_of_row>(transposed_side(x))); }},
    SideFunction{"row_means", "the mean of each row", of_rows<mean_of_row>},
    SideFunction{"row_variances", "the variance of each row: the mean of the squared distances from its mean",
                 of_rows<variance_of_row>},
    SideFunction{"row_lengths", "the length of each row as a vector", of_rows<length_of_row>},
    SideFunction{"entropy", "the entropy of each row of weights, in bits", of_rows<entropy_of_row>,
                 "weights, finite numbers that are 0 or more"},
    SideFunction{"transpose", "rows and columns exchanged", transposed_side},
    SideFunction{"largest", "the largest number", foremost<is_larger>},
    SideFunction{"smallest", "the smallest number", foremost<is_smaller>},
    SideFunction{"sum", "the sum of all numbers", sum_of_all_cells},
    SideFunction{"rows", "the number of rows", row_count},
    SideFunction{"columns", "the number of columns", column_count},
};

constexpr std::array all_properties = {
    Property{"causal", "0 behind the diagonal: no query attends to a later key", true,
             [](const Matrix& cells, std::size_t i, std::size_t j, double) { return j <= i || cells(i, j) == 0.0; },
             "0, like every number to the right of the diagonal"},
    Property{"finite", "neither NaN nor infinite", false,
             [](const Matrix& cells, std::size_t i, std::size_t j, double) { return std::isfinite(cells(i, j)); },
             "a finite number"},
    Property{"nonnegative", "0 or more", false,
             [](const Matrix& cells, std::size_t i, std::size_t j, double) { return cells(i, j) >= 0.0; }, "0 or more"},
    Property{"symmetric", "equal to its transpose", true,
             [](const Matrix& cells, std::size_t i, std::size_t j, double tolerance) {
               return nearly_equal(cells(i, j), cells(j, i), tolerance);
             },
             "equal to the cell on the other side of the diagonal"},
};

constexpr auto at_most = [](double a, double b, double tolerance) { return a <= b || nearly_equal(a, b, tolerance); };
constexpr auto at_least = [](double a, double b, double tolerance) { return a >= b || nearly_equal(a, b, tolerance); };
constexpr std::array all_signs = {
    ComparisonSign{"<=", "at most", at_most},
    ComparisonSign{">=", "at least", at_least},
    ComparisonSign{"≤", "at most", at_most},
    ComparisonSign{"≥", "at least", at_least},
    ComparisonSign{"<", "less than", [](double a, double b, double) { return a < b; }},
    ComparisonSign{">", "greater than", [](double a, double b, double) { return a > b; }},
    ComparisonSign{"==", "equal to", nearly_equal},
    ComparisonSign{"=", "equal to", nearly_equal},
};

// --- where a cell stands

// The matrix and the row or the column there.
std::pair<const Node*, std::size_t> resolved(const SideAxis& along, std::size_t i) {
  if (along.joined.empty()) return {along.node, along.at.value_or(i)};
  const std::size_t width = along.joined.front()->frame.shape.columns, at = along.at.value_or(i);
  return {along.joined[at / width], at % width};
}

// Of a row, the cell to explain: one that is no finite number, or else the one that is furthest from 0.
Cell telling_cell(const Node& node, std::size_t row) {
  const std::vector<double> cells = node.row(row);
  std::size_t found = 0;
  for (std::size_t j = 0; j < cells.size(); ++j) {
    if (!std::isfinite(cells[j])) return {&node, row, j};
    if (std::fabs(cells[j]) > std::fabs(cells[found])) found = j;
  }
  return {&node, row, found};
}

}  // namespace

Side one(double value) { return {.cells = Matrix({1, 1}, value)}; }

double cell_at(const Side& side, std::size_t i, std::size_t j) {
  const Shape shape = side.cells.shape();
  return side.cells(shape.rows == 1 ? 0 : i, shape.columns == 1 ? 0 : j);
}

Side by_cells(const Side& left, const Side& right, CellFunction f, std::string_view law) {
  const Shape a = left.cells.shape(), b = right.cells.shape();
  const Shape shape = shape_of_both(a, b, law);
  Budget::take_work(shape.cells());
  Side result{.cells = Matrix(shape),
              .rows = a.rows >= b.rows && left.rows.node ? left.rows : right.rows,
              .columns = a.columns >= b.columns && left.columns.node ? left.columns : right.columns};
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.columns; ++j) result.cells(i, j) = f(cell_at(left, i, j), cell_at(right, i, j));
  }
  return result;
}

bool nearly_equal(double a, double b, double tolerance) {
  if (a == b) return true;
  if (!std::isfinite(a) || !std::isfinite(b)) return false;
  return std::fabs(a - b) <= tolerance * std::max({1.0, std::fabs(a), std::fabs(b)});
}

// --- what a law can call

std::span<const SideFunction> functions_of_sides() { return of_sides; }

std::span<const Property> properties() { return all_properties; }

std::span<const ComparisonSign> comparison_signs() { return all_signs; }

// --- where a cell stands

void tell_place(LawViolation& broken, const Side& side, std::size_t i, std::size_t j) {
  const SideAxis &rows = side.rows, &columns = side.columns;
  if (!rows.node && !columns.node) return;
  if (rows.node == columns.node && rows.is_columns != columns.is_columns) {
    const auto [row_node, row] = resolved(rows, i);
    const auto [column_node, column] = resolved(columns, j);
    broken.cell = rows.is_columns ? Cell{row_node, column, row} : Cell{column_node, row, column};
    broken.place = cell_name(*broken.cell);
    return;
  }
  const auto [node, at] = rows.node ? resolved(rows, i) : resolved(columns, j);
  if ((rows.node ? rows : columns).is_columns) {
    broken.place = fmt::format("column {} of {}", name_of_place(node->frame.columns, at), node->name);
  } else {
    broken.place = fmt::format("{}[{}]", node->name, name_of_place(node->frame.rows, at));
    if (node->frame.shape.columns > 0) broken.cell = telling_cell(*node, at);
  }
}

}  // namespace attn::laws
