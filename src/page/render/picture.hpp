#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "page/block/page.hpp"
#include "page/render/drawing.hpp"
#include "page/render/style.hpp"

namespace attn {

/// What a picture stands on; any: it is for light, and a browser may take it for dark.
enum class PictureGround { any, light, dark };

/// What pictures heed of a style besides what all formats do.
struct PictureSettings {
  bool is_chosen = false;  // the page is the part that was asked for: one picture holds all of it
  PictureGround ground = PictureGround::any;
  bool transparent = false;  // it has no ground
  std::string note = {};     // a line below it, which its description has too
};

/// Drawings with their places in one picture.
struct Picture {
  struct Part {
    Drawing drawing;
    Drawing::Point at = {};
  };
  // What it shows, in words, for those who do not see it.
  std::string title = {};
  std::string description = {};
  std::vector<Part> parts = {};
};

/// How far a drawing reaches from its upper left corner.
struct DrawnSize {
  std::size_t width = 0, height = 0;
};
using MeasureDrawing = DrawnSize (*)(const Drawing& drawing);

/// The LaTeX of a label that stands there in signs only: another one typesets what it is a part of.
constexpr std::string_view nothing_in_latex = "{}";

/// What a picture of a page is drawn in.
struct Canvas {
  Metrics metrics;
  MeasureDrawing measure;
};

/// The picture of a page: its only drawing, or all that it shows, below each other. That are formulas, tables, products
/// as people draw them, derivations as trees, and lists; of a part that was asked for, headings and sentences too.
/// Throws InputError: nothing to draw, several drawings, a picture that is too high.
Picture picture_of(const Page& page, const Style& style, const Canvas& canvas);

/// A color of pages and pictures in light and in dark surroundings: "#16181c", or "70, 140, 215".
struct PictureColor {
  std::string_view name, light, dark;
};
std::span<const PictureColor> picture_colors();

/// How wide a table is drawn, in columns of text.
struct TableWidths {
  std::size_t labels = 0;  // of its rows
  std::vector<std::size_t> columns = {};
  int precision = 0;  // decimals, fewer where there is no room
};
/// What a table needs; nothing where it has no room with its numbers.
std::optional<TableWidths> widths_of_drawing(const Table& table, const Style& style, const Metrics& metrics);
/// The wider of both, column by column: of tables that stand below each other.
TableWidths wider(const TableWidths& one, const TableWidths& other);

/// A table as a drawing: its title, labels, numbers in a frame, shaded cells, what is marked.
Drawing lay_out(const Table& table, const TableWidths& widths, const Style& style, const Metrics& metrics);

/// A cell at the left, what it is made of at its right, and so on. Throws InputError where it has too many cells.
Drawing lay_out(const Derivation& derivation, const Style& style, const Metrics& metrics);

}  // namespace attn
