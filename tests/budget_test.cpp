#include "core/support/error.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

#include "command/docs.hpp"
#include "draws.hpp"
#include "page/document/document_outputs.hpp"
#include "process.hpp"
#include "school/lesson/lesson.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

constexpr std::string_view accepted = "(it was accepted)";

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string block(std::string_view lines, std::string_view attributes = "") {
  return fmt::format("```attn {}\n{}\n```\n\n", attributes, lines);
}

// Whatever a document says: a gigabyte and twenty seconds.
ProcessResult run_bounded(const Words& words) {
  ProcessResult finished = run_attn(words);
  if (!is_sanitized()) {
    CHECK(finished.seconds < 20.0);
    CHECK(finished.kilobytes < std::size_t{1} << 20);
  }
  return finished;
}

void check_refused(const std::string& text, std::string_view place, std::string_view reason) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.md", text);
  const ProcessResult finished = run_bounded({"docs", "update", path});
  CHECK(finished.code == 2);
  CHECK_MESSAGE(finished.errors.find(fmt::format("a.md{}", place)) != std::string::npos, finished.errors);
  CHECK_MESSAGE(finished.errors.find(reason) != std::string::npos, finished.errors);
  CHECK(bytes_of(path) == text);
}

}  // namespace

TEST_CASE(
    "what is taken counts against every budget around it, and nothing "
    "counts without one") {
  Budget::take_work(1'000'000);
  Budget::take_output(1'000'000);
  const Budget outer({"a document", 10, 100, 10});
  {
    const Budget inner({"a block", 8, 1000, 8});
    Budget::take_work(6);
    Budget::take_output(6);
    CHECK(refusal([] { Budget::take_work(3); }).find("a block may ask for") != std::string::npos);
    CHECK(refusal([] { Budget::take_output(3); }).find("a block may print") != std::string::npos);
    CHECK(refusal([] { Budget::require_cells(101); }).find("of a document may have") != std::string::npos);
    CHECK(refusal([] { Budget::require_work(2); }) == accepted);
  }
  CHECK(refusal([] { Budget::take_work(5); }).find("a document may ask for") != std::string::npos);
  CHECK(refusal([] { Budget::take_output(5); }).find("a document may print") != std::string::npos);
  CHECK(refusal([] { Budget::take_work(4); }) == accepted);
  CHECK(refusal([] { Budget::require_cells(100); }) == accepted);
}

TEST_CASE(
    "a block that asks for too much is refused with its line before it "
    "is computed") {
  for (const char* command :
       {"attn walk --n-q 11000 --n-k 11000 --d-k 1 --heads 16 --only output", "attn walk --n-q 9000 --n-k 9000",
        "attn encoder --n 10000", "attn generate --size base --steps 4096",
        "attn generate --size base --steps 4096 --no-cache", "attn transformer --size base --n 500",
        "attn walk --n-q 200 --n-k 200 --d-k 9000 --d-model 9000 --text 'a b'", "attn softmax --n-q 1 --n-k 30000000",
        "attn align --hidden 4000"}) {
    CAPTURE(command);
    const std::string text = "A text.\n\n" + block(command);
    const TemporaryFolder folder;
    const std::string path = folder.write("a.md", text);
    const ProcessResult finished = run_bounded({"docs", "update", path});
    CHECK(finished.code == 2);
    CHECK_MESSAGE(finished.errors.find("a.md:4: ") != std::string::npos, finished.errors);
    CHECK(bytes_of(path) == text);
  }
}

TEST_CASE("a document of many harmless blocks is refused where it prints too much") {
  check_refused(repeated(block("attn walk"), 20000), ":", "a document may print");
  check_refused(block(repeated("attn walk\n", 20000)), ":", "a block may print");
}

TEST_CASE("a document of many harmless blocks is refused where it becomes too much work") {
  check_refused(repeated(block("attn walk --n-q 3000 --n-k 3000 --d-k 1 --only output"), 400), ":", "a document may");
  check_refused(repeated(block("attn nothing", "fails"), 20000), ":", "a document may");
}

TEST_CASE("a document of many blocks that fail at their end is refused where it becomes too much work") {
  check_refused(repeated(block("attn walk --example eight-heads --outline --section x", "fails"), 9000), ":",
                "a document may");
}

TEST_CASE("a lesson keeps no more matrices than a document may have") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("a.md", "---\ntitle: t\n---\n" + repeated(block("attn walk --n-q 1500 --n-k 1500 --d-k 1"), 40));
  const ProcessResult finished = run_bounded({"lesson", "run", path, "--no-input"});
  CHECK_MESSAGE((finished.code == 0 || finished.errors.find("a.md:") != std::string::npos), finished.errors);
  CHECK((finished.code == 0 || finished.code == 2));
}

TEST_CASE("blocks with matrices of many sizes do not pile up memory") {
  std::string text;
  for (int i = 0; i < 16; ++i)
    text += block(fmt::format("attn softmax --n-q 1000 --n-k {} --only weights", 3000 + 500 * i));
  const TemporaryFolder folder;
  const ProcessResult finished = run_bounded({"docs", "check", folder.write("a.md", text)});
  CHECK_MESSAGE((finished.code == 1 || finished.code == 2), finished.errors);
}

TEST_CASE("a block that prints too much is refused, wherever it stands") {
  check_refused(block("attn walk --n-q 1100 --n-k 1100 --d-k 1 --full", "width=100000"), ":2", "a block may print");
  check_refused(repeated(block("attn walk --n-q 50 --n-k 50 --d-k 1 --full", "format=json"), 60), ":",
                "a document may print");
  const std::string quotations = repeated("> ", 400);
  std::string quoted;
  for (int i = 0; i < 60; ++i)
    quoted += quotations + "```attn\n" + quotations + "attn walk\n" + quotations + "attn walk\n" + quotations +
              "attn walk\n" + quotations + "attn walk\n" + quotations + "```\n\n";
  check_refused(quoted, ":", "may print");
}

TEST_CASE("a document that is too long is refused") {
  check_refused(std::string(most_bytes_of_document + 1, 'a'), " is longer", "split it into several documents");
}

TEST_CASE("no document takes too much time or memory to read") {
  constexpr std::string_view pieces[] = {"a@b.c ",  "a@",        "http://a.b ",       "www.a.b ",    "*a ",
                                         "[a",      "a\n\n",     "- - - a\n\n",       "![a](b) ",    "~a~ ",
                                         "# a\n\n", "> > > a\n", "|a|\n|-|\n|b|\n\n", "<http://a> ", "`a` ",
                                         "_a_ "};
  for (const std::string_view piece : SomeOf(pieces)) {
    CAPTURE(piece);
    const TemporaryFolder folder;
    const std::string path = folder.write("a.md", repeated(piece, most_bytes_of_document / piece.size()));
    const ProcessResult finished = run_bounded({"docs", "check", path});
    CHECK(finished.code == 0);
  }
}

TEST_CASE(
    "the documents and lessons of the project take less than half of "
    "what they may") {
  const auto run_within = [](const std::string& path) {
    CAPTURE(path);
    const Budget budget({"half", 8'000'000'000, std::size_t{1} << 22, std::size_t{200} << 10});
    const Document document = read_document(bytes_of(path), path);
    CHECK(refusal([&] { outputs_of(document, block_runner()); }) == accepted);
  };
  const std::filesystem::path folder = ATTN_SOURCE_FOLDER;
  run_within(folder / "README.md");
  for (const char* name : {"docs", "lessons"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder / name)) {
      if (entry.path().extension() == ".md") run_within(entry.path());
    }
  }
}
