#include "school/tutor/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/op/operations.hpp"
#include "core/term/expression_functions.hpp"
#include "core/term/term.hpp"
#include "school/tutor/learner_knowledge.hpp"
#include "school/tutor/other_answers.hpp"
#include "school/tutor/slips.hpp"
#include "school/tutor/solution_steps.hpp"
#include "school/tutor/typed_answer.hpp"

namespace attn {

// --- bounds

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// The last bits of a bound exclude nothing.
double slack_of(double bound) { return 1e-9 * std::fmax(1.0, std::fabs(bound)); }

Bound at_least(double least, std::string says) { return {least - slack_of(least), infinite, false, std::move(says)}; }
Bound at_most(double most, std::string says) { return {-infinite, most + slack_of(most), false, std::move(says)}; }

void add_bounds_of_softmax(const Node& node, const Term& asked, std::vector<Bound>& bounds) {
  const std::vector<double> scores = node.operands[0]->row(asked.row);
  const double score = scores[asked.column];
  double count = 0.0, least = INFINITY, most = -INFINITY;
  for (const double other : scores) {
    if (other == -INFINITY) continue;
    ++count;
    least = std::fmin(least, other);
    most = std::fmax(most, other);
  }
  if (count < 2 || score == -INFINITY) return;
  bounds.push_back(
      {std::nextafter(0.0, 1.0), infinite, false, "Softmax gives each key that is not masked a weight above 0."});
  bounds.push_back({-infinite, std::nextafter(1.0, 0.0), false,
                    "Softmax gives the other keys a part, too: this weight is below 1."});
  const std::string share = fmt::format("1/{}", count);
  if (score == most)
    bounds.push_back(
        at_least(1 / count, fmt::format("No score of this row is larger, so this weight is {} or more.", share)));
  if (score == least)
    bounds.push_back(
        at_most(1 / count, fmt::format("No score of this row is smaller, so this weight is {} or less.", share)));
}

void add_bounds_of_average(const Node& node, const Term& asked, const LearnerKnowledge& known,
                           std::vector<Bound>& bounds) {
  const Node &weights = *node.operands[0], &values = *node.operands[1];
  const std::vector<double> row = weights.row(asked.row);
  if (row.size() != values.frame.shape.rows) return;  // sentences of a batch
  double least = INFINITY, most = -INFINITY, sum = 0.0;
  bool has_values = true;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row[k] < 0.0) return;
    if (row[k] == 0.0) continue;
    const Cell value{&values, k, asked.column};
    has_values = has_values && known.has(value);
    sum += row[k];
    least = std::fmin(least, value.value());
    most = std::fmax(most, value.value());
  }
  constexpr double rounding = 1e-9;                              // weights that are given can have any sum
  if (least == most || std::fabs(sum - 1.0) > rounding) return;  // equal values would tell the answer
  const std::string numbers =
      has_values ? fmt::format(": {} and {}", number_in_sentence(least), number_in_sentence(most)) : std::string();
  bounds.push_back({least - slack_of(least), most + slack_of(most), false,
                    fmt::format("The answer is a weighted average, so it lies between the smallest and the largest of "
                                "the {}{}.",
                                has_values ? "numbers" : "values", numbers)});
}

void add_bounds_of_cell(const Term& asked, const LearnerKnowledge& known, std::vector<Bound>& bounds) {
  const Node& node = asked.node->original();
  if (asked.node->content() == Content::weights || asked.node->rows_sum_to_one())
    bounds.push_back({0.0, 1.0, false,
                      asked.node->is(role::distribution) ? "A probability lies between 0 and 1."
                                                         : "A weight lies between 0 and 1."});
  if (asked.node->content() == Content::permissions) bounds.push_back({0.0, 1.0, true, "A mask has only 0 and 1."});
  if (!node.op) return;
  if (const Bounds its = bounds_of_op(*node.op); !its.says.empty())
    bounds.push_back({its.least, its.most, false, std::string(its.says)});
  if (node.op == &op::softmax) add_bounds_of_softmax(node, asked, bounds);
  if (node.op == &op::matmul && node.operands[0]->rows_sum_to_one()) add_bounds_of_average(node, asked, known, bounds);
}

// Sums and products of counts.
bool is_count(const Term& working) {
  switch (working.kind) {
    case Term::Kind::size:
    case Term::Kind::shape:
      return true;
    case Term::Kind::constant:
      return gives_number(working) && is_whole(number_from(working)) && number_from(working) >= 0;
    case Term::Kind::sum:
    case Term::Kind::product:
      return std::ranges::all_of(working.parts, is_count);
    default:
      return false;
  }
}

bool has_counts(const Term& working) {
  return working.kind == Term::Kind::size || working.kind == Term::Kind::shape ||
         std::ranges::any_of(working.parts, has_counts);
}

// Whether nothing in it is negative. A function that never gives a negative number may be taken of one.
bool stays_positive(const Term& working) {
  switch (working.kind) {
    case Term::Kind::negative:
      return false;
    case Term::Kind::call:
      return working.function->bounds.least >= 0.0;
    case Term::Kind::sum:
    case Term::Kind::product:
    case Term::Kind::inverse:
      return std::ranges::all_of(working.parts, stays_positive);
    default:
      return gives_number(working) && number_from(working) >= 0.0;
  }
}

bool has_call(const Term& working) {
  return working.kind == Term::Kind::call || std::ranges::any_of(working.parts, has_call);
}

void add_bounds_of_terms(const Term& sum, const LearnerKnowledge& known, std::vector<Bound>& bounds) {
  constexpr std::size_t longest = 40;
  for (const Term& term : sum.parts) {
    const std::string numbers = in_numbers(term);
    const bool tells_answer = equal_but_for_last_bits(number_from(term), number_from(sum));
    if (numbers.size() >= longest || tells_answer || !known.has_all_of(term)) continue;
    bounds.push_back(
        at_least(number_from(term), fmt::format("This is less than one of the terms alone: {}.", numbers)));
  }
}

void add_bounds_of_steps(const Term& steps, const LearnerKnowledge& known, std::vector<Bound>& bounds) {
  if (steps.parts.empty() || !stays_positive(steps)) return;
  bounds.push_back({0.0, infinite, false,
                    has_call(steps)
                        ? "No part of the last step can be negative, so the result is not negative."
                        : "No number of the last step is negative, and nothing is subtracted there: the result is "
                          "not negative."});
  if (steps.parts.size() < 2) return;
  if (steps.kind == Term::Kind::sum) add_bounds_of_terms(steps, known, bounds);
  if (!is_quotient(steps)) return;
  const double above = number_from(steps.parts[0]), below = number_from(steps.parts[1].parts[0]);
  constexpr double nearly_one = 0.005;  // which is told as 1; where it is 1, that would tell the answer
  if (std::fabs(above / below - 1.0) < nearly_one) return;
  if (above < below)
    bounds.push_back(at_most(1.0, "In the last step a number is divided by a larger one: the result is below 1."));
  if (above > below)
    bounds.push_back(at_least(1.0, "In the last step a number is divided by a smaller one: the result is above 1."));
}

}  // namespace

bool Bound::is_broken_by(double typed) const {
  return typed < least || typed > most || (is_whole && !attn::is_whole(typed));
}

bool asks_for_count(const Term& asked) { return has_counts(asked) && is_count(asked); }

bool counts_something(const Term& asked) {
  const auto is_count_or_less = [](const Term& part) { return is_count(without_sign(part)) && !is_inverse(part); };
  return asks_for_count(asked) ||
         (asked.kind == Term::Kind::sum && has_counts(asked) && std::ranges::all_of(asked.parts, is_count_or_less));
}

std::vector<Bound> bounds_of(const SolvedQuestion& solved) {
  std::vector<Bound> bounds;
  if (!solved.graph || solved.question.kind != AnswerKind::number) return bounds;
  const Term asked = read_term(solved.question.of, solved.graph.get());
  const LearnerKnowledge known(solved);
  if (asked.kind == Term::Kind::cell) add_bounds_of_cell(asked, known, bounds);
  if (asks_for_count(asked)) {
    bounds.push_back({0.0, infinite, false, "A count is not negative."});
    bounds.push_back({-infinite, infinite, true, "A count is a whole number."});
  }
  add_bounds_of_steps(taught_paths(solved).front(), known, bounds);
  return bounds;
}

}  // namespace attn
