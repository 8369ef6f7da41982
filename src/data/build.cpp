#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>

#include "attention/scale.hpp"
#include "data/embeddings.hpp"
#include "data/request.hpp"
#include "data/words.hpp"
#include "math/random.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

constexpr std::size_t default_d_model = 8;

// A parameter that grows with the sizes asked for, not with a file: the same limit holds.
void require_size(std::string_view name, Shape shape) {
  if (shape.rows > most_cells / shape.columns) {
    fail("{} would be {}: more than the {} cells a matrix may have", name, to_string(shape), most_cells);
  }
}

void require_finite(std::string_view name, const Matrix& matrix, bool minus_infinity_allowed) {
  for (std::size_t i = 0; i < matrix.shape()[0]; ++i) {
    for (std::size_t j = 0; j < matrix.shape()[1]; ++j) {
      const double value = matrix(i, j);
      if (std::isfinite(value)) continue;
      if (minus_infinity_allowed && std::isinf(value) && value < 0.0) continue;
      fail("{}: the cell in row {}, column {} is {}: every number must be finite{}", name, i + 1, j + 1,
           value, minus_infinity_allowed ? ", or -inf" : "");
    }
  }
}

std::uint32_t parse_seed(std::string_view text) {
  std::uint32_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    fail("--random: '{}' is not a seed: give a whole number from 0 to 4294967295, as in numpy:0", text);
  }
  return seed;
}

std::unique_ptr<RandomSource> random_source(const Request& request) {
  const std::uint32_t seed =
      request.has("seed") ? static_cast<std::uint32_t>(request.get<std::size_t>("seed")) : 1;
  if (!request.has("random")) return random_kinds().front().make(seed);
  const std::string& given = request.get<std::string>("random");
  const std::size_t colon = given.find(':');
  const RandomKind& kind =
      look_up(random_kinds(), std::string_view(given).substr(0, colon), "kind of random numbers");
  return kind.make(colon == std::string::npos ? seed : parse_seed(std::string_view(given).substr(colon + 1)));
}

class Builder {
 public:
  explicit Builder(const Request& request) : request_(request), random_(random_source(request)) {}

  Problem build() {
    problem_.title = request_.title;
    problem_.summary = request_.summary;
    problem_.about = request_.about;
    problem_.heads = request_.has("heads") ? request_.get<std::size_t>("heads") : 1;
    check_contradictions();
    take_matrices();
    take_words();
    if (request_.has("text")) draw_embeddings();
    if (draws_from_text() || request_.has("seed") || request_.has("random")) draw_parameters();
    if (request_.has("n_q") || request_.has("n_k")) draw_queries_and_keys();
    take_recipe();
    check_shapes();
    return std::move(problem_);
  }

 private:
  bool has_matrix(std::string_view name) const { return problem_.matrices.contains(name); }
  const Matrix& matrix(const std::string& name) const { return problem_.matrices.at(name); }

  void check_contradictions() const {
    const auto excludes = [&](std::string_view one, std::string_view other) {
      if (request_.has(one) && request_.has(other)) {
        fail("{} and {} are both given: give one of them", find_row(fields(), one)->option,
             find_row(fields(), other)->option);
      }
    };
    excludes("text", "x");
    excludes("text", "tokens");
    excludes("scores", "weights");
    for (const std::string_view name : {"x", "text", "q", "k", "n_q", "n_k", "memory"}) {
      excludes("scores", name);
      excludes("weights", name);
    }
    for (const std::string_view name : {"q", "k", "v", "x", "text"}) excludes("n_q", name);
    for (const char* which : {"q", "k", "v"}) {
      excludes(which, fmt::format("w_{}", which));
      excludes(which, fmt::format("b_{}", which));
    }
    if (request_.has("embeddings") && !request_.has("text")) {
      fail("--embeddings gives the vectors of words, and there are none: give --text");
    }
    if (request_.has("n_q") != request_.has("n_k")) fail("--n-q and --n-k go together: give both");
  }

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
      if (labelled && sequence.tokens.empty()) sequence.tokens = numbered(sequence.x->shape()[0]);
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
    if (!name.starts_with("b_") || matrix.shape()[1] != 1) return matrix;
    Matrix bias = make_matrix({1, matrix.shape()[0]});
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
        fail("--tokens label {} sentences, but there are {}: give the words of each", lists.size(),
             problem_.sequences.size());
      }
      for (std::size_t i = 0; i < lists.size(); ++i) problem_.sequences[i].tokens = lists[i];
    }
    if (request_.has("key_tokens")) {
      problem_.key_tokens = request_.get<std::vector<std::vector<std::string>>>("key_tokens").front();
    }
  }

  // The lengths before padding are the valid lengths, unless others are given.
  void take_sentences(std::vector<std::vector<std::string>> sentences) {
    std::vector<std::size_t> lengths;
    for (const auto& words : sentences) lengths.push_back(words.size());
    pad_with_blanks(sentences);
    const bool padded =
        std::ranges::any_of(lengths, [&](std::size_t n) { return n != sentences.front().size(); });
    if (padded) problem_.valid_lengths = lengths;
    problem_.sequences.clear();
    for (auto& words : sentences) problem_.sequences.push_back({std::move(words), std::nullopt});
  }

  bool draws_from_text() const { return request_.has("text"); }

  std::size_t d_model() const {
    if (problem_.sequences.front().x) return problem_.sequences.front().x->shape()[1];
    if (request_.has("d_model")) return request_.get<std::size_t>("d_model");
    return has_matrix("w_q") ? matrix("w_q").shape()[0] : default_d_model;
  }

  std::size_t d_k() const {
    if (request_.has("d_k")) return request_.get<std::size_t>("d_k");
    for (const char* name : {"w_q", "w_k", "q", "k"}) {
      if (has_matrix(name)) return std::max<std::size_t>(1, matrix(name).shape()[1] / problem_.heads);
    }
    if (d_model() % problem_.heads != 0) {
      fail(
          "--heads {}: the {} columns of x cannot be shared out equally among them; give --d-k or another "
          "number",
          problem_.heads, d_model());
    }
    return d_model() / problem_.heads;
  }

  std::size_t d_v() const {
    if (request_.has("d_v")) return request_.get<std::size_t>("d_v");
    for (const char* name : {"w_v", "v"}) {
      if (has_matrix(name)) return std::max<std::size_t>(1, matrix(name).shape()[1] / problem_.heads);
    }
    return d_k();
  }

  // One vector for each different word, in the order of their first appearance.
  void draw_embeddings() {
    std::vector<std::string> vocabulary;
    for (const Sequence& sequence : problem_.sequences) {
      for (const std::string& word : sequence.tokens) {
        if (std::ranges::find(vocabulary, word) == vocabulary.end()) vocabulary.push_back(word);
      }
    }
    const Shape shape{vocabulary.size(), d_model()};
    require_size("x", shape);
    const Matrix table = request_.has("embeddings")
                             ? read_embeddings(request_.get<std::string>("embeddings"), vocabulary)
                             : random_->embeddings(shape);
    for (Sequence& sequence : problem_.sequences) {
      Matrix x = make_matrix({sequence.tokens.size(), table.shape()[1]});
      for (std::size_t i = 0; i < sequence.tokens.size(); ++i) {
        const auto place = std::ranges::find(vocabulary, sequence.tokens[i]) - vocabulary.begin();
        std::ranges::copy(row(table, static_cast<std::size_t>(place)), row(x, i).begin());
      }
      sequence.x = std::move(x);
    }
  }

  void draw(const std::string& name, Shape shape) {
    if (has_matrix(name)) return;
    require_size(name, shape);
    problem_.matrices.emplace(name, random_->parameter(shape));
  }

  void draw_parameters() {
    if (!problem_.sequences.front().x) return;
    const std::size_t heads = problem_.heads;
    const std::size_t source = has_matrix("memory") ? matrix("memory").shape()[1] : d_model();
    if (!has_matrix("q")) draw("w_q", {d_model(), heads * d_k()});
    if (!has_matrix("k")) draw("w_k", {source, heads * d_k()});
    if (!has_matrix("v")) draw("w_v", {source, heads * d_v()});
    if (heads > 1) draw("w_o", {heads * d_v(), d_model()});
  }

  void draw_queries_and_keys() {
    const std::size_t n_q = request_.get<std::size_t>("n_q"), n_k = request_.get<std::size_t>("n_k");
    const auto draw_rows = [&](const char* name, Shape shape) {
      require_size(name, shape);
      problem_.matrices.emplace(name, random_->embeddings(shape));
    };
    const std::size_t keys = d_k(), values = d_v();
    draw_rows("q", {n_q, problem_.heads * keys});
    draw_rows("k", {n_k, problem_.heads * keys});
    draw_rows("v", {n_k, problem_.heads * values});
  }

  void take_recipe() {
    if (request_.has("score")) {
      problem_.score = look_up(score_functions(), request_.get<std::string>("score"), "score function").name;
    }
    if (request_.has("scale")) {
      problem_.scale = request_.get<std::string>("scale");
      divisor(problem_.scale, 1);  // throws for what is no scale
    }
    problem_.causal = request_.has("causal") && request_.get<bool>("causal");
    if (request_.has("valid_length")) {
      problem_.valid_lengths = request_.get<std::vector<std::size_t>>("valid_length");
    }
    if (request_.has("mask_fill")) problem_.fill = parse_fill(request_.get<std::string>("mask_fill"));
  }

  static double parse_fill(const std::string& text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool read = error == std::errc() && end == text.data() + text.size();
    if (!read || std::isnan(value) || value == std::numeric_limits<double>::infinity()) {
      fail("--mask-fill: '{}' is not a number: give one far below the scores, such as -1e6, or -inf", text);
    }
    return value;
  }

  // What the evaluation could only put in the words of one operation.
  void check_shapes() const {
    if (request_.has("d_model") && problem_.sequences.front().x) require_asked("d_model", "x", 1);
    for (const char* name : {"q", "k", "w_q", "w_k"}) require_asked("d_k", name, problem_.heads);
    for (const char* name : {"v", "w_v"}) require_asked("d_v", name, problem_.heads);
    for (const char* name : {"q", "k", "v"}) {
      if (has_matrix(name) && matrix(name).shape()[1] % problem_.heads != 0) {
        fail("--heads {}: the {} columns of {} cannot be shared out equally among them", problem_.heads,
             matrix(name).shape()[1], name);
      }
      const std::string w = fmt::format("w_{}", name);
      if (has_matrix(w) && matrix(w).shape()[1] % problem_.heads != 0) {
        fail("--heads {}: the {} columns of {} cannot be shared out equally among them", problem_.heads,
             matrix(w).shape()[1], w);
      }
    }
  }

  // A size that was asked for and a matrix that was given must agree.
  void require_asked(std::string_view size, std::string_view name, std::size_t heads) const {
    if (!request_.has(size) || (name != "x" && !has_matrix(name))) return;
    const Matrix& given = name == "x" ? *problem_.sequences.front().x : problem_.matrices.find(name)->second;
    const std::size_t asked = heads * request_.get<std::size_t>(size);
    if (given.shape()[1] == asked) return;
    fail("{} {}: {} must then have {} columns and has {}", find_row(fields(), size)->option,
         request_.get<std::size_t>(size), name, asked, given.shape()[1]);
  }

  const Request& request_;
  std::unique_ptr<RandomSource> random_;
  Problem problem_;
};

}  // namespace

Problem build(const Request& request) {
  return Builder(request).build();
}

}  // namespace attn
