#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/math/matrix.hpp"
#include "core/support/error.hpp"
#include "core/support/outside.hpp"
#include "page/block/page.hpp"
#include "page/document/document_outputs.hpp"

// What the targets share. libFuzzer changes the bytes of a case so that it comes to code that no case came to
// before (https://llvm.org/docs/LibFuzzer.html).

namespace attn::fuzz {

/// What is done with the bytes of a case. An InputError or an OutputError is a proper end; anything else that
/// is thrown is a finding, and so is all that the sanitizers see.
struct Target {
  std::string_view name;
  void (*run)(std::string_view bytes);
};

// All of them, by the file that they stand in.
std::span<const Target> readers();
std::span<const Target> computations();
std::span<const Target> documents();
std::span<const Target> texts();
std::span<const Target> tokenizers();

/// Stops the process, which is a finding, where something does not hold.
void require(bool holds, std::string_view what);

/// What an action returns that may not fail: an error of it is no proper end.
template <class Action>
auto must(std::string_view what, const Action& action) {
  try {
    return action();
  } catch (const Complaint& complaint) {
    require(false, std::string(what) + ": " + complaint.what());
    throw;
  }
}

/// The folder of this process alone that holds the files of a case.
const std::string& folder();
/// Writes the bytes to a file there.
void write_case(std::string_view name, std::string_view bytes);

/// What this prints.
template <class Print>
std::string printed(const Print& print) {
  std::string text;
  Sink sink([&](std::string_view bytes) { text += bytes; });
  print(sink);
  sink.flush();
  return text;
}

/// What the program prints for these words, which may name files of the folder and no others. Nothing is
/// written. Half of the cases are for a terminal with colors.
std::string output_of(const std::vector<std::string>& words, bool at_terminal = false);

/// What one case may compute. More takes long because it is asked to.
constexpr attn::Allowance of_case = {"a case", 40'000'000, std::uint64_t{1} << 27, std::uint64_t{1} << 30};

/// Whether a command makes small matrices. Sizes of three digits and the model of the paper's size are left
/// out: random numbers are work as well, and what is planned for large sizes is tested elsewhere.
bool is_quick(const std::vector<std::string>& words);

/// Runs the quick commands of documents and lessons as the program does; all others are refused.
RunCommand quick_runner();

/// Whether the numbers are the same, where NaN is the same as NaN.
bool same_numbers(const Matrix& one, const Matrix& other);

}  // namespace attn::fuzz
