#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace attn {

/// What a complaint is about, for programs; empty: it is about something else, or that is not known.
struct About {
  std::string option = {};  // "--wq"
  std::string file = {};
  std::string hint = {};  // what to do, as a sentence of its own
};

// Nearly every file throws these. What copies and destroys them is in error.cpp, so that no other file generates it.

/// A sentence for the reader. U+FFFD stands for each NUL, at which what() would end: names in files may hold
/// one.
class Complaint : public std::runtime_error {
 public:
  explicit Complaint(const std::string& sentence);
  Complaint(const std::string& sentence, About about);
  Complaint(const Complaint& other);
  ~Complaint() override;

  const About& about() const { return about_; }
  /// Told by what reads an option or a file, of what is thrown in the course of that: the innermost knows best.
  void is_about_option(std::string_view name);
  void is_about_file(std::string_view path);

 private:
  About about_;
};

/// Wrong usage or wrong input: one sentence in the reader's words that ends in a way out. Exit code 2.
class InputError : public Complaint {
 public:
  explicit InputError(const std::string& sentence);
  InputError(const std::string& sentence, About about);
  InputError(const InputError& other);
  ~InputError() override;
};

/// What was asked for could not be written. Exit code 1.
class OutputError : public Complaint {
 public:
  explicit OutputError(const std::string& sentence);
  OutputError(const OutputError& other);
  ~OutputError() override;
};

/// What fail() does, whatever the types of its arguments are.
[[noreturn]] void fail_with(fmt::string_view sentence, fmt::format_args args);

/// Throws InputError with the formatted sentence.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> sentence, Args&&... args) {
  fail_with(sentence, fmt::make_format_args(args...));
}

inline constexpr std::uint64_t without_limit = std::numeric_limits<std::uint64_t>::max();

/// What commands may take that somebody else has written down. It is counted
/// and never measured, so that every machine gives the same verdict.
struct Allowance {
  std::string_view whose;  // "a block"
  std::uint64_t work;      // multiply-adds, and all else in the time that these take
  std::uint64_t cells;     // of all matrices at the same time
  std::uint64_t output;    // bytes
  std::uint64_t reading =
      without_limit;  // work that files decide: how they are unpacked, and how texts are cut by them
};

/// While it lives, what is computed, read and printed is counted against its
/// allowance, and against those of the budgets around it. Without a budget,
/// nothing is counted. The functions throw InputError where it is more than is
/// allowed.
class Budget {
 public:
  explicit Budget(const Allowance& allowance);
  ~Budget();
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  static void take_work(std::uint64_t work);
  /// Work as well, and of the kind that files decide.
  static void take_reading(std::uint64_t work);
  static void take_output(std::uint64_t bytes);
  /// What is about to be taken.
  static void require_work(std::uint64_t work);
  static void require_cells(std::uint64_t cells);
  /// How much of take_reading() every budget still allows.
  static std::uint64_t reading_left();

  /// What was taken.
  std::uint64_t work() const { return work_; }
  std::uint64_t reading() const { return reading_; }

 private:
  Allowance allowance_;
  std::uint64_t work_ = 0, reading_ = 0, output_ = 0;  // that were taken
  Budget* around_;
};

}  // namespace attn
