#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "core/graph/graph.hpp"

namespace attn {

/// Why keys are masked, as the cells of a mask tell it. A key that is hidden from all queries of its sentence
/// is padding, or stands behind a valid length. What else is hidden is hidden by order: a causal mask shows
/// query i the keys up to i, or up to a key that is so many places later.
class MaskReasons {
 public:
  explicit MaskReasons(const Node& mask);

  bool has_padding() const { return has_padding_; }
  bool has_order() const { return has_order_; }
  /// Whether every key is hidden from some query.
  bool is_padding(std::size_t row, std::size_t key) const;
  /// Of a causal mask, how many keys stand before the one of the first query; nothing for any other mask.
  std::optional<std::size_t> before() const { return before_; }
  /// The same of any mask that hides all keys later than a query, whatever else it hides.
  std::optional<std::size_t> before_later() const;
  /// The query of a row, counted from 0 in its sentence.
  std::size_t query(std::size_t row) const { return row % queries_; }
  std::size_t queries() const { return queries_; }
  std::size_t keys() const { return cells_->shape().columns; }
  std::size_t rows() const { return cells_->shape().rows; }
  bool allows(std::size_t row, std::size_t key) const { return (*cells_)(row, key) != 0.0; }

  /// How many keys a row shows, where these are its first ones but for padding; nothing otherwise.
  std::optional<std::size_t> shown_first(std::size_t row) const;
  /// The first key of the padding that ends the sentence of a row; the number of keys where there is none.
  std::size_t first_padding_at_end(std::size_t row) const;

 private:
  std::optional<std::size_t> find_before() const;

  std::shared_ptr<const Matrix> cells_;
  std::size_t queries_;
  Matrix shown_;  // for each sentence, 1 for a key that some query may attend to
  bool has_padding_ = false, has_order_ = false;
  std::optional<std::size_t> before_;
};

}  // namespace attn
