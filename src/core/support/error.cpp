#include "core/support/error.hpp"

#include <algorithm>
#include <utility>

namespace attn {

namespace {

// --- error

std::string without_nul(const std::string& sentence) {
  std::string result;
  for (const char c : sentence) {
    if (c == '\0') {
      result += "\uFFFD";
    } else {
      result += c;
    }
  }
  return result;
}

// --- budget

Budget* innermost = nullptr;

constexpr std::string_view way_out = "give smaller sizes, split the document, or run the command outside of it";

}  // namespace

// --- error

Complaint::Complaint(const std::string& sentence) : Complaint(sentence, {}) {}
Complaint::Complaint(const std::string& sentence, About about)
    : std::runtime_error(without_nul(sentence)), about_(std::move(about)) {}
Complaint::Complaint(const Complaint&) = default;
Complaint::~Complaint() = default;

void Complaint::is_about_option(std::string_view name) {
  if (about_.option.empty()) about_.option = name;
}

void Complaint::is_about_file(std::string_view path) {
  if (about_.file.empty()) about_.file = path;
}

InputError::InputError(const std::string& sentence) : Complaint(sentence) {}
InputError::InputError(const std::string& sentence, About about) : Complaint(sentence, std::move(about)) {}
InputError::InputError(const InputError&) = default;
InputError::~InputError() = default;

OutputError::OutputError(const std::string& sentence) : Complaint(sentence) {}
OutputError::OutputError(const OutputError&) = default;
OutputError::~OutputError() = default;

void fail_with(fmt::string_view sentence, fmt::format_args args) { throw InputError(fmt::vformat(sentence, args)); }

// --- budget

Budget::Budget(const Allowance& allowance) : allowance_(allowance), around_(innermost) { innermost = this; }

Budget::~Budget() { innermost = around_; }

void Budget::require_work(std::uint64_t work) {
  for (const Budget* budget = innermost; budget; budget = budget->around_) {
    const Allowance& allowance = budget->allowance_;
    if (work > allowance.work - budget->work_)
      fail(
          "this would be more work than {} may ask for, {} multiply-adds: "
          "{}",
          allowance.whose, allowance.work, way_out);
  }
}

void Budget::take_work(std::uint64_t work) {
  require_work(work);
  for (Budget* budget = innermost; budget; budget = budget->around_) budget->work_ += work;
}

void Budget::take_reading(std::uint64_t work) {
  take_work(work);
  for (Budget* budget = innermost; budget; budget = budget->around_) {
    const Allowance& allowance = budget->allowance_;
    if (work > allowance.reading - budget->reading_)
      fail(
          "to read this takes more work than {} may take for what it reads, {} steps: "
          "give a shorter text, or smaller files",
          allowance.whose, allowance.reading);
    budget->reading_ += work;
  }
}

std::uint64_t Budget::reading_left() {
  std::uint64_t left = without_limit;
  for (const Budget* budget = innermost; budget; budget = budget->around_) {
    const Allowance& allowance = budget->allowance_;
    left = std::min({left, allowance.work - budget->work_, allowance.reading - budget->reading_});
  }
  return left;
}

void Budget::require_cells(std::uint64_t cells) {
  for (const Budget* budget = innermost; budget; budget = budget->around_) {
    const Allowance& allowance = budget->allowance_;
    if (cells > allowance.cells)
      fail("the matrices would have {} cells at the same time, and those of {} may have {}: {}", cells, allowance.whose,
           allowance.cells, way_out);
  }
}

void Budget::take_output(std::uint64_t bytes) {
  for (Budget* budget = innermost; budget; budget = budget->around_) {
    const Allowance& allowance = budget->allowance_;
    if (bytes > allowance.output - budget->output_)
      fail("the output is longer than the {} bytes that {} may print: show less, as with --only or --section",
           allowance.output, allowance.whose);
    budget->output_ += bytes;
  }
}

}  // namespace attn
