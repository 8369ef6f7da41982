#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "graph/graph.hpp"

namespace attn {

/// What a question can ask for: a number, whether something is so, a word, a shape.
using Quantity = std::variant<double, bool, std::string, Shape>;

/// Names that stand for numbers in an expression, such as i for 3: there `weights[i,i-1]` is `weights[3,2]`.
using Variables = std::map<std::string, double, std::less<>>;

/// A quantity, and whether it was looked up in a computation or only worked out from what is typed.
struct LookedUp {
  Quantity quantity;
  bool of_computation = false;
};

/// Works out an expression such as `scores[1,2] / sqrt(d_k)`: numbers, e, + - * / ^, parentheses, functions
/// (sqrt, exp, log, sin, cos, tanh, abs), cells, `rows(x)`, `columns(x)`, `shape(x)`, sizes (n_q, n_k,
/// d_model, d_k, d_v, h), comparisons (< > =), words in double quotes, and of a row such as `weights[it]` the
/// `sum`, `largest` and `smallest` number, the `entropy` in bits and the words with the `most` and the
/// `least`. Without a graph there are only numbers, words and functions of them. Throws InputError: none of
/// these, nothing of that name, or two words that share the most or the least.
LookedUp look_up_quantity(std::string_view expression, const Graph* graph);

/// As a reader would write it: "0.8808", "2×4", "animal", "yes".
std::string written(const Quantity& quantity);

}  // namespace attn
