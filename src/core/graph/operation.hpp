#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/graph/formula.hpp"
#include "core/graph/function.hpp"
#include "core/graph/row_positions.hpp"
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

/// Something that an operation knows besides its operands: known by its address, as `setting::epsilon`. T says
/// what it is. A text of a cell knows those that are numbers by name.
template <class T>
struct SettingOf {
  std::string_view name;
};

struct SinusoidLayout;

namespace setting {
inline constexpr SettingOf<Scalar> number{"number"};        // by which a matrix is divided or multiplied
inline constexpr SettingOf<double> epsilon{"epsilon"};      // that avoids a division by 0
inline constexpr SettingOf<double> smoothing{"smoothing"};  // of the target of a loss
inline constexpr SettingOf<Scalar> fill{"fill"};            // what stands in the place of a cell
inline constexpr SettingOf<std::string> row_noun{"row_noun"}, column_noun{"column_noun"}, cell_noun{"cell_noun"};
inline constexpr SettingOf<std::size_t> first{"first"};                   // the place, from 0, where a part begins
inline constexpr SettingOf<std::size_t> count{"count"};                   // of rows or columns of a part
inline constexpr SettingOf<std::size_t> parts{"parts"}, apart{"apart"};   // of rows that belong together
inline constexpr SettingOf<RowPositions> positions{"positions"};          // of the rows
inline constexpr SettingOf<RowPositions> key_positions{"key_positions"};  // of the columns, where each is a key
inline constexpr SettingOf<Distance> distance{"distance"};                // of two positions
inline constexpr SettingOf<std::size_t> before_zero{"before_zero"};  // columns of a table before that of distance 0
inline constexpr SettingOf<std::string> measured_in{"measured_in"};  // distances: the text, the tree
inline constexpr SettingOf<double> base{"base"};                     // of the waves of positions
inline constexpr SettingOf<std::size_t> turned{"turned"};            // the first so many columns, which positions turn
inline constexpr SettingOf<std::vector<double>> slower{"slower"};    // how many times as long each wave is
inline constexpr SettingOf<std::vector<double>> frequencies{"frequencies"}, is_sine{"is_sine"};  // of each column
inline constexpr SettingOf<const SinusoidLayout*> layout{"layout"};
inline constexpr SettingOf<std::string> table{"table"};  // the title of the table that ids choose from
inline constexpr SettingOf<Axis> axis{"axis"};           // the rows, or columns, that the result has in another way
inline constexpr SettingOf<Frame> frame{"frame"};        // of the result, where operands do not say it
}  // namespace setting

// Every graph holds settings. What copies and destroys them is in operation.cpp, so that no other file generates it.

/// A setting with its value.
struct OpSetting {
  using Value = std::variant<double, std::size_t, Scalar, std::string, std::vector<double>, RowPositions, Distance,
                             const SinusoidLayout*, Axis, Frame>;

  template <class T>
  OpSetting(const SettingOf<T>& of, std::type_identity_t<T> given) : key(&of), name(of.name), value(std::move(given)) {}
  OpSetting(const OpSetting& other);
  OpSetting(OpSetting&& other) noexcept;
  OpSetting& operator=(const OpSetting& other);
  OpSetting& operator=(OpSetting&& other) noexcept;
  ~OpSetting();

  const void* key;
  std::string_view name;
  Value value;
};

/// What the notation of a setting that has one is called, where a page has it beside the number.
std::string notation_of_setting(std::string_view name);

/// All settings of one operation.
class OpSettings {
 public:
  OpSettings();
  OpSettings(std::initializer_list<OpSetting> all);
  OpSettings(const OpSettings& other);
  OpSettings(OpSettings&& other) noexcept;
  OpSettings& operator=(const OpSettings& other);
  OpSettings& operator=(OpSettings&& other) noexcept;
  ~OpSettings();

  /// The value, or null where the operation has no such setting.
  template <class T>
  const T* find(const SettingOf<T>& of) const {
    for (const OpSetting& one : all_) {
      if (one.key == &of) return &std::get<T>(one.value);
    }
    return nullptr;
  }
  const OpSetting* named(std::string_view name) const;
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  std::size_t size() const { return all_.size(); }

 private:
  std::vector<OpSetting> all_;
};

/// An operation where it is used: on which nodes of a graph, with which settings.
struct Use {
  std::span<const Node* const> operands;
  const OpSettings& settings;

  /// A setting that it has.
  template <class T>
  const T& operator[](const SettingOf<T>& of) const {
    return *settings.find(of);
  }
  const Frame& frame(std::size_t operand) const;
};

/// What flows back to each operand of an operation; nothing where no gradient does: to ids and masks.
using Gradients = std::vector<std::optional<Value>>;

/// The rows of all operands, as far as they are needed.
using Operands = std::span<const Rows>;

/// Makes some rows of the result. Of each operand it gets the rows that it needs for them, or more. A row's
/// cells do not depend on which rows are made together with it, to the last bit.
using Compute = void (*)(const Use& use, Operands operands, RowsToMake result);

/// What an operation is, in xtensor: of one sentence, or of rows that do not relate to each other.
struct Definition {
  Compute compute;                  // null in the program where a kernel runs instead (core/op/definition.hpp)
  std::string_view operands, code;  // as they are written
};

/// Which rows of its operands an operation needs for some rows of its result.
enum class Needs {
  same_rows,      // of every operand; or the only row of one that has one row
  all_of_second,  // the same rows of the first operand, and all of the second
  all,
  nothing
};

/// An operation: one row, known by its address, `node.op == &op::softmax`. Only its row knows its name.
///
/// A matrix may hold a batch: sentences of equal length below each other, as the axis of its rows says. An
/// operation that relates rows to each other relates those of one sentence; one matrix without a batch meets
/// all of them.
struct Op {
  std::string_view name;
  /// How it is written, given how its operands are written: $1 is the first, and $1+, $1*, $1! the first in
  /// parentheses where it holds together less firmly than a sum, a product, a whole.
  std::string_view plain = {}, latex = {};
  Binding binding = Binding::whole;
  Formula (*formula)(const Use& use, std::span<const Formula> operands) = nullptr;  // where settings are written
  /// How one cell of the result is made: the text that explanations and pages come from (core/term/cell_text.hpp).
  std::string_view cell;

  Definition definition;
  Compute compute = nullptr;  // a kernel that computes it; null: its definition does, with the same bits
  /// The shape and the axes of the result; null: those of the first operand. Throws InputError when the
  /// operands do not fit together.
  Frame (*frame)(const Use& use) = nullptr;
  Needs needs = Needs::same_rows;
  RowRange (*needed)(const Use& use, std::size_t operand, RowRange made) = nullptr;  // where `needs` does not say it
  /// How many sentences its operands hold whose rows are related to each other; null: as many as all of them have.
  std::size_t (*sentences)(const Use& use) = nullptr;
  bool by_sentence = false;  // its definition is asked for each of them
  bool in_place = false;     // compute() may be given the first operand in the memory of the result, row upon row
  /// The operand that it takes where its numbers are stored, without cells.
  std::optional<std::size_t> stored_operand = std::nullopt;
  bool moves = false;  // it only moves its operands' numbers to other places and computes none

  unsigned passes = 1;                                                      // over the cells of the first operand
  Cost (*cost)(const Use& use, std::span<const Shape> operands) = nullptr;  // where passes do not say it
  Bounds bounds = {};                                                       // of every cell, whatever the operands are
  /// How a gradient flows back: from that of the result to that of each operand, each of its operand's shape, as
  /// nodes of their graph. Adds nodes, and computes nothing. Null: it has no gradient of its own.
  Gradients (*gradients)(const Use& use, const Value& result, const Value& d,
                         std::span<const Value> operands) = nullptr;

  const Function* function = nullptr;        // that it applies to every cell
  const Function* differentiates = nullptr;  // by whose derivative it multiplies a gradient
};

Formula formula_of(const Op& op, const Use& use, std::span<const Formula> operands);
Frame frame_of(const Op& op, const Use& use);
Cost cost_of(const Op& op, const Use& use, std::span<const Shape> operands);
/// The rows of an operand that it needs to make these rows of the result.
RowRange needed(const Op& op, const Use& use, std::size_t operand, RowRange made);
/// How many sentences stand below each other where it is used.
std::size_t sentences_of(const Op& op, const Use& use);
void compute(const Op& op, const Use& use, Operands operands, RowsToMake result);
/// Its own bounds, or those of the function that it applies to every cell.
Bounds bounds_of_op(const Op& op);

namespace op {
/// Another name for a matrix: it computes nothing.
extern const Op identity;
}  // namespace op

}  // namespace attn
