#include "command/train/training_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "command/app.hpp"
#include "command/command.hpp"
#include "command/train/training_request.hpp"
#include "command/train/watch.hpp"
#include "core/attention/watches.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/file_access.hpp"
#include "page/render/format.hpp"
#include "page/render/text_table.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/heads.hpp"
#include "school/training/task.hpp"
#include "school/training/trained_run.hpp"
#include "school/training/training_page.hpp"

namespace attn {

namespace {

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

// "layer 1, head 2" of encoder.1.self_attention: without the parts of the place that all have. What is
// numbered is said before its number.
std::vector<std::string> short_titles(const std::vector<const Node*>& heads, std::string_view numbered) {
  std::vector<std::vector<std::string>> places;
  for (const Node* head : heads) {
    std::vector<std::string>& place = places.emplace_back();
    for (const std::string_view part : split_at(head->name, '.')) place.emplace_back(part);
  }
  std::vector<std::string> titles;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    std::string title;
    for (std::size_t i = 0; i < places[h].size() && places[h][i] != scope::head.name; ++i) {
      const bool differs = std::ranges::any_of(
          places, [&](const std::vector<std::string>& other) { return i >= other.size() || other[i] != places[h][i]; });
      if (!differs) continue;
      const bool is_number = parse_number<std::size_t>(places[h][i]).has_value();
      title += (title.empty() ? "" : " ") + (is_number ? fmt::format("{} {}", numbered, places[h][i]) : places[h][i]);
    }
    const std::string own = head_title(*heads[h]);
    titles.push_back(title.empty() ? own : title + ", " + own);
  }
  return titles;
}

}  // namespace

TrainingRun::TrainingRun(const Arguments& arguments, const AskedTraining& asked)
    : arguments_(arguments),
      asked_(asked),
      trainer_(*asked.trainer),
      work_(arguments.long_work()),
      saved_steps_(sorted(arguments.counts(option::save_steps))),
      compared_steps_(sorted(arguments.counts(option::compare))) {
  require_places();
  require_head();
  if (arguments.has(option::page)) stages_.emplace(trainer_, watched_sentence(asked_));
  if (asked.beside) beside_.emplace(trainer_, *asked.beside);
}

// Also where nothing is drawn.
void TrainingRun::require_head() const {
  const std::optional<std::string> head = arguments_.text(option::head);
  if (!head) return;
  const TrainedRun run = run_on(trainer_.model(), watched_sentence(asked_));
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
  const TrainedRun run = run_on(trainer_.model(), watched_sentence(asked_));
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

}  // namespace attn
