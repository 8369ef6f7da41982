#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace attn {

struct TrainingOptions;

/// How the learning rate changes from step to step, counted from 1.
struct RateSchedule {
  std::string_view name;
  std::string_view summary;
  double (*rate)(const TrainingOptions& options, std::size_t step);
};

/// constant: a linear warm-up to `rate`, which then stays. linear: the same, and then linearly to 0 behind
/// the last step. paper: rate · d_model^−0.5 · min(step^−0.5, step · warm_up^−1.5) (Vaswani et al. 2017,
/// equation 3).
std::span<const RateSchedule> rate_schedules();

/// No training makes more steps, or has more sentences in one.
constexpr std::size_t most_steps = 10'000'000, most_sentences = 4096;

/// How a model is trained: all that changes the parameters beside the task, its model and its data.
struct TrainingOptions {
  std::size_t steps = 1000;
  std::size_t batch = 32;  // sentences of a step
  std::uint32_t seed = 1;  // of the first parameters and of the sentences
  const RateSchedule* schedule = &rate_schedules().front();
  double rate = 1e-3;        // learning rate; of the schedule "paper" a factor
  std::size_t warm_up = 50;  // steps; 0: none
  std::size_t d_model = 1;   // of the model; the schedule "paper" depends on it
  double beta_1 = 0.9;       // of Adam (Kingma and Ba 2015, algorithm 1)
  double beta_2 = 0.98;
  double epsilon = 1e-9;
  double clip = 1.0;                 // largest norm of all gradients together; 0: any (Pascanu et al. 2013)
  double smoothing = 0.0;            // of labels (Vaswani et al. 2017, section 5.4)
  std::size_t evaluate_every = 100;  // steps between two points of the curve
};

/// A member of these options by name, as `attn train` takes it, a state keeps it and a page tells it.
struct TrainingField {
  std::string_view name;  // "warm_up"
  std::string_view summary;
  /// Throws InputError, which calls the field as it is `called`.
  void (*take)(TrainingOptions& options, const std::string& text, const std::string& called);
  std::string (*told)(const TrainingOptions& options);
};
std::span<const TrainingField> training_fields();

}  // namespace attn
