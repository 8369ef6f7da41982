#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "core/support/text.hpp"
#include "data/problem/options.hpp"
#include "data/problem/problem_file.hpp"
#include "models.hpp"
#include "school/mistake/mistake.hpp"

// Mistakes that are made on purpose, compared with short computations that know nothing of graphs.

namespace attn::tried {

/// The numbers of a computation, by name.
struct Numbers {
  const Graph& graph;
  const Matrix& operator()(std::string_view name) const { return graph.at(name).matrix(); }
};

using Problem = std::shared_ptr<Graph> (*)(std::size_t size);
using ByHand = std::function<Matrix(const Numbers&)>;
constexpr std::size_t sizes = 3;

/// A mistake, a matrix that it changes, and what that becomes, worked out by itself.
struct Row {
  std::string_view mistake;
  Problem problem;
  std::string_view matrix;
  ByHand by_hand;
  bool shows = true;  // the matrix becomes another one
};

inline void check(const Row& row) {
  const std::span<const Mistake> all = mistakes();
  const auto mistake = std::ranges::find(all, row.mistake, &Mistake::name);
  CAPTURE(row.mistake);
  REQUIRE(mistake != all.end());
  for (std::size_t size = 0; size < sizes; ++size) {
    CAPTURE(size);
    const std::shared_ptr<Graph> graph = row.problem(size);
    Rewriting again(*graph, *mistake);
    const Node& node = graph->at(row.matrix);
    const Matrix now = again.of(node).matrix(), wanted = row.by_hand({*graph});
    CHECK(now.shape() == wanted.shape());
    CHECK(close(now, wanted, 1e-9));
    CHECK(close(now, node.matrix(), 1e-9) == !row.shows);
  }
}

inline void check_all(const std::vector<Row>& rows) {
  for (const Row& row : rows) check(row);
}

inline std::vector<std::string_view> mistakes_in(const std::vector<const std::vector<Row>*>& tables) {
  std::vector<std::string_view> names;
  for (const std::vector<Row>* table : tables) {
    for (const Row& row : *table) names.push_back(row.mistake);
  }
  return names;
}

/// The mistakes that are worked out in these tests.
inline std::vector<Mistake> mistakes_in_models() {
  std::vector<Mistake> all;
  for (const auto& of_subject :
       {mistakes_of_sides, mistakes_of_norms, mistakes_of_residuals, mistakes_of_embeddings, mistakes_of_positions,
        mistakes_of_rotary_positions, mistakes_of_feed_forward, mistakes_of_maps, mistakes_of_recurrence,
        mistakes_of_losses, mistakes_of_gradients, mistakes_of_kernels}) {
    const std::span<const Mistake> some = of_subject();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// Those of tests/mistakes_training_test.cpp, and of tests/mistakes_further_test.cpp.
std::vector<std::string_view> tried_in_training();
std::vector<std::string_view> tried_further();

// --- a few lines of arithmetic

inline Matrix cells_of(Shape shape, const std::function<double(std::size_t i, std::size_t j)>& cell) {
  Matrix result(shape);
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.columns; ++j) result(i, j) = cell(i, j);
  }
  return result;
}

inline Matrix mul(const Matrix& a, const Matrix& b) {
  return cells_of({a.shape().rows, b.shape().columns}, [&](std::size_t i, std::size_t j) {
    double sum = 0.0;
    for (std::size_t k = 0; k < a.shape().columns; ++k) sum += a(i, k) * b(k, j);
    return sum;
  });
}

inline Matrix tr(const Matrix& x) {
  return cells_of({x.shape().columns, x.shape().rows}, [&](std::size_t i, std::size_t j) { return x(j, i); });
}

/// Cell by cell, where y may be one row or one column for all.
template <class F>
Matrix both(const Matrix& x, const Matrix& y, const F& f) {
  return cells_of(x.shape(), [&](std::size_t i, std::size_t j) {
    return f(x(i, j), y(y.shape().rows == 1 ? 0 : i, y.shape().columns == 1 ? 0 : j));
  });
}
inline Matrix plus(const Matrix& x, const Matrix& y) {
  return both(x, y, [](double a, double b) { return a + b; });
}
inline Matrix minus(const Matrix& x, const Matrix& y) {
  return both(x, y, [](double a, double b) { return a - b; });
}
inline Matrix by(const Matrix& x, const Matrix& y) {
  return both(x, y, [](double a, double b) { return a * b; });
}
template <class F>
Matrix each(const Matrix& x, const F& f) {
  return cells_of(x.shape(), [&](std::size_t i, std::size_t j) { return f(x(i, j)); });
}
inline Matrix by(const Matrix& x, double factor) {
  return each(x, [&](double a) { return factor * a; });
}

/// Row after row, as a list of numbers.
using List = std::vector<double>;
template <class F>
Matrix each_row(const Matrix& x, const F& f) {
  Matrix result(x.shape());
  for (std::size_t i = 0; i < x.shape().rows; ++i) {
    const std::span<const double> cells = row(x, i);
    std::ranges::copy(f(List(cells.begin(), cells.end())), row(result, i).begin());
  }
  return result;
}

inline double sum_of_list(const List& x) {
  double sum = 0.0;
  for (const double one : x) sum += one;
  return sum;
}
inline double mean_of(const List& x) { return sum_of_list(x) / static_cast<double>(x.size()); }
inline double variance_of(const List& x) {
  double sum = 0.0;
  for (const double one : x) sum += (one - mean_of(x)) * (one - mean_of(x));
  return sum / static_cast<double>(x.size());
}
inline List softmax_of(List x) {
  double sum = 0.0;
  for (double& one : x) sum += one = std::exp(one);
  for (double& one : x) one /= sum;
  return x;
}
inline Matrix softmax_rows(const Matrix& x) { return each_row(x, softmax_of); }

// --- problems

constexpr std::array<std::size_t, sizes> widths = {8, 12, 16}, lengths = {3, 4, 5};
constexpr double epsilon = 0.01;

inline Transformer model_of(RandomModel recipe, std::size_t size) {
  recipe.d_model = widths[size];
  recipe.seed = static_cast<std::uint32_t>(size + 1);
  Transformer model = random_model(recipe);
  model.recipe.epsilon = epsilon;
  return model;
}

inline ModelInput words_of(std::size_t count, std::size_t from, std::size_t vocabulary) {
  ModelInput words;
  for (std::size_t i = 0; i < count; ++i) words.ids.push_back((from + i * i) % vocabulary + 1);
  return words;
}

/// The words of a model of this recipe, as far as the distribution where it decodes.
template <class Change>
std::shared_ptr<Graph> run(const RandomModel& recipe, std::size_t size, const Change& change) {
  auto graph = std::make_shared<Graph>();
  Transformer model = model_of(recipe, size);
  change(model);
  RunningTransformer running(model, *graph);
  std::optional<Value> last;
  if (model.kind->encodes) last = running.encode(words_of(lengths[size], 1, 5));
  if (model.kind->decodes) {
    const std::size_t more = model.kind->encodes ? 1 : 0;
    last = running.decode(words_of(lengths[size] + more, 2, 6), last);
    name(role::distribution, softmax(running.logits(*last)));
  }
  return graph;
}
inline std::shared_ptr<Graph> run(const RandomModel& recipe, std::size_t size) {
  return run(recipe, size, [](Transformer&) {});
}

/// As many words on one side as on the other.
inline std::shared_ptr<Graph> equal_sides(std::size_t size) {
  auto graph = std::make_shared<Graph>();
  const Transformer model = model_of({.heads = 1, .encoder_layers = 1, .decoder_layers = 1}, size);
  RunningTransformer running(model, *graph);
  running.decode(words_of(lengths[size], 2, 6), running.encode(words_of(lengths[size], 1, 5)));
  return graph;
}
/// Two sentences of the same length, with one head.
inline std::shared_ptr<Graph> batch_of_two(std::size_t size) {
  auto graph = std::make_shared<Graph>();
  const std::array<std::string_view, sizes> fields = {R"({"text": ["a b c", "d e f"], "d_model": 4, "seed": 1})",
                                                      R"({"text": ["a b c d", "d e f g"], "d_model": 6, "seed": 2})",
                                                      R"({"text": ["a b", "c d"], "d_model": 5, "seed": 3})"};
  evaluate(build(read_problem_file(fields[size], "test")), *graph);
  return graph;
}
inline std::shared_ptr<Graph> walked(std::string_view fields, std::size_t size) {
  OptionValues options = read_problem_file(fields, "test");
  std::mt19937 generator(static_cast<std::uint32_t>(size + 7));
  std::uniform_real_distribution<double> any(-2.0, 2.0);
  options.override_with(read_problem_file(R"({"seed": 1})", "test"));
  options.put(option::x, MatrixFile{.matrix = filled({lengths[size], widths[size]}, [&] { return any(generator); })});
  auto graph = std::make_shared<Graph>();
  evaluate(build(options), *graph);
  return graph;
}

/// Queries of x behind keys that are given.
inline constexpr std::string_view cached_keys =
    R"("k": [[1, 0], [0, 1], [2, 1], [1, 1], [0, 2], [1, 3], [2, 2], [0, 1], [3, 1]], "causal_offset": 3,
    "v": [[1], [2], [3], [4], [5], [6], [7], [8], [9]])";
inline std::shared_ptr<Graph> cached_bias(std::size_t size) {
  return walked(R"({"positions": "relative-bias", "max_distance": 4, )" + std::string(cached_keys) + "}", size);
}
inline std::shared_ptr<Graph> cached_learned(std::size_t size) {
  return walked(R"({"positions": "learned", )" + std::string(cached_keys) + "}", size);
}
/// A tree whose words all hang below the first.
inline std::shared_ptr<Graph> star(std::size_t size) {
  std::string parents = "0";
  for (std::size_t word = 1; word < lengths[size]; ++word) parents += ", 1";
  return walked(R"({"positions": "tree-bias", "max_distance": 3, "parents": [[)" + parents + "]]}", size);
}

}  // namespace attn::tried
