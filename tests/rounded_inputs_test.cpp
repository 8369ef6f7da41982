#include <doctest/doctest.h>

#include <cmath>

#include "commands_tried.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

Matrix rounded_at(const Matrix& matrix, int decimals) {
  Matrix result = matrix;
  const double unit = std::pow(10.0, -decimals);
  for (double& x : cells(result)) x = std::nearbyint(x / unit) * unit;
  return result;
}

std::string member(std::string_view name, const Matrix& matrix) {
  std::string rows;
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    std::string row_text;
    for (const double x : row(matrix, i)) row_text += fmt::format("{}{:.3f}", row_text.empty() ? "" : ", ", x);
    rows += fmt::format("{}[{}]", rows.empty() ? "" : ", ", row_text);
  }
  return fmt::format("\"{}\": [{}]", name, rows);
}

// All matrices of a walk, at 3 decimals: so the inputs are not those from which the results were computed.
std::string all_rounded(double factor_of_scaled) {
  const std::shared_ptr<Graph> graph = computation_of("attn walk --text 'a b c d e' --d-model 6 --d-k 4 --seed 3");
  std::string text;
  for (const std::string name : {"x", "w_q", "w_k", "w_v", "q", "k", "v", "scores", "scaled"}) {
    Matrix numbers = graph->at(name).matrix();
    if (name == "scaled") {
      for (double& x : cells(numbers)) x *= factor_of_scaled;
    }
    text += (text.empty() ? "" : ",\n") + member(name, rounded_at(numbers, 3));
  }
  return "{" + text + "}";
}

TEST_SUITE("attn check") {
  TEST_CASE("results that were computed before their inputs were rounded agree") {
    const TemporaryFolder folder;
    const ProcessResult same = run_attn({"check", folder.write("a.json", all_rounded(1.0))});
    CHECK_MESSAGE(same.code == 0, same.out);
    check_has(in_one_line(same.out), "which inputs of 3 decimals leave open");
    const ProcessResult twice = run_attn({"check", folder.write("b.json", all_rounded(2.0))});
    CHECK(twice.code == 1);
    check_has(in_one_line(twice.out), "The first in the order of the computation is scaled.");
    check_has(twice.out, "- not-scaled:");
  }
}

}  // namespace
