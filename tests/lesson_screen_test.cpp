#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <regex>

#include "process.hpp"
#include "school/lesson/lesson.hpp"
#include "texts.hpp"

using namespace attn;

// Lessons on a terminal with colors: what their prose refers to is on that screen. Stored outputs are made
// without colors.

namespace {

// What a block of commands shows on the screen, with and without its colors.
struct Screen {
  std::string colored, plain;
};

std::string without_colors(const std::string& text) {
  static const std::regex sequence("\x1b\\[[0-9;?]*[A-Za-z]|\r");
  return std::regex_replace(text, sequence, "");
}

// A lesson as it is printed, cut into the outputs of its blocks.
std::vector<Screen> screens_of(const Lesson& lesson) {
  const ProcessResult finished =
      run_attn_on_terminal({"lesson", "run", lesson.name, "--no-input", "--no-pager"}, 80,
                           {.variables = {{"TERM", "xterm-256color"}, {"COLORTERM", "truecolor"}, {"NO_COLOR", ""}}});
  REQUIRE_MESSAGE(finished.code == 0, finished.out);
  REQUIRE(has(finished.out, "\x1b["));
  std::vector<Screen> screens;
  std::size_t last = 0, at = 0;  // the last command that is shown, and where it begins
  const auto cut = [&](std::size_t end) {
    for (std::size_t i = last; i < screens.size(); ++i) screens[i].colored = finished.out.substr(at, end - at);
  };
  for (const CommandBlock& block : lesson.document.commands) {
    if (block.attributes.hidden) {
      screens.emplace_back();  // its output stands below the one before
      continue;
    }
    const std::size_t begin = finished.out.find("$ " + block.lines.front().lines.front(), at + 1);
    REQUIRE_MESSAGE(begin != std::string::npos, lesson.name << ": " << block.lines.front().text);
    cut(begin);
    last = screens.size();
    screens.emplace_back();
    at = begin;
  }
  cut(finished.out.size());
  for (Screen& screen : screens) screen.plain = without_colors(screen.colored);
  return screens;
}

// Words and numbers; not the signs that stand for sizes and mark curves where there are no colors.
std::vector<std::string> words_of(const std::string& text) {
  static const std::regex word("[A-Za-z0-9%][A-Za-z0-9_.%-]*");
  constexpr std::string_view mark = "o";  // the only one that is a letter
  std::vector<std::string> words;
  for (std::sregex_iterator found(text.begin(), text.end(), word), end; found != end; ++found)
    if (found->str() != mark) words.push_back(found->str());
  return words;
}

std::string stored_output(const Lesson& lesson, const CommandBlock& block) {
  std::string text;
  if (!block.output) return text;  // it only sets something up
  for (std::size_t line = block.output->begin + 2; line + 1 < block.output->end; ++line) {
    const std::string& stored = lesson.document.lines[line - 1];
    if (!stored.starts_with("```")) text += stored;  // each command of a block has a fence of its own
  }
  return text;
}

// The first word of an output that the screen does not have after those before it; "" where it has all.
std::string first_missing(const std::vector<std::string>& words, const std::vector<std::string>& shown) {
  auto at = shown.begin();
  for (const std::string& word : words) {
    at = std::find(at, shown.end(), word);
    if (at == shown.end()) return word;
    ++at;
  }
  return "";
}

bool is_filled(const Screen& screen) { return has(screen.colored, "48;2;"); }

bool has_word(const Screen& screen, const std::string& word) {
  return std::ranges::count(words_of(screen.plain), word) > 0;
}

// What prose says of an output beside it, and what that output must have.
struct Reference {
  const char* says;  // a regular expression
  std::function<bool(const Screen& screen, const std::smatch& said)> is_shown;
};

const std::vector<Reference>& references() {
  static const std::vector<Reference> all = {
      {"in percent", [](const Screen& screen, const std::smatch&) { return has(screen.plain, "in percent"); }},
      {"below each (digit|word|letter)",
       [](const Screen& screen, const std::smatch&) { return has(screen.plain, "below each word"); }},
      {"a quarter of its weight",
       [](const Screen& screen, const std::smatch&) { return has(screen.plain, "in percent"); }},
      {"squares", [](const Screen& screen, const std::smatch&) { return is_filled(screen); }},
      {"[Ii]n this picture", [](const Screen& screen, const std::smatch&) { return is_filled(screen); }},
      {"[Ff]illed circles", [](const Screen& screen, const std::smatch&) { return has(screen.plain, "●"); }},
      {"[Tt]he drawing", [](const Screen& screen, const std::smatch&) { return has(screen.plain, "╰"); }},
      {"(first|last) columns?", [](const Screen& screen, const std::smatch&) { return has(screen.plain, "│"); }},
      {"[Cc]olumns? ([0-9]+)", [](const Screen& screen, const std::smatch& said) { return has_word(screen, said[1]); }},
      {"(row|column) of \"([A-Za-z]+)\"",
       [](const Screen& screen, const std::smatch& said) { return has_word(screen, said[2]); }},
      {"([0-9]+) % can come", [](const Screen& screen, const std::smatch& said) { return has_word(screen, said[1]); }},
      {"one head with ([0-9]+) %",
       [](const Screen& screen, const std::smatch& said) { return has_word(screen, said[1]); }},
  };
  return all;
}

// The prose of a document between two lines, in one line.
std::string prose_between(const Lesson& lesson, std::size_t first, std::size_t last) {
  std::string prose;
  for (const MarkdownLeaf& leaf : lesson.document.leaves) {
    if (leaf.kind != MarkdownLeaf::Kind::paragraph || leaf.first_line < first || leaf.first_line > last ||
        is_output(lesson.document, leaf.first_line))
      continue;
    for (const Text& words : leaf.words) {
      for (const Span& span : words) prose += span.text;
      prose += ' ';
    }
  }
  std::ranges::replace(prose, '\n', ' ');
  return prose;
}

// Checks a third of the course, so that no case takes long.
void check_lessons(std::size_t which) {
  const std::vector<Lesson> lessons = built_in_lessons();
  for (std::size_t i = which; i < lessons.size(); i += 3) {
    const Lesson& lesson = lessons[i];
    const std::vector<CommandBlock>& blocks = lesson.document.commands;
    const std::vector<Screen> screens = screens_of(lesson);
    CAPTURE(lesson.name);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      CAPTURE(blocks[b].lines.front().text);
      CHECK(first_missing(words_of(stored_output(lesson, blocks[b])), words_of(screens[b].plain)) == "");
    }
    // Prose refers to the output above it or to the one below.
    for (std::size_t b = 0; b <= blocks.size(); ++b) {
      const std::size_t first = b == 0 ? 1 : blocks[b - 1].last_line();
      const std::size_t last = b == blocks.size() ? lesson.document.lines.size() : blocks[b].fence.first_line;
      const std::string prose = prose_between(lesson, first, last);
      for (const Reference& reference : references()) {
        const std::regex pattern(reference.says);
        for (std::sregex_iterator said(prose.begin(), prose.end(), pattern), end; said != end; ++said) {
          CAPTURE(prose);
          CAPTURE(said->str());
          const bool is_above = b > 0 && reference.is_shown(screens[b - 1], *said);
          CHECK((is_above || (b < blocks.size() && reference.is_shown(screens[b], *said))));
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("lessons 1, 4, 7 and so on show on a terminal with colors what their prose refers to" * needs_terminals()) {
  check_lessons(0);
}

TEST_CASE("lessons 2, 5, 8 and so on show on a terminal with colors what their prose refers to" * needs_terminals()) {
  check_lessons(1);
}

TEST_CASE("lessons 3, 6, 9 and so on show on a terminal with colors what their prose refers to" * needs_terminals()) {
  check_lessons(2);
}

TEST_CASE("each kind of reference that is checked occurs in the course") {
  std::string prose;
  for (const Lesson& lesson : built_in_lessons()) prose += prose_between(lesson, 1, lesson.document.lines.size());
  for (const Reference& reference : references()) {
    CAPTURE(reference.says);
    CHECK(std::regex_search(prose, std::regex(reference.says)));
  }
}
