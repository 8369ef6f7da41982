#include "problem/remarks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attention/masks.hpp"
#include "attention/positions.hpp"
#include "attention/score.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

const PositionKind& positions_of(const Problem& problem) {
  return *find_row(position_kinds(), problem.positions);
}

bool has_learned(const Problem& problem, std::string_view parameter) {
  return std::ranges::any_of(
      find_row(scoring_functions(), problem.score)->parameters,
      [&](const ScoreParameter& row) { return &row.role == &called(parameter).role(); });
}

bool draws_nothing(const Request& request, const Problem& problem) {
  return problem.drawn.size() == request.drawn.size();
}

// A field, when it changes nothing, and why that is so.
struct IdleField {
  std::string_view field;
  bool (*is_idle)(const Request& request, const Problem& problem);
  std::string_view why;
};

constexpr IdleField idle_fields[] = {
    {"mask_fill", [](const Request&, const Problem& problem) { return !problem.is_masked(); },
     " without a mask"},
    {"seed", draws_nothing, ": all numbers are given"},
    {"random", draws_nothing, ": all numbers are given"},
    {"d_model", [](const Request&, const Problem& problem) { return !problem.sequences.front().x; },
     " without embeddings"},
    {"position_table",
     [](const Request&, const Problem& problem) { return !positions_of(problem).table_shape; },
     ": this kind of positional encoding has no table"},
    {"max_distance",
     [](const Request& request, const Problem& problem) {
       const PositionKind& kind = positions_of(problem);
       return (!kind.of_scores && !kind.of_scaled_scores) || request.has("position_table");
     },
     ": there is no random table of relative positions"},
    {"score_sigma", [](const Request&, const Problem& problem) { return problem.score != "gaussian"; },
     " without --score gaussian"},
    {"score_m", [](const Request&, const Problem& problem) { return !has_learned(problem, "score_m"); },
     " without --score bilinear"},
    {"score_wq", [](const Request&, const Problem& problem) { return !has_learned(problem, "score_wq"); },
     " without --score additive"},
    {"score_wk", [](const Request&, const Problem& problem) { return !has_learned(problem, "score_wk"); },
     " without --score additive"},
    {"score_wv", [](const Request&, const Problem& problem) { return !has_learned(problem, "score_wv"); },
     " without --score additive"},
};

// Padding that valid lengths count as words, or that a mask would let through.
void remark_on_padding(const Problem& problem, std::vector<std::string>& remarks) {
  const auto& lengths = problem.valid_lengths;
  const bool one_each = lengths.size() == problem.sequences.size();
  bool counted = false, allowed = false;
  for (std::size_t i = 0; i < problem.sequences.size(); ++i) {
    const std::vector<bool> blanks = blanks_among(problem.words_of_keys(problem.sequences[i]));
    for (std::size_t j = 0; j < blanks.size(); ++j) {
      if (!blanks[j]) continue;
      const auto longer = [&](std::size_t length) { return length > j; };
      counted = counted || (one_each ? longer(lengths[i]) : std::ranges::any_of(lengths, longer));
      const bool lets = problem.mask && !problem.mask->additive && j < problem.mask->matrix.shape().columns;
      for (std::size_t q = 0; lets && q < problem.mask->matrix.shape().rows; ++q) {
        allowed = allowed || problem.mask->matrix(q, j) != 0.0;
      }
    }
  }
  if (counted) {
    remarks.push_back(fmt::format(
        "--valid-length counts {} as a word: it is not masked here. Without --valid-length it is", blank));
  }
  if (allowed && problem.masks_blanks()) {
    remarks.push_back(fmt::format(
        "{} stays masked although --mask allows it: to attend to it, give --valid-length", blank));
  }
}

// The first row that is no average, where weights are given.
void remark_on_weights(const Matrix& weights, std::vector<std::string>& remarks) {
  constexpr double tolerance = 1e-9;
  for (std::size_t i = 0; i < weights.shape().rows; ++i) {
    const std::span<const double> values = row(weights, i);
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    const bool negative = std::ranges::any_of(values, [](double value) { return value < 0.0; });
    if (!negative && std::fabs(sum - 1.0) <= tolerance) continue;
    remarks.push_back(fmt::format(
        "row {} of weights {}: its output is a weighted sum but not an average", i + 1,
        negative ? std::string("has negative numbers") : fmt::format("sums to {:.12g}, not 1", sum)));
    return;
  }
}

}  // namespace

std::vector<std::string> remarks_on(const Request& request, const Problem& problem) {
  std::vector<std::string> remarks;
  for (const IdleField& row : idle_fields) {
    if (!request.has(row.field) || !row.is_idle(request, problem)) continue;
    remarks.push_back(fmt::format("{} has no effect{}", find_row(fields(), row.field)->option, row.why));
  }
  remark_on_padding(problem, remarks);
  const auto weights = problem.matrices.find("weights");
  const bool has_output = problem.matrices.contains("v");
  if (weights != problem.matrices.end() && has_output) remark_on_weights(weights->second, remarks);
  return remarks;
}

}  // namespace attn
