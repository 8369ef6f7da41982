#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/graph/graph.hpp"
#include "core/term/term.hpp"

namespace attn {

/// Names that stand for numbers in an expression, such as i for 3: there `weights[i,i-1]` is `weights[3,2]`.
using Variables = std::map<std::string, double, std::less<>>;

/// Reads an expression, as look_up_quantity() says. A variable is the number that it stands for, also in
/// place of a row or a column. Throws likewise.
Term read_term(std::string_view expression, const Graph* graph, const Variables& variables = {});

/// A quantity, and whether it was looked up in a computation or only worked out from what is typed.
struct QuantityLookup {
  Quantity quantity;
  bool of_computation = false;
};

/// Works out an expression such as `scores[1,2] / sqrt(d_k)`: numbers, e, + - * / ^, parentheses, functions
/// (sqrt, exp, log, sin, cos, tanh, abs), cells, `rows(x)`, `columns(x)`, `shape(x)`, sizes (n_q, n_k,
/// d_model, d_k, d_v, h), comparisons (< > =), words in double quotes, and of a row such as `weights[it]` the
/// `sum`, `largest` and `smallest` number, the `entropy` in bits and the words with the `most` and the
/// `least`. Without a graph there are only numbers, words and functions of them. Throws InputError: none of
/// these, nothing of that name, or two words that share the most or the least.
QuantityLookup look_up_quantity(std::string_view expression, const Graph* graph);

/// As a reader would write it: "0.8808", "2×4", "animal", "yes".
std::string written(const Quantity& quantity);

/// Takes an expression apart, from left to right: signs, numbers, names, what stands in quotes and brackets.
/// Blanks between them do not count. Throws InputError where something begins and does not end.
class QuantityScanner {
 public:
  explicit QuantityScanner(std::string_view expression) : expression_(expression), rest_(expression) {}

  std::string_view expression() const { return expression_; }
  /// What has not been taken yet.
  std::string_view rest() const { return rest_; }
  bool is_at_end();
  /// Whether a name comes next.
  bool is_at_name();
  /// The name that comes next; empty where none does. It is not taken.
  std::string_view next_name();
  /// Takes the name or the byte that comes next.
  void skip_name_or_sign();

  /// Takes this sign if it comes next.
  bool take(std::string_view sign);
  /// The same, and throws InputError where it does not.
  void expect(std::string_view sign);

  /// A number, "0.5" or "50 %".
  double number();
  /// The exponent in "e²" or "10⁻³", if one comes next.
  std::optional<int> superscript();
  /// A name such as "head.1.weights"; empty where none comes.
  std::string_view name();
  /// What stands before the next quotation mark; the one before it has been taken.
  std::string_view quoted();
  /// What stands between brackets, in which a word in quotes may hold one.
  std::string_view brackets();

 private:
  void skip_blanks();
  std::string_view taken(std::size_t length);

  std::string_view expression_, rest_;
};

/// Whether it is a name as expressions have them, from the first letter to the end, which may hold digits,
/// `_` and `.`.
bool is_name(std::string_view text);

}  // namespace attn
