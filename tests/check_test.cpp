#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "command/app.hpp"
#include "commands_tried.hpp"
#include "core/support/error.hpp"
#include "data/files/matrix_file.hpp"
#include "golden.hpp"
#include "page/document/document.hpp"
#include "process.hpp"
#include "school/check/findings.hpp"
#include "school/check/matching.hpp"
#include "school/mistake/mistake.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

using Named = std::vector<std::pair<std::string, Matrix>>;

void write_file(const std::string& path, const Named& matrices) {
  std::vector<NamedMatrix> all;
  for (const auto& [name, matrix] : matrices) all.push_back({name, &matrix});
  std::string bytes;
  Sink sink([&](std::string_view piece) { bytes += piece; });
  write_npz(all, sink);
  sink.flush();
  std::ofstream(path, std::ios::binary) << bytes;
}

// What a command computes, by name.
Named computed(const Graph& graph) {
  Named all;
  for (const Node* node : graph.named()) {
    if (node->op) all.emplace_back(node->name, node->matrix());
  }
  return all;
}

// The inputs of a walk, by name.
Named inputs_of(const Graph& graph) {
  Named all;
  for (const char* name : {"x", "w_q", "w_k", "w_v"}) all.emplace_back(name, graph.at(name).matrix());
  return all;
}

// The inputs of a walk and what it computes, by name.
Named walked(const Graph& graph) {
  Named all = inputs_of(graph);
  std::ranges::move(computed(graph), std::back_inserter(all));
  return all;
}

// What a command computes, by somebody who makes a mistake; nothing where it cannot be made, or changes nothing.
Named mistaken(const Graph& graph, const Mistake& mistake) {
  try {
    Rewriting again(graph, mistake);
    Named all;
    bool changes = false;
    for (const Node* node : graph.named()) {
      if (!node->op) continue;
      changes = changes || again.changes(*node);
      all.emplace_back(node->name, again.of(*node).matrix());
    }
    return changes ? all : Named();
  } catch (const InputError&) {
    return {};
  }
}

// What is found in numbers of somebody else.
Findings found_in(Graph& graph, const Named& numbers) {
  std::vector<MatrixFile> files;
  for (const auto& [name, matrix] : numbers)
    files.push_back({.matrix = matrix, .precision = Precision::float64, .name = name});
  return find_mistakes(graph, match_matrices(graph, files).compared);
}

bool is_found(const Findings& findings, const Mistake& mistake) {
  return std::ranges::any_of(findings.all, [&](const Finding& finding) {
    return std::ranges::find(finding.mistakes, &mistake) != finding.mistakes.end();
  });
}

std::string checked(const std::string& path, const Words& line, Verdict expected) {
  const AnswerInFormat answer = attn::answer(Words{"check", path} + line, bare_environment());
  const std::string text = written(answer);
  CHECK_MESSAGE(answer.verdict == expected, text);
  return in_one_line(text);
}

bool looks_different(const Named& one, const Named& other) {
  return !std::ranges::equal(one, other, [](const auto& a, const auto& b) {
    return difference(a.second, b.second, rounding_of(a.second, Precision::float64, largest_of(b.second))).agrees();
  });
}

Matrix product_of(const Matrix& a, const Matrix& b) {
  Matrix c({a.shape().rows, b.shape().columns});
  for (std::size_t i = 0; i < c.shape().rows; ++i) {
    for (std::size_t j = 0; j < c.shape().columns; ++j) {
      for (std::size_t k = 0; k < a.shape().columns; ++k) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

Matrix columns_of(const Matrix& all, std::size_t from, std::size_t count) {
  Matrix some({all.shape().rows, count});
  for (std::size_t i = 0; i < all.shape().rows; ++i)
    std::ranges::copy(row(all, i).subspan(from, count), row(some, i).begin());
  return some;
}

// Three sizes: one small head, several heads with masks and no square matrix, and models; and computations
// that have what these have not.
const std::vector<std::string> one_head = {
    "attn walk --example thinking-machines",
    "attn walk --text 'a b c' --memory-text 'd e f g' --d-model 4 --score gaussian --seed 3",
    "attn walk --text 'a b c d' --d-model 4 --score additive --seed 3",
    "attn walk --text 'a b c' --d-model 4 --score gaussian --score-sigma 0.5 --seed 3",
    "attn walk --text 'a b c' --d-model 4 --score bilinear --seed 3",
    "attn walk --text 'a b c' --text 'd e' --d-model 4 --seed 3",
    "attn walk --text 'a b c' --d-model 4 --mask '0 0 0; 1 1 0; 1 0 1' --seed 3",
    "attn walk --text 'a b c d' --d-model 4 --mask '1 0 0 0; 1 1 0 0; 0 1 1 0; 0 0 1 1' --seed 3",
    "attn walk --text 'a b c' --d-model 4 --score cosine --seed 3",
    "attn walk --text 'a b c' --text 'd e f' --d-model 4 --seed 3",
    "attn walk --text 'a b c' --memory-text 'd e f g' --d-model 4 --causal --seed 3",
    "attn walk --text 'a b c' --d-model 2 --bq '1 2' --bk '2 1' --bv '3 1' --wo '1 2; 0 1' --bo '1 4'"
    " --d-ff 3 --b1 '1 -2 3' --b2 '2 5' --seed 3",
};

const std::vector<std::string> heads_and_positions = {
    "attn walk --text 'a b c d e' --d-model 6 --heads 2 --d-k 4 --causal --valid-length 4"
    " --positions sinusoidal --seed 3",
    "attn walk --text 'a b c d' --d-model 4 --positions relative-bias --d-ff 6 --layers 2 --seed 3",
    "attn walk --example thinking-machines --backward",
    "attn walk --text 'a b c' --d-model 4 --heads 2 --soft-cap 2 --seed 3",
    "attn walk --q '1 2 3 4; 0 1 0 2; 1 0 2 1' --k '2 1 0 1; 1 1 3 0; 0 1 1 2'"
    " --v '1 2 3 4; 5 7 6 9; 0 8 4 2' --heads 2",
    "attn walk --text 'a b c' --text 'd e' --d-model 4 --heads 2 --seed 3",
    "attn walk --text 'a b c d e' --d-model 8 --positions sinusoidal --seed 3",
    "attn walk --text 'a b c d e' --d-model 8 --heads 2 --positions rotary --seed 3",
    "attn walk --text 'a b c d' --d-model 4 --positions relative-vectors --seed 3",
    "attn walk --text 'a b c' --text 'd e' --text 'f g' --d-model 4 --heads 2 --seed 3",
};

const std::vector<std::string> encoders = {
    "attn transformer --source 'a b c <blank>' --target 'b c a' --layers 1 --seed 3",
    "attn encoder --source 'a b c' --activation gelu-tanh --unscaled-embeddings --heads 4 --kv-heads 2"
    " --d-model 8 --layers 1 --seed 3",
    "attn encoder --source 'a b c' --activation silu --layers 1 --heads 1 --seed 3",
    "attn encoder --source 'a b c' --activation tanh --layers 1 --heads 1 --seed 3",
};

const std::vector<std::string> decoders = {
    "attn decoder --kind decoder-only --target 'a b c d' --positions rotary --activation gelu --norm pre"
    " --norm-kind rms --heads 2 --kv-heads 1 --layers 1 --seed 3",
    "attn decoder --kind decoder-only --target 'a b c <blank>' --activation tanh --layers 1 --heads 1"
    " --seed 3 --backward",
};

const std::vector<std::string> like_llama = {
    "attn decoder --kind decoder-only --target 'a b c d' --positions rotary-halves --gated --activation silu"
    " --norm pre --norm-kind rms --heads 2 --kv-heads 1 --d-model 16 --no-bias --layers 1 --seed 3",
    "attn decoder --kind decoder-only --target 'a b c d' --norm pre --norm-kind rms-plus-1 --layers 1 --seed 3",
};

// With parameters of its own.
const std::vector<std::string> trained = {"attn decoder --model course --target 'The'"};

const std::vector<std::string> others = {
    "attn layer-norm --x '1 2 4; 0 1 0; -3 5 2' --gamma '1 2 3' --beta '1 0 -1'",
    "attn align --source 'a b c' --target 'b c' --seed 3 --hidden 3 --cell gru",
    "attn generate --kind decoder-only --target 'a b c' --positions rotary --steps 3 --temperature 2"
    " --top-k 2 --layers 1 --seed 1",
    "attn align --source 'a b c' --target 'b c' --seed 3 --hidden 3 --variant scaled-dot",
    "attn align --source 'a b c' --target 'b c' --seed 3 --hidden 3 --variant luong",
};

bool has_no_number(const Named& theirs) {
  return std::ranges::any_of(theirs, [](const auto& one) {
    return std::ranges::any_of(cells(one.second), [](double x) { return std::isnan(x); });
  });
}

// Every mistake that can be made in the computations and changes their numbers is found in them.
void check_named(const std::vector<std::string>& lines) {
  const TemporaryFolder folder;
  const std::string path = folder.path("mine.npz");
  for (const std::string& line : lines) {
    const std::shared_ptr<Graph> graph = computation_of(line);
    const Named numbers = computed(*graph);
    const Findings of_right = found_in(*graph, numbers);
    CHECK(of_right.all.empty());
    std::size_t named = 0;
    for (const Mistake& mistake : mistakes()) {
      const Named theirs = mistaken(*graph, mistake);
      if (theirs.empty()) continue;
      CAPTURE(line);
      CAPTURE(mistake.name);
      if (looks_different(theirs, numbers)) {
        if (has_no_number(theirs) && !mistake.about_no_number) continue;  // NaN speaks for no name
        CHECK(is_found(found_in(*graph, theirs), mistake));
        // The command computes everything again: one file for each computation goes through it.
        if (named++ > 0) continue;
        write_file(path, theirs);
        const bool is_convention = mistake.kind == Mistake::Kind::convention;
        check_has(checked(path, command_lines(line, "test", 1).front().words, Verdict::failed),
                  fmt::format("- {}{}:", mistake.name, is_convention ? " (a convention)" : ""));
      } else {
        // A convention with the same numbers is nothing that could be hidden.
        const bool is_told = std::ranges::find(of_right.hidden, &mistake) != of_right.hidden.end();
        CHECK(is_told == (mistake.kind == Mistake::Kind::error));
      }
    }
    CHECK(named > 0);
  }
}

TEST_SUITE("attn check") {
  TEST_CASE("every mistake is named that can be made and seen in one head") { check_named(one_head); }

  TEST_CASE("every mistake is named that can be made and seen in several heads or with positions") {
    check_named(heads_and_positions);
  }

  TEST_CASE("every mistake is named that can be made and seen in an encoder") { check_named(encoders); }

  TEST_CASE("every mistake is named that can be made and seen in a decoder") { check_named(decoders); }

  TEST_CASE("every mistake is named that can be made and seen in layers like those of Llama") {
    check_named(like_llama);
  }

  TEST_CASE("every mistake is named that can be made and seen in a norm, an alignment or a generation") {
    check_named(others);
  }

  // The others do not show in these: a loss that only training has, biases of random models, which are 0,
  // or norms, which are all alike there. All of them are tried against loops.
  TEST_CASE("nineteen of twenty mistakes can be seen in some computation in which they are named") {
    std::set<std::string_view> seen;
    for (const auto* lines : {&one_head, &heads_and_positions, &encoders, &decoders, &like_llama, &trained, &others}) {
      for (const std::string& line : *lines) {
        const std::shared_ptr<Graph> graph = computation_of(line);
        const Named numbers = computed(*graph);
        for (const Mistake& mistake : mistakes()) {
          if (seen.contains(mistake.name)) continue;
          const Named theirs = mistaken(*graph, mistake);
          if (!theirs.empty() && looks_different(theirs, numbers)) seen.insert(mistake.name);
        }
      }
    }
    CHECK(20 * seen.size() >= 19 * mistakes().size());
  }

  TEST_CASE("names are read as people write them and numbers at the digits that are written") {
    const TemporaryFolder folder;
    const std::string text = folder.write("mine.json", R"({"attn": [[0.88, 0.12], [0.73, 0.27]], "foo": [[1]]})");
    const ProcessResult same = run_attn({"check", text, "--example", "thinking-machines"});
    CHECK(same.code == 0);
    check_has(same.out, "attn");
    check_has(in_one_line(same.out), "foo: the computation has no matrix of this name.");
    check_has(same.out, "to 2 decimals");
    const std::string wrong = folder.write("attn.csv", "0.88,0.12\n0.60,0.40\n");
    const ProcessResult differs = run_attn({"check", wrong, "--example", "thinking-machines"});
    CHECK(differs.code == 1);
    check_has(in_one_line(differs.out), "2 of its 4 cells differ, in row 2.");
    check_has(differs.out, "Only the first row is right.");
  }

  TEST_CASE("a member with a name of the computation is never left out in silence") {
    const TemporaryFolder folder;
    const std::string qkv = R"({"q": [[1, 0], [0, 1]], "k": [[1, 0], [0, 1]], "v": [[1, 0], [0, 1]], )";
    const auto said_to = [&](const std::string& weights) {
      const ProcessResult finished = run_attn({"check", folder.write("a.json", qkv + weights + "}")});
      CHECK(finished.code == 2);
      return in_one_line(finished.errors);
    };
    check_has(said_to(R"("weights": [[null, null], [0, 1]])"), "a.json:weights: row 1, column 1 is null");
    check_has(said_to(R"("weights": [["0.5", "0.5"], [0, 1]])"), "is the text '0.5'");
    check_has(said_to(R"("weights": [])"), "a.json:weights is empty");
    check_has(said_to(R"("weights": 0.5)"), "a.json:weights is not an array");
    const ProcessResult beside =
        run_attn({"check", folder.write("a.json", qkv + R"("scores": [[1, 0], [0, 1]], "loss": 0.5, "by": "me"})")});
    CHECK(beside.code == 0);
    check_has(beside.out, "loss: it is no matrix of numbers.");
    CHECK(beside.out.find("by:") == std::string::npos);
  }

  TEST_CASE("heads are counted from 0 where one has this number") {
    const TemporaryFolder folder;
    const std::string qkv = R"({"q": [[1, 0], [0, 1]], "k": [[1, 0], [0, 1]], "v": [[1, 0], [0, 1]], )";
    const std::string first = "[[0.7310585786300049, 0.2689414213699951], [0.5, 0.5]]",
                      second = "[[0.5, 0.5], [0.2689414213699951, 0.7310585786300049]]";
    for (const std::string name : {"head{}_attn", "head.{}.weights", "weights[{}]", "weights{}"}) {
      CAPTURE(name);
      for (const std::size_t from : {0U, 1U}) {
        const std::string one = fmt::format(fmt::runtime(name), from), two = fmt::format(fmt::runtime(name), from + 1);
        const ProcessResult same = run_attn(
            {"check", folder.write("a.json", qkv + fmt::format(R"("{}": {}, "{}": {}}})", one, first, two, second)),
             "--heads", "2"});
        CHECK(same.code == 0);
        check_has(same.out, "All 5 matrices agree");
      }
    }
  }

  TEST_CASE("heads are counted from 1 where the last one has its number") {
    const TemporaryFolder folder;
    const ProcessResult same = run_attn(
        {"check", folder.write("a.json", R"({"q": [[1, 0], [0, 1]], "k": [[1, 0], [0, 1]], "v": [[1, 0], [0, 1]],
                                    "x_0": [[1, 0], [0, 1]],
                                    "head.1.weights": [[0.7310585786300049, 0.2689414213699951], [0.5, 0.5]],
                                    "head.2.weights": [[0.5, 0.5], [0.2689414213699951, 0.7310585786300049]]})"),
         "--heads", "2"});
    CHECK(same.code == 0);
    check_has(same.out, "All 5 matrices agree");
  }

  TEST_CASE("queries and keys stand for themselves where nothing makes them of words") {
    const TemporaryFolder folder;
    const std::string mine =
        folder.write("a.json",
                     R"({"x": [[1, 2], [3, 5]], "q": [[1, 0], [0, 1]], "k": [[1, 0], [0, 1]], "v": [[1, 0], [0, 1]],
                      "scores": [[1, 0], [0, 1]]})");
    CHECK(run_attn({"check", mine}).code == 0);
    const std::string norm = folder.write(
        "b.json", R"({"x": [[1, 3], [3, 7]], "q": [[1, 0], [0, 1]], "k": [[1, 0], [0, 1]], "mean": [[2], [5]]})");
    CHECK(run_attn({"check", norm, "layer-norm"}).code == 0);
  }

  TEST_CASE("numbers that are not finite are told as such") {
    const TemporaryFolder folder;
    const ProcessResult finished =
        run_attn({"check", folder.write("a.json", R"({"scores": [["-Infinity", "-Infinity"], [0, 1]],
                                    "weights": [["NaN", "NaN"], [0.2689414213699951, 0.7310585786300049]]})")});
    CHECK(finished.code == 0);  // by agreement: 0 divided by 0 where all keys are masked
    check_has(in_one_line(finished.out), "Numbers that are not finite differ, such as at weights[1,1]");
    CHECK(finished.out.find("as without the mask") == std::string::npos);
    CHECK(finished.out.find("∞ at") == std::string::npos);
  }

  TEST_CASE("heads may be stacked or averaged and a batch may be of one") {
    const TemporaryFolder folder;
    const Words example = {"--q", "1 2; 0 1", "--k", "2 1; 1 1", "--v", "1 2; 5 7", "--heads", "2", "--scale", "none"};
    // The scores of head 1 are 2 1; 0 0, and those of head 2 are 2 2; 1 1.
    const std::string stacked = folder.write("a.json", R"({"scores": [[[[2, 1], [0, 0]], [[2, 2], [1, 1]]]]})");
    CHECK(run_attn(Words{"check", stacked} + example).code == 0);
    const std::string average = folder.write("b.json", R"({"weights": [[0.6155, 0.3845], [0.5, 0.5]]})");
    const ProcessResult averaged = run_attn(Words{"check", average} + example);
    CHECK(averaged.code == 0);
    check_has(averaged.out, "average_weights");
    const std::string one = folder.write("c.json", R"({"scores": [[[2, 1], [0, 0]], [[2, 2], [1, 3]]]})");
    const ProcessResult differs = run_attn(Words{"check", one} + example);
    CHECK(differs.code == 1);
    check_has(differs.out, "It is right in head 1, and differs in head 2.");
  }

  TEST_CASE("a matrix that may be several is the one that a mistake explains") {
    const TemporaryFolder folder;
    const std::string qk = R"({"Q": [[1, 2], [0, 1]], "K": [[2, 1], [1, 1]], "V": [[1, 2], [5, 7]], )";
    // Scaled by 2 in the place of √2: q kᵀ is 4 3; 1 1.
    const ProcessResult scaled =
        run_attn({"check", folder.write("a.json", qk + R"("logits": [[2, 1.5], [0.5, 0.5]]})")});
    CHECK(scaled.code == 1);
    check_has(scaled.out, "- scale-squared:");
    // What is concatenated and what is projected are two matrices.
    const std::string two = folder.write(
        "b.json", qk + R"("Wo": [[1, 1], [0, 2]], "context": [[4, 4.5], [3, 5.5]], "out": [[9, 9], [9, 9]]})");
    const ProcessResult both = run_attn({"check", two, "--scale", "none", "--heads", "2", "--format", "csv"});
    CHECK(both.code == 1);
    check_has(both.out, R"("concat","context","2 2",)");
    check_has(both.out, R"("output","out","2 2",)");
  }

  TEST_CASE("a right matrix that was not used is told and so is a mistake together with a convention") {
    const TemporaryFolder folder;
    const std::string qk = R"({"Q": [[2, 0], [0, 2]], "K": [[1, 0], [0, 1]], "V": [[1, 2], [5, 7]], )";
    // The scaled scores are right, and the weights are those of 2 0; 0 2.
    const ProcessResult unused =
        run_attn({"check", folder.write("a.json", qk + R"("scaled": [[1.4142136, 0], [0, 1.4142136]],
                                                 "weights": [[0.8808, 0.1192], [0.1192, 0.8808]]})")});
    CHECK(unused.code == 1);
    check_has(unused.out, "- not-scaled:");
    check_has(in_one_line(unused.out), "scaled is right in the file. So weights was not computed from it there.");
    // The mask is reversed, and the last row is all masked: a large negative number makes its weights equal.
    const ProcessResult both =
        run_attn({"check", folder.write("b.json", qk + R"("weights": [[0, 1], [0.5, 0.5]]})"), "--causal"});
    CHECK(both.code == 1);
    check_has(in_one_line(both.out), "together with a convention");
    check_has(both.out, "- mask-reversed");
    check_has(both.out, "- equal-where-all-masked");
  }

  TEST_CASE("a matrix that a fingerprint identifies is not said to be unexplained") {
    const TemporaryFolder folder;
    const ProcessResult turned =
        run_attn({"check", folder.write("a.json", R"({"weights": [[0.8808, 0.7311], [0.1192, 0.2689]]})"), "--example",
                  "thinking-machines"});
    CHECK(turned.code == 1);
    check_has(turned.out, "It is the transpose of the right matrix.");
    CHECK(turned.out.find("No mistake") == std::string::npos);
    CHECK(turned.out.find("columns sum to 1") == std::string::npos);
  }

  TEST_CASE("a name is what it says although the numbers are those of another matrix") {
    const TemporaryFolder folder;
    const ProcessResult unprojected = run_attn(
        {"check", folder.write("a.json", R"({"Q": [[1, 2], [0, 1]], "K": [[2, 1], [1, 1]], "V": [[1, 1], [1, 1]],
                                    "Wo": [[1, 1], [0, 2]], "output": [[1, 1], [1, 1]]})"),
         "--heads", "2"});
    CHECK(unprojected.code == 1);
    check_has(unprojected.out, "- output-not-projected:");
  }

  TEST_CASE("names that count layers are read from 0 and from 1") {
    const TemporaryFolder folder;
    const std::string parameters = folder.path("p.npz"), trace = folder.path("t.npz");
    const Words model = {"encoder", "--d-model", "4", "--heads", "2", "--layers", "2", "--text", "1 2 3"};
    REQUIRE(run_attn(model + Words{"--seed", "1", "--save-parameters", parameters, "-o", trace}).code == 0);
    const auto of = [&](const std::string& name) { return read_matrix(trace + ":" + name).matrix; };
    for (const auto& [prefix, stacks] :
         {std::pair<std::string, std::string>{"layers.", "0 1"}, std::pair<std::string, std::string>{"block", "1 2"}}) {
      const std::string first_number = stacks.substr(0, 1), second_number = stacks.substr(2);
      const std::string path = folder.path("mine.npz");
      write_file(path, {{prefix + first_number + ".norm1", of("encoder.1.norm_1.output")},
                        {prefix + second_number + ".norm1", of("encoder.2.norm_1.output")},
                        {prefix + second_number + ".ffn", of("encoder.2.feed_forward.output")},
                        {prefix + second_number + ".attn_output", of("encoder.2.self_attention.output")}});
      const ProcessResult same =
          run_attn({"check", path, "encoder", "--parameters", parameters, "--heads", "2", "--text", "0 1 2"});
      CHECK(same.code == 0);
      check_has(same.out, "encoder.2.feed_forward.output");
    }
  }

  TEST_CASE("queries keys and values may be stacked by heads") {
    const TemporaryFolder folder;
    const std::string path =
        folder.write("a.json", R"({"q": [[[[1], [0]], [[2], [1]]]], "k": [[[[2], [1]], [[1], [1]]]],
      "v": [[[[1], [5]], [[2], [7]]]], "scores": [[[[2, 1], [0, 0]], [[2, 2], [1, 1]]]]})");
    const ProcessResult same = run_attn({"check", path});
    CHECK(same.code == 0);
    check_has(same.out, "head.2.scores");
  }

  TEST_CASE("parameters of PyTorch may stand beside what their module returned") {
    const TemporaryFolder folder;
    // Queries and keys are those of thinking-machines' kind: identity, and the output is the values.
    const auto file = [&](const std::string& weights) {
      return folder.write("mine.json",
                          R"({"in_proj_weight": [[1, 0], [0, 1], [1, 0], [0, 1], [2, 0], [0, 2]],
                              "in_proj_bias": [0, 0, 0, 0, 0, 0], "out_proj.weight": [[1, 0], [0, 1]],
                              "out_proj.bias": [0, 1], "x": [[1, 0], [0, 2]], "attn_output_weights": )" +
                              weights + "}");
    };
    // Scores 1 0; 0 4 of one head.
    const std::string one = file("[[0.6698, 0.3302], [0.0558, 0.9442]]");
    CHECK(run_attn({"check", one, "--heads", "1"}).code == 0);
    check_has(in_one_line(accepted({"check", one}).out), "with --heads 1, which neither the file nor the line says");
    // Head 1 has 1 0; 0 0, and head 2 has 0 0; 0 4.
    const std::string two = file("[[[[0.7311, 0.2689], [0.5, 0.5]], [[0.5, 0.5], [0.0180, 0.9820]]]]");
    const ProcessResult same = run_attn({"check", two});
    CHECK(same.code == 0);
    check_has(same.out, "All 3 matrices agree");
  }

  TEST_CASE("weights of linear layers of PyTorch agree under their own names") {
    const TemporaryFolder folder;
    const std::shared_ptr<Graph> graph =
        computation_of("attn walk --text 'a b c' --d-model 4 --d-k 3 --d-v 3 --seed 3");
    const auto number = [&](std::string_view name) { return graph->at(name).matrix(); };
    const std::string path = folder.path("mine.npz");
    const auto written = [&](const std::array<std::string, 3>& names, bool is_turned) {
      Named all = {{"x", number("x")}, {"attn_weights", number("weights")}, {"context_vec", number("output")}};
      for (std::size_t i = 0; i < names.size(); ++i) {
        const Matrix w = number(std::array{"w_q", "w_k", "w_v"}[i]);
        all.emplace_back(names[i], is_turned ? transposed(w) : w);
      }
      write_file(path, all);
    };
    using Three = std::array<std::string, 3>;
    for (const Three& names :
         {Three{"query.weight", "key.weight", "value.weight"},
          Three{"W_query.weight", "W_key.weight", "W_value.weight"},
          Three{"self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight"},
          Three{"attention.self.query.weight", "attention.self.key.weight", "attention.self.value.weight"},
          Three{"linears.0.weight", "linears.1.weight", "linears.2.weight"},
          Three{"W_q.weight", "W_k.weight", "W_v.weight"}}) {
      written(names, true);
      check_has(checked(path, {}, Verdict::passed), "are read as (out, in), as PyTorch stores the weight");
      written(names, false);  // somebody's own module: only so they fit
      check_has(checked(path, {}, Verdict::passed), "are read as (in, out), although PyTorch stores");
    }
    written({"Wq", "Wk", "Wv"}, true);
    check_has(checked(path, {}, Verdict::passed), "Wq, Wk and Wv are read as (out, in): only the transpose fits");
    written({"Wq", "Wk", "Wv"}, false);
    check_lacks(checked(path, {}, Verdict::passed), "(out, in)");
  }

  TEST_CASE("a square weight is what its name says") {
    const TemporaryFolder folder;
    const std::string x = R"({"x": [[1, 2], [0, 1]], "Wk": [[1, 0], [0, 1]], "Wv": [[1, 0], [0, 1]], )";
    CHECK(
        run_attn({"check", folder.write("a.json", x + R"("query.weight": [[1, 2], [3, 4]], "q": [[5, 11], [2, 4]]})")})
            .code == 0);
    CHECK(run_attn({"check", folder.write("b.json", x + R"("Wq": [[1, 2], [3, 4]], "q": [[7, 10], [3, 4]]})")}).code ==
          0);
    // A name that does not say the orientation is read as the file's own matrices agree, and one that does is not.
    const ProcessResult turned =
        run_attn({"check", folder.write("c.json", x + R"("Wq": [[1, 2], [3, 4]], "q": [[5, 11], [2, 4]]})")});
    CHECK(turned.code == 0);
    check_has(in_one_line(turned.out), "Wq is read as (out, in), which the file does not say.");
    for (const std::string name : {"query.weight", "q_proj_weight"}) {
      const std::string file = x + fmt::format(R"("{}": [[1, 2], [3, 4]], "q": [[7, 10], [3, 4]]}})", name);
      CHECK(run_attn({"check", folder.write("d.json", file)}).code == 1);
    }
  }

  TEST_CASE("a projection that was used otherwise than the others is no convention") {
    const TemporaryFolder folder;
    const std::shared_ptr<Graph> graph = computation_of("attn walk --text 'a b c' --d-model 4 --seed 3");
    const auto number = [&](std::string_view name) { return graph->at(name).matrix(); };
    const std::string path = folder.path("mine.npz");
    Named all = {{"x", number("x")}};
    for (const char* name : {"q", "k", "v", "scores", "weights", "output"}) all.emplace_back(name, number(name));
    const auto with = [&](const std::array<std::string, 3>& names, bool turns) {
      Named theirs = all;
      for (std::size_t i = 0; i < 3; ++i) {
        const Matrix w = number(std::array{"w_q", "w_k", "w_v"}[i]);
        theirs.emplace_back(names[i], turns ? transposed(w) : w);
      }
      return theirs;
    };
    using Three = std::array<std::string, 3>;
    for (const Three& names : {Three{"Wq", "Wk", "Wv"}, Three{"query_weight", "key_weight", "value_weight"},
                               Three{"W_query_weight", "W_key_weight", "W_value_weight"}}) {
      for (const bool turns : {false, true}) {
        write_file(path, with(names, turns));
        const std::string page = checked(path, {}, Verdict::passed);
        (turns ? check_has : check_lacks)(page, "read as (out, in), which the file");
        // The keys alone are not of this matrix.
        Named wrong = with(names, turns);
        for (auto& [name, matrix] : wrong) {
          if (name == "k") matrix = product_of(number("x"), transposed(number("w_k")));
        }
        write_file(path, wrong);
        check_has(checked(path, {}, Verdict::failed), "is k.");
        // With the right projections, what is wrong behind them is found.
        wrong = with(names, turns);
        for (auto& [name, matrix] : wrong) {
          if (name == "weights") matrix = transposed(matrix);
        }
        write_file(path, wrong);
        check_has(checked(path, {}, Verdict::failed), "is weights.");
      }
    }
  }

  TEST_CASE("beside an output layer of PyTorch the number of heads is supposed") {
    const TemporaryFolder folder;
    const std::string file = folder.write("a.json", R"({"x": [[1, 0], [0, 1]], "q_proj.weight": [[1, 0], [0, 1]],
        "k_proj.weight": [[1, 0], [0, 1]], "v_proj.weight": [[1, 0], [0, 1]], "out_proj.weight": [[1, 2], [0, 1]],
        "attn_output": [[0.7311, 0.5], [0.5, 0.7311]]})");
    check_has(in_one_line(accepted({"check", file}).out), "with --heads 2, which neither the file nor the line says");
    CHECK(run_attn({"check", file, "--heads", "2"}).code == 0);
  }

  TEST_CASE("modules of one head each are put side by side") {
    const TemporaryFolder folder;
    const std::string path = folder.path("mine.npz");
    const std::shared_ptr<Graph> graph =
        computation_of("attn walk --text 'a b c' --d-model 4 --heads 2 --causal --seed 3");
    const auto number = [&](std::string_view name) { return graph->at(name).matrix(); };
    const auto projections = [&](std::string_view name, bool turns) {
      Named all = {{"x", number("x")}};
      for (std::size_t head = 0; head < 2; ++head) {
        for (const auto& [theirs, ours] : {std::pair{"query", "w_q"}, {"key", "w_k"}, {"value", "w_v"}}) {
          const Matrix w = columns_of(number(ours), 2 * head, 2);
          all.emplace_back(fmt::format(fmt::runtime(name), head, theirs), turns ? transposed(w) : w);
        }
      }
      return all;
    };
    for (const auto& [each_name, turns] : {std::pair{"heads.{}.W_{}.weight", true},
                                           {"sa.heads.{}.{}.weight", true},
                                           {"{1}.{0}.weight", true},
                                           {"{1}_weight_{0}", false},
                                           {"W_{1}[{0}]", false},
                                           {"head_{}_W{}", false}}) {
      const std::string name = each_name;
      CAPTURE(name);
      Named all = projections(name, turns);
      all.emplace_back("heads.0.mask", matrix({{0, 1, 1}, {0, 0, 1}, {0, 0, 0}}));
      all.emplace_back("heads.1.mask", matrix({{0, 1, 1}, {0, 0, 1}, {0, 0, 0}}));
      all.emplace_back("concat", number("concat"));
      write_file(path, all);
      check_has(checked(path, {}, Verdict::passed), "The matrices of the 2 heads are put side by side");
      all.back().second = columns_of(number("concat"), 0, 4);
      std::swap(all.back().second(0, 0), all.back().second(0, 3));
      write_file(path, all);
      checked(path, {}, Verdict::failed);
      // With an output layer.
      all.back() = {"sa.proj.weight", transposed(number("w_o"))};
      all.emplace_back("out", number("output"));
      write_file(path, all);
      check_has(checked(path, {}, Verdict::passed), "sa.proj.weight");
      cells(all.back().second)[0] += 0.1;
      write_file(path, all);
      checked(path, {}, Verdict::failed);
    }
  }

  TEST_CASE("linear layers are read by what they make and by words for a linear layer") {
    const TemporaryFolder folder;
    const std::string path = folder.path("mine.npz");
    const std::shared_ptr<Graph> graph = computation_of("attn walk --text 'a b c' --d-model 4 --heads 2 --seed 3");
    const auto number = [&](std::string_view name) { return graph->at(name).matrix(); };
    using Four = std::array<std::string, 4>;
    for (const Four& names :
         {Four{"query_linear.weight", "key_linear.weight", "value_linear.weight", "output_linear.weight"},
          Four{"w_qs.weight", "w_ks.weight", "w_vs.weight", "fc.weight"},
          Four{"query_layer.weight", "key_layer.weight", "value_layer.weight", "output_layer.weight"},
          Four{"linear_layers.0.weight", "linear_layers.1.weight", "linear_layers.2.weight", "output_linear.weight"},
          Four{"W_query_weight", "W_key_weight", "W_value_weight", "W_out_weight"},
          Four{"q_proj_weight", "k_proj_weight", "v_proj_weight", "out_proj.weight"}}) {
      Named all = {{"x", number("x")}};
      for (std::size_t i = 0; i < 4; ++i)
        all.emplace_back(names[i], transposed(number(std::array{"w_q", "w_k", "w_v", "w_o"}[i])));
      all.emplace_back("output", number("output"));
      write_file(path, all);
      check_lacks(checked(path, {"--heads", "2"}, Verdict::passed), "Not compared");
      cells(all.back().second)[0] += 0.1;
      write_file(path, all);
      checked(path, {"--heads", "2"}, Verdict::failed);
    }
    // One that is not read may be why the output differs.
    Named all = {{"x", number("x")}, {"mixer.weight", number("w_o")}, {"output", number("output")}};
    for (const auto& [theirs, ours] : {std::pair{"Wq", "w_q"}, {"Wk", "w_k"}, {"Wv", "w_v"}})
      all.emplace_back(theirs, number(ours));
    write_file(path, all);
    check_has(checked(path, {"--heads", "2"}, Verdict::failed),
              "mixer.weight may be a parameter of the file and was not read");
    // timm packs the three.
    Matrix packed({12, 4});
    for (std::size_t i = 0; i < 12; ++i) {
      for (std::size_t j = 0; j < 4; ++j) packed(i, j) = number(std::array{"w_q", "w_k", "w_v"}[i / 4])(j, i % 4);
    }
    write_file(path, {{"x", number("x")},
                      {"qkv.weight", packed},
                      {"proj.weight", transposed(number("w_o"))},
                      {"output", number("output")}});
    checked(path, {"--heads", "2"}, Verdict::passed);
  }

  TEST_CASE("a mask is read by the names of buffers and with the numbers that the weights agree with") {
    const TemporaryFolder folder;
    const std::string path = folder.path("mine.npz");
    const std::shared_ptr<Graph> graph = computation_of("attn walk --text 'a b c' --d-model 4 --causal --seed 3");
    const auto number = [&](std::string_view name) { return graph->at(name).matrix(); };
    const Matrix lower = matrix({{1, 0, 0}, {1, 1, 0}, {1, 1, 1}}), upper = matrix({{0, 1, 1}, {0, 0, 1}, {0, 0, 0}}),
                 longer = matrix({{1, 0, 0, 0}, {1, 1, 0, 0}, {1, 1, 1, 0}, {1, 1, 1, 1}});
    const auto named = [&](const std::string& name, const Matrix& mask, const Matrix& weights) {
      Named all = {{"x", number("x")}, {name, mask}, {"weights", weights}};
      for (const auto& [theirs, ours] : {std::pair{"Wq", "w_q"}, {"Wk", "w_k"}, {"Wv", "w_v"}})
        all.emplace_back(theirs, number(ours));
      return all;
    };
    const Matrix unmasked = computation_of("attn walk --text 'a b c' --d-model 4 --seed 3")->at("weights").matrix();
    for (const auto& [each_name, mask] : {std::pair<std::string, Matrix>{"tril", lower},
                                          {"causal_mask", lower},
                                          {"bias", lower},
                                          {"attn.bias", longer},
                                          {"causal_mask", upper},
                                          {"attn_mask", upper},
                                          {"mask", longer}}) {
      const std::string name = each_name;
      CAPTURE(name);
      for (const Words& line : {Words{}, Words{"--causal"}}) {
        write_file(path, named(name, mask, number("weights")));
        const std::string page = checked(path, line, Verdict::passed);
        (mask == upper ? check_has : check_lacks)(page, "1 or true where a key is masked");
        write_file(path, named(name, mask, unmasked));
        checked(path, line, Verdict::failed);
      }
    }
    // Where a query would be left without keys, the numbers are not exchanged.
    Matrix reversed({3, 3});
    for (std::size_t j = 0; j < 3; ++j) {
      reversed(0, j) = j == 0 ? 0.0 : 0.5;
      reversed(1, j) = j < 2 ? 0.0 : 1.0;
      reversed(2, j) = 1.0 / 3.0;
    }
    write_file(path, named("mask", lower, reversed));
    check_lacks(checked(path, {}, Verdict::failed), "1 or true where a key is masked");
  }

  TEST_CASE("scores that are masked before they are scaled are a convention") {
    const TemporaryFolder folder;
    const std::string path = folder.path("mine.npz");
    const std::shared_ptr<Graph> graph = computation_of("attn walk --text 'a b c' --d-model 4 --causal --seed 3");
    const auto number = [&](std::string_view name) { return graph->at(name).matrix(); };
    Matrix masked = number("scores");
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = i + 1; j < 3; ++j) masked(i, j) = -std::numeric_limits<double>::infinity();
    }
    const Words line = {"--text", "a b c", "--d-model", "4", "--causal", "--seed", "3"};
    for (const char* name : {"masked", "attn_scores"}) {
      write_file(path, {{name, masked}, {"weights", number("weights")}, {"output", number("output")}});
      const std::string page = checked(path, line, Verdict::passed);
      check_has(page, "- masked-before-scaled (a convention):");
      check_lacks(page, "not-scaled");
      // If the weights are those of these scores, they were not scaled at all.
      write_file(path,
                 {{name, masked},
                  {"weights", computation_of("attn walk --text 'a b c' --d-model 4 --causal --scale none --seed 3")
                                  ->at("weights")
                                  .matrix()}});
      check_has(checked(path, line, Verdict::failed), "- not-scaled:");
    }
  }

  TEST_CASE("a mask value that no weight shows is a convention and no missing mask") {
    const TemporaryFolder folder;
    const std::string qkv = R"({"Q": [[2, 0], [0, 2]], "K": [[1, 0], [0, 1]], "V": [[1, 2], [5, 7]], )";
    const auto tried = [&](const std::string& value) {
      return run_attn({"check",
                       folder.write("a.json", qkv + fmt::format(R"("masked": [[1.4142135624, {}], [0, 1.4142135624]],
                                                               "weights": [[1.0, 0.0], [0.1955702, 0.8044298]]}})",
                                                                value)),
                       "--causal"});
    };
    CHECK(tried("-100").code == 0);
    check_lacks(tried("-100").out, "as without the mask");
    CHECK(tried("-10").code == 1);  // its weight is not 0
  }

  TEST_CASE("an output with the name of an attention is that of the attention") {
    const TemporaryFolder folder;
    const std::string parameters = folder.path("p.npz"), trace = folder.path("t.npz"), path = folder.path("mine.npz");
    const Words line = {"encoder", "--parameters", parameters, "--heads", "2", "--text", "0 1 2"};
    REQUIRE(run_attn({"encoder", "--d-model", "4", "--heads", "2", "--layers", "1", "--text", "1 2 3", "--seed", "1",
                      "--save-parameters", parameters, "-o", trace})
                .code == 0);
    const auto of = [&](const std::string& name) { return read_matrix(trace + ":" + name).matrix; };
    const Matrix right = of("encoder.1.self_attention.output");
    Matrix wrong = right;
    cells(wrong)[0] += 0.01;
    for (const char* name : {"attn_output", "attn_out", "attention_output"}) {
      write_file(path, {{name, right}, {"output", of("encoder.output")}});
      check_has(checked(path, line, Verdict::passed), "encoder.1.self_attention.output");
      write_file(path, {{name, wrong}, {"output", of("encoder.output")}});
      check_has(checked(path, line, Verdict::failed), "is encoder.1.self_attention.output.");
    }
    write_file(path, {{"add_norm1", of("encoder.1.norm_1.output")},
                      {"attention.output.LayerNorm", of("encoder.1.norm_1.output")},
                      {"self_attn_norm", of("encoder.1.norm_1.output")},
                      {"last_hidden_state", of("encoder.output")}});
    check_has(checked(path, line, Verdict::passed), "All 4 matrices agree");
  }

  TEST_CASE("what a model returns for each layer is that of the layer") {
    const TemporaryFolder folder;
    const std::string parameters = folder.path("p.npz"), trace = folder.path("t.npz");
    for (const std::string norm : {"post", "pre"}) {
      CAPTURE(norm);
      REQUIRE(run_attn({"encoder", "--d-model", "4", "--heads", "2", "--layers", "2", "--text", "1 2 3", "--seed", "1",
                        "--norm", norm, "--save-parameters", parameters, "-o", trace})
                  .code == 0);
      const auto numbers = [&](const std::string& name) {
        const Matrix matrix = read_matrix(trace + ":" + name).matrix;
        std::string rows;
        for (std::size_t i = 0; i < matrix.shape().rows; ++i)
          rows += fmt::format("{}[{}]", i > 0 ? ", " : "", fmt::join(row(matrix, i), ", "));
        return "[" + rows + "]";
      };
      const auto weights = [&](int layer) {
        const std::string head = fmt::format("encoder.{}.self_attention.head.", layer);
        return fmt::format("[{}, {}]", numbers(head + "1.weights"), numbers(head + "2.weights"));
      };
      const auto result = [&](const std::string& members, Verdict expected) {
        const std::string file = folder.write("mine.json", "{" + members + "}");
        return checked(file, {"encoder", "--parameters", parameters, "--heads", "2", "--text", "0 1 2", "--norm", norm},
                       expected);
      };
      const auto attentions = [&](int first, int second) {
        return fmt::format(R"("attentions.0": {}, "attentions.1": {})", weights(first), weights(second));
      };
      check_has(result(attentions(1, 2), Verdict::passed), "All 4 matrices agree");
      result(attentions(2, 1), Verdict::failed);
      const std::string first_layer = norm == "post" ? "encoder.1.norm_2.output" : "encoder.1.sum_2";
      const auto states = [&](const std::string& first, const std::string& last) {
        return fmt::format(R"("hidden_states.0": {}, "hidden_states.1": {}, "hidden_states.2": {},
                              "last_hidden_state": {})",
                           numbers("source.positioned"), numbers(first), numbers(last), numbers("encoder.output"));
      };
      check_has(result(states(first_layer, "encoder.output"), Verdict::passed), "All 4 matrices agree");
      result(states("encoder.output", first_layer), Verdict::failed);
    }
  }

  TEST_CASE("what a model returns for each layer may be one array, and what hooks have cached has their names") {
    const TemporaryFolder folder;
    const std::string parameters = folder.path("p.npz"), trace = folder.path("t.npz");
    const Words sizes = {"--kind", "decoder-only", "--norm", "pre", "--target"};
    REQUIRE(run_attn(Words{"decoder", "--d-model", "4", "--d-ff", "6", "--heads", "2", "--layers", "2", "--seed", "1"} +
                     sizes + Words{"a b c", "--save-parameters", parameters, "-o", trace})
                .code == 0);
    const auto numbers = [&](const std::string& name) {
      const Matrix matrix = read_matrix(trace + ":" + name).matrix;
      std::string rows;
      for (std::size_t i = 0; i < matrix.shape().rows; ++i)
        rows += fmt::format("{}[{}]", i > 0 ? ", " : "", fmt::join(row(matrix, i), ", "));
      return "[" + rows + "]";
    };
    const auto weights = [&](int layer) {
      const std::string head = fmt::format("decoder.{}.self_attention.head.", layer);
      return fmt::format("[{}, {}]", numbers(head + "1.weights"), numbers(head + "2.weights"));
    };
    const auto result = [&](const std::string& members, Verdict expected) {
      const std::string file = folder.write("mine.json", "{" + members + "}");
      return checked(file, Words{"decoder", "--parameters", parameters, "--heads", "2"} + sizes + Words{"0 2 3 4"},
                     expected);
    };
    const auto arrays = [&](int first, int second, const std::string& last) {
      return fmt::format(R"("attentions": [{}, {}], "hidden_states": [{}, {}, {}])", weights(first), weights(second),
                         numbers("target.positioned"), numbers("decoder.1.sum_2"), numbers(last));
    };
    check_has(result(arrays(1, 2, "decoder.norm.output"), Verdict::passed), "All 7 matrices agree");
    check_has(result(arrays(1, 2, "decoder.2.sum_2"), Verdict::passed), "All 7 matrices agree");
    result(arrays(2, 1, "decoder.norm.output"), Verdict::failed);
    const auto hooks = [&](const std::string& after) {
      return fmt::format(
          R"("hook_embed": {}, "blocks.0.hook_resid_pre": {}, "blocks.0.ln1.hook_normalized": {},
             "blocks.0.attn.hook_pattern": {}, "blocks.0.hook_attn_out": {},
             "blocks.0.mlp.hook_pre": {}, "blocks.0.hook_mlp_out": {}, "blocks.0.hook_resid_post": {},
             "blocks.1.hook_resid_post": {}, "ln_final.hook_normalized": {})",
          numbers("target.x"), numbers("target.positioned"), numbers("decoder.1.norm_1.output"), weights(1),
          numbers("decoder.1.self_attention.output"), numbers("decoder.1.feed_forward.inner"),
          numbers("decoder.1.feed_forward.output"), numbers(after), numbers("decoder.2.sum_2"),
          numbers("decoder.norm.output"));
    };
    check_has(result(hooks("decoder.1.sum_2"), Verdict::passed), "All 11 matrices agree");
    result(hooks("decoder.2.sum_2"), Verdict::failed);
  }

  TEST_CASE("matrices of one layer are read without its number and weights by their rows") {
    const TemporaryFolder folder;
    const std::string parameters = folder.path("p.npz"), trace = folder.path("t.npz"), path = folder.path("mine.npz");
    const auto model = [&](const std::string& layers) {
      const Words line = {"encoder", "--d-model", "4",     "--heads", "2", "--layers",
                          layers,    "--text",    "1 2 3", "--seed",  "1"};
      REQUIRE(run_attn(line + Words{"--save-parameters", parameters, "-o", trace}).code == 0);
    };
    const auto of = [&](const std::string& name) { return read_matrix(trace + ":" + name).matrix; };
    const auto stacked = [&](const std::vector<std::string>& names) {
      std::vector<Matrix> parts;
      for (const std::string& name : names) parts.push_back(of(name));
      const Shape one = parts.front().shape();
      Matrix all({one.rows * parts.size(), one.columns});
      auto to = cells(all).begin();
      for (const Matrix& part : parts) to = std::ranges::copy(cells(part), to).out;
      return all;
    };
    const Words line = {"encoder", "--parameters", parameters, "--heads", "2", "--text", "0 1 2"};
    model("1");
    write_file(path, {{"norm1", of("encoder.1.norm_1.output")},
                      {"norm2", of("encoder.1.norm_2.output")},
                      {"self_attn", of("encoder.1.self_attention.output")},
                      {"ffn", of("encoder.1.feed_forward.output")}});
    check_has(checked(path, line, Verdict::passed), "All 4 matrices agree");
    model("2");
    const std::string heads = "encoder.{}.self_attention.head.{}.weights";
    const auto weights = [&](int layer, int head) { return fmt::format(fmt::runtime(heads), layer, head); };
    const auto write_arrays = [&](const std::vector<std::pair<std::string, std::vector<std::string>>>& arrays,
                                  const std::string& shape) {
      std::string json = "{";
      for (const auto& [name, parts] : arrays) {
        const Matrix all = stacked(parts);
        std::string numbers;
        for (std::size_t i = 0; i < all.size(); ++i) {
          std::string open, close;
          if (i % 3 == 0) open = "[";
          if (i % 3 == 2) close = "]";
          if (i % 9 == 0) open += "[";
          if (i % 9 == 8) close += "]";
          if (shape == "Lhnn" && i % 18 == 0) open += "[";
          if (shape == "Lhnn" && i % 18 == 17) close += "]";
          numbers += fmt::format("{}{}{}{}", i > 0 ? "," : "", open, cells(all)[i], close);
        }
        json += fmt::format("{}\"{}\": [{}]", json.size() > 1 ? ", " : "", name, numbers);
      }
      return folder.write("mine.json", json + "}");
    };
    for (const auto& [first, second] : {std::pair<std::string, std::string>{"layers.0.attn", "layers.1.attn"},
                                        {"h.0.attn", "h.1.attn"},
                                        {"blocks.0.attn.hook_pattern", "blocks.1.attn.hook_pattern"}}) {
      const std::string file =
          write_arrays({{first, {weights(1, 1), weights(1, 2)}}, {second, {weights(2, 1), weights(2, 2)}}}, "hnn");
      check_has(checked(file, line, Verdict::passed), "All 4 matrices agree");
    }
    const std::string all_layers =
        write_arrays({{"attentions", {weights(1, 1), weights(1, 2), weights(2, 1), weights(2, 2)}}}, "Lhnn");
    check_has(checked(all_layers, line, Verdict::passed), "All 4 matrices agree");
  }

  TEST_CASE("names of the weights of each head say how many heads there are") {
    const TemporaryFolder folder;
    const std::string parameters =
        R"({"in_proj_weight": [[1, 0], [0, 1], [1, 0], [0, 1], [2, 0], [0, 2]], "x": [[1, 0], [0, 2]],
            "in_proj_bias": [0, 0, 0, 0, 0, 0], "out_proj.weight": [[1, 0], [0, 1]], "out_proj.bias": [0, 1], )";
    for (const unsigned first : {0U, 1U}) {
      const std::string file =
          folder.write("mine.json", parameters + fmt::format(R"("head_{}_weights": [[0.7311, 0.2689], [0.5, 0.5]],
                                                   "head_{}_weights": [[0.5, 0.5], [0.0180, 0.9820]]}})",
                                                             first, first + 1));
      check_has(checked(file, {}, Verdict::passed), "head.2.weights");
    }
    refuses({"check", folder.write("mine.json", parameters + R"("head_5_weights": [[0.5, 0.5], [0.5, 0.5]]})")},
            "no matrix of");
  }

  TEST_CASE("a convention alone is no error unless the check is strict") {
    const TemporaryFolder folder;
    const std::string qkv = R"({"Q": [[2, 0], [0, 2]], "K": [[1, 0], [0, 1]], "V": [[1, 2], [5, 7]], )";
    const auto tried = [&](const std::string& masked, const Words& more) {
      return run_attn(
          Words{"check", folder.write("a.json", qkv + fmt::format("\"masked\": {}}}", masked)), "--causal"} + more);
    };
    const auto code = [&](const std::string& masked, const Words& more) { return tried(masked, more).code; };
    for (const std::string value : {"-1e9", "-1e4", "-3.4028234663852886e38", "-1e30"}) {
      const std::string masked = fmt::format("[[1.4142135624, {}], [0, 1.4142135624]]", value);
      CHECK(code(masked, {"--strict"}) == 1);
      check_has(tried(masked, {}).out, "no error");
      CHECK(code(masked, {}) == 0);
    }
    CHECK(code(R"([[1.4142135624, "-Infinity"], [0, 1.4142135624]])", {}) == 0);
    CHECK(code(R"([[1.4142135624, -1e9], [0, 1.5]])", {}) == 1);
    CHECK(code(R"([[1.4142135624, 0.0], [0, 1.4142135624]])", {}) == 1);
    refuses({"walk", "--strict"}, "--strict belongs to --against FILE");
  }

  TEST_CASE("a factor that several sizes have names all of them") {
    const TemporaryFolder folder;
    const std::shared_ptr<Graph> graph = computation_of("attn walk --text 'a b c d' --d-model 4 --scale none --seed 3");
    Matrix scores = graph->at("scores").matrix();
    for (double& x : cells(scores)) x *= 4.0;
    Named all = {{"x", graph->at("x").matrix()}, {"scores", scores}};
    for (const char* name : {"w_q", "w_k", "w_v"}) all.emplace_back(name, graph->at(name).matrix());
    const std::string path = folder.path("mine.npz");
    write_file(path, all);
    check_has(checked(path, {"--scale", "none"}, Verdict::failed),
              "4, the size of a query, the size of an embedding and the number of");
  }

  TEST_CASE("what is right is told to be computed from those numbers of the file that it is made of") {
    const TemporaryFolder folder;
    const std::shared_ptr<Graph> graph = computation_of("attn walk --text 'a b c' --d-model 4 --seed 3");
    const std::string path = folder.path("mine.npz");
    Named all = inputs_of(*graph);
    for (const char* name : {"q", "v", "scores"}) {
      Matrix other = graph->at(name).matrix();
      for (std::size_t i = 0; i < other.size(); ++i)
        cells(other)[i] += 0.37 * std::sin(static_cast<double>(i * i + all.size()));
      all.emplace_back(name, other);
    }
    write_file(path, all);
    const std::string page = checked(path, {}, Verdict::failed);
    check_has(page, "What differs besides: v What is right of v depends on nothing that was found above.");
    check_has(page, "What differs besides: scores Below, what is right is computed from the file's q. ");
    check_lacks(page, "computed from the file's v");
    // Of another shape, which only what is made of it cannot be computed from.
    write_file(path, walked(*graph));
    const std::string of_fewer = checked(path, {"--text", "a b", "--d-model", "4", "--seed", "3"}, Verdict::failed);
    for (const char* name : {"q", "k", "v"}) {
      check_has(of_fewer,
                fmt::format("What differs besides: {} What is right cannot be computed from the file's x, which has "
                            "another shape.",
                            name));
    }
    check_has(of_fewer, "What is right cannot be computed from the file's q and k, which have other shapes.");
  }

  TEST_CASE("of mistakes with the same numbers those are left that fit what is computed from them") {
    const TemporaryFolder folder;
    const std::string path = folder.path("mine.npz");
    const std::shared_ptr<Graph> graph = computation_of("attn walk --text 'a b c' --d-model 4 --scale none --seed 3");
    write_file(path, walked(*graph));
    const std::string page = checked(path, {"--causal"}, Verdict::failed);
    check_has(page, "One mistake gives these numbers: - not-scaled");
    check_lacks(page, "scaled-after-softmax");
    check_has(page, "Below, what is right is computed with what explains scaled.");
    check_has(page, "With it, all 3 matrices that differ from here on are as they are in the file.");
  }

  TEST_CASE(
      "an input that shows what is hidden is computed with the options of the check, at the decimals of the file") {
    const TemporaryFolder folder;
    const std::string path = folder.path("mine.npz");
    const std::shared_ptr<Graph> graph = computation_of("attn walk --text 'a b' --d-model 8 --causal --seed 1");
    write_file(path, walked(*graph));
    check_has(checked(path, {"--causal"}, Verdict::passed), "--causal -o input.npz");

    const std::shared_ptr<Graph> small = computation_of("attn walk --text 'a b c' --d-model 4 --seed 2");
    const Node& weights = small->at("weights");
    const auto twos = std::ranges::find(mistakes(), "powers-of-two", &Mistake::name);
    REQUIRE(twos != mistakes().end());
    const std::vector<const Mistake*> both = {nullptr, &*twos};
    const auto numbers_at = [&](const Rounding& rounding) {
      const std::vector<ComparedMatrix> compared = {{"weights", &weights, weights.cells(), rounding, {}}};
      return mistake_groups(*small, both, compared);
    };
    const Matrix halves({1, 2}, 0.5);
    const std::vector<std::size_t> coarse = numbers_at(rounding_of(halves, Precision::written, 0.5)),
                                   fine = numbers_at(rounding_of(weights.matrix(), Precision::float64, 1.0));
    CHECK(coarse == std::vector<std::size_t>{0, 0});
    CHECK(fine == std::vector<std::size_t>{0, 1});
  }

  TEST_CASE("masks and dropout and rounding are seen in numbers that no mistake gives") {
    const TemporaryFolder folder;
    const Words problem = {"--q", "1 2 0; 0 1 1; 3 1 1", "--k", "2 1 1; 1 1 0; 0 2 1", "--v", "1 2; 5 7; 4 4"};
    const auto page_of = [&](const Words& more,
                             const std::function<double(std::size_t i, std::size_t j, double)>& change,
                             bool agrees = false) {
      const std::string computed = folder.path("right.npz"), mine = folder.path("mine.npz");
      CHECK(run_attn(Words{"walk"} + problem + more + Words{"--only", "weights", "-o", computed}).code == 0);
      Matrix weights = read_matrix(computed + ":weights").matrix;
      for (std::size_t i = 0; i < weights.shape().rows; ++i) {
        for (std::size_t j = 0; j < weights.shape().columns; ++j) weights(i, j) = change(i, j, weights(i, j));
      }
      write_file(mine, {{"weights", weights}});
      const ProcessResult page = run_attn(Words{"check", mine, "--strict"} + problem);
      CHECK(page.code == (agrees ? 0 : 1));
      return in_one_line(page.out);
    };
    const auto as_it_is = [](std::size_t, std::size_t, double x) { return x; };
    const std::string causal = page_of({"--causal"}, as_it_is);
    check_has(causal, "agrees with the computation with --causal, which neither the file nor the line says");
    const std::string one_column = page_of({}, [](std::size_t, std::size_t j, double x) { return j == 0 ? x : x * x; });
    check_has(one_column, "Right is column 1.");
    CHECK(one_column.find("is weights. Right is column 1.") == std::string::npos);
    check_has(page_of({"--valid-length", "2"}, as_it_is), "Column 3 is 0: as with a mask of this key");
    check_has(page_of({}, [](std::size_t i, std::size_t j, double x) { return i == j ? 0.0 : x / 0.9; }),
              "3 of its weights are 0, and all others are 1.111 times the right ones: as from dropout of 0.1");
    check_has(page_of(
                  {}, [](std::size_t, std::size_t, double x) { return rounded_to(Precision::bfloat16, x); }, true),
              "as computed in bfloat16");
  }

  TEST_CASE("numbers that were rounded before they were stored are compared at their decimals") {
    const TemporaryFolder folder;
    const Words problem = {"--q", "1 2 0; 0 1 1", "--k", "2 1 1; 1 1 0; 0 2 1", "--v", "1 2; 5 7; 4 4"};
    const std::string computed = folder.path("right.npz"), mine = folder.path("mine.npz");
    CHECK(run_attn(Words{"walk"} + problem + Words{"--only", "weights", "-o", computed}).code == 0);
    Matrix weights = read_matrix(computed + ":weights").matrix;
    for (double& x : cells(weights)) x = std::nearbyint(x * 1000) / 1000;
    write_file(mine, {{"weights", weights}});
    const ProcessResult same = run_attn(Words{"check", mine} + problem);
    CHECK(same.code == 0);
    check_has(same.out, "They are compared to 3 decimals.");
    cells(weights)[1] += 0.002;
    write_file(mine, {{"weights", weights}});
    const ProcessResult differs = run_attn(Words{"check", mine} + problem);
    CHECK(differs.code == 1);
    CHECK(differs.out.find("should be 1.") == std::string::npos);  // their sums are rounded as well
    write_file(mine, {{"weights", matrix({{0.25, 0.5, 0.25}, {0.125, 0.75, 0.125}})}});
    check_has(run_attn(Words{"check", mine} + problem).out, "as float64");
  }

  TEST_CASE("a number is rounded to a type as the type holds it") {
    CHECK(rounded_to(Precision::float32, 0.1) == static_cast<double>(0.1F));
    CHECK(rounded_to(Precision::float32, 1e-45) == static_cast<double>(1e-45F));
    CHECK(rounded_to(Precision::float16, 0.1) == 0.0999755859375);
    CHECK(rounded_to(Precision::float16, 65504.0) == 65504.0);
    CHECK(std::isinf(rounded_to(Precision::float16, -1e9)));
    CHECK(rounded_to(Precision::float16, 1e-9) == 0.0);
    CHECK(rounded_to(Precision::bfloat16, 0.1) == 0.10009765625);
    CHECK(rounded_to(Precision::float64, 0.1) == 0.1);
  }

  TEST_CASE("what is generated word by word with a cache is compared") {
    const TemporaryFolder folder;
    const std::string all = folder.path("all.npz");
    const Words line = {"generate", "--kind", "decoder-only", "--target", "a b", "--steps", "2", "--seed", "1"};
    CHECK(run_attn(line + Words{"--only", "*", "-o", all}).code == 0);
    CHECK(run_attn(Words{"check", all} + line).code == 0);
    const ProcessResult hotter = run_attn(Words{"check", all} + line + Words{"--temperature", "2"});
    CHECK(hotter.code == 1);
    check_has(hotter.out, "- temperature-missing:");
  }

  TEST_CASE("the page of a comparison is the golden one") {
    // Softmax over the queries, and what attn does not know.
    const std::string mine =
        R"({"Q": [[1, 2, 0], [0, 1, 1]], "K": [[2, 1, 1], [1, 0, 2]], "V": [[1, 2], [5, 7]],
      "attn": [[0.7604, 0.3595], [0.2396, 0.6405]], "out": [[2.558, 4.038], [3.442, 4.962]], "loss": [[1]]})";
    for (const auto& [format, golden] : {std::pair{"text", "comparison.txt"}, std::pair{"markdown", "comparison.md"},
                                         std::pair{"csv", "comparison.csv"}}) {
      const ProcessResult page = run_attn({"check", "-", "--format", format, "--width", "80"}, {.input = mine});
      CHECK(page.code == 1);
      check_golden(golden, page.out, Tolerance::last_digit);
    }
  }

  TEST_CASE("a problem may be in the file") {
    const TemporaryFolder folder;
    const std::string whole =
        folder.write("x.json", R"({"x": [[1, 0], [0, 2]], "Wq": [[1, 1], [0, 1]], "Wk": [[1, 0], [0, 1]],
                                  "scores": [[1, 2], [0, 4]]})");
    CHECK(run_attn({"check", whole}).code == 0);
    const std::string trace = folder.path("trace.json");
    CHECK(run_attn({"walk", "--example", "animal", "-o", trace}).code == 0);
    CHECK(run_attn({"check", trace}).code == 0);
  }

  TEST_CASE("one matrix of a file is compared as FILE:NAME, by its own name or by another one") {
    const TemporaryFolder folder;
    const std::string file = folder.path("a.npz"), page = folder.path("a.json"), right = folder.path("weights.csv");
    accepted({"walk", "--only", "weights", "-o", right});
    accepted({"walk", "-o", file});
    accepted({"walk", "-o", page});
    const std::string layers =
        folder.write("layers.csv", "# layer_0\n" + read_bytes(right) + "\n# layer_1\n1,0\n0,1\n");
    const ProcessResult named = run_attn({"check", file + ":weights", "--example", "thinking-machines"});
    CHECK(named.code == 0);
    check_has(named.out, "weights");
    CHECK(run_attn({"check", file + ":weights", "--as", "weights", "--example", "thinking-machines"}).code == 0);
    CHECK(run_attn({"check", layers + ":layer_0", "--as", "weights", "--example", "thinking-machines"}).code == 0);
    CHECK(run_attn({"check", page + ":weights"}).code == 0);
    CHECK(run_attn({"check", file + ":scores", "--as", "weights", "--example", "thinking-machines"}).code == 1);
    refuses({"check", layers + ":layer_1"}, "layers.csv:layer_1");
    refuses({"check", layers + ":layer_2", "--as", "weights"},
            "has no matrix 'layer_2'. Choose one of: 'layer_0', 'layer_1'");
    refuses({"check", right + ":weights", "--as", "weights"}, "has one matrix without a name: leave out ':weights'");
    refuses({"check", folder.path("none.npz:a"), "--as", "weights"}, "no such file");
    CHECK(run_attn({"check", "--each", file + ":weights", file + ":scores", "--example", "thinking-machines"}).code ==
          0);
  }

  TEST_CASE("what cannot be compared is refused") {
    const TemporaryFolder folder;
    const std::string alone = folder.write("mine.csv", "1,2\n3,4\n"),
                      named = folder.write("b.json", R"({"foo": [[1]]})");
    refuses({"check", alone, "--example", "thinking-machines"}, "say which it is with --as NAME");
    refuses({"check", named}, "has nothing that its matrices can be computed from");
    refuses({"check", named, "--example", "thinking-machines"}, "no matrix of");
    const std::string near = folder.write("c.json", R"({"wieghts": [[1, 0], [0, 1]]})");
    refuses({"check", near, "--example", "thinking-machines"}, "'wieghts' (did you mean 'weights'?)");
    CHECK(run_attn({"check", named, "--as", "weights", "--example", "thinking-machines"}).code == 1);
    refuses({"check", named, "--as", "foo=", "--example", "thinking-machines"}, "as in out=output");
    refuses({"check", named, "--as", "bar=weights", "--example", "thinking-machines"}, "say which matrix");
    refuses({"check", folder.path("none.npz")}, "no such file");
    refuses({"check", alone, "encode", "--example", "thinking-machines"}, "unknown command 'encode'");
  }
}

}  // namespace
