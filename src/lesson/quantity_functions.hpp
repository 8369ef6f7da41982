#pragma once

#include <span>
#include <string_view>

#include "lesson/quantity.hpp"

namespace attn {

// What an expression can call. A new function is a row in one of three tables.

/// A number that has a name.
struct Constant {
  std::string_view name;
  double value;
};

/// A function of a number.
struct NumberFunction {
  std::string_view name;
  double (*of)(double);
};

/// A row of a matrix: the numbers, and what their columns are called.
struct MatrixRow {
  std::span<const double> cells;
  const Axis& columns;
};

struct RowFunction {
  std::string_view name;
  Quantity (*of)(const MatrixRow& row);
};

/// A function of a matrix that looks at its shape alone.
struct ShapeFunction {
  std::string_view name;
  Quantity (*of)(const Shape& shape);
};

std::span<const Constant> constants();
std::span<const NumberFunction> number_functions();
std::span<const RowFunction> row_functions();
std::span<const ShapeFunction> shape_functions();

/// Two ways to the same number may differ in its last bits.
bool equal_but_for_last_bits(double a, double b);

/// A size of a computation by its letter: n_q, n_k, d_model, d_k, d_v, or h. Throws InputError.
double size_of(const Graph& graph, std::string_view name);

}  // namespace attn
