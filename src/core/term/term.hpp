#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/graph/formula.hpp"
#include "core/math/matrix.hpp"

namespace attn {

struct Cell;
struct Function;
struct Node;
struct RowFunction;
struct ShapeFunction;

/// What a question can ask for: a number, whether something is so, a word, a shape.
using Quantity = std::variant<double, bool, std::string, Shape>;

/// What a number is made of, as a tree: of explanations, questions, puzzles, drills and slips. Its leaves are
/// constants and parts of a computation. Differences are sums with negative terms, and quotients products with
/// inverse factors. It is a value, not text, so that every format can write it and so that its cells can be
/// explained in turn.
struct Term {
  enum class Kind {
    constant,
    cell,   // of a node
    size,   // its rows or columns
    row,    // what a function makes of a row of it
    shape,  // what a function makes of its shape
    sum,
    product,
    negative,
    inverse,
    power,
    call,  // of a function of a number
    less,
    greater,
    equal
  };

  Kind kind = Kind::constant;
  Quantity constant = 0.0;
  double value = 0.0;                              // of a term that explains a cell: what it gives
  Formula notation = {};                           // of a constant or a size that has its own: "√64"
  const Node* node = nullptr;                      // of a part of a computation
  std::shared_ptr<const Symbol> matrix = nullptr;  // in its place, where the computation is not at hand
  std::size_t row = 0, column = 0;
  std::size_t Shape::*side = nullptr;
  const Function* function = nullptr;
  const RowFunction* row_function = nullptr;
  const ShapeFunction* shape_function = nullptr;
  std::vector<Term> parts = {};
};

// Those that need no more than this. Each has its value, where its parts have theirs.
Term constant_of(double value, Formula notation = {});
Term cell_term(const Cell& cell);
Term call_of(const Function& function, Term argument);
Term term_of(Term::Kind kind, std::vector<Term> parts);

/// A sum of two, of which the second is subtracted; a product of two, of which the second divides; a square.
bool is_difference(const Term& term);
bool is_quotient(const Term& term);
bool is_square(const Term& term);

/// What it gives; of other nodes in the place of those that it names, where `now` says so. Throws InputError
/// where a node has no such cell, or two words share the most or the least.
using NodeNow = std::function<const Node&(const Node& node)>;
Quantity value_of_term(const Term& term, const NodeNow& now = {});
/// The same of one that gives a number.
double number_from(const Term& term, const NodeNow& now = {});
/// Whether it does: not a word, a shape, or whether something is so.
bool gives_number(const Term& term);

/// The nodes that it names, and the different cells, in the order in which they are first written.
std::vector<const Node*> nodes_of(const Term& term);
std::vector<Cell> cells_of(const Term& term);

/// "weights[it,animal]".
std::string cell_name(const Cell& cell);

/// As a reader would write it, with names of cells: "scores[1,1] / 8".
std::string in_names(const Term& term);
/// The same, with words for what is taken of a row: "the sum of weights[1]".
std::string in_words(const Term& term);
/// With their numbers: "112 / 8".
std::string in_numbers(const Term& term);

}  // namespace attn
