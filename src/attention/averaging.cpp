#include "attention/averaging.hpp"

namespace attn {
namespace {

// Every word by itself.
Value through_layer(Value x, const LayerMaps& maps, std::size_t number) {
  const Graph::Scope layer(x.graph(), scope::layer, number);
  x = linear(x, maps.v);
  if (maps.output) x = linear(x, *maps.output);
  return maps.feed_forward ? feed_forward(x, *maps.feed_forward) : x;
}

}  // namespace

void average_once(const Value& x, const std::vector<Value>& weights, const LayerMaps& maps) {
  const Graph::Scope scope(x.graph(), scope::averaging);
  Value values = x;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    values = through_layer(values, maps, i + 1);
    const bool last = i + 1 == weights.size();
    values = name(last ? Name(role::values) : Name(role::through_layer, i + 1), values);
  }
  Value mixing = weights.front();
  for (std::size_t i = 1; i < weights.size(); ++i) mixing = matmul(weights[i], mixing);
  mixing = name(role::weights, mixing);
  name(role::output, weigh(mixing, values));
}

}  // namespace attn
