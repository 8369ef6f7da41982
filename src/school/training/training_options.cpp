#include "school/training/task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/problem/model_words.hpp"

namespace attn {

namespace {

// --- schedules, of operations that are rounded alike everywhere

double warming_up(const TrainingOptions& options, std::size_t step) {
  if (step >= options.warm_up) return 1.0;
  return static_cast<double>(step) / static_cast<double>(options.warm_up);
}

double constant(const TrainingOptions& options, std::size_t step) { return options.rate * warming_up(options, step); }

double linear_rate(const TrainingOptions& options, std::size_t step) {
  const auto left = static_cast<double>(options.steps + 1 - std::min(step, options.steps + 1));
  return options.rate * warming_up(options, step) * left / static_cast<double>(options.steps);
}

double paper(const TrainingOptions& options, std::size_t step) {
  const auto now = static_cast<double>(step), warm = static_cast<double>(options.warm_up);
  const double falling = 1.0 / std::sqrt(now);
  const double rising = options.warm_up == 0 ? falling : now / (warm * std::sqrt(warm));
  return options.rate / std::sqrt(static_cast<double>(options.d_model)) * std::min(falling, rising);
}

constexpr std::array schedules = {
    RateSchedule{"constant", "rises to the rate during warm-up, and stays", constant},
    RateSchedule{"linear", "rises to the rate during warm-up, and falls to 0 after the last step", linear_rate},
    RateSchedule{"paper", "rate · d_model^−0.5 · min(step^−0.5, step · warm_up^−1.5) (Vaswani et al. 2017, equation 3)",
                 paper},
};

// --- fields

void take_schedule(TrainingOptions& options, const std::string& text, const std::string&) {
  options.schedule = &look_up(rate_schedules(), text, "schedule");
}

template <std::size_t TrainingOptions::*member, std::size_t least, std::size_t most>
void take_count(TrainingOptions& options, const std::string& text, const std::string& called) {
  const std::optional<std::size_t> value = parse_number<std::size_t>(text);
  if (!value || *value < least || *value > most)
    fail("{} must be a whole number from {} to {}, and is '{}'", called, least, most, text);
  options.*member = *value;
}

void take_seed(TrainingOptions& options, const std::string& text, const std::string& called) {
  const std::optional<std::uint32_t> value = parse_number<std::uint32_t>(text);
  if (!value) fail("{} must be a whole number from 0 to 4294967295, and is '{}'", called, text);
  options.seed = *value;
}

// Which numbers a field may be, and in words.
struct Range {
  bool (*holds)(double);
  std::string_view in_words;
};
constexpr Range positive{[](double value) { return value > 0.0; }, "a positive number"},
    not_negative{[](double value) { return value >= 0.0; }, "0 or a positive number"},
    below_one{[](double value) { return value >= 0.0 && value < 1.0; }, "a number from 0 to below 1"};

template <double TrainingOptions::*member, const Range& range>
void take_number(TrainingOptions& options, const std::string& text, const std::string& called) {
  const std::optional<double> value = parse_number<double>(text);
  if (!value || !std::isfinite(*value) || !range.holds(*value))
    fail("{} must be {}, and is '{}'", called, range.in_words, text);
  options.*member = *value;
}

template <auto member>
std::string told_option(const TrainingOptions& options) {
  return fmt::format("{}", options.*member);
}

using Options = TrainingOptions;

constexpr std::array fields = {
    TrainingField{"steps", "number of steps", take_count<&Options::steps, 1, most_steps>, told_option<&Options::steps>},
    TrainingField{"batch", "sentences in a step", take_count<&Options::batch, 1, most_sentences>,
                  told_option<&Options::batch>},
    TrainingField{"seed", "seed of the first parameters and of the sentences", take_seed, told_option<&Options::seed>},
    TrainingField{"schedule", "how the learning rate changes", take_schedule,
                  [](const Options& options) { return std::string(options.schedule->name); }},
    TrainingField{"rate", "learning rate (for the schedule paper, a factor)", take_number<&Options::rate, positive>,
                  told_option<&Options::rate>},
    TrainingField{"warm_up", "steps in which the learning rate rises", take_count<&Options::warm_up, 0, most_steps>,
                  told_option<&Options::warm_up>},
    TrainingField{"d_model", "embedding size (the schedule paper multiplies by d_model^−½)",
                  take_count<&Options::d_model, 1, most_steps>, told_option<&Options::d_model>},
    TrainingField{"beta_1", "how much of the average gradient stays from step to step",
                  take_number<&Options::beta_1, below_one>, told_option<&Options::beta_1>},
    TrainingField{"beta_2", "how much of the average squared gradient stays from step to step",
                  take_number<&Options::beta_2, below_one>, told_option<&Options::beta_2>},
    TrainingField{"epsilon", "added to the square root that Adam divides by", take_number<&Options::epsilon, positive>,
                  told_option<&Options::epsilon>},
    TrainingField{"clip", "largest norm of the gradient; 0: any", take_number<&Options::clip, not_negative>,
                  told_option<&Options::clip>},
    TrainingField{"smoothing", "label smoothing: probability that is spread over all words",
                  take_number<&Options::smoothing, below_one>, told_option<&Options::smoothing>},
    TrainingField{"dropout", "dropout: share of numbers that is left out at random",
                  take_number<&Options::dropout, below_one>, told_option<&Options::dropout>},
    TrainingField{"examples", "different sentences that it is trained on; 0: all that the task has",
                  take_count<&Options::examples, 0, most_examples>, told_option<&Options::examples>},
    TrainingField{"evaluate_every", "steps between two points of the curve",
                  take_count<&Options::evaluate_every, 1, most_steps>, told_option<&Options::evaluate_every>},
};

}  // namespace

std::span<const RateSchedule> rate_schedules() { return schedules; }

std::span<const TrainingField> training_fields() { return fields; }

}  // namespace attn
