#include <fmt/format.h>

#include <algorithm>

#include "core/support/text.hpp"
#include "page/render/drawing.hpp"
#include "page/render/style.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

constexpr std::size_t margin_of_listing = 2, gap = 2;  // columns before the first cell, and between two

// The lines of a cell. What it begins with, blanks that tell how deep it lies, stands before each of them.
std::vector<std::string> wrapped_cell(const std::string& cell, std::size_t width) {
  if (display_width(cell) <= width) return {cell};
  const std::size_t blanks = std::min(cell.find_first_not_of(' '), cell.size());
  constexpr std::size_t least = 8;
  std::vector<std::string> lines = wrap(cell.substr(blanks), std::max(least, width - std::min(width, blanks)));
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
    constexpr std::size_t comfortable = 120;  // wider than prose: what stands in columns is found again
    limit_ = std::min(style.limit(), comfortable);
  }

  void write() {
    if (widths_.empty()) return;
    if (!fits() && !share_width()) return fit_but_last() ? write_hanging() : write_stacked();
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
    std::size_t sum = margin_of_listing;
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

  // Whether columns of prose stand beside each other, with equal parts of the width that the others leave.
  bool share_width() {
    constexpr std::size_t least = 20;
    std::size_t others = margin_of_listing + gap * (widths_.size() - 1), wide = 0;
    for (const std::size_t width : widths_) (width > least ? wide : others) += width > least ? 1 : width;
    if (wide < 2 || others + wide * least > limit_) return false;
    const std::size_t part = (limit_ - others) / wide;
    const auto has_room = [&](const std::string& cell) {
      return std::ranges::all_of(wrap(cell, part),
                                 [&](const std::string& line) { return display_width(line) <= part; });
    };
    for (const std::vector<std::string>& row : rows_) {
      if (!std::ranges::all_of(row, has_room)) return false;
    }
    for (std::size_t& width : widths_) width = width > least ? std::min(width, part) : width;
    return true;
  }

  // Whether all columns but the last stand beside each other, and have names that the eye follows down.
  bool fit_but_last() const { return !rule_.empty() && total() - widths_.back() - gap <= limit_; }

  // The columns beside each other, and the last cell of a row below them where it does not fit.
  void write_hanging() {
    constexpr std::size_t hang = 4;
    for (const auto& row : rows_) {
      std::string line(margin_of_listing, ' ');
      for (std::size_t j = 0; j + 1 < widths_.size(); ++j) {
        const std::string text = j < row.size() ? row[j] : "";
        line += text + std::string(widths_[j] - display_width(text) + gap, ' ');
      }
      const std::string last = row.size() == widths_.size() ? row.back() : "";
      if (display_width(line) + display_width(last) <= limit_) {
        write_line(line + last);
        continue;
      }
      write_line(line);
      for (const std::string& piece : wrap(last, limit_ - margin_of_listing - hang))
        write_line(std::string(margin_of_listing + hang, ' ') + piece);
    }
  }

  // The first cell in front, and the others behind it and below, as they fit.
  void write_stacked() {
    constexpr std::size_t hang = 4;
    for (const auto& row : rows_) {
      std::string line(margin_of_listing, ' ');
      line += row.front() + std::string(widths_.front() - display_width(row.front()), ' ');
      for (std::size_t j = 1; j < row.size(); ++j) {
        if (display_width(line) + gap + display_width(row[j]) <= limit_) {
          line += std::string(gap, ' ') + row[j];
          continue;
        }
        write_line(line);
        const std::vector<std::string> pieces = wrap(row[j], limit_ - margin_of_listing - hang);
        for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
          write_line(std::string(margin_of_listing + hang, ' ') + pieces[i]);
        }
        line = std::string(margin_of_listing + hang, ' ') + pieces.back();
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
      cells.push_back(wrapped_cell(row[j], widths_[j]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t i = 0; i < height; ++i) {
      std::string line(margin_of_listing, ' ');
      for (std::size_t j = 0; j < cells.size(); ++j) {
        const std::string text = i < cells[j].size() ? cells[j][i] : "";
        line += text + std::string(widths_[j] - std::min(widths_[j], display_width(text)) + gap, ' ');
      }
      write_line(std::move(line));
    }
  }

  // Between the names of the columns and what stands below them.
  void write_rule() {
    std::string line(margin_of_listing, ' ');
    for (std::size_t column = margin_of_listing; column < total(); ++column) line += rule_;
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
