#include "core/math/difference.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "core/support/number.hpp"

namespace attn {
namespace {

// A mistake may put a huge number beside small ones, such as a mask value: it makes their computation no less exact.
double largest_that_counts(const Matrix& other, const Rounding& rounding) {
  return rounding.goes_by_largest() ? std::min(largest_of(other), rounding.largest()) : 0.0;
}

void insert_in_order(std::vector<std::size_t>& places, std::size_t place) {
  const auto at = std::ranges::lower_bound(places, place);
  if (at == places.end() || *at != place) places.insert(at, place);
}

}  // namespace

double distance(double one, double other) {
  const double apart = std::fabs(one - other);
  return one == other ? 0.0 : std::isfinite(apart) ? apart : std::numeric_limits<double>::infinity();
}

bool Difference::is_small() const { return is_rounding(largest); }

bool Difference::add(std::size_t at_row, std::size_t at_column, double apart) {
  insert_in_order(rows, at_row);
  insert_in_order(columns, at_column);
  const double finite_or_not = std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
  const bool is_largest = ++cells == 1 || finite_or_not > largest;
  if (!is_largest) return false;
  largest = finite_or_not;
  change = apart;
  row = at_row;
  column = at_column;
  return true;
}

Difference difference(const Matrix& one, const Matrix& other, const Rounding& rounding) {
  Difference all;
  all.has_other_shape = one.shape() != other.shape();
  if (all.has_other_shape) return all;
  const double largest = largest_that_counts(other, rounding);
  for (std::size_t i = 0; i < other.shape().rows; ++i) {
    const std::span<const double> a = row(one, i), b = row(other, i);
    for (std::size_t j = 0; j < b.size(); ++j) {
      if (!rounding.same(a[j], b[j], largest)) all.add(i, j, std::fabs(b[j] - a[j]));
    }
  }
  return all;
}

double largest_difference(const Matrix& one, const Matrix& other) {
  const Difference all = difference(one, other);
  if (all.has_other_shape) {
    throw std::logic_error("a " + to_string(one.shape()) + " matrix is compared with a " + to_string(other.shape()) +
                           " one");
  }
  return all.change;
}

bool agree(const Matrix& one, const Matrix& other, const Rounding& rounding) {
  if (one.shape() != other.shape()) return false;
  const double largest = largest_that_counts(other, rounding);
  return std::ranges::equal(cells(one), cells(other), [&](double a, double b) { return rounding.same(a, b, largest); });
}

Matrix cell_changes(const Matrix& one, const Matrix& other) {
  Matrix change(one.shape());
  std::ranges::transform(cells(one), cells(other), cells(change).begin(),
                         [](double a, double b) { return a == b ? 0.0 : b - a; });
  return change;
}

double largest_of(const Matrix& matrix) {
  double largest = 0.0;
  for (const double x : cells(matrix)) {
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  }
  return largest;
}

}  // namespace attn
