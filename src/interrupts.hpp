#pragma once

#include <array>
#include <csignal>

namespace attn {

/// The signals that end the program early, but not before it has put things in order.
constexpr std::array interrupts = {SIGINT, SIGTERM, SIGHUP};

/// Whether this signal was ignored when the program started, as with nohup: it stays ignored.
inline bool is_ignored(int signal) {
  struct sigaction before {};
  return sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN;
}

/// The exit code that shells expect of a program that such a signal has ended.
constexpr int exit_code_of(int signal) {
  constexpr int ended_by_signal = 128;
  return ended_by_signal + signal;
}

}  // namespace attn
