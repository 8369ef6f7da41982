#include <algorithm>

#include "render/drawing.hpp"
#include "render/width.hpp"

namespace attn {
namespace {

constexpr std::size_t margin = 2, gap = 2;  // columns before the first cell, and between two

// The lines of a cell. What it begins with, blanks that tell how deep it lies, stands before each of them.
std::vector<std::string> lines_of(const std::string& cell, std::size_t width) {
  if (display_width(cell) <= width) return {cell};
  const std::size_t blanks = std::min(cell.find_first_not_of(' '), cell.size());
  constexpr std::size_t least = 8;
  std::vector<std::string> lines =
      wrap(cell.substr(blanks), std::max(least, width - std::min(width, blanks)));
  for (std::string& line : lines) line.insert(0, blanks, ' ');
  return lines;
}

class ListingWriter {
 public:
  ListingWriter(const Listing& listing, const Style& style, Sink& sink) : sink_(sink) {
    if (listing.headed) {
      add(listing.columns, style);
      rule_ = style.unicode ? "─" : "-";
    }
    for (const auto& row : listing.rows) add(row, style);
    constexpr std::size_t comfortable = 80;  // as prose
    limit_ = std::min(style.limit(), comfortable);
  }

  void write() {
    if (widths_.empty()) return;
    if (!fits()) return write_stacked();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      write_row(rows_[i]);
      if (i == 0 && !rule_.empty()) write_rule();
    }
  }

 private:
  void add(const std::vector<std::string>& row, const Style& style) {
    std::vector<std::string>& written = rows_.emplace_back();
    for (const std::string& cell : row) written.push_back(style.signs(cell));
    widths_.resize(std::max(widths_.size(), row.size()), 0);
    for (std::size_t j = 0; j < row.size(); ++j) {
      widths_[j] = std::max(widths_[j], display_width(written[j]));
    }
  }

  std::size_t total() const {
    std::size_t sum = margin;
    for (const std::size_t width : widths_) sum += width + gap;
    return sum - gap;
  }

  // Whether the columns stand beside each other. The last one takes what is left, if that is not too little.
  bool fits() {
    constexpr std::size_t least = 20;
    const std::size_t before = total() - widths_.back();
    if (before + std::min(widths_.back(), least) > limit_) return false;
    widths_.back() = std::min(widths_.back(), limit_ - before);
    return true;
  }

  // The first cell in front, and the others behind it and below, as they fit.
  void write_stacked() {
    constexpr std::size_t hang = 4;
    for (const auto& row : rows_) {
      std::string line(margin, ' ');
      line += row.front() + std::string(widths_.front() - display_width(row.front()), ' ');
      for (std::size_t j = 1; j < row.size(); ++j) {
        if (display_width(line) + gap + display_width(row[j]) <= limit_) {
          line += std::string(gap, ' ') + row[j];
          continue;
        }
        write_line(line);
        const std::vector<std::string> pieces = wrap(row[j], limit_ - margin - hang);
        for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
          write_line(std::string(margin + hang, ' ') + pieces[i]);
        }
        line = std::string(margin + hang, ' ') + pieces.back();
      }
      write_line(line);
    }
  }

  void write_line(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    if (!line.empty()) sink_.write(line + "\n");
  }

  void write_row(const std::vector<std::string>& row) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t j = 0; j < row.size(); ++j) {
      cells.push_back(lines_of(row[j], widths_[j]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t i = 0; i < height; ++i) {
      std::string line(margin, ' ');
      for (std::size_t j = 0; j < cells.size(); ++j) {
        const std::string text = i < cells[j].size() ? cells[j][i] : "";
        line += text + std::string(widths_[j] - std::min(widths_[j], display_width(text)) + gap, ' ');
      }
      write_line(std::move(line));
    }
  }

  // Between the names of the columns and what stands below them.
  void write_rule() {
    std::string line(margin, ' ');
    for (std::size_t column = margin; column < total(); ++column) line += rule_;
    sink_.write(line + "\n");
  }

  Sink& sink_;
  std::size_t limit_ = 0;
  std::string_view rule_;  // empty: the columns are not named
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> widths_;
};

}  // namespace

void write_listing(const Listing& listing, const Style& style, Sink& sink) {
  ListingWriter(listing, style, sink).write();
}

}  // namespace attn
