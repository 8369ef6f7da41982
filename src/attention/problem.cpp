#include "attention/problem.hpp"

#include <fmt/format.h>

#include "attention/recipe.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

void require_labels(std::string_view name, const Axis& axis, std::size_t size) {
  if (axis.labels && axis.labels->size() != size) {
    fail("{} has {} {} but labels for {}: give one word for each", name, size, axis.name,
         axis.labels->size());
  }
}

// The evaluation of one sequence of a problem.
class Evaluation {
 public:
  Evaluation(const Problem& problem, const Parameters& parameters, const Sequence& sequence,
             std::vector<std::size_t> valid_lengths, Extent extent, Graph& graph)
      : problem_(problem),
        parameters_(parameters),
        sequence_(sequence),
        valid_lengths_(std::move(valid_lengths)),
        extent_(extent),
        graph_(graph) {
    queries_ = axis("queries", sequence.tokens);
    const bool same_words = problem.key_tokens.empty() && keys_are_queries();
    keys_ = axis("keys", same_words ? sequence.tokens : problem.key_tokens);
    if (sequence.x) x_ = input("x", *sequence.x, axis("tokens", sequence.tokens), axis("features"));
  }

  void run() {
    if (given("weights")) {
      weigh_given(input("weights", queries_, keys_));
    } else if (given("scores")) {
      require_one_head("scores");
      Value scores = input("scores", queries_, keys_);
      const Recipe how = recipe(0, scores.shape());
      weigh_given(attention_weights(std::move(scores), how));
    } else {
      attend();
    }
  }

 private:
  bool given(std::string_view name) const { return problem_.matrices.contains(name); }

  // Whether the words that label the queries label the keys too: where both come from x or are as many.
  bool keys_are_queries() const {
    if (given("memory")) return false;
    const auto count = [&](const char* name, std::size_t dimension) {
      const auto found = problem_.matrices.find(name);
      return found == problem_.matrices.end() || found->second.shape()[dimension] == sequence_.tokens.size();
    };
    return count("k", 0) && count("v", 0) && count("scores", 1) && count("weights", 1);
  }

  Value input(std::string_view name, const Matrix& matrix, Axis rows, Axis columns) {
    require_labels(name, rows, matrix.shape()[0]);
    require_labels(name, columns, matrix.shape()[1]);
    return graph_.input(name, matrix, std::move(rows), std::move(columns));
  }
  Value input(std::string_view name, Axis rows, Axis columns) {
    return input(name, problem_.matrices.find(name)->second, std::move(rows), std::move(columns));
  }

  void require_one_head(std::string_view name) const {
    if (problem_.heads != 1) {
      fail("--heads {}: {} are those of one head; give x and parameters, or q, k and v, to have several",
           problem_.heads, name);
    }
  }

  std::optional<Value> parameter(const std::string& name) const {
    const auto found = parameters_.find(name);
    return found == parameters_.end() ? std::nullopt : std::optional(found->second);
  }

  std::optional<Projection> projection(char which) {
    const std::optional<Value> w = parameter(fmt::format("w_{}", which));
    const std::optional<Value> b = parameter(fmt::format("b_{}", which));
    if (!w && b) fail("b_{0} is given without w_{0}: a bias is added to a product with w_{0}", which);
    if (!w) return std::nullopt;
    if (b && b->shape() != Shape{1, w->shape().columns}) {
      fail("b_{} is {} but w_{} is {}: the bias must be one row of {} numbers", which, to_string(b->shape()),
           which, to_string(w->shape()), w->shape().columns);
    }
    return Projection{*w, b};
  }

  std::optional<Value> projected(char which, const std::optional<Value>& from, const Axis& rows) {
    const std::string name(1, which);
    if (given(name)) return input(name, rows, axis("features"));
    if (!from) return std::nullopt;
    const std::optional<Projection> map = projection(which);
    if (!map) return std::nullopt;
    return attn::name(name, linear(*from, *map));
  }

  // `shape` is that of the scores; `d_k` is 0 when the keys are not known.
  Recipe recipe(std::size_t d_k, Shape shape) {
    Recipe recipe{.divisor = divisor_of(problem_, d_k), .fill = problem_.fill};
    if (d_k != 0) recipe.score = score_of(problem_, parameters_);
    if (const std::optional<Matrix> added = added_cells(problem_, shape)) {
      recipe.bias = input("bias", *added, queries_, keys_);
    }
    if (const std::optional<Matrix> allowed = allowed_cells(problem_, valid_lengths_, shape)) {
      recipe.allowed = input("mask", *allowed, queries_, keys_);
    }
    return recipe;
  }

  void attend() {
    const std::optional<Value> memory = parameter("memory");
    const std::optional<Value>& source = memory ? memory : x_;
    const std::optional<Value> q = projected('q', x_, queries_);
    const std::optional<Value> k = projected('k', source, keys_);
    const bool needs_values = extent_ != Extent::weights;
    const std::optional<Value> v = needs_values ? projected('v', source, keys_) : std::nullopt;
    const std::optional<Projection> output_projection = projection('o');
    if (!q || !k || extent_ == Extent::projections) return;

    const Recipe how = recipe(k->shape().columns / problem_.heads, {q->shape().rows, k->shape().rows});
    if (!v) {
      weigh_nothing(*q, *k, how);
    } else if (problem_.heads == 1 && !output_projection) {
      attn::name("output", attention(*q, *k, *v, how));
    } else {
      multi_head_attention(*q, *k, *v, problem_.heads, how, output_projection);
    }
  }

  // Without values there are weights, and nothing to weigh.
  void weigh_nothing(const Value& q, const Value& k, const Recipe& recipe) {
    for_each_head(graph_, problem_.heads, [&](std::size_t i) {
      Value q_i = head_part(q, "q", i, problem_.heads);
      Value k_i = head_part(k, "k", i, problem_.heads);
      Value scores = recipe.score(std::move(q_i), std::move(k_i));
      attention_weights(attn::name("scores", std::move(scores)), recipe);
    });
  }

  void weigh_given(Value weights) {
    require_one_head("weights");
    if (extent_ != Extent::output || !given("v")) return;
    Value sum = weigh(std::move(weights), input("v", keys_, axis("features")));
    if (const std::optional<Projection> output_projection = projection('o')) {
      sum = linear(attn::name("concat", attn::name("head", std::move(sum))), *output_projection);
    }
    attn::name("output", std::move(sum));
  }

  const Problem& problem_;
  const Parameters& parameters_;
  const Sequence& sequence_;
  std::vector<std::size_t> valid_lengths_;
  Extent extent_;
  Graph& graph_;
  Axis queries_;
  Axis keys_;
  std::optional<Value> x_;
};

// What all sequences of a batch share stands outside their scopes.
Parameters parameters_of(const Problem& problem, Graph& graph) {
  Parameters parameters;
  for (const std::string name : {"w_q", "b_q", "w_k", "b_k", "w_v", "b_v", "w_o", "b_o"}) {
    const auto found = problem.matrices.find(name);
    if (found == problem.matrices.end()) continue;
    parameters.emplace(
        name, graph.input(name, found->second, axis(name[0] == 'b' ? "bias" : "features"), axis("features")));
  }
  for (const ScoreFunction& function : score_functions()) {
    for (const ScoreParameter& row : function.parameters) {
      const auto found = problem.matrices.find(row.name);
      if (found == problem.matrices.end() || problem.score != function.name) continue;
      parameters.emplace(row.name, graph.input(row.name, found->second, axis("features"), axis("features")));
    }
  }
  const auto memory = problem.matrices.find("memory");
  if (memory != problem.matrices.end()) {
    Axis rows = axis("tokens", problem.key_tokens);
    require_labels("memory", rows, memory->second.shape()[0]);
    parameters.emplace("memory", graph.input("memory", memory->second, std::move(rows), axis("features")));
  }
  return parameters;
}

void check_batch(const Problem& problem) {
  const std::size_t count = problem.sequences.size();
  if (count == 1) return;
  for (const std::string_view name : {"q", "k", "v", "scores", "weights"}) {
    if (problem.matrices.contains(name)) {
      fail("{} is given for a batch of {} sentences: a batch is given by its words or by x", name, count);
    }
  }
  const std::size_t lengths = problem.valid_lengths.size();
  if (lengths > 1 && lengths != count) {
    fail("--valid-length: {} lengths are given for {} sentences: give one for each", lengths, count);
  }
}

}  // namespace

void evaluate(const Problem& problem, Graph& graph, Extent extent) {
  check_batch(problem);
  const Parameters parameters = parameters_of(problem, graph);
  const std::size_t count = problem.sequences.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<Graph::Scope> scope;
    if (count > 1) scope.emplace(graph, fmt::format("sentence.{}", i + 1));
    std::vector<std::size_t> lengths = problem.valid_lengths;
    if (count > 1 && lengths.size() == count) lengths = {lengths[i]};
    Evaluation(problem, parameters, problem.sequences[i], std::move(lengths), extent, graph).run();
  }
}

}  // namespace attn
