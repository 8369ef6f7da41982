#include "command/model/run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/transformer_parameters.hpp"
#include "files/matrix_file.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

double cells_of(Shape shape) {
  return static_cast<double>(shape.rows) * static_cast<double>(shape.columns);
}

// What a run keeps, found out by a graph that only plans it.
double kept_cells(const ModelChoice& choice, const Keep& keep) {
  Graph plan(keep_nothing(), Evaluation::never);
  run_model(choice, plan);
  double kept = 0.0;
  for (const Node& node : plan.nodes()) {
    if (node.operation && !node.is_alias() && keep(node)) kept += cells_of(node.frame.shape);
  }
  return kept;
}

// What one attention and the layer around it have in hand at the same time.
double passing_cells(const ModelChoice& choice) {
  const TransformerSizes& sizes = choice.model.sizes;
  const std::size_t n = std::max({choice.source.size(), choice.target.size(),
                                  choice.memory ? choice.memory->shape().rows : std::size_t{0}});
  return 4.0 * cells_of({n, n}) + cells_of({n, 10 * sizes.d_model + 2 * sizes.d_ff + sizes.target_words});
}

}  // namespace

void run_model(const ModelChoice& choice, Graph& graph) {
  RunningTransformer running(choice.model, graph);
  std::optional<Value> encoded;
  if (choice.memory) {
    encoded = graph.input(role::memory, *choice.memory, axis("tokens"), axis("features"));
  } else if (choice.model.kind->encodes) {
    encoded = running.encode(choice.source);
  }
  if (choice.target.size() == 0) return;  // there is no decoder, or it is not shown
  const Value decoded = running.decode(choice.target, encoded);
  if (running.has_output()) name(role::distribution, softmax(running.logits(decoded)));
}

Keep with_results(Keep keep) {
  return [keep = std::move(keep)](const Node& node) {
    const NamedScope* const place = node.place;
    const bool is_of_side = place && (place->is(scope::encoder) || place->is(scope::decoder));
    return node.is(role::logits) || (is_of_side && !place->outer && node.is(role::output)) || keep(node);
  };
}

Keep keep_shown(std::string pattern) {
  return [pattern = std::move(pattern)](const Node& node) {
    if (node.name.empty()) return false;
    const bool masks_shown =
        node.is(role::masked) && matches(pattern, fmt::format("{}{}", node.scope(), role::weights.leaf));
    return masks_shown || matches(pattern, node.name);
  };
}

Keep telling(Keep keep, const Arguments& arguments) {
  // The graph may outlive the arguments.
  const auto progress = arguments.environment ? arguments.environment->progress : nullptr;
  return [keep = std::move(keep), progress](const Node& node) {
    if (progress && !node.name.empty()) progress(node.name);
    return keep(node);
  };
}

void require_memory(const ModelChoice& choice, const Keep& keep) {
  constexpr double most = 4.0 * static_cast<double>(most_cells);
  if (choice.model.parameters.empty()) require_drawable(choice.model);
  const double needed = kept_cells(choice, keep) + passing_cells(choice);
  if (needed <= most) return;
  fail(
      "{} words need too much memory, {:.2g} numbers: give fewer words, keep less with --only, or use "
      "--outline",
      std::max(choice.source.size(), choice.target.size()), needed);
}

}  // namespace attn
