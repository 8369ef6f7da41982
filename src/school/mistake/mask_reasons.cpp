#include "school/mistake/mask_reasons.hpp"

#include <algorithm>

namespace attn {

MaskReasons::MaskReasons(const Node& mask)
    : cells_(mask.cells()),
      queries_(std::max<std::size_t>(1, mask.frame.shape.rows / mask.frame.rows.batch)),
      shown_({mask.frame.rows.batch, mask.frame.shape.columns}, 0.0) {
  for (std::size_t i = 0; i < rows(); ++i) {
    for (std::size_t j = 0; j < keys(); ++j) {
      if (allows(i, j)) shown_(i / queries_, j) = 1.0;
    }
  }
  has_padding_ = std::ranges::find(cells(shown_), 0.0) != cells(shown_).end();
  for (std::size_t i = 0; i < rows(); ++i) {
    for (std::size_t j = 0; j < keys(); ++j) has_order_ = has_order_ || (!allows(i, j) && !is_padding(i, j));
  }
  before_ = find_before();
}

bool MaskReasons::is_padding(std::size_t row, std::size_t key) const {
  const Matrix& shown = shown_;
  return shown(row / queries_, key) == 0.0;
}

// The first key that order hides from some query says what it would have to be; all rows have to agree.
std::optional<std::size_t> MaskReasons::find_before() const {
  std::optional<std::size_t> before;
  for (std::size_t i = 0; i < rows() && !before; ++i) {
    for (std::size_t j = 0; j < keys() && !before; ++j) {
      if (allows(i, j) || is_padding(i, j)) continue;
      if (j < query(i) + 1) return std::nullopt;
      before = j - query(i) - 1;
    }
  }
  // Of sentences of one word it hides nothing.
  if (!before && queries_ == 1 && keys() == 1 && !has_padding()) return 0;
  if (!before) return std::nullopt;
  for (std::size_t i = 0; i < rows(); ++i) {
    for (std::size_t j = 0; j < keys(); ++j) {
      if (!is_padding(i, j) && allows(i, j) != (j <= query(i) + *before)) return std::nullopt;
    }
  }
  return before;
}

std::optional<std::size_t> MaskReasons::before_later() const {
  if (before_) return before_;
  const std::size_t first = keys() - std::min(keys(), queries_);
  for (std::size_t i = 0; i < rows(); ++i) {
    for (std::size_t j = query(i) + first + 1; j < keys(); ++j) {
      if (allows(i, j)) return std::nullopt;
    }
  }
  return first;
}

std::optional<std::size_t> MaskReasons::shown_first(std::size_t row) const {
  std::size_t end = keys();
  while (end > 0 && !allows(row, end - 1)) --end;
  for (std::size_t j = 0; j < end; ++j) {
    if (!allows(row, j) && !is_padding(row, j)) return std::nullopt;
  }
  return end;
}

std::size_t MaskReasons::first_padding_at_end(std::size_t row) const {
  std::size_t end = keys();
  while (end > 0 && is_padding(row, end - 1)) --end;
  return end;
}

}  // namespace attn
