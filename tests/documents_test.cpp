// Whatever README.md and docs/ show of the program, the program prints.

#include <doctest/doctest.h>

#include <filesystem>

#include "golden.hpp"
#include "process.hpp"

namespace {

struct Shown {
  std::string command;
  std::string output;
};

// The words of a command line, as a shell would part them: blanks, and single quotes around what holds
// together.
Words parted(std::string_view line) {
  Words words;
  bool quoted = false, inside = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
      if (!inside) words.emplace_back();
      inside = true;
    } else if (c == ' ' && !quoted) {
      inside = false;
    } else {
      if (!inside) words.emplace_back();
      inside = true;
      words.back() += c;
    }
  }
  return words;
}

// The commands in ```console blocks, each with the lines below it.
std::vector<Shown> shown_in(std::string_view document) {
  constexpr std::string_view prompt = "$ attn ";
  std::vector<Shown> shown;
  bool inside = false;
  while (!document.empty()) {
    const std::size_t end = std::min(document.find('\n'), document.size() - 1);
    const std::string_view line = document.substr(0, end);
    document.remove_prefix(end + 1);
    if (line.starts_with("```")) {
      inside = line == "```console";
    } else if (inside && line.starts_with(prompt)) {
      shown.push_back({std::string(line.substr(prompt.size())), ""});
    } else if (inside && !shown.empty()) {
      shown.back().output += std::string(line) + "\n";
    }
  }
  return shown;
}

}  // namespace

TEST_CASE("what the documents show is what the program prints") {
  namespace fs = std::filesystem;
  std::vector<fs::path> documents = {fs::path(ATTN_SOURCE_FOLDER) / "README.md"};
  for (const auto& entry : fs::directory_iterator(fs::path(ATTN_SOURCE_FOLDER) / "docs"))
    documents.push_back(entry);
  std::size_t commands = 0;
  for (const fs::path& document : documents) {
    for (const Shown& shown : shown_in(bytes_of(document))) {
      CAPTURE(document);
      CAPTURE(shown.command);
      const Finished finished = run_attn(parted(shown.command));
      CHECK(finished.code == 0);
      CHECK(difference(shown.output, finished.out, Tolerance::last_digit) == "");
      ++commands;
    }
  }
  CHECK(commands >= 2);
}

TEST_CASE("a document that shows something else is noticed") {
  const std::vector<Shown> shown =
      shown_in("text\n```console\n$ attn softmax --scores '1 1'\nwrong\n```\nmore\n");
  REQUIRE(shown.size() == 1);
  CHECK(parted(shown[0].command) == Words{"softmax", "--scores", "1 1"});
  CHECK(difference(shown[0].output, run_attn(parted(shown[0].command)).out, Tolerance::last_digit) != "");
}
