#include "lesson/command_line.hpp"

#include <algorithm>

#include "lesson/place.hpp"

namespace attn {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view of_shells = "|&;<>()$`*?[]{}~";
constexpr std::string_view escaped_in_quotes = "$`\"\\";

// Reads one command line into words.
class Splitter {
 public:
  Splitter(std::string_view rest, const Place& place) : rest_(rest), place_(place) {}

  std::vector<std::string> words() {
    while (skip_blanks()) {
      words_.emplace_back();
      while (!rest_.empty() && blanks.find(rest_.front()) == std::string_view::npos) take_piece();
    }
    return std::move(words_);
  }

 private:
  // False at the end or before a comment.
  bool skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
    return !rest_.empty() && rest_.front() != '#';
  }

  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void take_piece() {
    const char c = take();
    if (c == '\'') {
      take_single();
    } else if (c == '"') {
      take_double();
    } else if (c == '\\') {
      if (rest_.empty()) fail_at(place_, "nothing stands after the last backslash: leave it out");
      words_.back() += take();
    } else {
      if (of_shells.find(c) != std::string_view::npos) {
        fail_at(place_, "'{}' means something to a shell, and no shell reads this: put it in quotes", c);
      }
      words_.back() += c;
    }
  }

  void take_single() {
    const std::size_t end = rest_.find('\'');
    if (end == std::string_view::npos) fail_open("'");
    words_.back() += rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
  }

  void take_double() {
    while (!rest_.empty()) {
      const char c = take();
      if (c == '"') return;
      if (c == '$' || c == '`') {
        fail_at(place_, "'{}' means something to a shell even in double quotes: use single quotes", c);
      }
      const bool escapes =
          c == '\\' && !rest_.empty() && escaped_in_quotes.find(rest_.front()) != std::string_view::npos;
      words_.back() += escapes ? take() : c;
    }
    fail_open("\"");
  }

  [[noreturn]] void fail_open(std::string_view quote) const {
    fail_at(place_, "a quote is opened and not closed: put {} at its end", quote);
  }

  std::string_view rest_;
  const Place& place_;
  std::vector<std::string> words_;
};

// A command line, and how many lines of the block it takes.
struct Joined {
  std::string text;
  std::size_t lines = 0;
};

// The first line, and those that a backslash joins to it.
Joined first_of(std::string_view block) {
  Joined joined;
  while (!block.empty()) {
    const std::size_t end = std::min(block.find('\n'), block.size());
    joined.text += block.substr(0, end);
    block.remove_prefix(std::min(end + 1, block.size()));
    ++joined.lines;
    if (joined.text.ends_with('\r')) joined.text.pop_back();
    if (!joined.text.ends_with('\\') || block.empty()) break;
    joined.text.pop_back();
  }
  return joined;
}

std::string_view without_lines(std::string_view block, std::size_t count) {
  while (count-- > 0) block.remove_prefix(std::min(block.find('\n'), block.size() - 1) + 1);
  return block;
}

}  // namespace

std::vector<CommandLine> command_lines(std::string_view block, const std::string& path, std::size_t first) {
  std::vector<CommandLine> lines;
  while (!block.empty()) {
    auto [line, count] = first_of(block);
    block = without_lines(block, count);
    if (line.starts_with("$ ")) line.erase(0, 2);
    const Place place{path, first};
    first += count;
    std::vector<std::string> words = Splitter(line, place).words();
    if (words.empty()) continue;
    if (words.front() != "attn") {
      fail_at(place, "'{}' is not attn: a block holds command lines of attn and nothing else", words.front());
    }
    words.erase(words.begin());
    lines.push_back({std::move(line), std::move(words), place.line});
  }
  return lines;
}

}  // namespace attn
