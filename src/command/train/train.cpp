#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include "command/app.hpp"
#include "command/browser_page.hpp"
#include "command/command.hpp"
#include "command/train/asked.hpp"
#include "command/train/stages.hpp"
#include "command/train/watch.hpp"
#include "core/attention/watches.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/opened.hpp"
#include "page/render/format.hpp"
#include "page/render/text_table.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/heads.hpp"
#include "school/training/beside.hpp"
#include "school/training/learned_heads.hpp"
#include "school/training/task.hpp"
#include "school/training/told.hpp"
#include "school/training/trained_run.hpp"

namespace attn {

// --- training

namespace {

// Trains to the end, or until somebody stops it; shows and saves what was asked for meanwhile.
class TrainingRun {
 public:
  TrainingRun(const Arguments& arguments, const AskedTraining& asked);
  void run();

  bool was_stopped() const { return was_stopped_; }
  std::vector<ModelAtStep> take_compared() { return std::move(compared_); }
  const TrainedBeside* beside() const { return beside_ ? &*beside_ : nullptr; }
  TrainingStory take_story() { return std::move(*stages_).story(); }

 private:
  void require_places();
  void require_head() const;
  void at_step();
  void train_beside();
  void show(double seconds_left);
  WatchedFrame frame(const std::string& status);
  Style style_of_drawings() const;
  void save(const std::string& path);
  std::string line() const;
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
  std::optional<Style> style_;  // of what is drawn
  std::optional<TrainingWatch> watch_;
  std::optional<StagesOfTraining> stages_;  // of a page for browsers
  std::optional<TrainedBeside> beside_;     // another model on the same sentences
  bool was_stopped_ = false;
};

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_drawings{100};

std::vector<std::size_t> sorted(std::vector<std::size_t> steps) {
  std::ranges::sort(steps);
  return steps;
}

// "name-100.safetensors" of "name.safetensors".
std::string path_at(const std::string& path, std::size_t step) {
  constexpr std::string_view ending = ".safetensors";
  return fmt::format("{}-{}{}", path.substr(0, path.size() - ending.size()), step, ending);
}

std::string time_in_words(double seconds) {
  const auto whole = static_cast<std::size_t>(seconds + 0.5);
  return whole < 120 ? fmt::format("{} s", whole) : fmt::format("{} min", (whole + 30) / 60);
}

TrainingRun::TrainingRun(const Arguments& arguments, const AskedTraining& asked)
    : arguments_(arguments),
      asked_(asked),
      trainer_(*asked.trainer),
      work_(arguments.long_work()),
      saved_steps_(sorted(arguments.counts(option::save_steps))),
      compared_steps_(sorted(arguments.counts(option::compare))) {
  require_places();
  require_head();
  if (arguments.has(option::page)) stages_.emplace(trainer_, looked_at(asked_));
  if (asked.beside) beside_.emplace(trainer_, *asked.beside);
}

// Also where nothing is drawn.
void TrainingRun::require_head() const {
  const std::optional<std::string> head = arguments_.text(option::head);
  if (!head) return;
  const TrainedRun run = run_on(trainer_.model(), looked_at(asked_));
  std::vector<std::string> names;
  for (const Node* weights : attention_weights(*run.graph, std::nullopt)) names.push_back(weights->name);
  if (std::ranges::none_of(names, [&](const std::string& name) { return matches(*head, name); }))
    fail("--head {}: no attention weights of the model are called so. They are: {}", *head, fmt::join(names, ", "));
}

// What cannot be saved in the end is told before the work.
void TrainingRun::require_places() {
  for (const Option* option : {&option::save_steps, &option::compare}) {
    const std::vector<std::size_t>& steps = arguments_.counts(*option);
    const std::size_t done = trainer_.steps_done();
    if (!steps.empty() && *std::ranges::min_element(steps) < done)
      fail("{} {}: the state that goes on is at step {} already: give later steps", option->name,
           *std::ranges::min_element(steps), done);
  }
  const std::optional<std::string> output = arguments_.text(option::output);
  std::vector<std::string> taken;
  if (output) taken.push_back(*output);
  for (const Option* read : {&option::pairs, &option::text_file}) {
    if (const auto path = arguments_.text(*read); path && *path != "-") taken.push_back(*path);
  }
  const auto take = [&](const Option& option, const std::string& path) {
    if (!path.ends_with(".safetensors")) fail("{} {}: the file name must end in .safetensors", option.name, path);
    if (!work_) fail("{} {}: nothing is saved here: leave it out", option.name, path);
    for (const std::string& other : taken) {
      if (is_same_file(other, path))
        fail("{} would be overwritten by what {} writes: give another file", other, option.name);
    }
    taken.push_back(path);
    work_->prepare_to_save(path);
  };
  if (const auto path = arguments_.text(option::save)) {
    take(option::save, *path);
    for (const std::size_t step : saved_steps_) take(option::save_steps, path_at(*path, step));
  }
  // What training would go on from has more than the model alone.
  if (const auto resumed = arguments_.text(option::resume)) taken.push_back(*resumed);
  if (const auto path = arguments_.text(option::save_model)) take(option::save_model, *path);
}

std::string TrainingRun::line() const {
  const std::vector<CurvePoint>& curve = trainer_.curve();
  std::string line = fmt::format("step {} of {}", trainer_.steps_done(), trainer_.options().steps);
  if (loss_)
    line += fmt::format(", loss {} (guessing {})", written_fixed(*loss_, 3),
                        written_fixed(loss_of_guessing(trainer_.setup()), 3));
  if (!curve.empty()) line += fmt::format(", {} % right", written_fixed(100.0 * curve.back().held_out.accuracy(), 0));
  return line;
}

void TrainingRun::run() {
  const Clock::time_point begin = Clock::now();
  const std::size_t first = trainer_.steps_done();
  Clock::time_point next = begin;
  if (arguments_.has(option::watch) && work_ && work_->canvas() && !work_->is_to_stop())
    watch_.emplace(*work_, style_of_drawings());
  const auto seconds_left = [&] {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const std::size_t done = trainer_.steps_done() - first, left = trainer_.options().steps - trainer_.steps_done();
    return seconds * static_cast<double>(left) / static_cast<double>(done);
  };
  if (first == 0 || std::ranges::find(compared_steps_, first) != compared_steps_.end()) at_step();
  while (!trainer_.is_done()) {
    if (work_ && work_->is_to_stop()) {
      was_stopped_ = true;
      break;
    }
    const double loss = trainer_.step().loss;
    constexpr double share = 0.1;
    loss_ = loss_ ? (1.0 - share) * *loss_ + share * loss : loss;
    at_step();
    if (watch_ && watch_->is_on()) {
      // Without an end in time: who watches may pause.
      watch_->after_step([&] { return frame(line()); });
      continue;
    }
    if (!work_ || Clock::now() < next) continue;
    show(seconds_left());
    next = Clock::now() + between_drawings;
  }
  if (watch_ && trainer_.steps_done() > first)
    watch_->end([&] { return frame(line()); },
                !was_stopped_ && pager_for(arguments_, *arguments_.environment).has_value());
  if (beside_ && !was_stopped_) train_beside();
  if (const auto path = arguments_.text(option::save)) save(*path);
  if (const auto path = arguments_.text(option::save_model)) {
    std::string bytes;
    Sink sink([&](std::string_view piece) { bytes += piece; });
    write_model(trainer_.state(), sink);
    sink.flush();
    work_->save({*path, std::move(bytes)});
  }
}

void TrainingRun::train_beside() {
  beside_->train_second([this] {
    was_stopped_ = work_ && work_->is_to_stop();
    if (work_) work_->tell(fmt::format("{}: step {}", *arguments_.text(option::beside), asked_.beside->steps_done()));
    return was_stopped_;
  });
}

void TrainingRun::at_step() {
  const std::size_t step = trainer_.steps_done();
  if (stages_) stages_->at_step();
  if (beside_) beside_->look_at_first();
  const auto is_among = [&](const std::vector<std::size_t>& steps) {
    return std::ranges::find(steps, step) != steps.end();
  };
  if (is_among(saved_steps_)) save(path_at(*arguments_.text(option::save), step));
  if (!is_among(compared_steps_)) return;
  const Evaluation held_out = trainer_.evaluate();
  compared_.push_back({step, trainer_.model(), held_out.loss, held_out.accuracy()});
}

// A state that goes on may take the place of itself, if nobody else has changed it meanwhile.
void TrainingRun::save(const std::string& path) {
  FileToWrite file{path, bytes_of(trainer_.state())};
  const std::optional<std::string> resumed = arguments_.text(option::resume);
  if (resumed && is_same_file(*resumed, path)) file.replaces = asked_.resumed;
  work_->save(file);
}

// More points than the page has, because it is looked at while there are few.
Plot TrainingRun::curve() const {
  Plot plot = loss_curve(trainer_);
  plot.series.front() = losses_;
  return plot;
}

// "layer 1, head 2" of encoder.1.self_attention: without the parts of the place that all have. What is
// numbered is said before its number.
std::vector<std::string> short_titles(const std::vector<const Node*>& heads, std::string_view numbered) {
  std::vector<std::vector<std::string>> places;
  for (const Node* head : heads) {
    std::vector<std::string>& place = places.emplace_back();
    for (const std::string_view part : pieces_of(head->name, '.')) place.emplace_back(part);
  }
  std::vector<std::string> titles;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    std::string title;
    for (std::size_t i = 0; i < places[h].size() && places[h][i] != scope::head.name; ++i) {
      const bool differs = std::ranges::any_of(
          places, [&](const std::vector<std::string>& other) { return i >= other.size() || other[i] != places[h][i]; });
      if (!differs) continue;
      const bool is_number = parsed<std::size_t>(places[h][i]).has_value();
      title += (title.empty() ? "" : " ") + (is_number ? fmt::format("{} {}", numbered, places[h][i]) : places[h][i]);
    }
    const std::string own = head_title(*heads[h]);
    titles.push_back(title.empty() ? own : title + ", " + own);
  }
  return titles;
}

Style TrainingRun::style_of_drawings() const {
  Style style = style_for(arguments_, *arguments_.environment, false);
  if (style.colors != Colors::none) style.ground = ground_for(arguments_, *arguments_.environment);
  return style;
}

std::vector<std::string> TrainingRun::lines_of(const Page& page) {
  if (!style_) style_ = style_of_drawings();
  style_->width = work_->canvas()->columns;
  const WrittenLines written = written_lines([&](Sink& sink) { formats().front().render(page, *style_, sink); });
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < written.height(); ++i) lines.push_back(written.line(i));
  return lines;
}

// A model of a text shows what it writes also where nobody watches its weights.
void TrainingRun::show(double seconds_left) {
  const std::optional<TerminalSize> canvas = work_->canvas();
  const std::string status = fmt::format("{}, {} left", line(), time_in_words(seconds_left));
  const bool writes = !trainer_.curve().empty() && !trainer_.curve().back().sample.empty();
  if (!canvas || !writes) return work_->tell(status);
  Page page;
  page.say(status);
  page.say(sample_of(trainer_, trainer_.curve().back()));
  work_->draw(lines_of(page));
}

WatchedFrame TrainingRun::frame(const std::string& status) {
  losses_.x.push_back(static_cast<double>(trainer_.steps_done()));
  losses_.y.push_back(*loss_);
  const TrainedRun run = run_on(trainer_.model(), looked_at(asked_));
  const bool writes = !trainer_.curve().empty() && !trainer_.curve().back().sample.empty();
  WatchedFrame frame{
      .status = status,
      .sentence = writes ? words_of(sample_of(trainer_, trainer_.curve().back()))
                         : fmt::format("{} → {}", fmt::join(run.goes_in, " "), fmt::join(run.comes_out, " ")),
      .heads = {},
      .curve = curve()};
  const std::vector<const Node*> heads = attention_weights(*run.graph, arguments_.text(option::head));
  const std::vector<std::string> titles =
      short_titles(heads, std::holds_alternative<Transformer>(trainer_.model()) ? "layer" : "output");
  for (std::size_t h = 0; h < heads.size(); ++h) {
    frame.heads.push_back(table_of(*heads[h]));
    frame.heads.back().title = titles[h];
  }
  return frame;
}

}  // namespace

// --- train

namespace {

Answer list_of_tasks(const Command& command, const Arguments& arguments) {
  for (const Offered& row : command.own.options) {
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
  for (const Traced& one : trace.matrices())
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
               {.sentence = looked_at(asked),
                .compared = run.take_compared(),
                .next = next_steps(arguments, *asked.trainer),
                .was_stopped = run.was_stopped(),
                .beside = run.beside()});
  const std::shared_ptr<Graph> tables = inputs_of_trace(page.trace);
  Answer answer{.page = std::move(page), .computation = {tables}};
  if (arguments.has(option::page)) {
    answer.hung.put(InBrowser{.graph = run_on(asked.trainer->model(), looked_at(asked)).graph,
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
                      .words = {{"TASK", Word::Count::optional, Kind::word, choices::tasks}},
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
