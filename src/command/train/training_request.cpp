#include "command/train/training_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "command/command.hpp"
#include "command/recipe_options.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/file_access.hpp"
#include "data/files/matrix_file.hpp"
#include "school/training/task.hpp"
#include "school/training/trained_run.hpp"

namespace attn {

namespace {

// The options whose member is a field of the training.
constexpr const Option* fields[] = {&option::steps,   &option::batch,    &option::seed, &option::rate,
                                    &option::warm_up, &option::schedule, &option::clip, &option::smoothing,
                                    &option::dropout, &option::examples, &option::every};

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

const Task& task_called(const std::string& name) { return look_up(tasks(), name, "task"); }

void require_text(const Task& task, const Arguments& arguments) {
  for (const Option* option : of_texts) {
    if (arguments.has(*option) && !task.learns_text)
      fail("{} has no effect: the task {} makes its own sentences; use attn train text", option->name, task.name);
  }
}

// Null: the text of this course, in the usual windows.
std::shared_ptr<const TextWindows> asked_text(const Arguments& arguments) {
  const std::optional<std::string> path = arguments.text(option::text_file);
  if (!path && !arguments.has_any(std::array{&option::window, &option::subwords})) return nullptr;
  TextSource source{.name = "the prose of this course", .text = std::string(course_text())};
  if (path) source = {.name = *path == "-" ? "standard input" : *path, .text = read_bytes(*path)};
  source.subwords = arguments.count(option::subwords).value_or(0);
  source.window = arguments.count(option::window).value_or(source.window);
  return windows_of(std::move(source));
}

// Nothing: that of the task.
std::optional<AskedRecipe> recipe_asked(const Arguments& arguments, const TaskSetup& usual) {
  if (!arguments.has_any(recipe_options()) && !arguments.has(option::no_bias)) return std::nullopt;
  const auto* const model = std::get_if<Transformer>(&usual.model);
  return AskedRecipe{arguments.text(option::recipe).value_or(""),
                     asked_recipe(arguments, {}, model ? model->recipe : ModelRecipe{})};
}

AskedTraining new_training(const Arguments& arguments) {
  const Task& task = task_called(arguments.words.front());
  TaskRequest request{.sizes = {.layers = arguments.count(option::layers),
                                .heads = arguments.count(option::heads),
                                .key_heads = arguments.count(option::kv_heads),
                                .d_model = arguments.count(option::d_model),
                                .d_ff = arguments.count(option::d_ff)},
                      .pairs = {}};
  const std::optional<std::string> pairs = arguments.text(option::pairs);
  if (task.needs_pairs && !pairs) fail("attn train {} learns pairs of your own: give --pairs FILE", task.name);
  if (pairs && !task.needs_pairs)
    fail("--pairs {} has no effect: the task {} makes its own sentences; use attn train pairs", *pairs, task.name);
  if (pairs) request.pairs = read_pairs(read_bytes(*pairs), *pairs);
  require_text(task, arguments);
  if (task.learns_text) request.text = asked_text(arguments);
  request.recipe = recipe_asked(arguments, set_up(task, request));
  TrainingOptions options = set_up(task, request).defaults;
  take_fields(options, arguments);
  take_steps(options, arguments);
  AskedTraining asked{.trainer = std::make_unique<Trainer>(task, request, options), .resumed = {}, .text = {}};
  if (const std::optional<std::string> beside = arguments.text(option::beside)) {
    request.architecture = &look_up(architectures(), *beside, "architecture");
    options.d_model = set_up(task, request).defaults.d_model;
    asked.beside = std::make_unique<Trainer>(task, request, options);
  }
  return asked;
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

TaskExample watched_sentence(const AskedTraining& asked) {
  const Trainer& trainer = *asked.trainer;
  if (asked.text) return sentence_of(trainer.model(), trainer.setup().words, *asked.text);
  if (!trainer.held_out().empty()) return trainer.held_out().front();
  return sentence_of(trainer.model(), trainer.setup().words, example_of(trainer.task(), trainer.setup()));
}

AskedTraining asked_training(const Arguments& arguments) {
  const std::optional<std::string> path = arguments.text(option::resume);
  AskedTraining asked = path ? resumed_training(arguments, *path) : new_training(arguments);
  const std::vector<std::string>& texts = arguments.texts(option::text);
  if (texts.size() > 1) fail("--text is given {} times: give it once", texts.size());
  if (!texts.empty()) asked.text = texts.front();
  watched_sentence(asked);  // says now which word is unknown
  return asked;
}

}  // namespace attn
