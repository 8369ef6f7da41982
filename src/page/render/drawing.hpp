#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/support/outside.hpp"
#include "page/block/page.hpp"
#include "page/render/style.hpp"

namespace attn {

/// The numbers that a drawing spans, and where a number lies between them.
class ValueRange {
 public:
  explicit ValueRange(Spacing spacing = Spacing::even) : spacing_(spacing) {}

  /// Whether the number has a place: it is finite and, on a logarithmic axis, positive.
  bool holds(double value) const;
  /// Takes a number in; one without a place is passed over.
  void include(double value);
  bool is_empty() const { return least_ > most_; }
  bool is_constant() const { return least_ == most_; }

  /// Where a number lies, from 0 to 1; ½ where all are the same.
  double share(double value) const;
  /// The number at a share; 0 where it is next to nothing beside the others.
  double at(double share) const;

 private:
  double place(double value) const;

  Spacing spacing_;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
};

/// The unit of a drawing's lengths: whole characters, or whole pixels.
struct Metrics {
  std::size_t column = 1;   // what a column of text is wide
  std::size_t line = 1;     // from one line of text to the next
  std::size_t limit = 78;   // how wide a drawing may be
  bool slanted = false;     // whether lines may be: they then cross without harm
  std::size_t plot = 11;    // how many lines of text a plot is high: odd, so that there is a middle
  std::size_t across = 72;  // how many columns of text it is wide at most
};

/// Characters within the style's width, or 80 columns without one.
Metrics characters_of(const Style& style);

/// A drawing whose parts have their places, counted from the left and from the top. In characters a place is
/// that of a character; in pixels it is the middle of one.
struct Drawing {
  struct Point {
    std::size_t x = 0, y = 0;
  };
  struct Box {
    Point from, to;  // opposite corners
  };
  struct Line {
    std::vector<Point> points;               // its corners, from end to end
    bool has_arrow = false;                  // at its end
    std::optional<double> strength = {};     // from 0 to 1; none: a line that tells no number
    std::optional<std::size_t> series = {};  // which head or curve it belongs to
  };
  /// A frame around a part, its title in the upper edge. Lines pass through it.
  struct Frame {
    Point from, to;  // opposite corners
    std::string title;
  };
  struct Label {
    enum class Kind { plain, strong, quiet };
    Point at;  // where it begins
    std::string text;
    Kind kind = Kind::plain;
    std::string latex = {};  // of a formula, whose text is its plain form
  };
  /// A part of the ground that is set off: marked, or shaded by a strength from −1 to 1.
  struct Tile {
    Point at;                             // of the first sign on it
    std::size_t width = 1, height = 1;    // in the metrics
    std::optional<double> strength = {};  // none: it is marked
  };
  struct Mark {
    Point at;
    std::size_t series;  // which curve it belongs to
  };
  /// The points of a curve within the axes, from 0 to 1 across and down, as finely as they are known.
  struct Curve {
    std::vector<std::pair<double, double>> points;
    bool is_line = true;  // a line joins them
    std::size_t series = 0;
  };
  struct Axes {
    Point from, to;                  // from the top of the one to the right end of the other
    std::vector<std::size_t> ticks;  // heights on the first
  };
  /// The cells of a heat map: each a line high.
  struct Cells {
    Table table;
    ValueRange range;
    Point at;                                // of the first one; the frame is beside it
    std::size_t width = 1;                   // of one
    std::vector<std::size_t> rows, columns;  // of the table, which are shown
  };
  /// What a sign or a shade stands for.
  struct Entry {
    std::string text;
    std::optional<std::size_t> series = {};
    std::optional<double> level = {};
  };

  // What it shows, in words, for those who hear a page.
  std::string title = {};
  std::string description = {};
  std::optional<std::string> caption = {};  // above it
  std::vector<Tile> tiles = {};             // for metrics in which lines may be slanted
  std::vector<Frame> frames = {};
  std::vector<Box> boxes = {};
  std::vector<Line> lines = {};
  std::vector<Label> labels = {};
  std::vector<Mark> marks = {};    // those of a later curve cover those of an earlier one
  std::vector<Curve> curves = {};  // the same points, for what draws finer than marks
  std::optional<Axes> axes = {};
  std::optional<Cells> cells = {};
  std::vector<std::vector<Entry>> legends = {};  // below it
};

/// Boxes in rows, each below those that lead to it, with lines that fork and join between the rows. Lines
/// that would have to cross share a corner: what is drawn is to be planar.
Drawing lay_out(const Flow& flow, const Style& style, const Metrics& metrics);

/// Things in rows and columns. Lines between rows go straight down, or join in a line of their own above what
/// they lead to; those that skip a row of their own column pass beside it. Where the lanes do not fit beside
/// each other they are below each other, and words that are too long are shortened.
Drawing lay_out(const Diagram& diagram, const Style& style, const Metrics& metrics);

/// Lines from the query to the words, as heavy as their weights, a color for each head: for metrics in which
/// lines may be slanted. Of many words those with the largest weights.
Drawing lay_out(const ShadedWords& words, const Style& style, const Metrics& metrics);

/// Curves with the range of both axes. Points that are not finite, or not positive on a logarithmic axis, are
/// passed over.
Drawing lay_out(const Plot& plot, const Style& style, const Metrics& metrics);

/// The cells of a table. Columns are left out evenly where there is no room, and rows of a large matrix
/// unless all of it is asked for.
Drawing lay_out(const HeatMap& map, const Style& style, const Metrics& metrics);

/// A matrix as a heat map with its numbers in it and words beside it; without them where there is no room.
Drawing lay_out_with_numbers(const Table& table, const Style& style, const Metrics& metrics);

/// A drawing laid out in characters, as such: curves in dots (braille), each in a color of its own; where there are no
/// colors to tell several, or no such characters, a sign of its own for each; one or two blanks for each cell, colored
/// as in a table, or where there are no colors signs in steps. A cell that is not finite is a question mark.
void write_drawing(const Drawing& drawing, const Style& style, Sink& sink);

/// Rows of words in columns, each broken into lines where there is no room.
void write_listing(const Listing& listing, const Style& style, Sink& sink);

// A drawing with what it shows, in words. Numbers are those that the style writes.

Drawing described(Drawing drawing, const HeatMap& map, const Style& style);
Drawing described(Drawing drawing, const Plot& plot, const Style& style);
Drawing described(Drawing drawing, const Flow& flow);

}  // namespace attn
