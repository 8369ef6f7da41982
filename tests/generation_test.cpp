#include "core/model/generation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "commands_tried.hpp"
#include "data/problem/model_file.hpp"
#include "models.hpp"

using namespace attn;

namespace {

// A text that a model wrote.
struct Written {
  Written(const Transformer& model, const GenerationTask& task, const Sampling& sampling = {},
          const ModelInput& source = words({1, 2, 3})) {
    RunningTransformer running(model, graph);
    std::optional<Value> encoded;
    if (model.kind->encodes) encoded = running.encode(source);
    steps = generate(running, graph, task, encoded, sampling);
  }

  std::vector<std::size_t> ids() const {
    std::vector<std::size_t> chosen;
    for (const GenerationStep& step : steps) chosen.push_back(step.chosen);
    return chosen;
  }

  Graph graph;
  std::vector<GenerationStep> steps;
};

Sampling drawn(std::uint32_t seed) {
  Sampling sampling;
  sampling.generator.emplace(seed);
  return sampling;
}

TransformerFile example(std::string_view name) {
  return read_transformer(look_up(model_examples(), name, "model").bytes, std::string(name));
}

}  // namespace

TEST_CASE("with the cache and without it the same is written with the same probabilities") {
  for (const char* kind : {"encoder-decoder", "decoder-only"}) {
    for (const NormPlacement& norm : norm_placements()) {
      for (const char* positions : {"none", "sinusoidal", "learned", "rotary"}) {
        for (std::uint32_t seed = 1; seed <= 5; ++seed) {
          const Transformer model = random_model(
              {.kind = kind, .norm = norm.name, .positions = positions, .seed = seed, .key_heads = seed % 2 + 1});
          GenerationTask task{.prompt = words({1, 4}), .steps = 6};
          const Written cached(model, task, drawn(seed));
          task.cache = Cache::none;
          const Written anew(model, task, drawn(seed));
          REQUIRE(cached.ids() == anew.ids());
          for (std::size_t i = 0; i < cached.steps.size(); ++i) {
            CHECK(close(cached.steps[i].distribution->matrix(), anew.steps[i].distribution->matrix(), 1e-12));
          }
        }
      }
    }
  }
}

TEST_CASE("with the cache and without it the same is written where layers have a window") {
  for (const char* layers : {"all", "2"}) {
    for (const double window : {1.0, 2.0, 3.0, 20.0}) {
      Transformer model = random_model({.kind = "decoder-only", .positions = "rotary-halves"});
      model.recipe.window = window;
      model.recipe.window_layers = layers;
      model.recipe.local_base = 100.0;
      model.recipe.score_cap = 2.0;
      model.recipe.logit_cap = 3.0;
      GenerationTask task{.prompt = words({1, 4}), .steps = 6};
      const Written cached(model, task);
      task.cache = Cache::none;
      const Written anew(model, task);
      REQUIRE(cached.ids() == anew.ids());
      for (std::size_t i = 0; i < cached.steps.size(); ++i)
        CHECK(close(cached.steps[i].distribution->matrix(), anew.steps[i].distribution->matrix(), 1e-12));
    }
  }
}

TEST_CASE("the cache saves work, and the ledger says what went in") {
  const Transformer model = random_model({.kind = "decoder-only"});
  GenerationTask task{.prompt = words({1, 4, 2}), .steps = 3};
  const Written cached(model, task);
  task.cache = Cache::none;
  const Written anew(model, task);
  const std::vector<std::size_t> ids = cached.ids();
  CHECK(cached.steps[0].went_in == std::vector<std::size_t>{1, 4, 2});
  CHECK(cached.steps[1].went_in == std::vector<std::size_t>{ids[0]});
  CHECK(cached.steps[2].remembered == 4);
  CHECK(anew.steps[2].went_in == std::vector<std::size_t>{1, 4, 2, ids[0], ids[1]});
  CHECK(anew.steps[2].remembered == 0);
  CHECK(cached.steps[0].multiply_adds == anew.steps[0].multiply_adds);
  CHECK(cached.steps[1].multiply_adds < anew.steps[1].multiply_adds);
  // One word: q, k, v and o of 4·4, scores and sum over 4 words of 4 numbers, 2·4·6 inside, in two layers;
  // then six logits.
  CHECK(cached.steps[1].multiply_adds == 2 * (4 * 16 + 2 * 4 * 4 + 2 * 4 * 6) + 4 * 6);
}

TEST_CASE("the same seed draws the same words, and another one others") {
  const Transformer model = random_model({.kind = "decoder-only"});
  const GenerationTask task{.prompt = words({1}), .steps = 12};
  const auto written = [&](std::uint32_t seed) { return Written(model, task, drawn(seed)).ids(); };
  CHECK(written(1) == written(1));
  CHECK(written(1) != written(2));
}

TEST_CASE("a temperature near zero, one word alone and hardly any probability are all greedy") {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    const Transformer model = random_model({.seed = seed});
    const GenerationTask task{.prompt = words({1}), .steps = 8};
    const std::vector<std::size_t> greedy = Written(model, task).ids();
    for (const auto& change : {+[](Sampling& s) { s.temperature = 1e-6; }, +[](Sampling& s) { s.top_k = 1; },
                               +[](Sampling& s) { s.top_p = 1e-9; }}) {
      Sampling sampling = drawn(seed);
      change(sampling);
      CHECK(Written(model, task, sampling).ids() == greedy);
    }
  }
}

TEST_CASE("only the most probable words are drawn from, and their shares sum to one") {
  const Transformer model = random_model({.kind = "decoder-only"});
  const GenerationTask task{.prompt = words({1}), .steps = 1};
  const Written all(model, task);
  std::vector<double> sorted;
  for (const double share : row(all.steps[0].distribution->matrix(), 0)) sorted.push_back(share);
  std::ranges::sort(sorted, std::greater<>());
  const auto positive = [&](const Sampling& sampling) {
    const Written limited(model, task, sampling);
    const std::span<const double> shares = row(limited.steps[0].distribution->matrix(), 0);
    double sum = 0.0;
    for (const double share : shares) sum += share;
    CHECK(sum == doctest::Approx(1.0));
    return std::ranges::count_if(shares, [](double share) { return share > 0.0; });
  };
  CHECK(positive({.top_k = 3}) == 3);
  CHECK(positive({.top_k = 100}) == 6);
  CHECK(positive({.top_p = sorted[0] + 0.5 * sorted[1]}) == 2);
  CHECK(positive({.top_p = 1.0}) == 6);
}

TEST_CASE("a higher temperature levels the distribution") {
  const Transformer model = random_model({.kind = "decoder-only"});
  const GenerationTask task{.prompt = words({1}), .steps = 1};
  const auto most = [&](double temperature) {
    Sampling sampling;
    sampling.temperature = temperature;
    const Written written(model, task, sampling);
    return std::ranges::max(row(written.steps[0].distribution->matrix(), 0));
  };
  CHECK(most(0.5) > most(1.0));
  CHECK(most(1.0) > most(2.0));
  CHECK(most(1e6) == doctest::Approx(1.0 / 6.0));
}

TEST_CASE("the pattern goes on after every one of its beginnings") {
  const TransformerFile file = example("pattern");
  const std::string_view pattern = "aabaabaabaaba";
  for (std::size_t from = 0; from < 3; ++from) {
    for (std::size_t length = 2; length <= 10; ++length) {
      const std::string_view prompt = pattern.substr(from, length);
      CAPTURE(prompt);
      ModelInput input;
      for (const char letter : prompt) {
        input.ids.push_back(id_in(file.model.target_vocabulary, std::string_view(&letter, 1)));
      }
      const Written written(file.model, {.prompt = input, .steps = 1});
      const std::string expected(1, pattern.at(from + length));
      CHECK(file.model.target_vocabulary.at(written.ids().front() - 1) == expected);
    }
  }
}

TEST_CASE("every sentence of up to four letters is copied") {
  const TransformerFile file = example("copy");
  const std::vector<std::string>&sources = file.model.source_vocabulary, &targets = file.model.target_vocabulary;
  const std::size_t end = id_in(targets, "<end>");
  std::size_t copied = 0;
  for (std::size_t length = 1, sentences = 4; length <= 4; ++length, sentences *= 4) {
    for (std::size_t number = 0; number < sentences; ++number) {
      ModelInput source;
      std::vector<std::size_t> expected;
      for (std::size_t i = 0, rest = number; i < length; ++i, rest /= 4) {
        const std::string letter(1, "abcd"[rest % 4]);
        source.ids.push_back(id_in(sources, letter));
        expected.push_back(id_in(targets, letter));
      }
      source.ids.push_back(id_in(sources, "<end>"));
      expected.push_back(end);
      const GenerationTask task{.prompt = words({id_in(targets, "<start>")}), .steps = 6, .ends = {end}};
      copied += Written(file.model, task, {}, source).ids() == expected;
    }
  }
  CHECK(copied == 4 + 16 + 64 + 256);
}

namespace {

// The texts that beam search keeps.
struct Searched {
  Searched(const Transformer& model, const GenerationTask& task, std::size_t beams) {
    RunningTransformer running(model, graph);
    std::optional<Value> encoded;
    if (model.kind->encodes) encoded = running.encode(words({1, 2, 3}));
    steps = beam_search(running, graph, task, encoded, beams);
  }

  Graph graph;
  std::vector<BeamStep> steps;
};

double log_probability_of(const Transformer& model, const GenerationTask& task, const std::vector<std::size_t>& text) {
  double sum = 0.0;
  GenerationTask one = task;
  one.steps = 1;
  for (const std::size_t id : text) {
    const Written next(model, one);
    sum += std::log(next.steps.front().distribution->matrix()(0, id - 1));
    one.prompt.ids.push_back(id);
  }
  return sum;
}

}  // namespace

TEST_CASE("beam search with one text is greedy, and with more it never keeps a less probable one") {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    const Transformer model = random_model({.seed = seed});
    const GenerationTask task{.prompt = words({1, 4}), .steps = 4, .ends = {6}};
    const Written greedy(model, task);
    const Searched one(model, task, 1);
    CHECK(one.steps.back().kept.front().words == greedy.ids());
    CHECK(one.steps.size() == greedy.steps.size());
    const Searched several(model, task, 3);
    for (const BeamStep& step : several.steps) {
      CHECK(step.kept.size() == 3);
      CHECK(std::ranges::is_sorted(step.kept, std::ranges::greater{}, &Beam::log_probability));
      for (const Beam& beam : step.kept) {
        CHECK(std::fabs(beam.log_probability - log_probability_of(model, task, beam.words)) < 1e-9);
        CHECK(beam.has_ended == (beam.words.back() == 6));
      }
    }
  }
}

TEST_CASE("beam search that keeps every text finds the most probable one") {
  const Transformer model = random_model({.kind = "decoder-only", .seed = 3});
  const GenerationTask task{.prompt = words({1}), .steps = 3, .ends = {2}};
  const Beam best = Searched(model, task, 64).steps.back().kept.front();
  double most = -std::numeric_limits<double>::infinity();
  const auto try_all = [&](const auto& again, std::vector<std::size_t> text) -> void {
    if (text.size() == 3 || (!text.empty() && text.back() == 2)) {
      most = std::max(most, log_probability_of(model, task, text));
      return;
    }
    for (std::size_t id = 1; id <= 6; ++id) {
      std::vector<std::size_t> longer = text;
      longer.push_back(id);
      again(again, std::move(longer));
    }
  };
  try_all(try_all, {});
  CHECK(std::fabs(best.log_probability - most) < 1e-9);
}

TEST_CASE("beam search ends with the most probable text, and names what it took") {
  const Transformer model = example("names").model;
  const GenerationTask task{
      .prompt = words({id_in(model.target_vocabulary, "<start>"), id_in(model.target_vocabulary, "m")}),
      .steps = 12,
      .ends = {id_in(model.target_vocabulary, "<end>")}};
  const Searched searched(model, task, 3);
  CHECK(searched.steps.size() < 12);
  CHECK(searched.steps.back().kept.front().has_ended);
  CHECK(searched.steps.front().distributions.size() == 1);
  CHECK(searched.steps[1].distributions.size() == 3);
  CHECK(searched.graph.at("step.2.3.distribution").frame.shape.rows == 1);
  CHECK(searched.steps[1].multiply_adds > searched.steps[0].multiply_adds);
}

TEST_CASE("a model without an output layer writes nothing") {
  Transformer model = random_model({.kind = "decoder-only"});
  model.parameters.erase("output.w");
  CHECK(refusal([&] { Written(model, {.prompt = words({1})}); }).find("output.w") != std::string::npos);
}

namespace {

// Notes what it is told.
class NotedWork final : public LongWork {
 public:
  void tell(std::string_view stage) override { stages.emplace_back(stage); }
  std::optional<TerminalSize> canvas() const override { return std::nullopt; }
  void draw(const std::vector<std::string>&) override {}
  bool is_to_stop() override { return false; }
  void prepare_to_save(const std::string&) override {}
  void save(const FileToWrite&) override {}

  std::vector<std::string> stages;
};

}  // namespace

TEST_CASE("the words are told as they are chosen, once each") {
  NotedWork work;
  Environment environment = bare_environment();
  environment.work = &work;
  answer({"generate", "--steps", "3"}, environment);
  CHECK(work.stages == std::vector<std::string>{"a", "a b", "a b a"});
  work.stages.clear();
  answer({"generate", "--steps", "60"}, environment);
  CHECK(work.stages.size() == 5);  // as far as its positions go
}
