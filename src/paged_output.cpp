#include "paged_output.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "render/width.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

std::size_t rows_of(std::string_view text, std::size_t columns) {
  std::size_t rows = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::size_t width = visible_width(text.substr(0, end));
    rows += columns == 0 || width == 0 ? 1 : (width + columns - 1) / columns;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return rows;
}

}  // namespace

PagedOutput::PagedOutput(std::string command, const Style& style)
    : command_(std::move(command)),
      pager_(terminal_, style),
      columns_(terminal_.size().columns),
      rows_(terminal_.size().rows) {}

PagedOutput::~PagedOutput() {
  if (pipe_ >= 0) close(pipe_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

void PagedOutput::write(std::string_view bytes) {
  if (command_.empty() || rows_ == 0) return pager_.write(bytes);
  if (pipe_ >= 0) return send(bytes);
  first_ += bytes;
  lines_ += rows_of(bytes, columns_);
  if (lines_ < rows_) return;
  start();
  send(first_);
}

void PagedOutput::finish() {
  if (command_.empty() || rows_ == 0) return pager_.finish();
  if (pipe_ < 0) return terminal_.write(first_);
  close(pipe_);
  pipe_ = -1;
  waitpid(process_, nullptr, 0);
  process_ = 0;
}

void PagedOutput::start() {
  // What git sets: quit where all fits, keep colors, leave the page on the screen.
  setenv("LESS", "FRX", 0);
  setenv("LV", "-c", 0);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw OutputError(fmt::format("the pager cannot be started: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  char shell[] = "sh", option[] = "-c";
  char* const words[] = {shell, option, command_.data(), nullptr};
  const int failure = posix_spawn(&process_, "/bin/sh", &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[0]);
  pipe_ = ends[1];
  if (failure != 0) throw OutputError(fmt::format("the pager cannot be started: {}", std::strerror(failure)));
  // The keyboard is the pager's: an interrupt is for it to understand.
  std::signal(SIGINT, SIG_IGN);
}

void PagedOutput::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(pipe_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw PageLeft{};
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace attn
