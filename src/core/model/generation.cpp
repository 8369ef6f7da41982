#include "core/model/generation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/graph/plan.hpp"
#include "core/math/random.hpp"
#include "core/math/rows.hpp"
#include "core/support/error.hpp"

namespace attn {
namespace {

// The words that may be chosen: the most probable ones, as far as the sampling goes.
Matrix allowed_words(std::span<const double> probabilities, const Sampling& sampling) {
  const std::size_t most = sampling.top_k ? sampling.top_k : probabilities.size();
  const std::vector<std::size_t> order = places_of_largest(probabilities, most);
  Matrix allowed({1, probabilities.size()}, 0.0);
  double gathered = 0.0;
  for (std::size_t i = 0; i < order.size() && (i == 0 || gathered < sampling.top_p); ++i) {
    allowed(0, order[i]) = 1.0;
    gathered += probabilities[order[i]];
  }
  return allowed;
}

// The distribution of the next word, as the sampling changes it.
Value distribution_of(Value logits, const Sampling& sampling) {
  if (sampling.temperature != 1.0) {
    const std::string notation = fmt::format("{}", sampling.temperature);
    logits = name(role::tempered, divide(logits, {sampling.temperature, {notation, notation}}));
  }
  Value distribution = name(role::distribution, softmax(logits));
  if (!sampling.limits()) return distribution;
  Graph& graph = distribution.graph();
  const Frame& frame = distribution.node().frame;
  const Value allowed =
      graph.input(role::allowed, allowed_words(row(distribution.matrix(), 0), sampling), frame.rows, frame.columns);
  return name(role::limited, normalize(mask(distribution, allowed, 0.0)));
}

// The distribution of the word after these.
Value next_after(RunningTransformer& model, const ModelInput& words, const std::optional<Value>& encoded,
                 const Sampling& sampling) {
  const Value decoded = model.decode(words, encoded);
  return distribution_of(model.logits(words.size() == 1 ? decoded : rows(decoded, words.size() - 1, 1)), sampling);
}

std::size_t choose(std::span<const double> probabilities, Sampling& sampling) {
  const auto most = static_cast<std::size_t>(std::ranges::max_element(probabilities) - probabilities.begin());
  if (!sampling.generator) return most;
  double left = uniform(*sampling.generator);
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    left -= probabilities[i];
    if (left < 0.0 && probabilities[i] > 0.0) return i;
  }
  return most;
}

// What the nodes cost that were made since there were `before`.
std::uint64_t multiply_adds_since(const Graph& graph, std::size_t before) {
  Cost total;
  for (std::size_t i = before; i < graph.nodes().size(); ++i) total += cost_of(graph.nodes()[i]);
  return total.multiply_adds;
}

void require_output(const RunningTransformer& model) {
  if (!model.has_output())
    fail("the model cannot write words, because it has no output layer ({})", Name({scope::output}, role::w).text());
}

// What was given and what was written, word by word.
class WordsSoFar {
 public:
  explicit WordsSoFar(ModelInput prompt) : all_(std::move(prompt)) {}

  const ModelInput& all() const { return all_; }
  ModelInput last() const {
    ModelInput word{.ids = {all_.ids.back()}};
    if (!all_.tokens.empty()) word.tokens = {all_.tokens.back()};
    return word;
  }
  void append(std::size_t id, const Axis& words) {
    if (all_.positions) {
      const std::size_t count = all_.ids.size();
      all_.positions = attn::joined(*all_.positions, count, RowPositions((*all_.positions)[count - 1] + 1), 1);
    }
    all_.ids.push_back(id);
    if (!all_.tokens.empty()) all_.tokens.push_back(words.label(id - 1));
    if (!all_.blank.empty()) all_.blank.push_back(false);
  }

 private:
  ModelInput all_;
};

}  // namespace

ModelInput with_words(ModelInput prompt, const std::vector<std::size_t>& written, const Vocabulary& vocabulary) {
  WordsSoFar text(std::move(prompt));
  for (const std::size_t id : written) text.append(id, axis("words", vocabulary));
  return text.all();
}

std::vector<GenerationStep> generate(RunningTransformer& model, Graph& graph, const GenerationTask& task,
                                     const std::optional<Value>& encoded, Sampling sampling) {
  require_output(model);
  // What is remembered grows with each word, and the room that it had before serves nothing.
  constexpr std::size_t most_freed_bytes = std::size_t{1} << 26;
  std::vector<GenerationStep> steps;
  WordsSoFar text(task.prompt);
  for (std::size_t i = 1; i <= task.steps; ++i) {
    const Graph::Scope scope(graph, scope::step, i);
    const std::size_t nodes_before = graph.nodes().size();
    if (task.cache == Cache::none) model.forget();
    const bool goes_on = model.remembered() > 0;
    const ModelInput input = goes_on ? text.last() : text.all();
    GenerationStep step{.went_in = input.ids, .remembered = model.remembered()};
    const Value distribution = next_after(model, input, encoded, sampling);
    step.distribution = &distribution.node();
    step.multiply_adds = multiply_adds_since(graph, nodes_before);
    step.chosen = choose(row(distribution.matrix(), 0), sampling) + 1;
    text.append(step.chosen, distribution.node().frame.columns);
    steps.push_back(std::move(step));
    if (task.tell) task.tell(steps);
    if (task.ends_with(steps.back().chosen)) break;
    return_freed_cells(most_freed_bytes);
  }
  return steps;
}

std::vector<BeamStep> beam_search(RunningTransformer& model, Graph& graph, const GenerationTask& task,
                                  const std::optional<Value>& encoded, std::size_t beams) {
  require_output(model);
  std::vector<BeamStep> steps;
  std::vector<Beam> kept(1);
  for (std::size_t i = 1; i <= task.steps && !kept.front().has_ended; ++i) {
    const Graph::Scope scope(graph, scope::step, i);
    const std::size_t nodes_before = graph.nodes().size();
    BeamStep step;
    for (const Beam& beam : kept) {
      if (beam.has_ended) {
        step.kept.push_back(beam);
        continue;
      }
      const Graph::Scope own(graph, scope::number, step.distributions.size() + 1);
      WordsSoFar text(task.prompt);
      for (const std::size_t id : beam.words) text.append(id, steps.back().distributions.front()->frame.columns);
      model.forget();
      const Value distribution = next_after(model, text.all(), encoded, {});
      step.distributions.push_back(&distribution.node());
      const std::span<const double> probabilities = row(distribution.matrix(), 0);
      for (const std::size_t place : places_of_largest(probabilities, beams)) {
        Beam longer = beam;
        longer.words.push_back(place + 1);
        longer.log_probability += std::log(probabilities[place]);
        longer.has_ended = task.ends_with(place + 1);
        step.kept.push_back(std::move(longer));
      }
    }
    std::ranges::stable_sort(step.kept, std::ranges::greater{}, &Beam::log_probability);
    step.kept.resize(std::min(beams, step.kept.size()));
    step.multiply_adds = multiply_adds_since(graph, nodes_before);
    kept = step.kept;
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace attn
