#include <algorithm>
#include <map>
#include <set>

#include "page/render/drawing.hpp"
#include "page/render/width.hpp"

namespace attn {
namespace {

// How a link goes.
enum class Route {
  across /* its row */,
  down /* its column */,
  into /* from another column above */,
  beside
  /* its column, past other rows */,
  around /* to another column that is not below */
};

// Lines of text that something takes between two rows, in this order.
struct Between {
  std::size_t frames_end = 0, turns = 0, titles = 0, frames_begin = 0, forks = 0, texts = 0, joins = 0, arrivals = 0;

  std::size_t lines() const { return frames_end + turns + titles + frames_begin + forks + texts + joins + arrivals; }
  std::size_t before_titles() const { return frames_end + turns; }
  std::size_t before_frames() const { return before_titles() + titles; }
  std::size_t before_forks() const { return before_frames() + frames_begin; }
  std::size_t before_texts() const { return before_forks() + forks; }
  std::size_t before_joins() const { return before_texts() + texts; }
};

class DiagramLayout {
 public:
  DiagramLayout(const Diagram& diagram, const Style& style, const Metrics& metrics)
      : diagram_(diagram), style_(style), metrics_(metrics) {}

  Drawing drawn() && {
    drawing_.title = diagram_.title;
    drawing_.description = diagram_.description;
    if (diagram_.things.empty()) return std::move(drawing_);
    arrange();
    if (width_ > metrics_.limit && diagram_.narrower)
      return DiagramLayout(*diagram_.narrower, style_, metrics_).drawn();
    add_frames();
    add_titles();
    for (std::size_t i = 0; i < diagram_.things.size(); ++i) add(i);
    for (const std::size_t i : links_) add(diagram_.links[i], i);
    return std::move(drawing_);
  }

 private:
  using Thing = Diagram::Thing;
  using Link = Diagram::Link;

  struct Spot {
    std::size_t row = 0, column = 0;
  };
  struct Extent {
    std::size_t begin = 0, size = 0;
    std::size_t end() const { return begin + size; }
  };

  std::size_t width_of(std::string_view text) const { return display_width(text) * metrics_.column; }
  std::string fitting(std::string_view text, std::size_t width) const {
    return shortened(style_.signs(text), width / metrics_.column, style_.unicode ? "…" : "~");
  }
  static constexpr std::size_t readable = 8;          // characters of a word
  static constexpr std::size_t lines_of_a_slant = 3;  // so that slanted lines do not lie flat
  static std::size_t frame_of(const Thing& thing) { return thing.is_box ? 4 : 0; }

  // --- where everything is

  // Lanes beside each other, or below each other where that is too wide, and then as narrow as needed.
  void arrange() {
    for (const bool stacked : {false, true}) {
      place_lanes(stacked);
      choose_routes();
      for (const std::size_t gap : {std::size_t{3}, least_gap()}) {
        measure(gap * metrics_.column, widest_text());
        if (width_ <= metrics_.limit) return;
      }
    }
    const std::size_t least = diagram_.narrower ? readable : 1;
    for (std::size_t text = widest_text(); text > least; --text) {
      measure(least_gap() * metrics_.column, text - 1);
      if (width_ <= metrics_.limit) return;
    }
  }

  // An arrow between words needs two places.
  std::size_t least_gap() const {
    const bool any_across = std::ranges::any_of(links_, [&](std::size_t i) { return routes_[i] == Route::across; });
    return any_across ? 2 : 1;
  }

  std::size_t widest_text() const {
    std::size_t widest = 0;
    for (const Thing& thing : diagram_.things) {
      for (const std::string& line : thing.lines) widest = std::max(widest, display_width(style_.signs(line)));
    }
    return widest;
  }

  void place_lanes(bool stacked) {
    std::vector<Spot> sizes(std::max<std::size_t>(diagram_.lanes.size(), 1));
    for (const Thing& thing : diagram_.things) {
      Spot& size = sizes.at(thing.place.lane);
      size = {std::max(size.row, thing.place.row + 1), std::max(size.column, thing.place.column + 1)};
    }
    lanes_.assign(sizes.size(), {});
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      lanes_[i] =
          stacked ? Spot{lanes_[i - 1].row + sizes[i - 1].row, 0} : Spot{0, lanes_[i - 1].column + sizes[i - 1].column};
    }
    spots_.clear();
    rows_ = columns_ = 0;
    for (const Thing& thing : diagram_.things) {
      const Spot lane = lanes_[thing.place.lane];
      spots_.push_back({lane.row + thing.place.row, lane.column + thing.place.column});
      rows_ = std::max(rows_, spots_.back().row + 1);
      columns_ = std::max(columns_, spots_.back().column + 1);
    }
  }

  bool is_free_between(Spot above, Spot below) const {
    return std::ranges::none_of(
        spots_, [&](Spot spot) { return spot.column == above.column && spot.row > above.row && spot.row < below.row; });
  }

  bool leaves_lane(std::size_t link) const {
    const auto lane = [&](std::size_t thing) { return diagram_.things[thing].place.lane; };
    return lane(diagram_.links[link].from) != lane(diagram_.links[link].to);
  }

  Route route_of(const Link& link) const {
    const Spot from = spots_[link.from], to = spots_[link.to];
    if (from.row == to.row) return Route::across;
    if (from.column == to.column && from.row < to.row) return is_free_between(from, to) ? Route::down : Route::beside;
    const bool same_lane = diagram_.things[link.from].place.lane == diagram_.things[link.to].place.lane;
    return same_lane && from.row < to.row ? Route::into : Route::around;
  }

  // Only from one row to the next: further on a line might pass through something.
  bool is_slanted(std::size_t link) const {
    const Link& ends = diagram_.links[link];
    return metrics_.slanted && routes_[link] == Route::into && spots_[ends.from].row + 1 == spots_[ends.to].row;
  }

  // Spans of numbers that may share a line where they do not meet. Returns the line of each, the shortest
  // first.
  static std::vector<std::size_t> lines_of(const std::vector<std::pair<std::size_t, std::size_t>>& spans) {
    std::vector<std::size_t> order(spans.size()), lines(spans.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return spans[i].second - spans[i].first; });
    std::vector<std::vector<std::size_t>> taken;
    for (const std::size_t i : order) {
      const auto is_free = [&](const std::vector<std::size_t>& line) {
        return std::ranges::none_of(line, [&](std::size_t j) {
          return spans[i].first <= spans[j].second && spans[j].first <= spans[i].second;
        });
      };
      const auto line = std::ranges::find_if(taken, is_free);
      lines[i] = static_cast<std::size_t>(line - taken.begin());
      if (line == taken.end()) taken.emplace_back();
      taken[lines[i]].push_back(i);
    }
    return lines;
  }

  void choose_routes() {
    links_.clear();
    routes_.assign(diagram_.links.size(), {});
    lines_.assign(diagram_.links.size(), 0);
    right_tracks_.assign(columns_, 0);
    left_tracks_.assign(columns_, 0);
    between_.assign(rows_ + 1, {});
    for (std::size_t i = 0; i < diagram_.links.size(); ++i) {
      routes_[i] = route_of(diagram_.links[i]);
      if (!diagram_.links[i].is_background || metrics_.slanted) links_.push_back(i);
    }
    // The heaviest last, so that they cover the others.
    std::ranges::stable_sort(links_, {}, [&](std::size_t i) { return diagram_.links[i].strength.value_or(1.0); });
    choose_tracks();
    choose_joins();
    for (const std::size_t i : links_) {
      const Spot from = spots_[diagram_.links[i].from], to = spots_[diagram_.links[i].to];
      if (routes_[i] == Route::around) between_[from.row + 1].turns = 1;
      if (routes_[i] == Route::beside)
        (leaves_lane(i) ? between_[from.row + 1].turns : between_[from.row + 1].forks) = 1;
      if (routes_[i] == Route::across) continue;
      if (!diagram_.links[i].text.empty()) between_[from.row + 1].texts = 1;
      const bool arrives = routes_[i] == Route::down || routes_[i] == Route::into;
      if (arrives && !diagram_.things[diagram_.links[i].to].is_box) between_[to.row].arrivals = 1;
    }
    for (const Diagram::Group& group : diagram_.groups) {
      if (group.things.empty()) continue;
      const auto [first, last] = rows_of(group);
      between_[first].frames_begin = between_[last + 1].frames_end = 1;
    }
    for (std::size_t lane = 0; lane < diagram_.lanes.size(); ++lane) {
      if (!diagram_.lanes[lane].empty()) between_[lanes_[lane].row].titles = lanes_[lane].row > 0 ? 2 : 1;
    }
  }

  void choose_tracks() {
    for (std::size_t column = 0; column < columns_; ++column) {
      std::vector<std::size_t> beside, around;
      std::vector<std::pair<std::size_t, std::size_t>> spans_beside, spans_around;
      for (const std::size_t i : links_) {
        const Spot from = spots_[diagram_.links[i].from], to = spots_[diagram_.links[i].to];
        if (to.column != column) continue;
        // A line that ends where the next begins meets it between the rows.
        if (routes_[i] == Route::beside) {
          beside.push_back(i);
          spans_beside.emplace_back(2 * from.row + 1, 2 * to.row);
        } else if (routes_[i] == Route::around) {
          around.push_back(i);
          spans_around.emplace_back(std::minmax(from.row, to.row));
        }
      }
      right_tracks_[column] = assign(beside, lines_of(spans_beside));
      left_tracks_[column] = assign(around, lines_of(spans_around));
    }
  }

  std::size_t assign(const std::vector<std::size_t>& links, const std::vector<std::size_t>& lines) {
    std::size_t count = 0;
    for (std::size_t k = 0; k < links.size(); ++k) {
      lines_[links[k]] = lines[k];
      count = std::max(count, lines[k] + 1);
    }
    return count;
  }

  // What leads to a thing from other columns joins in one line; things in a row share lines where they can.
  void choose_joins() {
    std::map<std::size_t, std::map<std::size_t, std::vector<std::size_t>>> rows;  // row, thing, links to it
    for (const std::size_t i : links_) {
      if (routes_[i] != Route::into) continue;
      const std::size_t to = diagram_.links[i].to, row = spots_[to].row;
      if (is_slanted(i)) {
        between_[row].joins = lines_of_a_slant;
      } else {
        rows[row][to].push_back(i);
      }
    }
    for (const auto& [row, things] : rows) {
      std::vector<std::pair<std::size_t, std::size_t>> spans;
      for (const auto& [thing, links] : things) {
        std::size_t least = spots_[thing].column, most = least;
        for (const std::size_t i : links) {
          least = std::min(least, spots_[diagram_.links[i].from].column);
          most = std::max(most, spots_[diagram_.links[i].from].column);
        }
        spans.emplace_back(least, most);
      }
      const std::vector<std::size_t> lines = lines_of(spans);
      std::size_t k = 0;
      for (const auto& [thing, links] : things) {
        for (const std::size_t i : links) lines_[i] = lines[k];
        between_[row].joins = std::max(between_[row].joins, lines[k++] + 1);
      }
    }
  }

  std::pair<std::size_t, std::size_t> rows_of(const Diagram::Group& group) const {
    std::size_t first = rows_, last = 0;
    for (const std::size_t thing : group.things) {
      first = std::min(first, spots_[thing].row);
      last = std::max(last, spots_[thing].row);
    }
    return {first, last};
  }

  bool has_frame(std::size_t column) const {
    return std::ranges::any_of(diagram_.groups, [&](const Diagram::Group& group) {
      return std::ranges::any_of(group.things, [&](std::size_t i) { return spots_[i].column == column; });
    });
  }

  void measure(std::size_t gap, std::size_t most_text) {
    text_width_ = most_text * metrics_.column;
    across_.assign(columns_, {});
    down_.assign(rows_, {});
    for (std::size_t i = 0; i < diagram_.things.size(); ++i) {
      const Thing& thing = diagram_.things[i];
      const std::size_t lines = thing.lines.size() + (thing.is_box ? 2 : 0);
      Extent& row = down_[spots_[i].row];
      row.size = std::max(row.size, lines * metrics_.line);
      Extent& column = across_[spots_[i].column];
      column.size = std::max(column.size, width_of(thing));
    }
    std::size_t x = 0;
    for (std::size_t column = 0; column < columns_; ++column) {
      const std::size_t edge = has_frame(column) ? 2 * metrics_.column : 0;
      if (column > 0) x += gap;
      x += track() * left_tracks_[column] + edge;
      across_[column].begin = x;
      x = across_[column].end() + track() * right_tracks_[column] + edge;
    }
    width_ = x;
    std::size_t y = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      y += between_[row].lines() * metrics_.line;
      down_[row].begin = y;
      y = down_[row].end();
    }
  }

  std::size_t track() const { return 3 * metrics_.column; }

  std::size_t width_of(const Thing& thing) const {
    std::size_t widest = 0;
    for (const std::string& line : thing.lines)
      widest = std::max(widest, std::min(width_of(style_.signs(line)), text_width_));
    return widest + frame_of(thing) * metrics_.column;
  }

  // Boxes fill their column, words are in the middle of column and row.
  Drawing::Box outline_of(std::size_t i) const {
    const Thing& thing = diagram_.things[i];
    const Extent column = across_[spots_[i].column];
    const std::size_t width = thing.is_box ? column.size : std::max(width_of(thing), metrics_.column);
    const std::size_t left = column.begin + (column.size - width) / 2;
    const Extent row = down_[spots_[i].row];
    const std::size_t lines = thing.lines.size() + (thing.is_box ? 2 : 0);
    const std::size_t blank = thing.is_box ? 0 : (row.size / metrics_.line - lines) / 2 * metrics_.line;
    const std::size_t top = row.begin + blank;
    return {{left, top}, {left + width - metrics_.column, top + (lines - 1) * metrics_.line}};
  }

  std::size_t center(std::size_t column) const {
    return across_[column].begin + (across_[column].size - metrics_.column) / 2;
  }

  std::size_t middle_of(const Drawing::Box& box) const {
    return (box.from.y + box.to.y) / 2 / metrics_.line * metrics_.line;
  }

  // Where the lines between two rows begin.
  std::size_t above(std::size_t row) const { return row == 0 ? 0 : down_[row - 1].end(); }

  // --- what is drawn

  void label(std::size_t x, std::size_t y, std::string text) {
    if (!text.empty()) drawing_.labels.push_back({{x, y}, std::move(text)});
  }

  void add(std::size_t i) {
    const Thing& thing = diagram_.things[i];
    const Drawing::Box box = outline_of(i);
    if (thing.is_box) drawing_.boxes.push_back(box);
    const std::size_t inside = thing.is_box ? 1 : 0;
    const std::size_t room = box.to.x - box.from.x + metrics_.column - frame_of(thing) * metrics_.column;
    for (std::size_t k = 0; k < thing.lines.size(); ++k) {
      std::string text = fitting(thing.lines[k], room);
      const std::size_t blank = (room - std::min(room, width_of(text))) / 2;
      label(box.from.x + 2 * inside * metrics_.column + blank, box.from.y + (k + inside) * metrics_.line,
            std::move(text));
    }
  }

  void add_frames() {
    for (const Diagram::Group& group : diagram_.groups) {
      if (group.things.empty()) continue;
      const auto [first, last] = rows_of(group);
      std::size_t left = width_, right = 0;
      for (const std::size_t i : group.things) {
        const std::size_t column = spots_[i].column;
        left = std::min(left, across_[column].begin - 2 * metrics_.column);
        right = std::max(right, across_[column].end() + track() * right_tracks_[column] + metrics_.column);
      }
      const std::size_t top = above(first) + between_[first].before_frames() * metrics_.line;
      drawing_.frames.push_back({{left, top}, {right, above(last + 1)}, style_.signs(group.title)});
    }
  }

  void add_titles() {
    for (std::size_t lane = 0; lane < diagram_.lanes.size(); ++lane) {
      std::size_t left = width_, right = 0;
      for (std::size_t i = 0; i < spots_.size(); ++i) {
        if (diagram_.things[i].place.lane != lane) continue;
        left = std::min(left, across_[spots_[i].column].begin);
        right = std::max(right, across_[spots_[i].column].end());
      }
      if (left >= right) continue;
      const std::size_t row = lanes_[lane].row;
      const std::size_t blank = row > 0 ? 1 : 0;
      std::string text = fitting(diagram_.lanes[lane], metrics_.limit);
      const std::size_t width = width_of(text), middle = (left + right) / 2;
      const std::size_t x =
          std::min(middle - std::min(middle, width / 2), metrics_.limit - std::min(metrics_.limit, width));
      label(x, above(row) + (between_[row].before_titles() + blank) * metrics_.line, std::move(text));
    }
  }

  void add(const Link& link, std::size_t i) {
    const Drawing::Box from = outline_of(link.from), to = outline_of(link.to);
    const Thing &source = diagram_.things[link.from], &target = diagram_.things[link.to];
    const Spot begin = spots_[link.from], end = spots_[link.to];
    const std::size_t x = center(begin.column), to_x = center(end.column);
    // Lines begin at the border of a box, and below words, which cover them.
    const std::size_t out = source.is_box ? from.to.y : from.to.y + metrics_.line / 2;
    const std::size_t in = target.is_box ? to.from.y : to.from.y - std::min(to.from.y, metrics_.line);
    const std::size_t middle = middle_of(routes_[i] == Route::across && !source.is_box ? from : to);
    const std::size_t beside = target.is_box ? 0 : metrics_.column;
    Drawing::Line line{{}, true, link.strength};
    switch (routes_[i]) {
      case Route::across: {
        const bool goes_right = begin.column < end.column;
        const std::size_t beside_source = source.is_box ? 0 : metrics_.column;
        line.points =
            goes_right ? std::vector<Drawing::Point>{{from.to.x + beside_source, middle}, {to.from.x - beside, middle}}
                       : std::vector<Drawing::Point>{{from.from.x - beside_source, middle}, {to.to.x + beside, middle}};
        break;
      }
      case Route::down:
        line.points = {{x, out}, {to_x, in}};
        break;
      case Route::into: {
        const std::size_t join = above(end.row) + (between_[end.row].before_joins() + lines_[i]) * metrics_.line;
        line.points = {{x, out}};
        if (!is_slanted(i)) line.points.insert(line.points.end(), {{x, join}, {to_x, join}});
        line.points.push_back({to_x, in});
        break;
      }
      case Route::beside: {
        const Between& between = between_[begin.row + 1];
        const std::size_t before = leaves_lane(i) ? between.frames_end : between.before_forks();
        const std::size_t fork = above(begin.row + 1) + before * metrics_.line;
        const std::size_t side = across_[end.column].end() + (lines_[i] + 1) * track() - 2 * metrics_.column;
        line.points = {{x, out}, {x, fork}, {side, fork}, {side, middle}, {to.to.x + beside, middle}};
        break;
      }
      case Route::around: {
        const std::size_t turn = above(begin.row + 1) + between_[begin.row + 1].frames_end * metrics_.line;
        const std::size_t edge = has_frame(end.column) ? 2 * metrics_.column : 0;
        const std::size_t side = across_[end.column].begin - edge - (lines_[i] + 1) * track() + metrics_.column;
        line.points = {{x, out}, {x, turn}, {side, turn}, {side, middle}, {to.from.x - beside, middle}};
        break;
      }
    }
    add_text(link, routes_[i], x, begin.row + 1);
    drawing_.lines.push_back(std::move(line));
  }

  void add_text(const Link& link, Route route, std::size_t x, std::size_t row) {
    if (link.text.empty() || route == Route::across) return;
    const std::string text = style_.signs(link.text);
    const std::size_t half = width_of(text) / 2;
    label(x - std::min(x, half), above(row) + between_[row].before_texts() * metrics_.line, text);
  }

  const Diagram& diagram_;
  const Style& style_;
  const Metrics& metrics_;
  std::vector<Spot> lanes_;  // where each begins
  std::vector<Spot> spots_;  // of things
  std::size_t rows_ = 0, columns_ = 0;
  std::vector<std::size_t> links_;                       // those that are drawn
  std::vector<Route> routes_;                            // of links
  std::vector<std::size_t> lines_;                       // of links: which track or line they have
  std::vector<std::size_t> right_tracks_, left_tracks_;  // of columns
  std::vector<Between> between_;                         // above each row, and below the last
  std::vector<Extent> across_, down_;                    // of columns, of rows
  std::size_t text_width_ = 0;
  std::size_t width_ = 0;
  Drawing drawing_;
};

}  // namespace

Drawing lay_out(const Diagram& diagram, const Style& style, const Metrics& metrics) {
  return DiagramLayout(diagram, style, metrics).drawn();
}

}  // namespace attn
