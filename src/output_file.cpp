#include "output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "interrupts.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

// A device or a pipe is written as it is; it cannot be replaced by a new file.
bool is_replaceable(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? S_ISREG(status.st_mode) : errno == ENOENT;
}

// The rename must replace what a link points to, not the link; also where nothing is there yet.
std::string resolved(const std::filesystem::path& path) {
  std::error_code no_link;
  const std::filesystem::path target = std::filesystem::read_symlink(path, no_link);
  return no_link ? path.string() : resolved(path.parent_path() / target);
}

// New files get the permissions that any program's files get; replaced ones keep theirs.
mode_t mode_for(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) return status.st_mode & 07777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// A file that an interrupt must not leave behind; empty when there is none.
using Unfinished = std::array<char, PATH_MAX>;

// A page, and a file that is written beside it.
std::array<Unfinished, 2> unfinished;

extern "C" void leave_nothing_behind(int signal) {
  for (const Unfinished& path : unfinished) {
    if (path[0] != '\0') unlink(path.data());
  }
  _exit(exit_code_of(signal));
}

void heed(int signal) {
  if (!is_ignored(signal)) std::signal(signal, leave_nothing_behind);
}

void remember_unfinished(const std::string& path) {
  const auto place = std::ranges::find(unfinished, '\0', [](const Unfinished& other) { return other[0]; });
  if (place == unfinished.end() || path.size() >= place->size()) return;
  std::memcpy(place->data(), path.c_str(), path.size() + 1);
  std::ranges::for_each(interrupts, heed);
}

void forget_unfinished(const std::string& path) {
  for (Unfinished& other : unfinished) {
    if (path == other.data()) other[0] = '\0';
  }
}

// Holds interrupts back while it lives: between the birth of a file and its being remembered there is a
// moment.
class InterruptsHeld {
 public:
  InterruptsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : interrupts) sigaddset(&held, signal);
    sigprocmask(SIG_BLOCK, &held, &before_);
  }
  ~InterruptsHeld() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  InterruptsHeld(const InterruptsHeld&) = delete;
  InterruptsHeld& operator=(const InterruptsHeld&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)), descriptor_(STDOUT_FILENO) {
  std::signal(SIGPIPE, SIG_IGN);
  if (path_ == "-") return;
  if (is_replaceable(path_)) {
    path_ = resolved(path_);
    temporary_ = path_ + ".XXXXXX";
    const InterruptsHeld held;
    descriptor_ = mkstemp(temporary_.data());
    if (descriptor_ < 0) {
      temporary_.clear();
      fail_to_write();
    }
    remember_unfinished(temporary_);
  } else {
    descriptor_ = open(path_.c_str(), O_WRONLY);
    if (descriptor_ < 0) fail_to_write();
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ != STDOUT_FILENO && descriptor_ >= 0) close(descriptor_);
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  forget_unfinished(temporary_);
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      // The reader of this has closed it.
      if (errno == EPIPE) std::_Exit(0);
      fail_to_write();
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::commit() {
  if (temporary_.empty()) return;
  const mode_t mode = mode_for(path_);
  const bool closed = fchmod(descriptor_, mode) == 0 && close(descriptor_) == 0;
  descriptor_ = -1;
  if (!closed || rename(temporary_.c_str(), path_.c_str()) != 0) fail_to_write();
  forget_unfinished(temporary_);
  temporary_.clear();
}

void write_file(const FileToWrite& file) {
  OutputFile output(file.path);
  output.write(file.bytes);
  output.commit();
}

void OutputFile::fail_to_write() const {
  throw OutputError(fmt::format("{} could not be written: {}", path_ == "-" ? "standard output" : path_,
                                std::strerror(errno)));
}

}  // namespace attn
