#include "core/attention/positional_encoding.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/attention/attention.hpp"
#include "core/math/elementary_functions.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"

namespace attn {

namespace {

// The words of one sentence: positions are the same in each.
Frame of_sentence(const Value& x) {
  Frame frame = x.node().frame;
  if (frame.rows.batch == 1) return frame;
  frame.shape.rows /= frame.rows.batch;
  frame.rows = axis(frame.rows.name);
  return frame;
}

Value sinusoid_like(const Value& x, const SinusoidLayout& layout, const Places& places) {
  const Frame frame = of_sentence(x);
  return sinusoid(x.graph(), layout, {frame.shape, frame.rows, axis("features")}, places.waves);
}

Value interleaved(const Value& x, const Places& places) { return sinusoid_like(x, sinusoid_layouts()[0], places); }

Value concatenated(const Value& x, const Places& places) { return sinusoid_like(x, sinusoid_layouts()[1], places); }

Value learned(const Value& x, const Places& places) {
  const Shape words = of_sentence(x).shape, table = places.table->shape();
  if (table.columns != words.columns) {
    fail("{} is {} but x is {}: a position vector must have the size of an embedding", places.table->node().title(),
         to_string(table), to_string(words));
  }
  const RowPositions& positions = places.waves.positions;
  if (places.first + positions.largest(words.rows) >= table.rows) {
    fail(
        "the words have positions up to {}, but only positions 0 to {} are learned: give a longer ‹position_table›, or ‹positions› sinusoidal, which is defined for any length (but trained models rarely work well beyond the lengths of training)",
        positions.largest(words.rows), table.rows - places.first - 1);
  }
  if (positions.follow_each_other()) return rows(*places.table, places.first + positions.first(), words.rows);
  Matrix chosen({words.rows, 1});
  for (std::size_t i = 0; i < words.rows; ++i) chosen(i, 0) = static_cast<double>(places.first + positions[i] + 1);
  const Value ids = x.graph().input(role::table_rows, std::move(chosen), of_sentence(x).rows, axis("row"));
  return embed(ids, *places.table);
}

template <bool in_halves>
Value rotary(const Value& x, const Places& places) {
  Waves waves = places.waves;
  waves.in_halves = in_halves;
  return rotate(x, std::move(waves));
}

// From −c to c, and 0 between them.
void require_odd(std::size_t count, std::string_view what, const Value& table) {
  if (count % 2 == 1) return;
  fail("position_table is {}: it must have an odd number of {}, one for each distance from −c to c",
       to_string(table.shape()), what);
}

// A number for each distance, whatever the words.
Value relative_bias(const Value& q, const Value& k, const Value& table, const QueryKeyPositions& apart) {
  if (table.shape().rows != 1) {
    fail("position_table is {}: {} has one row, with a number for each distance from {} to c", to_string(table.shape()),
         apart.distance.is_in_tree() ? "tree-bias" : "relative-bias", apart.distance.is_in_tree() ? "0" : "−c");
  }
  if (!apart.distance.is_in_tree()) require_odd(table.shape().columns, "columns", table);
  return name(role::relative, by_distance(table, q, k, apart));
}

// A vector for each distance, which the query is compared with as with a key.
Value relative_vectors(const Value& q, const Value& k, const Value& table, const QueryKeyPositions& apart) {
  if (table.shape().columns != q.shape().columns) {
    fail("position_table is {} but {} is {}: the vector of a distance must have the size of a query",
         to_string(table.shape()), q.node().title(), to_string(q.shape()));
  }
  if (!apart.distance.is_in_tree()) require_odd(table.shape().rows, "rows", table);
  Value of_distances = name(role::distances, matmul_transposed(q, table));
  return name(role::relative, by_distance(of_distances, q, k, apart));
}

std::size_t distances(const PositionSizes& sizes) { return 2 * sizes.max_distance + 1; }

constexpr std::array positional_table = {
    PositionKind{.name = "none",
                 .summary = "no positional encoding",
                 .pros = "nothing to learn",
                 .cons = "no order without a mask"},
    PositionKind{.name = "sinusoidal",
                 .summary = "x + p, with the sine and the cosine of each frequency in neighboring columns",
                 .of_embeddings = interleaved,
                 .has_waves = true,
                 .pros = "nothing to learn; has vectors beyond the training",
                 .cons = "not fitted to the data; may not work beyond the training"},
    PositionKind{.name = "concatenated",
                 .summary = "x + p, with all sine columns before all cosine columns",
                 .of_embeddings = concatenated,
                 .has_waves = true,
                 .pros = "as sinusoidal",
                 .cons = "as sinusoidal"},
    PositionKind{.name = "learned",
                 .summary = "x + p, where p is a row of a learned table (learned positional embedding)",
                 .table_shape =
                     [](const PositionSizes& sizes) {
                       return Shape{sizes.n, sizes.d_model};
                     },
                 .of_embeddings = learned,
                 .pros = "fitted to the data, as in BERT and GPT-2",
                 .cons = "no vector beyond the table"},
    PositionKind{
        .name = "rotary",
        .summary =
            "queries and keys of each head turned by angles that grow with the position (RoPE): columns 1 and 2, 3 and 4 and so on together",
        .of_queries_and_keys = rotary<false>,
        .has_waves = true,
        .pros = "nothing to learn; counts by distance, as in GPT-J",
        .cons = "not fitted to the data; may not work beyond the training"},
    PositionKind{
        .name = "rotary-halves",
        .summary = "as rotary, but column j is turned with column j + d/2, as in GPT-NeoX and in Llama of Hugging Face",
        .of_queries_and_keys = rotary<true>,
        .has_waves = true,
        .pros = "nothing to learn; counts by distance",
        .cons = "as rotary"},
    PositionKind{.name = "relative-bias",
                 .summary = "a learned number for each distance, added to the scaled scores",
                 .table_shape =
                     [](const PositionSizes& sizes) {
                       return Shape{1, distances(sizes)};
                     },
                 .of_scaled_scores = relative_bias,
                 .pros = "few numbers to learn; counts by distance",
                 .cons = "long distances count alike"},
    PositionKind{.name = "relative-vectors",
                 .summary = "q ⋅ a learned vector for each distance, added to the scores",
                 .table_shape =
                     [](const PositionSizes& sizes) {
                       return Shape{distances(sizes), sizes.d_k};
                     },
                 .of_scores = relative_vectors,
                 .pros = "counts by distance and by the query",
                 .cons = "long distances count alike"},
    PositionKind{.name = "tree-bias",
                 .summary = "a learned number for each distance in a tree of the words, added to the scaled scores",
                 .table_shape =
                     [](const PositionSizes& sizes) {
                       return Shape{1, sizes.max_distance + 1};
                     },
                 .of_scaled_scores = relative_bias,
                 .is_in_tree = true,
                 .pros = "counts distances of syntax",
                 .cons = "needs a tree; no direction"},
    PositionKind{.name = "tree-vectors",
                 .summary = "q ⋅ a learned vector for each distance in a tree of the words, added to the scores",
                 .table_shape =
                     [](const PositionSizes& sizes) {
                       return Shape{sizes.max_distance + 1, sizes.d_k};
                     },
                 .of_scores = relative_vectors,
                 .is_in_tree = true,
                 .pros = "as tree-bias, by the query",
                 .cons = "as tree-bias"},
};

// The longest distance from a query to a key, in either direction.
std::size_t longest(const QueryKeyPositions& apart, std::size_t n_q, std::size_t n_k) {
  const std::ptrdiff_t later = apart.distance.between(apart.queries.smallest(), apart.keys.largest(n_k));
  const std::ptrdiff_t earlier = apart.distance.between(apart.queries.largest(n_q), apart.keys.smallest());
  return static_cast<std::size_t>(std::max(later, -earlier));
}

}  // namespace

std::span<const PositionKind> position_kinds() { return positional_table; }

Value with_positions(const PositionKind& kind, const Value& x, const Places& places) {
  if (!kind.of_embeddings) return x;
  Value positions = name(role::positions, kind.of_embeddings(x, places));
  return name(role::positioned, add(x, positions));
}

// --- buckets of distances

std::size_t Buckets::of(std::ptrdiff_t distance) const {
  const std::size_t of_side = has_later ? count / 2 : count, exact = of_side / 2;
  const std::size_t begin = has_later && distance > 0 ? of_side : 0;
  const auto n = static_cast<std::size_t>(has_later ? std::abs(distance) : std::max<std::ptrdiff_t>(-distance, 0));
  if (n < exact) return begin + n;
  const auto logarithm = [&](std::size_t of) {
    return static_cast<float>(log(static_cast<double>(static_cast<float>(of) / static_cast<float>(exact))));
  };
  const float share = logarithm(n) / logarithm(max_distance);
  const auto more = static_cast<std::size_t>(share * static_cast<float>(of_side - exact));
  return begin + std::min(exact + more, of_side - 1);
}

std::vector<Value> relative_by_bucket(const Value& table, const Buckets& buckets, const Frame& frame,
                                      const QueryKeyPositions& apart) {
  Graph& graph = table.graph();
  const std::size_t sentences = frame.rows.batch, n_q = frame.shape.rows / sentences, n_k = frame.shape.columns;
  const auto most = static_cast<std::ptrdiff_t>(std::min(buckets.max_distance, longest(apart, n_q, n_k)));
  Matrix ids({static_cast<std::size_t>(2 * most + 1), 1});
  std::vector<std::string> labels;
  for (std::ptrdiff_t distance = -most; distance <= most; ++distance) {
    ids(labels.size(), 0) = static_cast<double>(buckets.of(distance) + 1);
    labels.push_back(std::to_string(distance));
  }
  const Value places = graph.input(role::buckets, std::move(ids), axis("distances", std::move(labels)), axis("id"));
  const Value numbers = name(role::by_bucket, embed(places, table));
  const std::size_t heads = table.shape().columns;
  std::vector<Value> of_heads;
  for (std::size_t i = 0; i < heads; ++i) {
    const std::optional<Graph::Scope> scope = scope_among(graph, scope::head, i + 1, heads);
    const Value of_distances = transpose(attn::columns(numbers, i, 1));
    of_heads.push_back(name(role::relative, by_distance(of_distances, frame, apart)));
  }
  return of_heads;
}

}  // namespace attn
