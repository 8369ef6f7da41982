#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "command/check/supposed_settings.hpp"
#include "commands_tried.hpp"
#include "process.hpp"
#include "school/mistake/mistake.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

using OfNumber = std::function<double(double)>;

std::string as_json(
    const Matrix& matrix, const OfNumber& function = [](double x) { return x; }) {
  std::string rows;
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    std::string row_text;
    for (const double x : row(matrix, i)) row_text += fmt::format("{}{}", row_text.empty() ? "" : ", ", function(x));
    rows += fmt::format("{}[{}]", rows.empty() ? "" : ", ", row_text);
  }
  return "[" + rows + "]";
}

// Members of a file by the names of matrices in a computation, or by "name=matrix".
std::string file_with(const std::shared_ptr<Graph>& graph, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const std::size_t sign = name.find('=');
    const std::string of = sign == std::string::npos ? name : name.substr(sign + 1);
    text +=
        fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", name.substr(0, sign), as_json(graph->at(of).matrix()));
  }
  return "{" + text + "}";
}

const std::vector<std::string> inputs = {"x", "w_q", "w_k", "w_v"};

std::vector<std::string> with_inputs(std::vector<std::string> more) {
  more.insert(more.begin(), inputs.begin(), inputs.end());
  return more;
}

std::string with_member(const std::string& file, std::string_view name, const std::string& numbers) {
  return fmt::format("{}, \"{}\": {}}}", file.substr(0, file.size() - 1), name, numbers);
}

TEST_SUITE("attn check is just") {
  TEST_CASE("a right computation with rounded steps is right and says how") {
    const TemporaryFolder folder;
    const Words problem = {"--q", "1 2; 2 0", "--k", "2 1; 1 1; 0 2", "--v", "1 3; 2 0; 0 2"};
    const std::string by_hand = folder.write("h.csv", "0.80,2.00\n1.15,2.39\n");
    const ProcessResult right = run_attn(Words{"check", by_hand, "walk", "--as", "output"} + problem);
    CHECK_MESSAGE(right.code == 0, right.out);
    check_has(in_one_line(right.out), "The matrix is right: ");
    check_has(in_one_line(right.out), "rounded to 2 decimals");
    check_lacks(right.out, "mistake");
    CHECK(run_attn(Words{"check", by_hand, "walk", "--as", "output", "--strict"} + problem).code == 1);
    const std::string line = "attn walk --text 'a b c' --d-model 4 --d-k 2 --seed 5 --scale 1.4";
    const std::string root = folder.write("o.json", file_with(computation_of(line), with_inputs({"output"})));
    check_has(accepted({"check", root}).out, "√2 taken as 1.4");
    // A mistake of somebody who rounds is one all the same: scores that are not scaled.
    const ProcessResult wrong =
        run_attn(Words{"check", folder.write("w.csv", "0.99,2.94\n1.12,2.65\n"), "walk", "--as", "output"} + problem);
    CHECK(wrong.code == 1);
    check_lacks(in_one_line(wrong.out), "The matrix is right");
  }

  TEST_CASE("weights that were rounded before they were used are told") {
    const TemporaryFolder folder;
    const std::shared_ptr<Graph> graph = computation_of("attn walk --text 'a b c' --d-model 4 --d-k 3 --seed 5");
    const OfNumber rounded = [](double x) { return std::nearbyint(x * 100.0) / 100.0; };
    const Matrix &weights = graph->at("weights").matrix(), &v = graph->at("v").matrix();
    Matrix output({weights.shape().rows, v.shape().columns}, 0.0);
    for (std::size_t i = 0; i < output.shape().rows; ++i) {
      for (std::size_t j = 0; j < output.shape().columns; ++j) {
        for (std::size_t k = 0; k < v.shape().rows; ++k) output(i, j) += rounded(weights(i, k)) * v(k, j);
      }
    }
    const std::string file = with_member(file_with(graph, inputs), "output", as_json(output));
    const ProcessResult right = run_attn({"check", folder.write("a.json", file)});
    CHECK(right.code == 0);
    check_has(in_one_line(right.out), "weights rounded to 2 decimals");
  }

  TEST_CASE("an odd divisor is one number and no pair of mistakes") {
    const TemporaryFolder folder;
    for (const double divisor : {0.3, 0.55, 0.7, 1.1, 1.5, 1.7, 2.5, 3.0, 7.0}) {
      for (const int seed : {1, 2, 3}) {
        const std::string line = fmt::format("attn walk --text 'a b c d' --d-model 4 --d-k 3 --seed {}", seed);
        const std::string divided = fmt::format("{} --scale {}", line, std::sqrt(3.0) * divisor);
        const std::string path =
            folder.write("a.json", file_with(computation_of(divided), with_inputs({"attn=weights"})));
        const std::string page = in_one_line(run_attn({"check", path}).out);
        CAPTURE(divisor);
        check_has(page, "One mistake gives the numbers of weights");
        check_lacks(page, "Two mistakes");
        check_lacks(page, "powers-of-two");
      }
    }
  }

  TEST_CASE("few cells speak for no number") {
    const TemporaryFolder folder;
    const ProcessResult few =
        run_attn({"check", folder.write("a.json", R"({"weights": [[0.6, 0.4]]})"), "--scores", "1 0", "--v", "1; 2"});
    CHECK(few.code == 1);
    check_lacks(few.out, "another-scale");
  }

  TEST_CASE("a single number that differs is told as such and compared with what it nearly is") {
    const TemporaryFolder folder;
    const std::string path = folder.write("s.json", R"({"scores": [[2, 1, 0], [3, 2, 0], [2, 1, 0.5]]})");
    const std::string page = in_one_line(
        run_attn({"check", path, "walk", "--q", "1 1; 2 1; 1 1", "--k", "1 1; 1 0; 0 0", "--v", "1; 2; 3"}).out);
    check_has(page, "In scores, only scores[3,3] differs: it is 0.5 in the file, and 0 is right.");
  }

  TEST_CASE("an output without its projection is no output") {
    const TemporaryFolder folder;
    const std::shared_ptr<Graph> graph = computation_of("attn walk --text 'a b c' --d-model 4 --heads 2 --seed 2");
    for (const char* name : {"out", "output", "y", "result", "context"}) {
      const std::string file = file_with(graph, with_inputs({"w_o", std::string(name) + "=concat"}));
      const ProcessResult missing = run_attn({"check", folder.write("a.json", file), "--heads", "2"});
      CAPTURE(name);
      CHECK(missing.code == 1);
      check_has(missing.out, "- output-not-projected:");
    }
    const std::string both = file_with(graph, with_inputs({"w_o", "context=concat", "output"}));
    CHECK(run_attn({"check", folder.write("b.json", both), "--heads", "2"}).code == 0);
    const std::string named = file_with(graph, with_inputs({"w_o", "mine=concat"}));
    CHECK(run_attn({"check", folder.write("c.json", named), "--heads", "2", "--as", "concat"}).code == 0);
    CHECK(run_attn({"check", folder.write("c.json", named), "--heads", "2", "--as", "mine=output"}).code == 1);
  }

  TEST_CASE("NaN speaks for no mistake that is not about it") {
    const TemporaryFolder folder;
    const std::string nan = R"("weights": [["NaN", "NaN"], ["NaN", "NaN"]]})";
    const std::string path =
        folder.write("a.json", R"({"q": [[900], [950]], "k": [[1], [2]], "v": [[1], [2]], )" + nan);
    const std::string page = run_attn({"check", path}).out;
    check_lacks(page, "softmax-plus-one");
    check_lacks(page, "divided-by-sums-of-other-rows");
    check_has(in_one_line(page), "the largest score is over");
  }

  TEST_CASE("what neither the line nor the file says is a question") {
    const TemporaryFolder folder;
    const std::string line = "attn walk --text 'a b c d' --d-model 6 --heads 2 --seed 4";
    const std::string causal =
        folder.write("a.json", file_with(computation_of(line + " --causal"), with_inputs({"w_o", "output"})));
    const ProcessResult right = run_attn({"check", causal, "--heads", "2"});
    CHECK(right.code == 0);
    check_has(in_one_line(right.out), "with --causal, which neither the file nor the line says");
    CHECK(run_attn({"check", causal, "--heads", "2", "--strict"}).code == 1);
    const ProcessResult heads = run_attn({"check", causal, "--causal"});
    CHECK(heads.code == 0);
    check_has(in_one_line(heads.out), "with --heads 2, which neither the file nor the line says");
    check_has(in_one_line(accepted({"check", causal}).out), "with --causal and --heads 2, which");
    const std::string wrong = folder.write(
        "b.json", file_with(computation_of(line + " --causal --scale none"), with_inputs({"w_o", "output"})));
    const ProcessResult not_scaled = run_attn({"check", wrong, "--heads", "2"});
    CHECK(not_scaled.code == 1);
    check_has(not_scaled.out, "- not-scaled:");
    check_has(in_one_line(not_scaled.out), "Supposed, because neither the file nor the line says it: --causal.");
    // What the line says is no question.
    const std::string whole = folder.write("c.json", file_with(computation_of(line), with_inputs({"w_o", "output"})));
    CHECK(run_attn({"check", whole, "--heads", "2", "--causal"}).code == 1);
  }

  TEST_CASE("the layer norm that is copied most is one mistake and a convention") {
    const TemporaryFolder folder;
    Matrix x({3, 5}), output({3, 5});
    for (std::size_t i = 0; i < x.size(); ++i) cells(x)[i] = std::sin(static_cast<double>(3 * i + 1)) * 2.0;
    for (std::size_t i = 0; i < 3; ++i) {
      double mean = 0.0, squares = 0.0;
      for (const double number : row(x, i)) mean += number / 5.0;
      for (const double number : row(x, i)) squares += (number - mean) * (number - mean);
      for (std::size_t j = 0; j < 5; ++j) output(i, j) = (x(i, j) - mean) / (std::sqrt(squares / 4.0) + 1e-6);
    }
    for (const double unit : {0.0, 1e-4}) {
      const OfNumber written = [&](double number) {
        return unit > 0.0 ? std::nearbyint(number / unit) * unit : number;
      };
      const std::string file = fmt::format(R"({{"x": {}, "output": {}}})", as_json(x), as_json(output, written));
      const std::string page = run_attn({"check", folder.write("ln.json", file), "layer-norm"}).out;
      check_has(page, "- variance-by-n-minus-1:");
      check_lacks(in_one_line(page), "Two mistakes");
    }
  }

  TEST_CASE("what an option decides is a convention") {
    for (const DecidedConvention& row : decided_conventions()) {
      const auto found = std::ranges::find(mistakes(), row.convention, &Mistake::name);
      REQUIRE_MESSAGE(found != mistakes().end(), row.convention);
      CHECK_MESSAGE(found->kind == Mistake::Kind::convention, row.convention);
    }
  }

  TEST_CASE("a convention that the line decides is a mistake") {
    const TemporaryFolder folder;
    const Words line = {"encoder", "--source", "a b c", "--seed", "5"};
    const std::string mine = folder.path("mine.npz");
    accepted(line + Words{"--norm", "pre", "-o", mine});
    CHECK(run_attn(Words{"check", mine} + line + Words{"--norm", "post"}).code == 1);
    const ProcessResult open = run_attn(Words{"check", mine} + line);
    CHECK(open.code == 0);
    check_has(in_one_line(open.out), "--norm pre, which neither the file nor the line says");
  }

  TEST_CASE("where a usual number gives the same as a mistake the page says so") {
    const TemporaryFolder folder;
    const std::string line = "attn walk --text 'a b c d e' --d-model 4 --d-k 4 --seed 3 --scale 4";
    const std::string path = folder.write("a.json", file_with(computation_of(line), with_inputs({"weights"})));
    const std::string page = in_one_line(run_attn({"check", path}).out);
    check_has(page, "- scale-squared:");
    check_has(page, "The same numbers come from scores with another scale (0.5 times the right one");
    check_has(page, "with another size of keys they differ");
  }

  TEST_CASE("what rounding would make of everything is no right computation") {
    const TemporaryFolder folder;
    for (int seed = 1; seed <= 6; ++seed) {
      const std::string line = fmt::format("attn walk --text 'a b c' --d-model 4 --d-k 2 --seed {}", seed);
      const std::shared_ptr<Graph> graph = computation_of(line);
      const Matrix& v = graph->at("v").matrix();
      Matrix means(v.shape());
      for (std::size_t i = 0; i < v.shape().rows; ++i) {
        for (std::size_t j = 0; j < v.shape().columns; ++j) means(i, j) = (v(0, j) + v(1, j) + v(2, j)) / 3.0;
      }
      CAPTURE(seed);
      const std::string mean = with_member(file_with(graph, inputs), "output", as_json(means));
      CHECK(run_attn({"check", folder.write("mean.json", mean)}).code == 1);
      const std::string zeros =
          with_member(file_with(graph, inputs), "output", "[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]");
      CHECK(run_attn({"check", folder.write("zeros.json", zeros)}).code != 0);
      const Matrix unscaled = computation_of(line + " --scale none")->at("weights").matrix();
      for (const double unit : {1e-1, 1e-2}) {
        const OfNumber written = [&](double x) { return std::nearbyint(x / unit) * unit; };
        const std::string file = with_member(file_with(graph, inputs), "weights", as_json(unscaled, written));
        if (as_json(unscaled, written) == as_json(graph->at("weights").matrix(), written)) continue;
        // So few digits may fit rounded steps as well: then the page says both.
        const ProcessResult page = run_attn({"check", folder.write("unscaled.json", file)});
        if (page.code != 1) check_has(in_one_line(page.out), "scores that are not scaled");
      }
    }
  }

  TEST_CASE("right code stands below the verdict") {
    const TemporaryFolder folder;
    const std::string line = "attn walk --text 'a b c d' --d-model 4 --seed 3 --scale none";
    const std::string path = folder.write("a.json", file_with(computation_of(line), with_inputs({"weights"})));
    check_has(run_attn({"check", path}).out, "scaled = scores / np.sqrt(k.shape[-1])");
  }
}

}  // namespace
