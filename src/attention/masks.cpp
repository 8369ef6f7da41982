#include "attention/masks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

void allow_first(Matrix& mask, std::size_t query, std::size_t count) {
  std::ranges::fill(row(mask, query).first(std::min(count, mask.shape().columns)), 1.0);
}

}  // namespace

Matrix causal_mask(Shape shape) {
  return causal_mask_after(0, shape);
}

Matrix causal_mask_after(std::size_t before, Shape shape) {
  Matrix mask(shape, 0.0);
  for (std::size_t i = 0; i < shape.rows; ++i) allow_first(mask, i, before + i + 1);
  return mask;
}

Matrix valid_length_mask(Shape shape, std::span<const std::size_t> lengths) {
  if (lengths.size() != 1 && lengths.size() != shape.rows) {
    fail("--valid-length: {} are given for {}: give one for all, or one per query",
         count_of(lengths.size(), "length"),
         shape.rows == 1 ? "1 query" : fmt::format("{} queries", shape.rows));
  }
  Matrix mask(shape, 0.0);
  for (std::size_t i = 0; i < shape.rows; ++i) {
    const std::size_t length = lengths.size() == 1 ? lengths[0] : lengths[i];
    if (length > shape.columns) {
      fail("--valid-length: {} is more than the number of keys, {}", length, shape.columns);
    }
    allow_first(mask, i, length);
  }
  return mask;
}

std::vector<bool> blanks_among(const std::vector<std::string>& words) {
  std::vector<bool> blanks;
  for (const std::string& word : words) blanks.push_back(word == blank);
  return blanks;
}

bool any(const std::vector<bool>& flags) {
  return std::ranges::find(flags, true) != flags.end();
}

Matrix without_blanks(Matrix allowed, const std::vector<bool>& blanks) {
  for (std::size_t j = 0; j < blanks.size(); ++j) {
    for (std::size_t i = 0; blanks[j] && i < allowed.shape().rows; ++i) allowed(i, j) = 0.0;
  }
  return allowed;
}

Matrix both(Matrix a, const Matrix& b) {
  std::ranges::transform(cells(a), cells(b), cells(a).begin(),
                         [](double x, double y) { return x != 0.0 && y != 0.0 ? 1.0 : 0.0; });
  return a;
}

}  // namespace attn
