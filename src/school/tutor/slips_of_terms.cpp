#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <utility>

#include "core/term/functions.hpp"
#include "school/tutor/slips.hpp"

namespace attn {

namespace {

Term without_signs(Term working, bool in_calls) {
  if (working.kind == Term::Kind::call && !in_calls) return working;
  for (Term& part : working.parts) part = without_signs(std::move(part), in_calls);
  if (is_negative(working)) return Term(working.parts.front());
  return working.parts.empty() && gives_number(working) ? constant_of(std::fabs(number_from(working))) : working;
}

bool has_minus(const Term& working) {
  if (working.parts.empty()) return gives_number(working) && number_from(working) < 0.0;
  return is_negative(working) || std::ranges::any_of(working.parts, has_minus);
}

}  // namespace

// --- slips of functions
// Slips with functions: one that is left out, and one that is taken for another.

namespace {

Term called_instead(const Term& call, const Function& function) {
  Term other = call;
  other.function = &function;
  return other;
}

// What is taken in place of a function.
struct Exchange {
  const Function* function;
  Function taken;
  std::string_view says;
  Often often = Often::function;
};

constexpr double degree = std::numbers::pi / 180;

// One that is not the field's, as a slip makes it.
constexpr Function slip(std::string_view name, double (*evaluate)(double)) { return {name, name, evaluate, nullptr}; }

const Exchange exchanges[] = {
    {&exponential, slip("2^", [](double x) { return std::exp2(x); }), "This is with powers of 2. Take powers of e.",
     Often::rare},
    {&exponential, slip("10^", [](double x) { return std::pow(10.0, x); }),
     "This could be with powers of 10. Take powers of e.", Often::rare},
    {&exponential, slip("e·", [](double x) { return std::numbers::e * x; }),
     "This could be with e times the number. Raise e to the power of the number.", Often::rare},
    {&exponential, slip("exp−", [](double x) { return std::exp(-x); }), "The exponent has the wrong sign here.",
     Often::rare},
    {&exponential, slip("square", [](double x) { return x * x; }),
     "This could be with squares. Raise e to the power of the number.", Often::rare},
    {&logarithm, slip("log₂", [](double x) { return std::log2(x); }),
     "This is with the logarithm to the base 2. Take the one to the base e."},
    {&logarithm, slip("less 1", [](double x) { return x - 1; }),
     "This is with 1 minus the number. Take its logarithm."},
    {&logarithm, slip("log₁₀", [](double x) { return std::log10(x); }),
     "This is with the logarithm to the base 10. Take the one to the base e."},
    {&square_root, slip("half", [](double x) { return x / 2; }),
     "This could be with half of the number. Take its square root.", Often::rare},
    {&square_root, slip("square", [](double x) { return x * x; }),
     "This could be with the square. Take the square root.", Often::rare},
    {&sine, cosine, "This is with the cosine. Take the sine."},
    {&cosine, sine, "This is with the sine. Take the cosine."},
    {&sine, slip("sin°", [](double x) { return std::sin(x * degree); }), "This is the sine in degrees. Use radians."},
    {&cosine, slip("cos°", [](double x) { return std::cos(x * degree); }),
     "This is the cosine in degrees. Use radians."},
    {&rectifier, absolute_value, "This is with the absolute value. ReLU makes 0 of a negative number."},
    {&hyperbolic_tangent, logistic, "This is with the sigmoid function. Take tanh."},
    {&logistic, hyperbolic_tangent, "This is with tanh. Take the sigmoid function."},
};

std::string told_without(const Function& function) {
  if (&function == &exponential) return "This is without the exponential. Take e to the power of each number first.";
  const std::string_view name = &function == &square_root ? "the square root" : function.name;
  return fmt::format("This is without {0}. Take {0} of the number first.", name);
}

}  // namespace

void add_slips_of_call(const Term& call, Slips& slips) {
  slips.push_back({call.parts[0], told_without(*call.function), Often::function});
  for (const Exchange& exchange : exchanges) {
    if (exchange.function == call.function)
      slips.push_back({called_instead(call, exchange.taken), std::string(exchange.says), exchange.often});
  }
  static constexpr Function reciprocal = slip("1/", [](double x) { return 1 / std::fabs(x); });
  if (call.function == &exponential)
    slips.push_back({called_instead(call, reciprocal),
                     "This could be 1 divided by the number. Raise e to the power of it.", Often::rare});
  if (call.function == &logarithm)
    slips.push_back(
        {called_instead(call, reciprocal), "This could be 1 divided by the number. Take its logarithm.", Often::rare});
}

// A number that is written as a root.
void add_slips_of_constant(const Term& constant, Slips& slips) {
  const double* const value = std::get_if<double>(&constant.constant);
  if (!value || !constant.notation.plain.starts_with("√")) return;
  slips.push_back(
      {constant_of(*value * *value), fmt::format("The root is missing here: it is {}.", constant.notation.plain)});
  slips.push_back(
      {constant_of(*value * *value / 2),
       fmt::format("This could be with half of the number. Take its square root: {}.", constant.notation.plain),
       Often::rare});
}

namespace {

void collect_calls(const Term& working, std::vector<const Function*>& called) {
  if (working.kind == Term::Kind::call) called.push_back(working.function);
  for (const Term& part : working.parts) collect_calls(part, called);
}

}  // namespace

std::vector<const Function*> often_called(const Term& working) {
  std::vector<const Function*> called, often;
  collect_calls(working, called);
  for (const Function* function : called) {
    if (std::ranges::count(called, function) > 1 && std::ranges::find(often, function) == often.end())
      often.push_back(function);
  }
  return often;
}

// A function that is called several times, above and below the line of a fraction, is mistaken in all places.
Slips slips_everywhere(const Term& working) {
  Slips slips;
  if (Term unsigned_working = without_signs(working, true); has_minus(working) && size_of(working) > 1)
    slips.push_back({std::move(unsigned_working), "A minus sign is lost here.", Often::rare});
  for (const Function* function : often_called(working)) {
    slips.push_back({everywhere(working, *function, [](const Term& call) { return call.parts.front(); }),
                     told_without(*function), Often::function});
    for (const Exchange& exchange : exchanges) {
      if (exchange.function != function) continue;
      const auto taken = [&](const Term& call) { return called_instead(call, exchange.taken); };
      slips.push_back({everywhere(working, *function, taken), std::string(exchange.says), exchange.often});
    }
  }
  return slips;
}

// --- slips of products
// Slips in a product, a quotient and a power: their factors, and how these are counted.

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
                       fmt::format("One factor is {} here. Count once more.", other), Often::rare});
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
  const Term& divisor = bare(product.parts[i]);
  const double count = number_from(divisor);
  if (!is_inverse(product.parts[i]) || divisor.kind != Term::Kind::constant || count < 3.0 ||
      count != std::nearbyint(count))
    return;
  for (const double other : {count - 1, count + 1})
    slips.push_back({with_part(product, i, made_of(Term::Kind::inverse, {constant_of(other)})),
                     fmt::format("This is divided by {}. Count once more.", other),
                     other < count ? Often::usual : Often::rare});
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
    const Term& factor = bare(factors[i]);
    const bool divides = is_inverse(factors[i]);
    if (std::fabs(number_from(factor)) < least_factor) continue;
    slips.push_back({without_part(product, i),
                     divides ? shortly(factor, "This is before the division. Divide by ",
                                       "This is before the division. Divide it") +
                                   "."
                             : shortly(factor, "One factor is missing here: ", "One factor is missing here") + ".",
                     divides || factor.parts.empty() ? Often::usual : Often::rare});
    if (i == 0 && factors.size() == 2 && is_inverse(factors[1])) continue;
    slips.push_back({with_part(product, i, divides ? factor : made_of(Term::Kind::inverse, {factor})),
                     shortly(factor, divides ? "Divide, do not multiply, by " : "Multiply, do not divide, by ",
                             divides ? "Divide here, do not multiply" : "Multiply here, do not divide") +
                         ".",
                     divides || factors.size() == 2 ? Often::usual : Often::rare});
    if (divides)
      slips.push_back({with_part(product, i, made_of(Term::Kind::negative, {factor})),
                       "Here it was subtracted. Divide by it instead.", Often::rare});
    if (divides)
      slips.push_back(
          {with_part(product, i, made_of(Term::Kind::inverse, {made_of(Term::Kind::power, {factor, constant_of(2)})})),
           "This is divided twice, or by the square. Divide once.", Often::rare});
    if (divides && number_from(factor) > 0.0)
      slips.push_back(
          {with_part(product, i,
                     made_of(Term::Kind::inverse, {made_of(Term::Kind::power, {factor, constant_of(0.5)})})),
           "This is divided by a square root. Divide by the number itself.", Often::rare});
  }
  if (factors.size() == 2 && is_inverse(factors[1]))
    slips.push_back({made_of(Term::Kind::product, {bare(factors[1]), made_of(Term::Kind::inverse, {factors[0]})}),
                     "The fraction is upside down here. " +
                         shortly(factors[0], "Divide ", "Divide the first by the second") +
                         shortly(bare(factors[1]), " by ", "") + "."});
  if (factors.size() == 2 && !is_inverse(factors[1]) && std::fabs(number_from(product)) >= least_factor)
    slips.push_back({made_of(Term::Kind::sum, factors),
                     shortly(product, "Multiply here, do not add: ", "Multiply here, do not add") + "."});
}

void add_slips_of_power(const Term& power, Slips& slips) {
  const Term &base = power.parts[0], &exponent = power.parts[1];
  slips.push_back({base, shortly(power, "The power is missing here: it is ", "The power is missing here") + "."});
  slips.push_back({made_of(Term::Kind::product, {base, exponent}),
                   shortly(power, "A power is no product: this is ", "A power is no product") + "."});
  slips.push_back({made_of(Term::Kind::power, {exponent, base}), "Base and exponent are exchanged here.", Often::rare});
  const double times = number_from(exponent);
  if (times < 3.0 || times != std::nearbyint(times)) return;
  for (const double other : {times - 1, times + 1})
    slips.push_back({made_of(Term::Kind::power, {base, constant_of(other)}),
                     fmt::format("The exponent is {} here. Count once more.", other)});
}

// --- slips of sums
// Slips in a sum: its terms, its signs, which factors go together.

namespace {

// A sum of products whose first factors go with other second ones: two of them exchanged, all of them in
// reverse, or each with the next.
void add_other_pairs(const Term& sum, Slips& slips) {
  const std::size_t count = sum.parts.size();
  if (count > most_terms) return;
  const auto add = [&](const std::function<std::size_t(std::size_t)>& partner, std::string says) {
    Term other = sum;
    for (std::size_t i = 0; i < count; ++i) other.parts[i].parts[0] = sum.parts[partner(i)].parts[0];
    slips.push_back({std::move(other), std::move(says), count == 2 ? Often::usual : Often::rare});
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
      {made_of(Term::Kind::sum, different), "Equal terms are counted only once here. Each of them counts."});
  for (const Term& term : different) {
    const auto same = [&](const Term& other) { return are_alike(term, other); };
    if (std::ranges::count_if(terms, same) < 2) continue;
    std::vector<Term> more = terms;
    more.push_back(term);
    slips.push_back({made_of(Term::Kind::sum, more), "One term is counted once too often here. Count the terms."});
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
    Term counted = made_of(Term::Kind::sum, std::move(terms));
    std::string says =
        shortly(counted, "Only these terms are counted here: ", "Only some of the terms are counted here") + ".";
    slips.push_back({std::move(counted), std::move(says), Often::rare});
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
    slips.push_back(
        {with_part(sum, i, other),
         shortly(product, "One product has a factor 0, so it is 0: ", "One product has a factor 0, so it is 0") + "."});
  }
}

// All minus signs lost at once.
void add_lost_signs(const Term& sum, Slips& slips) {
  if (sum.parts.size() > most_terms) return;
  Term unsigned_sum = without_signs(sum, false);
  const bool is_sign_of_all = are_alike(unsigned_sum, made_of(Term::Kind::negative, {sum}));
  if (!are_alike(unsigned_sum, sum) && !is_sign_of_all)
    slips.push_back({std::move(unsigned_sum), "The minus signs are lost here. A negative term makes the sum smaller."});
}

}  // namespace

void add_slips_of_sum(const Term& sum, bool is_subtracted, Slips& slips) {
  add_miscounted_terms(sum, slips);
  add_missing_terms(sum, slips);
  if (std::ranges::all_of(sum.parts, [](const Term& term) { return is_square(term); }))
    slips.push_back({made_of(Term::Kind::power, {sum, constant_of(0.5)}),
                     "This is with the root of the sum of squares, a length. Take no root."});
  const std::vector<Term>& terms = sum.parts;
  for (std::size_t i = 0; i < terms.size() && terms.size() <= most_terms; ++i) {
    if (number_from(terms[i]) == 0.0) continue;
    if (terms.size() > 2)
      slips.push_back(
          {without_part(sum, i),
           shortly(bare(terms[i]), "One term is missing here: ", "One term of the sum is missing here") + "."});
    if (is_subtracted) continue;
    Term turned = with_part(sum, i, is_negative(terms[i]) ? bare(terms[i]) : made_of(Term::Kind::negative, {terms[i]}));
    // A sign is lost that a term has by its number, or the operation is another one.
    const bool has_own_sign = number_from(bare(terms[i])) < 0.0;
    if (terms.size() == 2 && i == 1 && has_own_sign)
      slips.push_back(
          {std::move(turned),
           shortly(bare(terms[i]), "One term has the wrong sign here: ", "One term has the wrong sign here") + "."});
    else if (terms.size() == 2 && i == 1)
      slips.push_back(
          {std::move(turned),
           shortly(sum, is_negative(terms[1]) ? "Subtract here, do not add: " : "Add here, do not subtract: ",
                   is_negative(terms[1]) ? "Subtract here, do not add" : "Add here, do not subtract") +
               "."});
    const bool is_first_of_two = terms.size() == 2 && i == 0 && !is_negative(terms[1]) && has_minus(terms[0]);
    if (is_first_of_two || (terms.size() > 2 && (is_negative(terms[i]) || number_from(terms[i]) < 0.0)))
      slips.push_back(
          {std::move(turned),
           shortly(bare(terms[i]), "One term has the wrong sign here: ", "One term has the wrong sign here") + "."});
  }
  if (terms.size() == 2 && is_negative(terms[1]))
    slips.push_back({made_of(Term::Kind::sum, {bare(terms[1]), made_of(Term::Kind::negative, {terms[0]})}),
                     shortly(sum, "The difference is the other way round here. It is ",
                             "The difference is the other way round here") +
                         "."});
  if (std::ranges::any_of(terms, is_negative)) {
    add_lost_signs(sum, slips);
    return;
  }
  if (!is_subtracted && std::ranges::none_of(terms, [](const Term& term) { return term.kind == Term::Kind::call; }))
    slips.push_back(
        {made_of(Term::Kind::product, terms), "Here the terms were multiplied. Add them.",
         terms.size() == 2 && std::ranges::all_of(terms, [](const Term& term) { return term.parts.empty(); })
             ? Often::usual
             : Often::rare});
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
  slips.push_back({made_of(Term::Kind::sum, std::move(all)),
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
    Term plain = made_of(Term::Kind::sum, factors);
    if (are_shares(which)) continue;  // perhaps rounded
    std::string says = shortly(plain, "This is the plain sum ", "This is a sum of single numbers") +
                       ". Multiply the pairs first, then add the products.";
    slips.push_back({std::move(plain), std::move(says)});
    if (!are_shares(1 - which)) continue;
    slips.push_back({made_of(Term::Kind::product, {made_of(Term::Kind::sum, std::move(factors)),
                                                   made_of(Term::Kind::inverse, {constant_of(count)})}),
                     "This is an average in which all count the same. Here each has a factor of its own."});
  }
  add_products_with_zero(sum, slips);
}

}  // namespace attn
