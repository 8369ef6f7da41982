#include "data/problem/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "core/attention/positional_encoding.hpp"
#include "core/math/random.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/embeddings.hpp"
#include "data/problem/model_words.hpp"
#include "data/problem/problem_options.hpp"
#include "data/problem/word_positions.hpp"

namespace attn {
namespace {

constexpr std::size_t default_d_model = 8;
constexpr std::string_view table_of_words = role::x.leaf;

std::uint32_t parse_seed(std::string_view text) {
  const std::optional<std::uint32_t> seed = parse_number<std::uint32_t>(text);
  if (!seed) {
    fail("--random: '{}' is not a seed: give a whole number from 0 to 4294967295, as in numpy:0", text);
  }
  return *seed;
}

std::uint32_t seed_of(const OptionValues& given) {
  return given.has(option::seed) ? static_cast<std::uint32_t>(*given.count(option::seed)) : 1;
}

RandomSource random_source(const OptionValues& given) {
  const std::uint32_t seed = seed_of(given);
  if (!given.has(option::random)) return {random_kind::by_name, seed};
  const std::string text = *given.text(option::random);
  const std::size_t colon = text.find(':');
  const RandomKind& kind =
      look_up(random_kinds(), std::string_view(text).substr(0, colon), "generator of random numbers");
  return {kind, colon == std::string::npos ? seed : parse_seed(std::string_view(text).substr(colon + 1))};
}

class Draw {
 public:
  Draw(const OptionValues& given, Problem& problem) : given_(given), problem_(problem), random_(random_source(given)) {
    if (!problem.drawn.empty()) return;  // what was drawn before came from elsewhere
    problem.drawn_from =
        given.has(option::random) ? *given.text(option::random) : fmt::format("seed {}", seed_of(given));
  }

  void run() {
    if (given_.has(option::text)) draw_embeddings();
    if (given_.has(option::memory_text)) draw_memory();
    const bool asked = asks_for_numbers();
    if (asked && problem_.sequences.front().x) draw_projections();
    if (given_.has(option::n_q)) draw_queries_and_keys();
    // What layers need besides an attention that is given.
    const bool stacked = given_.has(option::layers) && has(role::w_q);
    if ((asked || stacked) && problem_.sequences.front().x) draw_output_projection();
    draw_positions();
    if (problem_.feed_forward && (asked || stacked || given_.has(option::d_ff))) draw_feed_forward();
    if (asked || given_.has(option::n_q)) draw_score_parameters();
  }

  const DrawnMatrices& drawings() const { return random_.drawings(); }

  // In the sizes that one head's queries and keys have; all heads share them.
  void draw_score_parameters() {
    const auto size = [&](const Role& projected, const Role& given) -> std::size_t {
      for (const Role* role : {&projected, &given}) {
        if (has(*role)) return columns(*role) / problem_.heads_of(*role);
      }
      return 0;
    };
    const std::size_t d_q = size(role::w_q, role::q), d_k = size(role::w_k, role::k);
    if (d_q == 0 || d_k == 0) return;
    for (const ScoreParameter& row : find_row(scoring_functions(), problem_.score)->parameters) {
      draw_parameter(row.role, row.shape(d_q, d_k));
    }
  }

 private:
  // Fields that make no sense without numbers that nobody gave.
  bool asks_for_numbers() const {
    constexpr const Option* options[] = {&option::text, &option::memory_text, &option::seed, &option::random};
    return given_.has_any(options);
  }

  bool has(const Role& role) const { return problem_.has(role); }
  std::size_t columns(const Role& role) const { return problem_.find(role)->shape().columns; }

  // A size that is asked for, or else the columns of the first matrix that is given, shared among the heads.
  std::optional<std::size_t> known(const Option& size, std::initializer_list<const Role*> matrices) const {
    if (const std::optional<std::size_t> asked = given_.count(size)) return asked;
    for (const Role* role : matrices) {
      if (has(*role)) return std::max<std::size_t>(1, columns(*role) / problem_.heads_of(*role));
    }
    return std::nullopt;
  }

  std::size_t d_model() const {
    if (problem_.sequences.front().x) return problem_.sequences.front().x->shape().columns;
    if (given_.has(option::d_model)) return *given_.count(option::d_model);
    return has(role::w_q) ? problem_.find(role::w_q)->shape().rows : default_d_model;
  }

  std::size_t d_k() const {
    if (const std::optional<std::size_t> size = known(option::d_k, {&role::w_q, &role::w_k, &role::q, &role::k}))
      return *size;
    if (d_model() % problem_.heads != 0) {
      fail("d_model ({}) is not divisible by the number of heads ({}): change --heads, or give --d-k", d_model(),
           problem_.heads);
    }
    return d_model() / problem_.heads;
  }

  std::size_t d_v() const {
    const std::optional<std::size_t> size = known(option::d_v, {&role::w_v, &role::v});
    return size ? *size : d_k();
  }

  // In the sizes of the words that are longest.
  void draw_positions() {
    const PositionKind& kind = *find_row(position_kinds(), problem_.positions);
    if (!kind.table_shape) return;
    PositionSizes sizes{.n = positions(), .d_model = d_model(), .d_k = 0, .max_distance = problem_.max_distance};
    const bool projects = has(role::w_q) || has(role::q);
    sizes.d_k = projects ? columns(has(role::w_q) ? role::w_q : role::q) / problem_.heads : d_k();
    const Shape shape = kind.table_shape(sizes);
    if (kind.of_scores) require_size("distances", {queries(), shape.rows});
    draw_rows(role::position_table, shape);
  }

  // The most there are in one sentence.
  std::size_t queries() const {
    std::size_t count = has(role::q) ? problem_.find(role::q)->shape().rows : 1;
    for (const Sequence& sequence : problem_.sequences) {
      if (sequence.x) count = std::max(count, sequence.x->shape().rows);
    }
    return count;
  }

  // The most that the words of a sentence need.
  std::size_t positions() const {
    std::size_t count = queries();
    for (std::size_t i = 0; i < problem_.sequences.size(); ++i) {
      const std::optional<Matrix>& x = problem_.sequences[i].x;
      if (x) count = std::max(count, positions_of_x(problem_, i, x->shape().rows).largest(x->shape().rows) + 1);
    }
    return count;
  }

  // The different words of some tokens, without padding.
  static std::vector<std::string> distinct(std::span<const std::string> tokens) {
    std::vector<std::string> words;
    std::unordered_set<std::string_view> seen;
    for (const std::string& word : tokens) {
      if (word != blank && seen.insert(word).second) words.push_back(word);
    }
    return words;
  }

  // A row for each token: its word's vector, or zeros for padding.
  Matrix rows_of(const std::vector<std::string>& tokens, const std::vector<std::string>& words, const Matrix& vectors) {
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < words.size(); ++i) places.emplace(words[i], i);
    Matrix result({tokens.size(), vectors.shape().columns}, 0.0);
    std::vector<std::size_t> rows(tokens.size(), 0);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i] == blank) continue;
      const std::size_t place = places.at(tokens[i]);
      std::ranges::copy(row(vectors, place), row(result, i).begin());
      rows[i] = place + 1;
    }
    if (const DrawnFrom* const how = random_.drawings().of(vectors)) {
      DrawnFrom of_result = *how;
      of_result.rows = std::move(rows);
      problem_.drawings.add(result, std::move(of_result));
    }
    return result;
  }

  void draw_embeddings() {
    std::vector<std::string> all;
    for (const Sequence& sequence : problem_.sequences) {
      all.insert(all.end(), sequence.tokens.begin(), sequence.tokens.end());
    }
    const std::vector<std::string> words = distinct(all);
    const Matrix vectors = words.empty() ? Matrix({1, d_model()}, 0.0) : vectors_of(words);
    for (Sequence& sequence : problem_.sequences) sequence.x = rows_of(sequence.tokens, words, vectors);
  }

  Matrix vectors_of(const std::vector<std::string>& words) {
    if (given_.has(option::embeddings)) {
      const std::string file = *given_.text(option::embeddings);
      Matrix vectors = read_embeddings(file, words);
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (std::ranges::all_of(row(vectors, i), [](double value) { return std::isfinite(value); })) continue;
        fail("{}: the vector of '{}' has a number that is not finite: choose another file", file, words[i]);
      }
      return vectors;
    }
    const Shape shape{words.size(), d_model()};
    require_size("x", shape);
    problem_.drawn.push_back("x");
    return random_.vectors({table_of_words, shape, words});
  }

  void draw_parameter(const Role& role, Shape shape) {
    if (has(role)) return;
    require_size(role.leaf, shape);
    take(role, random_.parameter({role.leaf, shape}));
  }

  void take(const Role& role, Matrix matrix) {
    problem_.matrices.emplace(&role, std::move(matrix));
    problem_.drawn.emplace_back(role.leaf);
  }

  void draw_projections() {
    const auto [of_queries, of_keys] = problem_.all_heads();
    const std::size_t source = has(role::memory) ? columns(role::memory) : d_model();
    if (!has(role::q)) draw_parameter(role::w_q, {d_model(), of_queries * d_k()});
    if (!has(role::k)) draw_parameter(role::w_k, {source, of_keys * d_k()});
    const std::size_t of_values = has(role::value_memory) ? columns(role::value_memory) : source;
    if (!has(role::v)) draw_parameter(role::w_v, {of_values, of_keys * d_v()});
  }

  void draw_output_projection() {
    const std::size_t heads = problem_.heads;
    const bool must_fit = problem_.layers > 1 && heads * d_v() != d_model();
    if (heads > 1 || must_fit) draw_parameter(role::w_o, {heads * d_v(), d_model()});
  }

  // A word has one vector, in the memory as well: that of a sentence is what the sentence itself would be. With another
  // size it begins with the same numbers.
  void draw_memory() {
    const std::size_t size = given_.has(option::d_memory) ? *given_.count(option::d_memory) : d_model();
    const std::vector<std::string>& tokens = problem_.key_tokens;
    require_size("memory", {tokens.size(), size});
    const std::vector<std::string> words = distinct(tokens);
    const Matrix vectors =
        words.empty() ? Matrix({1, size}, 0.0) : random_.vectors({table_of_words, {words.size(), size}, words});
    take(role::memory, rows_of(tokens, words, vectors));
  }

  void draw_feed_forward() {
    constexpr std::size_t usual_widening = 4;  // Vaswani et al. 2017: 2048 / 512
    const std::size_t d = output_columns();
    std::size_t inner = given_.has(option::d_ff) ? *given_.count(option::d_ff) : usual_widening * d;
    if (has(role::w_1)) inner = columns(role::w_1);
    if (has(role::w_2)) inner = problem_.find(role::w_2)->shape().rows;
    if (has(role::w_gate)) inner = columns(role::w_gate);
    require_size("inner", {problem_.layers * queries(), inner});
    if (given_.has(option::gated)) draw_parameter(role::w_gate, {d, inner});
    draw_parameter(role::w_1, {d, inner});
    draw_parameter(role::w_2, {inner, d});
  }

  // How many numbers attention gives for each word.
  std::size_t output_columns() const {
    if (has(role::w_o)) return columns(role::w_o);
    for (const Role* role : {&role::w_v, &role::v}) {
      if (has(*role)) return columns(*role) / problem_.heads_of(*role) * problem_.heads;
    }
    return d_model();
  }

  void draw_rows(const Role& role, Shape shape) {
    if (has(role)) return;
    require_size(role.leaf, shape);
    take(role, random_.vectors({role.leaf, shape}));
  }

  void draw_queries_and_keys() {
    const std::size_t n_q = *given_.count(option::n_q), n_k = *given_.count(option::n_k);
    const auto [of_queries, of_keys] = problem_.all_heads();
    const std::size_t d_k = this->d_k(), d_v = this->d_v();
    require_size("scores", {n_q, n_k});
    draw_rows(role::q, {n_q, of_queries * d_k});
    draw_rows(role::k, {n_k, of_keys * d_k});
    draw_rows(role::v, {n_k, of_keys * d_v});
  }

  const OptionValues& given_;
  Problem& problem_;
  RandomSource random_;
};

}  // namespace

void draw_score_parameters(const OptionValues& given, Problem& problem) {
  Draw draw(given, problem);
  draw.draw_score_parameters();
  problem.drawings.add(draw.drawings());
}

void draw_missing(const OptionValues& given, Problem& problem) {
  Draw draw(given, problem);
  draw.run();
  problem.drawings.add(draw.drawings());
}

}  // namespace attn
