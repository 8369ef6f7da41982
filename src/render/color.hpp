#pragma once

#include <optional>
#include <string>

#include "page/page.hpp"
#include "render/style.hpp"

namespace attn {

/// How strongly the cells of one table stand out: each by its size against the largest of the table, or
/// against one where they are weights.
class Strengths {
 public:
  explicit Strengths(const Table& table);

  /// From −1 to 1, with the sign of the number; 0 where it is next to nothing, or where sizes are not told.
  double of(double value) const;

 private:
  Heat heat_;
  double largest_ = 1.0;
};

/// How the cells of one table are colored, as strongly as they stand out.
class Shading {
 public:
  Shading(const Table& table, const Style& style);

  /// The escape sequence that begins the color of a cell, or "" where it stays plain.
  std::string of(double value) const;
  /// Whether there are colors enough to tell the sizes apart without any sign.
  bool tells_sizes() const;

 private:
  Heat heat_;
  Style style_;
  std::optional<Strengths> strengths_;  // nothing: without colors
};

/// Whether colors show the sizes of cells in this block.
bool is_shaded(const Block& block);

/// What a line is, where colors tell it.
enum class Ink { question, correct, wrong, aside, command };

/// The sequences for emphasis; all empty without colors.
std::string bold(const Style& style);
std::string italic(const Style& style);
std::string dim(const Style& style);
std::string ink(Ink what, const Style& style);
std::string plain(const Style& style);

}  // namespace attn
