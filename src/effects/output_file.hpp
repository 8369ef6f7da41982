#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/support/outside.hpp"

namespace attn {

/// The name of a file that is not in its place yet. While this lives, every signal that ends the program
/// removes the file first, if it is there; only SIGKILL cannot be heeded.
class ProvisionalName {
 public:
  explicit ProvisionalName(std::string path);
  /// From then on the name is like any other. No file is removed.
  ~ProvisionalName();
  ProvisionalName(const ProvisionalName&) = delete;
  ProvisionalName& operator=(const ProvisionalName&) = delete;

  const std::string& path() const { return path_; }

  /// Removes all of them. May be called by a handler of signals.
  static void remove_all();

 private:
  std::string path_;
  ProvisionalName* next_;  // those of the program make a list, which a signal may find at any time
};

/// A file that is written beside its place and takes it whole. Until it is whole it has no name, so that
/// whatever ends the program leaves nothing; where the file system knows no such files (NFS), it has a
/// provisional one, whose lock it holds: what a killed program has left, whose lock is free, is removed by the next
/// one that writes there. All functions but the constructor return false where the system refuses, with the reason
/// in errno.
class NewFile {
 public:
  /// `place` is no link. Throws std::system_error: the folder takes no file, or the file that is there may
  /// not be written.
  explicit NewFile(std::string place);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int descriptor() const { return descriptor_; }
  /// All that was written is on the disk. It belongs to the owner and the group of the file that it replaces,
  /// with its permissions and access control list; where the system does not let the group stay, what the
  /// group could do is left to no other.
  bool settle();
  /// Takes its place, in one step. Afterwards the disk knows it as well.
  bool take_place();

 private:
  bool open_nameless(mode_t mode);
  bool open_named(mode_t mode);
  bool give_name();
  bool keep_what_stays();

  std::string place_;
  int descriptor_ = -1;
  std::optional<ProvisionalName> name_;
};

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
