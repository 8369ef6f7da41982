#include <doctest/doctest.h>

#include <numeric>
#include <set>

#include "attention_in_loops.hpp"
#include "core/model/encoder_decoder.hpp"
#include "data/problem/encoder_decoder_file.hpp"
#include "data/problem/options.hpp"
#include "data/problem/problem_file.hpp"
#include "mistakes_tried.hpp"
#include "models.hpp"
#include "school/mistake/mistake.hpp"

using namespace attn;

namespace {

using namespace attn::loops;

constexpr double infinity = std::numeric_limits<double>::infinity();

// A computation of the program, where one of its attentions stands in it, and the same one in loops.
struct Tried {
  std::shared_ptr<Graph> graph;
  std::string place;
  Attention attention;
};

M cells_of(const Matrix& matrix) {
  return made(matrix.shape().rows, matrix.shape().columns, [&](std::size_t i, std::size_t j) { return matrix(i, j); });
}

M numbers(const Graph& graph, const std::string& name) {
  const Node* const node = graph.find(name);
  return node ? cells_of(node->matrix()) : M();
}

struct Counts {
  std::size_t heads, key_heads, length;
  bool causal;
};

// The parameters as the graph has them, and what goes in.
Attention attention_of(const Graph& graph, const std::string& place, const std::string& words, const Counts& counts) {
  Attention a;
  a.x = numbers(graph, words);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string which(1, "qkvo"[i]);
    a.w[i] = numbers(graph, place + "w_" + which);
    a.b[i] = numbers(graph, place + "b_" + which);
  }
  a.heads = counts.heads;
  a.key_heads = counts.key_heads;
  a.d_k = columns_of(a.w[0]) / a.heads;
  a.d_v = columns_of(a.w[2]) / a.key_heads;
  a.length = counts.length;
  a.causal = counts.causal;
  if (a.causal || a.length < a.x.size())
    a.allow([&a](std::size_t i, std::size_t j) { return a.is_in_sentence(j) && a.is_in_order(i, j); });
  return a;
}

std::shared_ptr<Graph> computed(std::string_view problem) {
  auto graph = std::make_shared<Graph>();
  evaluate(build(read_problem_file(problem, "test")), *graph);
  return graph;
}

Tried one_head() {
  const auto graph = computed(R"({"text": "the cat sat", "d_model": 4, "d_k": 3, "d_v": 2, "heads": 1, "seed": 1})");
  return {graph, "", attention_of(*graph, "", "x", {1, 1, 3, false})};
}

Tried three_heads() {
  const auto graph = computed(R"({"text": "it was a dark and stormy night", "d_model": 6, "heads": 3,
      "causal": true, "valid_length": 5, "seed": 2, "b_q": [[1, -1, 0.5, 2, 0, 1]],
      "b_k": [[0, 1, 0, 0.5, 1, 1]], "b_v": [[0, 1, 2, -1, 0, 1]], "b_o": [[1, 2, 3, 4, 5, 6]]})");
  return {graph, "", attention_of(*graph, "", "x", {3, 3, 5, true})};
}

// Four heads of queries, and two of keys.
const Transformer& model() {
  static const Transformer model = random_model({.heads = 4, .key_heads = 2, .d_model = 8});
  return model;
}

ModelInput five_words(std::size_t of_padding) {
  ModelInput words{.ids = {1, 2, 3, 4, 5}, .blank = std::vector<bool>(5)};
  std::fill_n(words.blank.rbegin(), of_padding, true);
  return words;
}

Tried encoder() {
  const auto graph = std::make_shared<Graph>();
  RunningTransformer(model(), *graph).encode(five_words(2));
  const std::string place = "encoder.1.self_attention.";
  return {graph, place, attention_of(*graph, place, "source.positioned", {4, 2, 3, false})};
}

Tried decoder() {
  const auto graph = std::make_shared<Graph>();
  RunningTransformer running(model(), *graph);
  running.decode(words({6, 2, 3}), running.encode(five_words(0)));
  const std::string place = "decoder.1.self_attention.";
  return {graph, place, attention_of(*graph, place, "target.positioned", {4, 2, 3, true})};
}

constexpr Tried (*problems[])() = {one_head, three_heads, encoder, decoder};

// A mistake, and the step in which it is made.
struct Expected {
  const char* mistake;
  // In each of the problems: d other numbers, = the same ones, - not all of it can be computed, . it does not
  // apply.
  const char* becomes;
  std::function<void(Attention& a)> made;
};

double size(std::size_t n) { return static_cast<double>(n); }

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Another function for a step of each head.
using Made = std::function<void(Attention& a)>;

void scale_by(Attention& a, double (*factor)(const Head& head)) {
  a.scale = [factor](const Head& h) { return each(h.scores, [&](double x) { return x * factor(h); }); };
}

Made scaled_by(double (*factor)(const Head& head)) {
  return [factor](Attention& a) { scale_by(a, factor); };
}
using Step = M (*)(const Head& head);
Made compare_by(Step step) {
  return [step](Attention& a) { a.compare = step; };
}
Made weigh_by(Step step) {
  return [step](Attention& a) { a.weigh = step; };
}
Made sum_by(Step step) {
  return [step](Attention& a) { a.sum = step; };
}
Made mask_by(Step step) {
  return [step](Attention& a) { a.mask = step; };
}

void exchange(Attention& a, std::size_t one, std::size_t other) {
  std::swap(a.w[one], a.w[other]);
  std::swap(a.b[one], a.b[other]);
}

// What a rule of a mask knows: the mask as it is, and what it follows from.
struct Allowed {
  const Attention& before;
  std::size_t length;

  bool now(std::size_t i, std::size_t j) const { return before.allowed[i][j] != 0.0; }
  bool in_sentence(std::size_t j) const { return before.is_in_sentence(j); }
  bool in_order(std::size_t i, std::size_t j) const { return before.is_in_order(i, j); }
};

void allow(Attention& a, bool (*allows)(const Allowed& of, std::size_t i, std::size_t j)) {
  const Attention before = a;
  if (before.allowed.empty()) return;
  const Allowed of{before, before.length};
  a.allow([&](std::size_t i, std::size_t j) { return allows(of, i, j); });
}

std::vector<M> outputs_of(const std::vector<Head>& all) {
  std::vector<M> outputs;
  for (const Head& head : all) outputs.push_back(head.output);
  return outputs;
}

M split_by_reshape(const Attention& of, const M& whole, std::size_t number, std::size_t wide, std::size_t) {
  return rows(reshaped(whole, wide), number * of.x.size(), of.x.size());
}

M merged_by_reshape(const std::vector<Head>& all) {
  return reshaped(below(outputs_of(all)), all.size() * columns_of(all[0].output));
}

Made allow_by(bool (*allows)(const Allowed& of, std::size_t i, std::size_t j)) {
  return [allows](Attention& a) { allow(a, allows); };
}

const Expected expected[] = {
    {"keys-not-transposed", "d---", compare_by([](const Head& h) { return product(h.q, h.k); })},
    {"scores-transposed", "dddd", compare_by([](const Head& h) { return product(h.k, turned(h.q)); })},
    {"queries-with-queries", "dddd", compare_by([](const Head& h) { return product(h.q, turned(h.q)); })},
    {"keys-with-keys", "dddd", compare_by([](const Head& h) { return product(h.k, turned(h.k)); })},
    {"queries-with-values", "-ddd", compare_by([](const Head& h) { return product(h.q, turned(h.v)); })},
    {"words-with-words", "dddd", compare_by([](const Head& h) { return product(h.of->x, turned(h.of->x)); })},
    {"cosine", "dddd", compare_by([](const Head& h) {
       return made(h.q.size(), h.k.size(), [&](std::size_t i, std::size_t j) {
         return dot(h.q[i], h.k[j]) / std::sqrt(dot(h.q[i], h.q[i]) * dot(h.k[j], h.k[j]));
       });
     })},
    {"not-scaled", "dddd", scaled_by([](const Head&) { return 1.0; })},
    {"scale-squared", "dddd", scaled_by([](const Head& h) { return 1.0 / size(h.of->d_k); })},
    {"multiplied-by-scale", "dddd", scaled_by([](const Head& h) { return std::sqrt(size(h.of->d_k)); })},
    {"divided-by-root-of-model", "dddd",
     scaled_by([](const Head& h) { return 1.0 / std::sqrt(size(columns_of(h.of->x))); })},
    {"divided-by-keys", "dddd", scaled_by([](const Head& h) { return 1.0 / size(h.k.size()); })},
    {"divided-by-root-of-keys", "=ddd", scaled_by([](const Head& h) { return 1.0 / std::sqrt(size(h.k.size())); })},
    {"scaled-after-softmax", "dddd",
     [](Attention& a) {
       a.scale = [](const Head& h) { return h.scores; };
       a.weigh = [](const Head& h) {
         return each(softmax(h.masked), [&](double x) { return x / std::sqrt(size(h.of->d_k)); });
       };
     }},
    {"queries-scaled", "dddd",
     [](Attention& a) {
       a.project = [](const Attention& of, std::size_t which) {
         const M whole = linear(of.x, of.w[which], of.b[which]);
         return which > 0 ? whole : each(whole, [&](double x) { return x / std::sqrt(size(of.d_k)); });
       };
       a.scale = [](const Head& h) { return h.scores; };
     }},
    {"masked-before-scaled", ".ddd",
     [](Attention& a) {
       a.mask = [](const Head& h) { return h.of->allowed.empty() ? h.scaled : h.of->filled(h.scores, -infinity); };
       a.weigh = [](const Head& h) {
         if (h.of->allowed.empty()) return softmax(h.masked);
         return softmax(each(h.masked, [&](double x) { return x / std::sqrt(size(h.of->d_k)); }));
       };
     }},
    {"softmax-over-queries", "dddd", weigh_by([](const Head& h) { return turned(softmax(turned(h.masked))); })},
    {"softmax-over-all", "dddd", weigh_by([](const Head& h) {
       return reshaped(softmax(reshaped(h.masked, h.masked.size() * columns_of(h.masked))), columns_of(h.masked));
     })},
    {"divided-by-column-sums", "dddd", weigh_by([](const Head& h) {
       M exponentials = h.masked;
       for (std::vector<double>& row : exponentials) {
         const double largest = *std::ranges::max_element(row);
         for (double& x : row) x = std::exp(x - largest);
       }
       return turned(shares(turned(exponentials)));
     })},
    {"softmax-over-heads", ".ddd", weigh_by([](const Head& h) {
       std::vector<M> all;
       for (const Head& head : *h.all) all.push_back(head.masked);
       return columns(softmax(beside(all)), h.number * columns_of(h.masked), columns_of(h.masked));
     })},
    {"softmax-over-all-heads", ".ddd", weigh_by([](const Head& h) {
       std::vector<M> all;
       for (const Head& head : *h.all) all.push_back(head.masked);
       const M wide = beside(all);
       const M together = softmax(reshaped(wide, wide.size() * columns_of(wide)));
       return columns(reshaped(together, columns_of(wide)), h.number * columns_of(h.masked), columns_of(h.masked));
     })},
    {"softmax-over-one", "dddd", weigh_by([](const Head& h) { return each(h.masked, [](double) { return 1.0; }); })},
    {"shares-of-scores", "dddd", weigh_by([](const Head& h) { return shares(h.of->filled(h.scaled, 0.0)); })},
    {"no-softmax", "dddd", weigh_by([](const Head& h) { return h.of->filled(h.scaled, 0.0); })},
    {"divided-by-sums-of-other-rows", "dddd", weigh_by([](const Head& h) {
       return made(h.masked.size(), columns_of(h.masked), [&](std::size_t i, std::size_t j) {
         double sum = 0.0;
         for (const double x : h.masked[j]) sum += std::exp(x);
         return std::exp(h.masked[i][j]) / sum;
       });
     })},
    {"last-query-left-out", "dddd", weigh_by([](const Head& h) {
       M weights = softmax(h.masked);
       for (double& x : weights.back()) x = 0.0;
       return weights;
     })},
    {"softmax-not-divided", "dddd",
     weigh_by([](const Head& h) { return each(h.masked, [](double x) { return std::exp(x); }); })},
    {"largest-subtracted-not-divided", "dddd", weigh_by([](const Head& h) {
       return made(h.masked.size(), columns_of(h.masked), [&](std::size_t i, std::size_t j) {
         return std::exp(h.masked[i][j]) / std::exp(*std::max_element(h.masked[i].begin(), h.masked[i].end()));
       });
     })},
    {"softmax-without-largest", "dddd", weigh_by([](const Head& h) {
       M scores = h.masked;
       for (auto& row : scores) *std::max_element(row.begin(), row.end()) = -infinity;
       return softmax(scores);
     })},
    {"powers-of-two", "dddd",
     weigh_by([](const Head& h) { return shares(each(h.masked, [](double x) { return std::exp2(x); })); })},
    {"largest-alone", "dddd", weigh_by([](const Head& h) {
       return made(h.masked.size(), columns_of(h.masked), [&](std::size_t i, std::size_t j) {
         return h.masked[i][j] == *std::max_element(h.masked[i].begin(), h.masked[i].end()) ? 1.0 : 0.0;
       });
     })},
    {"softmax-of-negated", "dddd", weigh_by([](const Head& h) {
       return softmax(h.of->filled(each(h.scaled, [](double x) { return -x; }), -infinity));
     })},
    {"softmax-twice", "dddd", weigh_by([](const Head& h) { return softmax(softmax(h.masked)); })},
    {"sigmoid", "dddd",
     weigh_by([](const Head& h) { return each(h.masked, [](double x) { return 1.0 / (1.0 + std::exp(-x)); }); })},
    {"equal-weights", "dddd",
     weigh_by([](const Head& h) { return shares(h.of->filled(each(h.scaled, [](double) { return 1.0; }), 0.0)); })},
    {"parameters-transposed", "-d--", [](Attention& a) { for (M& w : a.w) w = turned(w); }},
    {"query-parameters-transposed", "-ddd", [](Attention& a) { a.w[0] = turned(a.w[0]); }},
    {"key-parameters-transposed", "-d--", [](Attention& a) { a.w[1] = turned(a.w[1]); }},
    {"value-parameters-transposed", "-d--", [](Attention& a) { a.w[2] = turned(a.w[2]); }},
    {"output-parameters-transposed", ".ddd", [](Attention& a) { a.w[3] = turned(a.w[3]); }},
    {"biases-left-out", ".ddd", [](Attention& a) { for (M& b : a.b) b = {}; }},
    {"queries-keys-exchanged", "dd--", [](Attention& a) { exchange(a, 0, 1); }},
    {"keys-values-exchanged", "-ddd", [](Attention& a) { exchange(a, 1, 2); }},
    {"queries-values-exchanged", "-d--", [](Attention& a) { exchange(a, 0, 2); }},
    {"values-not-projected", "dddd",
     [](Attention& a) {
       a.project = [](const Attention& of, std::size_t which) {
         return which == 2 ? of.x : linear(of.x, of.w[which], of.b[which]);
       };
     }},
    {"output-not-projected", ".ddd",
     [](Attention& a) { a.finish = [](const Attention&, const M& concat) { return concat; }; }},
    {"weights-transposed", "dddd", sum_by([](const Head& h) { return product(turned(h.weights), h.v); })},
    {"sum-of-queries", "dddd", sum_by([](const Head& h) { return product(h.weights, h.q); })},
    {"sum-of-keys", "dddd", sum_by([](const Head& h) { return product(h.weights, h.k); })},
    {"sum-divided", "dddd", sum_by([](const Head& h) {
       return each(product(h.weights, h.v), [&](double x) { return x / size(h.k.size()); });
     })},
    {"heads-split-by-reshape", ".ddd", [](Attention& a) { a.part = split_by_reshape; }},
    {"heads-merged-by-reshape", ".ddd", [](Attention& a) { a.merge = merged_by_reshape; }},
    {"heads-reshaped", ".ddd",
     [](Attention& a) {
       a.part = split_by_reshape;
       a.merge = merged_by_reshape;
     }},
    {"heads-in-strides", ".ddd",
     [](Attention& a) {
       a.part = [](const Attention&, const M& whole, std::size_t number, std::size_t wide, std::size_t) {
         const std::size_t apart = columns_of(whole) / wide;
         return made(whole.size(), wide, [&](std::size_t i, std::size_t j) { return whole[i][number + j * apart]; });
       };
     }},
    {"first-head-for-all", ".ddd",
     [](Attention& a) {
       a.part = [](const Attention&, const M& whole, std::size_t, std::size_t wide, std::size_t) {
         return columns(whole, 0, wide);
       };
     }},
    {"heads-not-split", ".---",
     [](Attention& a) {
       a.part = [](const Attention&, const M& whole, std::size_t, std::size_t, std::size_t) {
         return whole;
       };
     }},
    {"one-head", ".d--",
     [](Attention& a) {
       a.part = [](const Attention&, const M& whole, std::size_t, std::size_t, std::size_t) {
         return whole;
       };
       scale_by(a, [](const Head& h) { return 1.0 / std::sqrt(size(columns_of(h.k))); });
       a.merge = [](const std::vector<Head>& all) { return all[0].output; };
     }},
    {"words-split-first", ".ddd",
     [](Attention& a) {
       a.part = [](const Attention& of, const M& whole, std::size_t number, std::size_t wide, std::size_t which) {
         const std::size_t width = columns_of(of.x) / (columns_of(whole) / wide), block = number;
         const M w = columns(rows(of.w[which], block * width, width), block * wide, wide);
         const M b = of.b[which].empty() ? M() : columns(of.b[which], block * wide, wide);
         return linear(columns(of.x, number * width, width), w, b);
       };
     }},
    {"words-split-shared-parameters", ".ddd",
     [](Attention& a) {
       a.part = [](const Attention& of, const M& whole, std::size_t number, std::size_t wide, std::size_t which) {
         const std::size_t width = columns_of(of.x) / (columns_of(whole) / wide), block = 0;
         const M w = columns(rows(of.w[which], block * width, width), block * wide, wide);
         const M b = of.b[which].empty() ? M() : columns(of.b[which], block * wide, wide);
         return linear(columns(of.x, number * width, width), w, b);
       };
     }},
    {"heads-summed", ".---",
     [](Attention& a) {
       a.merge = [](const std::vector<Head>& all) {
         return sum_of(outputs_of(all));
       };
     }},
    {"heads-averaged", ".---",
     [](Attention& a) {
       a.merge = [](const std::vector<Head>& all) {
         return each(sum_of(outputs_of(all)), [&](double x) { return x / size(all.size()); });
       };
     }},
    {"heads-below-each-other", ".---",
     [](Attention& a) {
       a.merge = [](const std::vector<Head>& all) {
         return below(outputs_of(all));
       };
     }},
    {"weights-averaged", ".ddd", sum_by([](const Head& h) {
       std::vector<M> all;
       for (const Head& head : *h.all) all.push_back(head.weights);
       return product(each(sum_of(all), [&](double x) { return x / size(all.size()); }), h.v);
     })},
    {"mask-reversed", ".ddd", allow_by([](const Allowed& of, std::size_t i, std::size_t j) { return !of.now(i, j); })},
    {"order-not-masked", ".d.d",
     allow_by([](const Allowed& of, std::size_t, std::size_t j) { return of.in_sentence(j); })},
    {"padding-not-masked", ".dd.",
     allow_by([](const Allowed& of, std::size_t i, std::size_t j) { return of.in_order(i, j); })},
    {"not-masked", ".d..", [](Attention& a) { a.allowed = {}; }},
    {"one-key-too-many", ".d.d",
     allow_by([](const Allowed& of, std::size_t i, std::size_t j) { return of.in_sentence(j) && j <= i + 1; })},
    {"one-key-too-few", ".d.d",
     allow_by([](const Allowed& of, std::size_t i, std::size_t j) { return of.in_sentence(j) && j < i; })},
    {"first-padding-seen", ".dd.",
     allow_by([](const Allowed& of, std::size_t i, std::size_t j) { return j <= of.length && of.in_order(i, j); })},
    {"last-word-masked", ".dd.",
     allow_by([](const Allowed& of, std::size_t i, std::size_t j) { return j + 1 < of.length && of.in_order(i, j); })},
    {"mask-transposed", ".ddd", allow_by([](const Allowed& of, std::size_t i, std::size_t j) { return of.now(j, i); })},
    {"queries-masked", ".dd.",
     [](Attention& a) {
       allow(a, [](const Allowed& of, std::size_t i, std::size_t j) { return i < of.length && of.in_order(i, j); });
       a.mask = [](const Head& h) { return h.of->filled(h.scaled, -1e9); };
     }},
    {"masked-score-is-zero", ".ddd", mask_by([](const Head& h) { return h.of->filled(h.scaled, 0.0); })},
    {"masked-score-is-infinite", ".ddd",
     [](Attention& a) {
       a.mask = [](const Head& h) { return h.of->filled(h.scaled, infinity); };
       a.weigh = [](const Head& h) {
         M weights = softmax(h.masked);
         for (std::size_t i = 0; i < weights.size(); ++i) {
           const bool is_hidden = std::ranges::find(h.masked[i], infinity) != h.masked[i].end();
           for (double& weight : weights[i]) weight = is_hidden ? std::nan("") : weight;
         }
         return weights;
       };
     }},
    {"mask-added", ".ddd", mask_by([](const Head& h) {
       if (h.of->allowed.empty()) return h.scaled;
       return made(h.scaled.size(), columns_of(h.scaled),
                   [&](std::size_t i, std::size_t j) { return h.scaled[i][j] + h.of->allowed[i][j]; });
     })},
    {"masked-after-softmax", ".ddd", weigh_by([](const Head& h) { return h.of->filled(softmax(h.scaled), 0.0); })},
};

const Mistake& mistake_called(std::string_view name) {
  for (const Mistake& mistake : mistakes()) {
    if (mistake.name == name) return mistake;
  }
  throw std::logic_error("no mistake is called " + std::string(name));
}

bool is_like(double a, double b) { return (std::isnan(a) && std::isnan(b)) || close(a, b, 1e-9); }
bool is_like(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b, [](double x, double y) { return is_like(x, y); });
}
bool is_like(const M& a, const M& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return is_like(x, y); });
}

// What a node has become; nothing where that cannot be computed.
M now(Rewriting& again, const Node& node) {
  try {
    return cells_of(again.of(node).matrix());
  } catch (const InputError&) {
    return {};
  }
}

// Compares everything with the loops, and says what has become of the computation, as Expected does.
char compared(const Tried& tried, const Expected& expected) {
  const std::map<std::string, M> right = tried.attention.run();
  Attention mistaken = tried.attention;
  expected.made(mistaken);
  Rewriting again(*tried.graph, mistake_called(expected.mistake));
  bool differs = false, fails = false;
  for (const auto& result : mistaken.run()) {
    const auto& [name, cells] = result;
    CAPTURE(result.first);
    const M found = now(again, tried.graph->at(tried.place + name));
    CHECK(is_like(found, cells));
    fails = fails || found.empty();
    differs = differs || !is_like(found, right.at(name));
  }
  return fails ? '-' : differs ? 'd' : '=';
}

bool changes_something(const Tried& tried, const Mistake& mistake) {
  Rewriting again(*tried.graph, mistake);
  return std::ranges::any_of(tried.graph->nodes(), [&](const Node& node) {
    try {
      return again.changes(node);
    } catch (const InputError&) {
      return true;
    }
  });
}

// A computation of another kind: a node of it with a mistake, and the numbers that this is to give.
struct Case {
  const char* mistake;
  const char* problem;
  const char* node;
  Matrix expected;
};

void check(const Case& one) {
  const std::string about = one.mistake;
  CAPTURE(about);
  const auto graph = computed(one.problem);
  Rewriting again(*graph, mistake_called(one.mistake));
  const Node& node = graph->at(one.node);
  CHECK(again.changes(node));
  CHECK(is_like(now(again, node), cells_of(one.expected)));
  CHECK_FALSE(is_like(cells_of(node.matrix()), cells_of(one.expected)));
}

const double e = std::exp(1.0);

const Case cases[] = {
    // Of q = (3, 4) and the keys (4, 3) and (1, 0).
    {"lengths-kept", R"({"q": [[3, 4]], "k": [[4, 3], [1, 0]], "score": "cosine"})", "scores", matrix({{24, 3}})},
    {"divided-by-root-of-key", R"({"q": [[3, 4]], "k": [[4, 3], [1, 0]], "score": "dot"})", "scaled",
     matrix({{24 / std::sqrt(2), 3 / std::sqrt(2)}})},
    {"divided-by-root-of-key",
     R"({"q": [[2, 0]], "k": [[1, 0], [0, 1]], "score": "dot", "causal": true, "causal_offset": 1})", "weights",
     matrix({{std::exp(std::sqrt(2)) / (1 + std::exp(std::sqrt(2))), 1 / (1 + std::exp(std::sqrt(2)))}})},
    {"divided-by-root-of-key", R"({"q": [[3, 4]], "k": [[4, 3], [1, 0]], "scale": 8})", "scaled",
     matrix({{24 / std::sqrt(2), 3 / std::sqrt(2)}})},
    {"scale-squared", R"({"q": [[3, 4]], "k": [[4, 3], [1, 0]], "scale": 2})", "scaled", matrix({{6, 0.75}})},
    {"distances-not-halved", R"({"q": [[3, 4]], "k": [[4, 3], [1, 0]], "score": "gaussian"})", "scores",
     matrix({{-2, -20}})},
    {"distances-positive", R"({"q": [[3, 4]], "k": [[4, 3], [1, 0]], "score": "gaussian"})", "scores",
     matrix({{1, 10}})},
    {"width-not-squared", R"({"q": [[3, 4]], "k": [[4, 3], [1, 0]], "score": "gaussian", "score_sigma": 2})", "scores",
     matrix({{-0.5, -5}})},
    {"without-tanh", R"({"q": [[1]], "k": [[2], [3]], "score": "additive", "score_wq": [[1]],
     "score_wk": [[1]], "score_wv": [[2]]})",
     "scores", matrix({{6, 8}})},
    {"score-matrix-transposed",
     R"({"q": [[1, 2]], "k": [[1, 0], [0, 1]], "score": "bilinear", "score_m": [[1, 5], [0, 1]]})", "scores",
     matrix({{11, 2}})},
    {"not-capped", R"({"q": [[3]], "k": [[1], [2]], "soft_cap": 2})", "capped", matrix({{3, 6}})},
    {"not-divided-by-cap", R"({"q": [[3]], "k": [[1], [2]], "soft_cap": 2})", "capped",
     matrix({{2 * std::tanh(3), 2 * std::tanh(6)}})},
    {"nothing-added", R"({"q": [[1]], "k": [[1], [1]], "mask": [[0.5, 1.5]]})", "weights", matrix({{0.5, 0.5}})},
    {"added-before-scale", R"({"q": [[1, 0, 0, 0]], "k": [[0, 1, 1, 1], [0, 1, 1, 1]], "mask": [[0.5, 2.5]]})",
     "weights", matrix({{1 / (1 + e), e / (1 + e)}})},
    // Two queries and three keys: the last keys are masked by their order, from the top left or bottom right.
    {"mask-aligned-otherwise", R"({"q": [[0], [0]], "k": [[1], [2], [3]], "causal": true})", "weights",
     matrix({{0.5, 0.5, 0}, {1 / 3., 1 / 3., 1 / 3.}})},
    {"mask-aligned-otherwise", R"({"q": [[0], [0]], "k": [[1], [2], [3]], "causal": true, "causal_offset": 1})",
     "weights", matrix({{1, 0, 0}, {0.5, 0.5, 0}})},
    {"one-key-too-many", R"({"q": [[0], [0]], "k": [[1], [2], [3], [4]], "valid_length": [1, 2]})", "mask",
     matrix({{1, 1, 0, 0}, {1, 1, 0, 0}})},
    {"not-masked", R"({"q": [[0], [0]], "k": [[1], [2]], "mask": [[false, true], [true, false]]})", "weights",
     matrix({{0.5, 0.5}, {0.5, 0.5}})},
    {"equal-where-all-masked", R"({"q": [[1], [1]], "k": [[1], [1]], "mask": [[false, false], [true, false]]})",
     "weights", matrix({{0.5, 0.5}, {1, 0}})},
    {"large-negative-mask-value", R"({"q": [[1], [1]], "k": [[1], [1]], "mask": [[true, false], [true, true]]})",
     "masked", matrix({{1, -1e9}, {1, 1}})},
    // In float32, e^88 is a number and e^89 is infinite.
    {"largest-not-subtracted", R"({"q": [[1], [1], [0]], "k": [[89], [2]], "score": "dot"})", "weights",
     matrix({{std::nan(""), 0}, {std::nan(""), 0}, {0.5, 0.5}})},
    {"no-number-where-all-masked", R"({"q": [[1], [1]], "k": [[1], [1]], "mask": [[false, false], [true, false]]})",
     "weights", matrix({{std::nan(""), std::nan("")}, {1, 0}})},
};

TEST_SUITE("mistakes in attention") {
  TEST_CASE("the loops give what the program gives") {
    for (const auto problem : problems) {
      const Tried tried = problem();
      for (const auto& result : tried.attention.run()) {
        const auto& [name, cells] = result;
        CAPTURE(result.first);
        const M numbers_here = numbers(*tried.graph, tried.place + name);
        CHECK(is_like(numbers_here, cells));
      }
    }
  }

  TEST_CASE("a computation with a mistake gives what loops with the mistake give") {
    for (const auto problem : problems) {
      const Tried tried = problem();
      const auto which = static_cast<std::size_t>(std::ranges::find(problems, problem) - std::begin(problems));
      for (const Expected& row : expected) {
        const std::string about = std::string(row.mistake) + " in problem " + std::to_string(which + 1);
        CAPTURE(about);
        const char becomes = row.becomes[which];
        CHECK(changes_something(tried, mistake_called(row.mistake)) == (becomes != '.'));
        if (becomes != '.') CHECK(compared(tried, row) == becomes);
      }
    }
  }

  TEST_CASE("mistakes with other scores and other masks give numbers worked out by hand") {
    for (const Case& one : cases) check(one);
  }

  // The last words of the sentences are padding, in one of them two.
  TEST_CASE("the masks of a batch are taken in the order of sentences where heads come first") {
    const auto graph = computed(R"({"text": ["a cat sat", "it sat"], "d_model": 4, "heads": 2, "seed": 1,
        "valid_length": [3, 2]})");
    Rewriting again(*graph, mistake_called("mask-of-other-sentence"));
    const auto same_mask = [&](const std::string& here, const std::string& there) {
      const M weights = now(again, graph->at(here + ".weights"));
      const M allowed = numbers(*graph, there + ".mask");
      for (std::size_t j = 0; j < allowed[0].size(); ++j) CHECK((weights[0][j] == 0.0) == (allowed[0][j] == 0.0));
    };
    same_mask("sentence.1.head.1", "sentence.1");
    same_mask("sentence.2.head.1", "sentence.1");
    same_mask("sentence.1.head.2", "sentence.2");
    same_mask("sentence.2.head.2", "sentence.2");
    CHECK(again.changes(graph->at("sentence.1.head.2.weights")));
  }

  TEST_CASE("a cross-attention may be given the mask of the target") {
    for (const std::size_t of_padding : {0, 1}) {
      const auto graph = std::make_shared<Graph>();
      RunningTransformer running(model(), *graph);
      ModelInput source = five_words(of_padding);
      running.decode(words({6, 2, 3, 1, 4}), running.encode(source));
      Rewriting again(*graph, mistake_called("target-mask-in-cross-attention"));
      const std::string head = "decoder.1.cross_attention.head.2.";
      M scaled = numbers(*graph, head + "scaled");
      for (std::size_t i = 0; i < 5; ++i)
        std::fill(scaled[i].begin() + static_cast<std::ptrdiff_t>(i) + 1, scaled[i].end(), -infinity);
      CHECK(is_like(now(again, graph->at(head + "weights")), softmax(scaled)));
      CHECK_FALSE(again.changes(graph->at("decoder.1.self_attention.output")));
      const Node& output = graph->at("decoder.output");
      CHECK_FALSE(is_like(now(again, output), cells_of(output.matrix())));
    }
  }

  TEST_CASE("a recurrent decoder may make mistakes in its attention") {
    const EncoderDecoderFile file = read_encoder_decoder(alignment_examples().front().bytes, "test");
    const auto graph = std::make_shared<Graph>();
    evaluate(encoder_decoder_of(file, look_up(alignment_variants(), "luong", "variant"), recurrences().front()),
             {1, 2, 3}, {1, 2}, *graph);
    Rewriting again(*graph, mistake_called("largest-alone"));
    const Node& weights = graph->at("decoder.2.weights");
    const M states = numbers(*graph, "h"), attended = now(again, graph->at("decoder.2.context"));
    const std::vector<double> before = weights.row(0);
    const auto largest = std::ranges::max_element(before) - before.begin();
    CHECK(is_like(attended[0], states[static_cast<std::size_t>(largest)]));
  }

  TEST_CASE("a mistake is made in every sentence of a batch") {
    const std::vector<std::size_t> first = {1, 2, 3, 4, 5}, second = {5, 1, 1, 2, 3};
    std::vector<std::size_t> both = first;
    both.insert(both.end(), second.begin(), second.end());
    const std::vector<bool> no_padding(5), padding = {false, false, false, false, true};
    std::vector<bool> of_both = padding;
    of_both.insert(of_both.end(), no_padding.begin(), no_padding.end());
    const auto run = [](ModelInput source) {
      const auto graph = std::make_shared<Graph>();
      RunningTransformer(model(), *graph).encode(source);
      return graph;
    };
    const auto batch = run({.ids = both, .sentences = 2, .blank = of_both});
    const auto alone = run({.ids = first, .blank = padding});
    for (const Mistake& mistake : mistakes()) {
      CAPTURE(mistake.name);
      Rewriting of_batch(*batch, mistake), of_one(*alone, mistake);
      for (const char* name : {"encoder.1.self_attention.head.3.weights", "encoder.1.self_attention.output"}) {
        const M one = now(of_one, alone->at(name)), all = now(of_batch, batch->at(name));
        REQUIRE(all.size() == 2 * one.size());
        CHECK(is_like(rows(all, 0, one.size()), one));
      }
    }
  }

  TEST_CASE("every mistake in attention is tried") {
    std::set<std::string_view> tried = {"mask-of-other-sentence", "target-mask-in-cross-attention", "order-masked",
                                        "window-forgotten"};
    for (const Expected& row : expected) tried.insert(row.mistake);
    for (const Case& one : cases) tried.insert(one.mistake);
    for (const std::string_view name : tried::tried_further()) tried.insert(name);
    for (const auto of_subject :
         {mistakes_of_scores, mistakes_of_softmax, mistakes_of_values, mistakes_of_heads, mistakes_of_masks}) {
      for (const Mistake& mistake : of_subject()) {
        CAPTURE(mistake.name);
        CHECK(tried.contains(mistake.name));
      }
    }
  }
}

}  // namespace
