#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/term/law.hpp"

/// What the sides of laws are made of.
namespace attn::laws {

/// What the rows or the columns of a side are: the rows of a matrix, or its columns, all of them or one. Where matrices
/// stand beside each other, the columns of one after the other.
struct SideAxis {
  const Node* node = nullptr;  // null: nothing that has a name
  bool is_columns = false;
  std::optional<std::size_t> at = {};  // of one, which
  std::vector<const Node*> joined = {};

  /// One of them.
  SideAxis only(std::size_t i) const {
    SideAxis one = *this;
    if (node) one.at = at.value_or(i);
    return one;
  }
};

/// A side of a law: numbers, and where its cells stand in a matrix that the law names.
struct Side {
  Matrix cells = Matrix({1, 1}, 0.0);
  SideAxis rows = {}, columns = {};
};

Side one(double value);

using CellFunction = double (*)(double left, double right);

/// A cell of a side, of which one number, row or column goes with all.
double cell_at(const Side& side, std::size_t i, std::size_t j);

/// A function of cells of two sides. Throws InputError, which names the law, where their shapes do not go together.
Side by_cells(const Side& left, const Side& right, CellFunction f, std::string_view law);

/// Equal, or nearly so. Infinite numbers are near nothing, and NaN equals nothing.
bool nearly_equal(double a, double b, double tolerance);

/// A function of a side.
struct SideFunction {
  std::string_view name, summary;
  Side (*of)(const Side& x);
  std::string_view needs = {};  // of its numbers, without which it is NaN; empty: it takes all numbers
};

std::span<const SideFunction> functions_of_sides();

/// A property of a matrix, as what its cells are compared with.
struct Property {
  std::string_view name, summary;
  bool is_of_square;
  bool (*holds)(const Matrix& cells, std::size_t i, std::size_t j, double tolerance);
  std::string_view wanted;  // of a cell that has it not: "It should be …"
};

std::span<const Property> properties();

/// How two sides are compared.
struct ComparisonSign {
  std::string_view written, words;
  bool (*holds)(double left, double right, double tolerance);
};

/// In the order in which they are looked for.
std::span<const ComparisonSign> comparison_signs();

/// Tells where a cell of a side stands.
void tell_place(LawViolation& broken, const Side& side, std::size_t i, std::size_t j);

}  // namespace attn::laws
