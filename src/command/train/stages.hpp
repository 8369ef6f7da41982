#pragma once

#include "school/browser/story.hpp"
#include "school/training/trainer.hpp"

namespace attn {

/// What a page for browsers tells of a training: its curve, and the attention weights on one sentence at some of its
/// steps.
class StagesOfTraining {
 public:
  /// The trainer outlives it. Throws InputError when a page cannot hold the model.
  StagesOfTraining(const Trainer& trainer, TaskExample sentence);

  /// Looks at the model, where a stage is due.
  void at_step();
  /// All of it, once the training has ended.
  TrainingStory story() &&;

 private:
  void take();

  const Trainer& trainer_;
  TaskExample sentence_;
  std::size_t first_, apart_;  // steps
  TrainingStory story_;
};

}  // namespace attn
