#pragma once

#include <string>

#include "page/page.hpp"
#include "render/style.hpp"

namespace attn {

/// How the cells of one table are coloured: each by its size against the largest of the table, or against one
/// where they are weights.
class Shading {
 public:
  Shading(const Table& table, Colors colors);

  /// The escape sequence that begins the colour of a cell, or "" where it stays plain.
  std::string of(double value) const;
  /// Whether there are colours enough to tell the sizes apart without any sign.
  bool tells_sizes() const;

 private:
  Heat heat_;
  Colors colors_;
  double largest_ = 1.0;
};

/// The sequences for emphasis; all empty without colours.
std::string bold(Colors colors);
std::string dim(Colors colors);
std::string plain(Colors colors);

}  // namespace attn
