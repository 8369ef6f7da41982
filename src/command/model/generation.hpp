#pragma once

#include "command/model/choice.hpp"
#include "model/generation.hpp"

namespace attn {

/// What the options of attn generate ask a model to write, as far as its learned positions go.
/// Throws InputError: no words to go on from, no place left, more than memory would hold.
GenerationTask generation_task(const ModelChoice& choice, const Arguments& arguments);

/// A remark, where learned positions end before the --steps that were asked for.
std::optional<std::string> remark_on_steps(const GenerationTask& task, const Arguments& arguments);

/// How the words are chosen. Throws InputError for numbers that make no sense.
Sampling sampling_of(const Arguments& arguments);

/// How many words go through the model when they all go in again at every one of so many steps.
std::size_t words_without_cache(const GenerationTask& task, std::size_t steps);

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
