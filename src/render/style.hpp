#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attn {

/// How many colours a terminal shows.
enum class Colors { none, sixteen, palette256, full };

/// How a page is to look. Formats that are read by machines heed none of it; documents only the precision.
struct Style {
  Colors colors = Colors::none;
  bool unicode = true;    // box drawing and mathematical signs, or ASCII
  std::size_t width = 0;  // columns; 0: no limit, and nothing is left out
  bool full = false;      // leave nothing out, whatever the width
  int precision = 4;      // most decimals

  /// Whether large matrices and long sums are shortened.
  bool elides() const { return width != 0 && !full; }
  /// The columns that drawings and prose keep to: the width, or 80 without one.
  std::size_t limit() const;
  /// Our own text in the signs that there are, with nothing that a terminal could mistake for a command.
  std::string signs(std::string_view text) const;
};

}  // namespace attn
