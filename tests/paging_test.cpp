#include <doctest/doctest.h>

#include "process.hpp"
#include "texts.hpp"

// The program at a terminal of 24 rows: what pauses, who pages, and which ground its colors start from.

using namespace attn;

namespace {

constexpr unsigned short rows = 24;
const std::string keys = "q: quit";

ProcessResult walk_with(std::map<std::string, std::string> variables, const Words& more = {}) {
  variables.try_emplace("NO_COLOR", "1");
  Words words = {"walk"};
  words.insert(words.end(), more.begin(), more.end());
  return run_attn_on_terminal(words, 80, {.variables = std::move(variables), .rows = rows});
}

}  // namespace

TEST_CASE("a page that is longer than the terminal pauses, and q leaves it" * needs_terminals()) {
  const ProcessResult left = converse_with_attn({"walk"}, {{keys, "q"}}, {.rows = rows});
  CHECK(left.code == 0);
  CHECK(has(left.out, "Given"));
  CHECK_FALSE(has(left.out, "5. Weighted sum"));
  const ProcessResult read =
      converse_with_attn({"walk"}, {{keys, " "}, {keys, " "}, {keys, " "}, {keys, " "}}, {.rows = rows});
  CHECK(read.code == 0);
  CHECK(has(read.out, "5. Weighted sum"));
  const ProcessResult help = converse_with_attn({"help", "walk"}, {{keys, "q"}}, {.rows = rows});
  CHECK(help.code == 0);
  CHECK_FALSE(has(help.out, "NAME of --format"));
}

TEST_CASE("a page that fits does not pause" * needs_terminals()) {
  const ProcessResult shown = converse_with_attn({"version"}, {}, {.rows = rows});
  CHECK(shown.code == 0);
  CHECK_FALSE(has(shown.out, keys));
}

TEST_CASE("a check that fails says so by its exit code even where its page is left" * needs_terminals()) {
  const TemporaryFolder folder;
  std::string document;
  for (int i = 0; i < 12; ++i) document += "```attn\nattn version\n```\n\n";
  const std::string path = folder.write("a.md", document);
  const ProcessResult left = converse_with_attn({"docs", "check", path}, {{keys, "q"}}, {.rows = rows});
  CHECK_MESSAGE(left.code == 1, left.out);
}

TEST_CASE("PAGER and ATTN_PAGER page instead, and cat or --no-pager not at all" * needs_terminals()) {
  for (const char* name : {"PAGER", "ATTN_PAGER"}) {
    const ProcessResult paged = walk_with({{name, "sed s/^/paged:/"}});
    CHECK(paged.code == 0);
    CHECK(has(paged.out, "paged:Thinking Machines\n"));
    CHECK(has(paged.out, "paged:5. Weighted sum\n"));
  }
  const ProcessResult both = walk_with({{"PAGER", "sed s/^/one:/"}, {"ATTN_PAGER", "sed s/^/two:/"}});
  CHECK(has(both.out, "two:5. Weighted sum\n"));
  for (const ProcessResult& plain :
       {walk_with({{"PAGER", "cat"}}), walk_with({}, {"--no-pager"}), walk_with({{"TERM", "dumb"}}),
        walk_with({{"PAGER", "sed s/^/p:/"}}, {"--no-pager"})}) {
    CHECK(plain.code == 0);
    CHECK(has(plain.out, "\n5. Weighted sum\n"));
    CHECK_FALSE(has(plain.out, keys));
  }
}

TEST_CASE("a pager that goes away early is no error, and one that cannot be run is a sentence" * needs_terminals()) {
  CHECK(walk_with({{"PAGER", "head -n 1"}}).code == 0);
  CHECK(walk_with({{"PAGER", "false"}}).code == 0);
  const ProcessResult missing = walk_with({{"PAGER", "no-such-pager-anywhere"}});
  CHECK(missing.code == 1);
  CHECK(has(missing.errors, "the pager 'no-such-pager-anywhere' cannot be run"));
}

TEST_CASE("a page of many blocks of bytes can be left" * needs_terminals()) {
  std::string words;
  for (int i = 0; i < 60; ++i) words += "w" + std::to_string(i) + " ";
  const ProcessResult left =
      converse_with_attn({"walk", "--text", words, "--full", "--format", "json"}, {{keys, "q"}}, {.rows = rows});
  CHECK_MESSAGE(left.code == 0, left.errors);
}

TEST_CASE("where nobody can press a key nothing pauses" * needs_terminals()) {
  const ProcessResult shown =
      run_attn_on_terminal({"walk"}, 80, {.variables = {{"NO_COLOR", "1"}}, .rows = rows, .shell = "exec </dev/null"});
  CHECK(shown.code == 0);
  CHECK(has(shown.out, "5. Weighted sum"));
}

TEST_CASE("the ground of the terminal decides the colors: --theme, ATTN_THEME, COLORFGBG") {
  const auto softmax = [](const Words& more, std::map<std::string, std::string> variables) {
    variables.try_emplace("COLORTERM", "truecolor");
    Words words = {"softmax", "--color", "always"};
    words.insert(words.end(), more.begin(), more.end());
    return run_attn(words, {.variables = std::move(variables)});
  };
  const std::string dark = softmax({"--theme", "dark"}, {}).out, light = softmax({"--theme", "light"}, {}).out;
  CHECK(dark != light);
  CHECK(softmax({}, {}).out == dark);
  CHECK(softmax({}, {{"ATTN_THEME", "light"}}).out == light);
  CHECK(softmax({"--theme", "dark"}, {{"ATTN_THEME", "light"}}).out == dark);
  CHECK(softmax({}, {{"COLORFGBG", "0;15"}}).out == light);
  CHECK(softmax({}, {{"COLORFGBG", "0;default;15"}}).out == light);
  CHECK(softmax({}, {{"COLORFGBG", "15;0"}}).out == dark);
  CHECK(softmax({}, {{"COLORFGBG", "nonsense;"}}).out == dark);
  CHECK(softmax({"--theme", "auto"}, {{"ATTN_THEME", "light"}}).out == dark);
  CHECK(run_attn({"softmax", "--theme", "pink"}).code == 2);
  const ProcessResult refused = softmax({"--theme", "pink"}, {});
  CHECK(refused.code == 2);
  CHECK(has(refused.errors, "dark, light, auto"));
}

TEST_CASE("a terminal that is asked for its ground is believed" * needs_terminals()) {
  const std::map<std::string, std::string> variables = {{"NO_COLOR", ""}, {"COLORTERM", "truecolor"}};
  const std::string theirs = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;c";
  const ProcessResult asked = converse_with_attn({"softmax"}, {{"\x1b[c", theirs}}, {.variables = variables});
  CHECK(asked.code == 0);
  const std::string light =
      run_attn({"softmax", "--color", "always", "--theme", "light"}, {.variables = {{"COLORTERM", "truecolor"}}}).out;
  CHECK(has(asked.out, light.substr(light.find("Thinking │"), 60)));
  const ProcessResult unasked = converse_with_attn({"version"}, {}, {.variables = variables});
  CHECK_FALSE(has(unasked.out, "\x1b]11"));
}
