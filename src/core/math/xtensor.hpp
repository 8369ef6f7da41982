#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

// The only file that includes xtensor: its headers moved between releases, and both places are listed here.
#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/core/xmath.hpp>
#include <xtensor/core/xnoalias.hpp>
#include <xtensor/misc/xmanipulation.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>
#endif

#include "core/math/matrix.hpp"

namespace attn {

/// What a matrix holds: `matrix.array()` is used in any expression of xtensor.
class Array : public xt::xtensor<double, 2, xt::layout_type::row_major, MatrixAllocator<double>> {
 public:
  using Base = xt::xtensor<double, 2, xt::layout_type::row_major, MatrixAllocator<double>>;
  using Base::Base;
  using Base::operator=;
};

/// Rows as an array of two dimensions, without a copy. The rows outlive it.
inline auto array_view(Rows rows) {
  const std::array<std::size_t, 2> shape = {rows.shape.rows, rows.shape.columns};
  return xt::adapt(rows.cells, rows.shape.cells(), xt::no_ownership(), shape);
}

/// Computes an expression into rows; it may read the same cells, each where it is written.
template <class Expression>
void set(RowsToMake rows, const Expression& expression) {
  const std::array<std::size_t, 2> shape = {rows.shape.rows, rows.shape.columns};
  auto cells = xt::adapt(rows.cells, rows.shape.cells(), xt::no_ownership(), shape);
  xt::noalias(cells) = expression;
}

/// What an expression gives in between.
using Numbers = xt::xtensor<double, 2>;

/// `count` rows from `first` on.
inline Rows part(Rows x, std::size_t first, std::size_t count) {
  return {x.row(first).data(), first, {count, x.shape.columns}};
}
inline RowsToMake part(RowsToMake x, std::size_t first, std::size_t count) {
  return {x.row(first).data(), first, {count, x.shape.columns}};
}

/// The rows beside those of the result, or the only one for all.
inline auto beside(Rows x, RowsToMake result) {
  if (x.shape.rows == 0) return array_view(x);
  return array_view(x.shape.rows == 1 ? x : part(x, result.first, result.shape.rows));
}

/// 0, 1, 2 … as a row.
inline auto index_row(std::size_t count) { return xt::arange(static_cast<double>(count)); }

/// Some rows in any order, one as often as it is asked for.
inline auto gathered(Rows x, std::vector<std::size_t> places) {
  for (std::size_t& place : places) place -= x.first;
  return xt::view(array_view(x), xt::keep(places), xt::all());
}

/// The same number in every cell. It is moved in: of a variable, xtensor would keep a reference.
inline auto everywhere(double value, RowsToMake result) {
  return xt::broadcast(std::move(value), {result.shape.rows, result.shape.columns});
}

/// Both, one after the other along an axis. The result is a new array, because xtensor 0.27 writes an array
/// that is assigned what it is part of before it is read, and says nothing.
template <class Expression>
Numbers joined(const Numbers& a, const Expression& b, std::size_t axis) {
  return xt::concatenate(xt::xtuple(a, b), axis);
}

// One number for each row, [n, d] -> [n, 1]. They are computed at once, and are arrays of their own: a
// reduction of xtensor that is not computed yet gives wrong numbers, without a word, where keep_dims lets it
// go with whole rows.

template <class Expression>
Numbers sum_of_rows(const Expression& x) {
  return xt::sum(x, {1}, xt::keep_dims | xt::evaluation_strategy::immediate);
}
template <class Expression>
Numbers mean_of_rows(const Expression& x) {
  return xt::mean(x, {1}, xt::keep_dims | xt::evaluation_strategy::immediate);
}
template <class Expression>
Numbers largest_of_rows(const Expression& x) {
  return xt::amax(x, {1}, xt::keep_dims | xt::evaluation_strategy::immediate);
}
/// The columns, counted from 0, of the first largest cells.
template <class Expression>
Numbers places_of_largest(const Expression& x) {
  const Numbers cells = x;
  Numbers places = Numbers::from_shape({cells.shape(0), 1});
  for (std::size_t i = 0; i < cells.shape(0); ++i) {
    const double* const row = cells.data() + i * cells.shape(1);
    places(i, 0) = static_cast<double>(std::max_element(row, row + cells.shape(1)) - row);
  }
  return places;
}

/// The sums over the last of three dimensions.  [m, n, d] -> [m, n].
template <class Expression>
Numbers sum_of_last(const Expression& x) {
  return xt::sum(x, {2}, xt::evaluation_strategy::immediate);
}

}  // namespace attn
