#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <sys/types.h>

namespace attn {

/// One run of the peer: how long it took, and the sum of the numbers it computed.
struct PeerRun {
  double seconds = 0.0;
  double checksum = 0.0;
};

/// A Python program beside this file, kept running and asked for one run a line.
class Peer {
 public:
  explicit Peer(const std::string& program);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  PeerRun run(const std::string& request);

 private:
  pid_t process_ = 0;
  int requests_ = -1;
  int answers_ = -1;
};

/// Runs a program to its end, its output thrown away, and returns the seconds from start to end.
double seconds_of(const std::vector<std::string>& command);

}  // namespace attn
