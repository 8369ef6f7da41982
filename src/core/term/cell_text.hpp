#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/operation.hpp"

namespace attn {

struct Pattern;

/// A part of a sentence or of a notation: words, or what is filled in.
struct CellPiece {
  enum class Kind { words, cell, number, title, row_label, column_label, list_of_rows, source };

  Kind kind = Kind::words;
  std::string words = {};
  std::size_t operand = 0;
  std::vector<Pattern> pattern;  // one, or none: a cell, a number, a place; of a list, what is added up
};
using CellSentence = std::vector<CellPiece>;

/// A term of the text of a cell. Its letters stand for places and numbers until it is filled in, so that it
/// becomes a Term.
struct Pattern {
  enum class Kind {
    number,
    notated,  // a number that is worked out from the one part, and written as its pieces say
    letter,   // i, j, a variable or a binding, by its slot
    setting,  // a number that the operation has
    element,  // of a setting that is a list: its place, from 1
    cell,     // of an operand: its row and its column, from 1
    rows,     // of an operand, or of the result; in one sentence where the operand is taken sentence by sentence
    columns,
    sentence,  // the rows of one sentence
    place,     // of the largest number of a row of an operand, from 1
    total,     // the sum of a row, 0 where only rounding is left of it
    exponent,  // of the power of two by which a row is divided before it is squared; mostly 0
    sum,
    difference,
    product,
    quotient,
    negative,
    power,
    call,
    added_up,  // over some variables
    choice,    // a condition, a term, a condition, a term …, a term
    block,     // in which block of n the place lies, from 1
    within,    // and its place there
    least,
    most,
    distance,  // from one position to another, as the operation measures it
    magnitude,
    // Conditions.
    less,
    greater,
    equal,
    unequal,
    both,
    every  // over some variables
  };

  Kind kind = Kind::number;
  double value = 0.0;
  std::size_t index = 0;                // of a letter: its slot; of an operand: its place
  std::string name = {};                // of a setting
  const Function* function = nullptr;   // of a call
  std::vector<std::size_t> slots = {};  // of the variables of added_up and every: for each of them the parts
                                        // have a first and a last place, then the body, then perhaps a condition
  std::vector<Pattern> parts = {};
  std::vector<CellPiece> pieces = {};  // of a notation
};

/// The result in a place that no operand has: rows(result).
constexpr std::size_t of_result = static_cast<std::size_t>(-1);

/// How one cell of the result of an operation is made: what its row says in its `cell`, read. docs/cells.md
/// has the grammar.
struct CellText {
  enum class Joining { no, beside, below };
  struct Binding {
    std::string name;
    std::size_t slot;
    Pattern pattern;
  };
  struct Case {
    std::optional<Pattern> condition;  // none in the last one
    Pattern term;
    CellSentence because;
  };

  std::vector<std::string> operands = {};
  std::vector<bool> by_sentence = {};  // whether the rows of an operand, and i, count in one sentence of a batch
  Joining joined = Joining::no;        // all operands are one matrix
  std::vector<Binding> bindings = {};  // in order: i and j have the slots 0 and 1
  std::size_t slots = 2;
  std::vector<std::string> slot_names = {"i", "j"};
  std::vector<Case> cases = {};
};

/// Whether a setting is a number with a notation of its own.
bool has_notation(std::string_view setting);

/// Reads such a text. Throws InputError with the place where it cannot be read.
CellText read_cell_text(std::string_view text);

/// That of an operation, which is read once.
const CellText& cell_text_of(const Op& op);

}  // namespace attn
