#include <fmt/format.h>

#include "command/train/training.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

Outcome list_of_tasks(const Command& command, const Arguments& arguments) {
  for (const Offered& row : command.own.options) {
    if (arguments.has(*row.option)) fail("{} needs a task: give attn train TASK", row.option->name);
  }
  Page page;
  Listing listing{{"task", "what is learned"}, {}};
  for (const Task& task : tasks())
    listing.rows.push_back({std::string(task.name), std::string(task.summary)});
  page.say(std::move(listing));
  page.say(text("To train one: ", code("attn train NAME"), "."));
  return {std::move(page)};
}

// Commands that work on what was learned.
std::vector<Text> next_steps(const Arguments& arguments, const Trainer& trainer) {
  const std::optional<std::string> path = arguments.text(option::save);
  std::vector<Text> next;
  if (!path) {
    next.push_back(text("Keep the model: add ", code("--save FILE.safetensors"), "."));
    return next;
  }
  const std::string of_model = fmt::format("--model {}", *path);
  const TrainedModel model = trainer.model();
  const Transformer* const transformer = std::get_if<Transformer>(&model);
  if (transformer) {
    next.push_back(
        text("The attention of the last layer, step by step: ", code("attn walk " + of_model), "."));
    next.push_back(text("Where each head attends: ", code("attn map " + of_model), "."));
    if (transformer->kind->decodes)
      next.push_back(text("What it writes: ", code("attn generate " + of_model), "."));
  } else {
    next.push_back(text("A sentence, word by word: ", code("attn align " + of_model), "."));
    next.push_back(text("Where the decoder attends: ", code("attn align --map " + of_model), "."));
  }
  const std::size_t steps = trainer.options().steps;
  next.push_back(text(
      "Train it further: ", code(fmt::format("attn train --resume {} --steps {}", *path, 2 * steps)), "."));
  if (trainer.options().schedule->name == "linear")
    next.push_back(
        text(fmt::format(
                 "With the schedule linear the learning rate depends on the number of steps: it falls to 0 "
                 "at step {}, and rises again if more are asked for. For a training of {} steps without "
                 "that, give ",
                 steps, 2 * steps),
             code(fmt::format("--steps {}", 2 * steps)), " or ", code("--schedule constant"),
             " from the beginning."));
  return next;
}

}  // namespace

Outcome run_train(const Command& command, const Arguments& arguments) {
  if (arguments.words.empty() && !arguments.has(option::resume)) return list_of_tasks(command, arguments);
  const AskedTraining asked = asked_training(arguments);
  TrainingRun run(arguments, asked);
  run.run();
  Page page;
  add_training(page, *asked.trainer,
               {.sentence = looked_at(asked),
                .compared = run.take_compared(),
                .next = next_steps(arguments, *asked.trainer),
                .was_stopped = run.was_stopped()});
  Outcome outcome{.page = std::move(page)};
  if (run.was_stopped() && !arguments.has(option::save))
    outcome.warnings.push_back("the training was stopped, and nothing is saved: give --save FILE to keep it");
  return outcome;
}

}  // namespace attn
