#include <doctest/doctest.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "commands_tried.hpp"
#include "data/files/matrix_file.hpp"
#include "data/problem/model_file.hpp"
#include "school/training/task.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

// A training that takes no time.
Words few_steps(const Words& more) { return Words{"train", "sort", "--batch", "4", "--every", "2"} + more; }

std::string cells_after(const std::string& model) {
  return accepted({"encoder", "--model", model, "--text", "d a c b a b", "--only", "*.weights", "--format", "csv"}).out;
}

}  // namespace

TEST_CASE("attn train alone lists the tasks") {
  const std::string page = accepted({"train"}).out;
  for (const Task& task : tasks()) {
    CHECK_MESSAGE(page.find(task.name) != std::string::npos, task.name);
  }
  check_has(page, "attn train NAME");
}

TEST_CASE("a page on training tells the loss beside that of guessing and what the heads do") {
  const std::string page = in_one_line(accepted(few_steps({"--steps", "4"})).out);
  for (const std::string_view part :
       {"Training: sort", "The model", "The curve", "Trained to step 4 of 4", "(guessing: 1.3863)", "ln 4 = 1.3863",
        "step 2", "What the heads do", "encoder.1.self_attention, head 1", "The rules are tried in this order",
        "One sentence", "should come out", "What to try next", "add --save FILE.safetensors"})
    check_has(page, part);
  CHECK(in_one_line(accepted(few_steps({"--steps", "4"})).out) == page);
}

TEST_CASE("a page on training states the goal of the task and says whether this run reached it") {
  const std::string page = in_one_line(accepted(few_steps({"--steps", "2"})).out);
  check_has(page, "The goal of the task: at least 98 % of the held-out words that count are right. At step 2, ");
  check_has(page, "are: the goal is not reached.");
  const Words enough = {"train",  "reverse", "--steps",   "150", "--batch",   "8",
                        "--rate", "0.01",    "--warm-up", "20",  "--section", "The curve"};
  check_has(in_one_line(accepted(enough).out), "At step 150, 3,200 of 3,200 are: the goal is reached.");
  check_has(in_one_line(accepted({"train", "names", "--steps", "2", "--section", "The curve"}).out),
            "The task states no goal.");
}

TEST_CASE("the curve and the heads are matrices of the page") {
  const std::string curve = accepted(few_steps({"--steps", "4", "--only", "curve", "--format", "csv"})).out;
  check_has(curve, "\"loss\",\"held out\",\"guessing\"");
  check_has(curve, "\"step 4\",");
  const Json all = parse_json(accepted(few_steps({"--steps", "2", "--format", "json"})).out, "page");
  CHECK(all["arrays"].contains("curve"));
  CHECK(all["arrays"].contains("heads"));
}

TEST_CASE("a state that goes on gives the same bytes as training without a stop") {
  const TemporaryFolder folder;
  const std::string whole = folder.path("whole.safetensors"), part = folder.path("part.safetensors");
  accepted(few_steps({"--steps", "6", "--save", whole}));
  accepted(few_steps({"--steps", "6", "--save", part, "--save-steps", "0,4"}));
  CHECK(read_bytes(part) == read_bytes(whole));
  const std::string at_4 = folder.path("part-4.safetensors");
  CHECK(std::filesystem::exists(folder.path("part-0.safetensors")));
  accepted({"train", "--resume", at_4, "--save", at_4});
  CHECK(read_bytes(at_4) == read_bytes(whole));
}

TEST_CASE("commands that run models read every state and every model that was saved") {
  const TemporaryFolder folder;
  const std::string state = folder.path("s.safetensors"), model = folder.path("m.safetensors");
  accepted(few_steps({"--steps", "3", "--save", state, "--save-steps", "0", "--save-model", model}));
  CHECK(cells_after(state) != cells_after(folder.path("s-0.safetensors")));
  check_has(accepted({"walk", "--model", state, "--text", "b a c d"}).out, "encoder.2.self_attention");
  check_has(accepted({"map", "--model", model}).out, "encoder.1.self_attention");
  CHECK(read_bytes(model).size() < read_bytes(state).size() / 4);
}

TEST_CASE("the same sentence is compared at several steps") {
  const std::string page =
      in_one_line(accepted(few_steps({"--compare", "0,2,3", "--steps", "3", "--text", "d a c b a b"})).out);
  check_has(page, "The same sentence at several steps");
  check_has(page, "Goes in: d a c b a b");
  for (const std::string_view step : {"step 0", "step 2", "step 3"}) check_has(page, step);
}

TEST_CASE("a training on pairs of one's own learns from a file") {
  const TemporaryFolder folder;
  std::string pairs = "# numbers\n";
  for (const char* line : {"one\tun", "two\tdeux", "three\ttrois", "one two\tun deux", "two one\tdeux un",
                           "two three\tdeux trois", "three one\ttrois un", "three two\ttrois deux"})
    pairs += std::string(line) + "\n";
  const std::string path = folder.write("pairs.txt", pairs), state = folder.path("mine.safetensors");
  accepted({"train", "pairs", "--pairs", path, "--steps", "2", "--batch", "2", "--save", state});
  check_has(accepted({"generate", "--model", state, "--text", "one three"}).out, "Written");
}

TEST_CASE("two architectures of like size are trained on the same sentences and compared at equal effort") {
  const std::shared_ptr<Graph> graph =
      computation_of("attn train dates --beside transformer --steps 9 --every 9 --batch 2 --d-model 16");
  const Matrix& of_step = graph->at("of_step").matrix();
  CHECK(std::fabs(of_step(0, 0) - of_step(1, 0)) < 0.2 * of_step(0, 0));
  const auto check_rows = [&](std::string_view name, double first, double second) {
    const Node& table = graph->at(name);
    const Matrix& rows = table.matrix();
    const double all = 9.0 * std::min(first, second);
    for (std::size_t i = 0; i < 4; ++i) {
      const double effort = std::floor(all * static_cast<double>(i + 1) / 4.0);
      CHECK(rows(i, 0) == std::floor(effort / first));
      CHECK(rows(i, 2) == std::floor(effort / second));
    }
    return Matrix(rows);
  };
  const Matrix by_steps = check_rows("equal_steps", 1.0, 1.0);
  const Matrix by_products = check_rows("equal_multiply_adds", of_step(0, 1), of_step(1, 1));
  const Matrix by_sequence = check_rows("equal_sequential", of_step(0, 2), of_step(1, 2));
  // The same training has the same loss at the same step, whatever it is compared by.
  CHECK(by_steps(3, 1) == graph->at("curve").matrix()(1, 1));
  for (const Matrix* const rows : {&by_products, &by_sequence}) {
    for (const std::size_t side : {0U, 2U}) {
      if ((*rows)(3, side) == 9.0) CHECK((*rows)(3, side + 1) == by_steps(3, side + 1));
    }
  }
  refuses({"train", "sort", "--beside", "transformer"}, "does not write one sentence from another");
  refuses({"train", "dates", "--beside", "recurrent"}, "is recurrent itself");
  refuses({"train", "dates", "--beside", "gru"}, "Choose one of: recurrent, transformer");
  const TemporaryFolder folder;
  const std::string pairs = folder.write("p.txt", "a b\tc d\nb c\td e\nc a\te c\n");
  check_has(accepted({"train", "pairs", "--pairs", pairs, "--beside", "recurrent", "--steps", "4", "--batch", "2"}).out,
            "A recurrent encoder-decoder: cell gru, attention bahdanau");
}

TEST_CASE("an interrupt saves what was learned and stops") {
  const TemporaryFolder folder;
  const std::string state = folder.path("s.safetensors");
  constexpr unsigned half_a_second = 500'000;
  const ProcessResult finished =
      run_attn_and_signal({"train", "sort", "--steps", "1000000", "--save", state}, half_a_second, SIGINT);
  CHECK(finished.code == 0);
  CHECK(std::filesystem::exists(state));
  accepted({"walk", "--model", state});
}

TEST_CASE("what cannot be trained is refused in one sentence") {
  const TemporaryFolder folder;
  const std::string state = folder.path("s.safetensors");
  accepted(few_steps({"--steps", "2", "--save", state}));
  refuses({"train", "revers"}, "unknown task 'revers' (did you mean 'reverse'?)");
  refuses(few_steps({"--steps", "0"}), "--steps");
  refuses(few_steps({"--rate", "fast"}), "--rate");
  refuses(few_steps({"--rate", "-1"}), "--rate");
  refuses(few_steps({"--smoothing", "1"}), "--smoothing");
  refuses(few_steps({"--schedule", "cosine"}), "Choose one of: constant, linear, paper");
  refuses(few_steps({"--heads", "5"}), "5");
  refuses({"train", "dates", "--layers", "3"}, "without layers and heads");
  refuses(few_steps({"--watch", "--head", "zzz"}), "--head zzz");
  refuses(few_steps({"--text", "a b x"}), "unknown word 'x'");
  refuses(few_steps({"--save", folder.path("s.json")}), "must end in .safetensors");
  refuses(few_steps({"--save-steps", "1"}), "--save-steps needs --save FILE");
  refuses(few_steps({"--steps", "2", "--compare", "3"}), "there are only 2 steps");
  refuses(few_steps({"--pairs", folder.write("p.txt", "a\tb\n")}), "use attn train pairs");
  refuses({"train", "--seed", "2"}, "needs a task");
  refuses({"train", "pairs"}, "give --pairs FILE");
  refuses({"train", "pairs", "--pairs", folder.write("one.txt", "a\tb\nc\n")}, "one.txt");
  refuses({"train", "pairs", "--pairs", folder.write("empty.txt", "\n")}, "empty.txt");
  refuses({"train", "pairs", "--pairs", folder.write("side.txt", "a\t\n")}, "side.txt");
  refuses({"train", "--resume", state}, "all of its 2 steps are made: give more --steps");
  refuses({"train", "reverse", "--resume", state}, "it is a state of the task sort");
  refuses({"train", "--resume", state, "--steps", "4", "--seed", "2"}, "--seed");
  refuses({"train", "--resume", state, "--steps", "4", "--compare", "1"}, "is at step 2 already");
  refuses({"train", "--resume", folder.write("d.safetensors", read_bytes(state).substr(0, 3000)), "--steps", "4"},
          "d.safetensors");
  refuses({"train", "--resume", folder.write("t.txt", "hello")}, "t.txt");
}

TEST_CASE("what cannot be saved is told before the first step and loses no earlier state") {
  const TemporaryFolder folder;
  const ProcessResult finished =
      run_attn(few_steps({"--steps", "1000000", "--save", folder.write("file", "") + "/s.safetensors"}));
  CHECK(finished.code == 1);
  check_has(finished.errors, "could not be written");
  const std::string state = folder.path("s.safetensors");
  accepted(few_steps({"--steps", "2", "--save", state}));
  const std::string before = read_bytes(state);
  Surroundings no_room;
  no_room.shell = "ulimit -f 8";
  const ProcessResult full = run_attn({"train", "--resume", state, "--steps", "4", "--save", state}, no_room);
  CHECK(full.code == 1);
  CHECK(read_bytes(state) == before);
}

TEST_CASE("no two files of a training are written over each other or over what it reads") {
  const TemporaryFolder folder;
  const std::string state = folder.path("s.safetensors"), pairs = folder.path("p-2.safetensors");
  std::ofstream(pairs) << "a b\tb a\nc a\ta c\nb c\tc b\nd a\ta d\n";
  const std::string overwritten = "would be overwritten by what ";
  refuses(few_steps({"--save", state, "--save-model", state}), overwritten + "--save-model writes");
  refuses(few_steps({"--save", state, "-o", state}), overwritten + "--save writes");
  refuses(
      {"train", "pairs", "--pairs", pairs, "--steps", "4", "--save", folder.path("p.safetensors"), "--save-steps", "2"},
      overwritten + "--save-steps writes");
  CHECK_FALSE(std::filesystem::exists(state));
  accepted(few_steps({"--steps", "2", "--save", state}));
  refuses({"train", "--resume", state, "--steps", "4", "--save-model", state}, overwritten);
}

TEST_CASE("a text whose answer nobody knows shows none") {
  const Words few = {"train", "dates", "--steps", "1", "--batch", "2"};
  check_has(accepted(few).out, "should come out");
  const std::string page = accepted(few + Words{"--text", "the third of may twenty twenty four"}).out;
  CHECK(page.find("\n  should come out") == std::string::npos);
  check_has(page, "comes out");
}

TEST_CASE("names are not counted as whole sentences") {
  const std::string page = in_one_line(accepted({"train", "names", "--steps", "1"}).out);
  check_has(page, "At step 1: held-out loss");
  CHECK(page.find("sentences right") == std::string::npos);
}

TEST_CASE("a sentence has <start> once") {
  for (const char* text : {"m a r i a", "<start> m a r i a"}) {
    const std::string page = accepted({"generate", "--model", "names", "--target", text}).out;
    check_has(page, "Given: <start> m a r i a");
    const Json walked =
        parse_json(accepted({"walk", "--model", "names", "--text", text, "--format", "json"}).out, "page");
    CHECK(walked["arrays"]["x"].size() == 6);
  }
  check_has(accepted({"generate", "--model", "names"}).out, "Given: <start> m a r i a");
  check_has(accepted({"generate", "--model", "names", "--target", "<start>"}).out, "Given: <start>\n");
  refuses({"walk", "--model", "names", "--heads", "2"}, "the model names has 4 heads");
}

TEST_CASE("every trained model in the box says how it was trained") {
  std::size_t count = 0;
  for (const ModelExample& example : compiled_in_models()) {
    if (!is_trained(example)) continue;
    ++count;
    const std::string page = in_one_line(accepted({"examples", std::string(example.name)}).out);
    check_has(page, "Trained with attn train");
  }
  CHECK(count >= 5);
}

TEST_CASE("a walk through a model shows the attention of the layer that is named") {
  const Words sentence = {"--text", "The cat didn't cross the road because it was too tired"};
  const Json walked = parse_json(
      accepted(Words{"walk", "--model", "coreference", "--layer", "1", "--format", "json"} + sentence).out, "page");
  const Json whole =
      parse_json(accepted(Words{"encoder", "--model", "coreference", "--format", "json"} + sentence).out, "page");
  for (const char* head : {"head.1", "head.2"}) {
    const Json& one = walked["arrays"][std::string(head) + ".weights"];
    const Json& other = whole["arrays"]["encoder.1.self_attention." + std::string(head) + ".weights"];
    REQUIRE(one.size() == 11);
    for (std::size_t i = 0; i < one.size(); ++i) {
      for (std::size_t j = 0; j < one.size(); ++j)
        CHECK(one[i][j].get<double>() == doctest::Approx(other[i][j].get<double>()).epsilon(1e-12));
    }
  }
  refuses({"walk", "--model", "coreference", "--layer", "3"},
          "unknown layer '3'. Choose one of: encoder.1.self_attention, encoder.2.self_attention");
  refuses({"walk", "--model", "coreference", "--text", "The cet was tired"}, "did you mean 'cat'?");
  refuses({"walk", "--model", "dates"}, "dates is a recurrent encoder-decoder: use attn align");
  refuses({"walk", "--layer", "1"}, "--layer belongs to --model NAME: give both");
  refuses({"walk", "--model", "reverse", "--x", "1 2"}, "--model");
}
