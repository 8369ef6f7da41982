#include "core/graph/operation.hpp"

#include <fmt/format.h>

#include "core/graph/graph.hpp"

namespace attn {

std::string Axis::label(std::size_t i) const { return labels ? (*labels)[i] : std::to_string(i + 1); }

std::string place_in_words(const Axis& axis, std::size_t i, std::string_view what, std::string_view open,
                           std::string_view close) {
  return axis.labels ? fmt::format("{}{}{}", open, axis.label(i), close) : fmt::format("{} {}", what, i + 1);
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
