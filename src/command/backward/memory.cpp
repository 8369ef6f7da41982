#include "command/backward/memory.hpp"

#include <algorithm>
#include <cstring>

#include "command/backward/asked_loss.hpp"
#include "command/backward/graph_copy.hpp"
#include "core/attention/watches.hpp"
#include "core/graph/plan.hpp"
#include "core/support/number.hpp"

namespace attn {

namespace {

// A layer of a model, a step of a recurrent network, or a layer of a problem; null: none of them.
const NamedScope* layer_of(const Node& node) {
  const NamedScope* const layer = node.within(scope::layer);
  return layer ? layer : node.within(scope::number);
}

// A node without a name is computed for the first that uses it.
std::vector<const NamedScope*> layers_of(const Graph& graph) {
  std::vector<const NamedScope*> layers(graph.nodes().size(), nullptr);
  for (std::size_t i = layers.size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    if (!node.name.empty()) layers[i] = layer_of(node);
    for (const Node* operand : node.operands) {
      if (operand->name.empty()) layers[operand->index] = layers[i];
    }
  }
  return layers;
}

// A way back on a copy of the way there, and the gradients by its inputs.
struct WayBack {
  GraphCopy copy;
  std::vector<const Node*> wanted;
  std::vector<const Node*> gradients;  // some of them, in the order of the inputs
};

WayBack way_back(const Node& loss, const Matrix& d_loss, const CheckpointRule& stands) {
  WayBack way{copy_up_to(loss), {}, {}};
  const Node& from = *way.copy.of.at(&loss.original());
  const Value d_from = way.copy.graph->input({role::other, "gradient"}, d_loss, loss.frame.rows, loss.frame.columns);
  const auto stands_there = [&](const Node& node) { return stands(*way.copy.originals.at(&node)); };
  const Backward back(Value(from), d_from, {}, stands_there);
  way.wanted.push_back(&from);
  for (const auto& [original, node] : way.copy.of) {
    const Node* const gradient = node->op ? nullptr : back.by(*node);
    if (gradient) way.gradients.push_back(gradient);
  }
  std::ranges::sort(way.gradients, std::less(), &Node::index);
  way.wanted.insert(way.wanted.end(), way.gradients.begin(), way.gradients.end());
  return way;
}

Cost cost_behind(const std::vector<const Node*>& nodes) {
  std::vector<bool> needed(nodes.front()->graph->nodes().size(), false);
  for (const Node* node : nodes) needed[node->original().index] = true;
  Cost cost;
  for (std::size_t i = needed.size(); i-- > 0;) {
    if (!needed[i]) continue;
    const Node& node = nodes.front()->graph->nodes()[i];
    cost += attn::cost_of(node);
    for (const Node* operand : node.operands) needed[operand->index] = true;
  }
  return cost;
}

PassCost taken_by(const Graph& graph, const std::vector<const Node*>& nodes) {
  return {plan(graph, nodes).peak_bytes, cost_behind(nodes)};
}

bool same_bits(const WayBack& a, const WayBack& b) {
  if (a.gradients.size() != b.gradients.size()) return false;
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    const std::shared_ptr<const Matrix> one = a.gradients[i]->cells(), other = b.gradients[i]->cells();
    if (one->shape() != other->shape() || std::memcmp(one->data(), other->data(), one->size() * sizeof(double)) != 0)
      return false;
  }
  return true;
}

Matrix zeros(Shape shape) { return Matrix(shape, 0.0); }

}  // namespace

CheckpointRule checkpoint_between_layers(const Graph& graph) {
  const std::vector<const NamedScope*> layers = layers_of(graph);
  auto used_outside = std::make_shared<std::vector<bool>>(layers.size(), false);
  for (const Node& node : graph.nodes()) {
    for (const Node* operand : node.operands) {
      if (!node.is_alias() && layers[operand->index] != layers[node.index]) (*used_outside)[operand->index] = true;
    }
  }
  return [used_outside](const Node& node) { return bool((*used_outside)[node.original().index]); };
}

PassMemory memory_of_pass(const Node& loss) {
  const Matrix d_loss = zeros(loss.frame.shape);
  const GraphCopy forward = copy_up_to(loss);
  const WayBack both = way_back(loss, d_loss, checkpoint_everything()),
                again = way_back(loss, d_loss, checkpoint_between_layers(*loss.graph));
  return {taken_by(*forward.graph, {forward.of.at(&loss.original())}), taken_by(*both.copy.graph, both.wanted),
          taken_by(*again.copy.graph, again.wanted)};
}

void add_memory(Page& page, const Loss& loss, bool recomputes) {
  const Node& from = loss.from.node();
  const PassMemory memory = memory_of_pass(from);
  page.head(2, "What it takes");
  page.say(
      "Each line: the most bytes that all matrices take at the same time, the multiply-adds, and the element-wise operations, known from the shapes before anything is computed. "
      "A matrix is freed after its last use. "
      "The backward pass uses many matrices of the forward pass, so these stay until then. "
      "Inputs, parameters and their gradients count as well.");
  Listing listing{{"what", "most bytes", "multiply-adds", "element-wise operations"}, {}, true};
  const auto add = [&](std::string what, const PassCost& taken) {
    listing.rows.push_back({std::move(what), with_commas(taken.peak_bytes), with_commas(taken.cost.multiply_adds),
                            with_commas(taken.cost.element_operations)});
  };
  add("forward alone", memory.forward);
  add("forward and backward", memory.both);
  if (recomputes) add("the same, recomputing", memory.recomputed);
  page.say(std::move(listing));
  if (!recomputes) return;
  page.say(
      "Recomputing keeps only what passes from one layer, or one step of a recurrent network, to another. "
      "In the backward pass everything else is computed a second time from that.");
  const Matrix& d_from = *loss.d_from.node().cells();
  const WayBack both = way_back(from, d_from, checkpoint_everything()),
                again = way_back(from, d_from, checkpoint_between_layers(*from.graph));
  both.copy.graph->run().compute(both.wanted);
  again.copy.graph->run().compute(again.wanted);
  page.say(same_bits(both, again) ? "Both ways give the same gradients, bit for bit."
                                  : "The two ways do not give the same gradients.");
  if (memory.recomputed.peak_bytes >= memory.both.peak_bytes) {
    page.say(
        "Here recomputing takes no less memory: there are too few layers, or what passes between them is as large as what is computed within.");
  }
}

}  // namespace attn
