#include <doctest/doctest.h>

#include <functional>

#include "command/command.hpp"
#include "commands_tried.hpp"
#include "page/document/document.hpp"

// Sentences that depend on what a computation is, each in the cases that decide what it says.

using namespace attn;

namespace {

std::string said(const Words& words) { return in_one_line(accepted(words).out); }

bool needs_a_file(const Words& words) {
  for (const std::string_view ending : {".csv", ".npy", ".npz", ".json", ".safetensors", ".md", ".html"}) {
    for (const std::string& word : words) {
      if (word.find(ending) != std::string::npos) return true;
    }
  }
  return false;
}

// Runs the examples that the help of some commands shows, and returns how many there were.
std::size_t run_examples(const std::function<bool(const Command&)>& is_meant) {
  std::size_t tried = 0;
  for (const Command& command : commands()) {
    if (!is_meant(command)) continue;
    for (const std::string_view example : command.examples) {
      for (const CommandLine& line : command_lines(example, std::string(command.name), 1)) {
        if (needs_a_file(line.words) || line.text.find("--measure") != std::string::npos) continue;
        CHECK_MESSAGE(run_attn(line.words).code == 0, line.text);
        ++tried;
      }
    }
  }
  return tried;
}

}  // namespace

TEST_CASE("every example of the commands' help that needs no file is accepted") {
  const auto is_quick = [](const Command& command) {
    // Lessons and documents ask, and write files.
    return command.name != "lesson" && command.name != "docs" && command.name != "train";
  };
  CHECK(run_examples(is_quick) > 50);
}

TEST_CASE("every example of the help on training that needs no file is accepted") {
  CHECK(run_examples([](const Command& command) { return command.name == "train"; }) > 1);
}

TEST_CASE("nothing is said to attend most where all keys are masked or several show the same weight") {
  check_lacks(said({"walk", "--text", "<blank>"}), "attends most");
  check_lacks(said({"softmax", "--scores", "0 0.001; 1 1"}), "attends most");
  check_has(said({"softmax", "--scores", "0 0.1"}), "attends most to key 2 (52");
}

TEST_CASE("the average of heads hides something only where heads prefer different keys") {
  check_has(said({"softmax", "--example", "animal", "--from", "it"}), "The average does not show");
  check_lacks(said({"softmax", "--example", "animal", "--from", "The"}), "The average does not show");
  check_lacks(said({"softmax", "--text", "<blank> b", "--causal", "--heads", "2", "--from", "1"}),
              "The average does not show");
  check_has(said({"softmax", "--example", "animal", "--from", "8"}), "Attention weights from \"it\"");
}

TEST_CASE("a position bias is headed as what it is, alone and with a mask") {
  const Words bias = {"walk", "--text", "a b", "--positions", "relative-bias"};
  check_has(said(bias), "4. Relative position bias Relative position bias:");
  const std::string both = said(bias + Words{"--causal"});
  check_has(both, "4. Relative position bias and mask");
  check_has(both, "Masked scores are replaced by −∞");
  check_has(said({"mask", "--scores", "1 2", "--mask", "1 1"}), "no score is replaced");
}

TEST_CASE("one averaging of stacked layers is one section, the last") {
  const std::string walk = said({"walk", "--example", "two-layers"});
  check_has(walk, "13. One averaging (averaging)");
  check_lacks(walk, "14. ");
}

TEST_CASE("an explanation says whether a number was given, is random or follows from a mask") {
  check_has(said({"explain", "x[1,1]", "--text", "a b"}), "x is random (seed 1), not computed");
  check_has(said({"explain", "q[1,1]", "--q", "1", "--k", "1"}), "q is given, not computed");
  check_has(said({"transformer", "--seed", "3", "--explain", "encoder.1.self_attention.w_q[1,1]"}),
            "w_q is random (seed 3), not computed");
  const Words mask = {"explain", "mask[1,1]", "--scores", "1 2; 3 4"};
  check_has(said(mask + Words{"--causal", "--valid-length", "2"}),
            "mask follows from --causal and --valid-length, not computed");
  check_has(said(mask + Words{"--mask", "1 0; 1 1"}), "mask is given, not computed");
}

TEST_CASE("equal words of a memory have equal random vectors, and padding has zeros") {
  const Json page =
      parse_json(accepted({"walk", "--text", "x", "--memory-text", "a b a <blank>", "--format", "json"}).out, "page");
  const Json memory = page["arrays"]["memory"];
  CHECK(memory[0] == memory[2]);
  CHECK(memory[0] != memory[1]);
  for (const Json& cell : memory[3]) CHECK(cell == 0);
}

TEST_CASE("masked cells of transposed weights and of the alignment of a generation are shown as masked") {
  check_has(said({"softmax", "--scores", "1 2; 3 4", "--causal", "--transpose"}), "· masked");
  const std::string generated = said({"generate", "--model", "copy", "--source", "a <blank> b"});
  check_has(generated, "· masked");
  check_lacks(generated, "copies its input");
  check_has(said({"generate", "--model", "copy", "--source", "a b"}), "copies its input");
  check_has(accepted({"generate", "--seed", "1", "--source", "<blank>"}).errors, "every key");
}

TEST_CASE("a kernel that is not searched is said to be replaced") {
  const Words cost = {"cost", "--n", "5", "--d", "8", "--kernel"};
  check_has(said(cost + Words{"9"}), "(The kernel 9 is replaced by 8.)");
  check_has(said(cost + Words{"1"}), "(The kernel 1 is replaced by 2.)");
  check_lacks(said(cost + Words{"3"}), "is replaced by");
}

TEST_CASE("the steps of a word are numbered one after another, whatever is computed") {
  for (const Words& input : {Words{"--scores", "1 2", "--v", "1; 2"}, Words{"--score", "gaussian"}, Words{}}) {
    const std::string walk = said(Words{"walk", "--by-word", "1"} + input);
    std::size_t at = 0, step = 0;
    while ((at = walk.find("Step ", at)) != std::string::npos) {
      check_has(walk.substr(at), "Step " + std::to_string(++step) + ".");
      CHECK(walk.compare(at, 6, "Step " + std::to_string(step)) == 0);
      ++at;
    }
    CHECK(step >= 3);
  }
}

TEST_CASE("a division by something else than the usual divisor is named") {
  check_has(said({"scale", "--q", "1 2", "--k", "1 2; 3 4", "--scale", "sqrt-n"}),
            "Here the scores are divided by √n, with n = 2 keys.");
  check_lacks(said({"scale", "--q", "1 2", "--k", "1 2; 3 4"}), "Here the scores are divided");
}

TEST_CASE("an explanation keeps two decimals at least") {
  check_has(said({"explain", "weights[1,2]", "--precision", "0"}), "0.14 / 1.14 ≈ 0.12");
}
