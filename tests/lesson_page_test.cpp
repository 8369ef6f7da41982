#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "commands_tried.hpp"
#include "draws.hpp"
#include "golden.hpp"
#include "process.hpp"
#include "school/browser/browser_document.hpp"
#include "school/lesson/lesson.hpp"

using namespace attn;

namespace {

std::string between(std::string_view page, std::string_view begin, std::string_view end) {
  const std::size_t first = page.rfind(begin) + begin.size();
  return std::string(page.substr(first, page.find(end, first) - first));
}

Words exported(std::string_view lesson) { return {"lesson", "export", std::string(lesson), "--format", "page"}; }

std::string data_of(std::string_view page) { return between(page, "id=\"data\">\n", "\n</script>"); }

constexpr std::string_view own_lesson = R"(---
title: A <lesson> & more
can: look up </script>
---
# Two scores

```attn
attn softmax --scores '2 0'
```

```question
ask: What is the first weight, with "quotes" & <b>?
of: weights[1,1]
hint: Take e to the power of each score.
wrong: scores[1,1] / (scores[1,1] + 1) => This is a share of the scores.
```

```attn
attn explain 'weights[1,1]' --scores '2 0'
```

```question
ask: Which shape do they have?
kind: shape
of: shape(weights)
hint: One row.
```
)";

}  // namespace

TEST_CASE("the page of a lesson allows its only script and style and asks for nothing") {
  for (const LessonFile& lesson : SomeOf(lesson_files())) {
    const std::string page = accepted(exported(lesson.name)).out;
    CAPTURE(lesson.name);
    check_has(page, "script-src '" + source_hash(between(page, "<script>", "</script>")) + "'");
    check_has(page, "style-src '" + source_hash(between(page, "<style>", "</style>")) + "'");
    check_has(page, "default-src 'none'");
    for (const std::string_view no : {"unsafe-inline", "src=\"http", " onclick", "@import", "url("})
      CHECK_MESSAGE(page.find(no) == std::string::npos, no);
    CHECK(page.size() < 520'000);
  }
}

TEST_CASE("the data of a lesson's page has its answers and what is recognised") {
  const TemporaryFolder folder;
  const std::string path = folder.write("own.md", own_lesson);
  const std::string page = accepted({"lesson", "export", path, "--format", "page"}).out;
  const Json data = parse_json(data_of(page), "data");
  const Json& questions = data["lesson"]["questions"];
  REQUIRE(questions.size() == 2);
  CHECK(questions[0]["answer"].get<double>() == doctest::Approx(0.8807970779778823));
  CHECK(questions[0]["recognised"][0]["kind"] == "note");
  CHECK(questions[0]["recognised"][0]["says"] == "This is a share of the scores.");
  CHECK(questions[1]["answer"] == Json::array({1, 2}));
  CHECK(data["computations"].size() == 1);  // which both commands show
  CHECK(page.find("<b>") == std::string::npos);
  CHECK(page.find("</script>\n---") == std::string::npos);
  check_has(page, "<details class=\"solution\" data-answers=\"0\">");
}

TEST_CASE("the data of a small lesson's page is golden") {
  const TemporaryFolder folder;
  const std::string path = folder.write("own.md", own_lesson);
  std::string data = data_of(accepted({"lesson", "export", path, "--format", "page"}).out);
  for (std::size_t at; (at = data.find(path)) != std::string::npos;) data.replace(at, path.size(), "own.md");
  Json json = parse_json(data, "data");
  for (Json& question : json["lesson"]["questions"]) {
    // Rows of mistakes and slips are tested where they are made.
    Json notes = Json::array();
    for (const Json& row : question["recognised"]) {
      if (row["kind"] == "note") notes.push_back(row);
    }
    question["recognised"] = notes;
  }
  check_golden("lesson_page.json", json.dump(2) + "\n", Tolerance::last_digit);
}

TEST_CASE("what a lesson's page cannot be is refused in one sentence") {
  const TemporaryFolder folder;
  refuses({"lesson", "export", "1", folder.path("a.md"), "--format", "page"}, "give a name that ends in .html");
  refuses({"lesson", "list", "--format", "page"}, "attn lesson export does");
  refuses({"lesson", "export", "1", "--format", "page", "--answers", "a.txt"}, "leave out --answers");
  refuses({"walk", "--format", "page"}, "unknown format 'page'");
  const std::string path = folder.write("there.html", "something");
  refuses({"lesson", "export", "1", path, "--format", "page"}, "give another file, or --yes to replace it");
}

TEST_CASE("the page of a lesson plays its puzzles and knows where each number is set") {
  std::size_t puzzles = 0;
  for (const LessonFile& file : lesson_files()) {
    const Lesson lesson = find_lesson(std::string(file.name));
    if (lesson.puzzles.empty()) continue;
    const Json data = parse_json(data_of(accepted(exported(file.name)).out), "data");
    CAPTURE(file.name);
    REQUIRE(data["lesson"]["puzzles"].size() == lesson.puzzles.size());
    for (std::size_t i = 0; i < lesson.puzzles.size(); ++i) {
      const Json& puzzle = data["lesson"]["puzzles"][i];
      REQUIRE(puzzle["inputs"].size() == lesson.puzzles[i].commands.size());
      for (const Json& input : puzzle["inputs"]) {
        CHECK(input["holds"].size() == lesson.puzzles[i].holds.size());
        CHECK(input["notes"].size() == lesson.puzzles[i].notes.size());
        for (std::size_t unknown = 0; unknown < puzzle["unknowns"].size(); ++unknown) {
          const Json& places = input["places"];
          CHECK(std::ranges::any_of(places, [&](const Json& place) { return place["unknown"] == unknown; }));
        }
      }
      ++puzzles;
    }
  }
  CHECK(puzzles >= 8);
}

TEST_CASE("a number of a puzzle that has several places is set in all of them") {
  // One row of a mask is the row of every query.
  const Json data = parse_json(data_of(accepted(exported("masks")).out), "data");
  const Json& input = data["lesson"]["puzzles"][0]["inputs"][0];
  const auto count = std::ranges::count_if(
      input["places"], [](const Json& place) { return place["unknown"] == 0 && place["cell"] == 1; });
  CHECK(count == 5);
}
