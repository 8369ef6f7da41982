#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/graph/graph.hpp"
#include "core/op/operations.hpp"

namespace attn {

/// Learned matrices, as nodes, by role.
using Parameters = std::map<const Role*, Value>;

/// What a scoring function has learned: matrices, and the width of the Gaussian kernel.
struct ScoreParameters {
  Parameters matrices = {};
  double sigma = 1.0;
};

/// A learned matrix of a scoring function, and its shape for queries of d_q and keys of d_k numbers when it
/// is drawn.
struct ScoreParameter {
  const Role& role;
  std::string_view shape_in_words;
  Shape (*shape)(std::size_t d_q, std::size_t d_k);
};

/// How a query is compared with a key.  score: [n_q, d_q] [n_k, d_k] -> [n_q, n_k]
struct ScoringFunction {
  std::string_view name;
  std::string_view summary;
  std::string_view meaning;                         // what a score is, in a sentence or two
  std::string_view scale;                           // the scale that belongs to it, a row of scales()
  std::span<const ScoreParameter> parameters = {};  // all are needed
  std::span<const ScoreParameter> biases = {};      // may be left out, and are never random
  Value (*score)(const Value& q, const Value& k, const ScoreParameters& parameters);
  // Names what the scores are when they are written otherwise, for the reader: they are not made of it.
  void (*expand)(const Value& q, const Value& k, const ScoreParameters& parameters) = nullptr;

  /// Whether this function makes the scores: dot_product, gaussian.
  bool is_made_by(decltype(score) function) const { return score == function; }
};

/// scaled-dot (the default), dot, cosine, gaussian, bilinear, additive. A new scoring function is a function
/// of values and a row.
std::span<const ScoringFunction> scoring_functions();

/// q · kᵀ, every query with every key. Throws InputError when their sizes differ.
/// (Vaswani et al. 2017, section 3.2.1)
Value dot_product(const Value& q, const Value& k, const ScoreParameters& parameters);

/// q · k / ‖q‖‖k‖, between −1 and 1, with `unit_q` = q / ‖q‖ and `unit_k` = k / ‖k‖; 0 where one of them is
/// 0. (Graves et al. 2014, Neural Turing Machines, section 3.3.1, equation 6)
Value cosine_similarity(const Value& q, const Value& k, const ScoreParameters& parameters);

/// −‖q − k‖² / 2σ², from the differences q − k.  (Zhang et al., Dive into Deep Learning, 11.3.1)
Value gaussian(const Value& q, const Value& k, const ScoreParameters& parameters);

/// The same squared out: `dot` = q · kᵀ, `half_q` = ½‖q‖², `half_k` = ½‖k‖², and what is left when they are
/// subtracted, `expanded`, which loses digits where q and k are long and near each other.
/// (Zhang et al., Dive into Deep Learning, 11.3.1)
void expand_gaussian(const Value& q, const Value& k, const ScoreParameters& parameters);

/// q M kᵀ + b for queries and keys of different sizes, with `projected_q` = q M and one number b, or none.
/// (Zhang et al., Dive into Deep Learning, 11.3.4; the bias is that of torch.nn.Bilinear)
Value bilinear(const Value& q, const Value& k, const ScoreParameters& parameters);

/// tanh(q W_q + k W_k + b) w_v for every pair: `hidden_q`, `hidden_k` with b, if there is one, their sums
/// `hidden`, and `activated`.
/// (Zhang et al., Dive into Deep Learning, 11.3.4; Bahdanau et al. 2014)
Value additive(const Value& q, const Value& k, const ScoreParameters& parameters);

/// How large a key is and how many there are; 0 where only scores are given and keys are not known.
struct KeySizes {
  std::size_t d_k = 0;
  std::size_t n_k = 0;
};

/// What the scores are divided by before the softmax; nothing for `none`.
struct Scale {
  std::string_view name;
  std::string_view summary;
  std::optional<Scalar> (*divisor)(const KeySizes& sizes);
  bool counts_keys = false;  // it changes with the number of keys
};

/// sqrt-dk, none, and sqrt-n, which Stenzel 2023, Transformer Pt. 1, has by mistake.
std::span<const Scale> scales();

/// Whether the divisor changes with the number of keys; a number never does.
bool counts_keys(std::string_view scale);

/// The divisor for a scale's name or for a number.
/// Throws InputError: an unknown name, a number that is not positive, sqrt-dk without keys.
std::optional<Scalar> divisor(std::string_view scale, const KeySizes& sizes);

}  // namespace attn
