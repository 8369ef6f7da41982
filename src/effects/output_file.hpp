#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/support/outside.hpp"

namespace attn {

class NewFile;

/// What is written: a file, which appears whole or not at all and survives a loss of power; or as it comes,
/// standard output ("-"), a pipe or a device. Its folder is made where there is none. Throws OutputError where it
/// cannot be written, and PageLeft where its reader has gone away.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  /// The file that is there must still have these bytes when another takes its place.
  OutputFile(std::string path, std::optional<std::string> must_have);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Whether nothing of it can be seen before it takes its place.
  bool appears_whole() const { return file_ != nullptr; }
  void write(std::string_view bytes);
  /// All of it was written: it waits beside its place, where nothing can fail for lack of room any more.
  void settle();
  /// Throws OutputError where somebody has changed what must have stayed.
  void check_is_unchanged() const;
  void take_place();
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail_to_write() const;

  std::string path_;
  std::optional<std::string> must_have_;
  std::unique_ptr<NewFile> file_;  // null: written in place
  int descriptor_;
};

/// Files that one command writes: none of them takes its place before all of them could.
class OutputFiles {
 public:
  OutputFile& open(std::string path);
  /// Throws OutputError.
  void write(const FileToWrite& file);
  /// Lets them take their places in order. The sentence of an OutputError says which of them did.
  void take_places();

 private:
  std::deque<OutputFile> files_;
};

/// Writes a whole file. Throws OutputError.
void write_file(const FileToWrite& file);

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
