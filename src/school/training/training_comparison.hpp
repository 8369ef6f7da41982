#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/plan.hpp"
#include "page/block/page.hpp"
#include "school/training/trainer.hpp"

namespace attn {

/// What a training takes, counted from the graph of a step and never timed.
struct Effort {
  std::string_view title;  // "Equal multiply-adds"
  std::string_view name;   // "multiply-adds"
  std::string_view array;  // the name of its table
  std::uint64_t (*of_step)(const Work& step);
};

/// steps, multiply-adds, sequential operations.
std::span<const Effort> efforts();

/// Two models that are trained on the same sentences with the same options, and how well each does after as much of
/// an effort as the other. The trainers outlive it.
class TrainingComparison {
 public:
  /// Throws InputError where both are of one architecture.
  TrainingComparison(Trainer& first, Trainer& second);

  /// Looks at the first model where its step is one that is compared. It is called before the first step as well.
  void look_at_first() { look_at(sides_.front()); }
  /// Trains the second one as the first was, until it has to stop.
  void train_second(const std::function<bool()>& is_to_stop);
  /// Adds both models, what a step of each takes, and for each effort a table and a curve.
  void add_to(Page& page) const;

 private:
  struct Side {
    Trainer* trainer;
    std::string_view name;  // of its architecture
    Work step;
    std::map<std::size_t, Evaluation> looked_at = {};  // by step
  };
  /// A row of a table: so much of an effort, and the step that each side has then reached.
  struct Row {
    std::uint64_t effort;
    std::size_t steps[2];
  };

  void look_at(Side& side);
  std::vector<Row> rows_of(const Effort& effort) const;
  void add_effort(Page& page, const Effort& effort) const;

  std::vector<Side> sides_;
};

}  // namespace attn
