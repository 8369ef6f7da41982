#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/math/rows.hpp"
#include "school/mistake/amounts.hpp"
#include "school/mistake/numbers.hpp"
#include "school/mistake/parts.hpp"
#include "school/mistake/single_exponentials.hpp"

namespace attn {

// Mistakes with the softmax: over what it is taken, and how.

namespace {

// --- over what it is taken

bool is_softmax_of_a_head(const Node& node) { return is_softmax_of_attention(node) && head_of(node); }

// The scores of all heads side by side, and the columns of one head.
Value scores_of_all_heads(RewriteSite at) {
  std::vector<Value> scores;
  for (const Node* weights : of_all_heads(at.node, role::weights)) scores.push_back(at.of(*weights->operands[0]));
  return concatenate(scores);
}
Value columns_of_head(RewriteSite at, const Value& all) {
  const std::size_t keys = at.node.frame.shape.columns;
  return columns(all, *head_of(at.node) * keys, keys);
}

// Of each sentence.
Value softmax_over_all(const Value& scores) {
  const std::size_t sentences = scores.node().frame.rows.batch;
  return reshape(softmax(reshape(scores, scores.shape().cells() / sentences)), scores.shape().columns);
}

// --- how it is taken

// exp(x − max x): what a softmax divides, where the largest score is subtracted first.
Value less_largest(const Value& scores) {
  return attn::exp(subtract(scores, row_sums(replace(scores, largest(scores), 0.0))));
}

Made largest_left_out(RewriteSite at) {
  return softmax(
      mask(at[0], subtract(constant_like(at[0], 1.0), largest(at[0])), -std::numeric_limits<double>::infinity()));
}

Made negated(RewriteSite at) { return softmax(masked_like(at, times(scores_before_mask(at), plain_number(-1.0)))); }

// Weights may be given.
bool are_given_weights(const Node& node) { return node.is(role::weights) && !node.op; }

Made equal_weights(RewriteSite at) {
  if (are_given_weights(at.node)) return uniform(at.itself());
  return normalize(zero_where_masked(at, uniform(at[0])));
}

// --- across several matrices

// Over the same place in the scores of several softmaxes, of which this is the one with that number.
Value softmax_across(RewriteSite at, const std::vector<const Node*>& all, std::size_t number) {
  std::vector<Value> places;
  for (const Node* one : all) places.push_back(reshape(at.of(*one->operands[0]), 1));
  return reshape(columns(softmax(concatenate(places)), number, 1), at.node.frame.shape.columns);
}

// In float32, where an exponential above e^88.7 is infinite, and one below e^−104 is 0: infinite divided by infinite is
// no number, nor is 0 divided by 0. A row whose sum is neither stays as it is.
Made overflowing(RewriteSite at) {
  const Value operand = at[0];
  const Matrix& scores = operand.matrix();
  std::optional<Matrix> weights;
  for (std::size_t i = 0; i < scores.shape().rows; ++i) {
    float sum = 0.0F;
    for (const double score : row(scores, i)) sum += single_exponential(score);
    if (!std::isinf(sum) && !all_vanish_in_single(row(scores, i))) continue;
    if (!weights) weights = at.itself().matrix();
    for (std::size_t j = 0; j < scores.shape().columns; ++j)
      (*weights)(i, j) = static_cast<double>(single_exponential(scores(i, j)) / sum);
  }
  return weights ? Made(at.like(std::move(*weights))) : std::nullopt;
}

std::vector<const Node*> softmaxes_of_heads(const Node& node) {
  if (!is_softmax_of_a_head(node)) return {};
  std::vector<const Node*> all = of_all_heads(node, role::weights);
  return all.size() > 1 ? all : std::vector<const Node*>();
}

// Of sentences of the same length.
std::vector<const Node*> softmaxes_of_sentences(const Node& node) {
  if (!is_softmax_of_attention(node)) return {};
  std::vector<const Node*> all = of_all_sentences(node);
  const auto is_alike = [&](const Node* one) { return one->frame.shape == node.frame.shape && is_any_softmax(*one); };
  return all.size() > 1 && std::ranges::all_of(all, is_alike) ? all : std::vector<const Node*>();
}

template <std::vector<const Node*> (*softmaxes)(const Node& node)>
bool is_one_of(const Node& node) {
  return !softmaxes(node).empty();
}
template <std::vector<const Node*> (*softmaxes)(const Node& node)>
Made across(RewriteSite at) {
  const std::vector<const Node*> all = softmaxes(at.node);
  const auto number = static_cast<std::size_t>(std::ranges::find(all, &at.node) - all.begin());
  return softmax_across(at, all, number);
}

template <std::vector<const Node*> (*softmaxes)(const Node& node)>
Made averaged(RewriteSite at) {
  std::vector<Value> all;
  for (const Node* one : softmaxes(at.node)) all.push_back(softmax(at.of(*one->operands[0])));
  return mean_of_all(all);
}

// --- other ways to weights

// e^x / (1 + Σ e^x)  (Miller 2023, Attention Is Off By One); or so after the largest number is subtracted.
template <bool subtracts>
Made with_one_more(RewriteSite at) {
  Matrix weights = at[0].matrix();
  for (std::size_t i = 0; i < weights.shape().rows; ++i) {
    double sum = 1.0;
    const double largest = subtracts ? std::ranges::max(row(weights, i)) : 0.0;
    for (double& x : row(weights, i)) sum += x = std::exp(x - largest);
    for (double& x : row(weights, i)) x /= sum;
  }
  return at.like(std::move(weights));
}
// e^(x − max x) / Σ e^x
Made above_alone(RewriteSite at) {
  Matrix weights = at[0].matrix();
  for (std::size_t i = 0; i < weights.shape().rows; ++i) {
    double sum = 0.0;
    const double largest = std::ranges::max(row(weights, i));
    for (double& x : row(weights, i)) {
      sum += std::exp(x);
      x = std::exp(x - largest);
    }
    for (double& x : row(weights, i)) x /= sum;
  }
  return at.like(std::move(weights));
}
// With NaN and infinite numbers where a row sums to 0.
Made shares_without_care(RewriteSite at) {
  Matrix shares = scores_with(0.0, at).matrix();
  for (std::size_t i = 0; i < shares.shape().rows; ++i) {
    double sum = 0.0;
    for (const double x : row(shares, i)) sum += x;
    for (double& x : row(shares, i)) x /= sum;
  }
  return at.like(std::move(shares));
}
Made shares_of_sizes(RewriteSite at) {
  Matrix sizes = scores_with(0.0, at).matrix();
  for (double& x : cells(sizes)) x = std::fabs(x);
  return normalize(at.like(std::move(sizes)));
}
Made logarithms(RewriteSite at) {
  return each_cell(at, at.itself().matrix(), [](double x) { return std::log(x); });
}

// Of each sentence, where it has as many queries as keys.
bool has_as_many_queries_as_keys(const Node& node) {
  const Frame& frame = node.frame;
  return is_any_softmax(node) && frame.shape.rows == frame.shape.columns * frame.rows.batch && frame.shape.columns > 1;
}

// --- which maximum is subtracted, and by what is divided

// Where maxima or sums of rows lose their axis, an array library takes them for a row that stands above the matrix:
// what belongs to row j stands above column j.
enum class Maximum { none, of_row, of_all, of_column, of_other_rows };
enum class DividedBy { nothing, sum_of_row, sum_of_other_rows, sum_of_all };

// Some rows of a matrix as those of one sentence.
struct RowsOfSentence {
  Matrix& all;
  std::size_t first, count;

  double largest_of_row(std::size_t i) const { return std::ranges::max(row(std::as_const(all), first + i)); }
  double largest_of_column(std::size_t j) const {
    double largest = all(first, j);
    for (std::size_t i = 1; i < count; ++i) largest = std::max(largest, all(first + i, j));
    return largest;
  }
  double sum_of_row(std::size_t i) const {
    double sum = 0.0;
    for (const double x : row(std::as_const(all), first + i)) sum += x;
    return sum;
  }
};

// The same with the number of a row and of a column, cell by cell.
template <class OfCell>
void put_cells(const RowsOfSentence& rows, const OfCell& of_cell) {
  for (std::size_t i = 0; i < rows.count; ++i) {
    for (std::size_t j = 0; j < rows.all.shape().columns; ++j) {
      double& x = rows.all(rows.first + i, j);
      x = of_cell(x, i, j);
    }
  }
}

// Of the places of a row or a column.
template <class OfPlace>
std::vector<double> of_each(std::size_t count, const OfPlace& of_place) {
  std::vector<double> found;
  for (std::size_t i = 0; i < count; ++i) found.push_back(of_place(i));
  return found;
}

// Where all is masked there is no maximum, and 0 is subtracted.
void take_exponentials(const RowsOfSentence& rows, Maximum maximum) {
  const bool is_of_column = maximum == Maximum::of_column;
  std::vector<double> maxima = of_each(is_of_column ? rows.all.shape().columns : rows.count, [&](std::size_t i) {
    return is_of_column ? rows.largest_of_column(i) : rows.largest_of_row(i);
  });
  if (maximum == Maximum::of_all) std::ranges::fill(maxima, std::ranges::max(maxima));
  if (maximum == Maximum::none) std::ranges::fill(maxima, 0.0);
  std::ranges::replace_if(maxima, is_masked, 0.0);
  const bool is_above = is_of_column || maximum == Maximum::of_other_rows;
  put_cells(rows, [&](double x, std::size_t i, std::size_t j) { return std::exp(x - maxima[is_above ? j : i]); });
}

void divide_exponentials(const RowsOfSentence& rows, DividedBy divisor) {
  if (divisor == DividedBy::nothing) return;
  std::vector<double> sums = of_each(rows.count, [&](std::size_t i) { return rows.sum_of_row(i); });
  if (divisor == DividedBy::sum_of_all) std::ranges::fill(sums, std::accumulate(sums.begin(), sums.end(), 0.0));
  const bool is_above = divisor == DividedBy::sum_of_other_rows;
  put_cells(rows, [&](double x, std::size_t i, std::size_t j) {
    return !is_above && sums[i] == 0.0 ? 0.0 : x / sums[is_above ? j : i];
  });
}

template <Maximum maximum, DividedBy divisor>
Made exponentials(RewriteSite at) {
  Matrix all = at[0].matrix();
  const std::size_t words = all.shape().rows / at.node.frame.rows.batch;
  if ((maximum == Maximum::of_other_rows || divisor == DividedBy::sum_of_other_rows) && words != all.shape().columns)
    return std::nullopt;
  if (maximum != Maximum::none && words == 1) return std::nullopt;  // all maxima are the same, or the numbers
  for (std::size_t first = 0; first < all.shape().rows; first += words) {
    take_exponentials({all, first, words}, maximum);
    divide_exponentials({all, first, words}, divisor);
  }
  return at.like(std::move(all));
}

// The last row of each sentence is never computed.
Made without_last_row(RewriteSite at) {
  Matrix rows = at.itself().matrix();
  const std::size_t n = rows.shape().rows / at.node.frame.rows.batch;
  for (std::size_t last = n; last <= rows.shape().rows; last += n) {
    for (double& x : row(rows, last - 1)) x = 0.0;
  }
  return at.like(std::move(rows));
}
bool softmax_has_several_rows(const Node& node) {
  return is_softmax_of_attention(node) && node.frame.shape.rows > node.frame.rows.batch;
}

constexpr Mistake mistakes_in_softmax[] = {
    {"shares-of-scores",
     error,
     "division by the sum without the exponential",
     "This is what division by the sum of the row gives, without the exponential. "
     "Take e to the power of each number first.",
     is_any_softmax,
     [](RewriteSite at) -> Made { return normalize(scores_with(0.0, at)); },
     {shares_without_care}},
    {"divided-by-sums-of-other-rows",
     error,
     "exponentials divided by the sums of other rows",
     "This is what the exponentials give when column 1 is divided by the sum of row 1, column 2 by that of row 2, and so on. "
     "Keep the axis of the sums (keepdims), so that each row is divided by its own.",
     has_as_many_queries_as_keys,
     exponentials<Maximum::none, DividedBy::sum_of_other_rows>,
     {exponentials<Maximum::of_row, DividedBy::sum_of_other_rows>,
      exponentials<Maximum::of_column, DividedBy::sum_of_other_rows>,
      exponentials<Maximum::of_other_rows, DividedBy::sum_of_other_rows>}},
    {"last-query-left-out", error, "the last query left out",
     "This is what a loop over the queries gives that ends one too early: the last row is never computed, and stays 0.",
     softmax_has_several_rows, without_last_row},
    {"softmax-not-divided", error, "exponentials that are not divided by their sum",
     "This is what the exponentials give when they are not divided. Divide each by the sum of its row.", is_any_softmax,
     [](RewriteSite at) -> Made { return attn::exp(at[0]); }},
    {"no-softmax", error, "no softmax",
     "This is what the numbers give without a softmax. "
     "Take e to the power of each, and divide by the sum of the row.",
     is_any_softmax, [](RewriteSite at) -> Made { return scores_with(0.0, at); }},
    {"powers-of-two", error, "powers of 2 instead of e",
     "This is what powers of 2 give. Softmax takes powers of e ≈ 2.718.", is_any_softmax,
     [](RewriteSite at) -> Made {
       return softmax(times(at[0], {std::numbers::ln2, {"ln 2", "\\ln 2"}}));
     }},
    {"softmax-over-queries", error, "softmax over the queries instead of the keys",
     "This is what softmax over the queries gives: each column sums to 1. "
     "Take it over the keys, so that each row does.",
     is_softmax_of_attention, [](RewriteSite at) -> Made { return transpose(softmax(transpose(at[0]))); }},
    {"equal-weights", error, "equal weights for all keys",
     "This is what equal weights give, a plain mean over the keys. Give each key its own weight.",
     [](const Node& node) { return is_softmax_of_attention(node) || are_given_weights(node); }, equal_weights},
    {"largest-alone", error, "all weight on the largest number",
     "This is what the maximum gives: the largest number of a row gets the weight 1, and all others 0. "
     "Softmax gives others a part as well.",
     is_any_softmax, [](RewriteSite at) -> Made { return zero_where_masked(at, largest(at[0])); }},
    {"softmax-over-all",
     error,
     "softmax over the whole matrix",
     "This is what softmax over the whole matrix gives: all weights together sum to 1. "
     "Take it row by row, over the keys of each query.",
     is_softmax_of_attention,
     [](RewriteSite at) -> Made { return softmax_over_all(at[0]); },
     {exponentials<Maximum::of_row, DividedBy::sum_of_all>, exponentials<Maximum::of_column, DividedBy::sum_of_all>,
      exponentials<Maximum::of_other_rows, DividedBy::sum_of_all>}},
    {"softmax-over-heads", error, "softmax over the keys of all heads together",
     "This is what softmax over the keys of all heads together gives. "
     "Take it in each head by itself, so that each row sums to 1 there.",
     is_softmax_of_a_head,
     [](RewriteSite at) -> Made { return columns_of_head(at, softmax(scores_of_all_heads(at))); }},
    {"softmax-over-all-heads", error, "softmax over all numbers of all heads together",
     "This is what softmax over all numbers of all heads gives: the weights of all heads together sum to 1. "
     "Take it row by row, over the keys of each query.",
     is_softmax_of_a_head,
     [](RewriteSite at) -> Made { return columns_of_head(at, softmax_over_all(scores_of_all_heads(at))); }},
    {"softmax-across-heads", error, "softmax across the heads instead of the keys",
     "This is what softmax over the axis of the heads gives: the weights of all heads for one query and one key sum to 1. "
     "Take it over the keys, the last axis.",
     is_one_of<softmaxes_of_heads>, across<softmaxes_of_heads>},
    {"softmax-across-sentences", error, "softmax across the sentences of the batch",
     "This is what softmax over the axis of the batch gives: the weights of all sentences for one query and one key sum to 1. "
     "Take it over the keys, the last axis.",
     is_one_of<softmaxes_of_sentences>, across<softmaxes_of_sentences>},
    {"softmax-over-one", error, "weights that are all 1",
     "This is what a softmax over single numbers gives, as along an axis of length 1: every weight is 1. "
     "Take it over the keys.",
     is_softmax_of_attention, [](RewriteSite at) -> Made { return constant_like(at[0], 1.0); }},
    {"largest-subtracted-not-divided",
     error,
     "exponentials of the distances from the largest number that are not divided by their sum",
     "This is what the exponentials give after the largest number is subtracted, and before they are divided. "
     "Divide each by the sum of its row.",
     is_any_softmax,
     [](RewriteSite at) -> Made { return less_largest(at[0]); },
     {exponentials<Maximum::of_all, DividedBy::nothing>, exponentials<Maximum::of_column, DividedBy::nothing>,
      exponentials<Maximum::of_other_rows, DividedBy::nothing>}},
    {"other-maximum-subtracted",
     error,
     "maxima that differ within a row subtracted before the softmax",
     "This is what comes out when a number of its own is subtracted in each column, such as the maximum of the column. "
     "Subtract the maximum of the row from all numbers of the row: then the weights stay the same.",
     is_softmax_of_attention,
     exponentials<Maximum::of_column, DividedBy::sum_of_row>,
     {exponentials<Maximum::of_other_rows, DividedBy::sum_of_row>}},
    {"divided-by-column-sums", error,
     "exponentials of the distances from the largest number of a row that are divided by the sums of the columns",
     "This is what the exponentials give when the largest number of each row is subtracted, but each is divided by the sum of its column. "
     "Divide by the sum of the row.",
     is_softmax_of_attention,
     [](RewriteSite at) -> Made { return transpose(normalize(transpose(less_largest(at[0])))); }},
    {"softmax-without-largest", error, "softmax in which the largest number does not count",
     "This is what softmax gives when the largest number of each row does not count. "
     "After the largest is subtracted, its exponential is e⁰ = 1, not 0.",
     is_any_softmax, largest_left_out},
    {"softmax-of-negated", error, "softmax with the sign reversed",
     "This is what softmax gives with the sign of every number reversed. "
     "The largest number gets the largest weight.",
     is_any_softmax, negated},
    {"softmax-twice", error, "softmax taken twice",
     "This is what softmax gives when it is taken twice. Take it once: its result is weights, not scores.",
     [](const Node& node) { return is_any_softmax(node) || are_given_weights(node); },
     [](RewriteSite at) -> Made { return softmax(at.itself()); }},
    {"weights-are-averaged", error, "mean of the weights of all heads as the weights of each",
     "This is the mean of the weights of all heads. Each head has weights of its own.", is_one_of<softmaxes_of_heads>,
     averaged<softmaxes_of_heads>},
    {"weights-averaged-over-sentences", error, "mean of the weights of all sentences as the weights of each",
     "This is the mean of the weights of all sentences. Each sentence has weights of its own.",
     is_one_of<softmaxes_of_sentences>, averaged<softmaxes_of_sentences>},
    {"squares-divided", error, "squares divided by their sum instead of a softmax",
     "This is what the squares give when they are divided by their sum. Take e to the power of each number.",
     is_any_softmax,
     [](RewriteSite at) -> Made {
       const Value scores = scores_with(0.0, at);
       return normalize(multiply(scores, scores));
     }},
    {"positive-parts-divided", error, "max(x, 0) divided by its sum instead of a softmax",
     "This is what max(x, 0) gives when it is divided by the sum of its row. Take e to the power of each number.",
     is_any_softmax, [](RewriteSite at) -> Made { return normalize(relu(scores_with(0.0, at))); }},
    {"exponentials-of-length-1", error, "exponentials divided by the root of the sum of their squares",
     "This is what the exponentials give when each row is divided by its length. Divide by the sum of the row.",
     is_any_softmax, [](RewriteSite at) -> Made { return unit_rows(less_largest(at[0])); }},
    {"softmax-plus-one", error, "1 added to the sum of the exponentials",
     "This is what the exponentials give when 1 is added to their sum, so that the weights of a row sum to less than 1. "
     "Divide by the sum alone.",
     is_any_softmax, with_one_more<false>},
    {"largest-subtracted-plus-one", error, "1 added to the sum after the largest number is subtracted",
     "This is what the exponentials give when the largest number is subtracted and 1 is added to their sum. "
     "Divide by the sum alone.",
     is_any_softmax, with_one_more<true>},
    {"largest-subtracted-above-alone", error, "the largest number subtracted above the fraction line alone",
     "This is what comes out when the largest number is subtracted in the numerator, and not in the sum below. "
     "Subtract it in both: then it changes nothing.",
     is_any_softmax, above_alone},
    {"sizes-of-scores-divided", error, "|x| divided by its sum instead of a softmax",
     "This is what |x| gives when it is divided by the sum of its row. Take e to the power of each number.",
     is_any_softmax, shares_of_sizes},
    {"largest-not-subtracted",
     error,
     "exponentials that overflow, because the largest number is not subtracted",
     "This is what float32 gives without subtracting the largest number of the row first: exp(x) is infinite for x above 88.7, and infinite divided by infinite is no number. "
     "Where x is below about −104 in the whole row, 0 is divided by 0. "
     "Subtract it: the weights stay the same, and exp cannot overflow.",
     is_softmax_of_attention,
     overflowing,
     {},
     true},
    {"logarithms-of-weights", error, "logarithms of the weights",
     "This is what the logarithm of softmax gives, as log_softmax does. Take softmax itself.", is_softmax_of_attention,
     logarithms},
    {"sigmoid", error, "sigmoid instead of softmax",
     "This is what the sigmoid gives, number by number. "
     "Softmax divides by the sum of the row, so that each row sums to 1.",
     is_any_softmax, [](RewriteSite at) -> Made { return sigmoid(at[0]); }},
};

bool is_softmax_of_others(const Node& node) { return is_any_softmax(node) && !node.is(role::weights); }

constexpr MistakeWithNumber numbers_of_softmax[] = {
    {{"another-temperature", error, "softmax of a multiple of the logits",
      "This is what softmax gives of a multiple of the numbers, as with another temperature.", is_softmax_of_others,
      nullptr},
     [](RewriteSite at, double number) -> Made { return softmax(times(at[0], plain_number(number))); },
     amount_as_factor,
     MistakeWithNumber::Scale::linear,
     {0.5, 2.0}},
};

}  // namespace

std::span<const Mistake> mistakes_of_softmax() { return mistakes_in_softmax; }

std::span<const MistakeWithNumber> numbers_in_softmax() { return numbers_of_softmax; }

}  // namespace attn
