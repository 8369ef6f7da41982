#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/outside.hpp"
#include "school/training/adam.hpp"
#include "school/training/loss_graph.hpp"
#include "school/training/task.hpp"

namespace attn {

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

/// Writes a .safetensors file of F64: the parameters, the moments under `training.`, and the rest in its
/// metadata. Commands that run models read it as a model. The same bytes every time.
void write_state(const TrainingState& state, Sink& sink);
/// The same as a text of bytes.
std::string bytes_of(const TrainingState& state);

/// Reads such a file. Throws InputError: damaged, no state of training, an unknown task, parameters that are
/// missing, superfluous or of another shape, a size that contradicts the model.
TrainingState read_state(std::string_view bytes, const std::string& where);

/// Writes the model of a state alone, in F32, as models in the box are kept: with its recipe, its
/// vocabularies, how it was trained and how well it does in the metadata.
void write_model(const TrainingState& state, Sink& sink);

}  // namespace attn
