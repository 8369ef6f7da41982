#pragma once

#include <span>
#include <vector>

#include "model/input.hpp"
#include "training/task_example.hpp"

namespace attn {

/// Sentences below each other. Padding stands for no word: its id is 1, no query attends to it, and it does
/// not count.
struct Batch {
  ModelInput source, given;
  Ids expected;  // of sentence after sentence
  std::vector<double>
      counts;  // how much each word counts in the loss: 1 by the number of those that do, or 0
};

/// The batch of these sentences, at most as many as the shape has; in place of those that are missing the
/// last one, which does not count there.
Batch batch_of(std::span<const TaskExample> examples, const BatchShape& shape);

}  // namespace attn
