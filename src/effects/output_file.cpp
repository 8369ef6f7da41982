#include "effects/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/support/error.hpp"
#include "effects/new_file.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

// A device or a pipe is written as it is; it cannot be replaced by a new file.
bool is_replaceable(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? S_ISREG(status.st_mode) : errno == ENOENT;
}

void make_folder(const std::string& folder) {
  std::error_code reason;
  std::filesystem::create_directories(folder, reason);
  if (reason == std::errc::not_enough_memory) throw std::bad_alloc();
  if (reason) throw OutputError(fmt::format("{} cannot be made: {}", folder, reason.message()));
}

// The new file must replace what a link points to, not the link; also where nothing is there yet.
std::string resolved(const std::filesystem::path& path) {
  std::error_code no_link;
  const std::filesystem::path target = std::filesystem::read_symlink(path, no_link);
  return no_link ? path.string() : resolved(path.parent_path() / target);
}

// Nothing where it cannot be read; errno says why.
std::optional<bool> has_bytes(const std::string& path, std::string_view bytes) {
  std::error_code missing;
  if (std::filesystem::file_size(path, missing) != bytes.size() || missing) return false;
  std::ifstream file(path, std::ios::binary);
  std::string found(bytes.size(), '\0');
  file.read(found.data(), static_cast<std::streamsize>(found.size()));
  if (!file.is_open() || file.bad()) return std::nullopt;
  return file && found == bytes;
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)), descriptor_(STDOUT_FILENO) {
  if (path_ == "-") return;
  if (is_replaceable(path_)) {
    path_ = resolved(path_);
    make_folder(folder_of(path_));
    try {
      file_ = std::make_unique<NewFile>(path_);
    } catch (const std::system_error& error) {
      errno = error.code().value();
      fail_to_write();
    }
    descriptor_ = file_->descriptor();
  } else {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail_to_write();
  }
}

OutputFile::OutputFile(std::string path, std::optional<std::string> must_have) : OutputFile(std::move(path)) {
  must_have_ = std::move(must_have);
}

OutputFile::~OutputFile() {
  if (!file_ && descriptor_ != STDOUT_FILENO) close(descriptor_);
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EPIPE) throw PageLeft{};
      fail_to_write();
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::settle() {
  if (file_ && !file_->settle()) fail_to_write();
}

void OutputFile::check_is_unchanged() const {
  if (!file_ || !must_have_) return;
  const std::optional<bool> is_unchanged = has_bytes(path_, *must_have_);
  if (!is_unchanged) fail_to_write();
  if (!*is_unchanged)
    throw OutputError(fmt::format(
        "{} was changed by another program meanwhile, and stays as it is now: run the command again", path_));
}

void OutputFile::take_place() {
  if (!file_) return;
  check_is_unchanged();
  if (!file_->take_place()) fail_to_write();
}

void OutputFile::fail_to_write() const {
  throw OutputError(
      fmt::format("{} could not be written: {}", path_ == "-" ? "standard output" : path_, std::strerror(errno)));
}

OutputFile& OutputFiles::open(std::string path) { return files_.emplace_back(std::move(path)); }

void OutputFiles::write(const FileToWrite& file) {
  OutputFile& output = files_.emplace_back(file.path, file.replaces);
  output.write(file.bytes);
  output.settle();
}

void OutputFiles::take_places() {
  std::vector<std::string> written, left;
  for (const OutputFile& file : files_) {
    file.check_is_unchanged();
    if (file.appears_whole()) left.push_back(file.path());
  }
  try {
    for (OutputFile& file : files_) {
      if (!file.appears_whole()) continue;
      left.erase(left.begin());
      file.take_place();
      written.push_back(file.path());
    }
  } catch (const OutputError& error) {
    std::string sentence = error.what();
    if (!written.empty()) sentence += fmt::format(". Written: {}", fmt::join(written, ", "));
    if (!left.empty()) sentence += fmt::format(". Not written: {}", fmt::join(left, ", "));
    throw OutputError(sentence);
  }
}

void write_file(const FileToWrite& file) {
  OutputFiles files;
  files.write(file);
  files.take_places();
}

// --- folder lock

FolderLock::FolderLock(const std::string& path_of_file)
    : descriptor_(open(folder_of(path_of_file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  constexpr auto pause = std::chrono::milliseconds(5);
  constexpr int most_pauses = 2000;
  for (int i = 0; descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK && errno != EINTR) return;
    if (i == most_pauses) {
      close(descriptor_);
      throw OutputError(fmt::format("{} is locked by another program", folder_of(path_of_file)));
    }
    std::this_thread::sleep_for(pause);
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace attn
