#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/op/operations.hpp"

namespace attn {

/// The sizes that a learned table of positions depends on when it is drawn.
struct PositionSizes {
  std::size_t n = 0;             // words
  std::size_t d_model = 0;       // numbers in an embedding
  std::size_t d_k = 0;           // numbers in a key of one head
  std::size_t max_distance = 0;  // longer distances count as this one
};

/// Where words stand, the waves by which that is told, and what was learned of places.
struct Places {
  Waves waves = {};  // the first one: how many words come earlier
  std::optional<Value> table = {};
};

/// How attention is told where a word stands. Each kind does one of four things and leaves the others null:
/// it adds to the embeddings, turns the queries and the keys of a head, or adds to the raw scores or to the
/// scaled scores.
struct PositionKind {
  std::string_view name;
  std::string_view summary;
  Shape (*table_shape)(const PositionSizes& sizes) = nullptr;              // of what it has learned; null: nothing
  Value (*of_embeddings)(const Value& x, const Places& places) = nullptr;  // [n, d_model]
  Value (*of_queries_and_keys)(const Value& x, const Places& places) = nullptr;             // [n, d_k]
  Value (*of_scores)(const Value& q, const Value& k, const Value& table) = nullptr;         // [n_q, n_k]
  Value (*of_scaled_scores)(const Value& q, const Value& k, const Value& table) = nullptr;  // [n_q, n_k]
  bool has_waves = false;                 // of which the base may be chosen
  std::string_view pros = {}, cons = {};  // what speaks for it, and against it

  /// Whether it tells of distances, which it adds to raw or scaled scores.
  bool changes_scores() const { return of_scores || of_scaled_scores; }
};

/// none, sinusoidal, concatenated, learned, rotary, rotary-halves, relative-bias, relative-vectors.
std::span<const PositionKind> position_kinds();

/// x + p, as `positioned`, with `positions`; x itself for a kind that adds nothing to it.
/// [n, d_model] -> [n, d_model].  Throws InputError: more words than positions were learned, or of another
/// size. (Vaswani et al. 2017, section 3.5; Zhang et al., Dive into Deep Learning, 11.6.3)
Value with_positions(const PositionKind& kind, const Value& x, const Places& places);

}  // namespace attn
