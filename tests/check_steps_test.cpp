#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "command/command.hpp"
#include "commands_tried.hpp"
#include "process.hpp"

using namespace attn;

namespace {

// Their tables tell of several computations, or of costs.
constexpr std::array<std::string_view, 5> of_several = {"compare-scores", "compare-masks", "compare-positions",
                                                        "errata", "cost"};

// A table of positions as CSV, whose angles divide by 10000 to the power of `times`·i/d.
std::string encoding(std::size_t n, std::size_t d, double times) {
  std::string csv;
  for (std::size_t position = 0; position < n; ++position) {
    for (std::size_t i = 0; i < d; ++i) {
      const double exponent = times * static_cast<double>(i / 2) / static_cast<double>(d);
      const double angle = static_cast<double>(position) / std::pow(10000.0, exponent);
      csv += fmt::format("{}{}", i > 0 ? "," : "", i % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
    csv += "\n";
  }
  return csv;
}

TEST_SUITE("check of steps") {
  TEST_CASE("every command that shows the matrices of one computation compares them with a file") {
    for (const Command& command : commands()) {
      const auto has = [&](const OptionGroup& group) {
        return std::ranges::find(command.groups, &group) != command.groups.end();
      };
      if (!has(matrix_options())) continue;
      CAPTURE(command.name);
      const bool is_of_several = std::ranges::find(of_several, command.name) != of_several.end();
      CHECK(has(comparison_options()) == !is_of_several);
    }
  }

  TEST_CASE("a table of positions needs nothing else") {
    const TemporaryFolder folder;
    const std::string right = folder.write("pe.csv", encoding(6, 8, 2.0));
    check_has(in_one_line(accepted({"check", right, "positions"}).out), "The matrix agrees with the computation.");
    check_has(in_one_line(accepted({"positions", "--against", right}).out), "pe 6×8 same");
    const ProcessResult wrong = run_attn({"check", folder.write("wrong.csv", encoding(6, 8, 1.0)), "positions"});
    CHECK(wrong.code == 1);
    check_has(in_one_line(wrong.out), "differs in");
    const std::string other_base = run_attn({"check", right, "positions", "--base", "100"}).out;
    check_has(in_one_line(other_base), "1 of 1 matrix differs");
  }

  TEST_CASE("each step is compared with what the file has before it") {
    const TemporaryFolder folder;
    struct Tried {
      std::string_view file;
      Words command;
      std::string_view says;
    };
    const Tried all[] = {
        {R"({"x": [[1, 2], [3, 4]], "positions": [[0, 1], [0.841471, 0.540302]], "x_with_positions": [[1, 3], [3.841471, 4.540302]]})",
         {"add-positions"},
         "All 3 matrices agree"},
        {R"({"x": [[1, 2], [3, 4]], "w_q": [[1, 0], [0, 2]], "q": [[1, 4], [3, 8]]})",
         {"project"},
         "All 3 matrices agree"},
        {R"({"q": [[1, 2]], "k": [[1, 0], [0, 1]], "scores": [[1, 2]]})", {"scores"}, "All 3 matrices agree"},
        {R"({"scores": [[1, 2], [3, 4]], "scaled": [[0.5, 1], [1.5, 2]]})",
         {"scale", "--scale", "2"},
         "All 2 matrices agree"},
        {R"({"scores": [[1, 2], [3, 4]], "masked": [[1, "-Infinity"], [3, 4]]})",
         {"mask", "--causal"},
         "All 2 matrices agree"},
        {R"({"scores": [[1, 2], [3, 5]], "weights": [[0.1192, 0.0474], [0.8808, 0.9526]]})",
         {"softmax"},
         "softmax over the queries instead of the keys"},
        {R"({"weights": [[0.25, 0.75]], "v": [[4], [8]], "output": [[7]]})", {"weigh"}, "All 3 matrices agree"},
        {R"({"x": [[1, -1]], "w_1": [[1, 0], [0, 1]], "w_2": [[1], [5]], "ffn": [[1]]})",
         {"feed-forward"},
         "All 4 matrices agree"},
        {R"({"x": [[1, 3]], "gamma": [[2, 2]], "beta": [[1, 1]], "output": [[-0.99999, 2.99999]]})",
         {"layer-norm"},
         "All 4 matrices agree"},
        {R"({"result": [[1, 2]]})", {"concat", "--left", "1", "--right", "2"}, "The matrix agrees"},
        {R"({"logits": [[0, 0]], "loss": [[0.693147]]})", {"cross-entropy", "--targets", "1"}, "All 2 matrices agree"},
    };
    for (const Tried& one : all) {
      const ProcessResult page = run_attn(Words{"check", folder.write("mine.json", one.file)} + one.command);
      CAPTURE(page.errors);
      check_has(in_one_line(page.out), one.says);
    }
  }

  TEST_CASE("what is assumed of the positions that are added is told") {
    const TemporaryFolder folder;
    const std::string file = folder.write("mine.json", R"({"x": [[1, 2], [3, 4]], "xpos": [[1, 3], [3, 4]]})");
    check_has(in_one_line(run_attn({"check", file, "add-positions"}).out), "they are taken to be sinusoidal");
    check_lacks(in_one_line(run_attn({"check", file, "add-positions", "--positions", "sinusoidal"}).out),
                "taken to be");
  }
}

}  // namespace
