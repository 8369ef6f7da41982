#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/positions.hpp"
#include "attention/scale.hpp"
#include "problem/check.hpp"
#include "problem/draw.hpp"
#include "problem/remarks.hpp"
#include "problem/request.hpp"
#include "problem/words.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"
#include "support/parsed.hpp"

namespace attn {
namespace {

void require_finite(std::string_view name, const Matrix& matrix, bool minus_infinity_allowed) {
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    for (std::size_t j = 0; j < matrix.shape().columns; ++j) {
      const double value = matrix(i, j);
      if (std::isfinite(value)) continue;
      if (minus_infinity_allowed && std::isinf(value) && value < 0.0) continue;
      fail("{}: the cell in row {}, column {} is {}: every number must be finite{}", name, i + 1, j + 1,
           value, minus_infinity_allowed ? ", or -inf" : "");
    }
  }
}

class Builder {
 public:
  explicit Builder(const Request& request) : request_(request) {}

  Problem build() {
    problem_.title = request_.title;
    problem_.summary = request_.summary;
    problem_.about = request_.about;
    problem_.drawn = request_.drawn;
    problem_.drawn_from = request_.drawn_from;
    problem_.heads = count("heads", problem_.heads);
    problem_.layers = count("layers", problem_.layers);
    check_repeats(problem_);
    check_contradictions(request_);
    take_matrices();
    take_words();
    take_score();
    take_positions();
    take_feed_forward();
    draw_missing(request_, problem_);
    check_positions();
    take_recipe();
    check_sizes(request_, problem_);
    problem_.remarks = remarks_on(request_, problem_);
    return std::move(problem_);
  }

 private:
  // Labels that a file brings along serve where no words are given.
  void take_labels(std::string_view name, const MatrixFile& file) {
    if (name == "q" || name == "scores" || name == "weights") own_labels(file.row_labels);
    if (name == "scores" || name == "weights") key_labels(file.column_labels);
    if (name == "k" || name == "v" || name == "memory") key_labels(file.row_labels);
  }
  void own_labels(const std::vector<std::string>& labels) {
    if (problem_.sequences.front().tokens.empty()) problem_.sequences.front().tokens = labels;
  }
  void key_labels(const std::vector<std::string>& labels) {
    if (problem_.key_tokens.empty()) problem_.key_tokens = labels;
  }

  void take_matrices() {
    for (const Field& field : fields()) {
      if (!request_.has(field.name)) continue;
      if (field.kind == FieldKind::matrices) take_embeddings();
      if (field.kind != FieldKind::matrix) continue;
      const MatrixFile& file = request_.get<std::vector<MatrixFile>>(field.name).front();
      require_finite(field.name, file.matrix, field.name == "mask" || field.name == "scores");
      if (field.name == "mask") {
        take_mask(file);
      } else {
        take_labels(field.name, file);
        problem_.matrices.emplace(field.name, as_bias(field.name, file.matrix));
      }
    }
  }

  void take_embeddings() {
    problem_.sequences.clear();
    for (const MatrixFile& file : request_.get<std::vector<MatrixFile>>("x")) {
      require_finite("x", file.matrix, false);
      problem_.sequences.push_back({file.row_labels, file.matrix});
    }
    const bool labelled =
        std::ranges::any_of(problem_.sequences, [](const Sequence& s) { return !s.tokens.empty(); });
    for (Sequence& sequence : problem_.sequences) {
      if (labelled && sequence.tokens.empty()) sequence.tokens = numbered(sequence.x->shape().rows);
    }
  }

  static std::vector<std::string> numbered(std::size_t count) {
    std::vector<std::string> labels;
    for (std::size_t i = 1; i <= count; ++i) labels.push_back(std::to_string(i));
    return labels;
  }

  void take_mask(const MatrixFile& file) {
    const bool zero_or_one =
        std::ranges::all_of(cells(file.matrix), [](double value) { return value == 0.0 || value == 1.0; });
    problem_.mask = GivenMask{file.matrix, !file.boolean && !zero_or_one};
  }

  // A bias written as a column means the same row.
  static Matrix as_bias(std::string_view name, const Matrix& matrix) {
    if (!name.starts_with("b_") || matrix.shape().columns != 1) return matrix;
    Matrix bias({1, matrix.shape().rows});
    std::ranges::copy(cells(matrix), cells(bias).begin());
    return bias;
  }

  void take_words() {
    if (request_.has("text")) {
      std::vector<std::vector<std::string>> sentences;
      for (const std::string& text : request_.get<std::vector<std::string>>("text")) {
        sentences.push_back(split_words(text));
      }
      take_sentences(std::move(sentences));
    }
    if (request_.has("tokens")) {
      const auto& lists = request_.get<std::vector<std::vector<std::string>>>("tokens");
      if (lists.size() != problem_.sequences.size()) {
        fail("--tokens labels {}, and there are {}: give --tokens once for each",
             count_of(lists.size(), "sentence"), problem_.sequences.size());
      }
      for (std::size_t i = 0; i < lists.size(); ++i) problem_.sequences[i].tokens = lists[i];
    }
    if (request_.has("memory_text")) {
      const auto& texts = request_.get<std::vector<std::string>>("memory_text");
      if (texts.size() != 1) fail("--memory-text is given {} times: give it once", texts.size());
      problem_.key_tokens = split_words(texts.front());
    }
    if (request_.has("key_tokens")) {
      problem_.key_tokens = request_.get<std::vector<std::vector<std::string>>>("key_tokens").front();
    }
  }

  // Padding is masked because of what it is: the keys that come from it have its name.
  void take_sentences(std::vector<std::vector<std::string>> sentences) {
    pad_with_blanks(sentences);
    problem_.sequences.clear();
    for (auto& words : sentences) problem_.sequences.push_back({std::move(words), std::nullopt});
  }

  void take_score() {
    if (request_.has("score")) {
      problem_.score =
          look_up(scoring_functions(), request_.get<std::string>("score"), "scoring function").name;
    }
  }

  std::size_t count(std::string_view name, std::size_t usual) const {
    return request_.has(name) ? request_.get<std::size_t>(name) : usual;
  }

  void take_positions() {
    if (request_.has("positions")) {
      const std::string& name = request_.get<std::string>("positions");
      problem_.positions = look_up(position_kinds(), name, "kind of positions").name;
    }
    problem_.max_distance = count("max_distance", problem_.max_distance);
  }

  void check_positions() const {
    const PositionKind& kind = *find_row(position_kinds(), problem_.positions);
    if (!kind.of_embeddings || problem_.sequences.front().x) return;
    fail(
        "--positions {} adds a vector to every embedding, and there are no embeddings: give --x or --text, "
        "or "
        "choose --positions relative-bias",
        kind.name);
  }

  // Layers have one unless it is refused; a single attention has one where it is asked for.
  void take_feed_forward() {
    const bool refused = request_.has("no_feed_forward") && request_.get<bool>("no_feed_forward");
    constexpr std::string_view own[] = {"d_ff", "w_1", "b_1", "w_2", "b_2"};
    const bool asked = std::ranges::any_of(own, [&](std::string_view name) { return request_.has(name); });
    problem_.feed_forward = !refused && (asked || problem_.layers > 1);
  }

  void take_recipe() {
    if (request_.has("scale")) {
      problem_.scale = request_.get<std::string>("scale");
      divisor(problem_.scale, {.d_k = 1, .n_k = 1});  // throws for what is no scale
    }
    problem_.causal = request_.has("causal") && request_.get<bool>("causal");
    if (request_.has("valid_length")) {
      problem_.valid_lengths = request_.get<std::vector<std::size_t>>("valid_length");
    }
    if (request_.has("score_sigma"))
      problem_.score_sigma = parse_sigma(request_.get<std::string>("score_sigma"));
    if (request_.has("mask_fill")) problem_.fill = parse_fill(request_.get<std::string>("mask_fill"));
  }

  static double parse_sigma(const std::string& text) {
    const std::optional<double> value = parsed<double>(text);
    if (!value || !std::isfinite(*value) || *value <= 0.0) {
      fail("--score-sigma: '{}' is not a positive number: give the width of the kernel, such as 1", text);
    }
    return *value;
  }

  static double parse_fill(const std::string& text) {
    const std::optional<double> value = parsed<double>(text);
    if (!value || std::isnan(*value) || *value == std::numeric_limits<double>::infinity()) {
      fail(
          "--mask-fill: '{}' is neither a finite number nor -inf: give a number far below the scores, such "
          "as -1e6",
          text);
    }
    return *value;
  }

  const Request& request_;
  Problem problem_;
};

}  // namespace

Problem build(const Request& request) {
  return Builder(request).build();
}

}  // namespace attn
