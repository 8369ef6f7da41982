#include "page/render/width.hpp"

#include <doctest/doctest.h>

#include <deque>

#include "terminals.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

// A terminal of some size, with keys that are pressed in turn.
class Keys final : public KeepingTerminal {
 public:
  Keys(std::size_t rows, std::deque<char> keys) : rows_(rows), keys_(std::move(keys)) {}

  void write(std::string_view text) override { shown_ += text; }
  std::optional<std::string> read_line(std::string_view) override { return std::nullopt; }
  std::optional<char> read_key() override {
    ++asked_;
    if (keys_.empty()) return std::nullopt;
    const char key = keys_.front();
    keys_.pop_front();
    return key;
  }
  TerminalSize size() const override { return {20, rows_}; }

  const std::string& shown() const { return shown_; }
  std::size_t asked() const { return asked_; }

 private:
  std::size_t rows_;
  std::deque<char> keys_;
  std::string shown_;
  std::size_t asked_ = 0;
};

std::string numbered(std::size_t lines) {
  std::string text;
  for (std::size_t i = 1; i <= lines; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

// All that is shown of a text, and how often a key was asked for.
std::pair<std::string, std::size_t> paged(const std::string& text, std::size_t rows, std::deque<char> keys) {
  Keys terminal(rows, std::move(keys));
  Pager pager(terminal, {.width = 20});
  try {
    pager.write(text);
    pager.finish();
  } catch (const PageLeft&) {
    return {terminal.shown() + "(left)", terminal.asked()};
  }
  return {terminal.shown(), terminal.asked()};
}

}  // namespace

TEST_CASE("what fits on the screen is written as it is, and so is all where the height is unknown") {
  CHECK(paged(numbered(9), 10, {}) == std::pair{numbered(9), std::size_t{0}});
  CHECK(paged(numbered(500), 0, {}) == std::pair{numbered(500), std::size_t{0}});
  CHECK(paged("no end", 10, {}) == std::pair{std::string("no end"), std::size_t{0}});
}

TEST_CASE("every screen waits for a key, and no line is lost or written twice") {
  const auto [shown, asked] = paged(numbered(30), 10, {' ', '\n', ' '});
  CHECK(asked == 3);
  std::size_t at = 0;
  for (std::size_t i = 1; i <= 30; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    at = shown.find(line, at);
    REQUIRE(at != std::string::npos);
    CHECK(shown.find(line, at + 1) == std::string::npos);
  }
}

TEST_CASE("an arrow down goes one line on, q leaves, and other keys are asked for again") {
  const auto [shown, asked] = paged(numbered(30), 10, {'j', 'x', 'j', 'q'});
  CHECK(asked == 4);
  CHECK(has(shown, "line 11\n"));
  CHECK_FALSE(has(shown, "line 12\n"));
  CHECK(shown.ends_with("(left)"));
}

TEST_CASE("back shows the screen before once more") {
  const auto [shown, asked] = paged(numbered(30), 10, {' ', 'b', 'q'});
  CHECK(asked == 3);
  const std::size_t back = shown.find("\x1b[2J");
  REQUIRE(back != std::string::npos);
  CHECK(has(shown.substr(back), "line 1\n"));
  CHECK_FALSE(has(shown.substr(back), "line 10\n"));
}

TEST_CASE("a line that is wider than the screen takes as many rows as it needs, and colors none") {
  const std::string wide = std::string(50, 'w') + "\n";
  CHECK(paged(wide + wide + wide, 10, {}).second == 0);
  CHECK(paged(wide + wide + wide + "more\n", 10, {' '}).second == 1);
  const std::string colored = "\x1b[38;2;1;2;3mten signs.\x1b[0m\n";
  CHECK(paged(colored + colored + colored + colored, 5, {}).second == 0);
  CHECK(paged(colored + colored + colored + colored + colored, 5, {' '}).second == 1);
}

TEST_CASE("the end of the keys leaves the page") { CHECK(paged(numbered(30), 10, {}).first.ends_with("(left)")); }

TEST_CASE("text that belongs together is not torn apart where it fits on a screen of its own") {
  Keys terminal(10, {'\n'});
  Pager pager(terminal, {.width = 20});
  pager.write_together(numbered(5));
  CHECK(terminal.asked() == 0);
  pager.write_together(numbered(6));
  CHECK(terminal.asked() == 1);
  pager.restart();
  pager.write_together(numbered(9));
  CHECK(terminal.asked() == 1);
}

TEST_CASE("what is there does not stand alone where a paragraph of the next text fits below it") {
  Keys terminal(10, {'\n'});
  Pager pager(terminal, {.width = 20});
  pager.write_together("= The answer is 3.\n");
  pager.write_together("one\ntwo\n\nthree\nfour\n\n" + numbered(6));
  CHECK(terminal.asked() == 1);
  const std::string& shown = terminal.shown();
  const std::size_t four = shown.find("four"), asks = shown.find("Enter: ");
  CHECK(four != std::string::npos);
  CHECK(four < asks);
  CHECK(asks < shown.find(numbered(6)));
}
