#include "lesson/slip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

// Slips in a sum: its terms, its signs, which factors go together.

namespace attn {
namespace {

using Kind = Working::Kind;

// A sum of products whose first factors go with other second ones: two of them exchanged, all of them in
// reverse, or each with the next.
void add_other_pairs(const Working& sum, Slips& slips) {
  const std::size_t count = sum.parts.size();
  if (count > most_terms) return;
  const auto add = [&](const std::function<std::size_t(std::size_t)>& partner, std::string says) {
    Working other = sum;
    for (std::size_t i = 0; i < count; ++i) other.parts[i].parts[0] = sum.parts[partner(i)].parts[0];
    slips.push_back({std::move(other), std::move(says)});
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
    add([=](std::size_t i) { return (i + by) % count; },
        fmt::format("The factors are shifted by one here. {}", pair));
}

// A sum in which some terms are the same, and others are counted with them.
void add_miscounted_terms(const Working& sum, Slips& slips) {
  const std::vector<Working>& terms = sum.parts;
  if (terms.size() < 3 || terms.size() > most_terms) return;
  std::vector<Working> different;
  for (const Working& term : terms) {
    const auto same = [&](const Working& other) { return are_alike(term, other); };
    if (std::ranges::none_of(different, same)) different.push_back(term);
  }
  if (different.size() == terms.size() || different.size() < 2) return;
  slips.push_back(
      {made_of(Kind::sum, different), "Equal terms are counted only once here. Each of them counts."});
  for (const Working& term : different) {
    const auto same = [&](const Working& other) { return are_alike(term, other); };
    if (std::ranges::count_if(terms, same) < 2) continue;
    std::vector<Working> more = terms;
    more.push_back(term);
    slips.push_back({made_of(Kind::sum, more), "One term is counted once too often here. Count the terms."});
  }
}

// A sum of few terms without several of them. Nobody misses a term that is 0.
void add_missing_terms(const Working& sum, Slips& slips) {
  std::vector<Working> parts;
  std::ranges::copy_if(sum.parts, std::back_inserter(parts),
                       [](const Working& term) { return number_from(term) != 0.0; });
  const std::size_t count = parts.size();
  constexpr std::size_t most = 6;
  if (count < 4 || count > most) return;
  for (unsigned chosen = 1; chosen + 1 < 1U << count; ++chosen) {
    std::vector<Working> terms;
    for (std::size_t i = 0; i < count; ++i) {
      if ((chosen >> i & 1U) != 0) terms.push_back(parts[i]);
    }
    if (terms.size() < 2 || terms.size() + 1 >= count) continue;
    slips.push_back({made_of(Kind::sum, std::move(terms)), "More than one term of the sum is missing here."});
  }
}

bool is_square(const Working& term) {
  return term.kind == Kind::power && number_from(term.parts[1]) == 2.0;
}

}  // namespace

void add_slips_of_sum(const Working& sum, Slips& slips) {
  add_miscounted_terms(sum, slips);
  add_missing_terms(sum, slips);
  if (std::ranges::all_of(sum.parts, is_square))
    slips.push_back({made_of(Kind::power, {sum, constant_of(0.5)}),
                     "This is with the root of the sum of squares, a length. Take no root."});
  const std::vector<Working>& terms = sum.parts;
  for (std::size_t i = 0; i < terms.size() && terms.size() <= most_terms; ++i) {
    if (number_from(terms[i]) == 0.0) continue;
    if (terms.size() > 2)
      slips.push_back({without_part(sum, i), shortly(bare(terms[i]), "One term is missing here: ",
                                                     "One term of the sum is missing here") +
                                                 "."});
    Working turned =
        with_part(sum, i, is_negative(terms[i]) ? bare(terms[i]) : made_of(Kind::negative, {terms[i]}));
    if (terms.size() == 2 && i == 1)
      slips.push_back(
          {std::move(turned),
           shortly(sum, is_negative(terms[1]) ? "Subtract here, do not add: " : "Add here, do not subtract: ",
                   is_negative(terms[1]) ? "Subtract here, do not add" : "Add here, do not subtract") +
               "."});
    if (terms.size() > 2 && (is_negative(terms[i]) || number_from(terms[i]) < 0.0))
      slips.push_back({std::move(turned), shortly(bare(terms[i]), "One term has the wrong sign here: ",
                                                  "One term has the wrong sign here") +
                                              "."});
  }
  if (terms.size() == 2 && is_negative(terms[1]))
    slips.push_back({made_of(Kind::sum, {bare(terms[1]), made_of(Kind::negative, {terms[0]})}),
                     shortly(sum, "The difference is the other way round here. It is ",
                             "The difference is the other way round here") +
                         "."});
  if (std::ranges::any_of(terms, is_negative)) return;
  slips.push_back({made_of(Kind::product, terms), "Here the terms were multiplied. Add them."});
  const double count = static_cast<double>(terms.size());
  slips.push_back({made_of(Kind::product, {sum, made_of(Kind::inverse, {constant_of(count)})}),
                   fmt::format("This is the sum divided by {}. Do not divide it.", terms.size())});
  // Of products: their first or their second factors alone.
  const auto has_two = [](const Working& term) {
    return term.kind == Kind::product && term.parts.size() == 2 && !is_inverse(term.parts[1]);
  };
  if (!std::ranges::all_of(terms, has_two)) return;
  add_other_pairs(sum, slips);
  for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
    std::vector<Working> factors;
    for (const Working& term : terms) factors.push_back(term.parts[which]);
    Working plain = made_of(Kind::sum, factors);
    std::string says = shortly(plain, "This is the plain sum ", "This is a sum of single numbers") +
                       ". Multiply the pairs first, then add the products.";
    slips.push_back({std::move(plain), std::move(says)});
    slips.push_back({made_of(Kind::product, {made_of(Kind::sum, std::move(factors)),
                                             made_of(Kind::inverse, {constant_of(count)})}),
                     "This is an average in which all count the same. Here each has a factor of its own."});
  }
}

}  // namespace attn
