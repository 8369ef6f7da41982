#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/support/attachments.hpp"
#include "page/block/page.hpp"

namespace attn {

/// How many colors a terminal shows.
enum class Colors { none, sixteen, palette256, full };

/// A color, 8 bits for each of its parts.
struct Rgb {
  int red = 0, green = 0, blue = 0;

  /// From 0 to 1, as the eye weighs the parts (Rec. ITU-R BT.709; the curve is taken as a power of 2.2).
  double luminance() const;
};

/// What stands behind the text where nothing else is known.
constexpr Rgb dark_ground{0, 0, 0}, light_ground{255, 255, 255};

/// How a page is to look. Formats that are read by machines heed none of it; documents only the precision. Both heed
/// what is theirs.
struct Style {
  Colors colors = Colors::none;
  Rgb ground = dark_ground;  // of the terminal, behind the text
  bool unicode = true;       // box drawing and mathematical signs, or ASCII
  std::size_t width = 0;     // columns; 0: no limit, and nothing is left out
  bool full = false;         // leave nothing out, whatever the width
  int precision = 4;         // most decimals
  bool is_precise = false;   // they were asked for: where there is no room, columns are left out before them
  Attachments own = {};      // settings of some formats only, of types that are declared beside these

  /// Those of a type; the usual ones where nobody has set them.
  template <class Settings>
  const Settings& settings() const {
    static const Settings usual;
    const Settings* const set = own.find<Settings>();
    return set ? *set : usual;
  }

  /// Whether large matrices and long sums are shortened.
  bool elides() const { return width != 0 && !full; }
  /// The columns that drawings and prose keep to: the width, or 80 without one.
  std::size_t limit() const;
  /// Our own text in the signs that there are, with nothing that a terminal could mistake for a command.
  std::string signs(std::string_view text) const;
  /// Words of the reader, as they are, but for what a terminal could take for a command.
  std::string words(std::string_view text) const;
};

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
  /// A cell of a picture as a colored blank, as wide as this, and one above another in one character. How strongly they
  /// stand out is told, from 0 to 1. Only where sizes are told.
  std::string blank(double strength, std::size_t width) const;
  std::string halves(double upper, double lower) const;
  /// Whether there are colors enough to tell the sizes apart without any sign.
  bool tells_sizes() const;

 private:
  Heat heat_;
  Style style_;
  std::optional<Strengths> strengths_;  // nothing: without colors
};

/// Whether colors show the sizes of cells in this block.
bool is_shaded(const Block& block);

/// How many cells the tables of these blocks have.
std::size_t cells_shown(const std::vector<Block>& blocks);

/// What a line is, where colors tell it.
enum class Ink { question, correct, wrong, aside, command };

/// The sequences for emphasis; all empty without colors.
std::string bold(const Style& style);
std::string italic(const Style& style);
std::string dim(const Style& style);
std::string ink(Ink what, const Style& style);
std::string plain(const Style& style);

/// The color of a curve among others; empty without colors.
std::string series_color(std::size_t series, const Style& style);

}  // namespace attn
