#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "school/tutor/slips.hpp"

// Slips in a sum: its terms, its signs, which factors go together.

namespace attn {

namespace {

// A sum of products whose first factors go with other second ones: two of them exchanged, all of them in
// reverse, or each with the next.
void add_other_pairs(const Term& sum, Slips& slips) {
  const std::size_t count = sum.parts.size();
  if (count > most_terms) return;
  const auto add = [&](const std::function<std::size_t(std::size_t)>& partner, std::string says) {
    Term other = sum;
    for (std::size_t i = 0; i < count; ++i) other.parts[i].parts[0] = sum.parts[partner(i)].parts[0];
    slips.push_back({std::move(other), std::move(says), count == 2 ? SlipLikelihood::usual : SlipLikelihood::rare});
  };
  constexpr std::string_view pair = "Multiply the first with the first, the second with the second.";
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b)
      add([=](std::size_t i) { return i == a   ? b
                                      : i == b ? a
                                               : i; },
          fmt::format("Two factors are exchanged here. {}", pair));
  }
  if (count < 3) return;
  add([=](std::size_t i) { return count - 1 - i; }, fmt::format("The factors are in reverse here. {}", pair));
  for (const std::size_t by : {std::size_t{1}, count - 1})
    add([=](std::size_t i) { return (i + by) % count; }, fmt::format("The factors are shifted by one here. {}", pair));
}

// A sum in which some terms are the same, and others are counted with them.
void add_miscounted_terms(const Term& sum, Slips& slips) {
  const std::vector<Term>& terms = sum.parts;
  if (terms.size() < 3 || terms.size() > most_terms) return;
  std::vector<Term> different;
  for (const Term& term : terms) {
    const auto same = [&](const Term& other) { return are_alike(term, other); };
    if (std::ranges::none_of(different, same)) different.push_back(term);
  }
  if (different.size() == terms.size() || different.size() < 2) return;
  slips.push_back(
      {term_of(Term::Kind::sum, different), "Equal terms are counted only once here. Each of them counts."});
  for (const Term& term : different) {
    const auto same = [&](const Term& other) { return are_alike(term, other); };
    if (std::ranges::count_if(terms, same) < 2) continue;
    std::vector<Term> more = terms;
    more.push_back(term);
    slips.push_back({term_of(Term::Kind::sum, more), "One term is counted once too often here. Count the terms."});
  }
}

// A sum of few terms without several of them. Nobody misses a term that is 0.
void add_missing_terms(const Term& sum, Slips& slips) {
  std::vector<Term> parts;
  std::ranges::copy_if(sum.parts, std::back_inserter(parts), [](const Term& term) { return number_from(term) != 0.0; });
  const std::size_t count = parts.size();
  constexpr std::size_t most = 6;
  if (count < 4 || count > most) return;
  for (unsigned chosen = 1; chosen + 1 < 1U << count; ++chosen) {
    std::vector<Term> terms;
    for (std::size_t i = 0; i < count; ++i) {
      if ((chosen >> i & 1U) != 0) terms.push_back(parts[i]);
    }
    if (terms.size() < 2 || terms.size() + 1 >= count) continue;
    Term counted = term_of(Term::Kind::sum, std::move(terms));
    std::string says =
        numbers_if_short(counted, "Only these terms are counted here: ", "Only some of the terms are counted here") +
        ".";
    slips.push_back({std::move(counted), std::move(says), SlipLikelihood::rare});
  }
}

bool is_zero_term(const Term& term) { return number_from(term) == 0.0; }

// A product with 0, taken for its other factor.
void add_products_with_zero(const Term& sum, Slips& slips) {
  for (std::size_t i = 0; i < sum.parts.size() && sum.parts.size() <= most_terms; ++i) {
    const Term& product = sum.parts[i];
    if (product.kind != Term::Kind::product || product.parts.size() != 2) continue;
    const auto zero = std::ranges::find_if(product.parts, is_zero_term);
    if (zero == product.parts.end()) continue;
    const Term& other = product.parts[zero == product.parts.begin() ? 1 : 0];
    if (is_inverse(other) || is_zero_term(other)) continue;
    slips.push_back({with_part(sum, i, other), numbers_if_short(product, "One product has a factor 0, so it is 0: ",
                                                                "One product has a factor 0, so it is 0") +
                                                   "."});
  }
}

// All minus signs lost at once.
void add_lost_signs(const Term& sum, Slips& slips) {
  if (sum.parts.size() > most_terms) return;
  Term unsigned_sum = without_signs(sum, false);
  const bool is_sign_of_all = are_alike(unsigned_sum, term_of(Term::Kind::negative, {sum}));
  if (!are_alike(unsigned_sum, sum) && !is_sign_of_all)
    slips.push_back({std::move(unsigned_sum), "The minus signs are lost here. A negative term makes the sum smaller."});
}

}  // namespace

void add_slips_of_sum(const Term& sum, bool is_subtracted, Slips& slips) {
  add_miscounted_terms(sum, slips);
  add_missing_terms(sum, slips);
  if (std::ranges::all_of(sum.parts, [](const Term& term) { return is_square(term); }))
    slips.push_back({term_of(Term::Kind::power, {sum, constant_of(0.5)}),
                     "This is with the root of the sum of squares, a length. Take no root."});
  const std::vector<Term>& terms = sum.parts;
  for (std::size_t i = 0; i < terms.size() && terms.size() <= most_terms; ++i) {
    if (number_from(terms[i]) == 0.0) continue;
    if (terms.size() > 2)
      slips.push_back({without_part(sum, i), numbers_if_short(without_sign(terms[i]), "One term is missing here: ",
                                                              "One term of the sum is missing here") +
                                                 "."});
    if (is_subtracted) continue;
    Term turned =
        with_part(sum, i, is_negative(terms[i]) ? without_sign(terms[i]) : term_of(Term::Kind::negative, {terms[i]}));
    // A sign is lost that a term has by its number, or the operation is another one.
    const bool has_own_sign = number_from(without_sign(terms[i])) < 0.0;
    if (terms.size() == 2 && i == 1 && has_own_sign)
      slips.push_back({std::move(turned), numbers_if_short(without_sign(terms[i]), "One term has the wrong sign here: ",
                                                           "One term has the wrong sign here") +
                                              "."});
    else if (terms.size() == 2 && i == 1)
      slips.push_back(
          {std::move(turned),
           numbers_if_short(sum, is_negative(terms[1]) ? "Subtract here, do not add: " : "Add here, do not subtract: ",
                            is_negative(terms[1]) ? "Subtract here, do not add" : "Add here, do not subtract") +
               "."});
    const bool is_first_of_two = terms.size() == 2 && i == 0 && !is_negative(terms[1]) && has_minus(terms[0]);
    if (is_first_of_two || (terms.size() > 2 && (is_negative(terms[i]) || number_from(terms[i]) < 0.0)))
      slips.push_back({std::move(turned), numbers_if_short(without_sign(terms[i]), "One term has the wrong sign here: ",
                                                           "One term has the wrong sign here") +
                                              "."});
  }
  if (terms.size() == 2 && is_negative(terms[1]))
    slips.push_back({term_of(Term::Kind::sum, {without_sign(terms[1]), term_of(Term::Kind::negative, {terms[0]})}),
                     numbers_if_short(sum, "The difference is the other way round here. It is ",
                                      "The difference is the other way round here") +
                         "."});
  if (std::ranges::any_of(terms, is_negative)) {
    add_lost_signs(sum, slips);
    return;
  }
  if (!is_subtracted && std::ranges::none_of(terms, [](const Term& term) { return term.kind == Term::Kind::call; }))
    slips.push_back(
        {term_of(Term::Kind::product, terms), "Here the terms were multiplied. Add them.",
         terms.size() == 2 && std::ranges::all_of(terms, [](const Term& term) { return term.parts.empty(); })
             ? SlipLikelihood::usual
             : SlipLikelihood::rare});
  const double count = static_cast<double>(terms.size());
  if (!is_subtracted) add_lost_signs(sum, slips);
  // Of products: their first or their second factors alone.
  const auto has_two = [](const Term& term) {
    return term.kind == Term::Kind::product && term.parts.size() == 2 && !is_inverse(term.parts[1]);
  };
  if (!std::ranges::all_of(terms, has_two)) return;
  add_other_pairs(sum, slips);
  std::vector<Term> all;
  for (const Term& term : terms) std::ranges::copy(term.parts, std::back_inserter(all));
  slips.push_back({term_of(Term::Kind::sum, std::move(all)),
                   "All numbers are added here. Multiply the pairs first, then add the products."});
  // Where the factors are shares, people take the plain average of the others.
  constexpr double nearly = 0.03;
  const auto are_shares = [&](std::size_t which) {
    double sum = 0.0;
    for (const Term& term : terms) sum += number_from(term.parts[which]);
    return std::fabs(sum - 1.0) <= nearly;
  };
  for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
    std::vector<Term> factors;
    for (const Term& term : terms) factors.push_back(term.parts[which]);
    Term plain = term_of(Term::Kind::sum, factors);
    if (are_shares(which)) continue;  // perhaps rounded
    std::string says = numbers_if_short(plain, "This is the plain sum ", "This is a sum of single numbers") +
                       ". Multiply the pairs first, then add the products.";
    slips.push_back({std::move(plain), std::move(says)});
    if (!are_shares(1 - which)) continue;
    slips.push_back({term_of(Term::Kind::product, {term_of(Term::Kind::sum, std::move(factors)),
                                                   term_of(Term::Kind::inverse, {constant_of(count)})}),
                     "This is an average in which all count the same. Here each has a factor of its own."});
  }
  add_products_with_zero(sum, slips);
}

}  // namespace attn
