#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/graph/function.hpp"
#include "core/graph/operation.hpp"
#include "core/support/error.hpp"
#include "core/term/quantity.hpp"

namespace attn {

// What an expression can call. A new function is a row in one of three tables.

/// A number that has a name.
struct Constant {
  std::string_view name;
  double value;
};

/// A function of a number, by what is typed for it.
struct NumberFunction {
  std::string_view name;
  const Function* function;
};

/// A row of a matrix: the numbers, and what their columns are called.
struct MatrixRow {
  std::span<const double> cells;
  const Axis& columns;
};

struct RowFunction {
  std::string_view name;
  std::string_view words;  // "largest number": the … of a row
  Quantity (*of)(const MatrixRow& row);
};

/// Two columns of a row share what a function looks for, so that no word is the answer.
class TieError : public InputError {
 public:
  TieError(const std::string& one, const std::string& other, double number);

  const std::string& tie() const { return tie_; }

 private:
  std::string tie_;  // "'the' and 'cat' are tied at 0.25"
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

/// A side of a matrix that has a letter.
struct FoundSize {
  const Node& node;
  std::size_t Shape::*side;
};

/// The size that is called n_q, n_k, d_model, d_k or d_v in a computation. Throws InputError.
FoundSize find_size(const Graph& graph, std::string_view name);

/// How many heads a computation has, which is called h.
constexpr std::string_view heads_letter = "h";
std::size_t heads_of(const Graph& graph);

}  // namespace attn
