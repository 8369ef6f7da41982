#include "paged_output.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "render/width.hpp"
#include "support/error.hpp"

namespace attn {
PagedOutput::PagedOutput(std::string command, const Style& style)
    : command_(std::move(command)),
      pager_(terminal_, style),
      columns_(terminal_.size().columns),
      rows_(command_.empty() ? terminal_.size().rows : size_of_terminal().rows) {}

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
  close(std::exchange(pipe_, -1));
  int status = 0;
  waitpid(std::exchange(process_, 0), &status, 0);
  constexpr int not_to_be_run = 126, not_found = 127;  // as shells say it
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  if (code == not_to_be_run || code == not_found)
    throw OutputError(
        fmt::format("the pager '{}' cannot be run: set PAGER to another, or give --no-pager", command_));
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
  // We ignore what a write is told of anyway; what the pager starts need not.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGXFSZ);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  char shell[] = "sh", option[] = "-c";
  char* const words[] = {shell, option, command_.data(), nullptr};
  const int failure = posix_spawn(&process_, "/bin/sh", &actions, &attributes, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
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
    if (written < 0 && errno == EPIPE) {
      finish();  // it says whether there was a reader at all
      throw PageLeft{};
    }
    if (written < 0)
      throw OutputError(fmt::format("the pager cannot be written to: {}", std::strerror(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace attn
