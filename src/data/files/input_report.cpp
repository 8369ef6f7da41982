#include "data/files/input_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace attn {

namespace {

InputReports* innermost = nullptr;

bool is_same(const InputReport& one, const InputReport& other) {
  const auto says_the_same = [](const Assumption& a, const Assumption& b) { return a.sentence == b.sentence; };
  return one.name == other.name && one.where == other.where && one.size == other.size &&
         std::ranges::equal(one.assumed, other.assumed, says_the_same);
}

}  // namespace

Assumption rounded_to_double(std::string_view number) {
  return {&assumed::numbers, fmt::format("{} is rounded to the nearest double", number),
          "whole numbers above 2⁵³ need not be exact, so give smaller ones", true};
}

Assumption truth_as_numbers() { return {&assumed::numbers, "true is read as 1, and false as 0"}; }

Assumption elements_of_type(std::string_view type) {
  return {&assumed::numbers, fmt::format("the elements have the type {}", type)};
}

Assumption vector_as_row(std::size_t size) {
  return {&assumed::dimensions, fmt::format("the vector of size {} is one row", size)};
}

InputReports::InputReports() : around_(std::exchange(innermost, this)) {}

InputReports::~InputReports() { innermost = around_; }

void InputReports::tell(InputReport input) {
  if (!innermost) return;
  std::vector<InputReport>& all = innermost->all_;
  if (std::ranges::none_of(all, [&](const InputReport& other) { return is_same(input, other); }))
    all.push_back(std::move(input));
}

std::vector<std::string> doubts_in(const std::vector<InputReport>& inputs) {
  std::vector<std::string> doubts;
  for (const InputReport& input : inputs) {
    for (const Assumption& one : input.assumed) {
      if (!one.is_doubtful) continue;
      doubts.push_back(
          fmt::format("{}: {}: {}", input.where.empty() ? input.name : input.where, one.sentence, one.other));
    }
  }
  return doubts;
}

}  // namespace attn
