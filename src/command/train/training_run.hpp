#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command/command.hpp"
#include "command/train/stages.hpp"
#include "command/train/training_request.hpp"
#include "command/train/watch.hpp"
#include "school/training/training_comparison.hpp"
#include "school/training/training_page.hpp"

namespace attn {

/// Trains to the end, or until somebody stops it; shows and saves what was asked for meanwhile.
class TrainingRun {
 public:
  /// Both outlive it. Throws InputError for files that it could not write in the end, and for a head that the model
  /// does not have.
  TrainingRun(const Arguments& arguments, const AskedTraining& asked);
  void run();

  bool was_stopped() const { return was_stopped_; }
  std::vector<ModelAtStep> take_compared() { return std::move(compared_); }
  const TrainingComparison* beside() const { return beside_ ? &*beside_ : nullptr; }
  TrainingStory take_story() { return std::move(*stages_).story(); }

 private:
  void require_places();
  void require_head() const;
  void at_step();
  void train_beside();
  void show(double seconds_left);
  WatchedFrame frame(const std::string& status);
  Style style_of_drawings() const;
  void save(const std::string& path);
  std::string line() const;
  Plot curve() const;
  std::vector<std::string> lines_of(const Page& page);

  const Arguments& arguments_;
  const AskedTraining& asked_;
  Trainer& trainer_;
  LongWork* work_;
  std::vector<std::size_t> saved_steps_, compared_steps_;
  std::vector<ModelAtStep> compared_;
  std::optional<double> loss_;  // a mean over the last steps, which jumps less
  Series losses_{"in training", {}, {}};
  std::optional<Style> style_;  // of what is drawn
  std::optional<TrainingWatch> watch_;
  std::optional<StagesOfTraining> stages_;    // of a page for browsers
  std::optional<TrainingComparison> beside_;  // another model on the same sentences
  bool was_stopped_ = false;
};

}  // namespace attn
