#pragma once

#include <string>

#include <sys/types.h>

namespace attn {

/// A Python program beside this file, kept running: it is asked for one run a line, and answers with its
/// seconds.
class Peer {
 public:
  explicit Peer(const std::string& program);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// The seconds of one run. Throws std::runtime_error where the program has ended.
  double seconds_of(const std::string& request);

 private:
  pid_t process_ = 0;
  int requests_ = -1;
  int answers_ = -1;
};

}  // namespace attn
