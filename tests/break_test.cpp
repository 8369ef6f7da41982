#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "apart/failure/failure.hpp"
#include "commands_tried.hpp"
#include "core/graph/graph.hpp"
#include "process.hpp"
#include "testing.hpp"

namespace {

using namespace attn;

const Failure& failure_called(std::string_view name) { return *std::ranges::find(failures(), name, &Failure::name); }

// The failure in what a line computes, which outlives it.
struct Tried {
  std::shared_ptr<Graph> graph;
  MadeFailure made;
};

Tried tried(const Failure& failure, const std::string& line) {
  Tried all{computation_of(line), {}};
  all.made = make_failure(failure, *all.graph);
  return all;
}

// A sentence and a seed, with what the failure needs beside them.
std::string line_of(const Failure& failure, const std::string& sentence, int seed) {
  return fmt::format("attn {} --text '{}' --seed {} {}", failure.command, sentence, seed, failure.options);
}

}  // namespace

TEST_SUITE("attn break") {
  TEST_CASE("the law of every failure fails with its mistake and holds without it") {
    for (const Failure& failure : failures()) {
      for (const char* sentence : {"the cat sat down", "who comes first", "it was too tired to cross the street"}) {
        for (const int seed : {1, 2, 7}) {
          const std::string line = line_of(failure, sentence, seed);
          CAPTURE(line);
          CAPTURE(failure.name);
          const auto [graph, made] = tried(failure, line);
          REQUIRE(made.broken);
          CHECK(made.changes);
          CHECK(made.failing());
          CHECK(made.holds_for_original());
          if (made.failing()) CHECK_FALSE(made.failing()->broken->place.empty());
          CHECK_FALSE(made.broken->matching(std::string(failure.shown)).empty());
        }
      }
    }
  }

  TEST_CASE("the mistakes of every failure are those that attn check knows") {
    for (const Failure& failure : failures()) {
      CAPTURE(failure.name);
      CHECK_FALSE(mistakes_of(failure).empty());
    }
  }

  TEST_CASE("the numbers of a failure are those that are worked out by hand") {
    const auto nan = tried(failure_called("row-of-nan"), "attn walk --q '1; 1' --k '1; 1' --v '1; 2' --causal");
    CHECK(std::isnan(nan.made.broken->at("weights").cell(0, 0)));
    CHECK(nan.made.broken->at("weights").cell(1, 0) == 1.0);
    CHECK(std::isnan(nan.made.broken->at("output").cell(0, 0)));
    const auto leak = tried(failure_called("leaking-mask"), "attn walk --q '0; 0' --k '1; 1' --causal");
    CHECK(leak.made.broken->at("weights").cell(0, 1) == doctest::Approx(0.5));
    CHECK(leak.made.failing()->broken->place == "weights[1,2]");
    const auto axis = tried(failure_called("wrong-axis"), "attn walk --scores '0 0; 0 0; 0 0'");
    CHECK(axis.made.broken->at("weights").cell(0, 0) == doctest::Approx(1.0 / 3.0));
    const auto overflow = tried(failure_called("overflow"), "attn walk --scores '89 0; 88 0'");
    CHECK(std::isnan(overflow.made.broken->at("weights").cell(0, 0)));
    CHECK(overflow.made.broken->at("weights").cell(1, 0) == doctest::Approx(1.0));
    CHECK(overflow.made.failing()->broken->cells == 1);
    const auto heads = tried(failure_called("mixed-heads"), "attn walk --q '1 2; 3 4' --k '1 2; 3 4' --heads 2");
    // Head 1 has the first row, and not the first column.
    CHECK(heads.made.broken->at("head.1.q").cell(1, 0) == 2.0);
  }

  TEST_CASE("a failure that does not show is told so") {
    const std::string alone = in_one_line(accepted({"break", "look-into-the-future", "--text", "alone"}).out);
    check_has(alone, "In this computation the failure does not show: the mistake changes none of these numbers.");
    check_has(alone, "The law holds for the broken computation.");
    const std::string small = in_one_line(accepted({"break", "overflow", "--text", "a b", "--scale", "1"}).out);
    check_has(small,
              "It needs a score above 88.7 before the softmax, or a query whose scores are all below about −104.");
  }

  TEST_CASE("exponentials that are all 0 in float32 give NaN as well as infinite ones") {
    const auto shown = [](const Words& words) { return in_one_line(accepted(words).out); };
    const Words low{"walk", "--scores", "-200 -201", "--v", "1;2", "--break", "overflow"};
    check_has(shown(low), "The law does not hold for the broken computation.");
    const Words high{"walk", "--scores", "-100 -201", "--v", "1;2", "--break", "overflow"};
    check_has(shown(high), "The law holds for the broken computation.");
    // A query without keys has weights of 0 in both.
    const Words none{"walk", "--scores", "1 2;1 2", "--v", "1;2", "--mask", "0 0;1 1", "--break", "overflow"};
    check_has(shown(none), "The law holds for the broken computation.");
  }

  TEST_CASE("without a causal mask later keys are seen, whatever else the mask hides") {
    const auto shown = [](const Words& words) { return in_one_line(accepted(words).out); };
    const Words given{"break", "look-into-the-future", "--text", "a b", "--mask", "1 1;0 1"};
    check_lacks(shown(given), "the mistake gives the right result");
    check_has(shown(given), "The law does not hold for the broken computation.");
    const Words window{"walk", "--text", "a b c", "--mask", "1 0 0;1 1 0;0 1 1", "--break", "look-into-the-future"};
    check_has(shown(window), "The law does not hold for the broken computation.");
  }

  TEST_CASE("a failure is said to need only what is missing") {
    const auto shown = [](const Words& words) { return in_one_line(accepted(words).out); };
    const std::string one = shown({"walk", "--q", "1", "--k", "1;2", "--v", "1;2", "--break", "no-scale"});
    check_has(one, "It needs a d_k above 1.");
    const std::string equal =
        shown({"walk", "--q", "1 2;1 2", "--k", "1 2;1 2", "--v", "1;2", "--break", "wrong-axis"});
    check_has(equal, "It needs queries whose scores differ, or not as many queries as keys.");
    const std::string above =
        shown({"walk", "--scores", "1e9 1", "--v", "1;1", "--mask", "1 0", "--break", "leaking-mask"});
    check_lacks(above, "It needs");
    check_has(above, "With these numbers the law cannot tell the mistake from the right computation.");
    // Off by one, the mask of one word hides its only key.
    const std::string alone = shown({"walk", "--text", "a", "--causal", "--break", "row-of-nan"});
    check_has(alone, "The law does not hold for the broken computation.");
    const std::string padded = shown({"walk", "--scores", "1 2;3 4", "--mask", "1 0;1 0", "--break", "row-of-nan"});
    check_has(padded, "It needs a mask of 0 and 1 (such as a causal one) that hides a key from some of the queries");
    refuses({"walk", "--scores", "1 2;3 4", "--v", "1;1", "--mask", "0 0;1 1", "--break", "wrong-axis"},
            "row_sums(weights) = 1 does not hold in it without the mistake either: give others");
  }

  TEST_CASE("a failure is told with what was computed") {
    const std::string given = in_one_line(accepted({"break", "overflow", "--text", "a b", "--multiply", "1"}).out);
    CHECK(given.find("Computed with") == std::string::npos);
    const std::string leak = in_one_line(accepted({"break", "leaking-mask", "walk", "--causal"}).out);
    check_has(in_one_line(accepted({"break", "overflow"}).out), "Computed with --multiply 1000.");
    check_has(leak, "weights[Thinking,Machines] is 8.315e-07.");
    check_has(leak, "the left side is 8.315e-07.");
    const std::string own = in_one_line(accepted({"break", "row-of-nan", "walk", "--mask", "1 0;1 1"}).out);
    check_has(own, "The mask hides a key too many");
    CHECK(own.find("The causal mask is off by one") == std::string::npos);
  }

  TEST_CASE("the keys of a head have the size by which its scores are divided") {
    for (const char* line : {"attn walk --example animal", "attn walk --text 'a b c' --d-model 8 --heads 1",
                             "attn walk --text 'a b c' --d-model 8 --heads 4",
                             "attn walk --text 'a b c' --d-model 8 --heads 4 --kv-heads 2",
                             "attn encoder --model coreference", "attn transformer --heads 2"}) {
      CAPTURE(line);
      const auto [graph, made] = tried(failure_called("no-scale"), line);
      REQUIRE(made.broken);
      CHECK(made.holds_for_original());
      CHECK(made.failing());
    }
  }

  TEST_CASE("a failure whose law does not hold for the correct computation is refused") {
    refuses({"encoder", "--break", "forgotten-residual", "--norm", "pre"},
            "does not hold in it without the mistake either");
    refuses({"break", "forgotten-residual", "generate"}, "needs a layer of self-attention and feed-forward");
    refuses({"break", "look-into-the-future", "walk", "--n-q", "2", "--n-k", "3"}, "as many queries as keys");
    // Behind cross-attention the second sum is another one, and the law is held to the encoder.
    const std::string both =
        in_one_line(accepted({"break", "forgotten-residual", "transformer", "--norm", "post"}).out);
    check_has(both, "At encoder.1.sum_2");
    check_has(both, "The law holds for the correct computation.");
    refuses({"break", "forgotten-residual", "encoder", "--model", "coreference"}, "post-norm");
    refuses({"break", "no-scale", "--text", "a b", "--scale", "0.1"}, "needs the scale √d_k");
    // Rounding to float32 breaks no law.
    check_has(in_one_line(accepted({"encoder", "--single", "--break", "wrong-axis"}).out),
              "The law holds for the correct computation.");
  }

  TEST_CASE("every failure is shown on its own, on a sentence, and in other commands") {
    for (const Failure& failure : failures()) {
      CAPTURE(failure.name);
      const std::string name(failure.name);
      const std::string own = in_one_line(accepted({"break", name}).out);
      check_has(own, std::string(failure.law));
      check_has(own, "The law does not hold for the broken computation.");
      check_has(own, "The law holds for the correct computation.");
      check_has(in_one_line(accepted({"break", name, "--text", "you and me"}).out), "Why");
      check_has(accepted({"break", name, "--format", "json"}).out, "\"holds_broken\"");
    }
    check_has(accepted({"break", "row-of-nan", "transformer"}).out, "decoder.1.self_attention.head.1.weights");
    check_has(accepted({"break"}).out, "forgotten-residual");
  }

  TEST_CASE("the matrices of a failure can be written, and attn check finds the mistake") {
    const TemporaryFolder folder;
    for (const char* name : {"wrong-axis", "leaking-mask", "look-into-the-future", "no-scale", "mixed-heads"}) {
      CAPTURE(name);
      const Failure& failure = failure_called(name);
      const std::string broken = folder.path("broken.npz");
      accepted({"break", name, "--text", "the cat sat down", "-o", broken});
      const ProcessResult checked =
          run_attn(Words{"check", broken, "--text", "the cat sat down"} + split_at_any(failure.options, " "));
      CHECK(checked.code == 1);
      check_has(in_one_line(checked.out), mistakes_of(failure).front()->name);
      CHECK(run_attn({"assert", std::string(failure.law), "--trace", broken}).code == 1);
    }
  }

  TEST_CASE("a failure that cannot be made is refused with what it needs") {
    refuses({"break", "walrus"}, "Choose one of: row-of-nan");
    refuses({"break", "walk"}, "attn break needs NAME before the command");
    refuses({"break", "mixed-heads", "--text", "a b", "--heads", "1"}, "needs several heads");
    refuses({"break", "no-scale", "--text", "a b", "--scale", "none"}, "needs the scale");
    refuses({"break", "forgotten-residual", "--q", "1 0"}, "has no option --q");
    refuses({"break", "forgotten-residual", "walk"}, "needs a layer");
    refuses({"walk", "--break", "wrong-axis", "--only", "weights"}, "--break");
    refuses({"break", "wrong-axis", "--mask", "2"}, "");
  }
}
