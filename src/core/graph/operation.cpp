#include "core/graph/operation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/graph/graph.hpp"
#include "core/support/text.hpp"

namespace attn {

std::string Axis::label(std::size_t i) const { return labels ? (*labels)[i] : std::to_string(i + 1); }

bool is_repeated(const Axis& axis, std::size_t i) {
  return axis.labels && std::ranges::count(*axis.labels, (*axis.labels)[i]) > 1;
}

namespace {

// Whether a label alone does not say which place it is: there are several of it, or it is a number like that of a
// place.
bool is_unclear(const Axis& axis, std::size_t i) {
  return axis.labels && (is_repeated(axis, i) || parsed<double>((*axis.labels)[i]));
}

}  // namespace

std::string place_in_words(const Axis& axis, std::size_t i, std::string_view what, std::string_view open,
                           std::string_view close) {
  const std::string number = fmt::format("{} {}", what, i + 1);
  if (!axis.labels) return number;
  const std::string word = fmt::format("{}{}{}", open, axis.label(i), close);
  return is_unclear(axis, i) ? fmt::format("{} ({})", word, in_lower_case(number)) : word;
}

std::string place_in_lists(const Axis& axis, std::size_t i) {
  return is_unclear(axis, i) ? fmt::format("{} ({})", axis.label(i), i + 1) : axis.label(i);
}

Axis axis(std::string name) { return {std::move(name), nullptr}; }

Axis axis(std::string name, std::vector<std::string> labels) {
  if (labels.empty()) return axis(std::move(name));
  return {std::move(name), std::make_shared<const std::vector<std::string>>(std::move(labels))};
}

Axis part(const Axis& whole, std::size_t first, std::size_t count) {
  if (!whole.labels) return whole;
  const auto begin = whole.labels->begin() + static_cast<std::ptrdiff_t>(first);
  return axis(whole.name, std::vector<std::string>(begin, begin + static_cast<std::ptrdiff_t>(count)));
}

Cost& Cost::operator+=(const Cost& other) {
  multiply_adds += other.multiply_adds;
  element_operations += other.element_operations;
  return *this;
}

RowRange Operation::needed(std::size_t operand, RowRange, std::span<const Shape> operands) const {
  return {0, operands[operand].rows};
}

}  // namespace attn
