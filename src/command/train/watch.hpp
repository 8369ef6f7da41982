#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "command/command.hpp"
#include "page/block/page.hpp"
#include "page/render/style.hpp"

namespace attn {

/// What is seen of a training after some of its steps.
struct WatchedFrame {
  std::string status, sentence;  // a line each
  std::vector<Table> heads;      // the weights of each, which make a picture each
  Plot curve;
};

/// The lines of a frame on a canvas of this size: the pictures of all heads and the curve beside them, and what keys
/// do. They are no wider, and fewer than its rows.
std::vector<std::string> lines_of_frame(const WatchedFrame& frame, const std::string& keys, Style style,
                                        TerminalSize canvas);

/// A training that is watched while it goes on. Keys pause it, slow it down and look back at frames that were shown.
class TrainingWatch {
 public:
  using MakeFrame = std::function<WatchedFrame()>;

  /// The style but for its width.
  TrainingWatch(LongWork& work, Style style);

  /// Whether somebody is still watching.
  bool is_on() const { return is_on_; }
  /// Takes the keys that were pressed since the last step; waits as long as it is paused, and as the pace demands.
  /// Shows a frame now and then.
  void after_step(const MakeFrame& frame);
  /// The last frame, which stays on the screen. Where it waits, keys still look back until one of them goes on.
  void end(const MakeFrame& frame, bool waits);

 private:
  using Clock = std::chrono::steady_clock;

  void show(WatchedFrame frame);
  void draw();
  void leave();
  void take(const Keystroke& key);
  void change_pace(bool is_faster);
  void redraw_where_resized();
  /// What keys do, in fewer and fewer words.
  std::vector<std::string> keys_in_words() const;

  LongWork& work_;
  Style style_;
  std::vector<WatchedFrame> frames_;
  std::optional<TerminalSize> drawn_on_;
  std::size_t back_ = 0;  // how many frames before the last one is shown
  bool is_on_ = true, is_paused_ = false, is_at_end_ = false, makes_one_step_ = false;
  std::optional<std::size_t> pace_;  // of the table of paces; nothing: as fast as it goes
  double seconds_of_step_ = 0.0;     // that the computation takes
  Clock::time_point last_step_ = Clock::now(), next_frame_ = Clock::now();
};

}  // namespace attn
