#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/attention.hpp"
#include "core/attention/feed_forward.hpp"
#include "core/attention/masks.hpp"
#include "core/attention/positional_encoding.hpp"
#include "core/attention/score.hpp"
#include "core/graph/graph.hpp"
#include "core/math/random.hpp"
#include "data/problem/option.hpp"

namespace attn {

/// One sentence: its words and their embeddings. Without words it has as many rows as x.
struct Sequence {
  std::vector<std::string> tokens;
  std::optional<Matrix> x;  // [n, d_model]
};

/// A mask as it was given: 1 where a query may attend to a key and 0 where not, or numbers to add to the
/// scores.
struct GivenMask {
  std::vector<Matrix> of_heads;  // one for all heads, or one for each: [n_q, n_k], or [1, n_k] for all queries
  bool additive = false;

  const Matrix& of_head(std::size_t head) const { return of_heads[of_heads.size() == 1 ? 0 : head]; }
};

/// How the cells of a mask are read, by how they are written (docs/formats.md). Throws InputError for two whole numbers
/// that neither permit nor are likely to be added: 0 and one above 1.
struct MaskReading {
  bool is_added;
  Assumption assumption;
};
MaskReading reading_of_mask(const MatrixFile& file);

/// What is attended to, and how. Everything is optional: as much is computed as the given matrices allow,
/// from x and the parameters, or from q, k and v, or from scores, or from weights and v.
struct Problem {
  std::string title;
  std::string summary;                     // one sentence
  std::vector<std::string> about;          // paragraphs
  std::vector<Sequence> sequences = {{}};  // more than one is a batch: each is attended to on its own
  std::vector<std::string> key_tokens;     // labels of the keys, when they are not the queries' words
  std::map<const Role*, Matrix> matrices;  // memory, value_memory, w_q … w_o, w_1, w_2, b_q … b_o, b_1, b_2,
                                           // q, k, v, scores, weights, position_table

  std::size_t heads = 1;
  std::size_t key_heads = 0;  // of keys and values; 0: as many as of queries
  std::size_t layers = 1;     // each attends to what the one below found, with the same parameters
  bool feed_forward = false;  // after the attention of each layer
  std::string activation = "relu";
  std::string positions = "none";
  double base = Waves::usual_base;                       // of positions that are waves
  std::size_t max_distance = 2;                          // of relative positions that are drawn
  std::size_t first_position = 0;                        // of the first key, or of the first word of x
  std::optional<Matrix> position_ids, key_position_ids;  // of words or queries, and of keys: a row, or one per sentence
  std::optional<Matrix> parents;                         // of each word in a tree, from 1, and 0 for the root: the same
  std::string score = "scaled-dot";
  double score_sigma = 1.0;
  std::string scale;                 // empty: the one that belongs to the scoring function
  std::optional<double> multiplier;  // of the scores, instead of a scale
  std::optional<double> soft_cap;    // the scaled scores lie between −c and c
  bool causal = false;
  std::ptrdiff_t causal_offset = 0;  // keys before the first query's own; below 0: its own is not among them
  std::optional<GivenMask> mask;
  std::optional<Matrix> key_mask;          // 1 where a key may be attended to: a row, or one for each sentence
  std::vector<std::size_t> valid_lengths;  // one; or one for each sentence of a batch; or one for each query
  double fill = -std::numeric_limits<double>::infinity();

  /// The matrix with this role, or null.
  const Matrix* find(const Role& role) const;
  bool has(const Role& role) const { return matrices.contains(&role); }
  /// How many heads there are of queries and of keys.
  HeadCounts all_heads() const { return {heads, key_heads ? key_heads : heads}; }
  /// Among how many heads the columns of a matrix are split: queries, keys or values, or what makes them.
  std::size_t heads_of(const Role& role) const;
  /// What the mask of a sequence follows from: "--causal", "the padding".
  std::vector<std::string> sources_of_mask(const std::vector<std::string>& key_words) const;
  /// Whether some queries may be kept from some keys.
  bool is_masked() const;
  /// Whether that follows from the places of the words, whatever words stand there.
  bool masks_places() const { return causal || mask || key_mask || !valid_lengths.empty(); }
  /// Whether that follows from the words: keys that are padding are masked, but where valid lengths say what
  /// is padding.
  bool masks_blanks() const { return valid_lengths.empty(); }
  /// The words that label the keys of a sequence: its own, where the keys come from it; or none.
  const std::vector<std::string>& words_of_keys(const Sequence& sequence) const;

  std::vector<std::string> drawn;    // the names of random matrices
  std::string drawn_from;            // "seed 1", "numpy:0"
  DrawnMatrices drawings;            // of those that were drawn here, not before and elsewhere
  std::vector<std::string> remarks;  // what the reader should know about how it was put together
};

/// The problem that was asked for; what is not given is random or has its default.
/// Throws InputError when options contradict each other or cannot be.
Problem build_problem(const OptionValues& given);

/// A problem as options, from which it can be built again: every matrix as it is, whether it was given or is
/// random.
OptionValues values_of(const Problem& problem);

/// How far a computation goes: to q, k and v, to the weights, or to the output.
enum class Extent { projections, weights, output };

/// Computes all that the problem allows up to the extent, into the graph.
/// Throws InputError when the matrices do not fit together.
void add_computation(const Problem& problem, Graph& graph, Extent extent = Extent::output);

/// Adds the transpose of every matrix of weights beside it, as `alignment`: keys as rows and queries as
/// columns, which sum to one. (Stenzel 2023, Transformer Pt. 1, the alignment table)
void add_alignments(Graph& graph);

/// A computation, and the problem that it belongs to.
struct Calculation {
  std::shared_ptr<Graph> graph = {};            // null: nothing was computed
  std::shared_ptr<const Problem> problem = {};  // null: it was not about a problem
  std::string random = {};                      // a sentence on what is random in a model; empty: nothing is
  DrawnMatrices drawings = {};                  // of a model

  /// How the numbers of an input were drawn from a seed; null: they were not, or it is not known how.
  const DrawnFrom* drawing_of(const Node& input) const;
};

// A problem's words for how attention is computed, as the pieces of a AttentionRecipe.

/// The problem's scoring function, positions and scale, but no mask. Throws InputError when a matrix of the
/// scoring function is missing, and as divisor() does.
AttentionRecipe recipe_of(const Problem& problem, const Parameters& parameters, const KeySizes& sizes);

/// What becomes of the scores before the mask: the problem's scale, or the one that belongs to its scoring
/// function, and its cap. Throws InputError as divisor() does.
AttentionRecipe scaling_of(const Problem& problem, const KeySizes& sizes);

/// The problem's kind of positions. Throws InputError with the nearest name.
const PositionKind& kind_of_positions(const Problem& problem);

/// What tells which keys are padding: valid lengths, or where there are none the words of the keys.
struct Padding {
  std::span<const std::size_t> valid_lengths;
  const std::vector<std::string>& words;  // of the keys; may be none
  const std::optional<Matrix>& of_keys;   // 1 for a key, 0 for padding, whatever the others say  [1, n_k]
};

/// What masks of 0 and 1 of a head follow from: the given one, the causal one, and that of the padding. `shape`
/// is that of the scores. Throws InputError when a mask does not fit it.
std::vector<MaskRule> mask_rules(const Problem& problem, const Padding& padding, Shape shape, std::size_t head = 0);

/// What is said of a length above the number of keys, which counts as all of them; nothing of others.
std::optional<std::string> remark_on_lengths(const Option& option, std::span<const std::size_t> lengths,
                                             std::size_t keys);

/// Throws InputError unless a mask of keys is of ones and zeros that permit: one row, or one for each sentence.
/// Throws InputError unless all cells of a mask say whether a key may be attended to.
void require_permissions(std::string_view called, const MatrixFile& file);
void require_key_mask(const Option& option, const MatrixFile& file, std::size_t sentences);

/// The numbers of an additive mask of a head. Throws InputError when they do not fit the scores.
std::optional<Matrix> added_cells(const Problem& problem, Shape shape, std::size_t head = 0);

/// One sequence of a problem, and how far its computation goes.
struct SequenceTask {
  const Sequence* sequence;
  std::size_t number;  // among all, from 0
  std::vector<std::size_t> valid_lengths;
  std::optional<Matrix> key_mask;  // [1, n_k]
  Extent extent;
};

/// Computes what the problem asks for one of its sequences, within the open scope.
/// Throws InputError when the matrices do not fit together.
void evaluate_sequence(const Problem& problem, const Parameters& parameters, const SequenceTask& task, Graph& graph);

/// Throws InputError when there are labels, but not one for each.
void require_labels(std::string_view name, const Axis& axis, std::size_t size);

}  // namespace attn
