#include "page/document/document.hpp"

#include <algorithm>

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
      if (rest_.empty()) fail_at(place_, "nothing follows the last backslash: leave it out");
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

// Takes the first line from a block, and those that a backslash joins to it.
std::vector<std::string> taken_from(std::string_view& block) {
  std::vector<std::string> lines;
  while (!block.empty()) {
    const std::size_t end = std::min(block.find('\n'), block.size());
    std::string& line = lines.emplace_back(block.substr(0, end));
    block.remove_prefix(std::min(end + 1, block.size()));
    if (line.ends_with('\r')) line.pop_back();
    if (!line.ends_with('\\')) break;
  }
  constexpr std::string_view prompt = "$ ";
  if (lines.front().starts_with(prompt)) lines.front().erase(0, prompt.size());
  return lines;
}

// What a shell would read: a backslash at the end of a line joins it to the next.
std::string as_one_line(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (&line != &lines.front()) text.pop_back();
    text += line;
  }
  return text;
}

// The same with one blank in place of all those around a joint.
std::string in_one_line(const std::vector<std::string>& lines) {
  std::string text;
  for (std::string_view line : lines) {
    const std::size_t begin = std::min(line.find_first_not_of(blanks), line.size());
    if (!text.empty()) {
      text.pop_back();
      const bool apart = begin > 0 || blanks.find(text.back()) != std::string_view::npos;
      text.erase(text.find_last_not_of(blanks) + 1);
      if (apart) text += ' ';
      line.remove_prefix(begin);
    }
    text += line;
  }
  return text;
}

}  // namespace

std::vector<CommandLine> command_lines(std::string_view block, const std::string& path, std::size_t first) {
  std::vector<CommandLine> lines;
  while (!block.empty()) {
    std::vector<std::string> as_written = taken_from(block);
    const Place place{path, first};
    first += as_written.size();
    const std::string line = as_one_line(as_written);
    std::vector<std::string> words = Splitter(line, place).words();
    if (words.empty()) continue;
    if (words.front() != "attn") {
      fail_at(place, "'{}' is not attn: a block may have only commands of attn", words.front());
    }
    words.erase(words.begin());
    std::string text = in_one_line(as_written);
    lines.push_back({std::move(text), std::move(as_written), std::move(words), place.line});
  }
  return lines;
}

}  // namespace attn
