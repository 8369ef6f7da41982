// Whatever README.md, docs/ and lessons/ show of the program, the program prints.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "command/docs.hpp"
#include "commands_tried.hpp"
#include "process.hpp"
#include "school/lesson/lesson.hpp"

using namespace attn;

namespace {

namespace fs = std::filesystem;

const fs::path source = ATTN_SOURCE_FOLDER;

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".md") files.push_back(entry.path().string());
  }
  return files;
}

}  // namespace

TEST_CASE("what the documents show is what the program prints") {
  Words words = Words{"docs", "check", (source / "README.md").string()} + files_in(source / "docs");
  const ProcessResult finished = run_attn(words + files_in(source / "lessons"));
  CHECK_MESSAGE(finished.code == 0, finished.out << finished.errors);
  CHECK(finished.out.find("All outputs are current") == 0);
}

TEST_CASE("a document that shows something else is noticed, and so is how to mend it") {
  const TemporaryFolder folder;
  const std::string path = folder.path("README.md");
  fs::copy_file(source / "README.md", path);
  CHECK(run_attn({"docs", "check", path}).code == 0);
  std::string text = bytes_of(path);
  const std::size_t at = text.find("0.8808    0.1192");
  REQUIRE(at != std::string::npos);
  folder.write("README.md", text.replace(at, 6, "0.8811"));
  const ProcessResult finished = run_attn({"docs", "check", path});
  CHECK(finished.code == 1);
  CHECK(finished.out.find("\n-   Thinking │    0.8811    0.1192 │ 1\n+   Thinking │    0.8808    0.1192 │ 1\n") !=
        std::string::npos);
  CHECK(finished.out.find("attn docs update " + path) != std::string::npos);
}

TEST_CASE("nothing is wrong with any lesson") {
  const ProcessResult finished = run_attn(Words{"lesson", "check"} + files_in(source / "lessons"));
  CHECK_MESSAGE(finished.code == 0, finished.out << finished.errors);
}

TEST_CASE("the question that docs/lessons.md shows can be answered") {
  const std::string text = bytes_of((source / "docs/lessons.md").string());
  const Lesson lesson = read_lesson("---\ntitle: as shown\n---\n" + text, "docs/lessons.md");
  const LessonResult result = execute(lesson, block_runner());
  REQUIRE(result.questions.size() == 1);
  CHECK(answer_of(result.questions.front()) == "96");
}

TEST_CASE("the table of what lessons cover is the one in docs") {
  const ProcessResult finished = run_attn({"lesson", "coverage", "--format", "markdown"});
  CHECK(finished.code == 0);
  CHECK(bytes_of((source / "docs/coverage.md").string()).find(finished.out) != std::string::npos);
}
