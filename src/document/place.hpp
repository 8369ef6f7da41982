#pragma once

#include <fmt/format.h>

#include <string>

#include "support/error.hpp"

namespace attn {

/// A line of a file, for messages.
struct Place {
  std::string path;
  std::size_t line = 0;
};

/// Throws InputError: "path:line: " and the formatted sentence.
template <class... Args>
[[noreturn]] void fail_at(const Place& place, fmt::format_string<Args...> sentence, Args&&... args) {
  throw InputError(
      fmt::format("{}:{}: {}", place.path, place.line, fmt::format(sentence, std::forward<Args>(args)...)));
}

/// Runs the action; an InputError that it throws gets the place put before its sentence.
template <class Action>
auto at_place(const Place& place, const Action& action) {
  try {
    return action();
  } catch (const InputError& error) {
    fail_at(place, "{}", error.what());
  }
}

}  // namespace attn
