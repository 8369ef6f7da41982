#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

#include "computations.hpp"
#include "core/model/encoder_decoder.hpp"
#include "core/support/error.hpp"
#include "data/problem/encoder_decoder_file.hpp"
#include "data/problem/model_words.hpp"
#include "mistake_problems.hpp"
#include "school/mistake/mistake.hpp"

// Where mistakes can be made. What they give is in tests/oracles/mistakes.py.

using namespace attn;

namespace {

struct Way {
  std::string name;
  Change change;
};
// Each mistake, and each of its variants.
std::vector<Way> ways() {
  std::vector<Way> all;
  for (const Mistake& mistake : mistakes()) {
    all.push_back({std::string(mistake.name), mistake});
    for (const Mistake::Instead variant : mistake.variants) {
      if (variant) all.push_back({fmt::format("a variant of {}", mistake.name), {mistake.where, variant}});
    }
  }
  return all;
}

// Makes each mistake in a computation, and counts the matrices that it changes. What cannot be computed is
// refused, and nothing else happens.
std::size_t changed_by_all(const Graph& graph) {
  std::size_t changed = 0;
  for (const Way& way : ways()) {
    CAPTURE(way.name);
    Rewriting again(graph, way.change);
    std::vector<Value> made;
    for (const Node* node : graph.named()) {
      try {
        if (again.changes(*node)) made.push_back(again.of(*node));
      } catch (const InputError&) {
      }
    }
    for (const Value& value : made) CHECK(value.matrix().shape() == value.shape());
    changed += made.size();
  }
  return changed;
}

std::vector<std::shared_ptr<Graph>> graphs_of_problems() {
  std::vector<std::shared_ptr<Graph>> all;
  for (const tried::Problem& problem : tried::problems) all.push_back(problem.made(0));
  return all;
}

// What a node has become; nothing where that cannot be computed.
std::optional<Matrix> now(Rewriting& again, const Node& node) {
  try {
    return again.of(node).matrix();
  } catch (const InputError&) {
    return std::nullopt;
  }
}

bool is_close_or_no_number(double a, double b) { return (std::isnan(a) && std::isnan(b)) || close(a, b, 1e-9); }

}  // namespace

TEST_SUITE("mistakes everywhere") {
  TEST_CASE("every mistake is made in every example or refused") {
    for (const Example& example : examples()) {
      CAPTURE(example.name);
      const auto graph = std::make_shared<Graph>();
      add_computation(build_problem(read_problem_file(example.json, "test")), *graph);
      CHECK(changed_by_all(*graph) > 0);
    }
  }

  TEST_CASE("every mistake is made with every scoring function and mask or refused") {
    for (const Computation& computation : computations()) {
      if (computation.words == many_words) continue;
      CAPTURE(computation.fields);
      const auto graph = std::make_shared<Graph>();
      build_into(*graph, computation);
      CHECK(changed_by_all(*graph) > 0);
    }
  }

  TEST_CASE("every mistake is made in every kind of model or refused") {
    for (const std::string_view kind : {"encoder-decoder", "encoder-only", "decoder-only"}) {
      CAPTURE(kind);
      const auto graph = std::make_shared<Graph>();
      build_into(*graph, ModelComputation{kind, 4, 3});
      CHECK(changed_by_all(*graph) > 0);
    }
  }

  TEST_CASE("every mistake is made in every kind of alignment or refused") {
    const EncoderDecoderFile file = read_encoder_decoder(alignment_examples().front().bytes, "test");
    for (const AlignmentVariant& variant : alignment_variants()) {
      CAPTURE(variant.name);
      const auto graph = std::make_shared<Graph>();
      const EncoderDecoder model = encoder_decoder_of(file, variant, recurrences().front());
      add_computation(model, {1, 2, 3}, {1, 2}, *graph);
      CHECK(changed_by_all(*graph) > 0);
    }
  }

  TEST_CASE("every mistake is made where keys and values are cached or refused") {
    const Transformer model = random_model({.kind = "decoder-only", .positions = "rotary"});
    const auto graph = std::make_shared<Graph>();
    RunningTransformer running(model, *graph);
    for (const std::size_t word : {2, 3, 1}) {
      const Graph::Scope step(*graph, scope::step, word);
      running.decode(words({word}), std::nullopt);
    }
    CHECK(changed_by_all(*graph) > 0);
  }

  TEST_CASE("every mistake is made in every problem of theirs or refused") {
    for (const std::shared_ptr<Graph>& graph : graphs_of_problems()) CHECK(changed_by_all(*graph) > 0);
  }

  TEST_CASE("every mistake can be made at some node, and what is asked of nodes computes nothing") {
    std::vector<std::shared_ptr<Graph>> graphs = graphs_of_problems();
    for (const std::string_view fields :
         {R"({"text": ["a cat sat", "it sat"], "d_model": 4, "heads": 2, "valid_length": [3, 2]})",
          R"({"q": [[1]], "k": [[1], [2]], "score": "additive", "score_wq": [[1]], "score_wk": [[2]],
              "score_wv": [[2]], "score_b": [[0.5]]})",
          R"({"q": [[1], [2]], "k": [[1], [2]], "v": [[1, 2], [3, 4]]})",
          R"({"q": [[1, 0, 0, 0]], "k": [[0, 1, 1, 1], [0, 1, 1, 1]], "mask": [[0.5, 2.5]]})"})
      graphs.push_back(tried::problem_of(fields));
    std::set<std::string_view> possible;
    for (const std::shared_ptr<Graph>& graph : graphs) {
      const auto held = [&] {
        return std::ranges::count_if(graph->nodes(), [&](const Node& node) { return graph->run().holds(node); });
      };
      const auto before = held();
      for (const auto& [mistake, first] : possible_mistakes(*graph)) possible.insert(mistake->name);
      CHECK(held() == before);
    }
    for (const Mistake& mistake : mistakes()) {
      CAPTURE(mistake.name);
      CHECK(possible.contains(mistake.name));
    }
  }

  TEST_CASE("a mistake is made in every sentence of a batch") {
    const Transformer model = random_model({.heads = 4, .key_heads = 2, .d_model = 8});
    const auto encoded = [&](ModelInput source) {
      const auto graph = std::make_shared<Graph>();
      RunningTransformer(model, *graph).encode(source);
      return graph;
    };
    const std::vector<bool> padding = {false, false, false, false, true};
    std::vector<bool> of_both = padding;
    of_both.resize(10);
    const auto batch = encoded({.ids = {1, 2, 3, 4, 5, 5, 1, 1, 2, 3}, .sentences = 2, .blank = of_both});
    const auto alone = encoded({.ids = {1, 2, 3, 4, 5}, .blank = padding});
    for (const Way& way : ways()) {
      CAPTURE(way.name);
      Rewriting of_batch(*batch, way.change), of_one(*alone, way.change);
      for (const char* name : {"encoder.1.self_attention.head.3.weights", "encoder.1.self_attention.output"}) {
        const std::optional<Matrix> one = now(of_one, alone->at(name)), all = now(of_batch, batch->at(name));
        REQUIRE(one.has_value() == all.has_value());
        if (!one) continue;
        REQUIRE(all->size() == 2 * one->size());
        CHECK(std::ranges::equal(cells(*one), cells(*all).first(one->size()), is_close_or_no_number));
      }
    }
  }
}
