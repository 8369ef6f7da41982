#include "command/train/training.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "attention/watches.hpp"
#include "command/app.hpp"
#include "files/opened.hpp"
#include "render/format.hpp"
#include "support/error.hpp"
#include "support/number.hpp"
#include "support/text.hpp"
#include "tell/attentions.hpp"
#include "tell/describe.hpp"
#include "tell/trained_run.hpp"
#include "tell/training_heads.hpp"

namespace attn {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_drawings{500};

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
}

// Also where nothing is drawn.
void TrainingRun::require_head() const {
  const std::optional<std::string> head = arguments_.text(option::head);
  if (!head) return;
  const TrainedRun run = run_on(trainer_.model(), looked_at(asked_));
  std::vector<std::string> names;
  for (const Node* weights : attention_weights(*run.graph, std::nullopt)) names.push_back(weights->name);
  if (std::ranges::none_of(names, [&](const std::string& name) { return matches(*head, name); }))
    fail("--head {}: no attention weights of the model are called so. They are: {}", *head,
         fmt::join(names, ", "));
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
  if (const auto pairs = arguments_.text(option::pairs)) taken.push_back(*pairs);
  const auto take = [&](const Option& option, const std::string& path) {
    if (!path.ends_with(".safetensors"))
      fail("{} {}: the file name must end in .safetensors", option.name, path);
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

std::string TrainingRun::line(double seconds_left) const {
  const std::vector<CurvePoint>& curve = trainer_.curve();
  std::string line = fmt::format("step {} of {}", trainer_.steps_done(), trainer_.options().steps);
  if (loss_)
    line += fmt::format(", loss {} (guessing {})", written_fixed(*loss_, 3),
                        written_fixed(loss_of_guessing(trainer_.setup()), 3));
  if (!curve.empty())
    line += fmt::format(", {} % right", written_fixed(100.0 * curve.back().held_out.accuracy(), 0));
  return line + fmt::format(", {} left", time_in_words(seconds_left));
}

void TrainingRun::run() {
  const Clock::time_point begin = Clock::now();
  const std::size_t first = trainer_.steps_done();
  Clock::time_point next = begin;
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
    if (!work_ || Clock::now() < next) continue;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const std::size_t done = trainer_.steps_done() - first,
                      left = trainer_.options().steps - trainer_.steps_done();
    show(seconds * static_cast<double>(left) / static_cast<double>(done));
    next = Clock::now() + (arguments_.has(option::watch) ? between_drawings : between_drawings / 5);
  }
  if (const auto path = arguments_.text(option::save)) save(*path);
  if (const auto path = arguments_.text(option::save_model)) {
    std::string bytes;
    Sink sink([&](std::string_view piece) { bytes += piece; });
    write_model(trainer_.state(), sink);
    sink.flush();
    work_->save({*path, std::move(bytes)});
  }
}

void TrainingRun::at_step() {
  const std::size_t step = trainer_.steps_done();
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

std::vector<std::string> TrainingRun::lines_of(const Page& page) {
  if (!style_) {
    style_ = style_for(arguments_, *arguments_.environment, false);
    if (style_->colors != Colors::none) style_->ground = ground_for(arguments_, *arguments_.environment);
  }
  style_->width = work_->canvas()->columns;
  std::string text;
  Sink sink([&](std::string_view bytes) { text += bytes; });
  formats().front().render(page, *style_, sink);
  sink.flush();
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// The curve is left out where there is no room for all.
void TrainingRun::show(double seconds_left) {
  const std::optional<TerminalSize> canvas = work_->canvas();
  if (!arguments_.has(option::watch) || !canvas) return work_->tell(line(seconds_left));
  losses_.x.push_back(static_cast<double>(trainer_.steps_done()));
  losses_.y.push_back(*loss_);
  const TrainedRun run = run_on(trainer_.model(), looked_at(asked_));
  Page page;
  page.say(line(seconds_left));
  page.say(fmt::format("{} → {}", fmt::join(run.goes_in, " "), fmt::join(run.comes_out, " ")));
  const Node& weights = *attention_weights(*run.graph, arguments_.text(option::head)).back();
  HeatMap map{table_of(weights)};
  map.table.title = head_in_place(weights);
  page.say(std::move(map));
  page.say(curve());
  std::vector<std::string> lines = lines_of(page);
  if (lines.size() >= canvas->rows) {
    page.blocks.pop_back();
    lines = lines_of(page);
  }
  work_->draw(lines);
}

}  // namespace attn
