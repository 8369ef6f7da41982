#include "command/train/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/support/number.hpp"
#include "page/render/drawing.hpp"
#include "page/render/text_table.hpp"
#include "page/render/weight_pictures.hpp"
#include "page/render/width.hpp"

namespace attn {
namespace {

constexpr std::chrono::milliseconds between_frames{150}, while_paused{100};
constexpr std::size_t most_frames = 600;
constexpr std::array paces = {1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0};  // steps in a second

std::string fitted(const std::string& line, const Style& style) {
  return shortened(style.signs(line), style.width, style.unicode ? "…" : "~");
}

// The curve as high as there is room for.
std::optional<WrittenLines> curve_within(const Plot& curve, Style style, std::size_t width, std::size_t height) {
  constexpr std::size_t highest = 15, lowest = 3;
  style.width = width;
  for (std::size_t plot = highest; plot >= lowest; plot -= 2) {
    Metrics metrics = characters_of(style);
    metrics.plot = plot;
    WrittenLines lines = written_lines([&](Sink& sink) { write_drawing(lay_out(curve, style, metrics), style, sink); });
    if (lines.height() <= height) return lines;
  }
  return std::nullopt;
}

// The maps, with the scale of their shades. Where there is no room for all with a cell for each weight, the first ones
// are left out, and a line says so.
WrittenLines maps_within(const std::vector<Table>& heads, const Style& style, std::size_t width, std::size_t height) {
  const auto written = [&](std::size_t count, PictureLegend legend) {
    const std::vector<Table> shown(heads.end() - static_cast<std::ptrdiff_t>(count), heads.end());
    const bool are_all = count == heads.size();
    const PictureRoom room{.width = width, .height = are_all ? height : height - 1, .legend = legend};
    const bool is_whole = have_whole_pictures(shown, style, room);
    return std::pair(is_whole, written_lines([&](Sink& sink) {
                       write_weight_pictures(shown, style, room, sink);
                       if (are_all) return;
                       const std::string note =
                           fmt::format("  the last {:|# }of {} heads (--head)", Count{count}, heads.size());
                       sink.write(dim(style) + shortened(note, width, style.unicode ? "…" : "~") + plain(style) + "\n");
                     }));
  };
  for (const PictureLegend legend : {PictureLegend::scale, PictureLegend::none}) {
    for (std::size_t count = heads.size(); count > 0; --count) {
      if (auto [is_whole, lines] = written(count, legend); is_whole) return std::move(lines);
    }
  }
  return written(std::min<std::size_t>(heads.size(), 1), PictureLegend::scale).second;
}

}  // namespace

std::vector<std::string> lines_of_frame(const WatchedFrame& frame, const std::string& keys, Style style,
                                        TerminalSize canvas) {
  constexpr std::size_t of_text = 3, least_beside = 60, least_of_curve = 30;
  style.width = canvas.columns;
  std::vector<std::string> lines = {fitted(frame.status, style), fitted(frame.sentence, style)};
  const std::size_t height = canvas.rows - std::min(canvas.rows, of_text + 1);
  const std::size_t of_curve = std::max(least_of_curve, canvas.columns / 3);
  std::optional<WrittenLines> curve;
  if (canvas.columns >= least_beside) curve = curve_within(frame.curve, style, of_curve, height);
  const std::size_t width = curve ? canvas.columns - of_curve - gap_beside : canvas.columns;
  std::vector<WrittenLines> beside;
  if (height > 2 && !frame.heads.empty()) beside.push_back(maps_within(frame.heads, style, width, height));
  if (curve) beside.push_back(std::move(*curve));
  const WrittenLines body = written_lines([&](Sink& sink) { write_beside(beside, sink); });
  for (std::size_t i = 0; i < std::min(body.height(), height); ++i) lines.push_back(body.line(i));
  lines.push_back(dim(style) + fitted(keys, style) + plain(style));
  return lines;
}

TrainingWatch::TrainingWatch(LongWork& work, Style style) : work_(work), style_(std::move(style)) { work_.has_keys(); }

void TrainingWatch::after_step(const MakeFrame& frame) {
  if (!is_on_) return;
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last_step_).count();
  constexpr double share = 0.2;
  seconds_of_step_ = seconds_of_step_ == 0.0 ? seconds : (1.0 - share) * seconds_of_step_ + share * seconds;
  bool is_shown = false;
  const auto show_once = [&] {
    if (!std::exchange(is_shown, true)) show(frame());
  };
  if (now >= next_frame_ || is_paused_) show_once();
  while (is_on_ && !work_.is_to_stop()) {
    const Clock::time_point end = pace_
                                      ? now + std::chrono::duration_cast<Clock::duration>(
                                                  std::chrono::duration<double>(1.0 / paces[*pace_] - seconds_of_step_))
                                      : now;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    const auto patience = is_paused_ ? while_paused : std::clamp(left, std::chrono::milliseconds(0), while_paused);
    const bool was_paused = is_paused_;
    redraw_where_resized();
    if (const std::optional<Keystroke> key = work_.key_within(patience)) {
      if (*key == Keystroke{.kind = Keystroke::Kind::left} || *key == character_key(" ")) show_once();
      take(*key);
      continue;
    }
    if (std::exchange(makes_one_step_, false)) break;
    if (!is_paused_ && (was_paused || Clock::now() >= end)) break;
  }
  last_step_ = Clock::now();
}

void TrainingWatch::end(const MakeFrame& frame, bool waits) {
  if (!is_on_) return;
  is_at_end_ = true;
  is_on_ = waits && work_.has_keys();
  show(frame());
  while (is_on_ && !work_.is_to_stop()) {
    redraw_where_resized();
    if (const std::optional<Keystroke> key = work_.key_within(while_paused)) take(*key);
  }
  if (is_on_) leave();
  if (!waits || !work_.has_keys()) work_.keep_drawing();
}

// The last frame stays, without what keys do.
void TrainingWatch::leave() {
  is_on_ = false;
  back_ = 0;
  draw();
  work_.keep_drawing();
}

void TrainingWatch::show(WatchedFrame frame) {
  frames_.push_back(std::move(frame));
  if (frames_.size() > most_frames) frames_.erase(frames_.begin());
  back_ = 0;
  next_frame_ = Clock::now() + between_frames;
  draw();
}

void TrainingWatch::redraw_where_resized() {
  const std::optional<TerminalSize> canvas = work_.canvas();
  if (canvas && drawn_on_ && (canvas->columns != drawn_on_->columns || canvas->rows != drawn_on_->rows)) draw();
}

void TrainingWatch::draw() {
  const std::optional<TerminalSize> canvas = work_.canvas();
  if (!canvas || frames_.empty()) return;
  drawn_on_ = canvas;
  const WatchedFrame& frame = frames_[frames_.size() - 1 - back_];
  std::string keys;
  if (is_on_ && work_.has_keys()) {
    for (const std::string& words : keys_in_words()) {
      keys = words;
      if (display_width(words) <= canvas->columns) break;
    }
  }
  work_.draw(lines_of_frame(frame, keys, style_, *canvas));
}

void TrainingWatch::take(const Keystroke& key) {
  using enum Keystroke::Kind;
  const bool goes_on = key.kind == enter || key == character_key(" ");
  if (key == character_key("q") || key.kind == left_off || (is_at_end_ && goes_on)) {
    return leave();
  }
  if (goes_on) {
    is_paused_ = !is_paused_;
    back_ = 0;
  } else if (key == character_key("+") || key == character_key("=")) {
    change_pace(true);
  } else if (key == character_key("-")) {
    change_pace(false);
  } else if (key.kind == left) {
    is_paused_ = true;
    back_ = std::min(back_ + 1, frames_.size() - 1);
  } else if (key.kind == right) {
    is_paused_ = true;
    makes_one_step_ = back_ == 0;
    back_ -= std::min<std::size_t>(back_, 1);
  }
  draw();
}

// From as fast as it goes to the next pace that is slower than that, and back.
void TrainingWatch::change_pace(bool is_faster) {
  const double fastest = 1.0 / std::max(seconds_of_step_, 1e-6);
  if (is_faster) {
    if (pace_ && (*pace_ + 1 == paces.size() || paces[*pace_ + 1] >= fastest)) pace_.reset();
    if (pace_) ++*pace_;
    return;
  }
  if (pace_) {
    *pace_ -= std::min<std::size_t>(*pace_, 1);
    return;
  }
  std::size_t slower = paces.size() - 1;
  while (slower > 0 && paces[slower] >= fastest) --slower;
  pace_ = slower;
}

// Each that is left says what it does.
std::vector<std::string> TrainingWatch::keys_in_words() const {
  const std::size_t at = frames_.size() - back_, count = frames_.size();
  const std::string place = fmt::format("← → frame {} of {}", at, count),
                    short_place = fmt::format("← → {} of {}", at, count);
  if (is_at_end_)
    return {fmt::format("{} · Enter or q the page", place), fmt::format("{} · q the page", short_place), "q the page"};
  const std::string_view pause = is_paused_ ? "space go on" : "space pause";
  const std::string pace = pace_ ? fmt::format("{:.0f}/s", paces[*pace_]) : "full speed";
  return {fmt::format("{} · + − pace ({}) · {} · q stop watching", pause, pace, place),
          fmt::format("{} · + − pace · {} · q stop watching", pause, short_place),
          fmt::format("{} · {} · q stop", pause, short_place), fmt::format("{} · q stop", pause), "q stop"};
}

}  // namespace attn
