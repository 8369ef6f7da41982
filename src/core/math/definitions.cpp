#include "core/math/definitions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/math/xtensor.hpp"

namespace attn::definition {
namespace {

using xt::all;
using xt::newaxis;
using xt::range;
using xt::view;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon_of_double = std::numeric_limits<double>::epsilon();

// The rows from `first` on.
Rows part(Rows x, std::size_t first, std::size_t count) {
  return {x.row(first).data(), first, {count, x.shape.columns}};
}

// The rows beside those of the result, or the only one for all.
auto beside(Rows x, RowsToMake result) {
  return lent(x.shape.rows == 1 ? x : part(x, result.first, result.shape.rows));
}

// 0, 1, 2 … as a row.
auto counted(std::size_t count) { return xt::arange(static_cast<double>(count)); }

// Some rows in any order, one as often as it is asked for.
auto gathered(Rows x, std::vector<std::size_t> places) {
  for (std::size_t& place : places) place -= x.first;
  return view(lent(x), xt::keep(places), all());
}

// Both, one after the other along an axis. The result is a new array, because xtensor 0.27 writes an array
// that is assigned what it is part of before it is read, and says nothing.
template <class Expression>
Numbers joined(const Numbers& a, const Expression& b, std::size_t axis) {
  return xt::concatenate(xt::xtuple(a, b), axis);
}

// i / base^(2j/d) for each row's position i and each frequency j.
template <class Frequencies>
Numbers angles_of(Waves waves, const Frequencies& frequencies, RowsToMake result) {
  const auto d = static_cast<double>(result.shape.columns);
  const auto begin = static_cast<double>(waves.first + result.first);
  const Numbers positions = view(counted(result.shape.rows) + begin, all(), newaxis());
  return positions / xt::pow(waves.base, 2.0 * frequencies / d);
}

// The query and the key of every pair: pair (i, j) of n_k keys is row i·n_k + j.
struct Pairs {
  Pairs(RowsToMake result, std::size_t n_k) {
    for (std::size_t pair = result.first; pair < result.end(); ++pair) {
      queries.push_back(pair / n_k);
      keys.push_back(pair % n_k);
    }
  }
  std::vector<std::size_t> queries, keys;
};

}  // namespace

// --- cells

void add(Rows x, Rows y, RowsToMake result) { set(result, beside(x, result) + beside(y, result)); }

void subtract(Rows x, Rows y, RowsToMake result) { set(result, beside(x, result) - beside(y, result)); }

void multiply(Rows x, Rows y, RowsToMake result) { set(result, beside(x, result) * beside(y, result)); }

void divide(Rows x, double divisor, RowsToMake result) { set(result, beside(x, result) / divisor); }

void times(Rows x, double factor, RowsToMake result) { set(result, beside(x, result) * factor); }

void tanh(Rows x, RowsToMake result) { set(result, xt::tanh(beside(x, result))); }

void sigmoid(Rows x, RowsToMake result) { set(result, 1.0 / (1.0 + xt::exp(-beside(x, result)))); }

void relu(Rows x, RowsToMake result) { set(result, xt::maximum(beside(x, result), 0.0)); }

void gelu(Rows x, RowsToMake result) {
  set(result, 0.5 * beside(x, result) * (1.0 + xt::erf(beside(x, result) * std::numbers::sqrt2 / 2.0)));
}

void gelu_by_tanh(Rows x, RowsToMake result) {
  set(result, 0.5 * beside(x, result) *
                  (1.0 + xt::tanh(std::sqrt(2.0 / std::numbers::pi) *
                                  (beside(x, result) + 0.044715 * xt::cube(beside(x, result))))));
}

void silu(Rows x, RowsToMake result) { set(result, beside(x, result) / (1.0 + xt::exp(-beside(x, result)))); }

void exp(Rows x, RowsToMake result) { set(result, xt::exp(beside(x, result))); }

void tanh_gradient(Rows d, Rows y, RowsToMake result) {
  set(result, beside(d, result) * (1.0 - xt::square(beside(y, result))));
}

void sigmoid_gradient(Rows d, Rows y, RowsToMake result) {
  set(result, beside(d, result) * beside(y, result) * (1.0 - beside(y, result)));
}

void relu_gradient(Rows d, Rows y, RowsToMake result) {
  set(result, xt::where(beside(y, result) > 0.0, beside(d, result), 0.0));
}

void gelu_gradient(Rows d, Rows x, RowsToMake result) {
  const double root = std::sqrt(2.0 * std::numbers::pi);
  const Numbers density = xt::exp(-xt::square(beside(x, result)) / 2.0) / root;
  const Numbers below = 0.5 * (1.0 + xt::erf(beside(x, result) * std::numbers::sqrt2 / 2.0));
  set(result, beside(d, result) * (below + beside(x, result) * density));
}

void gelu_by_tanh_gradient(Rows d, Rows x, RowsToMake result) {
  const double slope = std::sqrt(2.0 / std::numbers::pi);
  const Numbers bent = xt::tanh(slope * (beside(x, result) + 0.044715 * xt::cube(beside(x, result))));
  const Numbers inner = slope * (1.0 + 3.0 * 0.044715 * xt::square(beside(x, result)));
  set(result, beside(d, result) * (0.5 * (1.0 + bent) + 0.5 * beside(x, result) * (1.0 - xt::square(bent)) * inner));
}

void silu_gradient(Rows d, Rows x, RowsToMake result) {
  const Numbers s = 1.0 / (1.0 + xt::exp(-beside(x, result)));
  set(result, beside(d, result) * s * (1.0 + beside(x, result) * (1.0 - s)));
}

void identity(Rows x, RowsToMake result) { set(result, beside(x, result)); }

// --- products

void matmul(Rows a, Rows b, RowsToMake result) {
  set(result, sum_of_last(view(beside(a, result), all(), newaxis(), all()) *
                          view(xt::transpose(lent(b)), newaxis(), all(), all())));
}

void matmul_transposed(Rows a, Rows b, RowsToMake result) {
  set(result, sum_of_last(view(beside(a, result), all(), newaxis(), all()) * view(lent(b), newaxis(), all(), all())));
}

void transposed_matmul(Rows a, Rows b, RowsToMake result) {
  set(result, sum_of_last(view(xt::transpose(lent(a)), range(result.first, result.end()), newaxis(), all()) *
                          view(xt::transpose(lent(b)), newaxis(), all(), all())));
}

// --- masks

void replace(Rows x, Rows allowed, double fill, RowsToMake result) {
  set(result, xt::where(xt::not_equal(beside(allowed, result), 0.0), beside(x, result), fill));
}

void mask(Rows scores, Rows allowed, double fill, RowsToMake result) {
  const Numbers most = largest_of_rows(xt::abs(beside(allowed, result)));
  set(result, xt::where(xt::not_equal(beside(allowed, result), 0.0), beside(scores, result),
                        xt::where(xt::equal(most, 0.0), -infinity, fill)));
}

// --- weights

void softmax(Rows scores, RowsToMake weights) {
  const Numbers most = largest_of_rows(beside(scores, weights));
  set(weights, xt::where(xt::equal(most, -infinity), 0.0, xt::exp(beside(scores, weights) - most)));
  const Numbers sums = sum_of_rows(lent(weights));
  set(weights, lent(weights) / xt::where(xt::equal(sums, 0.0), 1.0, sums));
}

void normalize(Rows x, RowsToMake weights) {
  const Numbers sums = sum_of_rows(beside(x, weights)), sizes = sum_of_rows(xt::abs(beside(x, weights)));
  const double rounding = static_cast<double>(x.shape.columns) * epsilon_of_double;
  set(weights, xt::where(xt::abs(sums) <= rounding * sizes, 0.0, beside(x, weights) / sums));
}

void uniform(RowsToMake weights) {
  const auto n = static_cast<double>(weights.shape.columns);
  set(weights, xt::broadcast(1.0 / n, {weights.shape.rows, weights.shape.columns}));
}

void largest(Rows scores, RowsToMake weights) {
  const Numbers places = places_of_largest(beside(scores, weights));
  set(weights, xt::cast<double>(xt::equal(counted(weights.shape.columns), places)));
}

// --- numbers of rows

void row_means(Rows x, RowsToMake means) { set(means, mean_of_rows(beside(x, means))); }

void row_variances(Rows x, Rows means, RowsToMake variances) {
  set(variances, mean_of_rows(xt::square(beside(x, variances) - beside(means, variances))));
}

void half_squared_norms(Rows x, RowsToMake result) { set(result, sum_of_rows(xt::square(beside(x, result))) / 2.0); }

void unit_rows(Rows x, RowsToMake result) {
  // Divided by its largest number first, a row of any numbers has squares that a double can hold.
  const Numbers most = largest_of_rows(xt::abs(beside(x, result)));
  const Numbers near_one = beside(x, result) / xt::where(xt::equal(most, 0.0), 1.0, most);
  const Numbers lengths = xt::sqrt(sum_of_rows(xt::square(near_one)));
  set(result, near_one / xt::where(xt::equal(lengths, 0.0), 1.0, lengths));
}

void standardize(Rows x, Rows means, Rows variances, double epsilon, RowsToMake result) {
  set(result, (beside(x, result) - beside(means, result)) / xt::sqrt(beside(variances, result) + epsilon));
}

void divide_by_root_mean_square(Rows x, double epsilon, RowsToMake result) {
  const Numbers squares = mean_of_rows(xt::square(beside(x, result)));
  set(result, beside(x, result) / xt::sqrt(squares + epsilon));
}

void softmax_gradient(Rows d, Rows weights, RowsToMake result) {
  const Numbers means = sum_of_rows(beside(weights, result) * beside(d, result));
  set(result, beside(weights, result) * (beside(d, result) - means));
}

void normalize_gradient(Rows d, Rows y, Rows x, RowsToMake result) {
  const Numbers sums = sum_of_rows(beside(x, result)), sizes = sum_of_rows(xt::abs(beside(x, result)));
  const Numbers means = sum_of_rows(beside(y, result) * beside(d, result));
  const double rounding = static_cast<double>(x.shape.columns) * epsilon_of_double;
  set(result, xt::where(xt::abs(sums) <= rounding * sizes, 0.0, (beside(d, result) - means) / sums));
}

void row_variances_gradient(Rows x, Rows means, Rows d, RowsToMake result) {
  const auto count = static_cast<double>(x.shape.columns);
  set(result, 2.0 / count * (beside(x, result) - beside(means, result)) * beside(d, result));
}

void divide_by_deviation(Rows d, Rows variances, double epsilon, RowsToMake result) {
  set(result, beside(d, result) / xt::sqrt(beside(variances, result) + epsilon));
}

void root_mean_square_gradient(Rows d, Rows x, double epsilon, RowsToMake result) {
  const Numbers squares = mean_of_rows(xt::square(beside(x, result))) + epsilon;
  const Numbers products = mean_of_rows(beside(d, result) * beside(x, result));
  set(result, (beside(d, result) - beside(x, result) * products / squares) / xt::sqrt(squares));
}

void unit_rows_gradient(Rows d, Rows y, Rows x, RowsToMake result) {
  const Numbers most = largest_of_rows(xt::abs(beside(x, result)));
  const Numbers scale = xt::where(xt::equal(most, 0.0), 1.0, most);
  const Numbers lengths = scale * xt::sqrt(sum_of_rows(xt::square(beside(x, result) / scale)));
  const Numbers along = sum_of_rows(beside(y, result) * beside(d, result));
  const Numbers across = beside(d, result) - beside(y, result) * along;
  set(result, xt::where(xt::equal(lengths, 0.0), 0.0, across / lengths));
}

// --- sums

void row_sums(Rows x, RowsToMake sums) { set(sums, sum_of_rows(beside(x, sums))); }

void sum_rows(Rows x, RowGroups groups, RowsToMake sums) {
  const std::size_t rows_of_part = x.shape.rows / groups.parts;
  for (std::size_t r = sums.first; r < sums.end(); ++r) {
    const std::size_t first = r / groups.apart * rows_of_part;
    const Numbers those = view(lent(x), range(first + r % groups.apart, first + rows_of_part, groups.apart), all());
    const RowsToMake row{sums.row(r).data(), r, {1, sums.shape.columns}};
    set(row, xt::transpose(sum_of_rows(xt::transpose(those))));
  }
}

void repeat_rows(Rows x, RowGroups groups, std::size_t times, RowsToMake result) {
  std::vector<std::size_t> places;
  const std::size_t rows_of_part = groups.apart * times;
  for (std::size_t i = result.first; i < result.end(); ++i) {
    places.push_back(i / rows_of_part * groups.apart + i % groups.apart);
  }
  set(result, gathered(x, places));
}

void repeat_columns(Rows x, RowsToMake result) {
  set(result, xt::broadcast(beside(x, result), {result.shape.rows, result.shape.columns}));
}

// --- losses

namespace {

// What the logits of each row should have come to: 1 at the id, or what smoothing leaves of it.
Numbers targets_of(Rows ids, double smoothing, RowsToMake result, std::size_t words) {
  const Numbers at_id = xt::cast<double>(xt::equal(counted(words) + 1.0, beside(ids, result)));
  return (1.0 - smoothing) * at_id + smoothing / static_cast<double>(words);
}

}  // namespace

void cross_entropy(Rows logits, Rows ids, double smoothing, RowsToMake result) {
  const Numbers shifted = beside(logits, result) - largest_of_rows(beside(logits, result));
  const Numbers targets = targets_of(ids, smoothing, result, logits.shape.columns);
  set(result, xt::log(sum_of_rows(xt::exp(shifted))) - sum_of_rows(targets * shifted));
}

void cross_entropy_gradient(Rows logits, Rows ids, Rows d, double smoothing, RowsToMake result) {
  const Numbers targets = targets_of(ids, smoothing, result, logits.shape.columns);
  const Numbers powers = xt::exp(beside(logits, result) - largest_of_rows(beside(logits, result)));
  const Numbers sums = sum_of_rows(powers);
  set(result, (powers / sums - targets) * beside(d, result));
}

// --- pairs

void minus_half_squared_distances(Rows q, Rows k, RowsToMake result) {
  set(result, 0.0 - sum_of_last(xt::square(view(beside(q, result), all(), newaxis(), all()) -
                                           view(lent(k), newaxis(), all(), all()))) /
                        2.0);
}

void pairwise_sum(Rows q, Rows k, RowsToMake result) {
  const Pairs pairs(result, k.shape.rows);
  set(result, gathered(q, pairs.queries) + gathered(k, pairs.keys));
}

void pairs(Rows q, Rows k, RowsToMake result) {
  const Pairs pairs(result, k.shape.rows);
  set(result, xt::concatenate(xt::xtuple(gathered(q, pairs.queries), gathered(k, pairs.keys)), 1));
}

void unpair(Rows pairs, RowsToMake result) {
  set(result, lent({pairs.row(result.first * result.shape.columns).data(), result.first, result.shape}));
}

void pairs_of(Rows x, RowsToMake result) {
  const std::size_t n = x.shape.columns;
  for (std::size_t pair = result.first; pair < result.end(); ++pair) {
    const RowsToMake cell{result.row(pair).data(), pair, {1, 1}};
    set(cell, view(lent(part(x, pair / n, 1)), all(), range(pair % n, pair % n + 1)));
  }
}

void sum_by_distance(Rows d, std::size_t rows_of_table, RowsToMake table) {
  const auto most = static_cast<double>(table.shape.columns / 2);
  set(table, xt::broadcast(0.0, {table.shape.rows, table.shape.columns}));
  const bool for_all = rows_of_table == 1;
  for (std::size_t i = for_all ? 0 : table.first; i < (for_all ? d.end() : table.end()); ++i) {
    const Numbers places =
        view(xt::clip(counted(d.shape.columns) - static_cast<double>(i), -most, most) + most, newaxis(), all());
    const Numbers columns = view(counted(table.shape.columns), all(), newaxis());
    const Numbers there = xt::cast<double>(xt::equal(places, columns));
    const RowsToMake row{table.row(for_all ? 0 : i).data(), i, {1, table.shape.columns}};
    set(row, lent(row) + xt::transpose(sum_of_rows(there * lent(part(d, i, 1)))));
  }
}

void by_distance(Rows table, RowsToMake result) {
  const auto most = static_cast<double>(table.shape.columns / 2);
  for (std::size_t i = result.first; i < result.end(); ++i) {
    const xt::xtensor<std::size_t, 1> places =
        xt::clip(counted(result.shape.columns) - static_cast<double>(i), -most, most) + most;
    const Rows distances = table.shape.rows == 1 ? table : part(table, i, 1);
    set({result.row(i).data(), i, {1, result.shape.columns}}, view(lent(distances), all(), xt::keep(places)));
  }
}

// --- tables

void embed(Rows ids, Rows table, RowsToMake result) {
  const xt::xtensor<std::size_t, 2> places = beside(ids, result) - 1.0;
  set(result, gathered(table, {places.begin(), places.end()}));
}

void one_hot(Rows ids, RowsToMake result) {
  set(result, xt::cast<double>(xt::equal(counted(result.shape.columns) + 1.0, beside(ids, result))));
}

void add_rows_by_id(Rows ids, Rows d, RowsToMake result) {
  const auto first = static_cast<double>(result.first) + 1.0;
  const Numbers those = view(counted(result.shape.rows) + first, all(), newaxis());
  const Numbers is_of = xt::cast<double>(xt::equal(those, xt::transpose(lent(ids))));
  set(result,
      sum_of_last(view(is_of, all(), newaxis(), all()) * view(xt::transpose(lent(d)), newaxis(), all(), all())));
}

void sinusoid(Rows frequencies, Rows is_sine, Waves waves, RowsToMake result) {
  const Numbers angles = angles_of(waves, lent(frequencies), result);
  set(result, xt::where(xt::not_equal(lent(is_sine), 0.0), xt::sin(angles), xt::cos(angles)));
}

namespace {

// By the angles of the positions, or the opposite ones.
void turn(Rows x, Waves waves, double sign, RowsToMake result) {
  const std::size_t d = result.shape.columns;
  const Numbers pairs = view(counted(d / 2), newaxis(), all());
  const Numbers angles = sign * angles_of(waves, pairs, result), whole = beside(x, result);
  const Numbers first = view(whole, all(), range(0, d, 2)), second = view(whole, all(), range(1, d, 2));
  Numbers turned = whole;
  view(turned, all(), range(0, d, 2)) = first * xt::cos(angles) - second * xt::sin(angles);
  view(turned, all(), range(1, d, 2)) = first * xt::sin(angles) + second * xt::cos(angles);
  set(result, turned);
}

}  // namespace

void rotate(Rows x, Waves waves, RowsToMake result) { turn(x, waves, 1.0, result); }

void rotate_back(Rows x, Waves waves, RowsToMake result) { turn(x, waves, -1.0, result); }

// --- places

void rows(Rows x, std::size_t first, RowsToMake result) {
  set(result, lent(part(x, first + result.first, result.shape.rows)));
}

void columns(Rows x, std::size_t first, RowsToMake result) {
  set(result, view(beside(x, result), all(), range(first, first + result.shape.columns)));
}

void reshape(Rows x, RowsToMake result) {
  const std::size_t begin = result.first * result.shape.columns - x.first * x.shape.columns;
  set(result, lent({x.cells + begin, result.first, result.shape}));
}

void rows_among_zeros(Rows x, std::size_t first, RowsToMake result) {
  set(result, xt::broadcast(0.0, {result.shape.rows, result.shape.columns}));
  const std::size_t begin = std::max(result.first, first), end = std::min(result.end(), first + x.shape.rows);
  if (begin >= end) return;
  const RowsToMake those{result.row(begin).data(), begin, {end - begin, result.shape.columns}};
  set(those, lent(part(x, begin - first, end - begin)));
}

void columns_among_zeros(Rows x, std::size_t first, RowsToMake result) {
  Numbers whole = xt::zeros<double>({result.shape.rows, result.shape.columns});
  view(whole, all(), range(first, first + x.shape.columns)) = beside(x, result);
  set(result, whole);
}

void concatenate(std::span<const Rows> parts, RowsToMake result) {
  Numbers whole = Numbers::from_shape({result.shape.rows, 0});
  for (const Rows& part : parts) whole = joined(whole, beside(part, result), 1);
  set(result, whole);
}

void stack(std::span<const Rows> parts, RowsToMake result) {
  Numbers whole = Numbers::from_shape({0, result.shape.columns});
  for (const Rows& part : parts) whole = joined(whole, lent(part), 0);
  set(result, view(whole, range(result.first, result.end()), all()));
}

void transpose(Rows x, RowsToMake result) {
  set(result, view(xt::transpose(lent(x)), range(result.first, result.end()), all()));
}

}  // namespace attn::definition
