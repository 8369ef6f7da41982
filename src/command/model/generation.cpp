#include "command/model/generation.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "attention/watches.hpp"
#include "command/model/run.hpp"
#include "graph/cost.hpp"
#include "problem/problem.hpp"
#include "support/error.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

constexpr std::size_t usual_steps = 8;

std::size_t steps_asked(const Arguments& arguments) {
  return arguments.count(option::steps).value_or(usual_steps);
}

// There are only so many learned positions; the last word written does not go in.
std::size_t steps_of(const Transformer& model, const ModelInput& prompt, const Arguments& arguments) {
  const std::size_t asked = steps_asked(arguments);
  const std::optional<std::size_t> places = model.most_words(model.sizes.target_places);
  if (!places) return asked;
  if (prompt.size() > *places) {
    fail("the text has {}, but the model has learned only {}: give fewer words",
         count_of(prompt.size(), "word"), count_of(*places, "position"));
  }
  return std::min(asked, *places - prompt.size() + 1);
}

// With --only or --against, all that is remembered may be kept at every step; without the cache every step
// has a mask.
void require_moderate(const ModelChoice& choice, const GenerationTask& task, const Arguments& arguments) {
  const TransformerSizes& sizes = choice.model.sizes;
  const double words = static_cast<double>(words_without_cache(task, task.steps));
  const double longest = static_cast<double>(task.prompt.size() + task.steps);
  const double caches = words * static_cast<double>(4 * sizes.decoder_layers * sizes.d_model);
  const double masks = words * longest * static_cast<double>(task.cache == Cache::none);
  const Option* const keeps_all = arguments.has(option::only)      ? &option::only
                                  : arguments.has(option::against) ? &option::against
                                                                   : nullptr;
  if (masks + (keeps_all ? caches : 0.0) <= static_cast<double>(most_cells)) return;
  fail("{} steps would keep too many numbers with {}: give fewer --steps", task.steps,
       keeps_all && task.cache != Cache::none ? keeps_all->name : option::no_cache.name);
}

// Every step adds its own matrices to the graph.
void require_few_matrices(const ModelChoice& choice, const GenerationTask& task) {
  Graph graph;
  RunningTransformer running(choice.model, graph);
  std::optional<Value> encoded;
  if (choice.model.kind->encodes) encoded = running.encode(choice.source);
  const std::size_t before = graph.nodes().size();
  running.logits(running.decode(task.prompt, encoded));
  const std::size_t of_step = graph.nodes().size() - before;
  if (task.steps <= (most_nodes - std::min(before, most_nodes)) / of_step) return;
  fail("{} steps of this model would take about {} matrices, more than {}: give fewer --steps", task.steps,
       before + task.steps * of_step, most_nodes);
}

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

Sampling sampling_of(const Arguments& arguments) {
  Sampling sampling{.temperature = arguments.number(option::temperature).value_or(1.0),
                    .top_k = arguments.count(option::top_k).value_or(0),
                    .top_p = arguments.number(option::top_p).value_or(1.0)};
  const bool samples = arguments.has(option::temperature) || arguments.has(option::top_k) ||
                       arguments.has(option::top_p) || arguments.has(option::sample);
  if (samples) {
    sampling.generator.emplace(static_cast<std::uint32_t>(arguments.count(option::sample_seed).value_or(1)));
  }
  return sampling;
}

GenerationTask generation_task(const ModelChoice& choice, const Arguments& arguments) {
  if (choice.memory || choice.target.x) {
    fail("attn generate needs words, but the target has no embeddings here, or is given as vectors");
  }
  if (!choice.model.recipe.causal_decoder) {
    fail(
        "attn generate needs a causal decoder: in this model words attend to those that are not written yet");
  }
  GenerationTask task{.prompt = choice.target};
  task.steps = steps_of(choice.model, task.prompt, arguments);
  task.end = id_in(choice.model.target_vocabulary, end_word);
  task.cache = arguments.has(option::no_cache) ? Cache::none : Cache::kept;
  require_moderate(choice, task, arguments);
  require_few_matrices(choice, task);
  return task;
}

std::size_t words_without_cache(const GenerationTask& task, std::size_t steps) {
  return steps * task.prompt.size() + steps * (steps - 1) / 2;
}

std::optional<std::string> remark_on_steps(const GenerationTask& task, const Arguments& arguments) {
  if (!arguments.has(option::steps) || steps_asked(arguments) == task.steps) return std::nullopt;
  return fmt::format("only {} steps are possible, because the model has learned {}", task.steps,
                     count_of(task.prompt.size() + task.steps - 1, "position"));
}

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
