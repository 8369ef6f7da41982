// What may come next in a command line, as `attn complete` tells shells. tests/about/ tries the shells
// themselves.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "command/about/completion.hpp"
#include "command/about/help.hpp"
#include "process.hpp"

using namespace attn;

namespace {

Candidates after(const Words& typed) {
  const Environment environment{.variable = [](const char*) { return std::nullopt; }};
  return candidates(typed, environment);
}

std::set<std::string> words_after(const Words& typed) {
  std::set<std::string> words;
  for (const Candidate& candidate : after(typed).words) words.insert(candidate.word);
  return words;
}

using Set = std::set<std::string>;

}  // namespace

TEST_CASE("every command that people type is completed, and no other") {
  const Set words = words_after({""});
  for (const Command& command : commands())
    CHECK_MESSAGE(words.contains(std::string(command.name)) == (command.caller == Caller::people), command.name);
  CHECK(words.size() + 2 == commands().size());  // complete and manual
}

TEST_CASE("every option of every command is completed, and so are all of its choices") {
  std::size_t choices = 0;
  for (const Command& command : commands()) {
    const std::string name(command.name);
    const Set options = words_after({name, "--"});
    for (const OfferedOption& row : options_of(command)) {
      const std::string option(row.option->name);
      if (option.starts_with("--")) CHECK_MESSAGE(options.contains(option), name << " " << option);
      if (row.option->kind == Kind::flag || !row.choices) continue;
      const Set values = words_after({name, option, ""}), joined = words_after({name, option + "="});
      for (const OptionChoice& choice : row.choices()) {
        CHECK_MESSAGE(values.contains(std::string(choice.name)), name << " " << option);
        CHECK_MESSAGE(joined.contains(option + "=" + std::string(choice.name)), name << " " << option);
        ++choices;
      }
    }
  }
  CHECK(choices > 500);
}

TEST_CASE("what the help of an option lists as its choices is accepted by the command") {
  for (const auto& [line, option] : {std::pair{Words{"transformer"}, option::size},
                                     {Words{"transformer"}, option::kind},
                                     {Words{"decoder"}, option::kind},
                                     {Words{"walk"}, option::color},
                                     {Words{"walk"}, option::theme},
                                     {Words{"align"}, option::example},
                                     {Words{"parameters"}, option::example},
                                     {Words{"errata"}, option::only}}) {
    Words typed = line;
    typed.insert(typed.end(), {std::string(option.name), ""});
    for (const std::string& word : words_after(typed)) {
      typed.back() = word;
      Words outlined = typed;
      if (line.front() == "transformer" || line.front() == "decoder") outlined.emplace_back("--outline");
      CHECK_MESSAGE(run_attn(outlined).code == 0, command_line(outlined));
    }
  }
}

TEST_CASE("an option that is given or excluded is not completed again") {
  const Set words = words_after({"walk", "--causal", "--scores", "1 2", "--"});
  CHECK_FALSE(words.contains("--causal"));
  CHECK_FALSE(words.contains("--weights"));
  CHECK(words.contains("--only"));
  CHECK(words_after({"walk", "--only", "weights", "--on"}) == Set{"--only"});
}

TEST_CASE("matrices are completed by the names that the command would show") {
  CHECK(words_after({"walk", "--only", "sca"}) == Set{"scaled"});
  CHECK(words_after({"walk", "--example", "animal", "--format", "csv", "--only", "head.2.w"}) == Set{"head.2.weights"});
  CHECK(words_after({"softmax", "--scores", "1 2", "--only", "weights|sco"}) == Set{"weights|scores"});
  CHECK(words_after({"align", "--only", "decoder.2.wei"}) == Set{"decoder.2.weights"});
  CHECK(words_after({"walk", "--outline", "--only", "sca"}) == Set{"scaled"});
}

TEST_CASE("a cell is completed by its matrix, its row and its column") {
  CHECK(words_after({"explain", "s"}) == Set{"scaled[", "scores["});
  CHECK(after({"explain", "s"}).unfinished);
  CHECK(words_after({"explain", "--depth", "3", "weights["}) == Set{"weights[Thinking,", "weights[Machines,"});
  CHECK(after({"explain", "weights["}).unfinished);
  CHECK(words_after({"explain", "weights[Thinking,M"}) == Set{"weights[Thinking,Machines]"});
  CHECK_FALSE(after({"explain", "weights[Thinking,M"}).unfinished);
  CHECK(words_after({"explain", "--q", "1 0", "--k", "1 0; 2 0", "scores[1,"}) == Set{"scores[1,1]", "scores[1,2]"});
}

TEST_CASE("what is the only one is taken for typed, so that the next part follows") {
  CHECK(words_after({"explain", "wei"}) == Set{"weights[Thinking,", "weights[Machines,"});
  CHECK(words_after({"explain", "weights[Ma"}) == Set{"weights[Machines,Thinking]", "weights[Machines,Machines]"});
  CHECK(words_after({"explain", "--scores", "1 2", "wei"}) == Set{"weights[1,1]", "weights[1,2]"});
}

TEST_CASE("a word that stands twice among the labels is told by its number") {
  CHECK(words_after({"explain", "--text", "the cat the", "weights["}) ==
        Set{"weights[1,", "weights[cat,", "weights[3,"});
}

TEST_CASE("files are completed where an option or a word takes one") {
  CHECK(after({"walk", "--x", ""}).files);
  CHECK(after({"show", ""}).files);
  CHECK(after({"docs", "check", "README.md", ""}).files);
  CHECK(after({"lesson", "run", ""}).files);
  CHECK(words_after({"lesson", "run", "soft"}) == Set{"soft-lookup", "softmax-and-scaling", "softmax-gradient"});
  CHECK_FALSE(after({"walk", "--heads", ""}).files);
  CHECK_FALSE(after({"walk", ""}).files);
}

TEST_CASE("actions are completed, and then what each of them takes") {
  CHECK(words_after({"docs", ""}) == Set{"check", "clean", "hook", "update"});
  CHECK(words_after({"lesson", "re"}) == Set{"reset", "review"});
  CHECK(words_after({"lesson", "list", ""}).contains("--format"));  // nothing more is expected but options
}

TEST_CASE("nothing is completed where something is wrong, and standard input is left to others") {
  CHECK(words_after({"nothing", ""}).empty());
  CHECK(words_after({"walk", "--example", "nothing", "--only", ""}).empty());
  CHECK(words_after({"walk", "--x", "missing.npy", "--only", ""}).empty());
  CHECK(words_after({"walk", "--x", "-", "--only", ""}).empty());
  CHECK(words_after({"walk", "--causal="}).empty());
  CHECK(words_after({"walk", "--", "--"}).empty());
}

TEST_CASE("shells get a line of hints, and then a word and what it is in each line") {
  const ProcessResult finished = run_attn({"complete", "--", "lesson", "run", "cau"});
  CHECK(finished.code == 0);
  CHECK(finished.out == ": files\ncausal-mask\n");
  CHECK(run_attn({"complete", "--", "explain", "s"}).out == ": unfinished\nscores[\nscaled[\n");
  CHECK(run_attn({"complete", "--", "walk", "--form"}).out == ":\n--format one of the formats listed below\n");
}
