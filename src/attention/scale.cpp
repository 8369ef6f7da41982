#include "attention/scale.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

Scalar root_of(std::size_t n) {
  return {std::sqrt(static_cast<double>(n)), {fmt::format("√{}", n), fmt::format("\\sqrt{{{}}}", n)}};
}

std::optional<Scalar> sqrt_dk(const KeySizes& sizes) {
  if (sizes.d_k == 0)
    fail(
        "‹scale› sqrt-dk needs the key size, and only scores are given: give ‹scale› with a number, or none");
  return root_of(sizes.d_k);
}

std::optional<Scalar> none(const KeySizes&) {
  return std::nullopt;
}

std::optional<Scalar> sqrt_n(const KeySizes& sizes) {
  Scalar root = root_of(sizes.n_k);
  root.in_words = fmt::format("√n, with n = {}", count_of(sizes.n_k, "key"));
  return root;
}

constexpr std::array table = {
    Scale{"sqrt-dk", "the square root of the key size", sqrt_dk},
    Scale{"none", "scores are not divided", none},
    Scale{"sqrt-n", "the square root of the number of keys (an error in a published text, to compare)",
          sqrt_n, true},
};

}  // namespace

std::span<const Scale> scales() {
  return table;
}

bool counts_keys(std::string_view scale) {
  const Scale* row = find_row(scales(), scale);
  return row && row->counts_keys;
}

std::optional<Scalar> divisor(std::string_view scale, const KeySizes& sizes) {
  if (const std::optional<double> value = parsed<double>(scale)) {
    if (!std::isfinite(*value) || *value <= 0.0) {
      fail("‹scale› {}: the scores are divided by it, so give a positive number", scale);
    }
    const std::string written = fmt::format("{}", *value);
    return Scalar{*value, {written, written}, written};
  }
  if (const Scale* row = find_row(scales(), scale)) return row->divisor(sizes);
  fail("unknown scale '{}'{}. Choose one of: {}, or a number", scale, did_you_mean(scale, names_of(scales())),
       fmt::join(names_of(scales()), ", "));
}

}  // namespace attn
