#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "school/tutor/slips.hpp"

// Slips in a product, a quotient and a power: their factors, and how these are counted.

namespace attn {

namespace {

// A smaller one is written as 0.0000.
constexpr double least_factor = 5e-5;

// A whole number in a product, miscounted by one, and a power of ten that has slipped by a place.
void add_slips_of_factor(const Term& product, std::size_t i, Slips& slips) {
  const Term& factor = product.parts[i];
  const bool is_number = factor.kind == Term::Kind::constant || factor.kind == Term::Kind::size;
  if (!is_number || !gives_number(factor)) return;
  const double number = number_from(factor);
  if (number >= 2.0 && number == std::nearbyint(number)) {
    for (const double other : {number - 1, number + 1})
      slips.push_back({with_part(product, i, constant_of(other)),
                       fmt::format("One factor is {} here. Count once more.", other), SlipLikelihood::rare});
  }
  const double power = std::log10(number);
  if (number > 0.0 && number < 1.0 && std::fabs(power - std::nearbyint(power)) < 1e-12) {
    for (const double other : {number / 10, number * 10})
      slips.push_back(
          {with_part(product, i, constant_of(other)), fmt::format("One factor is {} here. It is {}.", other, number)});
  }
}

// A count that something is divided by, miscounted by one.
void add_slips_of_count(const Term& product, std::size_t i, Slips& slips) {
  const Term& divisor = without_sign(product.parts[i]);
  const double count = number_from(divisor);
  if (!is_inverse(product.parts[i]) || divisor.kind != Term::Kind::constant || count < 3.0 ||
      count != std::nearbyint(count))
    return;
  for (const double other : {count - 1, count + 1})
    slips.push_back({with_part(product, i, term_of(Term::Kind::inverse, {constant_of(other)})),
                     fmt::format("This is divided by {}. Count once more.", other),
                     other < count ? SlipLikelihood::usual : SlipLikelihood::rare});
}

// A number of pairs, counted otherwise.
void add_slips_of_pairs(const Term& product, Slips& slips) {
  const std::vector<Term>& sizes = product.parts;
  const auto is_size = [](const Term& part) { return part.kind == Term::Kind::size || part.kind == Term::Kind::shape; };
  if (sizes.size() != 2 || !std::ranges::all_of(sizes, is_size)) return;
  const double n = number_from(sizes[0]);
  if (n != number_from(sizes[1])) return;
  slips.push_back({constant_of(n * (n + 1) / 2), "This counts each pair only once. Both orders count."});
  slips.push_back({constant_of(n * (n - 1) / 2),
                   "This counts each pair of two different ones once. Both orders count, and each with itself."});
  slips.push_back({constant_of(n * (n - 1)), "This leaves out the pairs of each with itself."});
}

}  // namespace

void add_slips_of_product(const Term& product, Slips& slips) {
  const std::vector<Term>& factors = product.parts;
  add_slips_of_pairs(product, slips);
  for (std::size_t i = 0; i < factors.size() && factors.size() <= most_terms; ++i)
    add_slips_of_count(product, i, slips), add_slips_of_factor(product, i, slips);
  for (std::size_t i = 0; i < factors.size() && factors.size() <= most_terms; ++i) {
    const Term& factor = without_sign(factors[i]);
    const bool divides = is_inverse(factors[i]);
    if (std::fabs(number_from(factor)) < least_factor) continue;
    slips.push_back({without_part(product, i),
                     divides
                         ? numbers_if_short(factor, "This is before the division. Divide by ",
                                            "This is before the division. Divide it") +
                               "."
                         : numbers_if_short(factor, "One factor is missing here: ", "One factor is missing here") + ".",
                     divides || factor.parts.empty() ? SlipLikelihood::usual : SlipLikelihood::rare});
    if (i == 0 && factors.size() == 2 && is_inverse(factors[1])) continue;
    slips.push_back({with_part(product, i, divides ? factor : term_of(Term::Kind::inverse, {factor})),
                     numbers_if_short(factor, divides ? "Divide, do not multiply, by " : "Multiply, do not divide, by ",
                                      divides ? "Divide here, do not multiply" : "Multiply here, do not divide") +
                         ".",
                     divides || factors.size() == 2 ? SlipLikelihood::usual : SlipLikelihood::rare});
    if (divides)
      slips.push_back({with_part(product, i, term_of(Term::Kind::negative, {factor})),
                       "Here it was subtracted. Divide by it instead.", SlipLikelihood::rare});
    if (divides)
      slips.push_back(
          {with_part(product, i, term_of(Term::Kind::inverse, {term_of(Term::Kind::power, {factor, constant_of(2)})})),
           "This is divided twice, or by the square. Divide once.", SlipLikelihood::rare});
    if (divides && number_from(factor) > 0.0)
      slips.push_back(
          {with_part(product, i,
                     term_of(Term::Kind::inverse, {term_of(Term::Kind::power, {factor, constant_of(0.5)})})),
           "This is divided by a square root. Divide by the number itself.", SlipLikelihood::rare});
  }
  if (factors.size() == 2 && is_inverse(factors[1]))
    slips.push_back(
        {term_of(Term::Kind::product, {without_sign(factors[1]), term_of(Term::Kind::inverse, {factors[0]})}),
         "The fraction is upside down here. " +
             numbers_if_short(factors[0], "Divide ", "Divide the first by the second") +
             numbers_if_short(without_sign(factors[1]), " by ", "") + "."});
  if (factors.size() == 2 && !is_inverse(factors[1]) && std::fabs(number_from(product)) >= least_factor)
    slips.push_back({term_of(Term::Kind::sum, factors),
                     numbers_if_short(product, "Multiply here, do not add: ", "Multiply here, do not add") + "."});
}

void add_slips_of_power(const Term& power, Slips& slips) {
  const Term &base = power.parts[0], &exponent = power.parts[1];
  slips.push_back(
      {base, numbers_if_short(power, "The power is missing here: it is ", "The power is missing here") + "."});
  slips.push_back({term_of(Term::Kind::product, {base, exponent}),
                   numbers_if_short(power, "A power is no product: this is ", "A power is no product") + "."});
  slips.push_back(
      {term_of(Term::Kind::power, {exponent, base}), "Base and exponent are exchanged here.", SlipLikelihood::rare});
  const double times = number_from(exponent);
  if (times < 3.0 || times != std::nearbyint(times)) return;
  for (const double other : {times - 1, times + 1})
    slips.push_back({term_of(Term::Kind::power, {base, constant_of(other)}),
                     fmt::format("The exponent is {} here. Count once more.", other)});
}

}  // namespace attn
