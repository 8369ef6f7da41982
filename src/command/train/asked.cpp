#include <fmt/format.h>

#include <algorithm>

#include "command/train/training.hpp"
#include "files/matrix_file.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "tell/trained_run.hpp"

namespace attn {
namespace {

// The options whose member is a field of the training.
constexpr const Option* fields[] = {&option::steps, &option::batch,     &option::seed,
                                    &option::rate,  &option::warm_up,   &option::schedule,
                                    &option::clip,  &option::smoothing, &option::every};

std::string text_of(const Arguments& arguments, const Option& option) {
  if (option.kind == Kind::number) return fmt::format("{}", *arguments.number(option));
  if (option.kind == Kind::count) return fmt::format("{}", *arguments.count(option));
  return *arguments.text(option);
}

void take_fields(TrainingOptions& options, const Arguments& arguments) {
  for (const Option* option : fields) {
    if (!arguments.has(*option)) continue;
    look_up(training_fields(), option->member, "field")
        .take(options, text_of(arguments, *option), std::string(option->name));
  }
}

std::size_t last_of(const std::vector<std::size_t>& steps) {
  return steps.empty() ? 0 : *std::ranges::max_element(steps);
}

// Steps that are to be seen must be made: without --steps there are as many as that takes.
void take_steps(TrainingOptions& options, const Arguments& arguments) {
  for (const Option* option : {&option::save_steps, &option::compare}) {
    const std::size_t last = last_of(arguments.counts(*option));
    if (last <= options.steps) continue;
    if (arguments.has(option::steps))
      fail("{} {}: there are only {} steps: give more --steps", option->name, last, options.steps);
    options.steps = last;
  }
}

const Task& task_called(const std::string& name) {
  return look_up(tasks(), name, "task");
}

AskedTraining new_training(const Arguments& arguments) {
  const Task& task = task_called(arguments.words.front());
  TaskRequest request{.sizes = {.layers = arguments.count(option::layers),
                                .heads = arguments.count(option::heads),
                                .d_model = arguments.count(option::d_model),
                                .d_ff = arguments.count(option::d_ff)},
                      .pairs = {}};
  const std::optional<std::string> pairs = arguments.text(option::pairs);
  if (task.needs_pairs && !pairs)
    fail("attn train {} learns pairs of your own: give --pairs FILE", task.name);
  if (pairs && !task.needs_pairs)
    fail("--pairs {} has no effect: the task {} makes its own sentences; use attn train pairs", *pairs,
         task.name);
  if (pairs) request.pairs = read_pairs(read_bytes(*pairs), *pairs);
  TrainingOptions options = set_up(task, request).defaults;
  take_fields(options, arguments);
  take_steps(options, arguments);
  return {.trainer = std::make_unique<Trainer>(task, request, options), .resumed = {}, .text = {}};
}

AskedTraining resumed_training(const Arguments& arguments, const std::string& path) {
  std::string bytes = read_bytes(path);
  TrainingState state = read_state(bytes, path);
  if (!arguments.words.empty()) {
    const Task& task = task_called(arguments.words.front());
    if (task.name != state.task)
      fail("--resume {}: it is a state of the task {}, not of {}: leave out {}", path, state.task, task.name,
           task.name);
  }
  take_fields(state.options, arguments);
  take_steps(state.options, arguments);
  if (state.options.steps <= state.step) {
    fail("--resume {}: all of its {} steps are made: give more --steps", path, state.step);
  }
  return {.trainer = std::make_unique<Trainer>(std::move(state)), .resumed = std::move(bytes), .text = {}};
}

}  // namespace

AskedTraining asked_training(const Arguments& arguments) {
  const std::optional<std::string> path = arguments.text(option::resume);
  AskedTraining asked = path ? resumed_training(arguments, *path) : new_training(arguments);
  const std::vector<std::string>& texts = arguments.texts(option::text);
  if (texts.size() > 1) fail("--text is given {} times: give it once", texts.size());
  if (!texts.empty()) asked.text = texts.front();
  looked_at(asked);  // says now which word is unknown
  return asked;
}

TaskExample looked_at(const AskedTraining& asked) {
  const Trainer& trainer = *asked.trainer;
  if (asked.text) return sentence_of(trainer.model(), *asked.text);
  if (!trainer.held_out().empty()) return trainer.held_out().front();
  return sentence_of(trainer.model(), std::string(trainer.task().example));
}

}  // namespace attn
