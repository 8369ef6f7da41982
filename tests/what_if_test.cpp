#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apart/change/alteration.hpp"
#include "apart/change/changed_matrix.hpp"
#include "command/app.hpp"
#include "command/command.hpp"
#include "commands_tried.hpp"
#include "core/graph/graph.hpp"
#include "core/support/error.hpp"
#include "page/document/document.hpp"
#include "page/render/format.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

AnswerInFormat answered(const std::string& line) {
  const Environment nowhere{.variable = [](const char*) { return std::optional<std::string>(); }};
  return answer(command_lines("attn " + line, "", 1).front().words, nowhere);
}

std::string shown(const std::string& line) {
  const AnswerInFormat said = answered(line);
  std::string text;
  Sink sink([&](std::string_view bytes) { text += bytes; });
  write(said, sink);
  sink.flush();
  return text;
}

std::shared_ptr<Graph> computation(const std::string& line) { return answered(line).computation.graph; }

// A matrix as it is with some alterations.
Matrix altered(const Graph& graph, const std::vector<Alteration>& alterations, std::string_view name) {
  Rewriting again(graph, combined_change(graph, alterations));
  return again.of(graph.at(name)).node().matrix();
}

Matrix without(const std::string& line, std::string_view part, std::string_view name = "output") {
  const auto graph = computation(line);
  return altered(*graph, {ablation_of(*graph, part)}, name);
}

Matrix matrix_of(const std::string& line, std::string_view name = "output") {
  return computation(line)->at(name).matrix();
}

constexpr std::string_view sentence = "walk --text 'the cat sat down' --d-model 6 --heads 2 --seed 3";

std::string with(std::string_view line, std::string_view more) { return std::string(line) + " " + std::string(more); }

TEST_SUITE("what if") {
  TEST_CASE("without its scale an attention is the one that was asked for without a scale") {
    CHECK(same(without(std::string(sentence), "scale"), matrix_of(with(sentence, "--scale none"))));
  }

  TEST_CASE("without its mask an attention is the one that has none") {
    const Matrix plain = matrix_of(std::string(sentence));
    CHECK(same(without(with(sentence, "--causal"), "mask"), plain));
    CHECK(same(without(with(sentence, "--valid-length 2"), "mask"), plain));
    CHECK_FALSE(same(matrix_of(with(sentence, "--causal")), plain));
  }

  TEST_CASE("without positions an attention is the one that was told none") {
    const Matrix plain = matrix_of(std::string(sentence));
    CHECK(close(without(with(sentence, "--positions sinusoidal"), "positions"), plain, 1e-12));
  }

  TEST_CASE("a head that is left out is the same as rows of w_o that are 0") {
    const auto graph = computation(std::string(sentence));
    const Matrix now = altered(*graph, {ablation_of(*graph, "head 2")}, "output");
    const Matrix &concat = graph->at("concat").matrix(), &w_o = graph->at("w_o").matrix();
    Matrix expected({concat.shape().rows, w_o.shape().columns}, 0.0);
    for (std::size_t i = 0; i < expected.shape().rows; ++i) {
      for (std::size_t j = 0; j < expected.shape().columns; ++j) {
        for (std::size_t k = 0; k < w_o.shape().rows / 2; ++k) expected(i, j) += concat(i, k) * w_o(k, j);
      }
    }
    CHECK(close(now, expected, 1e-12));
  }

  TEST_CASE("a layer without a norm, a residual connection or a feed-forward layer has nothing of it") {
    const std::string encoder = "encoder --source 'a b c' --seed 4";
    const auto graph = computation(encoder);
    const auto at = [&](std::string_view part, std::string_view name) {
      return altered(*graph, {ablation_of(*graph, part)}, name);
    };
    const Matrix& words = graph->at("source.positioned").matrix();
    const Matrix& attended = graph->at("encoder.1.self_attention.output").matrix();
    CHECK(same(at("residual", "encoder.1.sum_1"), attended));
    const Matrix sum = at("norm", "encoder.1.norm_1.output");
    for (std::size_t i = 0; i < sum.shape().rows; ++i) {
      for (std::size_t j = 0; j < sum.shape().columns; ++j)
        CHECK(sum(i, j) == doctest::Approx(words(i, j) + attended(i, j)));
    }
    CHECK(same(at("feed-forward", "encoder.1.sum_2"), graph->at("encoder.1.norm_1.output").matrix()));
  }

  TEST_CASE("an input with another number is the problem with that number") {
    const auto graph = computation("walk --x '1 2; 3 4' --wq '1 0; 0 1' --wk '1 0; 0 1' --wv '1 1; 0 1'");
    const Matrix now = altered(*graph, {set_number(*graph, "x[2,1] = 0 - 5")}, "output");
    CHECK(same(now, matrix_of("walk --x '1 2; -5 4' --wq '1 0; 0 1' --wk '1 0; 0 1' --wv '1 1; 0 1'")));
  }

  TEST_CASE("a number is set behind what else is changed, and the other cells follow that") {
    const auto graph = computation(std::string(sentence));
    const std::vector<Alteration> both = {ablation_of(*graph, "scale"), set_number(*graph, "head.1.scaled[1,2] = 7")};
    const Matrix now = altered(*graph, both, "head.1.scaled");
    const Matrix& scores = graph->at("head.1.scores").matrix();
    CHECK(now(0, 1) == 7.0);
    CHECK(now(0, 0) == scores(0, 0));
    CHECK(now(3, 2) == scores(3, 2));
  }

  TEST_CASE("several numbers of a matrix are set at once, also in one that is left out") {
    const auto graph = computation(std::string(sentence));
    const Matrix now = altered(*graph,
                               {ablation_of(*graph, "head 1"), set_number(*graph, "head.1.output[1,2] = 5"),
                                set_number(*graph, "head.1.output[2,1] = 6")},
                               "head.1.output");
    CHECK(now(0, 1) == 5.0);
    CHECK(now(1, 0) == 6.0);
    CHECK(now(0, 0) == 0.0);
    const Matrix x = altered(*graph, {set_number(*graph, "x[1,1] = 1"), set_number(*graph, "x[1,2] = x[1,1]")}, "x");
    CHECK(x(0, 0) == 1.0);
    CHECK(x(0, 1) == graph->at("x").cell(0, 0));
  }

  TEST_CASE("what is right on held-out sentences is what the model was measured to get right") {
    const AnswerInFormat said =
        answered("what-if transformer --model reverse --set 'output.w[1,1] = output.w[1,1]' --held-out reverse");
    const auto found = std::ranges::find_if(said.page.blocks, [](const Block& block) {
      const auto* const records = std::get_if<Records>(&block);
      return records && records->name == "held_out";
    });
    REQUIRE(found != said.page.blocks.end());
    for (const auto& row : std::get<Records>(*found).rows) {
      CHECK(std::get<std::uint64_t>(row[1]) == 3200);
      CHECK(std::get<std::uint64_t>(row[4]) == 200);
    }
  }

  TEST_CASE("a matrix that is another name for one is set as well") {
    const auto graph = computation("walk");
    const Matrix now = altered(*graph, {set_number(*graph, "masked[1,1] = 0")}, "weights");
    CHECK(same(now, altered(*graph, {set_number(*graph, "scaled[1,1] = 0")}, "weights")));
    CHECK_FALSE(same(now, graph->at("weights").matrix()));
  }

  TEST_CASE("two words that change places change the rows of what comes out") {
    const auto graph = computation(std::string(sentence));
    const Matrix now = altered(*graph, {swapped_words(*graph, "cat,down")}, "output");
    const Matrix& before = graph->at("output").matrix();
    for (std::size_t j = 0; j < before.shape().columns; ++j) {
      CHECK(now(1, j) == doctest::Approx(before(3, j)));
      CHECK(now(3, j) == doctest::Approx(before(1, j)));
      CHECK(now(0, j) == doctest::Approx(before(0, j)));
    }
  }

  TEST_CASE("words of a model change places by their ids") {
    const auto graph = computation("encoder --source 'a b c' --seed 4");
    const Matrix now = altered(*graph, {swapped_words(*graph, "1,3")}, "encoder.2.norm_2.output");
    CHECK(same(now, matrix_of("encoder --source 'c b a' --seed 4", "encoder.2.norm_2.output")));
    const Matrix ids = altered(*graph, {swapped_words(*graph, "1,3")}, "source.ids");
    CHECK(ids(0, 0) == graph->at("source.ids").cell(2, 0));
    CHECK(ids(2, 0) == graph->at("source.ids").cell(0, 0));
  }

  TEST_CASE("a matrix with the numbers of another sentence gives what that sentence gives behind it") {
    const std::string text = shown(
        "what-if walk --text 'a b c' --seed 1 --positions sinusoidal --patch x --patch-text 'd e f' --format json");
    CHECK(text.find("\"moved\"") != std::string::npos);
    const auto graph = computation("walk --text 'a b c' --d-model 4 --seed 1");
    const auto other = computation("walk --text 'd e f' --d-model 4 --seed 9");
    const Matrix now =
        altered(*graph, {activation_patch(*graph, "weights", other->at("weights").matrix(), "another")}, "output");
    Matrix expected(now.shape(), 0.0);
    const Matrix &weights = other->at("weights").matrix(), &v = graph->at("v").matrix();
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < expected.shape().columns; ++j) {
        for (std::size_t k = 0; k < 3; ++k) expected(i, j) += weights(i, k) * v(k, j);
      }
    }
    CHECK(close(now, expected, 1e-12));
  }

  TEST_CASE("the cells that moved are counted, and the largest change is found") {
    const Difference moved = difference(matrix({{1, 2}, {3, 4}}), matrix({{1, 2.5}, {-3, 4}}));
    CHECK(moved.cells == 2);
    CHECK(moved.largest == 6.0);
    CHECK(moved.row == 1);
    CHECK(moved.column == 0);
    CHECK(difference(matrix({{1, 2}}), matrix({{1, 2}})).agrees());
    const double infinite = std::numeric_limits<double>::infinity();
    CHECK(difference(matrix({{-infinite}}), matrix({{-infinite}})).agrees());
    CHECK(std::isinf(difference(matrix({{-infinite}}), matrix({{0}})).largest));
  }

  TEST_CASE("the first matrix that changes and the result are told") {
    const std::string text = shown("what-if walk --set 'k[2,1] = 3'");
    CHECK(text.find("k[2,1] is set to 3. It was 6.") != std::string::npos);
    CHECK(text.find("The first matrix that changes is k") != std::string::npos);
    CHECK(text.find("The result: output") != std::string::npos);
  }

  TEST_CASE("numbers that overflow are warned of, and large ones are told in few digits") {
    const AnswerInFormat said = answered("what-if walk --set 'q[1,1] = 1e300; k[1,1] = 1e300'");
    REQUIRE(said.warnings.size() == 1);
    CHECK(said.warnings.front().find("scores has numbers that are not finite now") == 0);
    CHECK(shown("what-if walk --set 'q[1,1] = 1e300'").find("q[1,1] is set to 1e+300.") != std::string::npos);
  }

  TEST_CASE("a number that is none is written NaN, and is no most probable word and no loss") {
    const std::string text = shown("what-if walk --set 'q[1,1] = 1e200; k[1,1] = 1e200'");
    CHECK(text.find("nan") == std::string::npos);
    CHECK(text.find("weights  4 of 4  NaN ") != std::string::npos);
    CHECK(text.find("NaN  NaN  NaN") != std::string::npos);
    const std::string model = "what-if transformer --model induction --set ";
    const std::string of_model = shown(model + "'output.w[1,1] = 1e308; output.w[2,1] = 0 - 1e308' --set " +
                                       "'output.w[2,2] = 1e308; output.w[1,2] = 1e308'");
    CHECK(of_model.find("nan") == std::string::npos);
    CHECK(of_model.find("no word is the most probable one") != std::string::npos);
    CHECK(of_model.find("now: NaN.") != std::string::npos);
  }

  TEST_CASE("numbers of any size are told in few digits") {
    const std::string text = shown("what-if walk --set 'scaled[1,1] = 1e308'");
    CHECK(text.find("scaled[1,1] is set to 1e+308. It was 14.") != std::string::npos);
    CHECK(text.find("00000000") == std::string::npos);
    const std::string typed = "what-if walk --set 'scaled[1,1] = ";
    CHECK(shown(typed + "1" + std::string(300, '0') + "'").find("00000000") == std::string::npos);
    CHECK(shown(typed + "14.00000001'").find("scaled[1,1] is set to 14.00000001. It was 14.") != std::string::npos);
  }

  TEST_CASE("a matrix that is chosen by another name is looked at, and the sentences are of the chosen ones") {
    const std::string masked = shown("what-if walk --set 'k[2,1] = 3' --only masked");
    CHECK(masked.find("masked[Thinking,Machines] was 12 and is now 10.5.") != std::string::npos);
    const std::string text = shown("what-if encoder --source 'a b c' --set 'x[1,1] = 2' --only encoder.output");
    CHECK(text.find("The first of the chosen matrices that changes is encoder.output") != std::string::npos);
    CHECK(shown("what-if walk --set 'weights[1,2] = 0' --only k").find("No number of the chosen matrices changes.") !=
          std::string::npos);
  }

  TEST_CASE("the page holds what stands in the place of a matrix by the name of that matrix") {
    const auto traced = [](const std::string& line) { return answered("what-if " + line).page.trace; };
    CHECK(traced("walk --causal --without mask").find("masked"));
    CHECK(traced("walk --seed 87 --text 'a b c' --without scale").find("scaled"));
    const Trace encoder = traced("encoder --source 'a b' --without residual");
    CHECK(encoder.find("encoder.1.sum_1"));
    std::vector<std::string> names;
    for (const TracedMatrix& matrix : encoder.matrices()) names.push_back(matrix.name);
    std::ranges::sort(names);
    CHECK(std::ranges::adjacent_find(names) == names.end());
  }

  TEST_CASE("a bias of distances is left out with the positions") {
    for (const std::string kind : {"relative-bias", "relative-vectors"}) {
      CAPTURE(kind);
      const std::string line = with(sentence, "--positions " + kind);
      const auto graph = computation(line);
      const Matrix now = altered(*graph, {ablation_of(*graph, "positions")}, "head.1.weights");
      CHECK(close(now, matrix_of(std::string(sentence), "head.1.weights"), 1e-12));
      CHECK_FALSE(same(now, graph->at("head.1.weights").matrix()));
    }
  }

  TEST_CASE("rows that were given by number are told by number") {
    CHECK(shown("what-if walk --swap 1,2").find("Rows 1 and 2 of x have changed places.") != std::string::npos);
    CHECK(shown("what-if walk --swap Machines,Thinking").find("row 'Machines' now belongs to 'Thinking'.") !=
          std::string::npos);
    CHECK(shown("what-if walk --text '2 1' --swap '\"1\",\"2\"'").find("'1' and '2' have changed places") !=
          std::string::npos);
  }

  TEST_CASE("random numbers that come from the other sentence alone are told") {
    const std::string text = shown("what-if walk --patch weights --patch-text 'a b'");
    CHECK(text.find("The other sentence: Random numbers (seed 1)") != std::string::npos);
    const std::string both = shown("what-if walk --text 'c d' --patch weights --patch-text 'a b'");
    CHECK(both.find("The other sentence: ") == std::string::npos);
    CHECK(both.find("Random numbers (seed 1)") != std::string::npos);
  }

  TEST_CASE("heads that matter alike are told to do so") {
    CHECK(shown("what-if walk --example animal --each-head --of 'output[The]'")
              .find("It changes as much without one head as without any other one.") != std::string::npos);
  }

  TEST_CASE("the model that copies copies nothing without its heads or without positions") {
    CHECK(shown("what-if generate --model copy --source 'c a b' --without positions").find("Before: c a b <end>") !=
          std::string::npos);
    const std::string text = shown("what-if generate --model copy --source 'c a b' --without mask");
    CHECK(text.find("These are the same words.") != std::string::npos);
  }

  TEST_CASE("a logit that is set decides what is written") {
    const std::string text = shown("what-if generate --model copy --source 'c a b' --set 'logits[1,<end>] = 1000'");
    CHECK(text.find("Now: <end>\n") != std::string::npos);
  }

  TEST_CASE("both induction heads matter for the word that was written") {
    const AnswerInFormat said = answered("what-if transformer --model induction --each-head");
    const auto found = std::ranges::find_if(said.page.blocks,
                                            [](const Block& block) { return std::holds_alternative<Records>(block); });
    REQUIRE(found != said.page.blocks.end());
    const Records& records = std::get<Records>(*found);
    CHECK(records.rows.size() == 4);
    const auto graph = computation("transformer --model induction");
    for (const auto& row : records.rows) {
      const std::string head = std::get<std::string>(row[0]);
      const Matrix now = altered(*graph, {ablation_of(*graph, "head " + head)}, "logits");
      const Node& logits = graph->at("logits");
      const auto last = logits.row(logits.frame.shape.rows - 1);
      const auto most = static_cast<std::size_t>(std::ranges::max_element(last) - last.begin());
      CHECK(std::get<double>(row[4]) == doctest::Approx(now(logits.frame.shape.rows - 1, most)));
    }
  }

  TEST_CASE("what is asked of each head is told as what it is") {
    check_has(shown("what-if transformer --model induction --each-head"), "the largest logit of the last row");
    const std::string alike = "what-if walk --x '1 1;1 1' --wq '1 1;1 1' --wk '1 1;1 1' --heads 2 --wo '1 0;0 1' --wv ";
    check_lacks(shown(alike + "'1e-9 1.9e-9;0 0' --each-head"), "as much without one head");
    check_has(shown(alike + "'1 1;0 0' --each-head"), "as much without one head");
  }

  TEST_CASE("the matrices of an erratum can be changed and broken") {
    check_has(shown("what-if errata E1 --set 'scores[1,1]=3'"), "scores[1,1] is set to 3");
    check_has(shown("errata E1 --what-if --set 'scores[1,1]=3'"), "scores[1,1] is set to 3");
    check_has(shown("errata E1 --break wrong-axis"), "The law that catches it");
  }

  TEST_CASE("what cannot be changed is refused in one sentence") {
    check_refused({
        {"nothing is changed: give --set", [] { answered("what-if walk"); }},
        {"unknown matrix 'nope'", [] { answered("what-if walk --set 'nope[1,1] = 2'"); }},
        {"they are numbered from 1 to 2", [] { answered("what-if walk --set 'k[9,1] = 2'"); }},
        {"a cell takes finite numbers, and 'nan' is none", [] { answered("what-if walk --set 'k[1,1] = nan'"); }},
        {"and '1/0' is none", [] { answered("what-if walk --set 'k[1,1] = 1/0'"); }},
        {"--set 'k[1,1] = 1e400': a cell takes finite numbers",
         [] { answered("what-if walk --set 'k[1,1] = 1e400'"); }},
        {"and '−∞' is none", [] { answered("what-if walk --set 'k[1,1] = −∞'"); }},
        {"and '-inf' is none", [] { answered("what-if walk --set 'k[1,1] = -inf'"); }},
        {"k[Thinking,1] is set already", [] { answered("what-if walk --set 'k[1,1] = 3; k[Thinking,1] = 4'"); }},
        {"is set already", [] { answered("what-if walk --set 'scaled[1,1] = 3' --set 'masked[1,1] = 4'"); }},
        {"1 is position 1, and also the word at position 2", [] { answered("what-if walk --text '2 1' --swap 1,2"); }},
        {"--patch foo: unknown matrix 'foo'", [] { answered("what-if walk --patch foo --patch-text 'a b'"); }},
        {"--of foo[1]: unknown matrix 'foo'",
         [] { answered("what-if walk --example animal --each-head --of 'foo[1]'"); }},
        {"write a cell, = and a number", [] { answered("what-if walk --set 'k[1,1]'"); }},
        {"write a cell, = and a number", [] { answered("what-if walk --set 'k[1,1] ='"); }},
        {"--set is empty", [] { answered("what-if walk --set ';'"); }},
        {"which only choose vectors", [] { answered("what-if encoder --set 'source.ids[1,1] = 2'"); }},
        {"only 1 for keys", [] { answered("what-if walk --causal --set 'mask[1,1] = 0.5'"); }},
        {"This computation has: scale", [] { answered("what-if walk --without norm"); }},
        {"unknown part for --without", [] { answered("what-if walk --without softmax"); }},
        {"there is no such head. This computation has: scale, 'head 1', 'head 2'",
         [] { answered("what-if walk --example animal --without 'head 3'"); }},
        {"give two words", [] { answered("what-if walk --swap Thinking"); }},
        {"there is no such word", [] { answered("what-if walk --swap 'Thinking,nobody'"); }},
        {"the same position twice", [] { answered("what-if walk --swap '1,1'"); }},
        {"neither ids of words nor their vectors are given",
         [] { answered("what-if walk --q '1 2' --k '1 2' --v '1 2' --swap 1,2"); }},
        {"--patch needs another computation", [] { answered("what-if walk --patch x"); }},
        {"--patch-text belongs to --patch", [] { answered("what-if walk --patch-text 'a b' --set 'x[1,1]=2'"); }},
        {"Both need the same shape", [] { answered("what-if walk --patch output --patch-text 'a b c d'"); }},
        {"no-such-file.json", [] { answered("what-if walk --patch x --patch-file no-such-file.json"); }},
        {"--each-head", [] { answered("what-if walk --each-head --without scale"); }},
        {"does not know the words of that task",
         [] { answered("what-if transformer --model reverse --without scale --held-out induction"); }},
        {"it needs a model that knows words", [] { answered("what-if walk --without scale --held-out induction"); }},
        {"file of pairs", [] { answered("what-if transformer --model reverse --without scale --held-out pairs"); }},
        {"there are no heads here", [] { answered("what-if layer-norm --each-head"); }},
        {"--of belongs to --each-head", [] { answered("what-if walk --without scale --of 'output[1,1]'"); }},
        {"--set belongs to --what-if", [] { answered("walk --set 'k[1,1] = 2'"); }},
        {"--swap belongs to --what-if", [] { answered("encoder --swap 1,2"); }},
    });
  }
}

}  // namespace
