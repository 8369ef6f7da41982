#include "page/render/svg.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "commands_tried.hpp"
#include "page/render/format.hpp"
#include "page/render/tex.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Table weights(Matrix cells) {
  return {.title = "weights",
          .rows = axis("queries", {"it", "was"}),
          .columns = axis("keys", {"a", "b"}),
          .cells = std::make_shared<const Matrix>(std::move(cells)),
          .heat = Heat::weights};
}

}  // namespace

TEST_CASE("every part of a drawing becomes an element of SVG") {
  Drawing drawing{.title = "<t>", .description = "d", .caption = "c"};
  drawing.boxes = {{{0, 0}, {40, 36}}};
  drawing.lines = {{{{20, 36}, {20, 54}}, true}};
  drawing.labels = {{{8, 18}, "a & b"}};
  drawing.marks = {{{8, 8}, 0}, {{8, 8}, 1}};
  drawing.axes = {{{4, 0}, {90, 90}, {0, 40}}};
  drawing.legends = {{{"one", 0}}};
  const std::string svg = svg_of(drawing, "id");
  CHECK(
      svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing\" role=\"img\" "
                      "aria-labelledby=\"id-title id-description\" viewBox=\""));
  CHECK(count(svg, "<title id=\"id-title\">&lt;t&gt;</title>\n<desc id=\"id-description\">d</desc>") == 1);
  CHECK(count(svg, "class=\"box\"") == 1);
  CHECK(count(svg, "class=\"line\"") == 1);
  CHECK(count(svg, "class=\"head\"") == 1);
  CHECK(count(svg, "class=\"axis\"") == 3);
  CHECK(count(svg, "class=\"mark s1\"") == 2);  // one of them in the legend
  CHECK(count(svg, "class=\"mark s2\"") == 1);
  CHECK(count(svg, ">a &amp; b</text>") == 1);
  CHECK(count(svg, "class=\"caption\"") == 1);
  CHECK(count(svg, "<style>") == 0);
}

TEST_CASE("an SVG file has its own colors for light and dark, and no variables") {
  const std::string svg = svg_of(Drawing{.title = "t"}, "drawing", rules_of_file());
  CHECK(count(svg, "<style>") == 1);
  CHECK(count(svg, "prefers-color-scheme: dark") == 1);
  CHECK(count(svg, "var(") == 0);
  CHECK(count(svg, "<script") == 0);
}

TEST_CASE("weights become a heat map with their words and numbers, and without these where there is no room") {
  Table table = weights(matrix({{1, 0}, {0.25, 0.75}}));
  table.scores = std::make_shared<const Matrix>(matrix({{0, -std::numeric_limits<double>::infinity()}, {0, 0}}));
  const Style style;
  const Drawing drawing = lay_out_with_numbers(table, style, pixels);
  std::string labels;
  for (const Drawing::Label& label : drawing.labels) labels += label.text + " ";
  CHECK(labels == "a b it 1.00 · was 0.25 0.75 ");
  CHECK(drawing.title == "weights");
  Table wide = table;
  wide.rows = wide.columns = axis("keys");
  wide.scores = nullptr;
  wide.cells = std::make_shared<const Matrix>(Matrix({2, 400}, 0.5));
  const Drawing map = lay_out_with_numbers(wide, style, pixels);
  CHECK(std::ranges::count(map.labels, Drawing::Label::Kind::plain, &Drawing::Label::kind) == 2);
}

TEST_CASE("a cell that is no number is drawn as such, in SVG and in TikZ") {
  const HeatMap map{weights(matrix({{std::numeric_limits<double>::quiet_NaN(), 0.5}, {0, 1}}))};
  const Style style;
  CHECK(count(svg_of(lay_out(map, style, pixels), "id"), "class=\"unknown\"") == 2);  // and in the legend
  CHECK(count(tikz_of(lay_out(map, style, tikz_units)), "{?}") == 2);
}

TEST_CASE("a page with one drawing is an SVG file, and one with several is a file for each") {
  const TemporaryFolder folder;
  const std::string one = accepted({"walk", "--format", "svg"}).out;
  CHECK(one.starts_with(std::string(begin_of_svg_file) + "<svg "));
  CHECK(one.ends_with("</svg>\n"));
  accepted({"softmax", "--text", "a b", "--d-model", "6", "--heads", "3", "-o", folder.path("w.svg")});
  CHECK(folder.names() == std::vector<std::string>{"w-1.svg", "w-2.svg", "w-3.svg"});
  const std::string second = bytes_of(folder.path("w-2.svg"));
  CHECK(count(second, "<title id=\"drawing-title\">head.2.weights</title>") == 1);
  accepted({"walk", "-o", folder.path("one.svg")});
  CHECK(bytes_of(folder.path("one.svg")) == one);
}

TEST_CASE("a part that was asked for is one picture of all its formulas and matrices") {
  const TemporaryFolder folder;
  const std::string svg = accepted({"walk", "--only", "scores|weights", "--format", "svg"}).out;
  CHECK(count(svg, "<svg ") == 1);
  CHECK(count(svg, ">scores = q ⋅ kᵀ</text>") == 1);
  CHECK(count(svg, "class=\"caption\" x=\"-4\" y=\"13\">scores</text>") == 1);
  CHECK(count(svg, ">112</text>") == 1);
  CHECK(count(svg, ">0.8808</text>") == 1);
  CHECK(count(svg, "class=\"positive\"") > 0);
  accepted({"walk", "--only", "scores|weights", "-o", folder.path("s.svg")});
  CHECK(folder.names() == std::vector<std::string>{"s.svg"});
  // A section has its heading and its sentences, too.
  const std::string section = accepted({"walk", "--section", "2", "--format", "svg"}).out;
  CHECK(count(section, "class=\"caption\"") > 0);
  CHECK(count(section, ">scores = q ⋅ kᵀ</text>") == 1);
}

TEST_CASE("a product is drawn with its factors at the left and above, and what is asked for is marked") {
  const std::string svg = accepted({"product", "scores[1,2]", "--format", "svg"}).out;
  CHECK(count(svg, "<title id=\"drawing-title\">The product scores</title>") == 1);
  CHECK(count(svg, ">kᵀ</text>") == 1);
  CHECK(count(svg, "class=\"tile\"") == 3 + 3 + 1);  // the row of q, the column of kᵀ, the cell
  CHECK(count(svg, ">scores[1,2] = 96</text>") == 1);
  CHECK(count(accepted({"product", "scores", "--format", "svg"}).out, "class=\"tile\"") == 0);
}

TEST_CASE("an explanation is a tree, whose numbers stand beside those that they are made of") {
  const std::string flat = accepted({"explain", "output[1,2]", "--format", "svg"}).out;
  CHECK(count(flat, ">output[1,2] ≈ 1.8808</text>") == 1);
  CHECK(count(flat, "class=\"box\"") == 1 + 4);
  CHECK(count(flat, "class=\"line\"") == 4 + 2);  // the line from the root, and where it forks
  const std::string deeper = accepted({"explain", "output[1,2]", "--depth", "2", "--format", "svg"}).out;
  CHECK(count(deeper, "class=\"box\"") > count(flat, "class=\"box\""));
  refuses({"explain", "output[1,1]", "--text", "a b c d e f g h i j k l", "--d-model", "64", "--depth", "9", "--format",
           "svg"},
          "give a smaller --depth");
}

TEST_CASE("every command that shows matrices draws them") {
  for (const Words& words :
       {Words{"project"}, Words{"backward"}, Words{"cost"}, Words{"generate"}, Words{"layer-norm"}}) {
    CAPTURE(words.front());
    CHECK(count(accepted(words + Words{"--format", "svg"}).out, "<text") > 3);
  }
}

TEST_CASE("a picture is for light, for dark, or for what the browser has, with a ground or without") {
  const auto drawn = [](const Words& words) {
    return accepted(Words{"walk", "--only", "scores", "--format", "svg"} + words).out;
  };
  CHECK(count(drawn({}), "prefers-color-scheme") == 1);
  CHECK(count(drawn({}), "<rect class=\"ground\"") == 1);
  for (const auto& [theme, ink] : {std::pair{"light", "#1f2328"}, std::pair{"dark", "#e6e8eb"}}) {
    const std::string svg = drawn({"--theme", theme});
    CHECK(count(svg, "prefers-color-scheme") == 0);
    CHECK(count(svg, ink) > 0);
  }
  CHECK(count(drawn({"--theme", "dark"}), "#1f2328") == 0);
  CHECK(count(drawn({"--transparent"}), "<rect class=\"ground\"") == 0);
}

TEST_CASE("how a picture or LaTeX looks is refused where the format has none of it") {
  refuses({"walk", "--transparent"}, "--transparent changes nothing in text: give --format svg or tikz");
  refuses({"walk", "--standalone", "--format", "html"}, "--standalone changes nothing in html");
  refuses({"walk", "--shading", "--format", "tikz"}, "--shading changes nothing in tikz");
}

TEST_CASE("a picture of random numbers says so, to those who see it and to those who do not") {
  for (const Words& words : {Words{"softmax"}, Words{"product", "scores"}}) {
    const std::string svg = accepted(words + Words{"--text", "a b c", "--format", "svg"}).out;
    CHECK_MESSAGE(count(svg, ">Random numbers, not trained: ") == 1, svg);
    CHECK(count(svg, " Random numbers, not trained: ") == 1);  // in its description
  }
  CHECK(count(accepted({"product", "scores", "--format", "svg"}).out, "Random numbers") == 0);
}

TEST_CASE("a map without its numbers tells its columns") {
  const auto map_of = [](std::vector<std::string> rows, std::vector<std::string> columns) {
    Matrix cells({rows.size(), columns.size()}, 0.5);
    return HeatMap{{.title = "w",
                    .rows = axis("tokens", std::move(rows)),
                    .columns = axis("tokens", std::move(columns)),
                    .cells = std::make_shared<const Matrix>(std::move(cells))}};
  };
  const std::vector<std::string> words = {"a", "b", "c", "d", "e", "f"};
  const std::string same = svg_of(lay_out(map_of(words, words), {}, pixels), "id");
  CHECK_MESSAGE(count(same, ">5</text>") == 1, same);
  CHECK(count(same, ">The columns have the labels of the rows.</text>") == 1);
  const std::string others = svg_of(lay_out(map_of({"q"}, words), {}, pixels), "id");
  CHECK(count(others, ">6: f</text>") == 1);
}

TEST_CASE("what LaTeX tells by its number is measured so") {
  const std::string tex = accepted({"walk", "--text", "猫 b", "--only", "x", "--format", "tikz"}).out;
  CHECK(count(tex, "U+732B") == 1);
  CHECK(with_character_numbers("猫é") == "U+732Bé");
}

TEST_CASE("a number that a tree repeats is no input, and a formula that is cut closes what it opened") {
  const std::string svg = accepted({"explain", "output[1,1]", "--text", "a b c d e f g h i j k", "--d-model", "4",
                                    "--depth", "2", "--full", "--format", "svg"})
                              .out;
  CHECK_MESSAGE(count(svg, " …)</text>") > 0, svg);
  const std::string repeated = accepted({"explain", "output[1,2]", "--depth", "9", "--format", "svg"}).out;
  CHECK(count(repeated, ">(explained above)</text>") > 0);
}

TEST_CASE("only text over lines has a ground of its own") {
  Drawing drawing{.title = "t"};
  drawing.lines = {{{{0, 20}, {80, 20}}}};
  drawing.labels = {{{8, 20}, "over"}, {{8, 80}, "apart"}};
  const std::string svg = svg_of(drawing, "id");
  CHECK(count(svg, "<text class=\"over\"") == 1);
  CHECK(svg.find("class=\"over\"") < svg.find(">over</text>"));
  CHECK(count(accepted({"walk", "--only", "weights", "--format", "svg"}).out, "<text class=\"over\"") == 0);
}

TEST_CASE("a page of words alone, or with several drawings, is refused as SVG in one sentence") {
  refuses({"walk", "--text", "a b", "--heads", "2", "--format", "svg"},
          "there are 2 drawings here, and a file holds one: give -o");
  refuses({"walk", "--only", "scores", "--format", "svg", "--theme", "blue"}, "Choose one of: dark, light, auto");
}

TEST_CASE("an SVG file never takes the place of what was read") {
  const TemporaryFolder folder;
  const std::string input = folder.write("x-1.svg", "1,0\n0,1\n");
  const Words words = {"walk", "--x", input, "--seed", "1", "--heads", "2", "-o", folder.path("x.svg")};
  const ProcessResult finished = run_attn(words);
  CHECK(finished.code == 2);
  CHECK(bytes_of(input) == "1,0\n0,1\n");
  CHECK(folder.names() == std::vector<std::string>{"x-1.svg"});
}
