#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

namespace op {
#define OP(name) extern const Op name;
#include "core/op/operations.def"
#undef OP
}  // namespace op

// The operations. Each function adds one to the graph of its operands, and computes nothing. It throws
// InputError when the operands do not fit together. Shapes are those of one sentence; of a batch, the rows of
// the sentences stand below each other.

/// [m, k] [k, n] -> [m, n].
Value matmul(const Value& a, const Value& b);

/// a · bᵀ: the dot product of every row of `a` with every row of `b`.  [m, k] [n, k] -> [m, n].
Value matmul_transposed(const Value& a, const Value& b);

/// aᵀ · b: the dot product of every column of `a` with every column of `b`; of a batch, over the rows of all
/// sentences.  [k, m] [k, n] -> [m, n].
Value transposed_matmul(const Value& a, const Value& b);

/// x + y and x − y, where y has the shape of x or is one row or one column for all of it. Every sentence of a
/// batch meets the same y, where that has no batch.  [m, n] [m, n], [1, n] or [m, 1] -> [m, n].
Value add(const Value& x, const Value& y);
Value subtract(const Value& x, const Value& y);
/// x ⊙ y, cell by cell, with the same shapes.
Value multiply(const Value& x, const Value& y);

/// [m, n] -> [n, m].
Value transpose(const Value& x);

/// ½‖x_i‖² of every row.  [n, d] -> [n, 1].
/// (Zhang et al., Dive into Deep Learning, 11.3.1, the terms of the Gaussian kernel)
Value half_squared_norms(const Value& x);

/// x_i / ‖x_i‖, every row divided by its length; a row of zeros stays as it is.  [n, d] -> [n, d].
/// (Graves et al. 2014, Neural Turing Machines, section 3.3.1, the cosine similarity)
Value unit_rows(const Value& x);

/// −½‖a_i − b_j‖², every row of `a` with every row of `b`.  [m, d] [n, d] -> [m, n].
/// (Zhang et al., Dive into Deep Learning, 11.3.1)
Value minus_half_squared_distances(const Value& a, const Value& b);

/// Every row of `a` plus every row of `b`: row i·n + j is a_i + b_j.  [m, d] [n, d] -> [m·n, d].
/// (Zhang et al., Dive into Deep Learning, 11.3.4, inside the tanh of additive attention)
Value pairwise_sum(const Value& a, const Value& b);

/// Every row of `a` beside every row of `b`: row i·n + j is [a_i; b_j].  [m, d] [n, e] -> [m·n, d + e].
/// (Zhang et al., Dive into Deep Learning, 11.3.4)
Value pairs(const Value& a, const Value& b);

/// One number for each pair of a row of `a` and a row of `b`, as a row for each row of `a`.
/// [m·n, 1] -> [m, n].
Value unpair(const Value& pairs, const Value& a, const Value& b);

/// A function of every cell, as core/graph/function.hpp says: the hyperbolic tangent, 1 / (1 + exp(−x)), max(x,
/// 0), GELU, GELU by tanh, and SiLU.  [m, n] -> [m, n].
Value tanh(const Value& x);
Value sigmoid(const Value& x);
Value relu(const Value& x);
Value gelu(const Value& x);
Value gelu_by_tanh(const Value& x);
Value silu(const Value& x);

/// e^x of every cell.  [m, n] -> [m, n].
Value exp(const Value& x);

/// x / divisor and x · factor.  [m, n] -> [m, n].
Value divide(const Value& x, const Scalar& divisor);
Value times(const Value& x, const Scalar& factor);

/// What the rows, the columns and the cells of a masked matrix are called in the explanation of a cell.
struct MaskNouns {
  std::string_view row = "row", column = "column", cell = "score";
};

/// Replaces a cell by `fill` where `allowed` is 0, and by −∞ in a row where nothing is allowed.
/// [m, n] [m, n] -> [m, n].  (Zhang et al., Dive into Deep Learning, 11.3.2.1)
Value mask(const Value& x, const Value& allowed, double fill, const MaskNouns& nouns = {});

/// A number in place of every cell where `kept` is 0, whatever else is in its row.  [m, n] [m, n] -> [m, n].
Value replace(const Value& x, const Value& kept, double fill);

/// What a mask puts in the place of a cell; −∞ for the node of another operation.
double mask_fill(const Node& node);

/// Makes every row nonnegative with sum one; a row of −∞ alone becomes zeros.  [m, n] -> [m, n].
/// (Zhang et al., Dive into Deep Learning, 11.1)
Value softmax(const Value& scores);

/// Every row divided by its sum; a row with sum 0 becomes zeros.  [m, n] -> [m, n].
/// (Zhang et al., Dive into Deep Learning, 11.1)
Value normalize(const Value& x);

/// The sum of every row.  [m, n] -> [m, 1].
Value row_sums(const Value& x);

/// Equal parts of the rows of a matrix, in each of which rows that lie `apart` from each other belong
/// together: one part and 1 apart are all rows, `n` parts and 1 apart are neighbors, one part and `m` apart
/// are the rows of one place in sentences of m words.
struct RowGroups {
  std::size_t parts = 1, apart = 1;
};

/// The sum of the rows that belong together, named as `rows` says.
/// [parts · k · apart, n] -> [parts · apart, n].
Value sum_rows(const Value& x, RowGroups groups, Axis rows);

/// The opposite: every row for all that belong together.  [parts · apart, n] -> [parts · k · apart, n].
Value repeat_rows(const Value& x, RowGroups groups, std::size_t k, Axis rows);

/// One column as often as there are columns.  [m, 1] -> [m, n].
Value repeat_columns(const Value& x, std::size_t n, Axis columns);

/// The mean of every row.  [n, d] -> [n, 1].
Value row_means(const Value& x);

/// The mean squared distance of every row's numbers from its mean.  [n, d] [n, 1] -> [n, 1].
Value row_variances(const Value& x, const Value& means);

/// (x − mean) / √(variance + ε), row by row.  [n, d] [n, 1] [n, 1] -> [n, d].  (Ba et al. 2016)
Value standardize(const Value& x, const Value& means, const Value& variances, double epsilon);

/// x / √(mean of x² + ε), row by row.  [n, d] -> [n, d].
/// (Zhang and Sennrich 2019, Root Mean Square Layer Normalization, section 4)
Value divide_by_root_mean_square(const Value& x, double epsilon);

/// 1 / n in every cell.  [m, n] -> [m, n].  (Zhang et al., Dive into Deep Learning, 11.1, average pooling)
Value uniform(const Value& scores);

/// 1 at the first largest cell of every row, else 0.  [m, n] -> [m, n].
/// (Zhang et al., Dive into Deep Learning, 11.1, exactly one weight 1)
Value largest(const Value& scores);

/// `count` columns, or rows, from `first` on.  [m, n] -> [m, count] or [count, n].
Value columns(const Value& x, std::size_t first, std::size_t count);
Value rows(const Value& x, std::size_t first, std::size_t count);

/// The same cells in the same order, row after row, with so many in each row; of a batch, those of every
/// sentence. Throws InputError when they do not fill whole rows.  [m, n] -> [m·n / columns, columns].
Value reshape(const Value& x, std::size_t columns);

/// Matrices side by side; one alone is itself.  [m, n_1] … [m, n_h] -> [m, n_1 + … + n_h].
Value concatenate(const std::vector<Value>& parts);

/// The same; its columns keep their labels, where every part has them.
Value concatenate_labelled(const std::vector<Value>& parts);

/// Matrices below each other; one alone is itself.  [m_1, n] … [m_h, n] -> [m_1 + … + m_h, n].
Value stack(const std::vector<Value>& parts);

/// The same cells with other labels of the rows.  [m, n] -> [m, n].  Throws InputError unless there is a
/// label for each row.
Value labelled(const Value& x, Axis rows);

/// ln Σ_k exp(z_k) − z_id: minus the logarithm of the probability that softmax of the row of logits gives to
/// the target word, whose id counts from 1. With smoothing ε the target is 1 − ε + ε/V at the id and ε/V at
/// the other of V words (Szegedy et al. 2016, Rethinking the Inception Architecture, section 7). Throws
/// InputError for an id that is no column, and unless 0 ≤ ε ≤ 1.  [n, V] [n, 1] -> [n, 1].
Value cross_entropy(const Value& logits, const Value& ids, double smoothing = 0.0);

/// The rows of a table that ids stand for, counted from 1.  [n, 1] [vocabulary, d] -> [n, d].
/// Throws InputError for an id that is no row.  (Vaswani et al. 2017, section 3.4)
Value embed(const Value& ids, const Value& table);

/// A row for each id, 1 at its place and 0 elsewhere: multiplied with the table it gives the embeddings.
/// [n, 1] -> [n, vocabulary].  Throws InputError for an id that is no row of `table`.
Value one_hot(const Value& ids, const Value& table);

/// Where queries and keys stand, and how far their positions are apart.
struct QueryKeyPositions {
  RowPositions queries = {}, keys = {};  // of one sentence
  Distance distance = {};
};

/// What a table of distances −c … c, or of distances 0 … c in a tree, holds for the distance from the position of every
/// row of `a` to that of every row of `b`; longer ones count as c. The table has one row for all rows of `a`, or one
/// for each. Throws InputError where the tree has no such word. [1, 2c + 1], [m, 2c + 1], [1, c + 1] or [m, c + 1] ->
/// [m, n]. (Shaw et al. 2018)
Value by_distance(const Value& table, const Value& a, const Value& b, const QueryKeyPositions& apart = {});
/// The same for a result of this frame.
Value by_distance(const Value& table, const Frame& frame, const QueryKeyPositions& apart);

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

/// Where the waves of positions begin, and how long they grow: wave j of d/2 has the length 2π · base^(2j/d). What
/// rotate() turns by them: neighboring columns as in RoFormer and GPT-J, or column j with j + d/2 as in GPT-NeoX, where
/// d columns are turned.
struct Waves {
  static constexpr double usual_base = 10000.0;  // (Vaswani et al. 2017, section 3.5)

  RowPositions positions = {};  // of the rows of one sentence; the very first word has 0
  double base = usual_base;
  bool in_halves = false;
  std::size_t turned = 0;           // the first so many columns; 0: all
  std::vector<double> slower = {};  // wave j is so many times as long; empty: as long as it is
};

/// sin(i / base^(2j/d)) and the same cosine for positions i, and frequencies j from 0.  -> [n, d].
Value sinusoid(Graph& graph, const SinusoidLayout& layout, Frame frame, Waves waves = {});

/// Columns 2j and 2j + 1 of each row, or j and j + d/2, as a point of the plane, turned by the angle i / base^(2j/d)
/// for position i. So the dot product of two rows depends on the distance of their positions only.  [n, d] -> [n, d].
/// Throws InputError when d is odd, or larger than the row.  (Su et al. 2021, RoFormer, section 3.2; the first d
/// columns alone, in halves: Black et al. 2022, GPT-NeoX-20B, section 2.1)
Value rotate(const Value& x, Waves waves = {});

/// What sinusoid() and rotate() make the angles of a node of, or nothing where it has none.
std::optional<Waves> waves_of(const Node& node);

/// Where the rows or columns begin that rows() and columns() take, from 0; nothing for another node.
std::optional<std::size_t> first_of_slice(const Node& node);

/// All operations, in the order of core/op/operations.def.
std::span<const Op* const> operations();

}  // namespace attn
