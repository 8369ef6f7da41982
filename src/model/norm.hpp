#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.hpp"

namespace attn {

/// What a normalization has learned, and the small number under its root.
struct NormParameters {
  static constexpr double usual_epsilon = 1e-5;

  Value gamma;                // [1, d]
  std::optional<Value> beta;  // [1, d]
  double epsilon = usual_epsilon;
};

/// How the rows of a matrix are normalized, each by itself: the matrices that it names are in the open scope,
/// and the caller names the result.  apply: [n, d] -> [n, d]
struct NormKind {
  std::string_view name;
  std::string_view summary;
  std::string_view title;     // in a sentence: "layer normalization"
  std::string_view sentence;  // what it does to a row, up to the root that it divides by
  std::string_view spread;    // what stands under the root, beside ε
  bool shifts;                // it may have a β
  Value (*apply)(const Value& x, const NormParameters& parameters);
};

/// layer (the default), rms. A new one is a function of values and a row.
std::span<const NormKind> norm_kinds();

/// What a row is divided by, in a sentence: "√(variance + ε)", without ε where it is 0.
std::string root_in_words(const NormKind& kind, double epsilon);

/// γ (x − mean) / √(variance + ε) + β: `mean`, `variance`, `normalised`. Throws InputError when γ or β is not
/// one row of d.  (Ba et al. 2016, Layer Normalization; Zhang et al., Dive into Deep Learning, 11.7)
Value layer_norm(const Value& x, const NormParameters& parameters);

/// γ x / √(mean of x² + ε): `normalised`. Throws InputError when γ is not one row of d.
/// (Zhang and Sennrich 2019, Root Mean Square Layer Normalization, section 4)
Value rms_norm(const Value& x, const NormParameters& parameters);

}  // namespace attn
