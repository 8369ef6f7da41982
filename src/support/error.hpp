#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace attn {

/// Wrong usage or wrong input: one sentence in the reader's words that ends in a way out. Exit code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What was asked for could not be written. Exit code 1.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws InputError with the formatted sentence.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> sentence, Args&&... args) {
  throw InputError(fmt::format(sentence, std::forward<Args>(args)...));
}

}  // namespace attn
