#include <doctest/doctest.h>

#include "computations.hpp"
#include "core/model/encoder_decoder.hpp"
#include "core/support/error.hpp"
#include "data/problem/encoder_decoder_file.hpp"
#include "data/problem/words.hpp"
#include "school/mistake/mistake.hpp"

using namespace attn;

namespace {

// Makes each mistake in a computation, and counts the matrices that it changes. What cannot be computed is
// refused, and nothing else happens.
std::size_t changed_by_all(const Graph& graph) {
  std::size_t changed = 0;
  for (const Mistake& mistake : mistakes()) {
    CAPTURE(mistake.name);
    Rewriting again(graph, mistake);
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

}  // namespace

TEST_SUITE("mistakes everywhere") {
  TEST_CASE("every mistake is made in every example or refused") {
    for (const Example& example : examples()) {
      CAPTURE(example.name);
      const auto graph = std::make_shared<Graph>();
      evaluate(build(read_problem_file(example.json, "test")), *graph);
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
      evaluate(model, {1, 2, 3}, {1, 2}, *graph);
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
}
