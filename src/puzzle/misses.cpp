#include "puzzle/misses.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "puzzle/miss_told.hpp"
#include "quantity/functions.hpp"
#include "quantity/working.hpp"
#include "support/budget.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

constexpr std::size_t most_places = 10000;
constexpr std::uint64_t work_of_byte = 4096;  // of an expression, which is read and worked out at each place

std::size_t end_of_range(const std::string& expression, const Graph& graph, const Variables& variables) {
  const Quantity quantity = worked_out(read_working(expression, &graph, variables));
  const double* const number = std::get_if<double>(&quantity);
  if (!number || !(*number >= 0.0 && *number <= 1e6 && *number == std::floor(*number)))
    fail("a range cannot begin or end at '{}': give a whole number from 0 to 1000000", expression);
  return static_cast<std::size_t>(*number);
}

Comparison comparison_at(const Property& property, const Variables& variables, const Graph& graph) {
  Working left = read_working(property.left, &graph, variables);
  return {std::move(left), read_working(property.right, &graph, variables)};
}

// Nothing: it holds where the variables are these numbers.
std::optional<Miss> miss_of_answer(const Property& property, const Variables& variables, const Graph& graph) {
  const auto [left, right] = comparison_at(property, variables, graph);
  const Quantity is = worked_out(left), should_be = worked_out(right);
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
      Budget::take_work(work_of_byte * property.text.size());
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
    fail("'{}' compares nothing: its range is empty. Let each range end at its first number or above",
         property.text);
}

}  // namespace

std::vector<Comparison> comparisons_of(const Property& property, const Graph& graph) {
  std::vector<Comparison> comparisons;
  visit_all(property, graph, [&](const Variables& variables) {
    comparisons.push_back(comparison_at(property, variables, graph));
  });
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
