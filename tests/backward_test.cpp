#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "command/backward/gradient_check.hpp"
#include "command/backward/memory.hpp"
#include "commands_tried.hpp"
#include "core/op/operations.hpp"
#include "data/files/json.hpp"
#include "data/problem/problem_file.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

Json array(const Words& words, const std::string& name) { return page(words)["arrays"][name]; }

// Every gradient agrees with finite differences, and some were compared.
std::string checked(const Words& words) {
  const std::string text = in_one_line(accepted(words + Words{"--check"}).out);
  check_has(text, "compared numbers agree");
  check_lacks(text, "All 0 compared");
  return text;
}

}  // namespace

TEST_CASE("the gradients of the example by hand are those that a pencil gives") {
  const Json arrays = page({"backward"})["arrays"];
  CHECK(arrays["d_output"] == Json::parse("[[1,1],[1,1]]"));
  CHECK(arrays["d_weights"] == Json::parse("[[3,5],[3,5]]"));
  CHECK(arrays["d_v"] == Json::parse("[[1,1],[1,1]]"));
  CHECK(arrays["d_scaled"] == Json::parse("[[-0.5,0.5],[-0.5,0.5]]"));
  CHECK(arrays["d_scores"] == Json::parse("[[-0.25,0.25],[-0.25,0.25]]"));
  CHECK(arrays["d_q"] == Json::parse("[[0.25,-0.25],[0.25,-0.25]]"));
  CHECK(arrays["d_k"] == Json::parse("[[-0.75,-0.75],[0.75,0.75]]"));
  CHECK(arrays["d_w_q"] == Json::parse("[[0.5,-0.5],[0.25,-0.25]]"));
  CHECK(arrays["d_w_k"] == Json::parse("[[0,0],[0.75,0.75]]"));
  CHECK(arrays["d_w_v"] == Json::parse("[[2,2],[1,1]]"));
  CHECK(arrays["d_x"] == Json::parse("[[1.5,2],[4.5,2]]"));
}

TEST_CASE("gradients agree with finite differences for every score and mask and number of heads") {
  for (const char* score : {"scaled-dot", "dot", "cosine", "gaussian", "bilinear", "additive"})
    checked({"backward", "--text", "a b c", "--score", score, "--d-model", "4", "--causal"});
  checked({"backward", "--text", "a b c", "--heads", "2", "--d-model", "4", "--valid-length", "2"});
  checked({"backward", "--text", "a b c", "--heads", "4", "--soft-cap", "2", "--upstream",
           "1 2 3 4 5 6 7 8; 0 0 0 0 0 0 0 0; -1 0 1 0 -1 0 1 0"});
  for (const char* positions :
       {"sinusoidal", "learned", "rotary", "rotary-halves", "relative-bias", "relative-vectors"})
    checked({"backward", "--text", "a b c", "--positions", positions, "--d-model", "4"});
  checked({"backward", "--example", "padding"});
  checked({"backward", "--example", "two-layers"});
  checked({"backward", "--q", "1 0; 0 2", "--k", "1 0; 0 1; 1 1", "--v", "10; 20; 30"});
  checked({"backward", "--scores", "1 2; 3 4", "--of", "weights[1,2]"});
}

TEST_CASE("gradients of models agree with finite differences") {
  checked({"backward", "transformer", "--layers", "1"});
  checked({"backward", "encoder", "--norm", "pre", "--norm-kind", "rms", "--activation", "silu"});
  checked({"backward", "decoder", "--kind", "decoder-only", "--activation", "gelu", "--positions", "rotary"});
  checked({"backward", "decoder", "--kind", "decoder-only", "--activation", "silu", "--gated", "--positions",
           "rotary-halves", "--norm", "parallel", "--norm-kind", "rms-plus-1"});
  checked({"backward", "align", "--seed", "1", "--cell", "gru", "--source", "one two"});
  checked({"backward", "align", "--variant", "none"});
  checked({"backward", "transformer", "--model", "copy"});
}

TEST_CASE("a gradient that is wrong is found, named and told by the exit code") {
  Graph graph;
  add_computation(build_problem(read_problem_file(R"({"text": "a b", "d_model": 2, "seed": 3})", "test")), graph);
  const Node& output = graph.at("output");
  const Loss loss{Value(output),
                  graph.input({family::gradient, role::output}, Matrix(output.frame.shape, 1.0), output.frame.rows,
                              output.frame.columns),
                  {}};
  const Backward back(loss.from, loss.d_from);
  std::vector<GradientStep> steps = gradient_steps(graph, [&](const Node& node) { return back.by(node); });
  CHECK(check_gradients(loss, steps).verdict == Verdict::passed);
  for (GradientStep& step : steps) {
    if (!step.forward->is(role::w_v)) continue;
    Matrix wrong = step.gradient->matrix();
    wrong(1, 0) += 0.001;
    const Frame& frame = step.gradient->frame;
    step.gradient = &graph.input({role::other, "wrong"}, std::move(wrong), frame.rows, frame.columns).node();
  }
  const Answer answer = check_gradients(loss, steps);
  CHECK(answer.verdict == Verdict::failed);
  const auto* const last = std::get_if<Prose>(&answer.page.blocks.back());
  REQUIRE(last != nullptr);
  CHECK(words_of(last->text).starts_with("They disagree: wrong[2,1] is"));
}

TEST_CASE("a check leaves out kinks and masked scores and says so") {
  const std::string kinks = checked({"backward", "--x", "1 -1", "--w1", "1 0; 1 1", "--w2", "1; 1"});
  check_has(kinks, "a step would cross a kink of ReLU");
  const std::string masked = checked({"backward", "--text", "a b c", "--causal", "--d-model", "4"});
  check_has(masked, "3 numbers are not compared: a masked score is −∞");
}

TEST_CASE("a row that is masked as a whole has gradients of 0") {
  const Words words = {"backward", "--scores", "1 2; 3 4", "--v", "1; 5", "--mask", "1 1; 0 0"};
  const Json scores = array(words, "d_scores");
  CHECK(scores[0][0] != 0.0);
  CHECK(scores[1] == Json::parse("[0,0]"));
  checked(words);
}

TEST_CASE("recomputing gives the same bits with less memory where there are layers") {
  const std::string text = in_one_line(accepted({"backward", "encoder", "--layers", "6", "--recompute"}).out);
  check_has(text, "Both ways give the same gradients, bit for bit.");
  check_lacks(text, "takes no less memory");
  check_has(in_one_line(accepted({"backward", "--recompute"}).out), "takes no less memory");
}

TEST_CASE("the memory of a way back is known from shapes alone") {
  Graph graph;
  add_computation(
      build_problem(read_problem_file(
          R"({"text": "a b c d e f g h i j k l", "layers": 8, "no_feed_forward": true, "seed": 3})", "test")),
      graph);
  const PassMemory memory = memory_of_pass(graph.at("layer.8.output"));
  CHECK(memory.forward.peak_bytes < memory.both.peak_bytes);
  CHECK(memory.recomputed.peak_bytes < memory.both.peak_bytes);
  CHECK(memory.forward.cost.multiply_adds < memory.both.cost.multiply_adds);
  CHECK(memory.both.cost.multiply_adds < memory.recomputed.cost.multiply_adds);
}

TEST_CASE("one step against the gradients makes the loss of the example by hand smaller") {
  const std::string text = in_one_line(accepted({"backward", "--by-hand"}).out);
  check_has(text, "The loss was 8 and is now");
  check_has(text, "it has changed by -1.157");
  check_has(text, "d_w_q[2,2] = x[1,2]⋅d_q[1,2] + x[2,2]⋅d_q[2,2]");
}

TEST_CASE("the loss of a model is the cross-entropy of the words of --target") {
  const Json arrays = page({"backward", "transformer"})["arrays"];
  const Json &losses = arrays["losses"], &distribution = arrays["distribution"];
  CHECK(losses[0][0].get<double>() == doctest::Approx(-std::log(distribution[0][2].get<double>())));
  double sum = 0.0;
  for (const Json& row : losses) sum += row[0].get<double>();
  CHECK(arrays["loss"][0][0].get<double>() == doctest::Approx(sum / 4.0));
}

TEST_CASE("gradients are explained, outlined and chosen as all matrices are") {
  check_has(accepted({"backward", "--explain", "d_scores[1,2]", "--depth", "1"}).out, "d_scaled[1,2] / 2");
  check_has(accepted({"backward", "transformer", "--outline", "--size", "base"}).out, "d_w_q");
  CHECK(array({"backward", "--only", "d_weights"}, "d_weights").size() == 2);
  const TemporaryFolder folder;
  const std::string file = folder.path("gradients.json");
  accepted({"backward", "-o", file});
  check_has(accepted({"show", file, "--only", "d_weights"}).out, "d_weights = d_output ⋅ vᵀ");
}

TEST_CASE("a loss that cannot be is refused in one sentence") {
  refuses({"backward", "--of", "nothing[1,1]"}, "unknown matrix 'nothing'");
  refuses({"backward", "--of", "output[9,1]"}, "they are numbered from 1 to 2");
  refuses({"backward", "--of", "x"}, "it is given, so its gradients lead to nothing else");
  refuses({"backward", "--upstream", "1 2 3"}, "--upstream is 1×3, and output is 2×2");
  refuses({"backward", "--of", "output[1,1]", "--upstream", "1 2; 3 4"}, "without a cell");
  refuses({"backward", "transformer", "--model", "copy", "--target", "zebra"}, "zebra");
  refuses({"backward", "--upstream", "1 nan; 1 1"}, "--upstream[1,2] is not finite");
  refuses({"walk", "--check"}, "--check belongs to --backward");
  refuses({"backward", "--check", "--only", "d_x"}, "--check and --only");
  refuses({"backward", "--check", "--head", "1"}, "--check and --head");
  refuses({"backward", "nonsense"}, "unknown command 'nonsense'");
  refuses({"backward", "--by-hand", "--text", "a b c d", "--d-model", "32"}, "--by-hand writes out every number");
}

TEST_CASE("an influence is the same number from either end") {
  const Json by = page({"influence", "x[animal,1]"})["arrays"]["derivatives"];
  const Json of = array({"backward", "--example", "animal", "--of", "output[it,2]"}, "d_x");
  CHECK(by[7][1].get<double>() == doctest::Approx(of[1][0].get<double>()));
  CHECK(by[7][1] != 0.0);
  const Json one = page({"influence", "x[animal,1]", "--of", "output[it,2]"})["arrays"]["derivative"];
  CHECK(one[0][0].get<double>() == doctest::Approx(of[1][0].get<double>()));
}

TEST_CASE("what a number of a large model depends on leaves out what is given beside the words, and says so") {
  const Words model = {"influence", "decoder", "--kind", "decoder-only", "--layers", "1", "--target", "a b c"};
  const std::string small = in_one_line(accepted(model + Words{"--of", "logits[3,b]"}).out);
  check_has(small, "decoder.1.self_attention.w_q");
  check_lacks(small, "left out here");
  const Words large = model + Words{"--d-model", "256", "--d-ff", "2048", "--heads", "4", "--of", "logits[3,b]"};
  const std::string text = in_one_line(accepted(large).out);
  check_has(text, "numbers and are left out here. attn backward shows their gradients.");
  check_lacks(text, "decoder.1.self_attention.w_q");
  check_has(text, "By word: target.x");
}

TEST_CASE("the influence of a row is the length of its derivatives") {
  const Json row = page({"influence", "x[animal]"})["arrays"]["derivatives"];
  double squares = 0.0;
  for (const char* cell : {"x[animal,1]", "x[animal,2]", "x[animal,3]", "x[animal,4]"}) {
    const Json one = page({"influence", cell, "--of", "output[it,1]"})["arrays"]["derivative"];
    squares += one[0][0].get<double>() * one[0][0].get<double>();
  }
  CHECK(row[7][0].get<double>() == doctest::Approx(std::sqrt(squares)));
  const Json both = page({"influence", "x[animal]", "--of", "output[it]"})["arrays"]["derivative"];
  const Json all = page({"influence"})["arrays"]["influence.x"];
  CHECK(both[0][0].get<double>() == doctest::Approx(all[7][1].get<double>()));
}

TEST_CASE("influence counts what a mask cuts off and what is apart") {
  const Words words = {"influence", "x[3,1]", "--text", "a b c", "--causal", "--heads", "2", "--d-model", "4"};
  std::size_t found = 0;
  for (const std::vector<std::string>& row : listing_of(words)) {
    if (row[0] == "q") {
      CHECK(row[4] == "8");  // the queries of the other two words
      ++found;
    }
    if (row[0] == "output") {
      CHECK(row[3] == "8");  // the words before it
      CHECK(row[2] == "4");
      ++found;
    }
  }
  CHECK(found == 2);
  check_has(in_one_line(accepted({"influence", "head.1.q[1,1]", "--text", "a b", "--heads", "2"}).out),
            "head.2.weights");
}

TEST_CASE("influence says where nothing depends on a number or a number on nothing") {
  check_has(in_one_line(accepted({"influence", "x[animal,2]"}).out),
            "All derivatives of output are 0: the effect of x[animal,2] ends before.");
  refuses({"influence", "output[it,1]"}, "nothing is computed from output[it,1]");
  refuses({"influence", "--of", "x[it,1]"}, "it is given, so it depends on nothing");
}

TEST_CASE("attention beside gradients of every kind of computation") {
  for (const Words& words : std::vector<Words>{{"influence"},
                                               {"influence", "encoder"},
                                               {"influence", "decoder", "--kind", "decoder-only"},
                                               {"influence", "align"},
                                               {"influence", "--q", "1 0; 0 2", "--k", "1 0; 0 1", "--v", "1; 2"},
                                               {"influence", "--text", "one"}}) {
    check_has(accepted(words).out, "The influence of");
  }
  const std::string align = in_one_line(accepted({"influence", "align", "--seed", "3", "--source", "a b c d"}).out);
  check_has(align, "The way through attention carries more than the way along the states in");
  check_has(in_one_line(accepted({"influence", "align", "--variant", "none"}).out), "This variant has no attention");
}

TEST_CASE("a gradient check knows how precise its differences are and where there is no derivative") {
  checked({"backward", "encoder", "--norm", "pre", "--text", "a b"});
  const Words given = {"backward", "--q", "0 0; 1 1", "--k", "1 0; 0 1", "--v", "1; 2"};
  checked(given + Words{"--score", "gaussian", "--score-sigma", "0.01"});
  check_has(checked(given + Words{"--score", "cosine"}),
            "The division of a vector by its length has no derivative there");
  // Of two such rows the steps of neither are taken.
  check_has(checked({"backward", "walk", "--x", "0 0;0 0", "--wq", "1 0;0 1", "--wk", "1 0;0 1", "--wv", "1;1",
                     "--score", "cosine"}),
            "a vector of zeros, which has no direction");
  checked({"backward", "layer-norm", "--x", "1 1 1"});
  checked({"backward", "layer-norm", "--x", "4 4 4;1 2 3"});
}

TEST_CASE("influence counts scores that a mask cuts off as masked") {
  const std::string text =
      in_one_line(accepted({"influence", "--text", "a b c", "--causal", "--d-model", "2", "--of", "output[2,1]"}).out);
  check_has(text, "scores 9 2 1 6 0");
}

TEST_CASE("a step by hand that leads nowhere finite is refused, and a small one tells its change") {
  check_has(in_one_line(accepted({"backward", "--by-hand", "--step-size", "1e-12"}).out), "it has changed by -1.175");
  refuses({"backward", "--by-hand", "--step-size", "1e300"}, "the loss is not finite");
  refuses({"backward", "softmax"}, "attn softmax cannot be shown by attn backward. Choose one of: ");
  refuses({"backward", "--check", "encoder"}, "the command comes before the options: attn backward encoder");
  refuses({"backward", "transformer", "--size", "base"}, "choose some with --only");
}

TEST_CASE("the loss is one number only where all rows of a normalization sum to the same") {
  const Words encoder = {"backward", "encoder", "--text", "a b", "--outline"};
  check_has(in_one_line(accepted(encoder).out), "rows of the output are normalized");
  check_lacks(in_one_line(accepted(encoder + Words{"--norm-kind", "rms"}).out), "are normalized");
}
