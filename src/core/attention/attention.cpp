#include "core/attention/attention.hpp"

#include "core/op/gradient_operations.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"

namespace attn {

// --- attention

namespace {

// What the distance from a query to a key adds to its score.
std::optional<Value> relative_scores(const Value& q, const Value& k, const AttentionRecipe& recipe) {
  if (!recipe.positions->of_scores) return std::nullopt;
  return recipe.positions->of_scores(q, k, *recipe.position_table, recipe.apart);
}

// Queries or keys, as they are told where they stand.
Value at_positions(const Value& x, const Role& result, const RowPositions& positions, const AttentionRecipe& recipe) {
  if (!recipe.positions->of_queries_and_keys) return x;
  Waves waves = recipe.waves;
  waves.positions = positions;
  return name(result, recipe.positions->of_queries_and_keys(x, {.waves = std::move(waves)}));
}

constexpr MaskNouns nouns_of_attention{.row = "query", .column = "key"};

}  // namespace

Value linear(const Value& x, const Projection& projection) {
  const Node &w = projection.w.node(), &from = x.node();
  if (w.frame.shape.rows != from.frame.shape.columns) {
    fail("{} is {} but {} is {}: {} must have one row for each of the {} columns of {}", w.title(),
         to_string(w.frame.shape), from.title(), to_string(from.frame.shape), w.title(), from.frame.shape.columns,
         from.title());
  }
  Value product = matmul(x, projection.w);
  return projection.b ? add(product, *projection.b) : product;
}

Value soft_cap(const Value& x, const Scalar& cap) { return times(attn::tanh(divide(x, cap)), cap); }

Value attention_scores(const Value& whole_q, const Value& whole_k, const AttentionRecipe& recipe) {
  const ScoringFunction& function = *recipe.function;
  const Value normed_q = recipe.normalize_q ? recipe.normalize_q(whole_q) : whole_q;
  const Value normed_k = recipe.normalize_k ? recipe.normalize_k(whole_k) : whole_k;
  const Value q = at_positions(normed_q, role::rotated_q, recipe.apart.queries, recipe);
  const Value k = at_positions(normed_k, role::rotated_k, recipe.apart.keys, recipe);
  const std::optional<Value> relative = relative_scores(q, k, recipe);
  if (function.expand) function.expand(q, k, recipe.learned);
  Value content = function.score(q, k, recipe.learned);
  Value scores = name(role::scores, relative ? add(name(role::content, content), *relative) : content);
  scores.graph().tell_scoring(scores.node(), function);
  return scores;
}

Value scaled_scores(const Value& scores, const AttentionRecipe& recipe) {
  if (recipe.factor) return times(scores, *recipe.factor);
  return recipe.divisor ? divide(scores, *recipe.divisor) : scores;
}

Value attention_weights(const Value& scores, const AttentionRecipe& recipe) {
  Value scaled = name(role::scaled, scaled_scores(scores, recipe));
  Value capped = recipe.cap ? name(role::capped, soft_cap(scaled, *recipe.cap)) : scaled;
  Value biased = recipe.bias ? add(capped, *recipe.bias) : capped;
  Value masked =
      name(role::masked, recipe.allowed ? mask(biased, *recipe.allowed, recipe.fill, nouns_of_attention) : biased);
  return name(role::weights, softmax(masked));
}

Value weighted_sum(const Value& weights, const Value& v) {
  if (weights.shape().columns != sentences_of(weights, v).other) {
    fail("weighted sum: {} is {} but {} is {}: every key needs one value, so {} must have {}", weights.node().title(),
         to_string(weights.shape()), v.node().title(), to_string(v.shape()), v.node().title(),
         count_of(weights.shape().columns, "row"));
  }
  return matmul(weights, v);
}

Value attention(const Value& q, const Value& k, const Value& v, const AttentionRecipe& recipe) {
  Value scores = attention_scores(q, k, recipe);
  Value weights = attention_weights(scores, recipe);
  return weighted_sum(weights, v);
}

Value head_part(const Value& whole, const Role& part, std::size_t head, std::size_t heads) {
  if (heads == 1) return whole;
  const std::size_t columns_of_all = whole.shape().columns;
  if (columns_of_all % heads != 0) {
    fail("{} has {} columns, which is not divisible by the number of heads ({})", whole.node().title(), columns_of_all,
         heads);
  }
  const std::size_t count = columns_of_all / heads;
  return name(part, columns(whole, head * count, count));
}

std::optional<Graph::Scope> scope_among(Graph& graph, const ScopeKind& kind, std::size_t number, std::size_t count) {
  using Scope = std::optional<Graph::Scope>;
  return count > 1 ? Scope(std::in_place, graph, kind, number) : Scope();
}

void require_groups(HeadCounts heads) {
  if (heads.of_queries % heads.of_keys == 0) return;
  fail("‹kv_heads›: the number of heads ({}) is not divisible by the number of heads of keys ({})", heads.of_queries,
       heads.of_keys);
}

Value shared_part(const Value& whole, const Role& part, std::size_t head, HeadCounts heads) {
  if (heads.of_keys == 1 && heads.of_queries > 1) return name(part, whole);
  return head_part(whole, part, head * heads.of_keys / heads.of_queries, heads.of_keys);
}

Value multi_head_attention(const Value& q, const Value& k, const Value& v, const MultiHead& how) {
  const std::size_t heads = how.heads.of_queries;
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < heads; ++i) {
    const std::optional<Graph::Scope> scope = scope_among(q.graph(), scope::head, i + 1, heads);
    Value q_i = head_part(q, role::q, i, heads);
    Value k_i = shared_part(k, role::k, i, how.heads);
    Value v_i = shared_part(v, role::v, i, how.heads);
    Value output = attention(q_i, k_i, v_i, how.in_head ? how.in_head(how.recipe, i) : how.recipe);
    outputs.push_back(name(heads > 1 ? role::output : role::head, output));
  }
  Value concat = name(role::concat, concatenate(outputs));
  return name(role::output, how.output_projection ? linear(concat, *how.output_projection) : concat);
}

// --- recipe

AttentionRecipe complete(AttentionRecipe recipe) {
  for (const ScoreParameter& row : recipe.function->parameters) {
    if (recipe.learned.matrices.contains(&row.role)) continue;
    fail("‹score› {} needs {}, a matrix with {}: give it, or ‹seed› N for a random one", recipe.function->name,
         row.role.leaf, row.shape_in_words);
  }
  return recipe;
}

AttentionRecipe recipe_of(const ScoringFunction& function, const ScoreParameters& learned, const KeySizes& sizes) {
  return complete({.function = &function, .learned = learned, .divisor = divisor(function.scale, sizes)});
}

}  // namespace attn
