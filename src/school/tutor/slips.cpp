#include "school/tutor/slips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "core/op/operations.hpp"
#include "core/support/number.hpp"
#include "core/term/expression_functions.hpp"
#include "school/tutor/solution_steps.hpp"

namespace attn {

namespace {

// A function that is called several times is mistaken everywhere or nowhere.
void add_slips_here(const Term& working, bool is_subtracted, const std::vector<const Function*>& often, Slips& slips) {
  switch (working.kind) {
    case Term::Kind::sum:
      return add_slips_of_sum(working, is_subtracted, slips);
    case Term::Kind::product:
      return add_slips_of_product(working, slips);
    case Term::Kind::power:
      return add_slips_of_power(working, slips);
    case Term::Kind::call:
      if (std::ranges::find(often, working.function) == often.end()) add_slips_of_call(working, slips);
      return;
    case Term::Kind::constant:
      return add_slips_of_constant(working, slips);
    case Term::Kind::negative:
      slips.push_back({working.parts.front(), "The minus is missing here."});
      return;
    default:
      return;
  }
}

Slips all_slips(const Term& working, const std::vector<const Function*>& often, bool is_subtracted = false,
                bool is_in_sum = false) {
  Slips slips;
  // In the sums within a sum there are too many slips to tell one from another.
  if (!is_in_sum || working.kind != Term::Kind::sum) add_slips_here(working, is_subtracted, often, slips);
  // A slip in one of several terms is one of many.
  const auto is_term = [](const Term& part) { return number_from(part) != 0.0; };
  const bool is_sum = working.kind == Term::Kind::sum && std::ranges::count_if(working.parts, is_term) > 1;
  for (std::size_t i = 0; i < working.parts.size(); ++i) {
    for (Slip& slip : all_slips(working.parts[i], often, is_negative(working), is_in_sum || is_sum))
      slips.push_back({with_part(working, i, std::move(slip.working)), std::move(slip.says),
                       is_sum ? SlipLikelihood::rare : slip.often});
  }
  return slips;
}
// What a part of a working is to the whole.
std::string part_name(const Term& whole, std::size_t i) {
  const Term& part = whole.parts[i];
  switch (whole.kind) {
    case Term::Kind::sum:
      return "one term of the sum";
    case Term::Kind::product:
      return is_inverse(part) && whole.parts.size() == 2     ? "the denominator"
             : is_fraction(whole) && whole.parts.size() == 2 ? "the numerator"
                                                             : "one factor";
    case Term::Kind::power:
      return i == 0 ? "the base of the power" : "the exponent";
    case Term::Kind::call:
      return whole.function == &exponential ? "the exponent" : fmt::format("what {} is taken of", whole.function->name);
    default:
      return "a part";
  }
}

// What is done with a part of a working.
std::string next_after(const Term& whole, std::size_t i) {
  constexpr std::string_view go_on = "Go on from there.";
  const bool is_quotient_or_product = whole.kind == Term::Kind::product && whole.parts.size() == 2;
  if (!is_quotient_or_product || is_inverse(whole.parts[i])) return std::string(go_on);
  const Term& other = whole.parts[1 - i];
  const std::string numbers =
      numbers_if_short(without_sign(other), is_inverse(other) ? "Divide it by " : "Multiply it by ", "");
  return numbers.empty() ? std::string(go_on) : numbers + ".";
}

// One of several terms is seldom taken for their sum, but one of two is.
void add_steps(const Term& whole, std::vector<RecognizedAnswer>& steps, bool is_in_term = false) {
  for (std::size_t i = 0; i < whole.parts.size() && i < most_terms; ++i) {
    const Term& part = without_sign(whole.parts[i]);
    const bool is_term = is_in_term || (whole.kind == Term::Kind::sum && whole.parts.size() > 2);
    if (!part.parts.empty() && gives_number(part)) {
      const std::string what = part_name(whole, i);
      const bool is_first_term = whole.kind == Term::Kind::sum;
      const auto kind = is_term         ? RecognizedAnswer::Kind::rare
                        : is_first_term ? RecognizedAnswer::Kind::slip
                                        : RecognizedAnswer::Kind::step;
      steps.push_back({number_from(part), kind,
                       numbers_if_short(part, "This is ", "This is " + what) +
                           (numbers_if_short(part, "", "").empty() ? "" : ", " + what) + ": a step on the way. " +
                           next_after(whole, i)});
    }
    add_steps(part, steps, is_term);
  }
}

bool has_all_arguments(const Term& working, const LearnerKnowledge& known) {
  const bool has_arguments = working.kind == Term::Kind::call || working.kind == Term::Kind::power;
  return has_arguments
             ? known.has_all_of(working)
             : std::ranges::all_of(working.parts, [&](const Term& part) { return has_all_arguments(part, known); });
}

// The cell of a product of two matrices in the other order, y · x, where that can be multiplied.
std::optional<double> product_in_other_order(const Term& asked) {
  if (asked.kind != Term::Kind::cell) return std::nullopt;
  const Node& node = asked.node->original();
  if (!node.op || node.op != &op::matmul) return std::nullopt;
  const Node &x = *node.operands[0], &y = *node.operands[1];
  const Shape left = y.frame.shape, right = x.frame.shape;
  if (left.columns != right.rows || asked.row >= left.rows || asked.column >= right.columns) return std::nullopt;
  double sum = 0.0;
  for (std::size_t k = 0; k < left.columns; ++k) sum += y.cell(asked.row, k) * x.cell(k, asked.column);
  return sum;
}

bool has_one_digit(double number) {
  const std::string digits = written(std::fabs(number));
  const auto counts = [](char c) { return c >= '1' && c <= '9'; };
  return std::ranges::count_if(digits, counts) <= 1;
}

// A number that has been divided already, as it is only in the step after the one that is asked for.
void add_step_too_far(const Term& asked, const Graph& graph, std::vector<RecognizedAnswer>& found) {
  if (asked.kind != Term::Kind::cell) return;
  for (const Node& node : graph.nodes()) {
    if (!node.op || node.operands.empty() || node.operands.front() != asked.node) continue;
    if (node.frame.shape != asked.node->frame.shape) continue;
    const Term next = explain({&node, asked.row, asked.column}).term;
    if (!is_quotient(next) || next.parts[0].kind != Term::Kind::cell || !nodes_of(next.parts[1]).empty()) continue;
    found.push_back({number_from(next), RecognizedAnswer::Kind::slip,
                     fmt::format("This has been divided by {} already, one step too early. Leave out the division.",
                                 in_numbers(next.parts[1].parts[0]))});
  }
}

}  // namespace

// --- slips

std::vector<RecognizedAnswer> slips_on(const Term& path, const LearnerKnowledge& known) {
  std::vector<RecognizedAnswer> found;
  if (!gives_number(path) || size_of(path) > most_parts || !has_all_arguments(path, known)) return found;
  add_steps(path, found);
  Slips slips;
  const auto add_all = [&](const Term& working) {
    std::ranges::move(slips_everywhere(working), std::back_inserter(slips));
    std::ranges::move(all_slips(working, often_called(working)), std::back_inserter(slips));
  };
  if (path.kind == Term::Kind::sum && std::ranges::none_of(path.parts, is_negative)) {
    const double count = static_cast<double>(path.parts.size());
    slips.push_back({term_of(Term::Kind::product, {path, term_of(Term::Kind::inverse, {constant_of(count)})}),
                     fmt::format("This is the sum divided by {}. Do not divide it.", path.parts.size()),
                     SlipLikelihood::rare});
  }
  const Term rounded = with_numbers(path, known.numbers());
  if (!are_alike(rounded, path)) add_all(rounded);
  add_all(path);
  for (const Slip& slip : slips) {
    const auto kind = slip.often == SlipLikelihood::function ? RecognizedAnswer::Kind::step
                      : slip.often == SlipLikelihood::usual  ? RecognizedAnswer::Kind::slip
                                                             : RecognizedAnswer::Kind::rare;
    found.push_back({number_from(slip.working), kind, slip.says});
  }
  return found;
}

std::vector<RecognizedAnswer> slips_of_cell(const Term& asked, const Graph& graph, const LearnerKnowledge& known) {
  std::vector<RecognizedAnswer> found;
  add_step_too_far(asked, graph, found);
  for (const Term& by_hand : steps_by_hand(asked)) {
    if (size_of(by_hand) <= most_parts && has_all_arguments(by_hand, known)) add_steps(by_hand, found);
  }
  // Scores without a difference say nothing about where a 0 or a 1 comes from.
  std::erase_if(found, [](const RecognizedAnswer& step) {
    const double number = std::get<double>(step.quantity);
    return number == 0.0 || number == 1.0;
  });
  if (const std::optional<double> turned = product_in_other_order(asked))
    found.push_back({*turned, RecognizedAnswer::Kind::slip,
                     "This is the product in the other order. The matrix on the left comes first."});
  return found;
}

std::vector<RecognizedAnswer> slips_of_writing(double answer, double rounded, bool is_share) {
  std::vector<RecognizedAnswer> found;
  const auto add = [&](double value, std::string says) {
    found.push_back({value, RecognizedAnswer::Kind::writing, std::move(says)});
  };
  if (answer == 0.0) return found;
  add(-answer, "Only the sign is wrong.");
  if (std::fabs(answer) <= 1.0) add(100 * answer, "This is per cent: type it with %, or divide it by 100.");
  if (is_share) add(1 - answer, "This is the rest: 1 minus what is asked for.");
  if (has_one_digit(rounded)) return found;  // one comes to such a number in many ways
  for (const int power : {1, -1, 2, -2, 3, -3})
    add(answer * std::pow(10.0, power), "The digits are right. The decimal point is at the wrong place.");
  constexpr double of_two_digits = 0.02;
  for (RecognizedAnswer& one : found) {
    const double size = std::fabs(std::get<double>(one.quantity));
    if (size != std::fabs(answer)) one.within = of_two_digits * size;
  }
  return found;
}

std::vector<RecognizedAnswer> related_numbers(double answer) {
  std::vector<RecognizedAnswer> found;
  const auto add = [&](double value, std::string says) {
    found.push_back({value, RecognizedAnswer::Kind::rare, std::move(says)});
  };
  if (answer == 0.0) return found;
  add(1 / answer, "This is the reciprocal: 1 divided by what is asked for.");
  add(answer * answer, "This is the square of what is asked for.");
  if (answer > 0.0) add(std::sqrt(answer), "This is the square root of what is asked for.");
  add(2 * answer, "This is twice what is asked for.");
  add(answer / 2, "This is half of what is asked for.");
  return found;
}

// --- slip

std::size_t size_of(const Term& working) {
  return std::accumulate(working.parts.begin(), working.parts.end(), std::size_t{1},
                         [](std::size_t sum, const Term& part) { return sum + size_of(part); });
}

Term without_part(Term working, std::size_t i) {
  working.parts.erase(working.parts.begin() + static_cast<std::ptrdiff_t>(i));
  if (working.parts.size() > 1 || working.parts.front().kind == Term::Kind::inverse) return working;
  return Term(working.parts.front());
}

Term with_part(Term working, std::size_t i, Term part) {
  working.parts[i] = std::move(part);
  return working;
}

std::string numbers_if_short(const Term& working, std::string_view before, std::string_view otherwise) {
  const std::string numbers = in_numbers(working);
  const bool hides_one = numbers.find("0.0000") != std::string::npos;  // which is too small to be written
  return numbers.size() <= longest_in_numbers && !hides_one ? std::string(before) + numbers : std::string(otherwise);
}

bool is_inverse(const Term& working) { return working.kind == Term::Kind::inverse; }
bool is_negative(const Term& working) { return working.kind == Term::Kind::negative; }

bool has_minus(const Term& working) {
  if (working.parts.empty()) return gives_number(working) && number_from(working) < 0.0;
  return is_negative(working) || std::ranges::any_of(working.parts, has_minus);
}

Term without_signs(Term working, bool in_calls) {
  if (working.kind == Term::Kind::call && !in_calls) return working;
  for (Term& part : working.parts) part = without_signs(std::move(part), in_calls);
  if (is_negative(working)) return Term(working.parts.front());
  return working.parts.empty() && gives_number(working) ? constant_of(std::fabs(number_from(working))) : working;
}

bool is_fraction(const Term& working) {
  return working.kind == Term::Kind::product && std::ranges::any_of(working.parts, is_inverse);
}

const Term& without_sign(const Term& part) { return is_inverse(part) || is_negative(part) ? part.parts.front() : part; }
bool are_alike(const Term& one, const Term& other) {
  return equal_but_for_last_bits(number_from(one), number_from(other));
}
Term replace_calls(Term working, const Function& called, const std::function<Term(const Term&)>& instead) {
  for (Term& part : working.parts) part = replace_calls(std::move(part), called, instead);
  return working.kind == Term::Kind::call && working.function == &called ? instead(working) : working;
}

}  // namespace attn
