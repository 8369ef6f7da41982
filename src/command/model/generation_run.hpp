#pragma once

#include "command/model/choice.hpp"
#include "model/generation.hpp"

namespace attn {

/// A text that a model wrote: its steps and their graph.
struct GenerationRun {
  std::shared_ptr<Graph> graph;
  std::vector<GenerationStep> steps;
  std::uint64_t encoder_multiply_adds = 0;  // once, before the steps; 0: the model has no encoder
};

/// How a text is to be written.
struct GenerationPlan {
  GenerationTask task;
  Sampling sampling;
};

/// Lets the model write. Kept is what a page on it shows, and what matches `only`. Throws InputError for
/// numbers that overflow.
GenerationRun run_of(const ModelChoice& choice, const GenerationPlan& plan,
                     const std::optional<std::string>& only = std::nullopt);

}  // namespace attn
