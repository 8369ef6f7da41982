#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace attn {

// The operations, one per file of this folder. Each function evaluates at once and returns a node of the same
// graph.

/// [m, k] [k, n] -> [m, n].
Value matmul(Value a, Value b);

/// a · bᵀ: the dot product of every row of `a` with every row of `b`.  [m, k] [n, k] -> [m, n].
Value matmul_transposed(Value a, Value b);

/// x + y and x − y, where y has the shape of x or is one row or one column for all of it.
/// [m, n] [m, n], [1, n] or [m, 1] -> [m, n].
Value add(Value x, Value y);
Value subtract(Value x, Value y);
/// x ⊙ y, cell by cell, with the same shapes.
Value multiply(Value x, Value y);

/// [m, n] -> [n, m].
Value transpose(Value x);

/// ½‖x_i‖² of every row.  [n, d] -> [n, 1].  (D0 11.3.1, the terms of the Gaussian kernel)
Value half_squared_norms(Value x);

/// −½‖q_i − k_j‖², every query with every key.  [n_q, d] [n_k, d] -> [n_q, n_k].  (D0 11.3.1)
Value minus_half_squared_distances(Value q, Value k);

/// Every query plus every key, pair by pair: row i·n_k + j is q_i + k_j.  [n_q, d] [n_k, d] -> [n_q·n_k, d].
/// (D0 11.3.4, inside the tanh of additive attention)
Value pairwise_sum(Value q, Value k);

/// Every query beside every key: row i·n_k + j is [q_i; k_j].  [n_q, d_q] [n_k, d_k] -> [n_q·n_k, d_q + d_k].
/// (D0 11.3.4)
Value pairs(Value q, Value k);

/// One number for each pair, as a row for each query: queries and keys are those of `q` and `k`.
/// [n_q·n_k, 1] -> [n_q, n_k].
Value unpair(Value pairs, const Value& q, const Value& k);

/// The hyperbolic tangent, 1 / (1 + exp(−x)), and max(x, 0) of every cell.  [m, n] -> [m, n].
Value tanh(Value x);
Value sigmoid(Value x);
Value relu(Value x);

/// A number and how it is written: 8 = √64.
struct Scalar {
  double value;
  Formula notation;
  std::string in_words = {};  // where the notation does not say what number it is
};

/// x / divisor and x · factor.  [m, n] -> [m, n].
Value divide(Value x, Scalar divisor);
Value times(Value x, Scalar factor);

/// The number that an operation divides or multiplies by, or null.
const Scalar* number_of(const Operation& operation);

/// Replaces the scores by `fill` where `allowed` is 0, and by −∞ in a row where nothing is allowed.
/// [n_q, n_k] [n_q, n_k] -> [n_q, n_k].  (D0 11.3.2.1)
Value mask(Value scores, Value allowed, double fill);

/// A number in place of every cell where `kept` is 0, whatever else is in its row.  [m, n] [m, n] -> [m, n].
Value replace(Value x, Value kept, double fill);

/// What a mask operation puts in the place of a score; −∞ for any other operation.
double mask_fill(const Operation& operation);

/// Makes every row nonnegative with sum one; a row of −∞ alone becomes zeros.  [m, n] -> [m, n].  (D0 11.1)
Value softmax(Value scores);

/// Every row divided by its sum; a row with sum 0 becomes zeros.  [m, n] -> [m, n].  (D0 11.1)
Value normalize(Value x);

/// The mean of every row.  [n, d] -> [n, 1].
Value row_means(Value x);

/// The mean squared distance of every row's numbers from its mean.  [n, d] [n, 1] -> [n, 1].
Value row_variances(Value x, Value means);

/// (x − mean) / √(variance + ε), row by row.  [n, d] [n, 1] [n, 1] -> [n, d].  (Ba et al. 2016)
Value standardize(Value x, Value means, Value variances, double epsilon);

/// 1 / n in every cell.  [m, n] -> [m, n].  (D0 11.1, average pooling)
Value uniform(Value scores);

/// 1 at the first largest cell of every row, else 0.  [m, n] -> [m, n].  (D0 11.1, exactly one weight 1)
Value largest(Value scores);

/// `count` columns, or rows, from `first` on.  [m, n] -> [m, count] or [count, n].
Value columns(Value x, std::size_t first, std::size_t count);
Value rows(Value x, std::size_t first, std::size_t count);

/// Matrices side by side; one alone is itself.  [m, n_1] … [m, n_h] -> [m, n_1 + … + n_h].
Value concatenate(std::vector<Value> parts);

/// Matrices below each other; one alone is itself.  [m_1, n] … [m_h, n] -> [m_1 + … + m_h, n].
Value stack(std::vector<Value> parts);

/// The same cells, whose rows are now called otherwise: a decoder's last state, as the query of its next
/// word. [m, n] -> [m, n].  Throws InputError unless there is a label for each row.
Value labelled(Value x, Axis rows);

/// The rows of a table that ids stand for, counted from 1.  [n, 1] [vocabulary, d] -> [n, d].
/// Throws InputError for an id that is no row.  (D4, x_i = E w_i)
Value embed(Value ids, Value table);

/// A row for each id, 1 at its place and 0 elsewhere: multiplied with the table it gives the embeddings.
/// [n, 1] -> [n, vocabulary].  Throws InputError for an id that is no row of `table`.
Value one_hot(Value ids, const Value& table);

/// What a table of distances −c … c holds for the distance from every query to every key; longer ones count
/// as c. The table has one row for all queries, or one for each; queries and keys are those of `q` and `k`.
/// [1, 2c + 1] or [n_q, 2c + 1] -> [n_q, n_k].  (Shaw et al. 2018; D4, relative positions)
Value by_distance(Value table, const Value& q, const Value& k);

/// In which order the columns of a sinusoid stand.
struct SinusoidLayout {
  std::string_view name;
  std::string_view summary;
  std::size_t (*frequency)(std::size_t column, std::size_t size);
  bool (*is_sine)(std::size_t column, std::size_t size);
  std::string (*columns)(std::size_t size);  // that the sine and cosine of frequency j have
};

/// interleaved (Vaswani et al. 2017; D0 11.6.3) and concatenated.
std::span<const SinusoidLayout> sinusoid_layouts();

/// sin(i / 10000^(2j/d)) and the same cosine for places i from `first` on, the very first being 0, and
/// frequencies j from 0.  -> [n, d].
Value sinusoid(Graph& graph, const SinusoidLayout& layout, Frame frame, std::size_t first = 0);

/// The operation of an alias, a second name for one value; `Graph::name` makes it.
constexpr std::string_view identity_name = "identity";
std::unique_ptr<const Operation> make_identity();

/// A row of the table that help, documentation and tests walk.
struct OperationRow {
  std::string_view name;
  std::string_view summary;
  Value (*sample)(Graph& graph);  // the operation on small inputs made for it
};

/// All operations. A new one is one file and one row.
std::span<const OperationRow> operations();

}  // namespace attn
