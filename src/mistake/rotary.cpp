#include <array>
#include <cmath>

#include "mistake/attention_nodes.hpp"
#include "mistake/parts.hpp"
#include "op/gradients.hpp"
#include "op/known.hpp"
#include "op/sentences.hpp"

// Mistakes with rotary positions, and with those of distances.

namespace attn {
namespace {

/// Which columns are turned together as a point of the plane: x with each column in the place of its partner,
/// the first of a point as it is and the second negated.
using Partners = Value (*)(const Value& x);

Value beside_each_other(const Value& x) {
  std::vector<Value> parts;
  for (std::size_t j = 0; j < x.shape().columns; j += 2) {
    parts.push_back(times(columns(x, j + 1, 1), minus_one()));
    parts.push_back(columns(x, j, 1));
  }
  return concatenate(parts);
}

Value half_apart(const Value& x) {
  const std::size_t half = x.shape().columns / 2;
  return concatenate({times(columns(x, half, half), minus_one()), columns(x, 0, half)});
}

// The angles of columns: each twice, or all and then all again.
std::size_t repeated(std::size_t column, std::size_t) {
  return column / 2;
}
std::size_t tiled(std::size_t column, std::size_t size) {
  return column % (size / 2);
}

template <std::size_t (*frequency)(std::size_t, std::size_t), bool sines>
constexpr SinusoidLayout waves_alone{"waves", "", frequency, [](std::size_t, std::size_t) { return sines; },
                                     [](std::size_t) { return std::string(); }};

// x ⊙ cos + partners(x) ⊙ sin
template <std::size_t (*frequency)(std::size_t, std::size_t)>
Value turned(const Value& x, Partners partners, Waves waves) {
  const Shape shape = {sentences_of(x).rows, x.shape().columns};
  const Frame frame{shape, rows_of_one(x.node().frame.rows), x.node().frame.columns};
  const Value cosines = sinusoid(x.graph(), waves_alone<frequency, false>, frame, waves);
  const Value sines = sinusoid(x.graph(), waves_alone<frequency, true>, frame, waves);
  return add(multiply(x, cosines), multiply(partners(x), sines));
}

/// Queries or keys that are turned, as they now come in.
struct Turned {
  const Node& before;
  Value x;
  Waves waves;
};

std::optional<Turned> turned_here(const Node& node, Rewriting& again) {
  const bool is_turned = node.is(role::rotated_q) || node.is(role::rotated_k);
  if (!is_turned || node.is_alias() || !node.operation) return std::nullopt;
  return Turned{*node.operands[0], again.of(*node.operands[0]), *waves_of(*node.operation)};
}

Made halves(const Node& node, Rewriting& again) {
  const auto now = turned_here(node, again);
  return now ? Made(turned<tiled>(now->x, half_apart, now->waves)) : std::nullopt;
}

Made angles_tiled(const Node& node, Rewriting& again) {
  const auto now = turned_here(node, again);
  return now ? Made(turned<tiled>(now->x, beside_each_other, now->waves)) : std::nullopt;
}

Made angles_repeated(const Node& node, Rewriting& again) {
  const auto now = turned_here(node, again);
  return now ? Made(turned<repeated>(now->x, half_apart, now->waves)) : std::nullopt;
}

Made backwards(const Node& node, Rewriting& again) {
  const auto now = turned_here(node, again);
  return now ? Made(rotate_back(now->x, now->waves)) : std::nullopt;
}

Made keys_not_turned(const Node& node, Rewriting& again) {
  const auto now = node.is(role::rotated_k) ? turned_here(node, again) : std::nullopt;
  return now ? Made(now->x) : std::nullopt;
}

Made queries_not_turned(const Node& node, Rewriting& again) {
  const auto now = node.is(role::rotated_q) ? turned_here(node, again) : std::nullopt;
  return now ? Made(now->x) : std::nullopt;
}

Made nothing_turned(const Node& node, Rewriting& again) {
  const auto now = turned_here(node, again);
  return now ? Made(now->x) : std::nullopt;
}

// The keys count from 1 where the queries count from 0.
Made keys_one_late(const Node& node, Rewriting& again) {
  const auto now = node.is(role::rotated_k) ? turned_here(node, again) : std::nullopt;
  return now ? Made(rotate(now->x, {now->waves.first + 1, now->waves.base})) : std::nullopt;
}

// The values as well.
Made values_turned(const Node& node, Rewriting& again) {
  const Node* const keys = sums_values(node) ? node.operands[0]->beside(role::rotated_k) : nullptr;
  if (!keys || !keys->operation || !waves_of(*keys->operation)) return std::nullopt;
  const Value values = rotate(again.of(*node.operands[1]), *waves_of(*keys->operation));
  return matmul(again.of(*node.operands[0]), values);
}

// base^(j/d): the root of the base has this exponent.
Made exponent_without_two(const Node& node, Rewriting& again) {
  const auto now = turned_here(node, again);
  return now ? Made(rotate(now->x, {now->waves.first, std::sqrt(now->waves.base)})) : std::nullopt;
}

// base^(2j/d) with the d of all heads: the base of one head is so much smaller.
Made size_of_all_heads(const Node& node, Rewriting& again) {
  const auto now = turned_here(node, again);
  const Node* const all = now && now->before.within(scope::head) ? operand(now->before, 0) : nullptr;
  if (!all || all->frame.shape.columns == node.frame.shape.columns) return std::nullopt;
  const double share =
      static_cast<double>(node.frame.shape.columns) / static_cast<double>(all->frame.shape.columns);
  return rotate(now->x, {now->waves.first, std::pow(now->waves.base, share)});
}

// How many words went in at a time of which these are the keys: all at once, or first those before.
std::vector<std::size_t> words_at_a_time(const Node& keys) {
  std::vector<std::size_t> counts;
  const Node* now = &keys.original();
  while (now->within(scope::head) && operand(*now, 0)) now = &now->operands[0]->original();
  for (; now->is(role::keys); now = &now->operands[0]->original())
    counts.insert(counts.begin(), now->operands[1]->frame.shape.rows);
  counts.insert(counts.begin(), now->frame.shape.rows);
  return counts;
}

// Words that are written one by one, with a position of their own that does not go on from those before.
Made with_cache(const Node& node, Rewriting& again, std::size_t (*position)(std::size_t before)) {
  const auto now = turned_here(node, again);
  const Node* const queries = node.beside(role::rotated_q);
  if (!now || !queries || !queries->operation || waves_of(*queries->operation)->first == 0)
    return std::nullopt;
  const double base = now->waves.base;
  if (node.is(role::rotated_q)) return rotate(now->x, {position(now->waves.first), base});
  std::vector<Value> parts;
  std::size_t before = 0;
  for (const std::size_t count : words_at_a_time(now->before)) {
    parts.push_back(rotate(rows(now->x, before, count), {before == 0 ? 0 : position(before), base}));
    before += count;
  }
  return stack(parts);
}

Made from_0_with_cache(const Node& node, Rewriting& again) {
  return with_cache(node, again, [](std::size_t) { return std::size_t{0}; });
}

Made one_late_with_cache(const Node& node, Rewriting& again) {
  return with_cache(node, again, [](std::size_t before) { return before + 1; });
}

// i − j in the place of j − i: the table from its other end.
Made distance_reversed(const Node& node, Rewriting& again) {
  if (!node.is(role::relative) || node.is_alias() || node.operands.size() != 1) return std::nullopt;
  const Value table = again.of(*node.operands[0]);
  std::vector<Value> parts;
  for (std::size_t j = table.shape().columns; j-- > 0;) parts.push_back(columns(table, j, 1));
  return again.graph().apply(node.operation, {concatenate(parts)});
}

Made distance_missing(const Node& node, Rewriting& again) {
  const Node* const content = node.is(role::scores) ? node.beside(role::content) : nullptr;
  return content ? Made(again.of(*content)) : std::nullopt;
}

constexpr std::array table = {
    Mistake{"rotary-halves", convention, "columns j and j + d/2 turned together",
            "This is what comes out when columns j and j + d/2 are turned together, as in Llama of Hugging "
            "Face. Here neighbors are turned together, 2j and 2j + 1, as in the paper. What was learned in "
            "one order has to be used in it.",
            halves},
    Mistake{"rotary-angles-tiled", error, "neighbors turned together with the angles of halves",
            "This is what comes out when neighbors are turned together, but with the angles in the order "
            "that belongs to halves: all, and then all again. Give both columns of a pair the same angle.",
            angles_tiled},
    Mistake{"rotary-angles-repeated", error, "halves turned together with the angles of neighbors",
            "This is what comes out when columns j and j + d/2 are turned together, but by different angles: "
            "each angle stands twice in a row. Give both columns of a pair the same angle.",
            angles_repeated},
    Mistake{"rotary-backwards", error, "turned by the opposite angles",
            "This is what the opposite angles give. Compute x cos − y sin, and x sin + y cos.", backwards},
    Mistake{"rotary-keys-not-turned", error, "only the queries turned",
            "This is what comes out when only the queries are turned. Turn the keys as well, each by the "
            "angle of its own position.",
            keys_not_turned},
    Mistake{"rotary-queries-not-turned", error, "only the keys turned",
            "This is what comes out when only the keys are turned, or when every query has position 0. Turn "
            "the queries as well, each by the angle of its own position.",
            queries_not_turned},
    Mistake{"rotary-missing", error, "neither queries nor keys turned",
            "This is what comes out without positions. Turn each query and each key by the angle of its "
            "position.",
            nothing_turned},
    Mistake{"rotary-keys-one-late", error, "keys turned by one position too many",
            "This is what comes out when the positions of the keys count from 1 and those of the queries "
            "from 0. Count both from the same number.",
            keys_one_late},
    Mistake{"rotary-values-turned", error, "values turned as well",
            "This is what comes out when the values are turned as well. Turn queries and keys only.",
            values_turned},
    Mistake{"rotary-exponent-without-2", error, "the exponent j/d instead of 2j/d in rotary positions",
            "This is what the exponent j/d gives. It is 2j/d.", exponent_without_two},
    Mistake{"rotary-size-of-all-heads", error, "angles with the size of all heads together",
            "This is what the exponent 2j/d gives with the size of all heads together. Take the size of one "
            "head.",
            size_of_all_heads},
    Mistake{"rotary-from-0-with-cache", error, "each new word turned as if it were the first",
            "This is what comes out when each word that is written gets position 0. Go on counting from the "
            "words that are remembered.",
            from_0_with_cache},
    Mistake{"rotary-one-late-with-cache", error, "each new word turned by one position too many",
            "This is what comes out when each word that is written gets a position one too high. Its "
            "position is the number of words before it.",
            one_late_with_cache},
    Mistake{"distance-reversed", error, "the distance i − j instead of j − i",
            "This is what the distance i − j gives, from the key to the query. Count from the query to the "
            "key, j − i: words that come later have positive distances.",
            distance_reversed},
    Mistake{"distance-missing", error, "scores without the part of the distance",
            "This is what the scores are without the part of the distance. Add it.", distance_missing},
};

}  // namespace

std::span<const Mistake> mistakes_of_rotary_positions() {
  return table;
}

}  // namespace attn
