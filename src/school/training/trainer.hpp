#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/math/matrix.hpp"
#include "core/math/rows.hpp"
#include "core/support/outside.hpp"
#include "school/training/loss.hpp"
#include "school/training/task.hpp"

namespace attn {

/// Moments of the gradients of one parameter, as Adam remembers them.  (Kingma and Ba 2015, algorithm 1)
struct Moments {
  Matrix first, second;
};

/// The length of all gradients as one vector: the same bits on every processor.
double norm_of(std::span<const Matrix* const> gradients);

/// What a gradient is multiplied by so that the norm of all is at most `most`; 1 where it is, or where `most`
/// is 0.  (Pascanu et al. 2013, algorithm 1)
double clipping(double norm, double most);

/// One step of Adam on one parameter, from its gradient times `factor`. Steps count from 1.
/// (Kingma and Ba 2015, algorithm 1)
struct AdamStep {
  AdamStep(const TrainingOptions& options, std::size_t step, double gradient_factor);
  void apply(Matrix& parameter, const Matrix& gradient, Moments& moments) const;

  AdamNumbers numbers;
};

/// A point of the curve of training: the averages of the steps since the point before, and how well the model
/// does there. That of step 0 has no steps behind it, and what the first step found.
struct CurvePoint {
  std::size_t step = 0;
  std::size_t steps = 0;       // since the point before
  double loss = 0.0;           // of training, with smoothing
  double gradient_norm = 0.0;  // before clipping
  double rate = 0.0;           // of the last step
  Evaluation held_out = {};
  std::string sample = {};  // what the model continues a text with; empty: it does not

  bool operator==(const CurvePoint&) const = default;
};

/// All that is needed to go on as if training had never stopped.
struct TrainingState {
  std::string task;  // the name of its row
  TaskRequest request = {};
  TrainingOptions options = {};
  TrainedModel model = {};
  std::map<std::string, Moments, std::less<>> moments = {};
  std::size_t step = 0;        // steps done
  std::string generator = {};  // of sentences, as its text
  std::vector<CurvePoint> curve = {};
  CurvePoint next = {};  // sums of the steps since the last one
};

/// At which temperature a model continues a text while it learns.
constexpr double temperature_of_samples = 0.7;

/// Writes a .safetensors file of F64: the parameters, the moments under `training.`, and the rest in its
/// metadata. Commands that run models read it as a model. The same bytes every time.
void write_state(const TrainingState& state, Sink& sink);
/// The same as a text of bytes.
std::string bytes_of(const TrainingState& state);

/// Reads such a file. Throws InputError: damaged, no state of training, an unknown task, parameters that are
/// missing, superfluous or of another shape.
TrainingState read_state(std::string_view bytes, const std::string& where);

/// Writes the model of a state alone, in F32, as models in the box are kept: with its recipe, its
/// vocabularies, how it was trained and how well it does in the metadata.
void write_model(const TrainingState& state, Sink& sink);

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

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace attn
