#include <algorithm>
#include <numeric>

#include "page/render/drawing.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

// What stands in one row of a flow: a box, or a line that passes by on its way to a row further down.
struct Item {
  const Flow::Box* box = nullptr;      // null: a line
  std::vector<std::size_t> from = {};  // places in the row above
  std::size_t width = 1;
  std::size_t center = 0;

  std::size_t left() const { return center - std::min(center, width / 2); }
};
using Row = std::vector<Item>;

// The row of each box: below all that lead to it.
std::vector<std::size_t> heights_of(const Flow& flow) {
  std::vector<std::size_t> heights;
  for (const Flow::Box& box : flow.boxes) {
    std::size_t height = 0;
    for (const std::size_t place : box.from) height = std::max(height, heights.at(place) + 1);
    heights.push_back(height);
  }
  return heights;
}

// The last row that anything of a box reaches: the one above the lowest box that it leads to.
std::vector<std::size_t> reaches_of(const Flow& flow, const std::vector<std::size_t>& heights) {
  std::vector<std::size_t> reaches = heights;
  for (std::size_t i = 0; i < flow.boxes.size(); ++i) {
    for (const std::size_t place : flow.boxes[i].from) {
      reaches[place] = std::max(reaches[place], heights[i] - 1);
    }
  }
  return reaches;
}

// The first box that each leads to.
std::vector<std::size_t> aims_of(const Flow& flow) {
  std::vector<std::size_t> aims(flow.boxes.size(), flow.boxes.size());
  for (std::size_t i = flow.boxes.size(); i-- > 0;) {
    for (const std::size_t place : flow.boxes[i].from) aims[place] = i;
  }
  return aims;
}

double middle(const std::vector<std::size_t>& places) {
  const double sum = static_cast<double>(std::accumulate(places.begin(), places.end(), std::size_t{0}));
  return sum / static_cast<double>(places.size());
}

// The rows from the top: every box as high as those that lead to it allow, and as far as possible to the
// right or left as they are.
std::vector<Row> rows_of_flow(const Flow& flow) {
  const std::vector<std::size_t> heights = heights_of(flow), reaches = reaches_of(flow, heights);
  const std::vector<std::size_t> aims = aims_of(flow);
  std::vector<Row> rows;
  std::vector<std::size_t> above(flow.boxes.size());  // where a box, or its line, stands in the last row
  const std::size_t count = heights.empty() ? 0 : *std::ranges::max_element(heights) + 1;
  for (std::size_t height = 0; height < count; ++height) {
    struct Entry {
      std::size_t box;
      Item item;
    };
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < flow.boxes.size(); ++i) {
      if (height < heights[i] || height > reaches[i]) continue;
      Entry entry{i, {}};
      if (height == heights[i]) {
        entry.item.box = &flow.boxes[i];
        for (const std::size_t place : flow.boxes[i].from) entry.item.from.push_back(above[place]);
      } else {
        entry.item.from = {above[i]};
      }
      entries.push_back(std::move(entry));
    }
    std::ranges::stable_sort(entries, {}, [&](const Entry& entry) {
      const std::vector<std::size_t>& from = entry.item.from;
      return from.empty() ? static_cast<double>(aims[entry.box]) : middle(from);
    });
    Row& row = rows.emplace_back();
    for (Entry& entry : entries) {
      above[entry.box] = row.size();
      row.push_back(std::move(entry.item));
    }
  }
  return rows;
}

std::vector<std::size_t> centers_above(const Item& item, const Row& above) {
  std::vector<std::size_t> centers;
  for (const std::size_t place : item.from) centers.push_back(above[place].center);
  return centers;
}

std::vector<std::size_t> centers_below(std::size_t place, const Row& below) {
  std::vector<std::size_t> centers;
  for (const Item& item : below) {
    if (std::ranges::find(item.from, place) != item.from.end()) centers.push_back(item.center);
  }
  return centers;
}

void settle(Item& item, const std::vector<std::size_t>& centers) {
  if (!centers.empty()) item.center = static_cast<std::size_t>(middle(centers));
}

class FlowLayout {
 public:
  FlowLayout(const Flow& flow, const Style& style, const Metrics& metrics)
      : style_(style), metrics_(metrics), gap_(3 * metrics.column), limit_(metrics.limit), rows_(rows_of_flow(flow)) {
    for (Row& row : rows_) measure(row);
    for (const Row& row : rows_) limit_ = std::max(limit_, width_of(row));
    place();
  }

  Drawing drawn() && {
    std::size_t top = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (i > 0) top = connect(rows_[i - 1], rows_[i], top);
      top = draw(rows_[i], top);
    }
    return std::move(drawing_);
  }

 private:
  std::size_t width_of(std::string_view text) const { return display_width(text) * metrics_.column; }
  std::size_t frame() const { return 4 * metrics_.column; }

  void measure(Row& row) const {
    const std::size_t share = metrics_.limit / row.size();
    for (Item& item : row) {
      if (!item.box) continue;
      const std::size_t inner =
          std::max(width_of(style_.signs(item.box->title)), width_of(style_.signs(item.box->detail)));
      const std::size_t most = std::max(share, frame() + gap_ + 2 * metrics_.column) - gap_;
      item.width = std::min(inner + frame(), most);
    }
  }

  static std::size_t width_of_items(const Row& row) {
    std::size_t width = 0;
    for (const Item& item : row) width += item.width;
    return width;
  }

  // What is between the items of a row: less where there is no room, but never nothing.
  std::size_t gap_of(const Row& row) const {
    const std::size_t room = metrics_.limit - std::min(metrics_.limit, width_of_items(row));
    return row.size() < 2 ? gap_ : std::clamp(room / (row.size() - 1), metrics_.column, gap_);
  }

  std::size_t width_of(const Row& row) const { return width_of_items(row) + (row.size() - 1) * gap_of(row); }

  // Moves items right until none overlaps the one before it, then left until all are within the limit, which
  // leaves room for those before: no row is wider.
  void set_apart(Row& row) const {
    const std::size_t gap = gap_of(row);
    std::size_t begin = 0;
    for (Item& item : row) {
      item.center = std::max(item.center, begin + item.width / 2);
      begin = item.left() + item.width + gap;
    }
    std::size_t end = limit_;
    for (auto item = row.rbegin(); item != row.rend(); ++item) {
      const std::size_t after_center = item->width - item->width / 2;
      item->center = std::min(item->center, end - after_center);
      end = item->left() - std::min(item->left(), gap);
    }
  }

  // Every item in the middle of what it is connected with, as far as others leave room.
  void place() {
    if (rows_.empty()) return;
    const auto widest = std::ranges::max_element(rows_, {}, [&](const Row& row) { return width_of(row); });
    set_apart(*widest);
    for (auto row = widest; row != rows_.begin();) {
      const Row& below = *row--;
      for (std::size_t i = 0; i < row->size(); ++i) settle((*row)[i], centers_below(i, below));
      set_apart(*row);
    }
    for (auto row = widest + 1; row != rows_.end(); ++row) {
      for (Item& item : *row) settle(item, centers_above(item, row[-1]));
      set_apart(*row);
    }
  }

  // Lines that fork and join, from a row that ends above `top`. Those that all go straight down need no room.
  std::size_t connect(const Row& above, const Row& below, std::size_t top) {
    const auto is_straight = [&](const Item& item) {
      return std::ranges::all_of(item.from, [&](std::size_t i) { return above[i].center == item.center; });
    };
    const std::size_t begin = std::ranges::all_of(below, is_straight) ? top : top + metrics_.line;
    for (const Item& item : below) {
      for (const std::size_t place : item.from) {
        const std::size_t from = above[place].center, to = item.center;
        Drawing::Line line{{{from, top - metrics_.line}}, item.box != nullptr};
        if (from != to) line.points.insert(line.points.end(), {{from, top}, {to, top}});
        line.points.push_back({to, begin});
        drawing_.lines.push_back(std::move(line));
      }
    }
    return begin;
  }

  void write(const Item& item, std::string_view words, std::size_t y) {
    const std::size_t room = item.width - frame();
    std::string text = shortened(style_.signs(words), room / metrics_.column, style_.unicode ? "…" : "~");
    const std::size_t blank = room - std::min(room, width_of(text));
    if (text.empty()) return;
    drawing_.labels.push_back({{item.left() + frame() / 2 + blank / 2, y}, std::move(text)});
  }

  // Returns where the next row may begin.
  std::size_t draw(const Row& row, std::size_t top) {
    const auto is_detailed = [](const Item& item) { return item.box && !item.box->detail.empty(); };
    const std::size_t lines = std::ranges::any_of(row, is_detailed) ? 3 : 2;
    const std::size_t bottom = top + lines * metrics_.line;
    for (const Item& item : row) {
      if (!item.box) {
        drawing_.lines.push_back({{{item.center, top}, {item.center, bottom}}});
        continue;
      }
      drawing_.boxes.push_back({{item.left(), top}, {item.left() + item.width - metrics_.column, bottom}});
      write(item, item.box->title, top + metrics_.line);
      write(item, item.box->detail, top + 2 * metrics_.line);
    }
    return bottom + metrics_.line;
  }

  const Style& style_;
  const Metrics& metrics_;
  std::size_t gap_;    // between items, where there is room
  std::size_t limit_;  // wider than that of the metrics where a row does not fit
  std::vector<Row> rows_;
  Drawing drawing_;
};

}  // namespace

Drawing lay_out(const Flow& flow, const Style& style, const Metrics& metrics) {
  return FlowLayout(flow, style, metrics).drawn();
}

}  // namespace attn
