#pragma once

#include <memory>
#include <vector>

#include "core/graph/plan.hpp"
#include "school/training/loss_graph.hpp"
#include "school/training/state.hpp"
#include "school/training/task.hpp"

namespace attn {

/// At which temperature a model continues a text while it learns.
constexpr double temperature_of_samples = 0.7;

/// What one step of training did.
struct StepReport {
  std::size_t step = 0;        // from 1
  double loss = 0.0;           // before the step
  double gradient_norm = 0.0;  // of all gradients together, before clipping
  double rate = 0.0;
};

/// Trains a model: cross-entropy, gradients backwards through the graph, Adam. The graph of a step is built
/// once, and run again with other numbers. The same seed gives the same bits on every processor, as
/// long as no matrix has more than 2^16 cells.
class Trainer {
 public:
  /// From random parameters. Throws InputError as drawing and building the model do.
  Trainer(const Task& task, const TaskRequest& request, const TrainingOptions& options);
  /// Goes on where a state stopped.
  explicit Trainer(TrainingState state);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  bool is_done() const;
  /// One step; at multiples of `evaluate_every` and at the last one the curve gets a point, and at the first
  /// call one of step 0. Throws InputError when the loss, a gradient or a parameter is no finite number: with
  /// the step, the first matrix by name, and a likely reason.
  StepReport step();

  /// Everything up to here, its numbers copied.
  TrainingState state() const;
  /// The model as it is now, its numbers copied.
  TrainedModel model() const;
  const std::vector<CurvePoint>& curve() const;
  const TrainingOptions& options() const;
  const Task& task() const;
  const TaskSetup& setup() const;
  std::size_t steps_done() const;
  const std::vector<TaskExample>& held_out() const;
  Evaluation evaluate() const;
  /// What one step takes: the graph of a batch, forward and backward, without Adam.
  Work work_of_step() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace attn
