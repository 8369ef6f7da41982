#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/math/matrix.hpp"
#include "core/support/error.hpp"

namespace attn {

/// The sentence of the InputError that the action throws.
template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "(it was accepted)";
}

/// An action that must be refused, and what the sentence must say.
struct RefusedAction {
  std::string_view part;
  std::function<void()> action;
};

inline void check_refused(std::initializer_list<RefusedAction> table) {
  for (const RefusedAction& row : table) {
    const std::string sentence = refusal(row.action);
    CAPTURE(sentence);
    CAPTURE(row.part);
    CHECK(sentence.find(row.part) != std::string::npos);
  }
}

/// matrix({{1, 2}, {3, 4}}).
inline Matrix matrix(std::initializer_list<std::initializer_list<double>> rows) {
  Matrix result({rows.size(), rows.begin()->size()});
  std::size_t i = 0;
  for (const auto& cells_of_row : rows) std::ranges::copy(cells_of_row, row(result, i++).begin());
  return result;
}

/// A matrix whose cells are `next()`, row after row.
template <class Next>
Matrix filled(Shape shape, const Next& next) {
  Matrix result(shape);
  for (double& cell : cells(result)) cell = next();
  return result;
}

/// What a kernel makes of whole matrices.
template <class Kernel, class... Matrices>
Matrix made_by(const Kernel& kernel, Shape shape, const Matrices&... operands) {
  Matrix result(shape);
  kernel(rows_of(operands)..., rows_to_make(result));
  return result;
}

/// Whether the numbers differ by no more than the tolerance. Infinities are close to themselves.
inline bool close(double a, double b, double tolerance) { return a == b || std::fabs(a - b) <= tolerance; }
inline bool close(const Matrix& a, const Matrix& b, double tolerance) {
  return a.shape() == b.shape() &&
         std::ranges::equal(cells(a), cells(b), [&](double x, double y) { return close(x, y, tolerance); });
}

/// Whether all numbers are the same.
inline bool same(const Matrix& a, const Matrix& b) { return close(a, b, 0.0); }
inline bool same_bits(const Matrix& a, const Matrix& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

}  // namespace attn
