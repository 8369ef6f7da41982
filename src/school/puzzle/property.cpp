#include "school/puzzle/puzzle.hpp"

#include <array>
#include <cmath>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "core/term/quantity.hpp"
#include "data/problem/problem_options.hpp"

namespace attn {

namespace {

constexpr double usual_tolerance = 0.01;

// A longer sign before those that it begins with.
constexpr std::array relations = {
    Relation{{"≥", ">="}, "at least", [](double value, double bound, double) { return value >= bound; }},
    Relation{{"≤", "<="}, "at most", [](double value, double bound, double) { return value <= bound; }},
    Relation{{">", ">"}, "more than", [](double value, double bound, double) { return value > bound; }},
    Relation{{"<", "<"}, "less than", [](double value, double bound, double) { return value < bound; }},
    Relation{{"=", "="},
             "",
             [](double value, double bound, double tolerance) {
               return value == bound || std::fabs(value - bound) <= tolerance;
             },
             true},
};

// The first of these signs that stands in no quotes and no brackets, and where.
struct FoundSign {
  std::size_t at = std::string_view::npos;
  std::size_t sign = 0, length = 0;
  explicit operator bool() const { return at != std::string_view::npos; }
};

FoundSign find_outside(std::string_view text, const std::vector<std::string_view>& signs) {
  bool in_quotes = false;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') in_quotes = !in_quotes;
    if (in_quotes) continue;
    if (depth == 0) {
      for (std::size_t sign = 0; sign < signs.size(); ++sign) {
        if (text.substr(at).starts_with(signs[sign])) return {at, sign, signs[sign].size()};
      }
    }
    depth += text[at] == '[' || text[at] == '(' ? 1 : text[at] == ']' || text[at] == ')' ? -1 : 0;
  }
  return {};
}

// The pieces between signs that stand in no quotes and no brackets.
std::vector<std::string_view> split_outside(std::string_view text, std::string_view sign) {
  std::vector<std::string_view> pieces;
  while (const FoundSign found = find_outside(text, {sign})) {
    pieces.push_back(text.substr(0, found.at));
    text.remove_prefix(found.at + found.length);
  }
  pieces.push_back(text);
  return pieces;
}

PlaceRange read_range(std::string_view text) {
  const std::size_t equals = text.find('='), dots = text.find("..");
  if (equals == std::string_view::npos || dots == std::string_view::npos || dots < equals)
    fail("'for {}' cannot be read: write for i = 1..4", trimmed(text));
  PlaceRange range{std::string(trimmed(text.substr(0, equals))),
                   std::string(trimmed(text.substr(equals + 1, dots - equals - 1))),
                   std::string(trimmed(text.substr(dots + 2)))};
  if (!is_name(range.variable)) fail("'{}' is no variable: write one letter, such as i", range.variable);
  if (range.first.empty() || range.last.empty()) fail("'for {}' has no end: write for i = 1..4", text);
  return range;
}

}  // namespace

Property read_property(std::string_view text) {
  Property property;
  property.text = trimmed(text);
  std::string_view rest = property.text;
  if (const FoundSign found = find_outside(rest, {" for "})) {
    for (const std::string_view range : split_outside(rest.substr(found.at + found.length), ","))
      property.ranges.push_back(read_range(range));
    rest = rest.substr(0, found.at);
  }
  std::vector<std::string_view> signs;
  for (const Relation& relation : relations) signs.insert(signs.end(), relation.signs.begin(), relation.signs.end());
  const FoundSign sign = find_outside(rest, signs);
  if (!sign) fail("'{}' compares nothing: write two quantities with one of ≥ ≤ > < = between them", text);
  property.relation = &relations[sign.sign / 2];
  property.left = trimmed(rest.substr(0, sign.at));
  rest = rest.substr(sign.at + sign.length);
  const FoundSign off = find_outside(rest, {"±", "+-"});
  if (off && !property.relation->is_equality) fail("'{}': only an equality has a tolerance", text);
  if (property.relation->is_equality) property.tolerance = usual_tolerance;
  if (off) {
    const Quantity tolerance = look_up_quantity(rest.substr(off.at + off.length), nullptr).quantity;
    const double* const number = std::get_if<double>(&tolerance);
    if (!number || !(*number >= 0.0)) fail("'{}': the tolerance is not a number of 0 or more", text);
    property.tolerance = *number;
    rest = rest.substr(0, off.at);
  }
  property.right = trimmed(rest);
  if (property.left.empty() || property.right.empty())
    fail("'{}' compares nothing: write two quantities with one of ≥ ≤ > < = between them", text);
  return property;
}

}  // namespace attn
