#pragma once

#include <string>

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

}  // namespace attn
