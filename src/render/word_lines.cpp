#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "render/drawing.hpp"
#include "render/width.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

constexpr std::size_t most_words = 40;
constexpr std::size_t longest_word = 16, between = 30;  // columns
constexpr int decimals = 2;

// Lines of words on both sides, so that the query is where it is in its sentence.
class WordLinesLayout {
 public:
  WordLinesLayout(const ShadedWords& words, const Style& style, const Metrics& metrics)
      : words_(words), style_(style), metrics_(metrics), weights_(*words.weights.cells) {
    choose_keys();
    const bool same_words = words.query_count == weights_.shape().columns;
    queries_ = same_words ? keys_ : std::vector<std::size_t>{words.query};
    if (same_words && std::ranges::find(queries_, words.query) == queries_.end()) {
      queries_.push_back(words.query);
      std::ranges::sort(queries_);
    }
  }

  Drawing drawn() && {
    const std::string query = word(words_.queries, words_.query);
    drawing_.title = fmt::format("Attention weights from {}", query);
    drawing_.description = description(query);
    std::size_t left = 0;
    for (const std::size_t place : queries_) left = std::max(left, width_of(word(words_.queries, place)));
    const std::size_t begin = left + metrics_.column, end = begin + between * metrics_.column;
    std::size_t from = 0;
    for (std::size_t i = 0; i < queries_.size(); ++i) {
      const std::string text = word(words_.queries, queries_[i]);
      const std::size_t y = line_of(i, queries_.size());
      if (queries_[i] == words_.query) from = y;
      drawing_.labels.push_back({{left - width_of(text), y}, text});
    }
    for (std::size_t i = 0; i < keys_.size(); ++i)
      drawing_.labels.push_back(
          {{end + metrics_.column, line_of(i, keys_.size())}, word(words_.weights.columns, keys_[i])});
    for (std::size_t head = 0; head < words_.heads; ++head) {
      for (std::size_t i = 0; i < keys_.size(); ++i) {
        const double weight = weights_(head, keys_[i]);
        if (!std::isfinite(weight) || weight <= 0.0) continue;
        drawing_.lines.push_back(
            {{{begin, from}, {end, end_of(i, head)}}, false, std::min(weight, 1.0), head});
      }
    }
    add_legend();
    return std::move(drawing_);
  }

 private:
  std::size_t width_of(std::string_view text) const { return display_width(text) * metrics_.column; }
  std::string word(const Axis& axis, std::size_t place) const {
    return shortened(style_.words(axis.label(place)), longest_word, style_.unicode ? "…" : "~");
  }
  double largest(std::size_t key) const {
    double most = 0.0;
    for (std::size_t head = 0; head < words_.heads; ++head) {
      if (std::isfinite(weights_(head, key))) most = std::max(most, weights_(head, key));
    }
    return most;
  }

  // In their order; of many those with the largest weights.
  void choose_keys() {
    keys_.resize(weights_.shape().columns);
    std::iota(keys_.begin(), keys_.end(), std::size_t{0});
    if (keys_.size() <= most_words || style_.full) return;
    std::ranges::stable_sort(keys_, std::ranges::greater(), [&](std::size_t key) { return largest(key); });
    keys_.resize(most_words);
    std::ranges::sort(keys_);
  }

  // The shorter of two columns of words is in the middle of the other.
  std::size_t line_of(std::size_t i, std::size_t count) const {
    const std::size_t lines = std::max(keys_.size(), queries_.size());
    return ((lines - count) / 2 + i) * metrics_.line + metrics_.line / 4;
  }

  // Where the line of a head ends: those of several are beside each other, around the middle of the word.
  std::size_t end_of(std::size_t key, std::size_t head) const {
    const std::size_t middle = line_of(key, keys_.size());
    return words_.heads < 2 ? middle
                            : middle - metrics_.line / 4 + head * (metrics_.line / 2) / (words_.heads - 1);
  }

  std::string description(const std::string& query) const {
    std::string sentence =
        fmt::format("Lines from {} to {}, as heavy as the weights", query, count_of(keys_.size(), "word"));
    for (std::size_t head = 0; head < words_.heads && !keys_.empty(); ++head) {
      const auto weight = [&](std::size_t key) {
        return std::isfinite(weights_(head, key)) ? weights_(head, key) : 0.0;
      };
      const std::size_t most = *std::ranges::max_element(keys_, {}, weight);
      sentence += fmt::format("; {}: most to {} ({})", words_.weights.rows.label(head),
                              word(words_.weights.columns, most), written_fixed(weight(most), decimals));
    }
    return sentence + ".";
  }

  void add_legend() {
    std::vector<Drawing::Entry> heads;
    for (std::size_t head = 0; head < words_.heads; ++head)
      heads.push_back({words_.weights.rows.label(head), head});
    drawing_.legends.push_back(std::move(heads));
    if (const std::size_t missing = weights_.shape().columns - keys_.size(); missing > 0)
      drawing_.legends.push_back(
          {{fmt::format("left out: {} with smaller weights", count_of(missing, "word"))}});
  }

  const ShadedWords& words_;
  const Style& style_;
  const Metrics& metrics_;
  const Matrix& weights_;
  std::vector<std::size_t> keys_, queries_;  // that are shown
  Drawing drawing_;
};

}  // namespace

Drawing lay_out(const ShadedWords& words, const Style& style, const Metrics& metrics) {
  return WordLinesLayout(words, style, metrics).drawn();
}

}  // namespace attn
