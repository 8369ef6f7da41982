#pragma once

#include <memory>

#include "command/command.hpp"
#include "tell/training_page.hpp"

namespace attn {

/// A training that a command line asks for.
struct AskedTraining {
  std::unique_ptr<Trainer> trainer;
  std::optional<std::string> resumed;  // the bytes of the state that it goes on with
  std::optional<std::string> text;     // the sentence that is looked at
};

/// Reads what the options ask for. Throws InputError: an unknown task, a state of another task, options that
/// a state contradicts, sizes that do not fit, words that the task does not have.
AskedTraining asked_training(const Arguments& arguments);

/// The sentence that is looked at: the reader's own, or the first that was held out.
TaskExample looked_at(const AskedTraining& asked);

/// Trains to the end, or until somebody stops it; shows and saves what was asked for meanwhile.
class TrainingRun {
 public:
  TrainingRun(const Arguments& arguments, const AskedTraining& asked);
  void run();

  bool was_stopped() const { return was_stopped_; }
  std::vector<ModelAtStep> take_compared() { return std::move(compared_); }

 private:
  void require_places();
  void require_head() const;
  void at_step();
  void show(double seconds_left);
  void save(const std::string& path);
  std::string line(double seconds_left) const;
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
  std::optional<Style> style_;  // of what is watched
  bool was_stopped_ = false;
};

}  // namespace attn
