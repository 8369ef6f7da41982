#pragma once

#include <string>

namespace attn {

/// The right to change the files of a folder, which one process has at a time among those that ask for it.
/// The folder itself is locked, so that no other file is needed. Where the file system has no locks,
/// everybody has the right. Throws OutputError where another process keeps it for seconds.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path_of_file);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace attn
