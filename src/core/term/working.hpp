#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/expression.hpp"
#include "core/term/quantity.hpp"

namespace attn {

struct RowFunction;
struct ShapeFunction;

/// How a quantity is worked out: a tree whose leaves are constants and parts of a computation. Differences
/// are sums with negative terms, and quotients products with inverse factors.
struct Working {
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
  std::string name = {};       // of a constant or a size that has one
  const Node* node = nullptr;  // of a part of a computation
  std::size_t row = 0, column = 0;
  std::size_t Shape::*side = nullptr;
  const Function* function = nullptr;
  const RowFunction* row_function = nullptr;
  const ShapeFunction* shape_function = nullptr;
  std::vector<Working> parts = {};
};

using TermKind = Working::Kind;

// Those that need no more than this.
Working constant_of(double value);
Working cell_working(const Cell& cell);
Working made_of(Working::Kind kind, std::vector<Working> parts);

/// Reads an expression, as look_up_quantity() says. A variable is the number that it stands for, also in
/// place of a row or a column. Throws likewise.
Working read_working(std::string_view expression, const Graph* graph, const Variables& variables = {});

/// The terms and steps with which a cell is explained.
Working working_of(const Expression& expression);

/// What it gives; of other nodes in the place of those that it names, where `now` says so. Throws InputError
/// where a node has no such cell, or two words share the most or the least.
using NodeNow = std::function<const Node&(const Node& node)>;
Quantity worked_out(const Working& working, const NodeNow& now = {});
/// The same of one that gives a number.
double number_from(const Working& working, const NodeNow& now = {});
/// Whether it does: not a word, a shape, or whether something is so.
bool gives_number(const Working& working);

/// The nodes that it names.
std::vector<const Node*> nodes_of(const Working& working);

/// "weights[it,animal]".
std::string called(const Cell& cell);

/// As a reader would write it, with names of cells: "scores[1,1] / 8".
std::string in_names(const Working& working);
/// The same, with words for what is taken of a row: "the sum of weights[1]".
std::string in_words(const Working& working);
/// With their numbers: "112 / 8".
std::string in_numbers(const Working& working);

}  // namespace attn
