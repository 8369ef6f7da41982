#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/support/outside.hpp"
#include "page/block/page.hpp"
#include "page/render/style.hpp"

namespace attn {

/// Writes a table for a terminal or a plain file: labelled rows and columns, decimal points in one line,
/// masked cells as `·` with a legend, cells shaded where there is color. Where the style has a width, a table
/// that is wider has its name above it, narrower gaps, fewer decimals, and at last fewer columns; a long one
/// has fewer rows. What was left out is counted below it.
void write_text_table(const Table& table, const Style& style, Sink& sink);

/// Small tables beside each other as far as the width allows (80 columns where there is no terminal), then
/// below.
void write_side_by_side(const std::vector<Table>& tables, const Style& style, Sink& sink);

/// A product as people draw it where there is room (80 columns without a terminal), and otherwise its tables
/// one after the other.
void write_product(const ProductBlock& product, const Style& style, Sink& sink);

constexpr std::size_t gap_beside = 2;  // columns between blocks, beside their own margin

/// What was written, line by line.
class WrittenLines {
 public:
  explicit WrittenLines(std::string_view text);
  /// Empty lines that take room.
  static WrittenLines blank(std::size_t height, std::size_t width);

  const std::string& line(std::size_t i) const;
  std::size_t height() const { return lines_.size(); }
  std::size_t width() const { return width_; }

 private:
  WrittenLines() = default;
  std::vector<std::string> lines_;
  std::size_t width_ = 0;
};

WrittenLines written_lines(const std::function<void(Sink&)>& write);

/// Blocks beside each other, their first lines in one line.
void write_beside(const std::vector<WrittenLines>& blocks, Sink& sink);

/// Blocks beside each other as far as there is room, and then below, with an empty line between.
class Beside {
 public:
  Beside(std::size_t limit, Sink& sink) : limit_(limit), sink_(sink) {}

  void add(WrittenLines block);
  void finish_line();
  /// Sets off what is written below without this.
  void begin_block();

 private:
  std::size_t limit_;
  Sink& sink_;
  std::vector<WrittenLines> line_;
  std::size_t used_ = 0;
  bool is_first_ = true;
};

}  // namespace attn
