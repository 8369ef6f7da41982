#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <string>

#include "data/files/json.hpp"
#include "page/document/markdown.hpp"
#include "process.hpp"

using namespace attn;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Labels, and how many columns a terminal gives them: worked out by hand, not by the program.
const std::map<std::string, std::size_t> wide_labels = {
    {"猫", 2},                  // CJK
    {"日本語", 6},              // three of them
    {"한글", 4},                // Hangul
    {"e\u0301a", 2},            // an accent that combines with the letter before it
    {"n\u0303\u0323", 1},       // two of them
    {"ñandú", 5},               // accents that are part of the letter
    {"🙂", 2},                // emoji
    {"👍🏽", 2},            // with a skin tone
    {"👩‍👩‍👧", 2},  // three joined to one
    {"❤️", 2},              // a sign that is shown as emoji
    {"🇩🇪", 2},                  // a flag: two letters
    {"ｆｗ", 4},                // full-width letters
};

// The line with each label replaced by as many letters as it has columns, and signs by one letter each.
std::string in_columns(std::string line) {
  for (const auto& [label, columns] : wide_labels) {
    for (std::size_t at = line.find(label); at != std::string::npos; at = line.find(label, at + columns)) {
      line.replace(at, label.size(), std::string(columns, 'w'));
    }
  }
  for (const auto& [sign, letter] : std::map<std::string, char>{
           {"│", '|'}, {"┼", '|'}, {"─", '-'}, {"·", '.'}, {"…", '~'}, {"Σ", 'S'}, {"\uFFFD", '?'}}) {
    for (std::size_t at = line.find(sign); at != std::string::npos; at = line.find(sign)) {
      line.replace(at, sign.size(), 1, letter);
    }
  }
  return line;
}

std::string bars_of(const std::string& line) {
  std::string places;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '|') places += std::to_string(i) + " ";
  }
  return places;
}

// The lines of the tables, in columns; none may end beyond the others or have its bars elsewhere.
std::vector<std::string> check_table(const std::string& text) {
  std::vector<std::string> table;
  for (const std::string& line : lines_of(text)) {
    if (line.find("│") != std::string::npos || line.find("┼") != std::string::npos) table.push_back(in_columns(line));
  }
  REQUIRE_MESSAGE(table.size() > 2, text);
  for (const std::string& line : table) {
    CHECK_MESSAGE(bars_of(line) == bars_of(table.front()), line << "\n" << table.front());
    CHECK_MESSAGE((line.size() == table.front().size() || line.find("more rows") != std::string::npos),
                  "\n" << line << "\n"
                       << table.front());
  }
  return table;
}

std::string all_labels() {
  std::string labels;
  for (const auto& [label, columns] : wide_labels) labels += (labels.empty() ? "" : ",") + label;
  return labels;
}

std::string numbers(std::size_t rows, std::size_t columns, const std::string& number) {
  std::string matrix;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) matrix += number + " ";
    matrix += ";";
  }
  matrix.pop_back();
  return matrix;
}

std::string scaled(const std::string& matrix, Words options) {
  Words words = {"scale", "--scores", matrix, "--scale", "1"};
  words.insert(words.end(), options.begin(), options.end());
  const ProcessResult finished = run_attn(words);
  CHECK_MESSAGE(finished.code == 0, finished.errors);
  return finished.out;
}

}  // namespace

TEST_CASE("rows and columns line up whatever script their labels are in") {
  const std::size_t n = wide_labels.size();
  const std::string rows = numbers(n, n, "-1.25");
  check_table(scaled(rows, {"--tokens", all_labels(), "--key-tokens", all_labels()}));
  const ProcessResult weights = run_attn({"softmax", "--scores", rows, "--causal", "--tokens", all_labels(),
                                          "--key-tokens", all_labels(), "--precision", "2"});
  check_table(weights.out);
}

TEST_CASE("decimal points stand in one line, and so does the dot of a masked cell") {
  const std::string out = run_attn({"mask", "--scores", "1.5 9; 100 4.25", "--causal"}).out;
  CHECK_MESSAGE(out.find("│    1.50   ·") != std::string::npos, out);
  CHECK_MESSAGE(out.find("│  100.00  4.25\n") != std::string::npos, out);
  CHECK(out.find("· masked") != std::string::npos);
}

TEST_CASE("no line ends in blanks") {
  for (const Words& words : {Words{"walk"}, Words{"mask", "--scores", "1.5 2; 3 4", "--causal"}, Words{"help"},
                             Words{"explain", "output[1,1]", "--depth", "9"}, Words{"examples"}}) {
    for (const std::string& line : lines_of(run_attn(words).out)) {
      CHECK_MESSAGE(!line.ends_with(' '), command_line(words) << ": '" << line << "'");
    }
  }
}

TEST_CASE("a long label is shortened to whole characters where the table has to fit") {
  const Words words = {"scale",
                       "--scores",
                       "1 2; 3 4",
                       "--scale",
                       "1",
                       "--tokens",
                       "猫猫猫猫猫猫猫猫猫猫猫猫猫,0123456789abcdefghijklmnopq"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), words.begin(), words.end());
    return run_attn(more).out;
  };
  const std::string fitted = with({"--width", "90"});
  CHECK(fitted.find("猫猫猫猫猫猫猫猫猫猫猫…  │") != std::string::npos);
  CHECK(fitted.find("0123456789abcdefghijklm… │") != std::string::npos);
  CHECK(fitted.find(" 猫猫猫猫猫猫猫…  0123456789abcde…") != std::string::npos);
  for (const std::string& whole : {with({}), with({"--width", "90", "--full"})}) {
    CHECK(whole.find("0123456789abcdefghijklmnopq │") != std::string::npos);
    CHECK(whole.find("猫猫猫猫猫猫猫猫猫猫猫猫猫  0123456789abcdefghijklmnopq\n") != std::string::npos);
  }
}

TEST_CASE("a label with escape sequences or lines of its own reaches no terminal") {
  const std::string evil =
      "a\x1b[31m\nb\x07\u2028\x9b"
      "c";
  for (const char* format : {"text", "markdown"}) {
    const ProcessResult finished = run_attn(
        {"softmax", "--scores", "0 0; 0 0", "--tokens", evil + ",b", "--key-tokens", evil + ",b", "--format", format});
    CHECK(finished.code == 0);
    for (const char* part : {"\x1b", "\x07", "\u2028", "\x9b"}) CHECK(finished.out.find(part) == std::string::npos);
    const std::string shown = format == std::string("text") ? "a\uFFFD[31m\uFFFDb" : "a\uFFFD\\[31m\uFFFDb";
    CHECK(finished.out.find(shown) != std::string::npos);
  }
  const ProcessResult finished =
      run_attn({"walk", "--scores", "0 0; 0 0", "--v", "1; 2", "--tokens", evil + ",b", "--by-word", "1"});
  CHECK(finished.out.find('\x1b') == std::string::npos);
  CHECK(finished.out.find("a\uFFFD[31m\uFFFDb") != std::string::npos);
}

TEST_CASE("the name of a matrix in a file is text in every format, and never a mark or a command") {
  const TemporaryFolder folder;
  const std::vector<std::string> names = {"<img src=x onerror=alert(1)>",
                                          "<script>alert(1)</script>",
                                          "</math><b>",
                                          "![p](https://evil/p.png)",
                                          "[p](javascript:alert(1))",
                                          "`$`<img src=x>",
                                          "a$$ <img src=x onerror=alert(1)> $$b",
                                          "\\input{/etc/passwd}",
                                          "a}\\input{/etc/passwd}{",
                                          "one\ntwo\n\n# three",
                                          "red \x1b[31m bell \x07 turned \u202E control \u009b end \u2028",
                                          "head.2.<img src=x>.weights",
                                          "<img src=x>.weights"};
  Json arrays = Json::object();
  for (const std::string& name : names) arrays[name] = {{1, 2}};
  Json nodes = Json::array();
  for (const std::string& name : names) {
    const Json axis = {{"axis", name}};
    nodes.push_back({{"name", name},
                     {"operation", "input"},
                     {"operands", Json::array()},
                     {"formula", name},
                     {"latex", name},
                     {"shape", {1, 2}},
                     {"rows", axis},
                     {"columns", axis},
                     {"multiply_adds", 0},
                     {"element_operations", 0}});
  }
  const std::string plain = folder.write("plain.json", Json{{"arrays", arrays}}.dump());
  const std::string told = folder.write("told.json", Json{{"arrays", arrays}, {"nodes", nodes}}.dump());
  for (const std::string& file : {plain, told}) {
    for (const char* format : {"text", "markdown", "html", "latex", "svg"}) {
      for (const Words& more : {Words{}, Words{"--math", "fences"}}) {
        Words words = {"show", file, "--format", format};
        words.insert(words.end(), more.begin(), more.end());
        // A drawing is a file of its own.
        const TemporaryFolder pictures;
        if (format == std::string("svg")) words.insert(words.end(), {"-o", pictures.path("p.svg")});
        ProcessResult finished = run_attn(words);
        for (const std::string& name : pictures.names()) finished.out += bytes_of(pictures.path(name));
        CAPTURE(format);
        CAPTURE(finished.errors);
        CHECK(finished.code == 0);
        for (const char* part : {"\x1b", "\x07", "\u202E", "\u009b", "\u2028"})
          CHECK(finished.out.find(part) == std::string::npos);
        if (format == std::string("html") || format == std::string("svg"))
          for (const char* tag : {"<img", "<script>", "</math><b>"}) CHECK(finished.out.find(tag) == std::string::npos);
        if (format == std::string("latex")) CHECK(finished.out.find("\\input{") == std::string::npos);
        if (format == std::string("markdown")) {
          const std::string read = html_of(finished.out);
          for (const char* part : {"raw HTML", "<img", "href=\"\"", "javascript:alert(1)\"", "<h1>three"})
            CHECK_MESSAGE(read.find(part) == std::string::npos, finished.out);
        }
      }
    }
  }
}

TEST_CASE("a label cannot break out of a Markdown table") {
  const std::string out = run_attn({"softmax", "--scores", "0 0 0", "--tokens", "<b>&amp;", "--key-tokens",
                                    "a|b,*x*_y_,`$\\", "--format", "markdown"})
                              .out;
  CHECK_MESSAGE(out.find("| weights | a\\|b | \\*x\\*\\_y\\_ | \\`\\$\\\\ | Σ |\n") != std::string::npos, out);
  CHECK_MESSAGE(out.find("| \\<b\\>\\&amp; | 0.3333 |") != std::string::npos, out);
}

TEST_CASE("a label in CSV is in quotes, with its own quotes doubled") {
  const TemporaryFolder folder;
  const Words words = {"softmax", "--scores", "0 0; 0 0", "--tokens", "1,say \"a b\"", "--key-tokens", "x y"};
  Words csv = words;
  csv.insert(csv.end(), {"--format", "csv"});
  CHECK(run_attn(csv).out == "\"\",\"x\",\"y\"\n\"1\",0.5,0.5\n\"say \"\"a b\"\"\",0.5,0.5\n");
}

TEST_CASE("a width shortens large matrices with the counts of what is left out, and --full does not") {
  const std::string out = scaled(numbers(30, 40, "7"), {"--width", "40"});
  CHECK_MESSAGE(out.find("10 more rows") != std::string::npos, out);
  CHECK_MESSAGE(out.find(" of 40 columns left out (--full)") != std::string::npos, out);
  const std::string full = scaled(numbers(30, 40, "7"), {"--width", "40", "--full"});
  CHECK(full.find("more rows") == std::string::npos);
  CHECK(full.find("left out") == std::string::npos);
  CHECK((scaled(numbers(30, 40, "7"), {}).find("left out") == std::string::npos));
}

TEST_CASE("a shortened table fits the width, lines up and shows where it is cut") {
  for (std::size_t width = 25; width <= 80; width += 5) {
    INFO("--width " << width);
    const Words options = {"--width", std::to_string(width)};
    const Words weights = {"softmax", "--scores", numbers(1, 60, "42"), "--width", std::to_string(width)};
    for (const std::string& out : {scaled(numbers(1, 60, "42"), options), run_attn(weights).out}) {
      const auto table = check_table(out);
      CHECK_MESSAGE(table.front().size() <= width, table.front());
      CHECK_MESSAGE(table.front().find('~') != std::string::npos, table.front());
    }
  }
}

TEST_CASE("a shortened table leaves out no column that would fit") {
  for (std::size_t width = 30; width <= 80; width += 5) {
    const auto table = check_table(scaled(numbers(1, 60, "42"), {"--width", std::to_string(width)}));
    CHECK_MESSAGE(table.front().size() + 4 > width, "--width " << width << "\n" << table.front());
  }
  const std::string matrix = numbers(1, 9, "42"), whole = scaled(matrix, {});
  const std::size_t columns = check_table(whole).front().size();
  CHECK((scaled(matrix, {"--width", std::to_string(columns)}).ends_with(whole.substr(whole.find("  scaled │")))));
}

TEST_CASE("a terminal's own width counts, then COLUMNS, then 80, and a pipe has only COLUMNS" * needs_terminals()) {
  const Words words = {"scale", "--scores", numbers(1, 60, "42"), "--scale", "1"};
  const auto as_wide_as = [&](unsigned short terminal, const char* columns, const std::string& width) {
    Words with_width = words;
    with_width.insert(with_width.end(), {"--width", width});
    const Surroundings surroundings{.variables = {{"NO_COLOR", "1"}, {"COLUMNS", columns}}};
    return run_attn_on_terminal(words, terminal, surroundings).out == run_attn(with_width).out;
  };
  CHECK(as_wide_as(50, "90", "50"));
  CHECK(as_wide_as(0, "90", "90"));
  CHECK(as_wide_as(0, "", "80"));
  CHECK(as_wide_as(0, "wide", "80"));
  Words narrow = words;
  narrow.insert(narrow.end(), {"--width", "40"});
  CHECK(run_attn(words, {.variables = {{"COLUMNS", "40"}}}).out == run_attn(narrow).out);
  CHECK(run_attn(words).out.find("left out") == std::string::npos);
}

TEST_CASE("documents and machine formats leave nothing out, whatever the width") {
  for (const char* format : {"markdown", "csv", "json"}) {
    CHECK((scaled(numbers(30, 40, "7"), {"--format", format, "--width", "40"}) ==
           scaled(numbers(30, 40, "7"), {"--format", format})));
  }
}
