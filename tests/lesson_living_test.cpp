#include <doctest/doctest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <random>

#include "command/docs.hpp"
#include "page/document/document_outputs.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

// Says back what it is asked to say, so that what is put around it can be seen.
CommandResult echo(const Words& words, const BlockStyle& style) {
  if (words.front() == "fail") fail("{}", words.back());
  std::string text;
  for (const std::string& word : words) text += word + "\n";
  return {text, style.format ? std::string_view("markdown") : "text", {}};
}

std::string updated(std::string_view text, const RunCommand& run = echo) {
  const Document document = read_document(text, "a.md");
  return with_outputs(document, outputs_of(document, run));
}

std::string cleaned(std::string_view text) { return without_outputs(read_document(text, "a.md")); }

void check_update(std::string_view before, std::string_view after) {
  CHECK(updated(before) == after);
  CHECK(updated(after) == after);
  CHECK(cleaned(after) == before);
}

}  // namespace

TEST_CASE("an output is put below its block, and nothing else changes") {
  check_update("a  \n\n\n```attn\nattn x\n```\n\n* b\n* c",
               "a  \n\n\n```attn\nattn x\n```\n<!-- attn:output -->\n```text\nx\n```\n<!-- /attn:output "
               "-->\n\n* b\n* c");
}

TEST_CASE("a missing end of the last line stays missing") {
  check_update("```attn\nattn x\n```",
               "```attn\nattn x\n```\n<!-- attn:output -->\n```text\nx\n```\n<!-- /attn:output -->");
}

TEST_CASE("line ends stay what they are") {
  check_update("a\r\n```attn\r\nattn x\r\n```\r\nb\n",
               "a\r\n```attn\r\nattn x\r\n```\r\n<!-- attn:output -->\r\n```text\r\nx\r\n```\r\n<!-- "
               "/attn:output -->\r\nb\n");
  check_update("```attn\r\nattn x\r\n```",
               "```attn\r\nattn x\r\n```\r\n<!-- attn:output -->\r\n```text\r\nx\r\n```\r\n<!-- /attn:output -->");
  check_update("```attn\rattn x\r```\rb",
               "```attn\rattn x\r```\r<!-- attn:output -->\r```text\rx\r```\r<!-- /attn:output -->\rb");
}

TEST_CASE("outputs keep the indentation of lists and the signs of quotations") {
  check_update("- ```attn\n  attn x\n  ```\n- b\n",
               "- ```attn\n  attn x\n  ```\n  <!-- attn:output -->\n  ```text\n  x\n  ```\n  <!-- /attn:output "
               "-->\n- b\n");
  check_update("> ```attn\n> attn x ''\n> ```\n",
               "> ```attn\n> attn x ''\n> ```\n> <!-- attn:output -->\n> ```text\n> x\n>\n> ```\n> <!-- "
               "/attn:output -->\n");
}

TEST_CASE("a fence is longer than the backticks in it") {
  check_update("~~~attn\nattn '```' '````'\n~~~\n",
               "~~~attn\nattn '```' '````'\n~~~\n<!-- attn:output -->\n`````text\n```\n````\n`````\n<!-- /attn:output "
               "-->\n");
}

TEST_CASE("Markdown stands in the document as it is") {
  check_update("```attn format=markdown\nattn '# x' '| y |'\n```\n",
               "```attn format=markdown\nattn '# x' '| y |'\n```\n<!-- attn:output -->\n\n# x\n| y |\n\n<!-- "
               "/attn:output -->\n");
  CHECK(refusal([] {
          updated("```attn format=markdown\nattn '<!-- /attn:output -->'\n```\n");
        }).starts_with("a.md:2: this output contains the mark"));
}

TEST_CASE("each command line has a fence of its own") {
  check_update("```attn\nattn x\nattn y\n```\n",
               "```attn\nattn x\nattn y\n```\n<!-- attn:output -->\n```text\nx\n```\n```text\ny\n```\n<!-- "
               "/attn:output -->\n");
}

TEST_CASE("an output that is alike stays as it is, and one that is not is replaced") {
  const auto with = [](std::string_view number) {
    return "```attn\nattn 0.5000\n```\n\n<!-- attn:output -->\n```text\n" + std::string(number) +
           "\n```\n<!-- /attn:output -->\nb\n";
  };
  CHECK(updated(with("0.5001")) == with("0.5001"));
  CHECK(updated(with("0.5002")) == with("0.5000"));
  const Document document = read_document(with("0.5002"), "a.md");
  const std::vector<StaleBlock> stale = stale_blocks(document, outputs_of(document, echo));
  REQUIRE(stale.size() == 1);
  CHECK(stale.front().place.line == 2);
  CHECK(stale.front().difference == std::vector<std::string>{"  ```text", "- 0.5002", "+ 0.5000", "  ```"});
}

TEST_CASE("an error that is expected is the output, and any other names file and line") {
  check_update("```attn fails\nattn fail 'no: try again'\n```\n",
               "```attn fails\nattn fail 'no: try again'\n```\n<!-- attn:output -->\n```text\nattn: no: try "
               "again\n```\n<!-- /attn:output -->\n");
  CHECK(refusal([] { updated("\n```attn\nattn x\nattn fail no\n```\n"); }) == "a.md:4: no");
  CHECK(refusal([] {
          updated("```attn fails\nattn x\n```\n");
        }).starts_with("a.md:2: this command was expected to fail"));
}

TEST_CASE("updating twice changes nothing more, and cleaning takes out what updating put in") {
  const std::vector<std::string> pieces = {"```attn\n", "attn x\n",    "```\n",          "- ```attn\n", "  attn x\n",
                                           "  ```\n",   "> ```attn\n", "> attn y\n",     "> ```\n",     "\n",
                                           "a\r\n",     "~~~attn\n",   "~~~\n",          "1. b\n",      "\tattn x\n",
                                           "    c\n",   "```",         "\t- ~~~attn\r\n"};
  std::mt19937 random(1);
  int accepted = 0;
  for (int i = 0; i < 40000; ++i) {
    std::string text;
    for (std::size_t n = random() % 12; n > 0; --n) text += pieces[random() % pieces.size()];
    if (refusal([&] { read_document(text, "a.md"); }) != "(it was accepted)") continue;
    CAPTURE(text);
    const std::string once = updated(text);
    accepted += once != text;
    CHECK(cleaned(once) == text);
    CHECK(updated(once) == once);
  }
  CHECK(accepted > 50);
}

TEST_CASE("a block has the same style wherever it runs") {
  const RunCommand run = block_runner();
  const CommandResult plain = run({"softmax"}, {});
  CHECK(plain.format == "text");
  CHECK(plain.text.find('\x1b') == std::string::npos);
  CHECK(plain.text.find("│") != std::string::npos);
  CHECK(run({"softmax", "--color", "always"}, {}).text == plain.text);
  CHECK(run({"softmax"}, {.width = 40}).text == run({"softmax", "--width", "40"}, {}).text);
  CHECK(run({"softmax"}, {.precision = 2}).text.find("0.88 ") != std::string::npos);
  CHECK(run({"softmax"}, {.format = "csv"}).format == "csv");
  CHECK(plain.computation.graph != nullptr);
}

TEST_CASE("a warning stands before what it is about") {
  const CommandResult result =
      block_runner()({"mask", "--scores", "-2000000 1", "--mask", "1 0", "--mask-fill", "-1000000"}, {});
  CHECK_MESSAGE(result.text.starts_with("attn: warning: "), result.text);
}

TEST_CASE("a block can neither write nor leave the folder of its document nor wait for input") {
  const TemporaryFolder folder;
  folder.write("beside.csv", "1,2\n");
  std::filesystem::create_directory(folder.path("below"));
  folder.write("below/a.csv", "1,2\n");
  folder.write("below/words.txt", "a 1\n");
  std::filesystem::create_symlink(folder.path("beside.csv"), folder.path("below/link.csv"));
  std::filesystem::create_symlink(folder.path("below/a.csv"), folder.path("below/near.csv"));
  const auto answer = [&](const std::string& line) {
    const Document document = read_document("```attn\nattn " + line + "\n```\n", folder.path("below/a.md"));
    const std::string sentence = refusal([&] { outputs_of(document, block_runner()); });
    if (sentence == "(it was accepted)") return std::string();
    return sentence.substr(std::min(sentence.find(".md:2: ") + 7, sentence.size()));
  };
  CHECK(answer("softmax --scores a.csv") == "");
  CHECK(answer("softmax --scores ./near.csv") == "");
  CHECK(answer("softmax --scores '1 0; 0 1'") == "");
  const std::string out_of_reach = "cannot be read here";
  for (const std::string& line :
       {"softmax --scores ../beside.csv", "softmax --scores ../below/a.csv", "softmax --scores /etc/passwd",
        "softmax --scores link.csv", "softmax --scores -", "walk --problem /etc/passwd", "walk --problem -",
        "walk --text a --embeddings ../below/words.txt", "lesson check ../below/a.md"}) {
    CAPTURE(line);
    CHECK_MESSAGE(answer(line).find(out_of_reach) != std::string::npos, answer(line));
  }
  for (const std::string& line : {"walk -o out.txt", "walk --output out.txt", "convert a.csv b.csv",
                                  "lesson export 1 out.md --state x.json", "docs clean b.md"}) {
    CAPTURE(line);
    folder.write("below/b.md", "```attn\nattn walk\n```\n<!-- attn:output -->\n<!-- /attn:output -->\n");
    CHECK_MESSAGE((answer(line).starts_with("a block of a document writes no files") ||
                   answer(line).starts_with("a document cannot run")),
                  answer(line));
  }
  CHECK(answer("walk --format npz").starts_with("npz is not for a document"));
  CHECK(answer("docs check b.md").starts_with("a document cannot run the commands of another document"));
  CHECK(answer("lesson run 1").starts_with("a document cannot run the commands of another document"));
  CHECK_FALSE(std::filesystem::exists(folder.path("below/out.txt")));
  CHECK_FALSE(std::filesystem::exists("out.txt"));
}

TEST_CASE("a block waits for no pipe in its folder") {
  const TemporaryFolder folder;
  REQUIRE(mkfifo(folder.path("pipe.csv").c_str(), 0600) == 0);
  const std::string document = folder.write("a.md", "```attn\nattn softmax --scores pipe.csv\n```\n");
  const std::string sentence =
      refusal([&] { outputs_of(read_document(bytes_of(document), document), block_runner()); });
  CHECK_MESSAGE(sentence.find("pipe.csv cannot be read here") != std::string::npos, sentence);
}

TEST_CASE("an update leaves a current document untouched and writes nothing when a block fails") {
  const TemporaryFolder folder;
  const std::string good = folder.write("good.md", "```attn\nattn version\n```\n");
  const std::string bad = folder.write("bad.md", "```attn\nattn version\n```\n\n```attn\nattn nothing\n```\n");
  const ProcessResult failed = run_attn({"docs", "update", good, bad});
  CHECK(failed.code == 2);
  CHECK(failed.errors.find("bad.md:6: unknown command 'nothing'") != std::string::npos);
  CHECK(bytes_of(good) == "```attn\nattn version\n```\n");
  CHECK(run_attn({"docs", "update", good}).code == 0);
  const auto time = std::filesystem::last_write_time(good);
  const std::string text = bytes_of(good);
  CHECK(run_attn({"docs", "update", good}).out.find("nothing to change") != std::string::npos);
  CHECK(std::filesystem::last_write_time(good) == time);
  CHECK(bytes_of(good) == text);
  CHECK(run_attn({"docs", "check", good}).code == 0);
  CHECK(run_attn({"docs", "clean", good}).code == 0);
  CHECK(bytes_of(good) == "```attn\nattn version\n```\n");
  CHECK(run_attn({"docs", "check", good}).code == 1);
  CHECK(folder.names() == std::vector<std::string>{"bad.md", "good.md"});
}

TEST_CASE("a check tells the results of all documents, also of those in folders, though one cannot be run") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path("docs/below"));
  const std::string current = folder.write("docs/below/current.md", "```attn\nattn version\n```\n");
  CHECK(run_attn({"docs", "update", current}).code == 0);
  folder.write("docs/bad.md", "```attn\nattn nothing\n```\n");
  folder.write("docs/new.md", "```attn\nattn walk\n```\n");
  folder.write("docs/other.txt", "```attn\nattn walk\n```\n");
  std::string wrong = "```attn\nattn walk\n```\n<!-- attn:output -->\n```text\n";
  for (int i = 0; i < 50; ++i) wrong += "wrong\n";
  folder.write("docs/wrong.md", wrong + "```\n<!-- /attn:output -->\n");
  const std::string docs = folder.path("docs");
  const ProcessResult finished = run_attn({"docs", "check", docs, "--width", "1000"});
  CHECK(finished.code == 2);
  CHECK_MESSAGE(finished.errors.find("bad.md:2: unknown command 'nothing'") != std::string::npos, finished.errors);
  CHECK_MESSAGE(finished.out.find("new.md:2: attn walk has no output yet.") != std::string::npos, finished.out);
  CHECK(finished.out.find(" lines more") != std::string::npos);
  CHECK(std::ranges::count(finished.out, '\n') < 40);
  CHECK_MESSAGE(finished.out.find("attn docs update") != std::string::npos, finished.out);
  const std::string records = run_attn({"docs", "check", docs, "--format", "csv"}).out;
  CHECK_MESSAGE(records.starts_with("\"document\",\"line\",\"command\",\"state\",\"reason\"\n"), records);
  for (const char* part : {"\"cannot be run\"", "\"current\"", "\"no output yet\"", "\"different\""})
    CHECK_MESSAGE(records.find(part) != std::string::npos, records);
  CHECK(run_attn({"docs", "check", docs, "--format", "json"}).out.find("\"line\": 2") != std::string::npos);
  CHECK(run_attn({"docs", "check", folder.path("docs/below")}).code == 0);
  std::filesystem::create_directory(folder.path("empty"));
  CHECK(run_attn({"docs", "check", folder.path("empty")}).errors.find("without files of Markdown") !=
        std::string::npos);
}

TEST_CASE("an update that is killed leaves the document as it was or as it will be") {
  std::string before;
  for (int i = 0; i < 40; ++i) before += "```attn\nattn walk --example animal\n```\n\n";
  const std::string after = updated(before, block_runner());
  const TemporaryFolder folder;
  const std::string path = folder.path("a.md");
  int killed = 0;
  for (unsigned wait = 0; wait < 60000; wait += 3000) {
    folder.write("a.md", before);
    killed += run_attn_and_signal({"docs", "update", path}, wait, SIGKILL).code == 128 + SIGKILL;
    const std::string text = bytes_of(path);
    CHECK((text == before || text == after));
  }
  CHECK(killed > 0);
}
