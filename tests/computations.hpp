#pragma once

#include <random>

#include "core/graph/plan.hpp"
#include "core/graph/run.hpp"
#include "core/math/machine.hpp"
#include "data/problem/problem_file.hpp"
#include "data/problem/problem_options.hpp"
#include "models.hpp"

namespace attn {

/// Runs with so many threads, and with all of them afterwards.
class Threads {
 public:
  explicit Threads(std::size_t count) { use_threads(count); }
  ~Threads() { use_threads(0); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
};

inline Matrix random_matrix(Shape shape, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> any(-2.0, 2.0);
  return filled(shape, [&] { return any(generator); });
}

/// An attention on random words: how, and how many.
struct Computation {
  std::string_view fields;  // of a problem, but for x and the seed
  std::size_t words;
  enum class Mask { none, allowed, added } mask = Mask::none;
};

/// Of so many words that matrices of scores pass by in blocks, the last of which is a single row.
constexpr std::size_t many_words = 1025;

/// Every scoring function, kind of positions and mask, on a few words and on many.
inline std::vector<Computation> computations() {
  std::vector<Computation> all;
  for (const std::size_t words : {std::size_t{7}, many_words}) {
    for (const std::string_view fields :
         {R"({"heads": 2})", R"({"causal": true})", R"({"valid_length": 5, "score": "dot"})",
          R"({"causal": true, "mask_fill": -3})", R"({"score": "gaussian"})", R"({"score": "bilinear"})",
          R"({"score": "additive", "d_k": 2})", R"({"positions": "relative-bias", "heads": 2})",
          R"({"positions": "relative-vectors", "causal": true})", R"({"positions": "sinusoidal", "layers": 2})"}) {
      all.push_back({fields, words});
    }
    all.push_back({R"({"causal": true})", words, Computation::Mask::allowed});
    all.push_back({"{}", words, Computation::Mask::added});
  }
  return all;
}

inline void build_into(Graph& graph, const Computation& computation) {
  const std::size_t n = computation.words;
  OptionValues options = read_problem_file(computation.fields, "test");
  options.override_with(read_problem_file(R"({"seed": 1})", "test"));
  options.put(option::x, MatrixFile{.matrix = random_matrix({n, 4}, 1)});
  if (computation.mask != Computation::Mask::none) {
    Matrix mask = random_matrix({n, n}, 2);
    const bool zeros = computation.mask == Computation::Mask::allowed;
    for (double& cell : cells(mask)) cell = zeros ? (cell > -1.0 ? 1.0 : 0.0) : cell;
    MatrixFile file{.matrix = std::move(mask)};
    if (zeros) file.kind = CellKind::boolean;
    options.put(option::mask, std::move(file));
  }
  add_computation(build_problem(options), graph);
}

/// A Transformer on random words.
struct ModelComputation {
  std::string_view kind;
  std::size_t source_words, target_words;
};

inline void build_into(Graph& graph, const ModelComputation& computation) {
  const Transformer model = random_model({.kind = computation.kind});
  std::mt19937 generator(3);
  const auto any_words = [&](std::size_t count, std::size_t vocabulary) {
    std::vector<std::size_t> ids(count);
    for (std::size_t& id : ids) id = generator() % vocabulary + 1;
    return words(ids);
  };
  RunningTransformer running(model, graph);
  std::optional<Value> encoded;
  if (model.kind->encodes) encoded = running.encode(any_words(computation.source_words, 5));
  if (!model.kind->decodes) return;
  name(role::distribution, softmax(running.logits(running.decode(any_words(computation.target_words, 6), encoded))));
}

/// Keeps each node or not, by chance.
inline Keep keep_any(std::uint32_t seed) {
  return [seed](const Node& node) {
    std::seed_seq both{seed, static_cast<std::uint32_t>(node.index)};
    return std::mt19937(both)() % 3 == 0;
  };
}

/// The nodes that are kept, but for inputs that are given.
inline std::vector<const Node*> kept_nodes(const Graph& graph, const Keep& keep) {
  std::vector<const Node*> nodes;
  for (const Node& node : graph.nodes()) {
    if (!node.given && !node.is_alias() && is_kept(node, keep)) nodes.push_back(&node);
  }
  return nodes;
}

}  // namespace attn
