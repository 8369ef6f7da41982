#pragma once

#include <chrono>
#include <string_view>

namespace attn {

/// What long work is at, in one line of standard error that is taken back at the end. Nothing is shown within
/// the first second, and nothing at all where standard error is no terminal.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void tell(std::string_view stage);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool at_terminal_;
  bool shown_ = false;
  Clock::time_point next_;
};

}  // namespace attn
