#include "puzzle/miss_told.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "support/number.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

// As few decimals as tell the number apart from what it should be; a small one by its bound.
std::string told_beside(double number, double bound) {
  if (std::isnan(number)) return "not a number";
  constexpr double smallest_told = 0.0001;
  if (number != 0.0 && std::fabs(number) < smallest_told && std::fabs(bound) > 10 * smallest_told)
    return number > 0.0 ? "below 0.0001" : "between -0.0001 and 0";
  constexpr int digits_of_small = 4, most = 15;
  for (int decimals = decimals_for(std::span(&number, 1), 2); decimals < most; ++decimals) {
    std::string told = written_fixed(number, decimals);
    const bool says_zero =
        number != 0.0 && decimals < digits_of_small && told == written_fixed(0.0, decimals);
    if (!says_zero && (number == bound || told != written_fixed(bound, decimals))) return told;
  }
  return written_digits(number, 17);
}

std::string short_number(double number) {
  return written(Quantity(number));
}

std::string wanted(const Property& property, double bound) {
  if (!property.relation->is_equality)
    return fmt::format("{} {}", property.relation->words, short_number(bound));
  if (property.tolerance == 0.0) return short_number(bound);
  return fmt::format("{}, give or take {}", short_number(bound), short_number(property.tolerance));
}

// By its label, and by its number where that says too little.
std::string called(const Axis& axis, std::size_t i, std::string_view what) {
  if (!axis.labels) return fmt::format("{} {}", what, i + 1);
  const std::string label = axis.label(i);
  const bool is_unique = std::ranges::count(*axis.labels, label) == 1;
  return is_unique ? fmt::format("\"{}\"", label) : fmt::format("\"{}\" ({} {})", label, what, i + 1);
}

std::string with_capital(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

// What a query does with its attention, and what it should do.
std::string told_of_weight(const Property& property, const Cell& cell, double value, double bound) {
  const Node& weights = *cell.node;
  const Frame& frame = weights.frame;
  const NamedScope* const head = weights.within(scope::head);
  const bool is_self =
      frame.rows.labels && frame.columns.labels && *frame.rows.labels == *frame.columns.labels;
  const std::string query = called(frame.rows, cell.row, "query");
  const auto key = [&](std::size_t i) {
    return is_self && i == cell.row ? "itself" : called(frame.columns, i, "key");
  };
  const std::string where = head && head->number ? fmt::format("In head {}, ", *head->number) : "";
  const std::vector<double> row = weights.row(cell.row);
  const std::optional<std::size_t> most = preferred_key(row, 4);
  const bool attends_elsewhere =
      !property.relation->is_equality && value < bound && most && *most != cell.column && !std::isnan(value);
  const auto begin = [&](const std::string& sentence) {
    return where + (where.empty() ? with_capital(sentence) : sentence);
  };
  if (attends_elsewhere)
    return begin(fmt::format(
        "{} attends most to {} ({}). It should attend to {}: that weight is {}, and should be {}.", query,
        key(*most), told_beside(row[*most], value), key(cell.column), told_beside(value, bound),
        wanted(property, bound)));
  return begin(fmt::format("{} gives {} the weight {}. It should be {}.", query, key(cell.column),
                           told_beside(value, bound), wanted(property, bound)));
}

}  // namespace

Miss miss_of_number(const Property& property, const Working& is, double value, double bound) {
  if (is.kind == Working::Kind::cell && is.node->original().is(role::weights) && !std::isnan(value))
    return {told_of_weight(property, {is.node, is.row, is.column}, value, bound),
            fmt::format("{}[{}]", is.node->name, is.row + 1)};
  const std::string name = in_names(is);
  return {fmt::format("{} is {}. It should be {}.", name, told_beside(value, bound), wanted(property, bound)),
          name};
}

Miss miss_of_words(const Working& is, const Quantity& value, const Quantity& should_be) {
  const std::string name = in_names(is);
  return {fmt::format("{} is {}. It should be {}.", name, written(value), written(should_be)), name};
}

Miss miss_of_tie(const TieError& tie) {
  const std::string says = fmt::format("{}. One of them should be ahead.", tie.tie());
  return {says, says};
}

}  // namespace attn
