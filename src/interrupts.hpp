#pragma once

#include <array>
#include <csignal>

namespace attn {

/// The signals that end the program early, but not before it has put things in order.
constexpr std::array interrupts = {SIGINT, SIGTERM, SIGHUP};

/// The exit code that shells expect of a program that such a signal has ended.
constexpr int exit_code_of(int signal) {
  constexpr int ended_by_signal = 128;
  return ended_by_signal + signal;
}

}  // namespace attn
