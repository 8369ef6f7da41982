#include "core/model/layer_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/attention/attention.hpp"
#include "core/graph/find.hpp"

namespace attn {
namespace {

// Small numbers of both signs, made faster than they could be drawn.
Value input_of_shape(Graph& graph, const Name& name, Shape shape) {
  Matrix matrix(shape);
  const double scale = 1.0 / (5.0 * std::sqrt(static_cast<double>(shape.rows)));
  unsigned i = static_cast<unsigned>(graph.nodes().size());
  for (double& cell : cells(matrix)) cell = (static_cast<double>(i++ * 7 % 11) - 5.0) * scale;
  return graph.input(name, std::move(matrix), axis("rows"), axis("columns"));
}

std::vector<Value> positions(Graph& graph, LayerSizes sizes) {
  std::vector<Value> x;
  for (std::size_t i = 1; i <= sizes.n; ++i) x.push_back(input_of_shape(graph, {role::x, i}, {1, sizes.d}));
  return x;
}

// A stack of layers of one kind, built position by position.
class Stack {
 public:
  Stack(const LayerKind& kind, std::size_t n, std::size_t k)
      : kind_(kind), sizes_{n, 1, k}, x_(positions(graph_, sizes_)) {
    take_places();
  }

  void add_layer() {
    const Graph::Scope scope(graph_, scope::layer, ++layers_);
    x_ = kind_.by_position(x_, make_layer(graph_, kind_, sizes_, layers_));
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = name(Name(role::h, i + 1), x_[i]);
    take_places();
  }

  const Graph& graph() const { return graph_; }
  const std::vector<Value>& outputs() const { return x_; }
  std::size_t layers() const { return layers_; }
  const Node& input(std::size_t position) const { return *inputs_[position]; }
  bool is_output(const Node& node) const {
    const auto found = places_.find(&node);
    return found != places_.end() && found->second.layer > 0;
  }

  // The places on a way through the stack: its start and the positions of its layers.
  std::vector<const Node*> places_on(const std::vector<const Node*>& path) const {
    std::vector<const Node*> nodes = {path.front()};
    std::ranges::copy_if(path, std::back_inserter(nodes), [&](const Node* node) { return is_output(*node); });
    return nodes;
  }
  StackPlace stack_place_of(const Node& node) const { return places_.at(&node); }

  std::vector<StackLink> links() const {
    std::vector<StackLink> links;
    for (const auto& [node, place] : places_) {
      std::set<const Node*> seen;
      add_links(*node, place, seen, links);
    }
    std::ranges::sort(links);
    return links;
  }

 private:
  void take_places() {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (layers_ == 0) inputs_.push_back(&x_[i].node());
      places_.emplace(&x_[i].node(), StackPlace{layers_, i});
    }
  }

  void add_links(const Node& node, StackPlace to, std::set<const Node*>& seen, std::vector<StackLink>& links) const {
    for (const Node* operand : node.operands) {
      if (!seen.insert(operand).second) continue;
      if (const auto found = places_.find(operand); found != places_.end()) {
        links.push_back({found->second, to});
      } else {
        add_links(*operand, to, seen, links);
      }
    }
  }

  const LayerKind& kind_;
  LayerSizes sizes_;
  Graph graph_;
  std::vector<Value> x_;
  std::size_t layers_ = 0;
  std::vector<const Node*> inputs_;
  std::map<const Node*, StackPlace> places_;
};

}  // namespace

Value layer_input(Graph& graph, LayerSizes sizes) { return input_of_shape(graph, role::x, {sizes.n, sizes.d}); }

Layer make_layer(Graph& graph, const LayerKind& kind, LayerSizes sizes, std::size_t place) {
  Layer layer{{}, sizes, place};
  for (const Shape shape : kind.parameters(sizes)) {
    layer.parameters.push_back(input_of_shape(graph, {role::w, layer.parameters.size() + 1}, shape));
  }
  return layer;
}

Work layer_work(const LayerKind& kind, LayerSizes sizes) {
  Graph graph;
  const std::vector<Value> x = positions(graph, sizes);
  kind.by_position(x, make_layer(graph, kind, sizes));
  return work_of(graph);
}

Work heads_work(std::size_t heads, std::size_t n, std::size_t d_model) {
  Graph graph;
  const auto planned = [&](const Role& role, Shape shape) {
    return graph.input(role, {shape, axis("rows"), axis("columns")});
  };
  const Value x = planned(role::x, {n, d_model});
  std::vector<Value> projected;
  for (const auto& [of, map] : {std::pair{&role::q, &role::w_q}, {&role::k, &role::w_k}, {&role::v, &role::w_v}}) {
    projected.push_back(name(*of, matmul(x, planned(*map, {d_model, d_model}))));
  }
  const Projection output{planned(role::w_o, {d_model, d_model}), {}};
  const AttentionRecipe recipe{.divisor = divisor("sqrt-dk", {.d_k = d_model / heads})};
  multi_head_attention(projected[0], projected[1], projected[2], {recipe, heads, output});
  return work_of(graph);
}

ScoreInputs score_inputs(Graph& graph, const ScoringFunction& function, std::size_t n, std::size_t d) {
  ScoreInputs inputs{input_of_shape(graph, role::q, {n, d}), input_of_shape(graph, role::k, {n, d}), {}};
  for (const ScoreParameter& row : function.parameters) {
    inputs.parameters.matrices.emplace(&row.role, input_of_shape(graph, row.role, row.shape(d, d)));
  }
  return inputs;
}

Value scaled_scores(const ScoringFunction& function, const ScoreInputs& inputs) {
  const AttentionRecipe recipe = recipe_of(function, inputs.parameters, {.d_k = inputs.k.shape().columns});
  return scaled_scores(function.score(inputs.q, inputs.k, inputs.parameters), recipe);
}

Work scores_work(const ScoringFunction& function, std::size_t n, std::size_t d) {
  Graph graph;
  scaled_scores(function, score_inputs(graph, function, n, d));
  return work_of(graph);
}

std::vector<StackLink> stack_links(const LayerKind& kind, std::size_t n, std::size_t k, std::size_t layers) {
  Stack stack(kind, n, k);
  while (stack.layers() < layers) stack.add_layer();
  return stack.links();
}

std::optional<Meeting> search_meeting(const LayerKind& kind, std::size_t n, std::size_t k, std::size_t most_layers) {
  Stack stack(kind, n, k);
  while (stack.layers() < most_layers) {
    stack.add_layer();
    const auto is_output = [&](const Node& node) { return stack.is_output(node); };
    const ShortestPaths from_first(stack.graph(), stack.input(0), is_output),
        from_last(stack.graph(), stack.input(n - 1), is_output);
    std::optional<Meeting> nearest;
    for (const Value& position : stack.outputs()) {
      const auto a = from_first.length(position.node()), b = from_last.length(position.node());
      if (!a || !b || (nearest && std::max(*a, *b) >= nearest->length)) continue;
      nearest = {.layers = stack.layers(), .length = std::max(*a, *b)};
      for (const Node* node : stack.places_on(from_first.path(position.node()))) {
        nearest->from_first.push_back(node->name);
        nearest->way_from_first.push_back(stack.stack_place_of(*node));
      }
      for (const Node* node : stack.places_on(from_last.path(position.node()))) {
        nearest->from_last.push_back(node->name);
        nearest->way_from_last.push_back(stack.stack_place_of(*node));
      }
    }
    if (nearest) return nearest;
  }
  return std::nullopt;
}

std::size_t cheaper_up_to(const LayerKind& kind, const LayerKind& other, LayerSizes sizes, std::size_t most) {
  const auto is_cheaper = [&](std::size_t n) {
    const LayerSizes at{n, sizes.d, sizes.k};
    return kind.multiply_adds(at) < other.multiply_adds(at);
  };
  if (!is_cheaper(1)) return 0;
  std::size_t cheaper = 1, dearer = most + 1;
  while (cheaper + 1 < dearer) {
    const std::size_t middle = cheaper + (dearer - cheaper) / 2;
    (is_cheaper(middle) ? cheaper : dearer) = middle;
  }
  return cheaper;
}

}  // namespace attn
