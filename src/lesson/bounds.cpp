#include "lesson/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lesson/combining.hpp"
#include "op/operations.hpp"
#include "quantity/functions.hpp"

namespace attn {
namespace {

using Kind = Working::Kind;
using Sentence = std::optional<std::string>;

bool is_whole(double number) {
  return std::fabs(number) < 1e15 && std::nearbyint(number) == number;
}

bool is_below(double a, double b) {
  return a < b - 1e-9 * std::fmax(1.0, std::fabs(b));
}

Sentence bound_of_softmax(const Node& node, const Working& asked, double typed) {
  const std::vector<double> scores = node.operands[0]->row(asked.row);
  const double score = scores[asked.column];
  double count = 0.0, least = INFINITY, most = -INFINITY;
  for (const double other : scores) {
    if (other == -INFINITY) continue;
    ++count;
    least = std::fmin(least, other);
    most = std::fmax(most, other);
  }
  if (count < 2 || score == -INFINITY) return std::nullopt;
  if (typed == 0.0) return "Softmax gives each key that is not masked a weight above 0.";
  if (typed == 1.0) return "Softmax gives the other keys a part, too: this weight is below 1.";
  const std::string share = fmt::format("1/{}", count);
  if (score == most && is_below(typed, 1 / count))
    return fmt::format("No score of this row is larger, so this weight is {} or more.", share);
  if (score == least && is_below(1 / count, typed))
    return fmt::format("No score of this row is smaller, so this weight is {} or less.", share);
  return std::nullopt;
}

Sentence bound_of_average(const Node& node, const Working& asked, double typed) {
  const Node &weights = *node.operands[0], &values = *node.operands[1];
  const std::vector<double> row = weights.row(asked.row);
  if (row.size() != values.frame.shape.rows) return std::nullopt;  // sentences of a batch
  double least = INFINITY, most = -INFINITY, sum = 0.0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row[k] < 0.0) return std::nullopt;
    if (row[k] == 0.0) continue;
    sum += row[k];
    least = std::fmin(least, values.cell(k, asked.column));
    most = std::fmax(most, values.cell(k, asked.column));
  }
  constexpr double rounding = 1e-9;        // weights that are given can have any sum
  if (least == most) return std::nullopt;  // it would tell the answer
  if (std::fabs(sum - 1.0) > rounding || (!is_below(typed, least) && !is_below(most, typed)))
    return std::nullopt;
  return fmt::format(
      "The answer is a weighted average, so it lies between the smallest and the largest of the numbers: "
      "{} and {}.",
      told_number(least), told_number(most));
}

Sentence bound_of_cell(const Working& asked, double typed) {
  const Node& node = asked.node->original();
  const bool outside_of_one = typed < 0.0 || typed > 1.0;
  if (outside_of_one && (asked.node->content() == Content::weights || asked.node->rows_sum_to_one()))
    return asked.node->is(role::distribution) ? "A probability lies between 0 and 1."
                                              : "A weight lies between 0 and 1.";
  if (asked.node->content() == Content::permissions && typed != 0.0 && typed != 1.0)
    return "A mask has only 0 and 1.";
  if (!node.operation) return std::nullopt;
  const Operation& operation = *node.operation;
  if (const Bounds bounds = operation.bounds(); typed < bounds.least || typed > bounds.most)
    return std::string(bounds.says);
  if (is_softmax(operation)) return bound_of_softmax(node, asked, typed);
  if (is_matmul(operation) && node.operands[0]->rows_sum_to_one())
    return bound_of_average(node, asked, typed);
  return std::nullopt;
}

// Sums and products of counts.
bool is_count(const Working& working) {
  switch (working.kind) {
    case Kind::size:
    case Kind::shape:
      return true;
    case Kind::constant:
      return gives_number(working) && is_whole(number_from(working)) && number_from(working) >= 0;
    case Kind::sum:
    case Kind::product:
      return std::ranges::all_of(working.parts, is_count);
    default:
      return false;
  }
}

bool has_counts(const Working& working) {
  return working.kind == Kind::size || working.kind == Kind::shape ||
         std::ranges::any_of(working.parts, has_counts);
}

// Whether only sums, differences and products of whole numbers are taken.
bool stays_whole(const Working& working) {
  switch (working.kind) {
    case Kind::sum:
    case Kind::product:
    case Kind::negative:
      return std::ranges::all_of(working.parts, stays_whole);
    case Kind::power:
      return stays_whole(working.parts[0]) && stays_whole(working.parts[1]) &&
             number_from(working.parts[1]) >= 0;
    case Kind::inverse:
    case Kind::call:
      return false;
    default:
      return gives_number(working) && is_whole(number_from(working));
  }
}

bool stays_positive(const Working& working) {
  switch (working.kind) {
    case Kind::negative:
      return false;
    case Kind::call:
      return working.function->bounds.least >= 0.0;
    case Kind::sum:
    case Kind::product:
    case Kind::inverse:
      return std::ranges::all_of(working.parts, stays_positive);
    default:
      return gives_number(working) && number_from(working) >= 0.0;
  }
}

Sentence bound_of_steps(const Working& steps, double typed) {
  if (typed < 0.0 && stays_positive(steps))
    return "No number of the last step is negative, and nothing is subtracted there: the result is not "
           "negative.";
  if (!is_whole(typed) && stays_whole(steps))
    return "In the last step only whole numbers are added and multiplied, so the result is whole.";
  if (!stays_positive(steps) || steps.parts.size() < 2) return std::nullopt;
  if (steps.kind == Kind::sum) {
    for (const Working& term : steps.parts) {
      const std::string numbers = in_numbers(term);
      const bool tells_answer = equal_but_for_last_bits(number_from(term), number_from(steps));
      if (is_below(typed, number_from(term)) && numbers.size() < 40 && !tells_answer)
        return fmt::format("This is less than one of the terms alone: {}.", numbers);
    }
  }
  const bool is_fraction =
      steps.kind == Kind::product && steps.parts.size() == 2 && steps.parts[1].kind == Kind::inverse;
  if (!is_fraction) return std::nullopt;
  const double above = number_from(steps.parts[0]), below = number_from(steps.parts[1].parts[0]);
  constexpr double nearly_one = 0.005;  // which is told as 1; where it is 1, that would tell the answer
  if (std::fabs(above / below - 1.0) < nearly_one) return std::nullopt;
  if (above < below && is_below(1.0, typed))
    return "In the last step a number is divided by a larger one: the result is below 1.";
  if (above > below && is_below(typed, 1.0))
    return "In the last step a number is divided by a smaller one: the result is above 1.";
  return std::nullopt;
}

}  // namespace

Sentence broken_bound(const Working& asked, const Working& steps, double typed) {
  if (asked.kind == Kind::cell) {
    if (Sentence says = bound_of_cell(asked, typed)) return says;
  }
  if (has_counts(asked) && is_count(asked)) {
    if (typed < 0.0) return "A count is not negative.";
    if (!is_whole(typed)) return "A count is a whole number.";
    if (const double count = number_from(asked); count >= 4 && std::fabs(typed - count) == 1.0)
      return "Count once more: this is nearly right.";
  }
  return bound_of_steps(steps, typed);
}

}  // namespace attn
