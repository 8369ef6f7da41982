#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>

#include "command/command.hpp"
#include "command/options.hpp"
#include "commands_tried.hpp"
#include "data/files/json.hpp"
#include "data/files/matrix_file.hpp"
#include "process.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

std::string said(const Words& words) { return accepted(words).out; }

std::string refusal(const Words& words) {
  const ProcessResult finished = run_attn(words);
  CHECK_MESSAGE(finished.code == 2, command_line(words));
  CHECK(finished.out == "");
  return finished.errors;
}

// Whether its page is narrowed by --only and --explain, and needs no file.
bool shows_matrices(const Command& command) {
  return std::ranges::find(command.groups, &matrix_options()) != command.groups.end();
}

// Of a command that shows matrices on the default example, or on one that has what it needs.
Words words_of(const Command& command) {
  Words words = {std::string(command.name)};
  if (command.name == "heads" || command.name == "concat") words.insert(words.end(), {"--example", "animal"});
  if (command.name == "errata") words.emplace_back("E10");
  return words;
}

// The names of the matrices in a page.
std::vector<std::string> names_in(const std::string& page) {
  const Json json = Json::parse(page);
  std::vector<std::string> names;
  for (const auto& [name, cells] : json["arrays"].items()) names.push_back(name);
  return names;
}

}  // namespace

TEST_CASE("an option is offered once, with a line of help, and its members and names are its own") {
  for (const Command& command : commands()) {
    std::set<std::string_view> names, members;
    for (const OfferedOption& row : options_of(command)) {
      CHECK_MESSAGE(names.insert(row.option->name).second, command.name << " " << row.option->name);
      CHECK_MESSAGE(!row.summary.empty(), command.name << " " << row.option->name);
      CHECK_MESSAGE(row.option->placeholder.empty() == (row.option->kind == Kind::flag), row.option->name);
      if (row.option->member.empty()) continue;
      CHECK_MESSAGE(members.insert(row.option->member).second, command.name << " " << row.option->member);
    }
  }
}

TEST_CASE("what excludes or needs an option is offered with it, or in another command") {
  std::set<const Option*> all;
  for (const Command& command : commands()) {
    for (const OfferedOption& row : options_of(command)) all.insert(row.option);
  }
  for (const OptionGroup* group : {&problem_options(), &model_options(), &matrix_options()}) {
    for (const Exclusion& row : group->exclusions) CHECK((all.contains(row.one) && all.contains(row.other)));
    for (const Requirement& row : group->needs) CHECK(all.contains(row.one));
  }
}

TEST_CASE("help is shown whatever else is wrong, and a wrong format is named before a missing file") {
  CHECK(said({"walk", "--scores", "missing.csv", "--help"}) == said({"help", "walk"}));
  CHECK(said({"encoder", "--heads", "none", "--no-such-option", "-h"}) == said({"encoder", "-h"}));
  CHECK(has(refusal({"softmax", "--scores", "missing.csv", "--format", "nonsense"}), "unknown format"));
  CHECK(has(refusal({"walk", "--heads", "0", "--format", "nonsense"}), "unknown format"));
}

TEST_CASE("--only chooses alike in every command that shows matrices") {
  std::size_t tried = 0;
  for (const Command& command : commands()) {
    if (!shows_matrices(command)) continue;
    const Words words = words_of(command);
    const std::vector<std::string> names = names_in(said(words + Words{"--format", "json"}));
    REQUIRE_MESSAGE(!names.empty(), command.name);
    const std::string &first = names.front(), &last = names.back();
    const Words json = {"--format", "json"};
    CHECK(names_in(said(words + Words{"--only", last} + json)) == std::vector{last});
    const std::string both = said(words + Words{"--only", first + "|" + last} + json);
    CHECK_MESSAGE(names_in(both) == names_in(said(words + Words{"--only", first, "--only", last} + json)),
                  command.name);
    CHECK(has(refusal(words + Words{"--only", "no_such_matrix"}), "unknown matrix 'no_such_matrix'"));
    CHECK(has(refusal(words + Words{"--only", last, "--explain", last + "[1,1]"}), "both given"));
    ++tried;
  }
  CHECK(tried > 20);
}

TEST_CASE("--explain explains a cell in every command that shows matrices") {
  for (const Command& command : commands()) {
    if (!shows_matrices(command)) continue;
    const Words words = words_of(command);
    const std::string last = names_in(said(words + Words{"--format", "json"})).back();
    const std::string text = said(words + Words{"--explain", last + "[1,1]", "--depth", "1"});
    CHECK_MESSAGE(text.starts_with(last + "[1,1]"), command.name << "\n" << text);
  }
  CHECK(said({"walk", "--explain", "weights[1,2]", "--depth", "2"}) ==
        said({"explain", "weights[1,2]", "--depth", "2"}));
}

TEST_CASE("what is written for a single matrix never advises an option that the command lacks") {
  const TemporaryFolder folder;
  for (const Command& command : commands()) {
    if (!shows_matrices(command)) continue;
    const ProcessResult finished = run_attn(words_of(command) + Words{"-o", folder.path("x.npy")});
    CHECK_MESSAGE((finished.code == 0 || has(finished.errors, "--only")), command.name);
  }
  CHECK(run_attn({"layer-norm", "--only", "output", "-o", folder.path("y.npy")}).code == 0);
  CHECK(run_attn({"positions", "--only", "positions", "-o", folder.path("z.npy")}).code == 0);
}

TEST_CASE("a pattern that matches no matrix of the page names one of the computation") {
  CHECK(has(said({"mask", "--causal", "--only", "mask"}), "mask"));
  CHECK(names_in(said({"softmax", "--only", "q", "--format", "json"})) == std::vector<std::string>{"q"});
}

TEST_CASE("the page of a model or an alignment is computed again from what it says was asked for") {
  const TemporaryFolder folder;
  for (const Words& words : {Words{"encoder", "--text", "a cat", "--d-model", "6", "--seed", "3", "--norm", "pre"},
                             Words{"decoder", "--kind", "decoder-only", "--x", "1 2 3 4; 0 1 0 1"},
                             Words{"transformer", "--source", "the cat", "--target", "die Katze", "--heads", "1"},
                             Words{"generate", "--example", "copy", "--text", "b a", "--steps", "2", "--sample"},
                             Words{"align", "--variant", "luong"},
                             Words{"align", "--text", "one two", "--hidden", "3", "--cell", "gru", "--seed", "2"}}) {
    const std::string page = said(words + Words{"--format", "json"});
    const std::string path = folder.write("page.json", page);
    CHECK_MESSAGE(said({words.front(), "--problem", path, "--format", "json"}) == page, command_line(words));
  }
  const std::string named = folder.write("named.json", R"({"parameters": "encoder.npz"})");
  CHECK(has(refusal({"encoder", "--problem", named}), "may not name other files: give --parameters"));
}

TEST_CASE("every mask of a model is read back as it was given, and false means the opposite flag") {
  const TemporaryFolder folder;
  const auto matrices = [&](const Words& words) {
    return Json::parse(said(words + Words{"--format", "json"}))["arrays"];
  };
  const Words decoder = {"decoder", "--source", "a b c", "--target", "d"};
  for (const char* mask : {"0.0 1.0 1.0", "0 1 1", "-0 1 1"}) {
    for (const Words& words :
         {decoder + Words{"--memory-mask", mask}, Words{"encoder", "--source", "a b c", "--mask", mask},
          Words{"transformer", "--source", "a", "--target", "d e", "--target-mask", mask}}) {
      const std::string path = folder.write("page.json", said(words + Words{"--format", "json"}));
      CHECK_MESSAGE(matrices({words.front(), "--problem", path}) == matrices(words), command_line(words));
    }
  }
  const std::string open = folder.write("open.json", R"({"causal": false})");
  CHECK(matrices({"decoder", "--problem", open}) == matrices({"decoder", "--not-causal"}));
  CHECK(matrices({"encoder", "--problem",
                  folder.write("copy.json", said({"encoder", "--model", "copy", "--format", "json"}))}) ==
        matrices({"encoder", "--model", "copy"}));
}

TEST_CASE("--text and --x give the words and vectors of the side that a model begins with") {
  CHECK(said({"encoder", "--text", "a cat"}) == said({"encoder", "--source", "a cat"}));
  CHECK(said({"decoder", "--text", "a cat"}) == said({"decoder", "--target", "a cat"}));
  CHECK(said({"align", "--text", "la maison"}) == said({"align", "--source", "la maison"}));
  const Words lone = {"decoder", "--kind", "decoder-only"};
  CHECK(said(lone + Words{"--x", "1 2 3 4"}) == said(lone + Words{"--target-x", "1 2 3 4"}));
  CHECK(has(refusal({"encoder", "--text", "a", "--source", "b"}),
            "--text and --source are both given: give one of them"));
  CHECK(has(refusal({"encoder", "--text", "a", "--text", "b"}), "--text is given 2 times: give it once"));
}

TEST_CASE("a capital letter does not hide which option was meant") {
  CHECK(has(refusal({"walk", "--Q", "1 2"}), "did you mean '--q'?"));
  CHECK(has(refusal({"walk", "--Only", "q"}), "did you mean '--only'?"));
}

TEST_CASE("layer normalization and feed-forward layers take their own parameters from a file") {
  const TemporaryFolder folder;
  const std::string norm = folder.write("norm.json", R"({"norm1.weight": [[2, 1]], "norm1.bias": [[0, 3]]})");
  const Words x = {"--x", "1 2; 5 3", "--format", "json"};
  const Words by_hand = Words{"layer-norm", "--gamma", "2 1", "--beta", "0 3"} + x;
  CHECK(said(Words{"layer-norm", "--parameters", norm, "--prefix", "norm1"} + x) == said(by_hand));
  CHECK(has(refusal(Words{"layer-norm", "--parameters", norm} + x), "has no weight, as an nn.LayerNorm has"));
  CHECK(has(refusal({"layer-norm", "--x", "1 2", "--gamma", "1 1", "--parameters", norm, "--prefix", "norm1"}),
            "--gamma is given too"));
  const std::string layer = folder.write("layer.json",
                                         R"({"linear1.weight": [[1, 0], [0, 1], [1, 1]], "linear1.bias": [[0, 0, 1]],
          "linear2.weight": [[1, 0, 0], [0, 1, 2]], "linear2.bias": [[1, 1]]})");
  CHECK(
      said(Words{"feed-forward", "--parameters", layer} + x) ==
      said(Words{"feed-forward", "--w1", "1 0 1; 0 1 1", "--b1", "0 0 1", "--w2", "1 0; 0 1; 0 2", "--b2", "1 1"} + x));
}

TEST_CASE("the labels of rows and columns can be left out in CSV") {
  CHECK(has(said({"walk", "--only", "weights", "--format", "csv"}), "\"Thinking\""));
  const std::string bare = said({"walk", "--only", "scores", "--format", "csv", "--no-labels"});
  CHECK(bare == "112,96\n88,80\n");
}
