#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace attn {

/// A sentence for the reader. U+FFFD stands for each NUL, at which what() would end: names in files may hold
/// one.
class Complaint : public std::runtime_error {
 public:
  explicit Complaint(const std::string& sentence);
};

/// Wrong usage or wrong input: one sentence in the reader's words that ends in a way out. Exit code 2.
class InputError : public Complaint {
 public:
  using Complaint::Complaint;
};

/// What was asked for could not be written. Exit code 1.
class OutputError : public Complaint {
 public:
  using Complaint::Complaint;
};

/// Throws InputError with the formatted sentence.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> sentence, Args&&... args) {
  throw InputError(fmt::format(sentence, std::forward<Args>(args)...));
}

}  // namespace attn
