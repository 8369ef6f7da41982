#include "command/model/generation_run.hpp"
#include "attention/watches.hpp"

#include <algorithm>
#include <array>

#include "command/model/run.hpp"
#include "graph/cost.hpp"
#include "problem/problem.hpp"

namespace attn {
namespace {

// The matrices that match, and the scores behind weights that do: the tables of weights show which are
// masked.
Keep keep_shown(const std::string& pattern) {
  return [pattern](const Node& node) {
    if (node.name.empty()) return false;
    const Node* const weights = node.is(role::masked) ? node.beside(role::weights) : nullptr;
    return matches(pattern, node.name) || (weights && matches(pattern, weights->name));
  };
}

// What the page shows, what was asked for, and logits, in which all that has overflowed is found. A long text
// would keep every cache of every step otherwise.
Keep keep_for_page(const std::optional<std::string>& only) {
  return [asked = only ? keep_shown(*only) : keep_nothing()](const Node& node) {
    constexpr std::array shown = {&role::logits, &role::distribution, &role::limited, &role::alignment};
    const bool aligns = node.is(role::weights) && node.within(scope::cross_attention);
    return aligns || std::ranges::any_of(shown, [&](const Role* role) { return node.is(*role); }) ||
           asked(node);
  };
}

}  // namespace

GenerationRun run_of(const ModelChoice& choice, const GenerationPlan& plan,
                     const std::optional<std::string>& only) {
  GenerationRun run{.graph = std::make_shared<Graph>(keep_for_page(only)), .steps = {}};
  watch(*run.graph);
  RunningTransformer running(choice.model, *run.graph);
  std::optional<Value> encoded;
  if (choice.model.kind->encodes) encoded = running.encode(choice.source);
  run.encoder_multiply_adds = work_of(*run.graph).cost.multiply_adds;
  run.steps = generate(running, *run.graph, plan.task, encoded, plan.sampling);
  compute(*run.graph);
  return run;
}

}  // namespace attn
