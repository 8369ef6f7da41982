#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "commands_tried.hpp"
#include "core/model/recipe.hpp"
#include "data/files/json.hpp"
#include "data/parameters/parameters.hpp"
#include "process.hpp"
#include "solution.hpp"
#include "testing.hpp"
#include "texts.hpp"

// What a problem can be told beside its matrices, compared with plain loops. Those that tests/oracles draws it compares
// with NumPy: heads that share keys among them.

using namespace attn;

namespace {

using M = std::vector<std::vector<double>>;  // row after row

template <class Cell>
M made(std::size_t rows, std::size_t columns, const Cell& cell) {
  M result(rows, std::vector<double>(columns));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) result[i][j] = cell(i, j);
  }
  return result;
}

M turned(const M& a) {
  return made(a[0].size(), a.size(), [&](std::size_t i, std::size_t j) { return a[j][i]; });
}

M beside(M a, const M& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i].insert(a[i].end(), b[i].begin(), b[i].end());
  return a;
}

M linear(const M& x, const M& w, const M& b) {
  return made(x.size(), w[0].size(), [&](std::size_t i, std::size_t j) {
    double sum = b[0][j];
    for (std::size_t k = 0; k < w.size(); ++k) sum += x[i][k] * w[k][j];
    return sum;
  });
}

M first_columns(const M& a, std::size_t count) {
  return made(a.size(), count, [&](std::size_t i, std::size_t j) { return a[i][j]; });
}

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  M operator()(std::size_t rows, std::size_t columns) {
    return made(rows, columns, [&](std::size_t, std::size_t) { return number_(random_); });
  }
  M flags(std::size_t rows, std::size_t columns) {
    return made(rows, columns, [&](std::size_t, std::size_t) { return random_() % 3 == 0 ? 0.0 : 1.0; });
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<double> number_;
};

Matrix matrix_of(const M& rows) {
  Matrix result({rows.size(), rows[0].size()});
  for (std::size_t i = 0; i < rows.size(); ++i) std::ranges::copy(rows[i], row(result, i).begin());
  return result;
}

M rows_of_json(const Json& json) { return json.get<M>(); }

// As a literal of the command line.
std::string literal(const M& rows) { return Json(rows).dump(); }

// All matrices of a page, by name.
Json arrays(const Words& words) { return page(words)["arrays"]; }

bool near(const M& a, const M& b, double tolerance = 1e-12) { return close(matrix_of(a), matrix_of(b), tolerance); }

Problem problem_with(std::size_t heads, std::size_t key_heads, Random& random) {
  constexpr std::size_t n = 5, d_model = 6, d_k = 3, d_v = 2;
  Problem problem;
  problem.sequences = {{{}, matrix_of(random(n, d_model))}};
  problem.matrices.emplace(&role::w_q, matrix_of(random(d_model, heads * d_k)));
  problem.matrices.emplace(&role::w_k, matrix_of(random(d_model, key_heads * d_k)));
  problem.matrices.emplace(&role::w_v, matrix_of(random(d_model, key_heads * d_v)));
  problem.heads = heads;
  problem.key_heads = key_heads;
  return problem;
}

const Words scores = {"softmax", "--scores", "1 2 3; 3 4 5; 0 0 1"};

}  // namespace

TEST_CASE("heads of queries share heads of keys and values, in files as well") {
  Random random(1);
  const HeadCounts counts[] = {{4, 2}, {4, 1}, {6, 3}, {3, 3}, {2, 1}};
  for (const HeadCounts heads : counts) {
    CAPTURE(heads.of_queries);
    CAPTURE(heads.of_keys);
    const Problem problem = problem_with(heads.of_queries, heads.of_keys, random);
    const Solution once(problem), again(build_problem(read_problem_file(written(problem), "x.json")));
    CHECK(same(again["output"], once["output"]));
    const std::size_t shared = heads.of_queries / heads.of_keys;
    const auto keys_of = [&](std::size_t head) { return once[fmt::format("head.{}.k", head)]; };
    for (std::size_t head = 2; head <= heads.of_queries; ++head)
      CHECK(same(keys_of(head), keys_of(head - 1)) == ((head - 1) % shared != 0));
  }
  refuses({"walk", "--text", "a b", "--d-model", "8", "--heads", "4", "--kv-heads", "3"}, "is not divisible");
  refuses({"walk", "--q", "1 2", "--k", "1 2 3", "--v", "1 2", "--heads", "2", "--kv-heads", "2"}, "change --heads");
  const Json drawn = arrays({"walk", "--text", "a b", "--d-model", "8", "--heads", "4", "--kv-heads", "2"});
  CHECK(drawn["w_k"][0].size() == 4);
}

TEST_CASE("the base of positions is that of the angles, rotary and sinusoidal") {
  constexpr double base = 50.0;
  Random random(2);
  const M q = random(4, 4);
  const Json turned = arrays(
      {"walk", "--q", literal(q), "--k", literal(q), "--v", literal(q), "--positions", "rotary", "--base", "50"});
  M expected = q;
  for (std::size_t i = 0; i < q.size(); ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      const double angle = static_cast<double>(i) / std::pow(base, static_cast<double>(j) / 2.0);
      const double x = q[i][2 * j], y = q[i][2 * j + 1];
      expected[i][2 * j] = x * std::cos(angle) - y * std::sin(angle);
      expected[i][2 * j + 1] = x * std::sin(angle) + y * std::cos(angle);
    }
  }
  CHECK(near(rows_of_json(turned["rotated_q"]), expected));
  const M sines = made(4, 4, [&](std::size_t i, std::size_t j) {
    const double angle = static_cast<double>(i) / std::pow(base, static_cast<double>(j / 2) / 2.0);
    return j % 2 == 0 ? std::sin(angle) : std::cos(angle);
  });
  for (const Words& words : {Words{"positions", "--n", "4", "--d-model", "4"},
                             Words{"add-positions", "--x", literal(q), "--positions", "sinusoidal"}})
    CHECK(near(rows_of_json(arrays(words + Words{"--base", "50"})["positions"]), sines));
  const ProcessResult idle = run_attn({"walk", "--text", "a b", "--base", "50"});
  check_has(idle.errors, "--base has no effect: this kind of positional encoding has no wavelengths");
  CHECK(run_attn({"compare-positions", "--base", "50"}).out != run_attn({"compare-positions"}).out);
}

TEST_CASE("a feed-forward layer has each activation that a model has") {
  const auto gelu = [](double x) { return x * 0.5 * (1.0 + std::erf(x / std::sqrt(2.0))); };
  const auto gelu_by_tanh = [](double x) {
    return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
  };
  const std::map<std::string, std::function<double(double)>> functions = {
      {"relu", [](double x) { return std::max(x, 0.0); }},
      {"gelu", gelu},
      {"gelu-tanh", gelu_by_tanh},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"silu", [](double x) { return x / (1.0 + std::exp(-x)); }}};
  Random random(3);
  const M x = random(3, 2), w_1 = random(2, 5), b_1 = random(1, 5), w_2 = random(5, 2), b_2 = random(1, 2);
  for (const Activation& activation : activations()) {
    CAPTURE(activation.name);
    REQUIRE(functions.contains(std::string(activation.name)));
    const Words words = {"feed-forward",
                         "--x",
                         literal(x),
                         "--w1",
                         literal(w_1),
                         "--b1",
                         literal(b_1),
                         "--w2",
                         literal(w_2),
                         "--b2",
                         literal(b_2),
                         "--activation",
                         std::string(activation.name)};
    const M inner = linear(x, w_1, b_1);
    const M activated = made(
        3, 5, [&](std::size_t i, std::size_t j) { return functions.at(std::string(activation.name))(inner[i][j]); });
    CHECK(near(rows_of_json(arrays(words)["feed_forward"]), linear(activated, w_2, b_2)));
    CHECK(run_attn(Words{"backward"} + words + Words{"--check"}).code == 0);
  }
  check_has(run_attn({"walk", "--text", "a b", "--activation", "gelu"}).errors, "without a feed-forward layer");
  refuses({"feed-forward", "--activation", "gel"}, "gelu");
}

TEST_CASE("a norm by itself is each norm that a model has, with its gradients") {
  Random random(4);
  const M x = random(3, 4), gamma = random(1, 4);
  for (const NormKind& kind : norm_kinds()) {
    CAPTURE(kind.name);
    const M expected = made(3, 4, [&](std::size_t i, std::size_t j) {
      double mean = 0.0, squares = 0.0;
      for (const double cell : x[i]) mean += kind.name == "layer" ? cell / 4.0 : 0.0;
      for (const double cell : x[i]) squares += (cell - mean) * (cell - mean) / 4.0;
      return (gamma[0][j] + (kind.adds_one ? 1.0 : 0.0)) * (x[i][j] - mean) / std::sqrt(squares + 0.01);
    });
    const Words words = {"layer-norm", "--x",          literal(x),
                         "--gamma",    literal(gamma), "--epsilon",
                         "0.01",       "--norm-kind",  std::string(kind.name)};
    CHECK(near(rows_of_json(arrays(words)["output"]), expected));
    CHECK(run_attn(Words{"backward"} + words + Words{"--check"}).code == 0);
  }
  refuses({"layer-norm", "--norm-kind", "rms", "--beta", "1 1 1 1"}, "has no β");
}

TEST_CASE("a mask of the keys is the same as a mask whose rows it thins, in every form of the mask") {
  Random random(5);
  for (int i = 0; i < 20; ++i) {
    const M keys = random.flags(1, 4), mask = random.flags(3, 4), given = random(3, 4);
    const M both = made(3, 4, [&](std::size_t q, std::size_t k) { return mask[q][k] * keys[0][k]; });
    const auto written = [](const M& flags) {
      std::vector<std::vector<int>> whole;
      for (const auto& row : flags) whole.emplace_back(row.begin(), row.end());
      return Json(whole).dump();
    };
    const Words words = {"softmax", "--scores", literal(given)};
    const Json merged = arrays(words + Words{"--mask", written(both)})["weights"];
    CHECK(arrays(words + Words{"--mask", written(mask), "--key-mask", written(keys)})["weights"] == merged);
  }
  const Json batch = arrays({"softmax", "--text", "a b c", "--text", "d e f", "--key-mask", "1 0 1; 1 1 0"});
  for (std::size_t q = 0; q < 3; ++q) {
    CHECK(batch["sentence.1.weights"][q][1] == 0.0);
    CHECK(batch["sentence.1.weights"][q][2] != 0.0);
    CHECK(batch["sentence.2.weights"][q][2] == 0.0);
    CHECK(batch["sentence.2.weights"][q][1] != 0.0);
  }
  refuses(scores + Words{"--key-mask", "1.0 0.0 1.0"}, "true or 1 (not 1.0)");
  refuses(scores + Words{"--key-mask", "1 0"}, "--key-mask has 2 columns but the scores have 3");
  refuses(scores + Words{"--key-mask", "1 0 1; 1 1 1"}, "--key-mask has 2 rows: give one");
  // A problem file keeps it.
  const ProcessResult file = run_attn(scores + Words{"--key-mask", "1 0 1", "--format", "json"});
  CHECK(run_attn({"softmax", "--problem", "-", "--format", "json"}, {.input = file.out}).out == file.out);
}

TEST_CASE("a model has masks of its keys too, beside a mask") {
  const Words encoder = {"encoder", "--source", "a b c", "--only", "*weights"};
  CHECK(arrays(encoder + Words{"--mask", "1 1 1; 1 1 0; 1 0 1", "--key-mask", "0 1 1"}) ==
        arrays(encoder + Words{"--mask", "0 1 1; 0 1 0; 0 0 1"}));
  const Words model = {"transformer", "--source", "a b c", "--target", "d e", "--only", "*cross_attention*weights"};
  CHECK(arrays(model + Words{"--memory-key-mask", "1 0 1"}) == arrays(model + Words{"--memory-mask", "1 0 1"}));
  refuses(encoder + Words{"--key-mask", "0 1"}, "--key-mask has 2 columns, and there are 3 keys");
}

TEST_CASE("each head has a mask of its own where several are given") {
  Random random(6);
  for (const bool is_additive : {false, true}) {
    const Problem problem = problem_with(2, 2, random);
    std::vector<Matrix> masks;
    for (int i = 0; i < 2; ++i) {
      masks.push_back(matrix_of(random.flags(5, 5)));
      if (!is_additive) continue;
      for (double& cell : cells(masks.back())) cell = cell == 0.0 ? -0.5 : 1.5;
    }
    Problem several = problem;
    several.mask = GivenMask{masks, is_additive};
    const Solution all(several), again(build_problem(read_problem_file(written(several), "x.json")));
    CHECK(same(again["output"], all["output"]));
    for (std::size_t head = 0; head < 2; ++head) {
      Problem alone = problem;
      alone.mask = GivenMask{{masks[head]}, is_additive};
      const std::string weights = fmt::format("head.{}.weights", head + 1);
      CHECK(same(all[weights], Solution(alone)[weights]));
    }
  }
  const Words heads = {"walk", "--text", "a b", "--d-model", "4", "--heads", "2"};
  CHECK(arrays(heads + Words{"--mask", "[[[1, 0], [1, 1]], [[1, 1], [0, 1]]]"})["head.2.weights"][1][0] == 0.0);
  refuses(heads + Words{"--mask", "1 0", "--mask", "1 1", "--mask", "0 1"}, "3 masks are given for 2 heads");
  refuses({"encoder", "--source", "a b", "--mask", "1 0", "--mask", "1 1"}, "2 masks are given: give one");
}

TEST_CASE("scores may be multiplied by a negative number, and a causal mask may leave out a query's own key") {
  const Json negative = arrays({"walk", "--q", "1 2; 3 1", "--k", "1 1; 2 0", "--v", "1; 2", "--multiply", "-2"});
  CHECK(negative["scaled"] == Json::parse("[[-6.0, -4.0], [-8.0, -12.0]]"));
  refuses(scores + Words{"--multiply", "0"}, "is not a finite number other than 0");
  const Words mask = {"mask", "--scores", "1 2 3; 4 5 6; 7 8 9"};
  const auto masked = [&](const std::string& offset) {
    return run_attn(mask + Words{"--causal-offset", offset, "--format", "csv"}).out;
  };
  CHECK(masked("-1") == "-inf,-inf,-inf\n4,-inf,-inf\n7,8,-inf\n");
  CHECK(masked("-2") == "-inf,-inf,-inf\n-inf,-inf,-inf\n7,-inf,-inf\n");
  CHECK(masked("-9") == "-inf,-inf,-inf\n-inf,-inf,-inf\n-inf,-inf,-inf\n");
  CHECK(masked("1") == "1,2,-inf\n4,5,6\n7,8,9\n");
  refuses(mask + Words{"--causal-offset", "0.5"}, "is not a whole number");
  const ProcessResult file = run_attn(mask + Words{"--causal-offset", "-1", "--format", "json"});
  CHECK(run_attn({"mask", "--problem", "-", "--format", "json"}, {.input = file.out}).out == file.out);
}

TEST_CASE("a valid length beyond the keys is all of them, and the page says so") {
  const ProcessResult longer = run_attn(scores + Words{"--valid-length", "9"}),
                      equal = run_attn(scores + Words{"--valid-length", "3"});
  CHECK(longer.code == 0);
  check_has(longer.errors, "--valid-length 9 is more than the number of keys, 3: it counts as all of them");
  CHECK(longer.out == equal.out);
  CHECK(equal.errors == "");
  check_has(run_attn({"softmax", "--text", "a b", "--text", "c d", "--valid-length", "1,5"}).errors,
            "--valid-length 5 is more than the number of keys, 2");
  check_has(run_attn({"encoder", "--source", "a b", "--valid-length", "4"}).errors,
            "--valid-length 4 is more than the number of keys, 2");
}

TEST_CASE("two matrices are concatenated side by side or below each other, and each cell says where it is from") {
  const auto csv = [](const Words& words) { return run_attn(Words{"concat"} + words + Words{"--format", "csv"}).out; };
  CHECK(csv({"--left", "1 2; 3 4", "--right", "5; 6", "--only", "result"}) == "1,2,5\n3,4,6\n");
  CHECK(csv({"--above", "1 2; 3 4", "--below", "5 6", "--only", "result"}) == "1,2\n3,4\n5,6\n");
  check_has(run_attn({"concat", "--above", "1 2", "--below", "5 6", "--explain", "result[2,1]"}).out, "below[1,1]");
  refuses({"concat", "--left", "1 2", "--right", "5; 6"}, "1×2");
  refuses({"concat", "--above", "1 2", "--below", "5"}, "same number of columns");
  refuses({"concat", "--above", "1 2"}, "give both");
  refuses({"concat", "--above", "1 2", "--below", "3 4", "--x", "1 2"}, "--x belongs to a problem");
  refuses({"concat", "1 2", "3 4"},
          "attn concat does not expect '1 2': give matrices with --left and --right, or --above and --below");
  refuses({"scores", "1 2"}, "attn scores does not expect '1 2': see attn help scores");
  for (const char* number : {"nan", "inf", "-inf"}) {
    refuses({"concat", "--left", "1 2", "--right", number}, "--right: the cell in row 1, column 1 is");
    refuses({"concat", "--above", std::string("1 ") + number, "--below", "1 2"},
            "--above: the cell in row 1, column 2");
    refuses({"product", "--left", "1 2", "--right", std::string("1; ") + number}, "--right: the cell in row 2");
  }
  refuses({"backward", "concat", "--left", "1 2", "--right", "3 4"}, "attn concat cannot be shown by attn backward");
  refuses({"backward", "concat"}, "attn concat cannot be shown by attn backward");
}

TEST_CASE("concatenated files keep the labels of rows and columns that they have") {
  const TemporaryFolder folder;
  const std::string words = folder.write("w.csv", ",x,y\nit,1,2\nwas,3,4\n"),
                    others = folder.write("o.csv", ",z,y\nthe,5,6\n"), more = folder.write("m.csv", "u,v\n5,6\n7,8\n"),
                    unlike = folder.write("u.csv", ",u\na,5\nb,6\n");
  const auto result = [](const Words& line) {
    return run_attn(Words{"concat"} + line + Words{"--only", "result", "--format", "csv"});
  };
  CHECK(result({"--left", words, "--right", more}).out ==
        "\"\",\"x\",\"y\",\"u\",\"v\"\n\"it\",1,2,5,6\n\"was\",3,4,7,8\n");
  CHECK(result({"--left", more, "--right", words}).out ==
        "\"\",\"u\",\"v\",\"x\",\"y\"\n\"it\",5,6,1,2\n\"was\",7,8,3,4\n");
  CHECK(result({"--left", words, "--right", "5; 6"}).out == "\"\",\"x\",\"y\",\"1\"\n\"it\",1,2,5\n\"was\",3,4,6\n");
  const ProcessResult below = result({"--above", words, "--below", others});
  CHECK(below.out == "\"\",\"x\",\"y\"\n\"it\",1,2\n\"was\",3,4\n\"the\",5,6\n");
  CHECK(below.errors ==
        "attn: warning: --above and --below have different labels of columns: the result has those of --above\n");
  CHECK(result({"--left", words, "--right", unlike}).errors.find("different labels of rows") != std::string::npos);
  CHECK(result({"--left", words, "--right", more}).errors.empty());
}

TEST_CASE("the cross-entropy and its gradient are those of plain loops, smoothed or not") {
  Random random(7);
  const M logits = random(3, 4);
  const std::vector<std::size_t> right = {2, 4, 1};
  for (const double smoothing : {0.0, 0.3}) {
    const Words words = {"cross-entropy",
                         "--logits",
                         literal(logits),
                         "--targets",
                         "2,4,1",
                         "--smoothing",
                         fmt::format("{}", smoothing)};
    double loss = 0.0;
    const M gradient = made(3, 4, [&](std::size_t i, std::size_t j) {
      const double target = smoothing / 4.0 + (j + 1 == right[i] ? 1.0 - smoothing : 0.0);
      double sum = 0.0;
      for (const double logit : logits[i]) sum += std::exp(logit);
      const double probability = std::exp(logits[i][j]) / sum;
      loss -= target * std::log(probability) / 3.0;
      return (probability - target) / 3.0;
    });
    CHECK(arrays(words)["loss"][0][0].get<double>() == doctest::Approx(loss).epsilon(1e-13));
    CHECK(near(rows_of_json(arrays(Words{"backward"} + words)["d_logits"]), gradient));
    CHECK(run_attn(Words{"backward"} + words + Words{"--check"}).code == 0);
  }
  CHECK(run_attn({"cross-entropy"}).code == 0);
  refuses({"cross-entropy", "--logits", "1 2", "--targets", "0"}, "--targets must be 1 or more");
  refuses({"cross-entropy", "--logits", "1 2", "--targets", "3"}, "3 is no column of --logits");
  refuses({"cross-entropy", "--logits", "1 2", "--targets", "1,2"}, "2 words for 1 row");
  refuses({"cross-entropy", "--logits", "1 2"}, "give both");
}

TEST_CASE("one attention of a model's file is walked through by its prefix, whatever the maker's names") {
  constexpr std::size_t d = 4;
  Random random(8);
  const M w_q = random(d, d), w_k = random(d, d), w_v = random(d, d), w_o = random(d, d), b_q = random(1, d),
          b_k = random(1, d), b_v = random(1, d), b_o = random(1, d), x = random(3, d);
  const TemporaryFolder folder;
  const auto walk = [&](const std::string& name, const std::map<std::string, M>& tensors, const Words& more) {
    ParameterSet set = {{"wte.weight", matrix_of(random(7, d))}};
    for (const auto& [tensor, numbers] : tensors) set.emplace("model.h.0.attn." + tensor, matrix_of(numbers));
    const std::string path =
        folder.write(name + ".safetensors", written_by([&](Sink& sink) { write_safetensors(set, sink); }));
    return Words{"walk", "--parameters", path, "--prefix", "model.h.0.attn", "--heads", "2", "--x", literal(x)} + more;
  };
  const Words own = {"walk",       "--x",  literal(x),   "--wq",    literal(w_q), "--wk",
                     literal(w_k), "--wv", literal(w_v), "--bq",    literal(b_q), "--bk",
                     literal(b_k), "--bv", literal(b_v), "--heads", "2"};
  const Words output = {"--wo", literal(w_o), "--bo", literal(b_o)};
  const M with_output = rows_of_json(arrays(own + output)["output"]), without = rows_of_json(arrays(own)["output"]);
  const M packed = beside(beside(w_q, w_k), w_v), bias = beside(beside(b_q, b_k), b_v);
  const std::map<std::string, M> gpt2 = {
      {"c_attn.weight", packed}, {"c_attn.bias", bias}, {"c_proj.weight", w_o}, {"c_proj.bias", b_o}};
  const std::map<std::string, M> mingpt = {
      {"c_attn.weight", turned(packed)}, {"c_attn.bias", bias}, {"c_proj.weight", turned(w_o)}, {"c_proj.bias", b_o}};
  CHECK(near(rows_of_json(arrays(walk("gpt2", gpt2, {}))["output"]), with_output));
  CHECK(near(rows_of_json(arrays(walk("mingpt", mingpt, {}))["output"]), with_output));
  check_has(run_attn(walk("gpt2", gpt2, {})).out, "--causal");
  check_lacks(run_attn(walk("gpt2", gpt2, {"--causal"})).out, "--causal adds it");
  for (const std::string last : {"o_proj", "out_proj"}) {
    const std::map<std::string, M> linear = {
        {"q_proj.weight", turned(w_q)}, {"q_proj.bias", b_q}, {"k_proj.weight", turned(w_k)},  {"k_proj.bias", b_k},
        {"v_proj.weight", turned(w_v)}, {"v_proj.bias", b_v}, {last + ".weight", turned(w_o)}, {last + ".bias", b_o}};
    CHECK(near(rows_of_json(arrays(walk(last, linear, {}))["output"]), with_output));
  }
  const std::map<std::string, M> by_name = {{"query.weight", turned(w_q)}, {"query.bias", b_q},
                                            {"key.weight", turned(w_k)},   {"key.bias", b_k},
                                            {"value.weight", turned(w_v)}, {"value.bias", b_v}};
  CHECK(near(rows_of_json(arrays(walk("bert", by_name, {}))["output"]), without));
  // Heads that share keys are known by the shapes; a bias may stand alone.
  const M narrow_k = first_columns(w_k, 2), narrow_v = first_columns(w_v, 2);
  const std::map<std::string, M> grouped = {{"q_proj.weight", turned(w_q)},
                                            {"q_proj.bias", b_q},
                                            {"k_proj.weight", turned(narrow_k)},
                                            {"v_proj.weight", turned(narrow_v)},
                                            {"o_proj.weight", turned(w_o)}};
  const Words shared = {"walk",
                        "--x",
                        literal(x),
                        "--wq",
                        literal(w_q),
                        "--wk",
                        literal(narrow_k),
                        "--wv",
                        literal(narrow_v),
                        "--bq",
                        literal(b_q),
                        "--wo",
                        literal(w_o),
                        "--heads",
                        "2",
                        "--kv-heads",
                        "1"};
  CHECK(near(rows_of_json(arrays(walk("llama", grouped, {}))["output"]), rows_of_json(arrays(shared)["output"])));
}

TEST_CASE("an option that says what the file says already is no contradiction") {
  const TemporaryFolder folder;
  const std::string file = folder.write("p.json", R"({"x": [[1, 0, 2, 1], [0, 1, 1, 3]], "heads": 2, "causal": true,
    "seed": 1, "scale": "sqrt-dk", "score": "scaled-dot", "activation": "relu", "positions": "none"})");
  const Words walk = {"walk", "--problem", file, "--only", "*weights"};
  const Words agreeing[] = {
      {"--causal"}, {"--heads", "2"}, {"--scale", "sqrt-dk"}, {"--positions", "none"}, {"--causal-offset", "0"}};
  for (const Words& more : agreeing) {
    const ProcessResult finished = run_attn(walk + more);
    CHECK_MESSAGE(finished.code == 0, finished.errors);
    CHECK(finished.out == run_attn(walk).out);
  }
}
