#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

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
  Waves waves = {};  // with the positions of the words
  std::optional<Value> table = {};
  std::size_t first = 0;  // the row of the table that the very first position has
};

/// What is added to scores for the distances from queries to keys.  [n_q, n_k].  Throws InputError for a table that
/// does not fit.
using OfDistances = Value (*)(const Value& q, const Value& k, const Value& table, const QueryKeyPositions& apart);

/// How attention is told where a word stands. Each kind does one of four things and leaves the others null:
/// it adds to the embeddings, turns the queries and the keys of a head, or adds to the raw scores or to the
/// scaled scores.
struct PositionKind {
  std::string_view name;
  std::string_view summary;
  Shape (*table_shape)(const PositionSizes& sizes) = nullptr;              // of what it has learned; null: nothing
  Value (*of_embeddings)(const Value& x, const Places& places) = nullptr;  // [n, d_model]
  Value (*of_queries_and_keys)(const Value& x, const Places& places) = nullptr;  // [n, d_k]
  OfDistances of_scores = nullptr;
  OfDistances of_scaled_scores = nullptr;
  bool has_waves = false;                 // of which the base may be chosen
  bool is_in_tree = false;                // its distances are those in a tree of the words
  std::string_view pros = {}, cons = {};  // what speaks for it, and against it

  /// Whether it tells of distances, which it adds to raw or scaled scores.
  bool changes_scores() const { return of_scores || of_scaled_scores; }
};

/// none, sinusoidal, concatenated, learned, rotary, rotary-halves, relative-bias, relative-vectors, tree-bias,
/// tree-vectors.
std::span<const PositionKind> position_kinds();

/// x + p, as `positioned`, with `positions`; x itself for a kind that adds nothing to it.
/// [n, d_model] -> [n, d_model].  Throws InputError: more words than positions were learned, or of another
/// size. (Vaswani et al. 2017, section 3.5; Zhang et al., Dive into Deep Learning, 11.6.3)
Value with_positions(const PositionKind& kind, const Value& x, const Places& places);

/// Buckets that distances of positions fall into: a bucket of its own for each short one, and for longer ones buckets
/// that grow with the distance, up to the longest, which the last one is for. Where a query may see later keys, these
/// have one half of the buckets. (Raffel et al. 2020, section 2.1; logarithms in single precision as in its code)
struct Buckets {
  std::size_t count = 32;
  std::size_t max_distance = 128;
  bool has_later = true;

  /// That of a key so many positions after its query, from 0.
  std::size_t of(std::ptrdiff_t distance) const;
};

/// The numbers that each head adds to its scaled scores, by the buckets of distances: `buckets` of the distances that
/// there are, `by_bucket`, and `relative` of each head. `frame` is that of the scores of all sentences.
/// [buckets, h] -> h times [n_q, n_k].
std::vector<Value> relative_by_bucket(const Value& table, const Buckets& buckets, const Frame& frame,
                                      const QueryKeyPositions& apart);

}  // namespace attn
