#include <doctest/doctest.h>

#include <sstream>

#include "commands_tried.hpp"
#include "page/render/weight_pictures.hpp"
#include "page/render/width.hpp"
#include "texts.hpp"

// Pictures of weights in characters: how they use the room that there is.

using namespace attn;

namespace {

std::vector<std::string> words_called(std::size_t count) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < count; ++i) words.push_back("word" + std::to_string(i + 1));
  return words;
}

// Each word attends to itself.
Table diagonal(std::size_t count, const std::string& title = "head 1") {
  Matrix cells({count, count}, 0.0);
  for (std::size_t i = 0; i < count; ++i) cells(i, i) = 1.0;
  return {.title = title,
          .rows = axis("queries", words_called(count)),
          .columns = axis("keys", words_called(count)),
          .cells = std::make_shared<const Matrix>(std::move(cells)),
          .heat = Heat::weights};
}

std::string pictured(const std::vector<Table>& tables, const Style& style, PictureRoom room) {
  return written_by([&](Sink& sink) { write_weight_pictures(tables, style, room, sink); });
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t rows_in(const std::string& text) {
  std::size_t count = 0;
  for (const std::string& line : lines_in(text))
    count += line.find("│") != std::string::npos || line.find('|') != std::string::npos;
  return count;
}

}  // namespace

TEST_CASE("a picture has a line for each word while there is room, and its words beside it") {
  for (const std::size_t width : {80u, 120u, 200u}) {
    const std::string text = pictured({diagonal(22)}, {}, {.width = width});
    CHECK(rows_in(text) == 22);
    check_has(text, "22 word22 │");
    check_lacks(text, "share a cell");
    check_has(text, "the columns are the words of the rows");
    check_has(text, "5        10        15        20");
  }
}

TEST_CASE("forty words stand in twenty lines where colors tell two rows apart, and in forty elsewhere") {
  for (const Colors colors : {Colors::palette256, Colors::full}) {
    const std::string text = pictured({diagonal(40)}, {.colors = colors}, {.width = 80});
    CHECK(rows_in(text) == 20);
    check_has(text, "▀");
    check_has(text, "▄");
    check_has(text, "word39");
    check_has(text, "word40");
    check_has(in_one_line(text), "two rows");
  }
  CHECK(rows_in(pictured({diagonal(40)}, {}, {.width = 80})) == 40);
  CHECK(rows_in(pictured({diagonal(40)}, {.colors = Colors::sixteen}, {.width = 80})) == 40);
  const std::string in_ascii = pictured({diagonal(40)}, {.unicode = false}, {.width = 80});
  CHECK(rows_in(in_ascii) == 40);
  check_has(in_ascii, "@");
}

TEST_CASE("heads stand beside each other as far as the width allows") {
  const std::vector<Table> heads = {diagonal(11, "head 1"), diagonal(11, "head 2"), diagonal(11, "head 3"),
                                    diagonal(11, "head 4")};
  CHECK(rows_in(pictured(heads, {}, {.width = 80})) == 22);
  CHECK(rows_in(pictured(heads, {}, {.width = 200})) == 11);
  CHECK(rows_in(pictured(heads, {}, {.width = 50})) == 22);
}

TEST_CASE("a picture is never wider than its room, nor higher than asked") {
  for (const std::size_t count : {1u, 2u, 5u, 12u, 30u, 40u, 70u, 200u}) {
    for (const std::size_t width : {30u, 40u, 80u, 120u}) {
      for (const std::size_t height : {0u, 8u, 20u}) {
        for (const Colors colors : {Colors::none, Colors::full}) {
          CAPTURE(count);
          CAPTURE(width);
          CAPTURE(height);
          const std::vector<Table> heads = {diagonal(count, "a"), diagonal(count, "b")};
          const std::string text = pictured(
              heads, {.colors = colors},
              {.width = width, .height = height, .legend = height == 0 ? PictureLegend::whole : PictureLegend::none});
          for (const std::string& line : lines_in(text)) CHECK_MESSAGE(visible_width(line) <= width, line);
          if (height > 0) CHECK_MESSAGE(lines_in(text).size() <= height, text);
        }
      }
    }
  }
}

TEST_CASE("where there is no room neighbors share a cell, and a line says so") {
  check_has(in_one_line(pictured({diagonal(200)}, {}, {.width = 80})), "neighbors share a cell");
  CHECK(have_whole_pictures({diagonal(60)}, {}, {.width = 80}));
  CHECK(!have_whole_pictures({diagonal(100)}, {}, {.width = 80}));
}

TEST_CASE("columns that are other words than the rows are told below the picture") {
  Table table = diagonal(6);
  table.columns = axis("keys", {"the", "cat", "sat", "on", "a", "mat"});
  check_has(in_one_line(pictured({table}, {}, {.width = 80})), "columns: 1 the, 2 cat, 3 sat, 4 on, 5 a, 6 mat");
}

TEST_CASE("a map uses the width that is there") {
  const Words words = {
      "map",
      "--text",
      "the old man who lived near the river went to the market because he wanted to buy some fresh bread and milk",
      "--heads",
      "2",
      "--width"};
  const std::string narrow = accepted(words + Words{"80"}).out, wide = accepted(words + Words{"140"}).out;
  for (const std::string& out : {narrow, wide}) {
    check_lacks(out, "share a cell");
    check_has(out, "22 milk");
  }
  CHECK(rows_in(narrow) == 22);
  CHECK(rows_in(wide) == 22);
  CHECK(std::ranges::count(wide, '\n') < std::ranges::count(narrow, '\n'));
}
