#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "commands_tried.hpp"
#include "core/model/layer_cost.hpp"
#include "core/support/text.hpp"
#include "page/render/drawing.hpp"
#include "page/render/width.hpp"
#include "page/tell/model_diagram.hpp"
#include "process.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

std::string drawn(const Diagram& diagram, const Style& style = {}) {
  return written_by([&](Sink& sink) { write_drawing(lay_out(diagram, style, characters_of(style)), style, sink); });
}

std::string page_of(const Words& words) { return accepted(words).out; }

// The picture of a model, without the tree below it.
std::string picture_of(Words words) {
  words.emplace_back("--outline");
  const std::string page = page_of(words);
  return page.substr(0, page.find("Each box is a step"));
}

std::size_t widest(const std::string& text) {
  std::size_t width = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) width = std::max(width, display_width(line));
  return width;
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// The places of words, which have to be there in this order.
void check_order(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    CAPTURE(part);
    at = text.find(part, at);
    REQUIRE(at != std::string::npos);
    at += part.size();
  }
}

Diagram::Thing box(std::vector<std::string> lines, Diagram::Place place) { return {std::move(lines), place, true}; }

}  // namespace

TEST_CASE("a line that skips a row passes beside it") {
  const Diagram diagram{.title = "",
                        .description = "",
                        .lanes = {""},
                        .things = {box({"x"}, {0, 0, 0}), box({"f"}, {0, 1, 0}), box({"sum"}, {0, 2, 0})},
                        .links = {{0, 1}, {1, 2}, {0, 2}},
                        .groups = {{" 2x ", {1, 2}}}};
  CHECK(drawn(diagram) ==
        "    ╭─────╮\n"
        "    │  x  │\n"
        "    ╰──┬──╯\n"
        "  ╭╌ 2x ╌╌╌╌╌╌╌╮\n"
        "  ┆    ├────╮  ┆\n"
        "  ┆ ╭──▼──╮ │  ┆\n"
        "  ┆ │  f  │ │  ┆\n"
        "  ┆ ╰──┬──╯ │  ┆\n"
        "  ┆ ╭──▼──╮ │  ┆\n"
        "  ┆ │ sum ◀─╯  ┆\n"
        "  ┆ ╰─────╯    ┆\n"
        "  ╰╌╌╌╌╌╌╌╌╌╌╌╌╯\n");
}

TEST_CASE("lines that only cross are told from lines that meet") {
  const Diagram diagram{
      .title = "",
      .description = "",
      .lanes = {""},
      .things = {box({"a"}, {0, 0, 0}), box({"b"}, {0, 0, 1}), box({"c"}, {0, 1, 1}), box({"d"}, {0, 1, 2})},
      .links = {{0, 3}, {1, 2}}};
  CHECK(drawn(diagram) ==
        "  ╭───╮   ╭───╮\n"
        "  │ a │   │ b │\n"
        "  ╰─┬─╯   ╰─┬─╯\n"
        "    ╰───────│───────╮\n"
        "          ╭─▼─╮   ╭─▼─╮\n"
        "          │ c │   │ d │\n"
        "          ╰───╯   ╰───╯\n");
}

TEST_CASE("a Transformer is drawn with encoder and decoder beside each other, or below each other") {
  const std::string wide = picture_of({"transformer"});
  CHECK(widest(wide) <= 80);
  CHECK(widest(wide) > 60);
  const std::string narrow = picture_of({"transformer", "--width", "60"});
  CHECK(widest(narrow) <= 60);
  check_order(narrow, {"Encoder", "source words  3×1", "embedding  3×4", "self-attention  3×4", "add & layer norm  3×4",
                       "feed-forward  3×4", "inner 3×8, ReLU", "add & layer norm", "Decoder", "target words  4×1",
                       "mask: the causal order", "add & layer norm", "cross-attention  4×4", "weights 4×3",
                       "add & layer norm", "feed-forward", "add & layer norm", "linear  4×5", "softmax  4×5"});
}

TEST_CASE("norms are drawn where the recipe has them, and of the kind that it has") {
  const Words model = {"encoder", "--layers", "3", "--norm"};
  const auto with = [&](std::vector<std::string> more) {
    Words words = model;
    words.insert(words.end(), more.begin(), more.end());
    return picture_of(words);
  };
  const std::string post = with({"post"}), pre = with({"pre"}), none = with({"none"});
  CHECK(count_of(post, "add & layer norm") == 2);
  check_order(
      pre, {"3×", "layer norm", "self-attention", "add  ", "layer norm", "feed-forward", "add  ", "╰╌", "layer norm"});
  CHECK(count_of(pre, "&") == 0);
  CHECK(count_of(none, "norm") == 1);  // in the line of sizes
  CHECK(count_of(none, "add  ") == 2);
  CHECK(count_of(with({"post", "--norm-kind", "rms"}), "add & rms norm") == 2);
}

TEST_CASE("one layer is drawn, whatever their number, and other kinds of models have one side") {
  const std::string deep = picture_of({"transformer", "--kind", "decoder-only", "--layers", "12", "--heads", "4",
                                       "--positions", "rotary", "--d-model", "16", "--tied-output"});
  CHECK(count_of(deep, "12×") == 1);
  CHECK(count_of(deep, "self-attention") == 1);
  CHECK(count_of(deep, "cross-attention") == 0);
  CHECK(count_of(deep, "positions: rotary") == 1 + 1);  // in the line of sizes too
  CHECK(count_of(deep, "weights of the embedding") == 1);
  CHECK(count_of(deep, "add positions") == 0);
}

TEST_CASE("a mask is named at the attention that has it") {
  const std::string text = picture_of({"transformer", "--source", "the cat <blank>", "--width", "120"});
  CHECK(count_of(text, "mask: the padding") == 2);
  CHECK(count_of(text, "mask: the causal order") == 1);
  CHECK(count_of(picture_of({"encoder", "--causal", "--valid-length", "2"}),
                 "mask: the causal order and the valid lengths") == 1);
}

TEST_CASE("what a decoder attends to is named where the encoder is not shown") {
  const std::string text = picture_of({"decoder"});
  CHECK(count_of(text, "encoder output  3×4") == 1);
  CHECK(count_of(text, "Encoder") == 0);
}

TEST_CASE("a model in ASCII has nothing else, and fits into any width") {
  for (const char* width : {"24", "40", "80", "120"}) {
    const std::string text = picture_of({"transformer", "--width", width, "--ascii"});
    CAPTURE(text);
    CHECK(is_ascii(text));
    CHECK(widest(text) <= std::stoul(width));
  }
}

TEST_CASE("what layers reach is what they are computed from, and the ways are as long as the search says") {
  for (const std::size_t n : {1u, 2u, 5u, 9u}) {
    for (const std::size_t k : {1u, 2u, 3u, 5u}) {
      CAPTURE(n);
      CAPTURE(k);
      const Diagram diagram = layers_diagram(n, k);
      REQUIRE(diagram.lanes.size() == 3);
      for (const Diagram::Link& link : diagram.links) {
        CHECK(diagram.things[link.from].place.lane == diagram.things[link.to].place.lane);
        CHECK(diagram.things[link.from].place.row <= diagram.things[link.to].place.row);
      }
      const std::optional<Meeting> meeting = search_meeting(look_up(layer_kinds(), "convolution", "kind"), n, k, n);
      const auto is_last = [](const Diagram::Thing& thing) { return thing.place.lane == 2; };
      std::size_t rows = 0;
      for (const Diagram::Thing& thing : diagram.things) {
        if (is_last(thing)) rows = std::max(rows, thing.place.row);
      }
      CHECK(rows == (meeting ? meeting->layers : 1));
      CHECK((diagram.lanes[2].find("never") != std::string::npos) == !meeting.has_value());
      CHECK(widest(drawn(diagram)) <= 80);
    }
  }
}

TEST_CASE("each place of a stack of convolutions is computed from its window") {
  const std::vector<StackLink> links = stack_links(look_up(layer_kinds(), "convolution", "kind"), 5, 3, 2);
  std::set<std::size_t> window;
  for (const StackLink& link : links) {
    CHECK(link.to.layer == link.from.layer + 1);
    if (link.to == StackPlace{2, 2}) window.insert(link.from.position);
  }
  CHECK(window == std::set<std::size_t>{1, 2, 3});
  CHECK(links.size() == 2 * (2 + 3 + 3 + 3 + 2));
}

TEST_CASE("a translation is drawn along its words, with the context of one output") {
  const std::string text = page_of({"align", "--outline", "--from", "small"});
  CHECK(widest(text) <= 80);
  check_order(text, {"la", "maison", "h1", "0.97", "c5", "query s4", "s0", "s6", "small"});
  CHECK(count_of(page_of({"align", "--outline", "--variant", "luong", "--from", "5"}), "query s5") == 1);
  CHECK(count_of(page_of({"align", "--outline", "--variant", "none"}), "c1") == 0);
}

TEST_CASE("a long translation keeps the ends and what the output attends to") {
  std::string sentence = "a";
  for (std::size_t i = 0; i < 60; ++i) sentence += " word" + std::to_string(i);
  for (const char* width : {"60", "80"}) {
    const std::string text = page_of(
        {"align", "--outline", "--seed", "1", "--source", sentence, "--target", "one two three", "--width", width});
    CAPTURE(text);
    CHECK(widest(text) <= std::stoul(width));
    CHECK(count_of(text, "…─") >= 1);  // in place of states
    CHECK(count_of(text, "│ h1 ") == 1);
    CHECK(count_of(text, "▶ h62 ") == 1);
  }
}

TEST_CASE("what a drawing cannot show is refused with a sentence") {
  CHECK(run_attn({"cost", "--outline", "--n", "17"}).errors.find("at most 16 positions") != std::string::npos);
  CHECK(run_attn({"align", "--outline", "--from", "elephant"}).code == 2);
  CHECK(run_attn({"walk", "--outline", "--from", "it"}).code == 2);
  CHECK(run_attn({"cost", "--outline", "--measure"}).code == 2);
}
