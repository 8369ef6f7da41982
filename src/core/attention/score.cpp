#include "core/attention/score.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

// --- score

constexpr ScoreParameter bilinear_parameters[] = {
    {role::score_m, "one row for each number of a query and one column for each number of a key",
     [](std::size_t d_q, std::size_t d_k) {
       return Shape{d_q, d_k};
     }},
};
constexpr ScoreParameter bilinear_biases[] = {
    {role::score_b, "one number",
     [](std::size_t, std::size_t) {
       return Shape{1, 1};
     }},
};

// When they are drawn, the hidden layer is as wide as a key.
constexpr ScoreParameter additive_parameters[] = {
    {role::score_wq, "one row for each number of a query",
     [](std::size_t d_q, std::size_t d_k) {
       return Shape{d_q, d_k};
     }},
    {role::score_wk, "one row for each number of a key",
     [](std::size_t, std::size_t d_k) {
       return Shape{d_k, d_k};
     }},
    {role::score_wv, "one column, and a row for each column of score_wq",
     [](std::size_t, std::size_t d_k) {
       return Shape{d_k, 1};
     }},
};
constexpr ScoreParameter additive_biases[] = {
    {role::score_b, "one row, with a number for each column of score_wq",
     [](std::size_t, std::size_t d_k) {
       return Shape{1, d_k};
     }},
};

constexpr std::string_view of_dot_product =
    "An attention score is the dot product of a query and a key. "
    "The larger it is, the better the key fits the query.";

constexpr std::array score_table = {
    ScoringFunction{.name = "scaled-dot",
                    .summary = "q ⋅ k / √d_k (Vaswani et al. 2017)",
                    .meaning = of_dot_product,
                    .scale = "sqrt-dk",
                    .score = dot_product},
    ScoringFunction{.name = "dot",
                    .summary = "q ⋅ k (Luong et al. 2015)",
                    .meaning = of_dot_product,
                    .scale = "none",
                    .score = dot_product},
    ScoringFunction{
        .name = "cosine",
        .summary = "q ⋅ k / ‖q‖‖k‖, between −1 and 1 (Graves et al. 2014)",
        .meaning =
            "An attention score is the cosine of the angle between a query and a key, their dot product after each is divided by its length: 1 for the same direction, −1 for opposite directions. "
            "The lengths do not count; a vector of length 0 has the score 0 with every other.",
        .scale = "none",
        .score = cosine_similarity},
    ScoringFunction{
        .name = "gaussian",
        .summary = "−‖q − k‖² / 2σ², with the width σ",
        .meaning =
            "An attention score is minus half the squared distance between a query and a key, divided by σ²: the nearer the key, the larger the score. "
            "The matrix expanded is the same, multiplied out: q ⋅ k − ½‖k‖² − ½‖q‖², divided by σ². ½‖q‖² is the same for all keys of a row and cancels in the softmax. ½‖k‖² cancels only if all keys have the same length.",
        .scale = "none",
        .score = gaussian,
        .expand = expand_gaussian},
    ScoringFunction{.name = "bilinear",
                    .summary = "q ⋅ M ⋅ k + b; sizes may differ (Luong et al. 2015)",
                    .meaning = "An attention score is the dot product of a key and a projected query. "
                               "The projection, a learned matrix, gives the query the size of a key.",
                    .scale = "none",
                    .parameters = bilinear_parameters,
                    .biases = bilinear_biases,
                    .score = bilinear},
    ScoringFunction{.name = "additive",
                    .summary = "w_v ⋅ tanh(W_q q + W_k k + b) (Bahdanau et al. 2014)",
                    .meaning = "An attention score is the output of a small network for one query and one key. "
                               "Each is multiplied by a matrix of its own. "
                               "The two results are added, go through tanh, and are multiplied by w_v.",
                    .scale = "none",
                    .parameters = additive_parameters,
                    .biases = additive_biases,
                    .score = additive},
};

void require_same_size(const Value& q, const Value& k) {
  if (q.shape().columns == k.shape().columns) return;
  fail(
      "scores: "
      "{} is {} but {} is {}: queries and keys must have the same number of columns, except with ‹score› bilinear or additive",
      q.node().title(), to_string(q.shape()), k.node().title(), to_string(k.shape()));
}

// The shapes of a scoring function's matrices are checked against the queries and keys that it is used on.
const Value& parameter(const ScoreParameters& parameters, const Role& role, std::size_t rows,
                       std::string_view of_what) {
  const Value& value = parameters.matrices.find(&role)->second;
  if (value.shape().rows != rows) {
    fail("scores: {} is {}: it must have {}, one for each {}", role.leaf, to_string(value.shape()),
         count_of(rows, "row"), of_what);
  }
  return value;
}

void require_columns(const Value& value, const Role& role, std::size_t columns, std::string_view of_what) {
  if (value.shape().columns == columns) return;
  fail("scores: {} is {}: it must have {}, {}", role.leaf, to_string(value.shape()), count_of(columns, "column"),
       of_what);
}

// The bias b, or nothing.
std::optional<Value> bias_of(const ScoreParameters& parameters, std::size_t columns, std::string_view of_what) {
  const auto found = parameters.matrices.find(&role::score_b);
  if (found == parameters.matrices.end()) return std::nullopt;
  if (found->second.shape() == Shape{1, columns}) return found->second;
  fail("scores: score_b is {}: it must be one row of {}, {}", to_string(found->second.shape()),
       count_of(columns, "number"), of_what);
}

Value over_width(const Value& scores, double sigma) {
  if (sigma == 1.0) return scores;
  const std::string written = fmt::format("{}", sigma);
  return divide(scores, {sigma * sigma, {written + "²", written + "^{2}"}});
}

// --- scale

Scalar root_of_size(std::size_t n) {
  return {std::sqrt(static_cast<double>(n)), {fmt::format("√{}", n), fmt::format("\\sqrt{{{}}}", n)}};
}

std::optional<Scalar> sqrt_dk(const KeySizes& sizes) {
  if (sizes.d_k == 0)
    fail("‹scale› sqrt-dk needs the key size, and only scores are given: give ‹scale› with a number, or none");
  return root_of_size(sizes.d_k);
}

std::optional<Scalar> none(const KeySizes&) { return std::nullopt; }

std::optional<Scalar> sqrt_n(const KeySizes& sizes) {
  Scalar root = root_of_size(sizes.n_k);
  root.in_words = fmt::format("√n, with n = {}", count_of(sizes.n_k, "key"));
  return root;
}

constexpr std::array scale_table = {
    Scale{"sqrt-dk", "the square root of the key size", sqrt_dk},
    Scale{"none", "scores are not divided", none},
    Scale{"sqrt-n", "the square root of the number of keys (an error in a published text, to compare)", sqrt_n, true},
};

}  // namespace

// --- score

std::span<const ScoringFunction> scoring_functions() { return score_table; }

Value dot_product(const Value& q, const Value& k, const ScoreParameters&) {
  require_same_size(q, k);
  return matmul_transposed(q, k);
}

Value cosine_similarity(const Value& q, const Value& k, const ScoreParameters&) {
  require_same_size(q, k);
  Value unit_q = name(role::unit_q, unit_rows(q));
  Value unit_k = name(role::unit_k, unit_rows(k));
  return matmul_transposed(unit_q, unit_k);
}

Value gaussian(const Value& q, const Value& k, const ScoreParameters& parameters) {
  require_same_size(q, k);
  return over_width(minus_half_squared_distances(q, k), parameters.sigma);
}

void expand_gaussian(const Value& q, const Value& k, const ScoreParameters& parameters) {
  require_same_size(q, k);
  Value dot = name(role::dot, matmul_transposed(q, k));
  Value half_q = name(role::half_q, half_squared_norms(q));
  Value half_k = name(role::half_k, half_squared_norms(k));
  Value rest = subtract(subtract(dot, transpose(half_k)), half_q);
  name(role::expanded, over_width(rest, parameters.sigma));
}

Value bilinear(const Value& q, const Value& k, const ScoreParameters& parameters) {
  const Value& m = parameter(parameters, role::score_m, q.shape().columns, "number of a query");
  require_columns(m, role::score_m, k.shape().columns, "one for each number of a key");
  Value projected = name(role::projected_q, matmul(q, m));
  Value scores = matmul_transposed(projected, k);
  const std::optional<Value> bias = bias_of(parameters, 1, "the same for every score");
  return bias ? add(scores, *bias) : scores;
}

Value additive(const Value& q, const Value& k, const ScoreParameters& parameters) {
  const Value& w_q = parameter(parameters, role::score_wq, q.shape().columns, "number of a query");
  const Value& w_k = parameter(parameters, role::score_wk, k.shape().columns, "number of a key");
  require_columns(w_k, role::score_wk, w_q.shape().columns, "as many as score_wq");
  const Value& w_v = parameter(parameters, role::score_wv, w_q.shape().columns, "column of score_wq");
  require_columns(w_v, role::score_wv, 1, "no more");
  Value hidden_q = name(role::hidden_q, matmul(q, w_q));
  const std::optional<Value> bias = bias_of(parameters, w_q.shape().columns, "one for each column of score_wq");
  Value of_keys = matmul(k, w_k);
  Value hidden_k = name(role::hidden_k, bias ? add(of_keys, *bias) : of_keys);
  Value hidden = name(role::hidden, pairwise_sum(hidden_q, hidden_k));
  Value activated = name(role::activated, attn::tanh(hidden));
  return unpair(matmul(activated, w_v), q, k);
}

// --- scale

std::span<const Scale> scales() { return scale_table; }

bool counts_keys(std::string_view scale) {
  const Scale* row = find_row(scales(), scale);
  return row && row->counts_keys;
}

std::optional<Scalar> divisor(std::string_view scale, const KeySizes& sizes) {
  if (const std::optional<double> value = parse_number<double>(scale)) {
    if (!std::isfinite(*value) || *value <= 0.0) {
      fail("‹scale› {}: the scores are divided by it, so give a positive number", scale);
    }
    const std::string written = fmt::format("{}", *value);
    return Scalar{*value, {written, written}, written};
  }
  if (const Scale* row = find_row(scales(), scale)) return row->divisor(sizes);
  fail("‹scale›: unknown scale '{}'{}. Choose one of: {}, or a number", scale, did_you_mean(scale, names_of(scales())),
       fmt::join(names_of(scales()), ", "));
}

}  // namespace attn
