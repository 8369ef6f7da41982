#include "attention/averaging.hpp"

namespace attn {
namespace {

Value through_maps(Value x, const LayerMaps& maps) {
  x = linear(std::move(x), maps.v);
  if (maps.output) x = linear(std::move(x), *maps.output);
  return maps.feed_forward ? feed_forward(std::move(x), *maps.feed_forward) : std::move(x);
}

}  // namespace

void average_once(const Value& x, const std::vector<Value>& weights, const LayerMaps& maps) {
  Graph& graph = x.graph();
  const Graph::Scope scope(graph, scope::averaging);
  Value values = x;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    {
      const Graph::Scope layer(graph, scope::layer, i + 1);
      values = through_maps(std::move(values), maps);
    }
    const bool last = i + 1 == weights.size();
    values = name(last ? Name(role::values) : Name(role::through_layer, i + 1), std::move(values));
  }
  Value mixing = weights.front();
  for (std::size_t i = 1; i < weights.size(); ++i) mixing = matmul(weights[i], std::move(mixing));
  mixing = name(role::weights, std::move(mixing));
  name(role::output, weigh(std::move(mixing), std::move(values)));
}

}  // namespace attn
