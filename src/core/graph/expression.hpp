#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// How firmly a formula holds together, loosest first: words ("x at the distance j − i"), a + b, a ⋅ b, and
/// what nothing can be torn from ("softmax(x)", "xᵀ").
enum class Binding { words, sum, product, whole };

/// A piece of mathematics as it is written: in a terminal, and in LaTeX without the dollar signs.
struct Formula {
  std::string plain;
  std::string latex;
  Binding binding = Binding::whole;
};

/// The formula as part of another one: in parentheses where it holds together less firmly than its place
/// asks.
Formula within(Binding place, const Formula& formula);

/// A name in LaTeX that has no letter.
std::string written_out(std::string_view name);

/// How a name is written: `head.2.q` stays as it is in plain text; in LaTeX the scope is an index.
Formula symbol(std::string_view scope, std::string_view leaf, const std::string& latex);

struct Node;

/// One number of one node. Rows and columns count from zero in code and from one in whatever is shown.
struct Cell {
  const Node* node = nullptr;
  std::size_t row = 0;
  std::size_t column = 0;

  double value() const;
  auto operator<=>(const Cell&) const = default;
};

/// A matrix as it is called, and as formulas write it.
struct Symbol {
  std::string name;
  Formula formula;
};

struct Function;

/// How one cell came about: a small tree of terms whose leaves are cells and numbers. It is a value, not
/// text, so that every format can write it and so that its cells can be explained in turn.
struct Expression {
  enum class Kind { number, cell, sum, difference, product, quotient, square, call };

  Kind kind = Kind::number;
  double value = 0.0;     // of the whole tree below
  Formula notation = {};  // a number's own way of being written ("√64"), or a function's name
  Cell cell = {};         // of a cell; without a node where the matrix is told by a symbol
  std::shared_ptr<const Symbol> matrix = {};
  std::vector<Expression> parts = {};
  const Function* function = nullptr;  // of a call
};

Expression number(double value);
Expression number(double value, Formula notation);
Expression cell(const Node& node, std::size_t row, std::size_t column);
Expression sum(std::vector<Expression> terms);
Expression product(std::vector<Expression> factors);
Expression operator-(Expression a, Expression b);
Expression operator/(Expression a, Expression b);
Expression squared(Expression base);

/// The derivative of a function of one number, as it is worked out from z: from the function's result, where
/// that says it exactly, or else from its argument.
struct Derivative {
  bool of_result;
  double (*evaluate)(double z);
  void (*multiply)(std::span<double> d, std::span<const double> z);  // d ← d · f′, cell by cell
  Expression (*worked_out)(const Expression& z);
  Formula (*formula)(const Formula& z);
  std::string (*reason)(const std::string& cell, double z);  // null: the terms say it
};

/// Between which numbers results lie, whatever they are computed from, and the sentence that says so. Without
/// bounds there is none.
struct Bounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  std::string_view says = {};
};

/// A function of one number that an expression may call.
struct Function {
  std::string_view name;
  std::string_view latex;
  double (*evaluate)(double);
  void (*evaluate_all)(std::span<double> x);                // x ← f(x), cell by cell
  Expression (*worked_out)(const Expression& x) = nullptr;  // with simpler functions; null: it is known
  const Derivative* derivative = nullptr;                   // null: no operation applies it to every cell
  Bounds bounds = {};
};
extern const Function exponential;
extern const Function hyperbolic_tangent;
extern const Function error_function;  // erf
extern const Function logistic;        // 1 / (1 + exp(−x))
extern const Function rectifier;       // max(x, 0), and NaN where x is
/// x Φ(x), where Φ is the distribution of a standard normal variable, and 0.5 x (1 + tanh(√(2/π) (x +
/// 0.044715 x³))), which is close to it.  (Hendrycks and Gimpel 2016, Gaussian Error Linear Units, section 2)
extern const Function gelu_function;
extern const Function gelu_by_tanh_function;
extern const Function silu_function;  // x / (1 + exp(−x))  (Hendrycks and Gimpel 2016, section 2)
extern const Function sine;
extern const Function cosine;
extern const Function square_root;
extern const Function logarithm;  // to the base e
extern const Function absolute_value;

/// Of tanh 1 − y² and of the logistic function y (1 − y), where y is the result. Of the rectifier 1 where the
/// result is above 0, else 0. Of the others what their definitions give.
extern const Derivative tanh_derivative, logistic_derivative, rectifier_derivative, gelu_derivative,
    gelu_by_tanh_derivative, silu_derivative;

/// The function of the argument.
Expression call(const Function& function, Expression argument);

/// The same with what simpler functions make of the argument, where the function is made of them.
Expression worked_out(const Function& function, Expression argument);

/// The different cells of the tree, in the order in which they are first written.
std::vector<Cell> cells_of(const Expression& expression);

/// An expression and, where the terms alone do not say it, a sentence on why it is so.
struct Explanation {
  Expression expression;
  std::string reason = {};
};

}  // namespace attn
