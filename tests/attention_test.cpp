#include <doctest/doctest.h>
#include <fmt/ranges.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "core/attention/masks.hpp"
#include "core/attention/score.hpp"
#include "core/attention/watches.hpp"
#include "core/support/text.hpp"
#include "data/problem/problem.hpp"
#include "data/problem/problem_file.hpp"
#include "data/problem/problem_options.hpp"
#include "page/tell/attention_steps.hpp"
#include "solution.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t size_below(std::size_t end) { return *rc::gen::inRange<std::size_t>(1, end); }

Matrix any_matrix(Shape shape) {
  return filled(shape, [] { return *rc::gen::inRange(-2000, 2001) / 1000.0; });
}

GivenMask any_mask(Shape shape) {
  return {{filled(shape, [] { return *rc::gen::inRange(0, 3) > 0 ? 1.0 : 0.0; })}, false};
}

Problem from_parts(Matrix q, Matrix k, Matrix v) {
  Problem problem;
  problem.matrices = {{&role::q, std::move(q)}, {&role::k, std::move(k)}, {&role::v, std::move(v)}};
  return problem;
}

// Queries, keys and values of any sizes that fit together.
Problem any_problem() {
  const std::size_t n_q = size_below(7), n_k = size_below(7), d_k = size_below(6), d_v = size_below(6);
  return from_parts(any_matrix({n_q, d_k}), any_matrix({n_k, d_k}), any_matrix({n_k, d_v}));
}

Shape scores_shape(const Problem& problem) {
  return {problem.matrices.at(&role::q).shape().rows, problem.matrices.at(&role::k).shape().rows};
}

// Self-attention from embeddings, with any parameters.
Problem any_self_attention(std::size_t heads) {
  const std::size_t n = size_below(7), d_model = size_below(5), d_k = size_below(4), d_v = size_below(4);
  Problem problem;
  problem.heads = heads;
  problem.sequences.front().x = any_matrix({n, d_model});
  problem.matrices = {{&role::w_q, any_matrix({d_model, heads * d_k})},
                      {&role::w_k, any_matrix({d_model, heads * d_k})},
                      {&role::w_v, any_matrix({d_model, heads * d_v})}};
  return problem;
}

std::vector<std::size_t> any_order(std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, std::mt19937(*rc::gen::arbitrary<std::uint32_t>()));
  return order;
}

Matrix rows_of(const Matrix& matrix, const std::vector<std::size_t>& order) {
  Matrix result({order.size(), matrix.shape().columns});
  for (std::size_t i = 0; i < order.size(); ++i) std::ranges::copy(row(matrix, order[i]), row(result, i).begin());
  return result;
}

Matrix columns_of(const Matrix& matrix, std::size_t first, std::size_t count) {
  Matrix result({matrix.shape().rows, count});
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    std::ranges::copy(row(matrix, i).subspan(first, count), row(result, i).begin());
  }
  return result;
}

Matrix identity(std::size_t n) {
  Matrix result({n, n}, 0.0);
  for (std::size_t i = 0; i < n; ++i) result(i, i) = 1.0;
  return result;
}

Matrix first_rows(const Matrix& matrix, std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return rows_of(matrix, order);
}

double sum_of(std::span<const double> cells) { return std::accumulate(cells.begin(), cells.end(), 0.0); }

Problem problem(std::string_view json) { return build_problem(read_problem_file(json, "file.json")); }

std::function<void()> solving(std::string json) {
  return [json] { Solution(problem(json)); };
}

// An option with its values, and nothing else.
std::function<void()> given(const Option& row, std::vector<std::string> texts) {
  return [&row, texts] {
    OptionValues values;
    values.put_text(row, texts);
    values.read();
    build_problem(values);
  };
}

}  // namespace

TEST_CASE("attention on numbers small enough to check by hand") {
  // Scores ln 3 and 0 give weights ¾ and ¼.
  Problem small = from_parts(matrix({{std::log(3.0)}}), matrix({{1}, {0}}), matrix({{4, 8}, {0, 4}}));
  small.scale = "none";
  const Solution solution(small);
  CHECK(close(solution["weights"], matrix({{0.75, 0.25}}), 1e-15));
  CHECK(close(solution["output"], matrix({{3, 7}}), 1e-14));
  CHECK(warnings(solution.graph).empty());
}

TEST_CASE("rows of weights sum to one, or to zero where no key may be looked at, and masked weights are zero") {
  CHECK(rc::check("rows of weights sum to one or to zero, and masked weights are exactly zero", [] {
    Problem any = any_problem();
    any.mask = any_mask(scores_shape(any));
    const Solution solution(any);
    const Matrix &weights = solution["weights"], &allowed = any.mask->of_heads[0];
    for (std::size_t i = 0; i < weights.shape().rows; ++i) {
      const bool some = sum_of(row(allowed, i)) > 0.0;
      RC_ASSERT(close(sum_of(row(weights, i)), some ? 1.0 : 0.0, some ? 1e-14 : 0.0));
      for (std::size_t j = 0; j < weights.shape().columns; ++j) {
        RC_ASSERT(weights(i, j) >= 0.0);
        if (allowed(i, j) == 0.0) RC_ASSERT(weights(i, j) == 0.0);
      }
    }
  }));
}

TEST_CASE("permuting keys and values together changes nothing, permuting queries permutes the outputs") {
  CHECK(rc::check("keys are a set, queries are independent", [] {
    const Problem any = any_problem();
    const Matrix &q = any.matrices.at(&role::q), &k = any.matrices.at(&role::k), &v = any.matrices.at(&role::v);
    const Solution solution(any);
    const auto keys = any_order(k.shape().rows), queries = any_order(q.shape().rows);
    const Solution permuted_keys(from_parts(q, rows_of(k, keys), rows_of(v, keys)));
    RC_ASSERT(close(permuted_keys["output"], solution["output"], 1e-13));
    const Solution permuted_queries(from_parts(rows_of(q, queries), k, v));
    RC_ASSERT(close(permuted_queries["output"], rows_of(solution["output"], queries), 1e-13));
  }));
}

TEST_CASE("adding a constant to all scores of a row changes nothing") {
  CHECK(rc::check("weights depend on differences of scores only", [] {
    Problem any;
    Matrix scores = any_matrix({size_below(6), size_below(12)});
    any.matrices.emplace(&role::scores, scores);
    for (std::size_t i = 0; i < scores.shape().rows; ++i) {
      const double constant = *rc::gen::inRange(-100'000, 100'001) / 100.0;
      for (double& score : row(scores, i)) score += constant;
    }
    Problem shifted;
    shifted.matrices.emplace(&role::scores, scores);
    RC_ASSERT(close(Solution(any)["weights"], Solution(shifted)["weights"], 1e-12));
  }));
}

TEST_CASE("no output before t depends on token t when the mask is causal") {
  CHECK(rc::check("no output before t depends on token t", [] {
    const std::size_t heads = size_below(4);
    Problem any = any_self_attention(heads);
    any.causal = true;
    if (*rc::gen::arbitrary<bool>()) {
      any.matrices.emplace(&role::w_o, any_matrix({any.matrices.at(&role::w_v).shape().columns, size_below(5)}));
    }
    const Matrix& x = *any.sequences.front().x;
    const std::size_t t = size_below(x.shape().rows + 1) - 1;
    Problem changed = any;
    const Matrix other = any_matrix({1, x.shape().columns});
    std::ranges::copy(cells(other), row(*changed.sequences.front().x, t).begin());
    RC_ASSERT(same(first_rows(Solution(any)["output"], t), first_rows(Solution(changed)["output"], t)));
  }));
  // Without the mask the same change is felt everywhere.
  const std::string rest = R"("w_q": [[1]], "w_k": [[1]], "w_v": [[1]]})";
  const Solution before(problem(R"({"x": [[1], [2]], )" + rest)), after(problem(R"({"x": [[1], [3]], )" + rest));
  CHECK(before["output"](0, 0) != after["output"](0, 0));
}

TEST_CASE("causal masks are aligned at the top left when the lengths differ") {
  CHECK(same(mask_by({causal_rule()}, {2, 4}), matrix({{1, 0, 0, 0}, {1, 1, 0, 0}})));
  CHECK(same(mask_by({causal_rule()}, {4, 2}), matrix({{1, 0}, {1, 1}, {1, 1}, {1, 1}})));
  CHECK(same(mask_by({causal_rule(), valid_length_rule({3, 3}, std::vector<std::size_t>{2})}, {3, 3}),
             matrix({{1, 0, 0}, {1, 1, 0}, {1, 1, 0}})));
  CHECK(same(mask_by({valid_length_rule({3, 2}, std::vector<std::size_t>{0, 1, 2})}, {3, 2}),
             matrix({{0, 0}, {1, 0}, {1, 1}})));
}

TEST_CASE("keys beyond the valid length might as well not be there") {
  CHECK(rc::check("a valid length cuts keys and values off", [] {
    Problem any = any_problem();
    const Matrix &k = any.matrices.at(&role::k), &v = any.matrices.at(&role::v);
    const std::size_t length = size_below(k.shape().rows + 1);
    const Solution cut(from_parts(any.matrices.at(&role::q), first_rows(k, length), first_rows(v, length)));
    any.valid_lengths = {length};
    RC_ASSERT(close(Solution(any)["output"], cut["output"], 1e-13));
  }));
}

TEST_CASE("masks of 0 and 1, of −∞ to add, and of a very low fill mean the same") {
  CHECK(rc::check("three ways to mask", [] {
    Problem any = any_problem();
    any.mask = any_mask(scores_shape(any));
    for (std::size_t i = 0; i < any.mask->of_heads[0].shape().rows; ++i) any.mask->of_heads[0](i, 0) = 1.0;
    Problem additive = any, low_fill = any;
    additive.mask->additive = true;
    for (double& cell : cells(additive.mask->of_heads[0])) cell = cell == 1.0 ? 0.0 : -infinity;
    low_fill.fill = -1e6;
    const Matrix weights = Solution(any)["weights"];
    RC_ASSERT(same(weights, Solution(additive)["weights"]));
    RC_ASSERT(same(weights, Solution(low_fill)["weights"]));
  }));
}

TEST_CASE("one head with the identity as its output projection is plain attention") {
  CHECK(rc::check("one head and the identity", [] {
    const Problem any = any_problem();
    Problem projected = any;
    projected.matrices.emplace(&role::w_o, identity(any.matrices.at(&role::v).shape().columns));
    const Solution plain(any), multi(projected);
    RC_ASSERT(close(plain["output"], multi["output"], 1e-15));
    RC_ASSERT(same(plain["weights"], multi["weights"]));
    RC_ASSERT(same(multi["concat"], multi["head"]));
  }));
}

TEST_CASE("splitting the matrices and projecting independently are the same") {
  CHECK(rc::check("concatenated heads are independent attentions with the parts of the parameters", [] {
    const std::size_t heads = size_below(4);
    const Problem any = any_self_attention(heads);
    const Solution together(any);
    const std::size_t d_v = any.matrices.at(&role::w_v).shape().columns / heads;
    for (std::size_t i = 0; i < heads; ++i) {
      Problem alone = any;
      alone.heads = 1;
      for (auto& [role, w] : alone.matrices) {
        const std::size_t width = w.shape().columns / heads;
        w = columns_of(Matrix(w), i * width, width);
      }
      RC_ASSERT(close(columns_of(together["output"], i * d_v, d_v), Solution(alone)["output"], 1e-12));
    }
  }));
}

TEST_CASE("sentences of a batch do not see each other") {
  CHECK(rc::check("a batch gives what each of its sentences gives alone", [] {
    Problem batch = any_self_attention(1);
    const Shape shape = batch.sequences.front().x->shape();
    for (std::size_t more = size_below(3); more > 0; --more) batch.sequences.push_back({{}, any_matrix(shape)});
    const Solution together(batch);
    for (std::size_t i = 0; i < batch.sequences.size(); ++i) {
      Problem alone = batch;
      alone.sequences = {batch.sequences[i]};
      RC_ASSERT(same(together["sentence." + std::to_string(i + 1) + ".output"], Solution(alone)["output"]));
    }
  }));
}

TEST_CASE("an output lies between the smallest and the largest of the values") {
  CHECK(rc::check("outputs are averages of values", [] {
    const Problem any = any_problem();
    const Matrix output = Solution(any)["output"], &v = any.matrices.at(&role::v);
    for (std::size_t j = 0; j < v.shape().columns; ++j) {
      const Matrix column = columns_of(v, j, 1);
      const auto [low, high] = std::ranges::minmax(cells(column));
      for (std::size_t i = 0; i < output.shape().rows; ++i) {
        RC_ASSERT(output(i, j) >= low - 1e-14);
        RC_ASSERT(output(i, j) <= high + 1e-14);
      }
    }
  }));
}

TEST_CASE("keys and values may come from a memory of another length") {
  const Solution solution(problem(
      R"({"x": [[1, 0]], "memory": [[1], [2], [3]], "w_q": [[0], [1]], "w_k": [[1]], "w_v": [[2]], "b_v": [[1]]})"));
  CHECK(same(solution["v"], matrix({{3}, {5}, {7}})));
  CHECK(solution["weights"].shape() == Shape{1, 3});
  CHECK(close(solution["output"], matrix({{5}}), 1e-14));  // the query is zero: an average
}

TEST_CASE("the scale sqrt-dk divides by the root of the keys' size, and belongs to scaled-dot") {
  CHECK(rc::check("sqrt-dk, its number, and the default are the same", [] {
    Problem any = any_problem();
    const double root = std::sqrt(static_cast<double>(any.matrices.at(&role::k).shape().columns));
    const Solution own(any);
    any.scale = "sqrt-dk";
    RC_ASSERT(same(own["weights"], Solution(any)["weights"]));
    any.scale = fmt::format("{}", root);
    RC_ASSERT(same(own["weights"], Solution(any)["weights"]));
    Matrix scores = own["scores"];
    for (double& score : cells(scores)) score /= root;
    RC_ASSERT(same(scores, own["scaled"]));
    any.scale.clear();
    any.score = "dot";
    RC_ASSERT(same(Solution(any)["scaled"], own["scores"]));
    any.score = "scaled-dot";
    any.scale = "none";
    RC_ASSERT(same(Solution(any)["scaled"], own["scores"]));
  }));
  CHECK(divisor("sqrt-dk", {.d_k = 64})->value == 8.0);
  CHECK(divisor("sqrt-dk", {.d_k = 64})->notation.plain == "√64");
  CHECK_FALSE(divisor("none", {.d_k = 64}).has_value());
  for (const ScoringFunction& function : scoring_functions())
    CHECK_NOTHROW(divisor(function.scale, {.d_k = 4, .n_k = 4}));
}

TEST_CASE("a query that may look at nothing receives nothing, and the reader is told") {
  const Solution solution(problem(R"({"q": [[1], [2]], "k": [[1], [2]], "v": [[5, 6], [7, 8]],
                                      "mask": [[1, 1], [0, 0]], "tokens": ["this", "that"]})"));
  for (const char* name : {"weights", "output"}) {
    for (const double cell : row(solution[name], 1)) CHECK(cell == 0.0);
  }
  CHECK(close(sum_of(row(solution["weights"], 0)), 1.0, 1e-15));
  CHECK(warnings(solution.graph) ==
        std::vector<std::string>{"weights: every key is masked for query that. Its weights are set to 0"});
  const Solution many(problem(R"({"scores": [[1], [1], [1], [1], [1], [1], [1], [1]], "valid_length": 0})"));
  REQUIRE(warnings(many.graph).size() == 1);
  CHECK(warnings(many.graph).front().find("for the queries 1, 2, 3, 4, 5 and 3 more. Their ") != std::string::npos);
}

TEST_CASE("a fill that gives masked keys weight is warned of with that weight, whatever the mask follows from") {
  const auto told_of = [](const std::string& mask) {
    return warnings(Solution(problem(R"({"scores": [[1, 1], [1, 1]], "tokens": ["a", "b"], )" + mask + "}")).graph);
  };
  for (const char* mask : {R"("causal": true)", R"("valid_length": 1)", R"("mask": [[1, 0], [1, 1]])"}) {
    const std::vector<std::string> told = told_of(std::string(mask) + R"(, "mask_fill": 0)");
    REQUIRE(told.size() == 1);
    CHECK(told.front().find("masked keys of query a get weight 0.27: the mask value 0") != std::string::npos);
    CHECK(told_of(std::string(mask) + R"(, "mask_fill": -20)").empty());
  }
}

TEST_CASE("a fill that is not below the scores leaks, and the reader is told") {
  const Solution leaking(problem(R"({"scores": [[-2e6, 0]], "mask": [[1, 0]], "mask_fill": -1e6})"));
  CHECK(leaking["weights"](0, 1) == 1.0);
  const std::vector<std::string> told = warnings(leaking.graph);
  REQUIRE(told.size() == 1);
  CHECK(told.front().find("weights: masked keys of query 1 get weight 1: the mask value -1e+06 is not far") == 0);
  // A low score of one query says nothing about the mask of another, and a query without keys hides no leak.
  const auto told_of = [](const char* json) { return warnings(Solution(problem(json)).graph).size(); };
  CHECK(told_of(R"({"scores": [[5, 5], [-2e6, -2e6]], "mask": [[1, 0], [1, 1]], "mask_fill": -1e6})") == 0);
  CHECK(told_of(R"({"scores": [[-2e6, 0], [1, 1]], "mask": [[1, 0], [0, 0]], "mask_fill": -1e6})") == 2);
  CHECK(warnings(Solution(problem(R"({"scores": [[-9, 0]], "mask": [[1, 0]], "mask_fill": -1e6})")).graph).empty());
  CHECK(warnings(Solution(problem(R"({"scores": [[-2e6, 0]], "mask": [[1, 0]]})")).graph).empty());
}

TEST_CASE("as much is computed as the given matrices allow, and every result belongs to a step") {
  const auto computed = [](std::string_view json) {
    const Solution solution(problem(json));
    std::vector<std::string> names;
    for (const Node& node : solution.graph.nodes()) {
      if (!node.op || node.name.empty()) continue;
      names.push_back(node.name);
      CAPTURE(node.name);
      CHECK(std::ranges::any_of(steps(), [&](const Step& step) { return step.shows(node); }));
    }
    return fmt::format("{}", fmt::join(names, " "));
  };
  CHECK(computed(R"({"x": [[1]]})") == "");
  CHECK(computed(R"({"x": [[1]], "w_v": [[2]]})") == "v");
  CHECK(computed(R"({"q": [[1]], "k": [[1]]})") == "scores scaled masked weights");
  CHECK(computed(R"({"scores": [[1]]})") == "scaled masked weights");
  CHECK(computed(R"({"weights": [[1]], "v": [[1]]})") == "output");
  CHECK(computed(R"({"q": [[1]], "k": [[1]], "v": [[1]], "w_o": [[1]]})") ==
        "scores scaled masked weights head concat output");
}

TEST_CASE("matrices that do not fit together are refused by name and shape") {
  check_refused({
      {"w_q is 3×1 but x is 1×2: w_q must have one row for each of the 2 columns of x",
       solving(R"({"x": [[1, 0]], "w_q": [[1], [1], [1]]})")},
      {"weighted sum: weights is 1×2 but v is 1×3: every key needs one value, so v must have 2 rows",
       solving(R"({"weights": [[0.5, 0.5]], "v": [[1, 2, 3]]})")},
      {"q has 3 columns, which is not divisible by the number of heads (2)",
       [] {
         Problem odd = from_parts(matrix({{1, 2, 3}}), matrix({{1, 2}}), matrix({{1, 2}}));
         odd.heads = 2;
         Solution{odd};
       }},
      {"scores: q is 1×2 but k is 1×3: queries and keys must have the same number of columns",
       solving(R"({"q": [[1, 2]], "k": [[1, 2, 3]]})")},
      {"b_q is 1×3 but w_q is 2×2: the bias must be one row of 2 numbers",
       solving(R"({"x": [[1, 0]], "w_q": [[1, 0], [0, 1]], "b_q": [[1, 2, 3]]})")},
      {"b_v is given without w_v", solving(R"({"x": [[1]], "b_v": [[1]]})")},
      {"‹mask› is 2×1 but the scores are 1×2", solving(R"({"scores": [[1, 2]], "mask": [[1], [0]]})")},
      {"‹mask› is 1×1 but the scores are 1×2", solving(R"({"scores": [[1, 2]], "mask": [[0.5]]})")},
      {"‹valid_length›: 2 lengths are given for 3 queries: give one for all, or one per query",
       solving(R"({"scores": [[1, 2], [3, 4], [5, 6]], "valid_length": [1, 2]})")},
      {"--valid-length: 3 lengths are given for 2 sentences: give one for each",
       solving(R"({"text": ["a b", "c d"], "valid_length": [1, 1, 1]})")},
      {"q has 2 queries but labels for 3: give one word for each",
       solving(R"({"q": [[1], [2]], "k": [[1]], "tokens": ["a", "b", "c"]})")},
      {"scores has 2 keys but labels for 1", solving(R"({"scores": [[1, 2]], "key_tokens": ["a"]})")},
      {"memory has 2 tokens but labels for 1", solving(R"({"x": [[1]], "memory": [[1], [2]], "key_tokens": ["a"]})")},
      {"--heads 2: the scores given are those of one head", solving(R"({"scores": [[1]], "heads": 2})")},
      {"--heads 2: the weights given are those of one head", solving(R"({"weights": [[1]], "heads": 2})")},
      {"q is given for a batch of 2 sentences: give a batch with --text or --x only",
       solving(R"({"x": [[[1]], [[2]]], "q": [[1]]})")},
      {"the 3 columns of k are not divisible by the number of heads (2)",
       solving(R"({"q": [[1, 2]], "k": [[1, 2, 3]], "heads": 2})")},
      {"the 3 columns of w_q are not divisible by the number of heads (2)",
       solving(R"({"x": [[1]], "w_q": [[1, 2, 3]], "heads": 2})")},
      {"d_model (8) is not divisible by the number of heads (3): change --heads, or give --d-k",
       solving(R"({"text": "a", "heads": 3})")},
      {"--tokens labels 1 sentence, and there are 2", solving(R"({"x": [[[1]], [[2]]], "tokens": ["a"]})")},
  });
}

TEST_CASE("numbers that cannot be are refused") {
  check_refused({
      {"x: the cell in row 1, column 2 is nan: every number must be finite", solving(R"({"x": [[0, "NaN"]]})")},
      {"w_q: the cell in row 2, column 1 is inf", solving(R"({"w_q": [[1], ["Infinity"]]})")},
      {"x: the cell in row 1, column 1 is -inf", solving(R"({"x": [["-Infinity"]]})")},
      {"mask: the cell in row 1, column 1 is inf: every number must be finite, or -inf",
       solving(R"({"scores": [[1]], "mask": [["Infinity"]]})")},
      {"x would be 2×2147483648, more than the 134217728 cells that a matrix may have",
       solving(R"({"text": "a b", "d_model": 2147483648})")},
      {"w_q would be 20000×20000", solving(R"({"text": "a", "d_model": 20000})")},
      {"q would be 1000000×1000", solving(R"({"n_q": 1000000, "n_k": 1, "d_k": 1000})")},
      {"‹scale› sqrt-dk needs the key size", solving(R"({"scores": [[1]], "scale": "sqrt-dk"})")},
      {"‹scale› 0: the scores are divided by it, so give a positive number", solving(R"({"scale": 0})")},
      {"‹scale› -2: ", solving(R"({"scale": -2})")},
      {"‹scale› inf: ", solving(R"({"scale": "inf"})")},
      {"'abc' is neither a finite number nor -inf: give a number far below the scores",
       solving(R"({"mask_fill": "abc"})")},
      {"'nan' is neither a finite number", solving(R"({"mask_fill": "nan"})")},
      {"'inf' is neither a finite number", solving(R"({"mask_fill": "inf"})")},
      {"--random: 'x' is not a seed: give a whole number from 0 to 4294967295", solving(R"({"random": "attn:x"})")},
      {"--random: '4294967296' is not a seed", solving(R"({"random": "numpy:4294967296"})")},
      {"--random: '' is not a seed", solving(R"({"random": "numpy:"})")},
      {"--random: '-1' is not a seed", solving(R"({"random": "numpy:-1"})")},
      {"\"seed\" must be a whole number from 0 to 4294967295, not '4294967296'", solving(R"({"seed": 4294967296})")},
      {"--seed must be a whole number from 0 to 4294967295, not '-1'", given(option::seed, {"-1"})},
      {"--heads must be 1 or more", given(option::heads, {"0"})},
      {"--heads must be a whole number of 1 or more, not '1.5'", given(option::heads, {"1.5"})},
      {"--heads must be a whole number from 1 to 2147483648, not '2147483649'", given(option::heads, {"2147483649"})},
      {"--heads must be a whole number of 1 or more, not ''", given(option::heads, {""})},
      {"--valid-length must be a whole number of 0 or more", given(option::valid_length, {"1,x"})},
      {"--valid-length: give at least one whole number", given(option::valid_length, {","})},
  });
}

TEST_CASE("fields that contradict each other, or are given twice, are refused") {
  check_refused({
      {"--text and --x are both given: give one of them", solving(R"({"text": "a", "x": [[1]]})")},
      {"--text and --tokens are both given", solving(R"({"text": "a", "tokens": ["b"]})")},
      {"--scores and --weights are both given", solving(R"({"scores": [[1]], "weights": [[1]]})")},
      {"--scores and --q are both given", solving(R"({"scores": [[1]], "q": [[1]]})")},
      {"--weights and --memory are both given", solving(R"({"weights": [[1]], "memory": [[1]]})")},
      {"--n-q and --x are both given", solving(R"({"n_q": 1, "n_k": 1, "x": [[1]]})")},
      {"--n-q and --n-k go together: give both", solving(R"({"n_q": 1})")},
      {"--q and --wq are both given", solving(R"({"q": [[1]], "w_q": [[1]]})")},
      {"--k and --wk are both given", solving(R"({"k": [[1]], "w_k": [[1]]})")},
      {"--v and --wv are both given", solving(R"({"v": [[1]], "w_v": [[1]]})")},
      {"--embeddings gives the vectors of the words of --text, which is not given",
       given(option::embeddings, {"glove"})},
      {"--heads is given 2 times: give it once", given(option::heads, {"1", "2"})},
      {"--q is given 2 times", given(option::q, {"1", "2"})},
      {"--scale is given 2 times", given(option::scale, {"1", "2"})},
      {"--valid-length is given 2 times", given(option::valid_length, {"1", "2"})},
  });
}

TEST_CASE("names that are not there are answered with the nearest one") {
  check_refused({
      {"unknown scale 'sqrt-dl' (did you mean 'sqrt-dk'?)", solving(R"({"scale": "sqrt-dl"})")},
      {"unknown name 'scaled-dto' (did you mean 'scaled-dot'?)", solving(R"({"score": "scaled-dto"})")},
      {"unknown scoring function 'dto'",
       [] {
         Problem misspelt = from_parts(matrix({{1}}), matrix({{1}}), matrix({{1}}));
         misspelt.score = "dto";
         Solution{misspelt};
       }},
      {"unknown name 'nunpy:0'", solving(R"({"random": "nunpy:0"})")},
      {"file.json: unknown field 'w_k1' (did you mean 'w_k'?)", solving(R"({"w_k1": [[1]]})")},
      {"file.json: unknown field 'unheard_of'. Choose one of: title, summary, about, drawn, drawn_from, text",
       solving(R"({"unheard_of": 1})")},
  });
}

TEST_CASE("fields of the wrong kind are refused with the file's name") {
  check_refused({
      {"file.json: a problem must be a JSON object of fields, such as {\"x\": [[1, 0]]}", solving("[1]")},
      {"file.json: \"title\" must be a string", solving(R"({"title": 1})")},
      {"file.json: \"about\" must be a list of strings", solving(R"({"about": 3})")},
      {"file.json: \"causal\" must be true or false", solving(R"({"causal": 1})")},
      {"file.json: \"text\" must be a list of strings", solving(R"({"text": [1]})")},
      {"file.json: \"text\" must be a list of strings", solving(R"({"text": []})")},
      {"file.json: \"tokens\" must be a list of strings", solving(R"({"tokens": [["a"], [1]]})")},
      {"file.json: \"heads\" must be a whole number that is not negative", solving(R"({"heads": "2"})")},
      {"file.json: \"heads\" must be a whole number that is not negative", solving(R"({"heads": -1})")},
      {"file.json: \"valid_length\" must be at least one whole number", solving(R"({"valid_length": []})")},
      {"file.json: \"valid_length\" must be a whole number that is not negative",
       solving(R"({"valid_length": [1, 2.5]})")},
      {"file.json: \"scale\" must be a string or a number", solving(R"({"scale": true})")},
      {"file.json: \"x\"", solving(R"({"x": "1 0"})")},
      {"file.json: \"embeddings\" names a file, and a problem file may not name other files: give "
       "--embeddings on the "
       "command",
       solving(R"({"embeddings": "/etc/passwd"})")},
  });
}

namespace {

// softmax(scores) v, written out.
Matrix by_hand(const Matrix& scores, const Matrix& v) {
  Matrix result({scores.shape().rows, v.shape().columns}, 0.0);
  for (std::size_t i = 0; i < scores.shape().rows; ++i) {
    double sum = 0.0;
    for (const double score : row(scores, i)) sum += std::exp(score);
    for (std::size_t j = 0; j < scores.shape().columns; ++j) {
      for (std::size_t c = 0; c < v.shape().columns; ++c) result(i, c) += std::exp(scores(i, j)) / sum * v(j, c);
    }
  }
  return result;
}

const Matrix some_q = matrix({{1, -2, 0.5}, {3, 0.25, -1}});
const Matrix some_k = matrix({{0.5, 1, 2}, {-1, 2, 0.25}, {2, -2, 1}, {0.75, 0.5, -0.5}});
const Matrix some_v = matrix({{1, 2}, {-3, 0.5}, {0.25, 4}, {2, -1}});

// q · k, changed by a function of the score, the query and the key.
template <class Change>
Matrix some_scores(const Change& change) {
  Matrix scores({2, 4}, 0.0);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      for (std::size_t c = 0; c < 3; ++c) scores(i, j) += some_q(i, c) * some_k(j, c);
      scores(i, j) = change(scores(i, j), i, j);
    }
  }
  return scores;
}

}  // namespace

TEST_CASE("scores are multiplied by a number in place of the division") {
  Problem problem = from_parts(some_q, some_k, some_v);
  problem.multiplier = 0.125;
  const Matrix scores = some_scores([](double s, std::size_t, std::size_t) { return 0.125 * s; });
  CHECK(close(Solution(problem)["scaled"], scores, 1e-14));
  CHECK(close(Solution(problem)["output"], by_hand(scores, some_v), 1e-14));
}

TEST_CASE("a soft cap bends the scaled scores before the mask") {
  Problem problem = from_parts(some_q, some_k, some_v);
  problem.scale = "2";
  problem.soft_cap = 1.5;
  problem.causal = true;
  problem.causal_offset = 1;
  const auto capped = [](double s) { return 1.5 * std::tanh(s / 2 / 1.5); };
  const Matrix scores =
      some_scores([&](double s, std::size_t i, std::size_t j) { return j <= i + 1 ? capped(s) : -infinity; });
  CHECK(close(Solution(problem)["capped"], some_scores([&](double s, std::size_t, std::size_t) { return capped(s); }),
              1e-14));
  CHECK(close(Solution(problem)["masked"], scores, 1e-14));
  CHECK(close(Solution(problem)["output"], by_hand(scores, some_v), 1e-14));
}

TEST_CASE("with an offset the queries of a causal mask stand behind earlier keys") {
  Problem problem = from_parts(some_q, some_k, some_v);
  problem.causal = true;
  problem.causal_offset = 2;  // the last two of four
  CHECK(same(Solution(problem)["mask"], matrix({{1, 1, 1, 0}, {1, 1, 1, 1}})));
}

TEST_CASE("a mask of one row holds for every query, whether it permits or is added") {
  Problem problem = from_parts(some_q, some_k, some_v);
  problem.scale = "none";
  problem.mask = GivenMask{{matrix({{1, 0, 1, 1}})}, false};
  CHECK(same(Solution(problem)["mask"], matrix({{1, 0, 1, 1}, {1, 0, 1, 1}})));
  problem.mask = GivenMask{{matrix({{0, -infinity, 0.5, 1}})}, true};
  const Matrix added = some_scores([](double s, std::size_t, std::size_t j) {
    return s + std::array{0.0, -infinity, 0.5, 1.0}[j];
  });
  CHECK(close(Solution(problem)["output"], by_hand(added, some_v), 1e-14));
}

TEST_CASE("values may come from another input than the keys") {
  Problem problem;
  problem.sequences.front().x = matrix({{1, 2}, {0.5, -1}});
  problem.matrices = {{&role::memory, some_k},
                      {&role::value_memory, matrix({{1}, {2}, {-1}, {0.5}})},
                      {&role::w_q, matrix({{1, 0.5}, {-1, 2}})},
                      {&role::w_k, matrix({{1, 0}, {0.5, 1}, {0, -1}})},
                      {&role::w_v, matrix({{2, -3}})}};
  CHECK(close(Solution(problem)["v"], matrix({{2, -3}, {4, -6}, {-2, 3}, {1, -1.5}}), 1e-15));
  const Matrix weights = Solution(problem)["weights"];
  CHECK(weights.shape() == Shape{2, 4});
  Problem without = problem;
  without.matrices.erase(&role::value_memory);
  without.matrices[&role::w_v] = matrix({{1}, {1}, {1}});
  CHECK(same(Solution(without)["weights"], weights));
}
