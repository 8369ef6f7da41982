#include "school/drill/draws.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/math/elementary_functions.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "page/document/text_slots.hpp"
#include "school/drill/cut.hpp"

namespace attn {

namespace {

// --- text

// "2 1; 0 3", as options take it.
std::string written_rows(const Matrix& matrix, std::optional<int> decimals) {
  std::string text;
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    for (std::size_t j = 0; j < matrix.shape().columns; ++j)
      text += (j > 0 ? " " : i > 0 ? "; " : "") + written_number(matrix(i, j), decimals);
  }
  return text;
}

// "e²", "e^1.0986".
std::string power_of_e(double exponent) {
  constexpr std::array<std::string_view, 10> digits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (exponent != std::floor(exponent)) return "e^" + written_fixed(exponent, 4);
  std::string text = exponent < 0 ? "e⁻" : "e";
  for (const char digit : written_fixed(std::fabs(exponent), 0)) text += digits[static_cast<std::size_t>(digit - '0')];
  return text;
}

// --- text functions

// What stands between commas that are in no brackets.
std::vector<std::string_view> arguments_in(std::string_view text) {
  std::vector<std::string_view> arguments;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at == text.size() || (text[at] == ',' && depth == 0)) {
      arguments.push_back(trimmed(text.substr(begin, at - begin)));
      begin = at + 1;
    } else {
      depth += text[at] == '[' ? 1 : text[at] == ']' ? -1 : 0;
    }
  }
  return arguments;
}

// "2 · 1 + 0 · (-3)".
std::string written_products(const DrawnNames& names, std::span<const std::string_view> arguments) {
  const std::vector<double> one = names.row(arguments[0]).cells, other = names.row(arguments[1]).cells;
  if (one.size() != other.size()) fail("products: {} and {} numbers: give as many of both", one.size(), other.size());
  std::vector<std::string> products;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const std::string factor = written_number(other[i]);
    products.push_back(written_number(one[i]) + " · " + (other[i] < 0 ? "(" + factor + ")" : factor));
  }
  return fmt::format("{}", fmt::join(products, " + "));
}

// "e⁰ = 1, e¹ = 2.72", each once, with two decimals.
std::string written_powers(const DrawnNames& names, std::span<const std::string_view> arguments) {
  std::vector<double> exponents = names.row(arguments[0]).cells;
  std::ranges::sort(exponents);
  exponents.erase(std::unique(exponents.begin(), exponents.end()), exponents.end());
  std::vector<std::string> powers;
  for (const double exponent : exponents) {
    const double power = elementary::exp(exponent);
    powers.push_back(fmt::format("{} {} {}", power_of_e(exponent), exponent == std::floor(exponent) ? "=" : "≈",
                                 written_fixed(power, decimals_for(std::span(&power, 1), 2))));
  }
  return fmt::format("{}", fmt::join(powers, ", "));
}

// "e² / (e⁰ + e²)".
std::string written_share(const DrawnNames& names, std::span<const std::string_view> arguments) {
  const DrawnNames::Row row = names.row(arguments[0]);
  const double place = names.whole(arguments[1], 1, static_cast<double>(row.cells.size()));
  const auto term = [&](double number) { return row.is_power ? power_of_e(number) : written_number(number); };
  std::vector<std::string> terms;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (row.counts[i]) terms.push_back(term(row.cells[i]));
  }
  return fmt::format("{} / ({})", term(row.cells[static_cast<std::size_t>(place) - 1]), fmt::join(terms, " + "));
}

// What a text can have written out, besides values.
struct TextFunction {
  std::string_view name;
  std::size_t arguments;
  std::string (*written)(const DrawnNames& names, std::span<const std::string_view> arguments);
};

constexpr std::array text_functions = {TextFunction{"products", 2, written_products},
                                       TextFunction{"powers", 1, written_powers},
                                       TextFunction{"share", 2, written_share}};

}  // namespace

// --- text

DrawnNames::Row DrawnNames::row(std::string_view text) const {
  Row row;
  const auto power = after_word(text, "e^");
  row.is_power = power.has_value();
  const Cut without = cut_at(power.value_or(text), " without "), up_to = cut_at(without.before, " up to "),
            place = cut_at(up_to.before, "[");
  const auto found = matrices_.find(place.before);
  if (found == matrices_.end()) fail_unknown("matrix", place.before, names());
  const Matrix& matrix = *found->second;
  const auto [rows, columns] = matrix.shape();
  const std::string_view inside = place.after ? trimmed(*place.after, " ]") : "1";
  if (!place.after && rows > 1) fail("'{0}' has {1} rows: write {0}[1]", place.before, rows);
  if (const auto column = after_word(inside, ",")) {
    const double j = whole(*column, 1, static_cast<double>(columns));
    for (std::size_t i = 0; i < rows; ++i) row.cells.push_back(matrix(i, static_cast<std::size_t>(j) - 1));
  } else {
    const double i = whole(inside, 1, static_cast<double>(rows));
    const auto all = attn::row(matrix, static_cast<std::size_t>(i) - 1);
    row.cells.assign(all.begin(), all.end());
  }
  const double size = static_cast<double>(row.cells.size());
  row.counts.assign(row.cells.size(), true);
  if (without.after) row.counts[static_cast<std::size_t>(whole(*without.after, 1, size)) - 1] = false;
  if (up_to.after)
    std::fill(row.counts.begin() + static_cast<std::ptrdiff_t>(whole(*up_to.after, 1, size)), row.counts.end(), false);
  return row;
}

// --- text functions

std::string DrawnNames::written_item(const TextSlot& braces) const {
  const auto& [text, decimals] = braces;
  if (const auto words = words_.find(text); words != words_.end())
    return fmt::format("{}", fmt::join(words->second, " "));
  if (const auto matrix = matrices_.find(text); matrix != matrices_.end())
    return written_rows(*matrix->second, decimals);
  const Cut place = cut_at(text, "[");
  if (const auto words = words_.find(place.before); place.after && words != words_.end()) {
    const double at = whole(trimmed(*place.after, " ]"), 1, static_cast<double>(words->second.size()));
    return words->second[static_cast<std::size_t>(at) - 1];
  }
  const Cut call = cut_at(text, "(");
  const TextFunction* const function = find_row(std::span<const TextFunction>(text_functions), call.before);
  if (!function || !call.after || !call.after->ends_with(')')) return written_number(number(text), decimals);
  const Alternatives arguments = arguments_in(call.after->substr(0, call.after->size() - 1));
  if (arguments.size() != function->arguments)
    fail("'{}': {} has {} in its parentheses, with commas between them", text, function->name,
         count_of(function->arguments, "part"));
  return function->written(*this, arguments);
}

std::string DrawnNames::filled(std::string_view text) const {
  return filled_in(text, [this](const TextSlot& braces) { return written_item(braces); });
}

}  // namespace attn
