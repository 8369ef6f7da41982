#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "command/command.hpp"
#include "data/problem/model_words.hpp"
#include "page/render/width.hpp"
#include "process.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

using Variables = std::map<std::string, std::string>;

// The escape sequences with which this walk shades its cells: "", "16", "256" or "full".
std::string colors_of(const ProcessResult& finished) {
  CHECK(finished.code == 0);
  CHECK(finished.errors == "");
  if (finished.out.find("\x1b[38;2;") != std::string::npos) return "full";
  if (finished.out.find("\x1b[38;5;") != std::string::npos) return "256";
  return finished.out.find('\x1b') != std::string::npos ? "16" : "";
}

std::string colors_in_pipe(const Variables& variables, const Words& options = {}) {
  Words words = {"softmax"};
  words.insert(words.end(), options.begin(), options.end());
  return colors_of(run_attn(words, {.variables = variables}));
}

std::string colors_on_terminal(const Variables& variables, const Words& options = {}) {
  Words words = {"softmax"};
  words.insert(words.end(), options.begin(), options.end());
  return colors_of(run_attn_on_terminal(words, 80, {.variables = variables}));
}

std::string without_colors(std::string text) {
  for (std::size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b')) {
    text.erase(at, text.find('m', at) + 1 - at);
  }
  return text;
}

}  // namespace

TEST_CASE("headings, formulas and lists keep to the width") {
  const auto widest = [](const std::string& text) {
    std::size_t most = 0;
    for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
      end = std::min(text.find('\n', begin), text.size());
      most = std::max(most, display_width(std::string_view(text).substr(begin, end - begin)));
    }
    return most;
  };
  for (const Words& words :
       {Words{"errata"}, Words{"errata", "E5"}, Words{"errata", "E9"}, Words{"errata", "E17"}, Words{"compare-scores"},
        Words{"cost"}, Words{"help"}, Words{"help", "positions"}, Words{"walk", "--outline"}}) {
    for (const char* width : {"60", "80"}) {
      Words sized = words;
      sized.insert(sized.end(), {"--width", width});
      CAPTURE(command_line(sized));
      CHECK(widest(run_attn(sized).out) <= std::stoul(width));
    }
  }
}

TEST_CASE("in ASCII the columns of a list stand below each other, and labels of our own are ASCII") {
  const std::string help = run_attn({"help", "positions", "--ascii"}).out;
  std::set<std::size_t> columns;
  for (const char* summary : {"number of positions (", "columns to plot"}) {
    const std::size_t at = help.find(summary);
    REQUIRE(at != std::string::npos);
    columns.insert(at - help.rfind('\n', at));
  }
  CHECK(columns.size() == 1);
  CHECK(is_ascii(run_attn({"scale", "--sweep", "1,2", "--ascii"}).out));
  CHECK(is_ascii(run_attn({"errata", "E6", "--ascii"}).out));
}

TEST_CASE("what goes into a pipe or a file has no colors unless it is asked for") {
  CHECK(colors_in_pipe({}) == "");
  CHECK(colors_in_pipe({{"COLORTERM", "truecolor"}, {"TERM", "xterm-256color"}}) == "");
  CHECK(colors_in_pipe({}, {"--color", "auto"}) == "");
  CHECK(colors_in_pipe({}, {"--color", "always"}) == "16");
  for (const Command& command : commands()) {
    if (command.takes_problem() && command.name != "explain") {
      CHECK(run_attn({std::string(command.name)}).out.find('\x1b') == std::string::npos);
    }
  }
}

TEST_CASE("a terminal has as many colors as it says" * needs_terminals()) {
  CHECK(colors_on_terminal({}) == "16");
  CHECK(colors_on_terminal({{"TERM", "xterm-256color"}}) == "256");
  CHECK(colors_on_terminal({{"COLORTERM", "truecolor"}}) == "full");
  CHECK(colors_on_terminal({{"COLORTERM", "24bit"}, {"TERM", "xterm-256color"}}) == "full");
  CHECK(colors_on_terminal({{"TERM", "dumb"}}) == "");
}

TEST_CASE("NO_COLOR forbids colors unless it is empty" * needs_terminals()) {
  CHECK(colors_on_terminal({{"NO_COLOR", "1"}}) == "");
  CHECK(colors_on_terminal({{"NO_COLOR", "0"}}) == "");
  CHECK(colors_on_terminal({{"NO_COLOR", ""}}) == "16");
  CHECK(colors_in_pipe({{"NO_COLOR", "1"}, {"FORCE_COLOR", "1"}}) == "");
}

TEST_CASE("FORCE_COLOR and CLICOLOR_FORCE bring colors into a pipe unless they are 0") {
  for (const char* name : {"FORCE_COLOR", "CLICOLOR_FORCE"}) {
    CHECK(colors_in_pipe({{name, "1"}}) == "16");
    CHECK(colors_in_pipe({{name, "0"}}) == "");
    CHECK(colors_in_pipe({{name, "1"}, {"TERM", "dumb"}}) == "16");
    CHECK(colors_in_pipe({{name, "1"}, {"COLORTERM", "truecolor"}}) == "full");
  }
}

TEST_CASE("ATTN_COLOR decides over the other variables, and --color over ATTN_COLOR" * needs_terminals()) {
  CHECK(colors_in_pipe({{"ATTN_COLOR", "always"}, {"NO_COLOR", "1"}}) == "16");
  CHECK(colors_on_terminal({{"ATTN_COLOR", "never"}, {"FORCE_COLOR", "1"}}) == "");
  CHECK(colors_in_pipe({{"ATTN_COLOR", "never"}, {"NO_COLOR", "1"}}, {"--color", "always"}) == "16");
  CHECK(colors_on_terminal({{"ATTN_COLOR", "always"}, {"FORCE_COLOR", "1"}}, {"--color", "never"}) == "");
  CHECK(colors_in_pipe({{"ATTN_COLOR", "always"}}, {"--color", "auto"}) == "");
  CHECK(colors_in_pipe({{"TERM", "dumb"}}, {"--color", "always"}) == "16");
}

TEST_CASE("an ATTN_COLOR that is none is refused by its own name") {
  const ProcessResult finished = run_attn({"walk"}, {.variables = {{"ATTN_COLOR", "sometimes"}}});
  CHECK(finished.code == 2);
  CHECK_MESSAGE(finished.errors.find("ATTN_COLOR") != std::string::npos, finished.errors);
}

TEST_CASE("colors change nothing but the colors") {
  for (const char* depth : {"", "truecolor"}) {
    const Surroundings surroundings{.variables = {{"COLORTERM", depth}}};
    const Words words = {"walk", "--example", "animal", "--causal", "--color", "always"};
    CHECK(without_colors(run_attn(words, surroundings).out) ==
          run_attn({"walk", "--example", "animal", "--causal"}).out);
  }
  for (const char* format : {"markdown", "csv", "tsv", "json", "npz"}) {
    CHECK(run_attn({"walk", "--format", format, "--color", "always"}).out ==
          run_attn({"walk", "--format", format}).out);
  }
}

TEST_CASE("a file has no colors, even where a terminal is watching" * needs_terminals()) {
  const TemporaryFolder folder;
  const std::string path = folder.path("w.txt");
  REQUIRE(run_attn_on_terminal({"walk", "-o", path}, 40).code == 0);
  CHECK((bytes_of(path) == run_attn({"walk"}).out));
}

TEST_CASE("with --ascii all of our own signs are ASCII") {
  for (const Command& command : commands()) {
    const std::string name(command.name);
    CHECK_MESSAGE(is_ascii(run_attn({"help", name, "--ascii"}).out), "help " << name);
    if (!command.takes_problem() || name == "explain") continue;
    for (const Example& example : examples()) {
      if (example.name == "eight-heads") continue;
      const Words words = {name, "--example", std::string(example.name), "--causal", "--ascii"};
      CHECK_MESSAGE(is_ascii(run_attn(words).out), command_line(words));
    }
  }
  CHECK(is_ascii(run_attn({"explain", "output[2,1]", "--depth", "9", "--ascii", "--causal"}).out));
  CHECK(is_ascii(run_attn({"walk", "--example", "eight-heads", "--width", "60", "--ascii"}).out));
}

TEST_CASE("without a UTF-8 locale everything is as with --ascii") {
  const std::string ascii = run_attn({"walk", "--ascii"}).out;
  for (const Variables& variables : {Variables{{"LC_ALL", "C"}}, Variables{{"LANG", "C"}}, Variables{{"LANG", ""}},
                                     Variables{{"LC_CTYPE", "POSIX"}}, Variables{{"LANG", "de_DE.ISO-8859-1"}}}) {
    CHECK((run_attn({"walk"}, {.variables = variables}).out == ascii));
  }
  CHECK((run_attn({"walk"}, {.variables = {{"LC_ALL", "C"}, {"LANG", "de_DE.UTF-8"}}}).out == ascii));
  CHECK((run_attn({"walk"}, {.variables = {{"LC_ALL", "de_DE.utf8"}, {"LANG", "C"}}}).out != ascii));
}

TEST_CASE("without a UTF-8 locale and with --ascii complaints and warnings are ASCII as well") {
  for (const Words& words : {Words{"scores", "--q", "1 2", "--k", "1 2 3"},
                             Words{"softmax", "--scores", "-9 2; -7 4", "--causal", "--mask-fill", "-8"}}) {
    const ProcessResult finished = run_attn(words, {.variables = {{"LC_ALL", "C"}}});
    CHECK(finished.errors != "");
    CHECK_MESSAGE(is_ascii(finished.errors), finished.errors);
    CHECK_FALSE(is_ascii(run_attn(words).errors));
    Words asking = words;
    asking.push_back("--ascii");
    CHECK((run_attn(asking).errors == finished.errors));
  }
}

TEST_CASE("prose keeps within 80 columns, in ASCII too") {
  for (const Example& example : examples()) {
    const Words words = {"walk", "--example", std::string(example.name), "--causal", "--ascii", "--only", "none"};
    const std::string out = run_attn({"mask", "--causal", "--ascii", "--example", std::string(example.name)}).out;
    for (std::size_t begin = 0; begin < out.size();) {
      const std::size_t end = out.find('\n', begin);
      const std::string line = out.substr(begin, end - begin);
      if (!line.starts_with("  ")) CHECK_MESSAGE(line.size() <= 80, line);
      begin = end + 1;
    }
  }
}

TEST_CASE("numbers for NumPy do not go to a terminal" * needs_terminals()) {
  for (const char* format : {"npy", "npz"}) {
    const ProcessResult finished = run_attn_on_terminal({"softmax", "--format", format}, 80);
    CHECK(finished.code == 2);
    CHECK(finished.out == "");
    CHECK(finished.errors.find("-o FILE") != std::string::npos);
  }
}
