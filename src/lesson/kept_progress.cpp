#include "lesson/kept_progress.hpp"

#include <utility>

#include "support/error.hpp"

namespace attn {

KeptProgress::KeptProgress(Terminal& terminal, std::string path, Tell tell)
    : terminal_(terminal), path_(std::move(path)), tell_(std::move(tell)) {
  progress_ = read_progress(path_).progress;
  try_to_keep([&] {
    terminal_.prepare_to_save(path_);
    terminal_.alone_with(path_, [&] { progress_ = read(); });
  });
}

void KeptProgress::try_to_keep(const std::function<void()>& action) {
  if (!is_kept_) return;
  try {
    action();
  } catch (const OutputError& error) {
    is_kept_ = false;
    tell_(text("Your progress is not kept: ", error.what(), ". To keep it in another file, give ",
               code("--state FILE"), "."));
  }
}

// What is damaged makes room, and is not lost.
CourseProgress KeptProgress::read() {
  ProgressFile file = read_progress(path_);
  if (file.is_damaged) {
    const std::string aside = name_aside(path_);
    terminal_.rename(path_, aside);
    tell_(text("The file of your progress, ", path_, ", was damaged. It is now called ", aside,
               ", and your progress begins anew."));
  }
  return std::move(file.progress);
}

CourseProgress KeptProgress::progress() {
  if (is_kept_) progress_ = read_progress(path_).progress;
  return progress_;
}

void KeptProgress::change(const std::function<void(CourseProgress& progress)>& change) {
  try_to_keep([&] {
    terminal_.alone_with(path_, [&] {
      CourseProgress changed = read();
      change(changed);
      terminal_.save({path_, bytes_of(changed)});
      progress_ = std::move(changed);
    });
  });
  if (!is_kept_) change(progress_);
}

}  // namespace attn
