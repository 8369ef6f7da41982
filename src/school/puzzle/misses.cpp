#include "school/puzzle/misses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/term/expression_functions.hpp"
#include "core/term/term.hpp"
#include "page/tell/describe.hpp"
#include "school/tutor/judge.hpp"

namespace attn {

namespace {

// --- miss told

// As few decimals as tell the number apart from what it should be; a small one by its bound.
std::string told_beside(double number, double bound) {
  if (std::isnan(number)) return "not a number";
  constexpr double smallest_told = 0.0001;
  if (number != 0.0 && std::fabs(number) < smallest_told && std::fabs(bound) > 10 * smallest_told)
    return number > 0.0 ? "below 0.0001" : "between -0.0001 and 0";
  constexpr int digits_of_small = 4, most = 15;
  for (int decimals = decimals_for(std::span(&number, 1), 2); decimals < most; ++decimals) {
    std::string told = written_fixed(number, decimals);
    const bool says_zero = number != 0.0 && decimals < digits_of_small && told == written_fixed(0.0, decimals);
    if (!says_zero && (number == bound || told != written_fixed(bound, decimals))) return told;
  }
  return written_digits(number, 17);
}

std::string short_number(double number) { return written(Quantity(number)); }

std::string with_capital(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

// What a query does with its attention, and what it should do.
void add_weight(const Property& property, const Cell& cell, double value, double bound, Evidence& evidence) {
  const Node& weights = *cell.node;
  const Frame& frame = weights.frame;
  const NamedScope* const head = weights.within(scope::head);
  const bool is_self = frame.rows.labels && frame.columns.labels && *frame.rows.labels == *frame.columns.labels;
  const std::string query = place_in_words(frame.rows, cell.row, "query");
  const auto key = [&](std::size_t i) {
    return is_self && i == cell.row ? "itself" : place_in_words(frame.columns, i, "key");
  };
  const std::vector<double> row = weights.row(cell.row);
  const std::optional<std::size_t> most = preferred_key(row, 4);
  evidence.facts.insert(
      {{"of a weight", true},
       {"in a head", head && head->number},
       {"prefers another key", !property.relation->is_equality && value < bound && most && *most != cell.column}});
  evidence.places.insert({{"query", query}, {"Query", with_capital(query)}, {"key", key(cell.column)}});
  if (head && head->number) evidence.places["head"] = std::to_string(*head->number);
  if (most) evidence.places.insert({{"preferred", key(*most)}, {"most", told_beside(row[*most], value)}});
}

// What is said of a number that should be another one: of a weight, what its query attends to instead.
Miss miss_of_number(const Property& property, const Term& is, double value, double bound) {
  const std::string name = in_names(is);
  Evidence evidence = {
      {{"only a bound", !property.relation->is_equality}, {"with a tolerance", property.tolerance != 0.0}},
      {{"name", name},
       {"is", told_beside(value, bound)},
       {"relation", std::string(property.relation->words)},
       {"bound", short_number(bound)},
       {"tolerance", short_number(property.tolerance)}}};
  const bool is_weight = is.kind == Term::Kind::cell && is.node->original().is(role::weights) && !std::isnan(value);
  if (is_weight) add_weight(property, {is.node, is.row, is.column}, value, bound, evidence);
  return {judged_by("puzzle", evidence)->says, is_weight ? fmt::format("{}[{}]", is.node->name, is.row + 1) : name};
}

// The same of a word or a shape.
Miss miss_of_words(const Term& is, const Quantity& value, const Quantity& should_be) {
  const std::string name = in_names(is);
  const Evidence evidence = {{}, {{"name", name}, {"is", written(value)}, {"should be", written(should_be)}}};
  return {judged_by("puzzle", evidence)->says, name};
}

// The same of a row in which two words are tied where one is asked for.
Miss miss_of_tie(const TieError& tie) {
  const std::string says = fmt::format("{}. One of them should be ahead.", tie.tie());
  return {says, says};
}

// --- misses

constexpr std::size_t most_places = 10000;
constexpr std::uint64_t work_of_byte_at_place = 4096;  // of an expression, which is read and worked out at each place

std::size_t end_of_range(const std::string& expression, const Graph& graph, const Variables& variables) {
  const Quantity quantity = value_of_term(read_term(expression, &graph, variables));
  const double* const number = std::get_if<double>(&quantity);
  if (!number || !(*number >= 0.0 && *number <= 1e6 && *number == std::floor(*number)))
    fail("a range cannot begin or end at '{}': give a whole number from 0 to 1000000", expression);
  return static_cast<std::size_t>(*number);
}

Comparison comparison_at(const Property& property, const Variables& variables, const Graph& graph) {
  Term left = read_term(property.left, &graph, variables);
  return {std::move(left), read_term(property.right, &graph, variables)};
}

// Nothing: it holds where the variables are these numbers.
std::optional<Miss> miss_of_answer(const Property& property, const Variables& variables, const Graph& graph) {
  const auto [left, right] = comparison_at(property, variables, graph);
  const Quantity is = value_of_term(left), should_be = value_of_term(right);
  const double* const value = std::get_if<double>(&is);
  const double* const bound = std::get_if<double>(&should_be);
  if (value && bound) {
    if (property.relation->holds(*value, *bound, property.tolerance)) return std::nullopt;
    return miss_of_number(property, left, *value, *bound);
  }
  if (!property.relation->is_equality || is.index() != should_be.index())
    fail("'{}': {} and {} cannot be compared so", property.text, written(is), written(should_be));
  if (is == should_be) return std::nullopt;
  return miss_of_words(left, is, should_be);
}

// The same. A row in which two words are tied has not the one that is asked for.
std::optional<Miss> miss_at(const Property& property, const Variables& variables, const Graph& graph) {
  try {
    return miss_of_answer(property, variables, graph);
  } catch (const TieError& tie) {
    return miss_of_tie(tie);
  }
}

// Tells `visit` the numbers of the variables at each place, until it has seen enough. Returns how many places
// there were.
std::size_t walk(const Property& property, const Graph& graph,
                 const std::function<bool(const Variables& variables)>& visit) {
  std::size_t count = 0;
  bool goes_on = true;
  Variables variables;
  const std::function<void(std::size_t)> enter = [&](std::size_t depth) {
    if (depth == property.ranges.size()) {
      if (++count > most_places) fail("'{}' has more than {} places", property.text, most_places);
      Budget::take_work(work_of_byte_at_place * property.text.size());
      goes_on = visit(variables);
      return;
    }
    const PlaceRange& range = property.ranges[depth];
    const std::size_t last = end_of_range(range.last, graph, variables);
    for (std::size_t i = end_of_range(range.first, graph, variables); goes_on && i <= last; ++i) {
      variables[range.variable] = static_cast<double>(i);
      enter(depth + 1);
    }
    variables.erase(range.variable);
  };
  enter(0);
  return count;
}

// The same of all places. Throws InputError where there is none.
void visit_all(const Property& property, const Graph& graph,
               const std::function<void(const Variables& variables)>& visit) {
  const std::size_t places = walk(property, graph, [&](const Variables& variables) {
    visit(variables);
    return true;
  });
  if (places == 0)
    fail("'{}' compares nothing: its range is empty. Let each range end at its first number or above", property.text);
}

}  // namespace

std::vector<Comparison> comparisons_of(const Property& property, const Graph& graph) {
  std::vector<Comparison> comparisons;
  visit_all(property, graph,
            [&](const Variables& variables) { comparisons.push_back(comparison_at(property, variables, graph)); });
  return comparisons;
}

std::vector<Miss> misses_of(const Property& property, const Graph& graph) {
  std::vector<Miss> misses;
  visit_all(property, graph, [&](const Variables& variables) {
    if (std::optional<Miss> miss = miss_at(property, variables, graph)) misses.push_back(std::move(*miss));
  });
  return misses;
}

bool holds(const Property& property, const Graph& graph) {
  bool is_so = true;
  const std::size_t places = walk(property, graph, [&](const Variables& variables) {
    is_so = !miss_at(property, variables, graph);
    return is_so;
  });
  return is_so && places > 0;
}

}  // namespace attn
