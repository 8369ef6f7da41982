#include <doctest/doctest.h>

#include <deque>

#include "command/train/watch.hpp"
#include "commands_tried.hpp"
#include "page/render/width.hpp"
#include "texts.hpp"

// attn train --watch: what a frame shows, and what keys do. tests/screen/run.py has it at a pseudo-terminal.

using namespace attn;

namespace {

// Keys that are pressed one after the other; none once they are over, and then somebody stops the work.
class KeyedWork final : public LongWork {
 public:
  KeyedWork(TerminalSize size, std::deque<Keystroke> keys) : size_(size), keys_(std::move(keys)) {}

  void tell(std::string_view) override {}
  std::optional<TerminalSize> canvas() const override { return waits > 0 && later ? *later : size_; }
  void draw(const std::vector<std::string>& lines) override { drawn.push_back(lines); }
  void keep_drawing() override { ++kept; }
  bool has_keys() override { return true; }
  std::optional<Keystroke> key_within(std::chrono::milliseconds) override {
    if (keys_.empty()) {
      ++waits;
      is_over_ = is_over_ || waits > 50;
      return std::nullopt;
    }
    const Keystroke key = keys_.front();
    keys_.pop_front();
    return key;
  }
  bool is_to_stop() override { return is_over_; }
  void prepare_to_save(const std::string&) override {}
  void save(const FileToWrite&) override {}

  std::vector<std::vector<std::string>> drawn;
  std::optional<TerminalSize> later = {};  // once it has waited for a key
  int kept = 0, waits = 0;

 private:
  TerminalSize size_;
  std::deque<Keystroke> keys_;
  bool is_over_ = false;
};

WatchedFrame frame_of(std::size_t heads, std::size_t words, const std::string& status = "step 10 of 100, loss 0.5") {
  WatchedFrame frame{.status = status,
                     .sentence = "a b → b a",
                     .heads = {},
                     .curve = {.title = "Loss of a word", .x_name = "step", .series = {}}};
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < words; ++i) labels.push_back("w" + std::to_string(i + 1));
  for (std::size_t h = 0; h < heads; ++h) {
    frame.heads.push_back(
        {.title = "1, head " + std::to_string(h + 1),
         .rows = axis("queries", labels),
         .columns = axis("keys", labels),
         .cells = std::make_shared<const Matrix>(Matrix({words, words}, 1.0 / static_cast<double>(words))),
         .heat = Heat::weights});
  }
  for (const char* name : {"in training", "held out", "guessing"})
    frame.curve.series.push_back({name, {0, 50, 100}, {2.0, 1.0, 0.5}});
  return frame;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

const Keystroke left{.kind = Keystroke::Kind::left}, right{.kind = Keystroke::Kind::right},
    enter{.kind = Keystroke::Kind::enter};

}  // namespace

TEST_CASE("a frame has the maps of all heads and the curve, and fits on the screen") {
  for (const TerminalSize size : {TerminalSize{80, 24}, {120, 40}, {40, 12}, {200, 50}, {20, 5}}) {
    for (const std::size_t heads : {1u, 2u, 4u, 8u, 12u}) {
      for (const std::size_t words : {2u, 6u, 11u, 30u}) {
        for (const Colors colors : {Colors::none, Colors::sixteen, Colors::full}) {
          const std::vector<std::string> lines =
              lines_of_frame(frame_of(heads, words), "space pause", {.colors = colors}, size);
          CAPTURE(size.columns);
          CAPTURE(heads);
          CAPTURE(words);
          CHECK_MESSAGE(lines.size() < size.rows, joined(lines));
          for (const std::string& line : lines) CHECK_MESSAGE(visible_width(line) <= size.columns, line);
        }
      }
    }
  }
  const std::string usual = joined(lines_of_frame(frame_of(4, 6), "space pause", {}, {80, 24}));
  for (const char* part :
       {"step 10 of 100", "a b → b a", "1, head 1", "1, head 4", "Loss of a word", "held out", "space pause"})
    check_has(usual, part);
}

TEST_CASE("a pause waits, and the left arrow looks back at frames that were shown") {
  KeyedWork work({80, 24}, {character_key(" "), left, left, right, character_key("q")});
  TrainingWatch watch(work, {});
  std::size_t step = 0;
  const auto now = [&] { return frame_of(1, 2, "step " + std::to_string(step)); };
  for (step = 1; step <= 3; ++step) watch.after_step(now);
  CHECK(!watch.is_on());
  CHECK(work.kept == 1);
  check_has(joined(work.drawn.front()), "step 1");
  check_has(joined(work.drawn.back()), "step 1");
}

TEST_CASE("one step at a time goes on from the last frame, and back shows the frame before") {
  KeyedWork work({80, 24}, {character_key(" "), right});
  TrainingWatch watch(work, {});
  std::size_t step = 1;
  const auto now = [&] { return frame_of(1, 2, "step " + std::to_string(step)); };
  watch.after_step(now);
  CHECK(work.waits < 50);  // it went on by itself
  step = 2;
  watch.after_step(now);  // paused again, until somebody stops it
  check_has(joined(work.drawn.back()), "step 2");
  check_has(joined(work.drawn.back()), "frame 2 of 2");
}

TEST_CASE("the pace is slowed down and back to full speed") {
  KeyedWork work({80, 24}, {character_key("-"), character_key("+"), character_key("+")});
  TrainingWatch watch(work, {});
  const auto now = [] { return frame_of(1, 2); };
  watch.after_step(now);
  bool was_slow = false;
  for (const std::vector<std::string>& lines : work.drawn)
    was_slow = was_slow || joined(lines).find("/s)") != std::string::npos;
  CHECK(was_slow);
  check_has(joined(work.drawn.back()), "full speed");
}

TEST_CASE("the last frame stays, and waits only where it is asked to") {
  KeyedWork work({80, 24}, {left, enter});
  TrainingWatch watch(work, {});
  const auto now = [] { return frame_of(1, 2, "the end"); };
  watch.end(now, true);
  CHECK(work.kept == 1);
  check_has(joined(work.drawn.front()), "Enter or q the page");
  check_has(joined(work.drawn.back()), "the end");
  check_lacks(joined(work.drawn.back()), "Enter");
  KeyedWork another({80, 24}, {});
  TrainingWatch alone(another, {});
  alone.end(now, false);
  CHECK(another.kept == 1);
  CHECK(another.waits == 0);
}

TEST_CASE("heads for which there is no room are left out before rows of the others share a line") {
  const std::string four = joined(lines_of_frame(frame_of(4, 11), "", {.colors = Colors::none}, {80, 24}));
  check_has(four, "of 4 heads");
  check_has(four, "11 w11");
  check_lacks(four, "share a cell");
  check_lacks(four, "head 1 ");
  check_has(four, "' ' 0");  // the scale of shades
  const std::string one = joined(lines_of_frame(frame_of(1, 60), "", {.colors = Colors::none}, {80, 24}));
  check_has(one, "1–");
  check_has(one, "neighbors share a cell");
}

TEST_CASE("what keys do is said in whole words in a narrow terminal, too") {
  KeyedWork work({40, 12}, {character_key(" ")});
  TrainingWatch watch(work, {});
  watch.after_step([] { return frame_of(1, 2); });
  const std::string drawn = joined(work.drawn.back());
  check_has(drawn, "space go on");
  check_has(drawn, "q stop");
}

TEST_CASE("a frame that waits is drawn anew where the window has another size") {
  KeyedWork work({80, 24}, {character_key(" ")});
  work.later = TerminalSize{40, 12};
  TrainingWatch watch(work, {});
  watch.after_step([] { return frame_of(2, 6); });
  for (const std::string& line : work.drawn.back()) CHECK(visible_width(line) <= 40);
  CHECK(work.drawn.back().size() < 12);
}

TEST_CASE("where there is no terminal a note says that nothing is watched") {
  const AnswerInFormat said = answer({"train", "sort", "--steps", "2", "--watch"}, bare_environment());
  REQUIRE(said.notes.size() == 1);
  check_has(said.notes.front(), "nothing is watched");
}
