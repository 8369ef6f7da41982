// Says for right_code.py, as one JSON line for each problem of tests/mistake_problems.hpp and of `others` below, which
// code makes the matrices of that problem:
//   {"problem": …, "matrices": {NUMBER: rows, …}, "codes": [{"matrix": NAME, "made": NUMBER, "row": …, "code": …,
//     "result": …, "names": {NAME: {"is": numbers, permissions or ids, "of": [NUMBER, …]}, …}}, …]}
// The first line has the rows of the table.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "mistake_problems.hpp"
#include "school/check/right_code.hpp"

namespace {

using namespace attn;

void share_embeddings(Transformer& model) { model.recipe.tied_output = true; }

// Words of a model whose output layer has no bias, and their losses without smoothing.
std::shared_ptr<Graph> losses_of_shared_embeddings(std::size_t) {
  auto graph = std::make_shared<Graph>();
  std::mt19937 generator(1);
  std::normal_distribution<double> normal(0.0, 1.0);
  const auto any = [&] { return normal(generator); };
  const Value x = graph->input(role::x, filled({3, 2}, any), axis("tokens"), axis("features"));
  const Value e = graph->input(role::e, filled({4, 2}, any), axis("words"), axis("features"));
  double id = 1.0;
  const Matrix ids = filled({3, 1}, [&] { return ++id; });
  const Value expected = graph->input(role::expected, ids, axis("tokens"), axis("id"));
  name(role::losses, cross_entropy(name(role::logits, matmul_transposed(x, e)), expected));
  return graph;
}

// What the mistakes need no problem for.
using Size = std::size_t;
// clang-format off
constexpr tried::Problem others[] = {
    {"dot", [](Size n) { return tried::walked(R"({"score": "dot"})", n); }},
    {"scale", [](Size n) { return tried::walked(R"({"scale": 2.5})", n); }},
    {"root-of-keys", [](Size n) { return tried::walked(R"({"scale": "sqrt-n"})", n); }},
    {"factor", [](Size n) { return tried::walked(R"({"multiply": 0.3})", n); }},
    {"scaled-cosine", [](Size n) { return tried::walked(R"({"score": "cosine", "scale": "sqrt-dk"})", n); }},
    {"gaussian", [](Size n) { return tried::walked(R"({"score": "gaussian"})", n); }},
    {"bilinear-with-bias", [](Size n) { return tried::walked(R"({"score": "bilinear", "score_b": [[0.5]]})", n); }},
    {"additive-with-bias", [](Size) { return tried::problem_of(
        R"({"q": [[1, 2], [0, 1]], "k": [[1, 0], [0.5, 1], [-1, 2]], "v": [[1], [2], [3]], "score": "additive",
            "score_wq": [[1, 0.5, 0], [0.2, 1, -1]], "score_wk": [[1, -0.5, 0], [0.1, 1, 2]], "score_wv": [[1], [2], [-1]],
            "score_b": [[0.1, 0.2, -0.3]]})"); }},
    {"zero-vector", [](Size) { return tried::problem_of(
        R"({"q": [[1, 2], [0, 0]], "k": [[1, 0], [0.5, 1]], "v": [[1], [2]], "score": "cosine"})"); }},
    {"given-scores", [](Size) { return tried::problem_of(
        R"({"scores": [[1, 2], ["-Infinity", "-Infinity"], [0, "-Infinity"]], "v": [[1], [2]], "scale": "none"})"); }},
    {"empty-row", [](Size) { return tried::problem_of(
        R"({"q": [[1, 2], [0, 1]], "k": [[1, 0], [0.5, 1]], "v": [[1], [2]], "mask": [[1, 0], [0, 0]]})"); }},
    {"fill", [](Size) { return tried::problem_of(
        R"({"q": [[1, 2], [0, 1]], "k": [[1, 0], [0.5, 1]], "v": [[1], [2]], "mask": [[1, 0], [0, 0]],
            "mask_fill": -2})"); }},
    {"added-mask", [](Size) { return tried::problem_of(
        R"({"q": [[1, 2], [0, 1]], "k": [[1, 0], [0.5, 1]], "v": [[1], [2]], "mask": [[0.5, 0.0], [-1.5, 0.25]]})"); }},
    {"causal-bias", [](Size n) { return tried::walked(R"({"positions": "relative-bias", "causal": true})", n); }},
    {"memory", [](Size) { return tried::problem_of(
        R"({"text": ["a b c"], "d_model": 4, "seed": 1, "memory": [[1, 2, 0, 1], [0, 1, -1, 3]]})"); }},
    {"sinusoidal", [](Size) { return tried::problem_of(
        R"({"text": ["a b c"], "d_model": 5, "seed": 1, "positions": "sinusoidal"})"); }},
    {"concatenated", [](Size) { return tried::problem_of(
        R"({"text": ["a b c"], "d_model": 5, "seed": 1, "positions": "concatenated"})"); }},
    {"learned-positions", [](Size n) { return tried::walked(R"({"positions": "learned"})", n); }},
    {"one-key-head", [](Size n) { return tried::walked(R"({"heads": 4, "kv_heads": 1})", n); }},
    {"norm-after", [](Size n) { return tried::run({.kind = "encoder-only", .norm = "after"}, n); }},
    {"no-norm", [](Size n) { return tried::run({.kind = "encoder-only", .norm = "none"}, n); }},
    {"shared-embeddings", [](Size n) { return tried::run({.kind = "decoder-only"}, n, share_embeddings); }},
    {"losses-of-shared-embeddings", losses_of_shared_embeddings},
    {"gru-of-bahdanau", [](Size n) { return tried::aligned("gru", "bahdanau", n); }},
};
// clang-format on

std::string number_in_json(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", x);
}

std::string matrix_in_json(const Matrix& matrix) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    std::vector<std::string> cells;
    for (const double x : row(matrix, i)) cells.push_back(number_in_json(x));
    rows.push_back(fmt::format("[{}]", fmt::join(cells, ", ")));
  }
  return fmt::format("[{}]", fmt::join(rows, ", "));
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return result + "\"";
}

std::string_view what_it_is(const Node& node) {
  return node.content() == Content::ids ? "ids" : node.content() == Content::permissions ? "permissions" : "numbers";
}

// The codes of a graph, and the numbers that they are about.
class CodesInJson {
 public:
  explicit CodesInJson(const Graph& graph) {
    for (const Node& node : graph.nodes()) {
      const std::optional<RightCode> code = right_code_of(node);
      if (code && made_.insert(code->made).second) add(*code);
    }
  }
  std::string text(std::string_view problem) const {
    std::vector<std::string> matrices;
    for (const auto& [index, rows] : matrices_) matrices.push_back(fmt::format("\"{}\": {}", index, rows));
    return fmt::format(R"({{"problem": "{}", "matrices": {{{}}}, "codes": [{}]}})", problem, fmt::join(matrices, ", "),
                       fmt::join(codes_, ", "));
  }

 private:
  void add(const RightCode& code) {
    std::vector<std::string> names;
    for (const CodeName& one : code.names) {
      std::vector<std::size_t> numbers;
      for (const Node* node : one.matrices) numbers.push_back(number_of(*node));
      names.push_back(fmt::format(R"("{}": {{"is": "{}", "of": [{}]}})", one.name, what_it_is(*one.matrices.front()),
                                  fmt::join(numbers, ", ")));
    }
    codes_.push_back(fmt::format(
        R"({{"matrix": "{}", "made": {}, "row": {}, "code": {}, "result": "{}", "names": {{{}}}}})", code.made->name,
        number_of(*code.made), quoted(code.row), quoted(code.code), code.result, fmt::join(names, ", ")));
  }
  std::size_t number_of(const Node& node) {
    if (!matrices_.contains(node.index)) matrices_.emplace(node.index, matrix_in_json(node.matrix()));
    return node.index;
  }

  std::set<const Node*> made_;
  std::map<std::size_t, std::string> matrices_;
  std::vector<std::string> codes_;
};

void tell(const tried::Problem& problem) {
  constexpr std::size_t size = 1;
  const std::shared_ptr<Graph> graph = problem.made(size);
  std::cout << CodesInJson(*graph).text(problem.name) << std::endl;
}

}  // namespace

int main() {
  std::vector<std::string> rows;
  for (const std::string_view row : rows_of_right_code()) rows.push_back(quoted(row));
  std::cout << fmt::format("[{}]", fmt::join(rows, ", ")) << std::endl;
  const tried::Problem* now = nullptr;
  try {
    for (const tried::Problem& problem : tried::problems) tell(*(now = &problem));
    for (const tried::Problem& problem : others) tell(*(now = &problem));
  } catch (const std::exception& error) {
    std::cerr << now->name << ": " << error.what() << '\n';
    return 1;
  }
  return 0;
}
