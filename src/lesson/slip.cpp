#include "lesson/slip.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "quantity/functions.hpp"

namespace attn {

using Kind = Working::Kind;

std::size_t size_of(const Working& working) {
  return std::accumulate(working.parts.begin(), working.parts.end(), std::size_t{1},
                         [](std::size_t sum, const Working& part) { return sum + size_of(part); });
}

Working without_part(Working working, std::size_t i) {
  working.parts.erase(working.parts.begin() + static_cast<std::ptrdiff_t>(i));
  if (working.parts.size() > 1 || working.parts.front().kind == Kind::inverse) return working;
  return Working(working.parts.front());
}

Working with_part(Working working, std::size_t i, Working part) {
  working.parts[i] = std::move(part);
  return working;
}

std::string shortly(const Working& working, std::string_view before, std::string_view otherwise) {
  const std::string numbers = in_numbers(working);
  return numbers.size() <= longest_in_numbers ? std::string(before) + numbers : std::string(otherwise);
}

bool is_inverse(const Working& working) {
  return working.kind == Kind::inverse;
}
bool is_negative(const Working& working) {
  return working.kind == Kind::negative;
}

bool is_fraction(const Working& working) {
  return working.kind == Kind::product && std::ranges::any_of(working.parts, is_inverse);
}

const Working& bare(const Working& part) {
  return is_inverse(part) || is_negative(part) ? part.parts.front() : part;
}
bool are_alike(const Working& one, const Working& other) {
  return equal_but_for_last_bits(number_from(one), number_from(other));
}
Working everywhere(Working working, const Function& called,
                   const std::function<Working(const Working&)>& instead) {
  for (Working& part : working.parts) part = everywhere(std::move(part), called, instead);
  return working.kind == Kind::call && working.function == &called ? instead(working) : working;
}
}  // namespace attn
