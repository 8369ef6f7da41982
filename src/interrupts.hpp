#pragma once

#include <array>
#include <csignal>

namespace attn {

/// The signals by which somebody ends the program early.
constexpr std::array interrupts = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// Whether this signal was ignored when the program started, as with nohup: it stays ignored.
inline bool is_ignored(int signal) {
  struct sigaction before {};
  return sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN;
}

}  // namespace attn
