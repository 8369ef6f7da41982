#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "effects/provisional_name.hpp"

namespace attn {

/// The folder that a file of this path lies in.
std::string folder_of(const std::string& path);

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

}  // namespace attn
