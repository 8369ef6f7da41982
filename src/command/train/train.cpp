#include <fmt/format.h>

#include <memory>

#include "command/app.hpp"
#include "command/browser_page.hpp"
#include "command/command.hpp"
#include "command/train/training_request.hpp"
#include "command/train/training_run.hpp"
#include "core/attention/watches.hpp"
#include "core/support/error.hpp"
#include "page/tell/heads.hpp"
#include "school/training/task.hpp"
#include "school/training/trained_run.hpp"
#include "school/training/training_page.hpp"

namespace attn {

namespace {

Answer list_of_tasks(const Command& command, const Arguments& arguments) {
  for (const OfferedOption& row : command.own.options) {
    if (arguments.has(*row.option)) fail("{} needs a task: give attn train TASK", row.option->name);
  }
  Page page;
  Listing listing{.columns = {"task", "what is learned", "goal"}, .rows = {}, .headed = true};
  for (const Task& task : tasks())
    listing.rows.push_back({std::string(task.name), std::string(task.summary),
                            task.goal > 0.0 ? "at least " + percent_of(task.goal) : ""});
  page.say(std::move(listing));
  page.say("The goal is a share of the held-out words that count: so many of them are to be right.");
  page.say(text("To train one: ", code("attn train NAME"), "."));
  return {std::move(page)};
}

// The matrices of a page as inputs, which a question can ask for.
std::shared_ptr<Graph> inputs_of_trace(const Trace& trace) {
  auto graph = std::make_shared<Graph>();
  for (const TracedMatrix& one : trace.matrices())
    graph->input(Name{role::other, one.name}, one.cells(), one.frame.rows, one.frame.columns);
  return graph;
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
    next.push_back(text("The attention of the last layer, step by step: ", code("attn walk " + of_model), "."));
    next.push_back(text("Where each head attends: ", code("attn map " + of_model), "."));
    if (transformer->kind->decodes) next.push_back(text("What it writes: ", code("attn generate " + of_model), "."));
    if (trainer.setup().words.tokenizer)
      next.push_back(text("How it continues a text of yours: ",
                          code(fmt::format("attn generate {} --text 'The ' --steps 40 --temperature 0.7", of_model)),
                          "."));
  } else {
    next.push_back(text("A sentence, word by word: ", code("attn align " + of_model), "."));
    next.push_back(text("Where the decoder attends: ", code("attn align --map " + of_model), "."));
  }
  const std::size_t steps = trainer.options().steps;
  if (trainer.steps_done() < steps)
    next.push_back(text(fmt::format("Go on from step {} to step {}: ", trainer.steps_done(), steps),
                        code(fmt::format("attn train --resume {}", *path)), "."));
  next.push_back(
      text("Train it further: ", code(fmt::format("attn train --resume {} --steps {}", *path, 2 * steps)), "."));
  if (trainer.options().schedule->name == "linear")
    next.push_back(text(
        fmt::format(
            "With the schedule linear the learning rate depends on the number of steps: it falls to 0 at step {}, and rises again if more are asked for. "
            "For a training of {} steps without that, give ",
            steps, 2 * steps),
        code(fmt::format("--steps {}", 2 * steps)), " or ", code("--schedule constant"), " from the beginning."));
  return next;
}

}  // namespace

Answer run_train(const Command& command, const Arguments& arguments) {
  if (arguments.words.empty() && !arguments.has(option::resume)) return list_of_tasks(command, arguments);
  const AskedTraining asked = asked_training(arguments);
  TrainingRun run(arguments, asked);
  run.run();
  Page page;
  add_training(page, *asked.trainer,
               {.sentence = watched_sentence(asked),
                .compared = run.take_compared(),
                .next = next_steps(arguments, *asked.trainer),
                .was_stopped = run.was_stopped(),
                .beside = run.beside()});
  const std::shared_ptr<Graph> tables = inputs_of_trace(page.trace);
  Answer answer{.page = std::move(page), .computation = {tables}};
  if (arguments.has(option::page)) {
    answer.attachments.put(BrowserPageContent{.graph = run_on(asked.trainer->model(), watched_sentence(asked)).graph,
                                              .story = {.training = run.take_story()}});
  }
  const LongWork* const work = arguments.long_work();
  if (arguments.has(option::watch) && !(work && work->canvas()))
    answer.notes.emplace_back("--watch draws on a terminal, and standard error is none: nothing is watched");
  if (run.was_stopped() && !arguments.has(option::save))
    answer.warnings.push_back("the training was stopped, and nothing is saved: give --save FILE to keep it");
  return answer;
}

// --- commands

std::vector<Command> train_commands() {
  constexpr std::string_view of_task = ": that of the task";
  OptionGroup own{
      .options =
          {{option::steps, "number of steps in all", of_task, most_steps},
           option::batch,
           {option::seed, "seed of the first parameters and of the sentences", of_task},
           option::rate,
           option::warm_up,
           option::schedule,
           option::clip,
           option::smoothing,
           option::dropout,
           option::examples,
           option::every,
           {option::layers, "number of layers", of_task, most_trained_layers},
           {option::heads, "number of heads of each attention", of_task, most_trained_size},
           {option::d_model, "size of the vectors (embedding size)", of_task, most_trained_size},
           {option::d_ff, "inner size of the feed-forward layers", of_task, most_trained_size},
           option::pairs,
           {option::text_file, "text to learn, in UTF-8; - is standard input", ": the prose of this course"},
           option::subwords,
           option::window,
           {option::kv_heads, "number of heads of keys and values, which groups of heads share",
            ": as many as --heads, or as the recipe has"},
           {option::recipe, {}, of_task},
           {option::norm, {}, of_task},
           {option::norm_kind, {}, of_task},
           {option::epsilon, "ε in the normalization, 0 or more", of_task},
           {option::activation, {}, of_task},
           {option::gated, "feed-forward layers with a gate; without --d-ff their inner size is 2/3 of the usual",
            of_task},
           {option::positions, {}, of_task, 0, choices::positions_of_models},
           {option::base, {}, of_task},
           {option::scale, "number that the scores are divided by, such as 8, or its name", of_task},
           option::no_bias,
           option::unscaled_embeddings,
           option::tied_output,
           {option::text, "the sentence that is shown, in words of the task"},
           option::save,
           option::save_model,
           option::save_steps,
           option::resume,
           {option::watch,
            "show the weights of all heads, the loss and an example while it learns, on a terminal; keys pause, slow down and look back"},
           {option::head, "the heads that --watch shows", ": all"},
           option::compare,
           option::beside,
           option::only},
      .exclusions = {},
      .needs = {
          {&option::save_steps, {&option::save}, "--save-steps needs --save FILE, beside which they go: give both"},
          {&option::head, {&option::watch}, "--head belongs to --watch: give both"}}};
  for (const Option* given :
       {&option::batch, &option::seed, &option::rate, &option::warm_up, &option::schedule, &option::clip,
        &option::smoothing, &option::dropout, &option::examples, &option::every, &option::layers, &option::heads,
        &option::d_model, &option::d_ff, &option::pairs, &option::beside})
    own.exclusions.push_back({&option::resume, given});
  for (const Option* given : of_texts) own.exclusions.push_back({&option::resume, given});
  for (const Option* given : of_recipes) own.exclusions.push_back({&option::resume, given});
  for (const Option* given : recipe_options()) own.exclusions.push_back({&option::resume, given});
  std::vector<Command> commands;
  commands.push_back({.name = "train",
                      .subject = &subject::training,
                      .summary = "train a small model on a task, and see what its heads learn",
                      .words = {{"TASK", PositionalArgument::Count::optional, Kind::word, choices::tasks}},
                      .own = std::move(own),
                      .groups = {&browser_options()},
                      .examples = {"attn train", "attn train reverse", "attn train induction --compare 0,100,300",
                                   "attn train dates --beside transformer --steps 100",
                                   "attn train sort --save sort.safetensors --watch",
                                   "attn train --resume sort.safetensors --steps 2000",
                                   "attn train pairs --pairs pairs.txt --save mine.safetensors",
                                   "attn train text --text-file book.txt --recipe gpt2 --watch"},
                      .run = run_train});
  return commands;
}

}  // namespace attn
