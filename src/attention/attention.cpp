#include "attention/attention.hpp"

#include "support/error.hpp"

namespace attn {

Value linear(Value x, const Projection& projection) {
  const Node &w = projection.w.node(), &from = x.node();
  if (w.frame.shape.rows != from.frame.shape.columns) {
    fail("{} is {} but {} is {}: {} must have one row for each of the {} columns of {}", w.title(),
         to_string(w.frame.shape), from.title(), to_string(from.frame.shape), w.title(),
         from.frame.shape.columns, from.title());
  }
  Value product = matmul(std::move(x), projection.w);
  return projection.b ? add(std::move(product), *projection.b) : product;
}

Value divided(Value scores, const Recipe& recipe) {
  return recipe.divisor ? divide(std::move(scores), *recipe.divisor) : std::move(scores);
}

Value attention_scores(Value q, Value k, const Recipe& recipe) {
  Value scores = name(role::scores, recipe.score(std::move(q), std::move(k)));
  scores.graph().tell_scoring(scores.node(), *recipe.function);
  return scores;
}

Value attention_weights(Value scores, const Recipe& recipe) {
  Value scaled = name(role::scaled, divided(std::move(scores), recipe));
  Value biased = recipe.bias ? add(std::move(scaled), *recipe.bias) : std::move(scaled);
  Value masked = name(role::masked, recipe.allowed ? mask(std::move(biased), *recipe.allowed, recipe.fill)
                                                   : std::move(biased));
  return name(role::weights, softmax(std::move(masked)));
}

Value attention(Value q, Value k, Value v, const Recipe& recipe) {
  Value scores = attention_scores(std::move(q), std::move(k), recipe);
  Value weights = attention_weights(std::move(scores), recipe);
  return weigh(std::move(weights), std::move(v));
}

Value weigh(Value weights, Value v) {
  if (weights.shape().columns != v.shape().rows) {
    fail("weighted sum: {} is {} but {} is {}: every key needs one value, so {} must have {} rows",
         weights.node().title(), to_string(weights.shape()), v.node().title(), to_string(v.shape()),
         v.node().title(), weights.shape().columns);
  }
  return matmul(std::move(weights), std::move(v));
}

Value head_part(Value whole, const Role& part, std::size_t head, std::size_t heads) {
  if (heads == 1) return whole;
  const std::size_t columns_of_all = whole.shape().columns;
  if (columns_of_all % heads != 0) {
    fail("{} has {} columns, which is not divisible by the number of heads ({})", whole.node().title(),
         columns_of_all, heads);
  }
  const std::size_t count = columns_of_all / heads;
  return name(part, columns(std::move(whole), head * count, count));
}

void for_each_head(Graph& graph, std::size_t heads, const std::function<void(std::size_t)>& head) {
  for (std::size_t i = 0; i < heads; ++i) {
    std::optional<Graph::Scope> scope;
    if (heads > 1) scope.emplace(graph, scope::head, i + 1);
    head(i);
  }
}

Value multi_head_attention(Value q, Value k, Value v, const MultiHead& how) {
  const std::size_t heads = how.heads;
  std::vector<Value> outputs;
  for_each_head(q.graph(), heads, [&](std::size_t i) {
    Value q_i = head_part(q, role::q, i, heads);
    Value k_i = head_part(k, role::k, i, heads);
    Value v_i = head_part(v, role::v, i, heads);
    Value output = attention(std::move(q_i), std::move(k_i), std::move(v_i), how.recipe);
    outputs.push_back(name(heads > 1 ? role::output : role::head, std::move(output)));
  });
  Value concat = name(role::concat, concatenate(std::move(outputs)));
  return name(role::output,
              how.output_projection ? linear(std::move(concat), *how.output_projection) : std::move(concat));
}

}  // namespace attn
