#include <cmath>

#include "core/op/gradient_operations.hpp"
#include "school/mistake/amounts.hpp"
#include "school/mistake/numbers.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// --- rotary
// Mistakes with rotary positions, and with those of distances.

namespace {

/// Which columns are turned together as a point of the plane: x with each column in the place of its partner,
/// the first of a point as it is and the second negated.
using Partners = Value (*)(const Value& x);

Value pairs_beside_each_other(const Value& x) {
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
std::size_t repeated(std::size_t column, std::size_t) { return column / 2; }
std::size_t tiled(std::size_t column, std::size_t size) { return column % (size / 2); }

template <std::size_t (*frequency)(std::size_t, std::size_t), bool sines>
constexpr SinusoidLayout waves_alone{"waves", "", frequency, [](std::size_t, std::size_t) { return sines; },
                                     [](std::size_t) { return std::string(); }};

// x ⊙ cos + partners(x) ⊙ sin
template <std::size_t (*frequency)(std::size_t, std::size_t)>
Value turned(RewriteSite at, Partners partners) {
  const Value x = at[0];
  const Shape shape = {sentences_of(x).rows, x.shape().columns};
  const Frame frame{shape, rows_of_one(x.node().frame.rows), x.node().frame.columns};
  const Value cosines = sinusoid(x.graph(), waves_alone<frequency, false>, frame, waves(at));
  const Value sines = sinusoid(x.graph(), waves_alone<frequency, true>, frame, waves(at));
  return add(multiply(x, cosines), multiply(partners(x), sines));
}

// Whether all of a head is turned, in neighbors or in halves, by waves that are not slowed.
template <bool in_halves>
bool turns_whole(const Node& node) {
  if (!turns(node)) return false;
  const std::optional<Waves> waves = waves_of(node);
  return waves && waves->in_halves == in_halves && waves->turned == 0 && waves->slower.empty();
}

template <bool in_halves>
bool turns_in(const Node& node) {
  return turns(node) && waves_of(node) && waves_of(node)->in_halves == in_halves && node.frame.shape.columns > 2;
}
Made in_the_other_way(RewriteSite at) {
  Waves all = waves(at);
  all.in_halves = !all.in_halves;
  return rotate(at[0], std::move(all));
}

// The keys that stand with the values of a sum, where they are turned; else null.
const Node* turned_keys(const Node& node) {
  const Node* const keys = sums_values(node) ? node.operands[0]->beside(role::rotated_k) : nullptr;
  return keys && keys->op && waves_of(*keys) ? keys : nullptr;
}

// base^(2j/d) with the d of all heads: the base of one head is so much smaller.
bool turns_in_a_head(const Node& node) {
  if (!turns(node) || !node.operands[0]->within(scope::head)) return false;
  const Node* const all = operand(*node.operands[0], 0);
  return all && all->frame.shape.columns != node.frame.shape.columns;
}
Made size_of_all_heads(RewriteSite at) {
  const auto all = static_cast<double>(at.node.operands[0]->operands[0]->frame.shape.columns);
  const double share = static_cast<double>(at.node.frame.shape.columns) / all;
  return rotate(at[0], with_base(at, std::pow(waves(at).base, share)));
}

// Words that go in behind others, whose keys are remembered, with positions that do not go on from those before.
bool turns_with_cache(const Node& node) {
  if (!turns(node)) return false;
  const Node* const queries = node.beside(role::rotated_q);
  const Node* const keys = node.beside(role::rotated_k);
  if (!queries || !keys || !queries->op || !keys->op) return false;
  return waves_of(*queries)->positions.first() != waves_of(*keys)->positions.first();
}
Made with_cache(RewriteSite at, RowPositions (*other)(const RowPositions& positions)) {
  const Waves all = waves(at);
  const auto at_others = [&](const RowPositions& positions) {
    Waves one = all;
    one.positions = positions;
    return one;
  };
  if (at.node.is(role::rotated_q)) return rotate(at[0], at_others(other(all.positions)));
  std::vector<Value> parts;
  std::size_t before = 0;
  for (const std::size_t count : words_at_a_time(*at.node.operands[0])) {
    const RowPositions own = all.positions.part(before, count);
    parts.push_back(rotate(rows(at[0], before, count), at_others(before == 0 ? own : other(own))));
    before += count;
  }
  return stack(parts);
}
RowPositions from_0(const RowPositions&) { return {}; }
RowPositions one_late(const RowPositions& positions) { return positions.later(1); }

// --- turned before the projection

// The first queries that are turned of those that a projection makes, or of those beside it; null: none are.
const Node* turned_queries_of(const Node& node) {
  const NamedScope* const outer = around(node.place, scope::head);
  const Node* const first = node.graph->find(outer, Name({{scope::head, 1}}, role::rotated_q));
  const Node* const turned = first ? first : node.graph->find(outer, role::rotated_q);
  return turned && turns(*turned) ? turned : nullptr;
}

// Whether the words can be turned that a projection is made of, by waves as long as their own size gives.
bool projects_words_to_turn(const Node& node) {
  const std::optional<LinearNodes> map = node.within(scope::head) ? std::nullopt : linear_nodes(node);
  if (!makes<role::q, role::k, role::v>(node) || !map || map->x->frame.shape.columns % 2 != 0) return false;
  const Node* const queries = turned_queries_of(node);
  const std::optional<Waves> waves = queries ? waves_of(*queries) : std::nullopt;
  return waves && waves->turned == 0 && waves->slower.empty() && queries->frame.shape.rows == node.frame.shape.rows;
}
bool turns_or_is_projected(const Node& node) {
  if (!turns(node)) return projects_words_to_turn(node);
  const Node* const queries = shared_by_heads(node, role::q);
  return queries && projects_words_to_turn(*queries);
}

template <bool values_as_well>
Made turned_first(RewriteSite at) {
  if (turns(at.node)) return at[0];
  if (at.node.is(role::v) && !values_as_well) return std::nullopt;
  const LinearNodes map = *linear_nodes(at.node);
  const Value product = matmul(rotate(at.of(*map.x), *waves_of(*turned_queries_of(at.node))), at.of(*map.w));
  return map.b ? add(product, at.of(*map.b)) : product;
}

// i − j in the place of j − i: the table from its other end.
bool is_of_distances(const Node& node) { return makes(node, role::relative) && node.operands.size() == 1; }
bool has_signed_distance(const Node& node) {
  return is_of_distances(node) && node.find(setting::distance) && !node.find(setting::distance)->is_in_tree();
}
Made distance_reversed(RewriteSite at) {
  std::vector<Value> parts;
  for (std::size_t j = at[0].shape().columns; j-- > 0;) parts.push_back(columns(at[0], j, 1));
  return at.redo(at.node, {concatenate(parts)});
}

// Whether it is an attention of a model whose parameters were given: they are for one way of turning.
bool has_given_parameters(const Node& node) {
  if (!node.within(scope::self_attention)) return false;
  for (const NamedScope* place = node.place; place; place = place->outer) {
    if (const Node* const w = node.graph->find(place, role::w_q)) return !w->op && w->origin.empty();
  }
  return false;
}
template <bool in_halves>
bool turns_by_given(const Node& node) {
  return turns_in<in_halves>(node) && has_given_parameters(node);
}
template <bool in_halves>
bool turns_by_drawn(const Node& node) {
  return turns_in<in_halves>(node) && !has_given_parameters(node);
}

// The same table at other distances.
Made at_distances(RewriteSite at, const QueryKeyPositions& apart) { return by_distance(at[0], at.node.frame, apart); }
bool has_distances_with_cache(const Node& node) {
  const RowPositions* const keys = is_of_distances(node) ? node.find(setting::key_positions) : nullptr;
  return keys && keys->first() != node.find(setting::positions)->first();
}
bool is_in_tree(const Node& node) { return is_of_distances(node) && !has_signed_distance(node); }
// A tree without branches: each word is the parent of the next one.
Made distance_in_text(RewriteSite at) {
  std::vector<std::size_t> parents(at.node.find(setting::distance)->words());
  for (std::size_t word = 0; word < parents.size(); ++word) parents[word] = word;
  return at_distances(
      at, {*at.node.find(setting::positions), *at.node.find(setting::key_positions), Distance(std::move(parents))});
}

constexpr Mistake mistakes_in_rotary[] = {
    {"halves-for-neighbors", error, "columns j and j + d/2 turned together in a model that turns neighbors",
     "This is what comes out when columns j and j + d/2 are turned together. "
     "This model turns neighbors, columns 2j and 2j + 1, and its parameters are for that.",
     turns_by_given<false>, in_the_other_way},
    {"neighbors-for-halves", error, "columns 2j and 2j + 1 turned together in a model that turns halves",
     "This is what comes out when neighbors are turned together, 2j and 2j + 1. "
     "This model turns columns j and j + d/2, and its parameters are for that.",
     turns_by_given<true>, in_the_other_way},
    {"rotary-halves", convention, "columns j and j + d/2 turned together",
     "This is what comes out when columns j and j + d/2 are turned together, as in Llama of Hugging Face. "
     "Here neighbors are turned together, 2j and 2j + 1, as in the paper. "
     "What was learned in one order has to be used in it.",
     turns_by_drawn<false>, in_the_other_way},
    {"rotary-neighbors", convention, "columns 2j and 2j + 1 turned together",
     "This is what comes out when neighbors are turned together, 2j and 2j + 1, as in RoFormer, GPT-J and Meta's own Llama. "
     "Here columns j and j + d/2 are turned together, as in Llama of Hugging Face. "
     "What was learned in one order has to be used in it.",
     turns_by_drawn<true>, in_the_other_way},
    {"wave-scaling-forgotten", error, "waves that are not made longer",
     "This is what comes out with the waves as they are. This model has longer ones: divide their frequencies by its factors.",
     [](const Node& node) { return turns(node) && waves_of(node) && !waves_of(node)->slower.empty(); },
     [](RewriteSite at) -> Made {
       Waves all = waves(at);
       all.slower.clear();
       return rotate(at[0], std::move(all));
     }},
    {"rotary-angles-tiled", error, "neighbors turned together with the angles of halves",
     "This is what comes out when neighbors are turned together, but with the angles in the order that belongs to halves: all, and then all again. "
     "Give both columns of a pair the same angle.",
     turns_whole<false>, [](RewriteSite at) -> Made { return turned<tiled>(at, pairs_beside_each_other); }},
    {"rotary-angles-repeated", error, "halves turned together with the angles of neighbors",
     "This is what comes out when columns j and j + d/2 are turned together, but by different angles: "
     "each angle stands twice in a row. Give both columns of a pair the same angle.",
     turns_whole<false>, [](RewriteSite at) -> Made { return turned<repeated>(at, half_apart); }},
    {"rotary-halves-angles-repeated", error, "halves turned together with each angle twice in a row",
     "This is what comes out when columns j and j + d/2 are turned together, but with the angles in the order that belongs to neighbors: "
     "each angle stands twice in a row. Give both columns of a pair the same angle: all, and then all again.",
     turns_whole<true>, [](RewriteSite at) -> Made { return turned<repeated>(at, half_apart); }},
    {"rotary-backwards", error, "turned by the opposite angles",
     "This is what the opposite angles give. Compute x cos − y sin, and x sin + y cos.", turns,
     [](RewriteSite at) -> Made { return rotate_back(at[0], waves(at)); }},
    {"rotary-keys-not-turned", error, "only the queries turned",
     "This is what comes out when only the queries are turned. "
     "Turn the keys as well, each by the angle of its own position.",
     makes<role::rotated_k>, left_out},
    {"rotary-queries-not-turned", error, "only the keys turned",
     "This is what comes out when only the keys are turned, or when every query has position 0. "
     "Turn the queries as well, each by the angle of its own position.",
     makes<role::rotated_q>, left_out},
    {"rotary-missing", error, "neither queries nor keys turned",
     "This is what comes out without positions, or when all words have the same one. "
     "Turn each query and each key by the angle of its own position.",
     turns, left_out},
    {"rotary-keys-one-late", error, "keys turned by one position too many",
     "This is what comes out when the positions of the keys count from 1 and those of the queries from 0. "
     "Count both from the same number.",
     makes<role::rotated_k>, [](RewriteSite at) -> Made { return rotate(at[0], one_later(at)); }},
    {"rotary-values-turned", error, "values turned as well",
     "This is what comes out when the values are turned as well. Turn queries and keys only.", has<turned_keys>,
     [](RewriteSite at) -> Made { return matmul(at[0], rotate(at[1], *waves_of(*turned_keys(at.node)))); }},
    {"rotary-before-projection",
     error,
     "words turned before the projection instead of queries and keys behind it",
     "This is what comes out when the words are turned by the angles of their positions before they are multiplied by w_q and w_k. "
     "Multiply first, and turn the queries and the keys of each head.",
     turns_or_is_projected,
     turned_first<false>,
     {turned_first<true>}},
    {"rotary-exponent-without-2", error, "the exponent j/d instead of 2j/d in rotary positions",
     "This is what the exponent j/d gives. It is 2j/d.", turns,
     [](RewriteSite at) -> Made { return rotate(at[0], with_base(at, std::sqrt(waves(at).base))); }},
    {"rotary-size-of-all-heads", error, "angles with the size of all heads together",
     "This is what the exponent 2j/d gives with the size of all heads together. Take the size of one head.",
     turns_in_a_head, size_of_all_heads},
    {"rotary-from-0-with-cache", error, "new words turned as if they were the first ones",
     "This is what comes out when the positions of new words begin again with 0. "
     "Go on counting from the words that are remembered.",
     turns_with_cache, [](RewriteSite at) { return with_cache(at, from_0); }},
    {"rotary-one-late-with-cache", error, "each new word turned by one position too many",
     "This is what comes out when the position of each new word is one too high. "
     "Count the words before it.",
     turns_with_cache, [](RewriteSite at) { return with_cache(at, one_late); }},
    {"distance-reversed", error, "the distance i − j instead of j − i",
     "This is what the distance i − j gives, from the key to the query. "
     "Count from the query to the key, j − i: words that come later have positive distances.",
     has_signed_distance, distance_reversed},
    {"distance-from-0-with-cache", error, "distances of new words as if they were the first ones",
     "This is what the distances give when the positions of new words begin again with 0. "
     "Go on counting from the words that are remembered.",
     has_distances_with_cache,
     [](RewriteSite at) {
       return at_distances(at, {{}, *at.node.find(setting::key_positions), *at.node.find(setting::distance)});
     }},
    {"distance-in-text", error, "the distance in the text instead of the tree",
     "This is what the distances of words in the text give, without their sign. "
     "Count the edges between the two words in the tree.",
     is_in_tree, distance_in_text},
    {"distance-missing", error, "scores without the part of the distance",
     "This is what the scores are without the part of the distance. Add it.",
     [](const Node& node) { return node.is(role::scores) && node.beside(role::content); },
     [](RewriteSite at) -> Made { return at.beside(role::content); }},
};

}  // namespace

std::span<const Mistake> mistakes_of_rotary_positions() { return mistakes_in_rotary; }

}  // namespace attn
