#include "render/flow_layout.hpp"

#include <algorithm>
#include <numeric>

namespace attn {
namespace {

constexpr std::size_t gap = 3;  // columns between items

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

std::size_t width_of(const FlowRow& row) {
  std::size_t width = 0;
  for (const FlowItem& item : row) width += item.width + (width > 0 ? gap : 0);
  return width;
}

std::size_t left_of(const FlowItem& item) {
  return item.center - std::min(item.center, item.width / 2);
}

// Moves items right until none overlaps the one before it, then left until all are within the limit.
void set_apart(FlowRow& row, std::size_t limit) {
  std::size_t begin = 0;
  for (FlowItem& item : row) {
    item.center = std::max(item.center, begin + item.width / 2);
    begin = left_of(item) + item.width + gap;
  }
  std::size_t end = limit;
  for (auto item = row.rbegin(); item != row.rend(); ++item) {
    const std::size_t after_center = item->width - item->width / 2;
    item->center = std::min(item->center, end - std::min(end, after_center));
    end = left_of(*item) - std::min(left_of(*item), gap);
  }
}

std::vector<std::size_t> centers_above(const FlowItem& item, const FlowRow& above) {
  std::vector<std::size_t> centers;
  for (const std::size_t place : item.from) centers.push_back(above[place].center);
  return centers;
}

std::vector<std::size_t> centers_below(std::size_t place, const FlowRow& below) {
  std::vector<std::size_t> centers;
  for (const FlowItem& item : below) {
    if (std::ranges::find(item.from, place) != item.from.end()) centers.push_back(item.center);
  }
  return centers;
}

void settle(FlowItem& item, const std::vector<std::size_t>& centers) {
  if (!centers.empty()) item.center = static_cast<std::size_t>(middle(centers));
}

}  // namespace

std::vector<FlowRow> rows_of(const Flow& flow) {
  const std::vector<std::size_t> heights = heights_of(flow), reaches = reaches_of(flow, heights);
  const std::vector<std::size_t> aims = aims_of(flow);
  std::vector<FlowRow> rows;
  std::vector<std::size_t> above(flow.boxes.size());  // where a box, or its line, stands in the last row
  const std::size_t count = heights.empty() ? 0 : *std::ranges::max_element(heights) + 1;
  for (std::size_t height = 0; height < count; ++height) {
    struct Entry {
      std::size_t box;
      FlowItem item;
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
    FlowRow& row = rows.emplace_back();
    for (Entry& entry : entries) {
      above[entry.box] = row.size();
      row.push_back(std::move(entry.item));
    }
  }
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    for (const FlowItem& item : rows[i + 1]) {
      for (const std::size_t place : item.from) rows[i][place].leads_on = true;
    }
  }
  return rows;
}

void place(std::vector<FlowRow>& rows, std::size_t limit) {
  if (rows.empty()) return;
  const auto widest = std::ranges::max_element(rows, {}, width_of);
  set_apart(*widest, limit);
  for (auto row = widest; row != rows.begin();) {
    const FlowRow& below = *row--;
    for (std::size_t i = 0; i < row->size(); ++i) settle((*row)[i], centers_below(i, below));
    set_apart(*row, limit);
  }
  for (auto row = widest + 1; row != rows.end(); ++row) {
    for (FlowItem& item : *row) settle(item, centers_above(item, row[-1]));
    set_apart(*row, limit);
  }
}

}  // namespace attn
