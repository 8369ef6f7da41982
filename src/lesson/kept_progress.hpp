#pragma once

#include <functional>
#include <string>

#include "lesson/progress.hpp"
#include "page/page.hpp"
#include "support/terminal.hpp"

namespace attn {

/// The file that keeps the progress, which other processes may change as well. Where it cannot be written,
/// this is told once, and what changes is known to this process alone.
class KeptProgress {
 public:
  using Tell = std::function<void(Text sentence)>;

  /// Throws InputError where `path` is another kind of file.
  KeptProgress(Terminal& terminal, std::string path, Tell tell);

  /// As this and all other processes have left it.
  CourseProgress progress();
  /// Changes the progress and keeps it. No other process changes it between its being read and written.
  void change(const std::function<void(CourseProgress& progress)>& change);
  bool is_kept() const { return is_kept_; }

 private:
  void try_to_keep(const std::function<void()>& action);
  CourseProgress read();

  Terminal& terminal_;
  std::string path_;
  Tell tell_;
  bool is_kept_ = true;
  CourseProgress progress_;  // as it was known last
};

}  // namespace attn
