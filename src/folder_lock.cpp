#include "folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "support/error.hpp"

namespace attn {
namespace {

std::string folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

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
