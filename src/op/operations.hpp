#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace attn {

// The operations. Each function adds one to the graph of its operands, and computes nothing. It throws
// InputError when the operands do not fit together.

/// [m, k] [k, n] -> [m, n].
Value matmul(const Value& a, const Value& b);

/// a · bᵀ: the dot product of every row of `a` with every row of `b`.  [m, k] [n, k] -> [m, n].
Value matmul_transposed(const Value& a, const Value& b);

/// x + y and x − y, where y has the shape of x or is one row or one column for all of it.
/// [m, n] [m, n], [1, n] or [m, 1] -> [m, n].
Value add(const Value& x, const Value& y);
Value subtract(const Value& x, const Value& y);
/// x ⊙ y, cell by cell, with the same shapes.
Value multiply(const Value& x, const Value& y);

/// [m, n] -> [n, m].
Value transpose(const Value& x);

/// ½‖x_i‖² of every row.  [n, d] -> [n, 1].
/// (Zhang et al., Dive into Deep Learning, 11.3.1, the terms of the Gaussian kernel)
Value half_squared_norms(const Value& x);

/// −½‖q_i − k_j‖², every query with every key.  [n_q, d] [n_k, d] -> [n_q, n_k].
/// (Zhang et al., Dive into Deep Learning, 11.3.1)
Value minus_half_squared_distances(const Value& q, const Value& k);

/// Every query plus every key, pair by pair: row i·n_k + j is q_i + k_j.  [n_q, d] [n_k, d] -> [n_q·n_k, d].
/// (Zhang et al., Dive into Deep Learning, 11.3.4, inside the tanh of additive attention)
Value pairwise_sum(const Value& q, const Value& k);

/// Every query beside every key: row i·n_k + j is [q_i; k_j].  [n_q, d_q] [n_k, d_k] -> [n_q·n_k, d_q + d_k].
/// (Zhang et al., Dive into Deep Learning, 11.3.4)
Value pairs(const Value& q, const Value& k);

/// One number for each pair, as a row for each query: queries and keys are those of `q` and `k`.
/// [n_q·n_k, 1] -> [n_q, n_k].
Value unpair(const Value& pairs, const Value& q, const Value& k);

/// The hyperbolic tangent, 1 / (1 + exp(−x)), and max(x, 0) of every cell.  [m, n] -> [m, n].
Value tanh(const Value& x);
Value sigmoid(const Value& x);
Value relu(const Value& x);

/// A number and how it is written: 8 = √64.
struct Scalar {
  double value;
  Formula notation;
  std::string in_words = {};  // where the notation does not say what number it is
};

/// x / divisor and x · factor.  [m, n] -> [m, n].
Value divide(const Value& x, const Scalar& divisor);
Value times(const Value& x, const Scalar& factor);

/// The number that an operation divides or multiplies by, or null.
const Scalar* number_of(const Operation& operation);

/// Replaces the scores by `fill` where `allowed` is 0, and by −∞ in a row where nothing is allowed.
/// [n_q, n_k] [n_q, n_k] -> [n_q, n_k].  (Zhang et al., Dive into Deep Learning, 11.3.2.1)
Value mask(const Value& scores, const Value& allowed, double fill);

/// A number in place of every cell where `kept` is 0, whatever else is in its row.  [m, n] [m, n] -> [m, n].
Value replace(const Value& x, const Value& kept, double fill);

/// Whether an operation is mask(), softmax() or transpose().
bool is_mask(const Operation& operation);
bool is_softmax(const Operation& operation);
bool is_transpose(const Operation& operation);

/// What a mask operation puts in the place of a score; −∞ for any other operation.
double mask_fill(const Operation& operation);

/// Makes every row nonnegative with sum one; a row of −∞ alone becomes zeros.  [m, n] -> [m, n].
/// (Zhang et al., Dive into Deep Learning, 11.1)
Value softmax(const Value& scores);

/// Every row divided by its sum; a row with sum 0 becomes zeros.  [m, n] -> [m, n].
/// (Zhang et al., Dive into Deep Learning, 11.1)
Value normalize(const Value& x);

/// The mean of every row.  [n, d] -> [n, 1].
Value row_means(const Value& x);

/// The mean squared distance of every row's numbers from its mean.  [n, d] [n, 1] -> [n, 1].
Value row_variances(const Value& x, const Value& means);

/// (x − mean) / √(variance + ε), row by row.  [n, d] [n, 1] [n, 1] -> [n, d].  (Ba et al. 2016)
Value standardize(const Value& x, const Value& means, const Value& variances, double epsilon);

/// 1 / n in every cell.  [m, n] -> [m, n].  (Zhang et al., Dive into Deep Learning, 11.1, average pooling)
Value uniform(const Value& scores);

/// 1 at the first largest cell of every row, else 0.  [m, n] -> [m, n].
/// (Zhang et al., Dive into Deep Learning, 11.1, exactly one weight 1)
Value largest(const Value& scores);

/// `count` columns, or rows, from `first` on.  [m, n] -> [m, count] or [count, n].
Value columns(const Value& x, std::size_t first, std::size_t count);
Value rows(const Value& x, std::size_t first, std::size_t count);

/// Matrices side by side; one alone is itself.  [m, n_1] … [m, n_h] -> [m, n_1 + … + n_h].
Value concatenate(const std::vector<Value>& parts);

/// Matrices below each other; one alone is itself.  [m_1, n] … [m_h, n] -> [m_1 + … + m_h, n].
Value stack(const std::vector<Value>& parts);

/// The same cells, whose rows are now called otherwise: a decoder's last state, as the query of its next
/// word. [m, n] -> [m, n].  Throws InputError unless there is a label for each row.
Value labelled(const Value& x, Axis rows);

/// The rows of a table that ids stand for, counted from 1.  [n, 1] [vocabulary, d] -> [n, d].
/// Throws InputError for an id that is no row.  (Notes "Self-Attention": x_i = E w_i)
Value embed(const Value& ids, const Value& table);

/// A row for each id, 1 at its place and 0 elsewhere: multiplied with the table it gives the embeddings.
/// [n, 1] -> [n, vocabulary].  Throws InputError for an id that is no row of `table`.
Value one_hot(const Value& ids, const Value& table);

/// What a table of distances −c … c holds for the distance from every query to every key; longer ones count
/// as c. The table has one row for all queries, or one for each; queries and keys are those of `q` and `k`.
/// [1, 2c + 1] or [n_q, 2c + 1] -> [n_q, n_k].  (Shaw et al. 2018)
Value by_distance(const Value& table, const Value& q, const Value& k);

/// In which order the columns of a sinusoid stand.
struct SinusoidLayout {
  std::string_view name;
  std::string_view summary;
  std::size_t (*frequency)(std::size_t column, std::size_t size);
  bool (*is_sine)(std::size_t column, std::size_t size);
  std::string (*columns)(std::size_t size);  // that the sine and cosine of frequency j have
};

/// interleaved (Vaswani et al. 2017; Zhang et al., Dive into Deep Learning, 11.6.3) and concatenated.
std::span<const SinusoidLayout> sinusoid_layouts();

/// sin(i / 10000^(2j/d)) and the same cosine for places i from `first` on, the very first being 0, and
/// frequencies j from 0.  -> [n, d].
Value sinusoid(Graph& graph, const SinusoidLayout& layout, Frame frame, std::size_t first = 0);

}  // namespace attn
