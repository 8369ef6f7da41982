#include "browser/question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "support/number.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

// "it", or without words: query 2.
std::string called(const Axis& axis, std::size_t i, std::string_view what) {
  return axis.labels ? fmt::format("“{}”", axis.label(i)) : fmt::format("{} {}", what, i + 1);
}

bool are_of_the_same_words(const Frame& frame) {
  return frame.shape.rows == frame.shape.columns && frame.rows.labels && frame.columns.labels &&
         *frame.rows.labels == *frame.columns.labels;
}

}  // namespace

OpeningQuestion question_of(const Graph& graph) {
  OpeningQuestion question{.before = "How was each number made?", .after = ""};
  double most = -1.0;
  for (const Node& node : graph.nodes()) {
    if (!node.is(role::weights) || node.is_alias()) continue;
    const Matrix& weights = node.matrix();
    const bool is_of_itself = are_of_the_same_words(node.frame);
    for (std::size_t i = 0; i < weights.shape().rows; ++i) {
      for (std::size_t j = 0; j < weights.shape().columns; ++j) {
        const double weight = is_of_itself && i == j ? 0.0 : weights(i, j);
        if (!(weight > most)) continue;
        most = weight;
        question.weights = &node;
        question.query = i;
      }
    }
  }
  if (!question.weights) return question;
  question.before = "What does ";
  question.after = " look at?";
  const Frame& frame = question.weights->frame;
  question.rows = frame.rows.labels ? "Each row is a query: the word that looks, which attends to others."
                                    : "Each row is a query: what looks, and attends to others.";
  question.columns = frame.columns.labels ? "Each column is a key: a word that is looked at."
                                          : "Each column is a key: what is looked at.";
  return question;
}

std::string asked(const OpeningQuestion& question) {
  if (!question.weights) return question.before;
  return question.before + called(question.weights->frame.rows, question.query, "query") + question.after;
}

std::string answered(const OpeningQuestion& question) {
  if (!question.weights) return "";
  const Axis &rows = question.weights->frame.rows, &columns = question.weights->frame.columns;
  const std::vector<double> weights = question.weights->row(question.query);
  std::vector<std::size_t> keys(weights.size());
  std::iota(keys.begin(), keys.end(), std::size_t{0});
  std::erase_if(keys, [&](std::size_t j) { return !(weights[j] > 0.0); });
  std::ranges::stable_sort(keys, [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  const std::string query = called(rows, question.query, "Query");
  const std::string where = fmt::format("This is its row in the table {}.", question.weights->name);
  if (keys.empty()) return fmt::format("{} attends to no key: each is masked. {}", query, where);
  constexpr std::size_t most_told = 3;
  const bool are_all = keys.size() <= most_told;
  keys.resize(std::min(keys.size(), most_told));
  std::vector<std::string> told;
  for (const std::size_t j : keys) {
    told.push_back(
        fmt::format("{} ({}\u00A0%)", called(columns, j, "key"), written_fixed(100.0 * weights[j], 0)));
  }
  return fmt::format("{} attends to {}.{} {}", query, listed(told),
                     are_all ? "" : " No other key has a larger weight.", where);
}

}  // namespace attn
