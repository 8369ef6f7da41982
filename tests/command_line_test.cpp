#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

#include "apart/apart_options.hpp"
#include "command/command.hpp"
#include "commands_tried.hpp"
#include "data/files/json.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/npz.hpp"
#include "data/problem/model_words.hpp"
#include "page/render/format.hpp"
#include "process.hpp"

using namespace attn;

namespace {

// The words that a command needs to run on the default example.
Words least_words(const Command& command) {
  Words words = {std::string(command.name)};
  if (command.name == "explain") words.push_back("weights[1,2]");
  if (command.name == "what-if") words.insert(words.end(), {"--without", "scale"});
  if (command.name == "diff") words.insert(words.end(), {"walk", "walk"});
  if (command.name == "assert") words.push_back("row_sums(weights) = 1");
  if (command.name == "break") words.push_back("wrong-axis");
  if (command.name == "completion") words.push_back("bash");
  if (command.name == "convert") words.insert(words.end(), {"1 2; 3 4", "-"});
  if (command.name == "show" || command.name == "check") words.push_back(ATTN_SOURCE_FOLDER "/tests/golden/walk.npz");
  if (command.name == "docs") words.insert(words.end(), {"check", ATTN_SOURCE_FOLDER "/README.md"});
  // The default example has one head and no output projection.
  if (command.name == "heads" || command.name == "concat") words.insert(words.end(), {"--example", "animal"});
  return words;
}

std::string succeed(const Words& words) {
  const ProcessResult finished = run_attn(words);
  CHECK_MESSAGE(finished.code == 0, command_line(words) << "\n" << finished.errors);
  CHECK_MESSAGE(finished.errors == "", command_line(words));
  CHECK_MESSAGE(finished.out != "", command_line(words));
  return finished.out;
}

void succeed_silently(const Words& words) {
  const ProcessResult finished = run_attn(words);
  CHECK_MESSAGE(finished.code == 0, command_line(words) << "\n" << finished.errors);
  CHECK_MESSAGE(finished.out + finished.errors == "", command_line(words));
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> names_in_npz(const Words& words) {
  return npz_names(succeed(words + Words{"--format", "npz"}), "npz");
}

// Every matrix of the page, read back by the program itself from what it wrote.
void check_reads_back(const Words& words, std::string_view format) {
  const TemporaryFolder folder;
  const std::string ending = "." + std::string(format);
  const std::string written = folder.write("page" + ending, succeed(words + Words{"--format", std::string(format)}));
  const std::string all = folder.write("page.npz", succeed(words + Words{"--format", "npz"}));
  const std::vector<std::string> names = npz_names(bytes_of(all), all);
  for (const std::string& name : names) {
    const std::string source = names.size() > 1 ? written + ":" + name : written;
    CHECK_MESSAGE(read_matrix(source).matrix == read_matrix(all + ":" + name).matrix, command_line(words)
                                                                                          << ": " << name);
  }
  Words convert = {"convert", written, folder.path("last.npy")};
  if (names.size() > 1) convert = convert + Words{"--key", names.back()};
  succeed_silently(convert);
  CHECK(read_matrix(folder.path("last.npy")).matrix == read_matrix(all + ":" + names.back()).matrix);
}

}  // namespace

TEST_CASE("every command of the table runs with nothing to complain of") {
  for (const Command& command : commands()) succeed(least_words(command));
}

TEST_CASE("every command has a help that begins with its examples") {
  for (const Command& command : commands()) {
    const std::string name(command.name), help = succeed({"help", name});
    CHECK(help == succeed({name, "--help"}));
    const std::string short_help = succeed({name, "-h"});
    CHECK(short_help.find("attn help " + name) != std::string::npos);
    CHECK(short_help.size() < help.size());
    CHECK_MESSAGE(short_help.starts_with("  attn " + name), short_help);
    CHECK_MESSAGE(help.starts_with("  attn " + name), help);
    for (const OfferedOption& row : command.own.options) {
      CHECK(help.find(row.option->name) != std::string::npos);
      CHECK(short_help.find(row.option->name) != std::string::npos);
    }
  }
}

TEST_CASE("no words, --help and help give the short help, which has two examples and names every command on 40 lines") {
  const std::string help = succeed({});
  CHECK(help == succeed({"--help"}));
  CHECK(help == succeed({"-h"}));
  CHECK(help == succeed({"help"}));
  CHECK(help.find("  attn walk\n") != std::string::npos);
  CHECK(help.find("  attn explain") != std::string::npos);
  const std::string narrow = succeed({"help", "--width", "80"}), whole = succeed({"help", "commands"});
  CHECK(std::ranges::count(narrow, '\n') <= 40);
  std::string in_one_line = help;
  std::ranges::replace(in_one_line, '\n', ' ');
  for (const Command& command : commands()) {
    const bool is_told = command.caller == Caller::people;
    CAPTURE(command.name);
    CHECK((command.subject != nullptr) == is_told);
    CHECK((in_one_line.find(" " + std::string(command.name) + " ") != std::string::npos) == is_told);
    CHECK((whole.find("\n  " + std::string(command.name) + " ") != std::string::npos) == is_told);
  }
  for (const Subject* subject : subjects) {
    CHECK_FALSE(commands_on(*subject).empty());
    CHECK(help.find("  " + std::string(subject->title) + " ") != std::string::npos);
    CHECK(whole.find(std::string(subject->title) + "\n") != std::string::npos);
  }
}

TEST_CASE("every example walks in every format") {
  for (const Example& example : examples()) {
    for (const Format& format : formats()) {
      if (format.name == "npy" || format.parts) continue;  // these write one matrix, or one drawing
      succeed({"walk", "--example", std::string(example.name), "--format", std::string(format.name)});
    }
  }
}

TEST_CASE("the JSON of every command is JSON with a schema, and a converted matrix is nested lists") {
  for (const Command& command : commands()) {
    if (command.shown_as == &option::page) continue;  // it has a format of its own
    const Json json = Json::parse(succeed(least_words(command) + Words{"--format", "json"}), nullptr, false);
    REQUIRE_MESSAGE(!json.is_discarded(), command.name);
    if (command.name == "convert") {
      CHECK(json == Json::parse("[[1,2],[3,4]]"));
    } else {
      CHECK_MESSAGE(json.value("schema", "") == "attn/1", command.name);
      CHECK_MESSAGE(!json["page"].empty(), command.name);
    }
  }
}

TEST_CASE("what is written as CSV, TSV, JSON or NPZ is read back by convert, number for number") {
  for (const Command& command : commands()) {
    if (!command.takes_problem() || command.shown_as == &option::page) continue;
    for (const std::string_view format : {"csv", "tsv", "json", "npz"}) {
      // The rows of a comparison say what differs where, those of laws which holds, those of failures what there is,
      // and those of a change what moved.
      const bool has_rows = command.shown_as == &option::against || command.shown_as == &option::assertion ||
                            command.shown_as == &option::broken || command.shown_as == &option::what_if;
      const bool is_table = has_rows && (format == "csv" || format == "tsv");
      if (!is_table) check_reads_back(least_words(command), format);
    }
  }
}

TEST_CASE("the JSON of a walk holds its matrices by name") {
  const Json arrays = Json::parse(succeed({"walk", "--format", "json"}))["arrays"];
  CHECK(arrays["scores"] == Json::parse("[[112,96],[88,80]]"));
  CHECK(arrays["scaled"] == Json::parse("[[14,12],[11,10]]"));
}

TEST_CASE("markdown tables have as many cells in every row") {
  for (const Command& command : commands()) {
    if (command.shown_as == &option::page) continue;
    const std::string text = succeed(least_words(command) + Words{"--format", "markdown"});
    std::ptrdiff_t bars = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      const std::string line = text.substr(begin, end - begin);
      if (!line.starts_with('|')) {
        bars = 0;
      } else {
        if (bars == 0) bars = std::ranges::count(line, '|');
        CHECK_MESSAGE(std::ranges::count(line, '|') == bars, line);
      }
      begin = end + 1;
    }
  }
}

TEST_CASE("an npy holds one matrix: one that --only chooses, or none") {
  const TemporaryFolder folder;
  const std::string path = folder.write("w.npy", succeed({"walk", "--only", "scores", "--format", "npy"}));
  CHECK(read_matrix(path).matrix == read_matrix("112 96; 88 80").matrix);
  CHECK(run_attn({"walk", "--format", "npy"}).code == 2);
  for (const std::string_view format : {"npy", "npz"}) {
    for (const std::string_view command : {"help", "examples"}) {
      const ProcessResult finished = run_attn({std::string(command), "--format", std::string(format)});
      CHECK(finished.code == 2);
      CHECK(finished.out == "");
    }
  }
}

TEST_CASE("the matrices of one head bear the documents' names") {
  const std::vector<std::string> names = names_in_npz({"walk"});
  for (const char* name :
       {"x", "w_q", "w_k", "w_v", "q", "k", "v", "scores", "scaled", "masked", "weights", "output"}) {
    CHECK_MESSAGE(has(names, name), name);
  }
  CHECK(names_in_npz({"softmax"}) == std::vector<std::string>{"weights"});
  CHECK(names_in_npz({"project"}) == std::vector<std::string>{"q", "k", "v"});
}

TEST_CASE("the matrices of several heads bear the head's number before the name") {
  const std::vector<std::string> names = names_in_npz({"walk", "--example", "animal"});
  for (const char* head : {"head.1.", "head.2."}) {
    for (const char* leaf : {"q", "k", "v", "scores", "scaled", "masked", "weights", "output"}) {
      CHECK_MESSAGE(has(names, std::string(head) + leaf), head << leaf);
    }
  }
  CHECK(has(names, "concat"));
  CHECK(has(names, "output"));
  CHECK_FALSE(has(names, "weights"));
}

TEST_CASE("a head's parts are told in the order q, k, v") {
  std::vector<std::string> names = names_in_npz({"heads", "--example", "animal", "--only", "head.1.*"});
  names.resize(3);
  CHECK(names == std::vector<std::string>{"head.1.q", "head.1.k", "head.1.v"});
}

TEST_CASE("lists in a CSV are parted by an empty line, as matrices are") {
  CHECK(succeed({"help", "--format", "csv"}).find("\n\n\"subject\",\"commands\"\n") != std::string::npos);
}

TEST_CASE("a page without matrices has a CSV only where it has a list") {
  CHECK(succeed({"examples", "--format", "csv"}).starts_with("\"name\",\"kind\",\"title\",\"summary\",\"commands\"\n"));
  const ProcessResult finished = run_attn({"examples", "animal", "--format", "csv"});
  CHECK_MESSAGE((finished.out != "" || finished.code == 2), "nothing was written, and nobody was told");
}
