#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/graph/expression.hpp"
#include "core/math/matrix.hpp"

namespace attn {

struct Node;
class Value;

/// What the rows or the columns of a matrix stand for, with their labels where they have them.
struct Axis {
  std::string name;                                        // "tokens", "features", …
  std::shared_ptr<const std::vector<std::string>> labels;  // null: counted from 1
  std::size_t batch = 1;                                   // of rows: so many sentences follow each other

  /// The label of place `i`, or its number from 1.
  std::string label(std::size_t i) const;
};

/// Whether the label of a place is that of another place as well.
bool is_repeated(const Axis& axis, std::size_t i);

/// A place in words: its label in quotes, with its number from 1 where the label is repeated; without labels what is
/// there and its number: "it", "b" (query 2), query 2.
std::string place_in_words(const Axis& axis, std::size_t i, std::string_view what, std::string_view open = "\"",
                           std::string_view close = "\"");

/// The same for lists and tables: it; b (2) where the label is repeated or reads as a number; without labels 2.
std::string place_in_lists(const Axis& axis, std::size_t i);

Axis axis(std::string name);
/// With labels; no labels when the list is empty.
Axis axis(std::string name, std::vector<std::string> labels);

/// The labels of `count` places from `first` on.
Axis part(const Axis& whole, std::size_t first, std::size_t count);

/// All about a matrix but its cells.
struct Frame {
  Shape shape;
  Axis rows;
  Axis columns;
};

/// What an operation costs, counted from shapes alone.
struct Cost {
  std::uint64_t multiply_adds = 0;       // of matrix products, squared lengths and distances
  std::uint64_t element_operations = 0;  // cells touched by anything else

  Cost& operator+=(const Cost& other);
};

/// Some neighboring rows: the first one, from 0, and how many.
struct RowRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Something that an operation knows besides its operands: a number, a text, or a number for each column.
struct Attribute {
  std::string_view name;
  std::variant<double, std::string, std::vector<double>> value;
};

/// An operation, known by the address of its row: `node.operation->is(op::add)`. Only its row knows its name.
struct Op {
  std::string_view name;
};

namespace op {
/// Another name for a matrix: it computes nothing.
inline constexpr Op identity{"identity"};
}  // namespace op

/// What flows back to each operand of an operation; nothing where no gradient does: to ids and masks.
using Gradients = std::vector<std::optional<Value>>;

/// One step of a computation, and all that it knows about itself. The operands are nodes of a graph; their
/// number and meaning are fixed by the function that applies the operation (core/op/operations.hpp).
///
/// A matrix may hold a batch: sentences of equal length below each other, as the axis of its rows says. An
/// operation that relates rows to each other relates those of one sentence; one matrix without a batch meets
/// all of them.
class Operation {
 public:
  using Operands = std::span<const Node* const>;

  virtual ~Operation() = default;

  /// Its row in the table of operations.
  virtual const Op& op() const = 0;
  std::string_view name() const { return op().name; }
  bool is(const Op& other) const { return &op() == &other; }
  /// What else it has to know to be computed and explained anywhere else, by its name and its operands.
  virtual std::vector<Attribute> attributes() const { return {}; }
  /// The shape and the axes of the result. Throws InputError when the operands do not fit together.
  virtual Frame frame(Operands operands) const = 0;

  /// Makes some rows of the result. Of each operand it gets the rows that it needs for them, or more.
  /// A row's cells do not depend on which rows are made together with it, to the last bit.
  virtual void compute(std::span<const Rows> operands, RowsToMake result) const = 0;
  /// The rows of an operand that it needs to make these rows of the result: all of them, unless it says
  /// better.
  virtual RowRange needed(std::size_t operand, RowRange made, std::span<const Shape> operands) const;
  /// Whether compute() may be given the first operand in the memory of the result, row upon row.
  virtual bool overwrites() const { return false; }
  /// Between which numbers every cell of the result lies, whatever the operands are.
  virtual Bounds bounds() const { return {}; }
  /// Whether it only moves its operands' numbers to other places and computes none.
  virtual bool moves() const { return false; }

  /// How it is written, given how its operands are written.
  virtual Formula formula(std::span<const Formula> operands) const = 0;
  /// How one cell of the result came about.
  virtual Explanation explain(Operands operands, std::size_t row, std::size_t column) const = 0;
  virtual Cost cost(std::span<const Shape> operands) const = 0;
  /// How a gradient flows back: from that of the result to that of each operand, each of its operand's shape,
  /// as nodes of their graph. Adds nodes, and computes nothing.
  virtual Gradients gradients(const Value& result, const Value& d_result, std::span<const Value> operands) const = 0;
};

}  // namespace attn
