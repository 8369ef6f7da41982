#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "page/render/drawing.hpp"
#include "page/render/format.hpp"
#include "page/render/style.hpp"
#include "page/render/width.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class Block>
std::string drawn(const Block& block, const Style& style = {}) {
  return written_by([&](Sink& sink) { write_drawing(lay_out(block, style, characters_of(style)), style, sink); });
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t widest(const std::string& text) {
  std::size_t width = 0;
  for (const std::string& line : lines_of(text)) width = std::max(width, display_width(line));
  return width;
}

std::size_t count_of(const std::string& text, std::string_view sign) {
  std::size_t count = 0;
  for (std::size_t at = text.find(sign); at != std::string::npos; at = text.find(sign, at + sign.size())) {
    ++count;
  }
  return count;
}

HeatMap map_of(Matrix cells, std::vector<std::string> labels = {}) {
  return {{.title = "p",
           .rows = axis("places", std::move(labels)),
           .columns = axis("features"),
           .cells = std::make_shared<const Matrix>(std::move(cells))}};
}

Plot plot_of(std::vector<double> x, std::vector<double> y) {
  return {.title = "Sizes", .x_name = "d", .series = {{"one", std::move(x), std::move(y)}}};
}

// Flows as commands draw them, and some that are wider.
std::vector<Flow> flows() {
  Flow heads{{{"x", "2×4"}}}, bare{{{"a title"}}};
  for (std::size_t i = 0; i < 6; ++i) {
    heads.boxes.push_back({"head." + std::to_string(i + 1), "2×3", {0}});
    bare.boxes.push_back({"", "", {i}});
  }
  heads.boxes.push_back({"concatenation", "2×18", {1, 2, 3, 4, 5, 6}});
  return {
      {{{"x", "2×4"},
        {"q", "2×3", {0}},
        {"k", "2×3", {0}},
        {"v", "2×3", {0}},
        {"scores", "2×2", {1, 2}},
        {"weights", "2×2", {4}},
        {"output", "2×3", {5, 3}}}},
      {{{"memory", "12×64"},
        {"x", "10×64"},
        {"queries", "10×64", {1}},
        {"keys", "12×64", {0}},
        {"values", "12×64", {0}},
        {"mask", "10×12"},
        {"scores", "10×12", {2, 3, 5}},
        {"output", "10×64", {6, 4}},
        {"sum", "10×64", {7, 1}}}},
      {{{"x"}, {"attention", "", {0}}, {"sum", "", {1, 0}}, {"feed-forward", "", {2}}, {"sum_2", "", {3, 2}}}},
      heads,
      bare,
  };
}

// The lines of a plot between its title and its axis.
std::vector<std::string> grid_of(const std::string& text) {
  std::vector<std::string> grid;
  for (const std::string& line : lines_of(text)) {
    if (line.find("│") != std::string::npos || line.find("┤") != std::string::npos) grid.push_back(line);
  }
  return grid;
}

std::vector<Plot> hostile_plots() {
  const double most = std::numeric_limits<double>::max();
  Plot logarithmic = plot_of({0.0, -1.0, not_a_number, 1.0, 100.0}, {1.0, 1.0, 1.0, 0.0, 1e300});
  logarithmic.x_spacing = logarithmic.y_spacing = Spacing::logarithmic;
  Plot many = plot_of({1, 2}, {3, 4});
  for (int i = 0; i < 20; ++i) many.series.push_back({"a long name of a curve", {1, 2}, {1.0 * i, 5}});
  return {plot_of({}, {}),
          plot_of({1}, {1}),
          plot_of({1, 1}, {2, 2}),
          plot_of({1, 2}, {not_a_number, not_a_number}),
          plot_of({1, 2, 3}, {not_a_number, infinity, -infinity}),
          plot_of({-most, most}, {most, -most}),
          plot_of({0, 1e-300}, {1e-300, 2e-300}),
          Plot{.title = "Nothing", .x_name = "", .series = {}},
          logarithmic,
          many};
}

}  // namespace

TEST_CASE("a range tells where a number lies, at even distances or by its logarithm") {
  ValueRange even, tens(Spacing::logarithmic);
  for (const double value : {1.0, 100.0}) {
    even.include(value);
    tens.include(value);
  }
  CHECK(even.share(50.5) == 0.5);
  CHECK(tens.share(10.0) == doctest::Approx(0.5));
  CHECK(even.at(0.5) == doctest::Approx(50.5));
  CHECK(tens.at(0.5) == doctest::Approx(10.0));
  for (const double share : {0.0, 0.25, 1.0}) {
    CHECK(even.share(even.at(share)) == doctest::Approx(share));
    CHECK(tens.share(tens.at(share)) == doctest::Approx(share));
  }
}

TEST_CASE("a range passes over what has no place, and is as wide as double precision allows") {
  ValueRange range, tens(Spacing::logarithmic);
  CHECK(range.is_empty());
  for (const double value : {not_a_number, infinity, -infinity}) range.include(value);
  for (const double value : {not_a_number, infinity, 0.0, -1.0}) tens.include(value);
  CHECK(range.is_empty());
  CHECK(tens.is_empty());
  range.include(7.0);
  CHECK(range.is_constant());
  CHECK(range.share(7.0) == 0.5);
  const double most = std::numeric_limits<double>::max();
  range.include(most);
  range.include(-most);
  CHECK(range.share(-most) == 0.0);
  CHECK(range.share(most) == 1.0);
  CHECK(range.at(0.5) == 0.0);
}

TEST_CASE("a heat map is the darker the larger the number") {
  const std::vector<std::string> lines = lines_of(drawn(map_of(matrix({{0, 1, 2, 3, 4}}))));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "  p: 1 row (places), 5 columns (features)");
  CHECK(lines[1] == "  1 │  ░░▒▒▓▓██│");
  CHECK(lines[2] == "  ' ' 0   '░' 1   '▒' 2   '▓' 3   '█' 4");
}

TEST_CASE("a heat map in ASCII has signs of its own") {
  const std::string text = drawn(map_of(matrix({{0, 1, 2, 3, 4}})), {.unicode = false});
  CHECK(lines_of(text)[1] == "  1 |  ..++##@@|");
  CHECK(is_ascii(text));
}

TEST_CASE("where there are colors a heat map is blanks in the colors of its table, and so is its legend") {
  HeatMap map = map_of(matrix({{-4, 0, 4}}));
  map.table.heat = Heat::around_zero;
  for (const Colors colors : {Colors::palette256, Colors::full}) {
    const std::vector<std::string> lines = lines_of(drawn(map, {.colors = colors}));
    REQUIRE(lines.size() == 3);
    const Style style{.colors = colors};
    const Shading shading(map.table, style);
    for (const double value : {-4.0, 0.0, 4.0}) {
      const std::string swatch = shading.of(value) + "  " + plain(style);
      CHECK(lines[1].find(swatch) != std::string::npos);
      CHECK(lines[2].find(swatch) != std::string::npos);
    }
    CHECK(count_of(lines[1] + lines[2], "█") == 0);
  }
  CHECK(drawn(map, {.colors = Colors::sixteen}) == drawn(map));  // too few to tell the sizes apart
}

TEST_CASE("the numbers of a legend, and those along an axis, have the same decimals") {
  const std::string legend = lines_of(drawn(map_of(matrix({{0.0057, 0.9709}})))).back();
  CHECK(legend == "  ' ' 0.0057   '░' 0.2470   '▒' 0.4883   '▓' 0.7296   '█' 0.9709");
  const std::vector<std::string> grid = grid_of(drawn(plot_of({1, 2}, {-2.08e-4, 0.5})));
  CHECK(grid.front().starts_with("  0.50 ┤"));
  CHECK(grid.back().starts_with("  0.00 ┤"));
}

TEST_CASE("a heat map of one number has one shade, and a cell that is not finite a question mark") {
  const std::string constant = drawn(map_of(matrix({{7, 7}, {7, 7}})));
  CHECK(count_of(constant, "▒▒▒▒") == 2);
  CHECK(lines_of(constant).back() == "  '▒' 7");
  const std::string mixed = drawn(map_of(matrix({{not_a_number, 0, infinity, 1, -infinity}})));
  CHECK(lines_of(mixed)[1] == "  1 │??  ??██??│");
  CHECK(lines_of(mixed).back().ends_with("'?' not finite"));
  CHECK(lines_of(drawn(map_of(matrix({{not_a_number}})))).back() == "  '?' not finite");
}

TEST_CASE("a number next to nothing is 0 in the legend") {
  CHECK(drawn(map_of(matrix({{-1, 1.00001}}))).find("'▒' 0.0000 ") != std::string::npos);
}

TEST_CASE("a heat map fits into any width, and leaves out columns and rows evenly") {
  Matrix wide({200, 300});
  for (std::size_t i = 0; i < wide.size(); ++i) cells(wide)[i] = static_cast<double>(i);
  const HeatMap map = map_of(wide, std::vector<std::string>(200, "a label that is far too long"));
  for (const std::size_t width : {0u, 20u, 21u, 33u, 80u, 500u}) {
    CAPTURE(width);
    const std::string text = drawn(map, {.width = width});
    CHECK(widest(text) <= (width == 0 ? 80 : width));
    CHECK(count_of(text, "a l") == 50);  // one in 4, so that there are at most 64
    CHECK(text.find("one") != std::string::npos);
  }
  CHECK(count_of(drawn(map, {.full = true}), "a l") == 200);
}

TEST_CASE("a plot puts the ends of its axes where they belong") {
  const std::string text = drawn(plot_of({0, 10}, {-5, 5}));
  const std::vector<std::string> grid = grid_of(text);
  REQUIRE(grid.size() == 11);
  CHECK(grid.front().ends_with("⠉"));
  CHECK(grid.front().starts_with("   5 ┤ "));
  CHECK(grid[5].starts_with("   0 ┤ "));
  CHECK(grid.back().starts_with("  -5 ┤⣀"));
  CHECK(text.starts_with("  Sizes\n"));
  CHECK(lines_of(text).back() == "  ⠤⠤ one");
  const std::vector<std::string> in_ascii = grid_of(drawn(plot_of({0, 10}, {-5, 5}), {.unicode = false}));
  CHECK(in_ascii.empty());
}

TEST_CASE("on a logarithmic axis ten lies halfway between one and a hundred") {
  Plot plot = plot_of({1, 10, 100}, {1, 10, 100});
  plot.x_spacing = plot.y_spacing = Spacing::logarithmic;
  plot.series.push_back({"another", {}, {}});  // several curves have signs without colors
  const std::vector<std::string> grid = grid_of(drawn(plot));
  const auto column = [](const std::string& line) { return display_width(line.substr(0, line.find("•"))); };
  REQUIRE(grid.size() == 11);
  CHECK(grid[5].starts_with("   10 ┤"));
  const std::size_t first = column(grid[10]), middle = column(grid[5]), last = column(grid[0]);
  CHECK(first < middle);
  CHECK(last - first <= 2 * (middle - first) + 1);
  CHECK(2 * (middle - first) <= last - first + 1);
}

TEST_CASE("every finite point is drawn, and no other") {
  const auto of_points = [](Plot plot) {
    plot.series.front().is_line = false;
    return drawn(plot);
  };
  CHECK(count_of(of_points(plot_of({1, 2, 3, 4}, {1, not_a_number, 3, infinity})), "•") == 2 + 1);
  CHECK(count_of(of_points(plot_of({5}, {5})), "•") == 1 + 1);
  CHECK(drawn(plot_of({1}, {not_a_number})) == "  Sizes\n  no values to plot\n");
}

TEST_CASE("each curve has a sign of its own, in ASCII too") {
  Plot plot = plot_of({1}, {0});
  for (int i = 1; i < 6; ++i) plot.series.push_back({"more", {1.0 + i}, {1.0 * i}});
  for (const bool unicode : {true, false}) {
    const std::string text = drawn(plot, {.unicode = unicode});
    CHECK(is_ascii(text) != unicode);
    for (const std::string_view mark : {"x", "+", "o", "#", "@"}) {
      if (!unicode && mark != "+") CHECK(count_of(text, mark) >= 2);
    }
    for (const std::string_view mark : {"•", "×", "o", "#", "*"}) {
      if (unicode) CHECK(count_of(text, mark) >= 2);
    }
  }
}

TEST_CASE("four curves over 32 positions have a color each, and one curve needs none") {
  Plot plot{.title = "p", .x_name = "position", .series = {}};
  for (int s = 0; s < 4; ++s) {
    Series series{"column " + std::to_string(s + 1), {}, {}};
    for (int i = 0; i < 32; ++i) {
      series.x.push_back(i);
      series.y.push_back(std::sin(i / std::pow(3.0, s)));
    }
    plot.series.push_back(std::move(series));
  }
  for (const Colors colors : {Colors::sixteen, Colors::palette256, Colors::full}) {
    for (const Rgb ground : {dark_ground, light_ground}) {
      const Style style{.colors = colors, .ground = ground};
      const std::string text = drawn(plot, style);
      std::set<std::string> seen;
      for (std::size_t s = 0; s < 4; ++s) {
        seen.insert(series_color(s, style));
        CHECK(count_of(text, series_color(s, style)) > 20);  // a line, and its name
        CHECK(text.find(series_color(s, style) + "⠤⠤" + plain(style) + " column " + std::to_string(s + 1)) !=
              std::string::npos);
      }
      CHECK(seen.size() == 4);
      CHECK(count_of(text, "•") == 0);
    }
  }
  const std::string signs = drawn(plot);
  for (const std::string_view mark : {"•", "×", "+", "o"}) CHECK(count_of(signs, mark) > 10);
  plot.series.resize(1);
  const std::string one = drawn(plot);
  CHECK(count_of(one, "•") == 0);
  CHECK(one.find("⠤⠤ column 1") != std::string::npos);
  CHECK(count_of(drawn(plot, {.unicode = false}), "*") > 10);
}

TEST_CASE("a line joins the points of a curve, and points that are no line are single signs") {
  Plot plot = plot_of({0, 10}, {-5, 5});
  const Style style{.colors = Colors::palette256};
  CHECK(count_of(drawn(plot, style), series_color(0, style)) > 40);
  plot.series.front().is_line = false;
  CHECK(count_of(drawn(plot, style), "•") == 2 + 1);
}

TEST_CASE("whatever a plot is given, it fits into its width") {
  for (const Plot& plot : hostile_plots()) {
    for (const std::size_t width : {0u, 20u, 25u, 40u, 80u, 200u}) {
      for (const bool unicode : {true, false}) {
        CAPTURE(width);
        const std::string text = drawn(plot, {.unicode = unicode, .width = width});
        CAPTURE(text);
        CHECK(text.ends_with('\n'));
        CHECK(widest(text) <= (width == 0 ? 80 : width));
        if (!unicode) CHECK(is_ascii(text));
      }
    }
  }
}

TEST_CASE("a flow is boxes below each other, with lines that fork and join") {
  const Flow flow{{{"x"}, {"q", "", {0}}, {"k", "", {0}}, {"v", "", {0}}, {"s", "", {1, 2}}, {"o", "", {3, 4}}}};
  CHECK(drawn(flow) ==
        "          ╭───╮\n"
        "          │ x │\n"
        "          ╰─┬─╯\n"
        "    ╭───────┼───────╮\n"
        "  ╭─▼─╮   ╭─▼─╮   ╭─▼─╮\n"
        "  │ q │   │ k │   │ v │\n"
        "  ╰─┬─╯   ╰─┬─╯   ╰─┬─╯\n"
        "    ╰───┬───╯       │\n"
        "      ╭─▼─╮         │\n"
        "      │ s │         │\n"
        "      ╰─┬─╯         │\n"
        "        ╰─────┬─────╯\n"
        "            ╭─▼─╮\n"
        "            │ o │\n"
        "            ╰───╯\n");
  CHECK(is_ascii(drawn(flow, {.unicode = false})));
  CHECK(lines_of(drawn(flow, {.unicode = false})).size() == 15);
  CHECK(drawn(Flow{}) == "");
}

TEST_CASE("a flow shows details in a second line, and goes straight on where one box leads to one") {
  CHECK(drawn(Flow{{{"a", "1×2"}, {"b", "", {0}}}}) ==
        "  ╭─────╮\n"
        "  │  a  │\n"
        "  │ 1×2 │\n"
        "  ╰──┬──╯\n"
        "   ╭─▼─╮\n"
        "   │ b │\n"
        "   ╰───╯\n");
}

TEST_CASE("what nothing leads to stands above the first that it leads to") {
  const Flow flow{{{"memory"}, {"x"}, {"q", "", {1}}, {"k", "", {0}}}};
  const std::string top = lines_of(drawn(flow))[1];
  CHECK(top.find("x") < top.find("memory"));
}

TEST_CASE("a flow fits into any width, and shortens what is wider by itself") {
  const Flow flow{{{"a box with a title that is very long indeed", "x"}, {"ノード名はとても長い名前です", "y"}}};
  for (const std::size_t width : {20u, 22u, 30u, 80u}) {
    CAPTURE(width);
    CHECK(widest(drawn(flow, {.width = width})) <= width);
    CHECK(widest(drawn(flow, {.unicode = false, .width = width})) <= width);
  }
}

TEST_CASE("however narrow a flow is, its boxes do not overlap, and it is no wider than they need") {
  const auto are_apart = [](const Drawing::Box& a, const Drawing::Box& b) {
    return a.to.x < b.from.x || b.to.x < a.from.x || a.to.y < b.from.y || b.to.y < a.from.y;
  };
  for (const Flow& flow : flows()) {
    for (std::size_t width = 10; width <= 40; ++width) {
      CAPTURE(width);
      CAPTURE(flow.boxes.size());
      const Style style;
      const std::vector<Drawing::Box> boxes = lay_out(flow, style, {.limit = width}).boxes;
      REQUIRE(boxes.size() == flow.boxes.size());
      std::size_t end = 0;
      for (std::size_t i = 0; i < boxes.size(); ++i) {
        CHECK(boxes[i].from.x < boxes[i].to.x);
        end = std::max(end, boxes[i].to.x + 1);
        for (std::size_t j = 0; j < i; ++j) CHECK(are_apart(boxes[i], boxes[j]));
      }
      CHECK(end <= std::max<std::size_t>(width, 6 * 6 + 5));  // six boxes of six, with a blank between
    }
  }
  // Three boxes of six in a row fit into 20, and no less.
  const auto end_of = [](std::size_t limit) {
    std::size_t end = 0;
    for (const Drawing::Box& box : lay_out(flows().front(), {}, {.limit = limit}).boxes)
      end = std::max(end, box.to.x + 1);
    return end;
  };
  CHECK(end_of(18) == 20);
  CHECK(end_of(20) == 20);
  CHECK(end_of(24) == 24);
}

TEST_CASE("in Markdown a drawing stands in a block of text, without colors") {
  Page page;
  page.blocks = {plot_of({1, 2}, {1, 2}), map_of(matrix({{1, 2}})), Flow{{{"a", "b"}}}};
  std::string text;
  Sink sink([&](std::string_view bytes) { text += bytes; });
  render_markdown(page, {.colors = Colors::full}, sink);
  sink.flush();
  CHECK(count_of(text, "```text\n") == 3);
  CHECK(count_of(text, "```") == 6);
  CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("lines are broken at blanks only") {
  CHECK(wrap("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("unbreakable", 3) == std::vector<std::string>{"unbreakable"});
  CHECK(wrap("", 3) == std::vector<std::string>{""});
}
