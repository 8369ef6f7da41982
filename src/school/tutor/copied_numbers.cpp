#include "school/tutor/copied_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/term/expression_functions.hpp"
#include "school/tutor/other_answers.hpp"
#include "school/tutor/slips.hpp"
#include "school/tutor/solution_steps.hpp"

namespace attn {

// --- copied numbers

namespace {

// A leaf of a working, and what it stands in, from the inside out.
struct CopiedLeaf {
  const Term* term;
  std::vector<std::pair<const Term*, std::size_t>> around;
};

void collect_leaves(const Term& working, std::vector<std::pair<const Term*, std::size_t>>& around,
                    std::vector<CopiedLeaf>& leaves) {
  if (working.parts.empty() && gives_number(working)) leaves.push_back({&working, {around.rbegin(), around.rend()}});
  for (std::size_t i = 0; i < working.parts.size(); ++i) {
    around.emplace_back(&working, i);
    collect_leaves(working.parts[i], around, leaves);
    around.pop_back();
  }
}

std::vector<CopiedLeaf> leaves_of(const Term& working) {
  std::vector<CopiedLeaf> leaves;
  std::vector<std::pair<const Term*, std::size_t>> around;
  collect_leaves(working, around, leaves);
  return leaves;
}

// What a number of a matrix is called; empty: nothing is known of it.
std::string_view noun_of(const Term& leaf) {
  if (leaf.kind != Term::Kind::cell) return "";
  const Node& node = *leaf.node;
  if (node.is(role::scores) || node.is(role::scaled) || node.is(role::masked)) return "a score";
  if (node.is(role::distribution)) return "a probability";
  if (node.content() == Content::weights) return "a weight";
  if (node.is(role::v)) return "a value";
  if (node.is(role::logits)) return "a logit";
  if (node.is(role::q)) return "a number of a query";
  if (node.is(role::k)) return "a number of a key";
  return "";
}

// As the question has them.
std::string short_numbers(const Term& exact, const std::vector<double>& given) {
  const Term working = with_numbers(exact, given);
  const std::string numbers = in_numbers(working);
  constexpr double least = 5e-5;  // a smaller one is written as 0.0000
  const bool is_almost_zero =
      working.parts.empty() && number_from(working) != 0.0 && std::fabs(number_from(working)) < least;
  return is_almost_zero ? "almost 0" : numbers.size() <= longest_in_numbers ? numbers : "";
}

std::string done_with_factor(const Term& product, std::size_t i, bool divides, const std::vector<double>& given) {
  Term others = without_part(product, i);
  if (others.kind == Term::Kind::product && others.parts.size() == 1) others = Term(others.parts.front());
  const std::string numbers = short_numbers(divides ? others : without_sign(others), given);
  if (divides) return numbers.empty() ? "It is a divisor." : fmt::format("Divide {} by it.", numbers);
  const bool is_divided = is_inverse(others);
  if (numbers.empty()) return "It is one factor of a product.";
  return is_divided ? fmt::format("Divide it by {}.", numbers) : fmt::format("Multiply it by {}.", numbers);
}

std::string done_with_term(const Term& sum, std::size_t i, const std::vector<double>& given) {
  if (sum.parts.size() > 2) {
    const std::string numbers = short_numbers(sum, given);
    return numbers.empty() ? "It is one term of a longer sum." : fmt::format("It is one term of {}.", numbers);
  }
  const Term& other = sum.parts[1 - i];
  const std::string numbers = short_numbers(without_sign(other), given);
  if (numbers.empty()) return "It is one of two terms.";
  if (is_negative(sum.parts[i])) return fmt::format("Subtract it from {}.", numbers);
  return is_negative(other) ? fmt::format("Subtract {} from it.", numbers) : fmt::format("Add {} to it.", numbers);
}

// What is done with a leaf next; empty: nothing, it is the whole.
std::string done_with(const CopiedLeaf& leaf, const std::vector<double>& given) {
  bool divides = false;
  for (const auto& [whole, i] : leaf.around) {
    switch (whole->kind) {
      case Term::Kind::inverse:
        divides = true;
        break;
      case Term::Kind::negative:
        break;
      case Term::Kind::product: {
        const std::string done = done_with_factor(*whole, i, divides, given);
        const auto [beyond, place] = whole == leaf.around.back().first
                                         ? std::pair<const Term*, std::size_t>(nullptr, 0)
                                         : *std::next(std::ranges::find(leaf.around, std::pair(whole, i)));
        const bool is_of_sum = beyond && beyond->kind == Term::Kind::sum &&
                               std::ranges::none_of(beyond->parts, [](const Term& part) { return is_negative(part); });
        return is_of_sum && !divides ? done + " Then add the other terms." : done;
      }
      case Term::Kind::sum:
        return done_with_term(*whole, i, given);
      case Term::Kind::power:
        return i == 1 ? "This is the exponent." : fmt::format("Raise it to the power {}.", in_numbers(whole->parts[1]));
      case Term::Kind::call:
        if (whole->function == &exponential) return "Take e to the power of it.";
        if (whole->function == &square_root) return "Take its square root.";
        return fmt::format("Take {} of it.", whole->function->name);
      default:
        return "";
    }
  }
  return "";
}

struct CopiedAt {
  double number;           // as it was copied
  const CopiedLeaf* leaf;  // that it stands for
  bool is_given;           // in the question, and not only in a table
};

// Where copied numbers stand in one working: those that the question gives, and those that a table has shown.
std::vector<CopiedAt> places_in(const std::vector<CopiedLeaf>& leaves, const LearnerKnowledge& known) {
  std::vector<CopiedAt> places;
  for (const CopiedLeaf& leaf : leaves) {
    const double value = number_from(*leaf.term);
    for (const double number : known.data()) {
      if (stands_for(number, value)) places.push_back({number, &leaf, true});
    }
    const bool is_shown = leaf.term->kind == Term::Kind::cell && known.is_shown(*leaf.term->node);
    if (is_shown) places.push_back({value, &leaf, false});
  }
  return places;
}

std::string told_copy(const CopiedAt& place, const std::vector<CopiedAt>& places, bool is_earlier,
                      const std::vector<double>& given) {
  const std::string done = done_with(*place.leaf, given);
  if (done.empty()) return "";
  std::string_view noun = noun_of(*place.leaf->term);
  const auto is_other = [&](const CopiedAt& other) {
    return other.number == place.number && noun_of(*other.leaf->term) != noun;
  };
  if (std::ranges::any_of(places, is_other)) noun = "";
  const std::string what =
      place.is_given
          ? fmt::format("{} stands in the question{}{}.", number_in_sentence(place.number), noun.empty() ? "" : " as ",
                        noun)
          : fmt::format("This is {} alone.",
                        cell_name({place.leaf->term->node, place.leaf->term->row, place.leaf->term->column}));
  const bool ends_in_then = done.ends_with("Then add the other terms.");
  const std::string then = !is_earlier ? "" : ends_in_then ? ", and go on from there." : " Then go on from there.";
  return fmt::format("{} {}{}", what, is_earlier && ends_in_then ? done.substr(0, done.size() - 1) : done, then);
}

}  // namespace

std::vector<RecognizedAnswer> copied_numbers(const std::vector<Term>& paths, const LearnerKnowledge& known) {
  std::vector<RecognizedAnswer> found;
  std::set<double> told;
  constexpr int deepest = 4;
  for (const Term& path : paths) {
    std::vector<Term> workings = {path};
    for (int depth = 0; depth < deepest && !workings.empty(); ++depth) {
      std::vector<Term> earlier;
      for (const Term& working : workings) {
        if (size_of(working) > most_parts) continue;
        const std::vector<CopiedLeaf> leaves = leaves_of(working);
        const std::vector<CopiedAt> places = places_in(leaves, known);
        for (const CopiedAt& place : places) {
          if (place.number == 0.0 || told.contains(place.number)) continue;  // to 0 lead many ways
          std::string says = told_copy(place, places, depth > 0, known.numbers());
          if (says.empty()) continue;
          told.insert(place.number);
          const auto of_table = depth == 0 ? RecognizedAnswer::Kind::slip : RecognizedAnswer::Kind::rare;
          found.push_back({place.number, place.is_given ? RecognizedAnswer::Kind::given : of_table, std::move(says)});
        }
        for (const Cell& cell : cells_of(working)) {
          if (cell.node->original().op && !known.has(cell)) earlier.push_back(last_steps(cell_term(cell)));
        }
      }
      constexpr std::size_t most_workings = 40;
      if (earlier.size() > most_workings) earlier.clear();
      workings = std::move(earlier);
    }
  }
  for (const double number : known.data()) {
    if (number != 0.0 && told.insert(number).second)
      found.push_back({number, RecognizedAnswer::Kind::copied,
                       fmt::format("{} stands in the question. It is not the answer.", number_in_sentence(number))});
  }
  return found;
}

}  // namespace attn
