#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <queue>
#include <random>

#include "commands_tried.hpp"
#include "core/attention/positional_encoding.hpp"
#include "core/term/explanation.hpp"
#include "data/files/json_writer.hpp"
#include "models.hpp"
#include "solution.hpp"
#include "testing.hpp"

// Where words stand that have others before them: behind a cache, behind padding, in the middle of a longer text.

using namespace attn;

namespace {

constexpr std::size_t words_of_text = 5;

// A tree of five words for the kinds that need one.
std::string with_kind(const PositionKind& kind, std::string_view more = "") {
  return R"({"text": ["the dog bit a man"], "d_model": 8, "heads": 2, "positions": ")" + std::string(kind.name) + "\"" +
         (kind.is_in_tree ? R"(, "parents": [[2, 3, 0, 5, 3]])" : "") + std::string(more) + "}";
}

Matrix last_rows(const Matrix& matrix, std::size_t count) {
  Matrix last({count, matrix.shape().columns});
  const std::size_t before = matrix.shape().rows - count;
  for (std::size_t i = 0; i < count; ++i) std::ranges::copy(row(matrix, before + i), row(last, i).begin());
  return last;
}

// The last words alone, with the keys and the values of all that were computed before.
Problem with_cache(const Solution& full, std::size_t last) {
  Problem cached = full.problem;
  Sequence& sequence = cached.sequences.front();
  sequence.x = last_rows(*sequence.x, last);
  sequence.tokens.clear();
  for (const Role* role : {&role::w_k, &role::w_v, &role::b_k, &role::b_v}) cached.matrices.erase(role);
  cached.matrices.insert_or_assign(&role::k, full["k"]);
  cached.matrices.insert_or_assign(&role::v, full["v"]);
  cached.causal = true;
  cached.causal_offset = static_cast<std::ptrdiff_t>(words_of_text - last);
  return cached;
}

// Those of a longer text begin later.
void check_cache(const PositionKind& kind, std::string_view more) {
  const Solution full(with_kind(kind, more));
  for (std::size_t last = 1; last < words_of_text; ++last) {
    CAPTURE(last);
    const Solution cached(with_cache(full, last));
    CHECK(close(cached["output"], last_rows(full["output"], last), 1e-12));
    const Solution again(written(cached.problem));
    CHECK(same(again["output"], cached["output"]));
    for (const Node& node : cached.graph.nodes()) {
      if (!node.op || node.name.empty()) continue;
      CAPTURE(node.name);
      for (std::size_t j = 0; j < node.frame.shape.columns; ++j)
        CHECK(close(explain({&node, 0, j}).term.value, node.matrix()(0, j), 1e-12));
    }
  }
}

}  // namespace

TEST_CASE("the last rows of all words are those with a cache, for every kind of positions") {
  for (const PositionKind& kind : position_kinds()) {
    CAPTURE(kind.name);
    check_cache(kind, R"(, "causal": true)");
    if (!kind.is_in_tree) check_cache(kind, R"(, "causal": true, "first_position": 3)");
  }
}

TEST_CASE("padding on the left changes nothing where the words keep their positions, for every kind") {
  for (const PositionKind& kind : position_kinds()) {
    CAPTURE(kind.name);
    const Solution alone(with_kind(kind));
    Problem padded = alone.problem;
    Sequence& sequence = padded.sequences.front();
    Matrix x({words_of_text + 2, sequence.x->shape().columns}, 0.7);
    for (std::size_t i = 0; i < words_of_text; ++i) std::ranges::copy(row(*sequence.x, i), row(x, i + 2).begin());
    sequence.x = std::move(x);
    sequence.tokens.clear();
    padded.key_mask = matrix({{0, 0, 1, 1, 1, 1, 1}});
    padded.position_ids = matrix({{0, 0, 0, 1, 2, 3, 4}});
    const Solution solution(padded);
    CHECK(close(last_rows(solution["output"], words_of_text), alone["output"], 1e-12));
    const Solution again(written(padded));
    CHECK(same(again["output"], solution["output"]));
    padded.position_ids.reset();
    if (kind.of_embeddings && !kind.is_in_tree && kind.name != "learned")
      CHECK_FALSE(close(last_rows(Solution(padded)["output"], words_of_text), alone["output"], 1e-3));
  }
}

TEST_CASE("ids that count on from a number are the first position, for every kind") {
  for (const PositionKind& kind : position_kinds()) {
    if (kind.is_in_tree) continue;
    CAPTURE(kind.name);
    const Solution first(with_kind(kind, R"(, "first_position": 4)"));
    const Solution ids(with_kind(kind, R"(, "position_ids": [[4, 5, 6, 7, 8]])"));
    CHECK(same(first["output"], ids["output"]));
    CHECK(first.graph.names() == ids.graph.names());
  }
}

TEST_CASE("each sentence of a batch may have its own positions") {
  const std::string words = R"({"text": ["a b c", "c a b"], "d_model": 4, "positions": "sinusoidal", "position_ids": )";
  const Solution both(words + "[[0, 1, 2], [5, 0, 0]]}");
  const Matrix& second = both["sentence.2.positions"];
  CHECK(close(second(0, 0), std::sin(5.0), 1e-15));
  CHECK(close(second(1, 1), 1.0, 0));
  CHECK(same(both["sentence.1.positions"], Solution(words + "[[0, 1, 2]]}")["sentence.1.positions"]));
}

TEST_CASE("keys that are not made of x may have positions of their own") {
  const std::string qk = R"({"q": [[1, 0]], "k": [[1, 0], [1, 0]], "positions": "rotary", )";
  const Solution given(qk + R"("position_ids": [[7]], "key_position_ids": [[5, 7]]})");
  CHECK(close(given["scores"](0, 0), std::cos(2.0), 1e-15));
  CHECK(close(given["scores"](0, 1), 1.0, 1e-15));
  // Without them they begin with 0, and the query stands where its id says.
  const Solution from_0(qk + R"("position_ids": [[7]]})");
  CHECK(close(from_0["scores"](0, 1), std::cos(6.0), 1e-15));
}

TEST_CASE("positions of words that cannot be are refused in one sentence") {
  const Words walk = {"walk", "--text", "a b c", "--positions", "rotary", "--d-model", "2"};
  const auto with = [&](std::initializer_list<std::string> more) {
    Words words = walk;
    words.insert(words.end(), more);
    return words;
  };
  refuses(with({"--position-ids", "0 1"}), "--position-ids has 2 numbers, and there are 3 words: give one for each");
  refuses(with({"--position-ids", "0 1 2.5"}), "2.5 is not a whole number from 0");
  refuses(with({"--position-ids", "0 1 -1"}), "-1 is not a whole number from 0");
  refuses(with({"--position-ids", "0 1 1e12"}), "1000000000000 is not a whole number from 0");
  refuses(with({"--position-ids", "0 1 inf"}), "inf is not a whole number from 0");
  refuses(with({"--position-ids", "0 1 2; 0 1 2"}), "--position-ids has 2 rows: give one");
  refuses(with({"--first-position", "-1"}), "--first-position");
  refuses(with({"--first-position", "1.5"}), "--first-position");
  refuses(with({"--first-position", "1e99"}), "--first-position");
  refuses(with({"--first-position", "99999999999999999999"}), "must be a whole number from 0 to");
  refuses(with({"--first-position", "1", "--position-ids", "0 1 2"}), "--first-position and --position-ids");
  refuses(with({"--key-position-ids", "0 1 2"}), "keys stand that are not those of the queries");
  refuses({"walk", "--scores", "1 2", "--first-position", "1"}, "--first-position");
  refuses({"walk", "--text", "a b", "--positions", "learned", "--position-table", "1 2; 3 4", "--d-model", "2",
           "--first-position", "1"},
          "positions up to 2, but only positions 0 to 1 are learned");
  refuses({"walk", "--q", "1 0", "--k", "1 0; 1 0", "--positions", "rotary", "--key-position-ids", "0 1 2"},
          "--key-position-ids has 3 numbers, and there are 2 keys");
}

TEST_CASE("an offset of the mask moves no position of words that are queries and keys, and that is said") {
  const std::string words = R"({"text": ["a b c"], "d_model": 4, "positions": "sinusoidal", "causal_offset": )";
  const Solution offset(words + "2}"), none(words + "0}");
  CHECK(same(offset["positions"], none["positions"]));
  const auto has_remark = [](const Solution& solution) {
    return std::ranges::any_of(solution.problem.remarks, [](const std::string& remark) {
      return remark.find("changes the mask and no position") != std::string::npos;
    });
  };
  CHECK(has_remark(offset));
  CHECK_FALSE(has_remark(none));
}

TEST_CASE("the arithmetic of a cached query has its own position") {
  const Words cached = {"walk",      "--q",         "1 0; 1 0", "--k",      "1 0; 1 0; 1 0; 1 0; 1 0", "--v",
                        "1;2;3;4;5", "--positions", "rotary",   "--causal", "--causal-offset",         "3"};
  Words explain = {"explain", "rotated_q[1,1]"};
  explain.insert(explain.end(), cached.begin(), cached.end());
  check_has(in_one_line(accepted(explain).out), "cos(3 / 1)");
  Words distance = cached;
  distance[8] = "relative-bias";
  distance.insert(distance.end(), {"--position-table", "-2 -1 0 1 2"});
  Words which = {"explain", "relative[1,1]"};
  which.insert(which.end(), distance.begin(), distance.end());
  check_has(
      in_one_line(accepted(which).out),
      "the distance in the text from position 3 to position 0 is -3, where the first position is 0, and counts as -2");
}

// --- a program with a cache is checked

namespace {

std::string written_rows(const Matrix& matrix) {
  std::string text;
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    for (std::size_t j = 0; j < matrix.shape().columns; ++j) text += (j == 0 ? "" : ",") + std::to_string(matrix(i, j));
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("a right program with a cache is called right, and one that begins again with 0 is told so") {
  const TemporaryFolder folder;
  for (const PositionKind& kind : position_kinds()) {
    CAPTURE(kind.name);
    const Solution full(with_kind(kind, R"(, "causal": true)"));
    const Problem problem = with_cache(full, 2);
    const std::string file = folder.path("problem.json"), numbers = folder.path("output.csv");
    std::ofstream(file) << written(problem);
    std::ofstream(numbers) << written_rows(last_rows(full["output"], 2));
    const ProcessResult right = run_attn({"check", numbers, "walk", "--as", "output", "--problem", file});
    CHECK_MESSAGE(right.code == 0, right.out);
    if (kind.name == "none") continue;
    // The mask as it is, and positions as without earlier keys.
    Problem restarted = problem;
    restarted.causal = false;
    restarted.causal_offset = 0;
    restarted.mask = GivenMask{{matrix({{1, 1, 1, 1, 0}, {1, 1, 1, 1, 1}})}, false};
    std::ofstream(numbers) << written_rows(Solution(restarted)["output"]);
    const ProcessResult wrong = run_attn({"check", numbers, "walk", "--as", "output", "--problem", file});
    CHECK(wrong.code == 1);
    const std::string said = in_one_line(wrong.out);
    CHECK_MESSAGE((said.find("begin again with 0") != std::string::npos ||
                   said.find("first rows of the table of positions") != std::string::npos),
                  said);
  }
}

TEST_CASE("ids of keys have no effect where positions are added to x alone") {
  const ProcessResult walk = run_attn({"walk", "--x", "1 2; 3 4", "--wq", "1 0; 0 1", "--k", "1 0; 0 1; 1 1", "--v",
                                       "1; 2; 3", "--positions", "sinusoidal", "--key-position-ids", "5 6 7"});
  CHECK(walk.code == 0);
  CHECK(in_one_line(walk.errors).find("--key-position-ids has no effect") != std::string::npos);
}

TEST_CASE("curves of positions stand over the positions themselves, from 0") {
  CHECK(in_one_line(run_attn({"positions"}).out).find("Dot products with position 0") != std::string::npos);
  const ProcessResult later = run_attn({"positions", "--first-position", "100", "--n", "3", "--width", "70"});
  CHECK(later.code == 0);
  CHECK(in_one_line(later.out).find("Dot products with position 100") != std::string::npos);
  CHECK(in_one_line(later.out).find("100 position 102") != std::string::npos);
}

TEST_CASE("a matrix that is given cannot be compared, and that is said of it") {
  const TemporaryFolder folder;
  const std::string x = folder.write("x.csv", "1.5,2.5\n3.5,4.5\n");
  const ProcessResult checked =
      run_attn({"check", x, "--x", "1.5 2.5; 3.5 4.5", "--wq", "1 0; 0 1", "--wk", "1 0; 0 1", "--wv", "1 0; 0 1"});
  CHECK(checked.code == 2);
  CHECK(in_one_line(checked.errors).find("'x' (given here, and not computed)") != std::string::npos);
}

// --- models

TEST_CASE("models go on from the positions of the words before, and padding on the left changes nothing") {
  for (const std::string positions : {"none", "sinusoidal", "concatenated", "learned", "rotary", "rotary-halves"}) {
    CAPTURE(positions);
    const Transformer model = random_model({.kind = "decoder-only", .positions = positions});
    const auto logits_of = [&](const ModelInput& input, std::size_t rows) {
      Graph graph;
      RunningTransformer running(model, graph);
      return last_rows(running.logits(running.decode(input, std::nullopt)).matrix(), rows);
    };
    const Matrix alone = logits_of(words({2, 3, 1}), 3);
    ModelInput padded = words({4, 4, 2, 3, 1});
    padded.blank = {true, true, false, false, false};
    padded.positions = RowPositions({0, 0, 0, 1, 2});
    CHECK(close(logits_of(padded, 3), alone, 1e-12));

    // Word by word behind the padding, with a cache.
    ModelInput first = words({4, 4, 2});
    first.blank = {true, true, false};
    first.positions = RowPositions({0, 0, 0});
    Graph graph;
    RunningTransformer running(model, graph);
    std::size_t word = 0;
    for (const ModelInput& input : {first, words({3}), words({1})}) {
      CAPTURE(word);
      const Graph::Scope step(graph, scope::step, word + 1);
      const Matrix last = last_rows(running.logits(running.decode(input, std::nullopt)).matrix(), 1);
      for (std::size_t j = 0; j < last.shape().columns; ++j) CHECK(close(last(0, j), alone(word, j), 1e-12));
      ++word;
    }
  }
}

TEST_CASE("what is written goes on from the positions of the prompt, with a cache and without") {
  for (const std::string positions : {"sinusoidal", "learned", "rotary"}) {
    CAPTURE(positions);
    const Transformer model = random_model({.kind = "decoder-only", .positions = positions});
    ModelInput prompt = words({2, 3});
    prompt.positions = RowPositions({0, 2});
    std::vector<Matrix> with_cache, without;
    for (const Cache cache : {Cache::kept, Cache::none}) {
      Graph graph;
      RunningTransformer running(model, graph);
      GenerationTask task{.prompt = prompt, .steps = 3};
      task.cache = cache;
      for (const GenerationStep& step : generate(running, graph, task, std::nullopt, {}))
        (cache == Cache::kept ? with_cache : without).push_back(step.distribution->matrix());
    }
    REQUIRE(with_cache.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(close(with_cache[i], without[i], 1e-12));
  }
}

TEST_CASE("commands of models take positions, and refuse what cannot be") {
  const Json plain = Json::parse(accepted({"transformer", "--kind", "decoder-only", "--text", "a b c", "--format",
                                           "json", "--first-position", "3"})
                                     .out);
  const std::vector<std::vector<double>> positions = plain["arrays"]["target.positions"];
  CHECK(close(positions[0][0], std::sin(3.0), 1e-12));
  const auto decoder = [](std::initializer_list<std::string> more) {
    Words words = {"transformer", "--kind", "decoder-only", "--text", "a b c"};
    words.insert(words.end(), more);
    return words;
  };
  refuses(decoder({"--position-ids", "0 1"}), "--position-ids has 2 numbers");
  refuses(decoder({"--target-position-ids", "0 1"}), "--target-position-ids has 2 numbers");
  refuses(decoder({"--target-first-position", "1", "--first-position", "1"}), "this model has words on one side");
  refuses(decoder({"--position-ids", "0 1 2 3", "--first-position", "1"}), "--first-position and --position-ids");
  refuses({"generate", "--model", "names", "--target", "m", "--first-position", "1000000"}, "is not learned");
}

// --- trees

namespace {

// The edges between two words, found by walking over the tree in all directions.
std::vector<std::size_t> edges_from(std::size_t word, const std::vector<std::size_t>& parents) {
  std::vector<std::size_t> edges(parents.size(), parents.size());
  std::queue<std::size_t> next({word});
  edges[word] = 0;
  for (; !next.empty(); next.pop()) {
    for (std::size_t other = 0; other < parents.size(); ++other) {
      const bool are_neighbors = parents[other] == next.front() + 1 || parents[next.front()] == other + 1;
      if (!are_neighbors || edges[other] != parents.size()) continue;
      edges[other] = edges[next.front()] + 1;
      next.push(other);
    }
  }
  return edges;
}

// A random tree: each word's parent is one of those that were put in before it.
std::vector<std::size_t> random_tree(std::size_t count, std::mt19937& generator) {
  std::vector<std::size_t> order(count), parents(count, 0);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  std::ranges::shuffle(order, generator);
  for (std::size_t i = 1; i < count; ++i)
    parents[order[i]] = order[std::uniform_int_distribution<std::size_t>(0, i - 1)(generator)] + 1;
  return parents;
}

}  // namespace

TEST_CASE("distances in a tree are the edges between two words") {
  std::mt19937 generator(4);
  for (const std::size_t count : {1u, 2u, 3u, 7u, 20u, 60u}) {
    const std::vector<std::size_t> parents = random_tree(count, generator);
    const Distance distance(parents);
    for (std::size_t word = 0; word < count; ++word) {
      const std::vector<std::size_t> edges = edges_from(word, parents);
      const std::vector<std::ptrdiff_t> in_one_pass = distance.edges_from(word);
      for (std::size_t other = 0; other < count; ++other) {
        CHECK(distance.between(word, other) == static_cast<std::ptrdiff_t>(edges[other]));
        CHECK(in_one_pass[other] == static_cast<std::ptrdiff_t>(edges[other]));
      }
    }
  }
}

TEST_CASE("a number or a vector for each distance in a tree is added to the scores") {
  const std::string qk = R"({"q": [[2], [4], [6]], "k": [[1], [2], [3]], "v": [[1], [1], [1]], "scale": 2, )";
  // The second word is the root, and the third one hangs below the first: 2 - 1 - 3.
  const Solution bias(qk + R"("positions": "tree-bias", "parents": [[2, 0, 1]], "position_table": [[10, 20, 40]]})");
  CHECK(same(bias["relative"], matrix({{10, 20, 20}, {20, 10, 40}, {20, 40, 10}})));
  CHECK(same(bias["masked"], matrix({{11, 22, 23}, {22, 14, 46}, {23, 46, 19}})));
  const Solution vectors(qk + R"("positions": "tree-vectors", "parents": [[2, 0, 1]], "position_table": [[1], [3]]})");
  CHECK(same(vectors["scores"], matrix({{4, 10, 12}, {16, 12, 24}, {24, 30, 24}})));
}

TEST_CASE("what is no tree is refused in one sentence") {
  const auto walk = [](std::initializer_list<std::string> more) {
    Words words = {"walk", "--text", "dogs chase cats", "--positions", "tree-bias"};
    words.insert(words.end(), more);
    return words;
  };
  refuses(walk({}), "--positions tree-bias counts the edges of a tree of the words: give --parents");
  refuses(walk({"--parents", "2 0 0"}), "words 2 and 3 both have the parent 0");
  refuses(walk({"--parents", "2 3 1"}), "form a cycle");
  refuses(walk({"--parents", "1 0 2"}), "form a cycle");
  refuses(walk({"--parents", "0 3 2"}), "form a cycle");
  refuses(walk({"--parents", "2 0 9"}), "the parent of word 3 is word 9, and there are 3 words");
  refuses(walk({"--parents", "2 0"}), "position 2 is not in the tree, which has 2 words");
  refuses(walk({"--parents", "2 0 2 2"}), "--parents has 4 numbers, and there are 3 words");
  refuses(walk({"--parents", "2 0 -2"}), "-2 is not a whole number");
  refuses(walk({"--parents", "2 0 2", "--position-table", "1; 2"}), "tree-bias has one row");
  CHECK(run_attn(walk({"--parents", "2 0 2", "--position-table", "1 2"})).code == 0);
}
