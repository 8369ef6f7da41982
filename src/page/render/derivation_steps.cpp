#include "page/render/derivation_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/support/number.hpp"
#include "core/support/text.hpp"

namespace attn {
namespace {

enum class Names { shown, replaced_by_numbers };

using TermKind = Term::Kind;

// Binding strength, to know where parentheses are needed.
int strength(const Term& term) {
  switch (term.kind) {
    case TermKind::sum:
    case TermKind::negative:
      return 1;
    case TermKind::product:
    case TermKind::inverse:
      return 2;
    default:
      return 3;
  }
}

// A number; with the sign that says how it is joined to others, it still is one.
bool is_leaf(const Term& term) {
  const bool is_signed = term.kind == TermKind::negative || term.kind == TermKind::inverse;
  return is_signed ? is_leaf(term.parts[0]) : term.parts.empty();
}

struct Numeral {
  std::string text;
  bool is_exact = true;
};

Numeral numeral_of(double value, const Notation& notation) {
  if (std::isnan(value)) return {notation.latex ? "\\mathrm{NaN}" : "NaN"};
  const char* const minus = notation.latex ? "-" : "−";
  if (std::isinf(value)) return {(value < 0 ? minus : "") + std::string(notation.latex ? "\\infty" : "∞")};
  std::string digits;
  const double magnitude = std::fabs(value);
  const bool tiny = magnitude != 0.0 && magnitude < 0.5 * std::pow(10.0, -notation.precision);
  const bool scientific = tiny || magnitude >= 1e12;
  bool exact = false;
  if (scientific) {
    append_scientific(digits, magnitude, 2);
    exact = parse_number<double>(digits) == magnitude;
  } else {
    exact = is_exact(value, notation.precision);
    append_fixed(digits, magnitude, notation.precision);
    if (digits.find('.') != std::string::npos) {
      digits.erase(digits.find_last_not_of('0') + 1);
      if (digits.back() == '.') digits.pop_back();
    }
  }
  return {(value < 0 && digits != "0" ? "-" : "") + digits, exact};
}

std::string written_cell(const Symbol& matrix, std::size_t row, std::size_t column, bool latex) {
  if (latex) return fmt::format("{{{}}}_{{{},{}}}", matrix.formula.latex, row + 1, column + 1);
  return fmt::format("{}[{},{}]", matrix.formula.plain, row + 1, column + 1);
}

class TermWriter {
 public:
  TermWriter(const Notation& notation, Names names) : notation_(notation), names_(names) {}

  WrittenStep write(const Term& term) {
    exact_ = true;
    std::string text = whole(term);
    return {!exact_, std::move(text)};
  }

 private:
  std::string whole(const Term& term) {
    ++depth_;
    std::string text = at_depth(term);
    --depth_;
    return text;
  }

  std::string at_depth(const Term& term) {
    switch (term.kind) {
      case TermKind::constant:
        if (names_ == Names::shown && !term.notation.plain.empty()) return choose(term.notation);
        return numeral(term.value);
      case TermKind::cell:
        if (names_ == Names::shown) return written_cell(*term.matrix, term.row, term.column, notation_.latex);
        return numeral(term.value);
      case TermKind::sum:
        return is_difference(term) ? part(term.parts[0], 1) + minus() + part(term.parts[1].parts[0], 2)
                                   : joined(term.parts, " + ");
      case TermKind::product:
        return is_quotient(term) ? quotient(term.parts[0], term.parts[1].parts[0])
                                 : joined(term.parts, notation_.latex ? " \\cdot " : "⋅");
      case TermKind::negative:
        return (notation_.latex ? "-" : "−") + part(term.parts[0], 2);
      case TermKind::power:
        return power(term);
      case TermKind::call:
        return call(term);
      default:
        return numeral(term.value);
    }
  }

  std::string numeral(double value) {
    const Numeral number = numeral_of(value, notation_);
    exact_ = exact_ && number.is_exact;
    return number.text;
  }

  // Negative numbers stand in parentheses inside sums and products.
  std::string part(const Term& term, int outer) {
    std::string text = whole(term);
    const bool negative = is_leaf(term) && (text.starts_with("−") || text.starts_with('-'));
    if (strength(term) >= outer && !negative) return text;
    return notation_.latex ? "\\left(" + text + "\\right)" : "(" + text + ")";
  }

  std::string joined(const std::vector<Term>& parts, std::string_view sign) {
    const int outer = sign == " + " ? 1 : 2;
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool breaks = notation_.terms_in_line > 0 && depth_ == 1 && sign == " + ";
      const bool new_line = breaks && i > 0 && i % notation_.terms_in_line == 0;
      if (i > 0) text += new_line ? std::string(" \\\\\n&\\quad + ") : std::string(sign);
      text += part(parts[i], outer);
    }
    return text;
  }

  std::string quotient(const Term& above, const Term& below) {
    if (notation_.latex) return "\\frac{" + whole(above) + "}{" + whole(below) + "}";
    // A quotient below needs its parentheses, one above reads from left to right.
    return part(above, 2) + " / " + part(below, 3);
  }

  std::string power(const Term& term) {
    const std::string base = part(term.parts[0], 3);
    if (is_square(term)) return base + (notation_.latex ? "^{2}" : "²");
    return notation_.latex ? base + "^{" + whole(term.parts[1]) + "}" : base + "^" + part(term.parts[1], 3);
  }

  std::string call(const Term& term) {
    const Function& function = *term.function;
    const std::string argument = whole(term.parts[0]);
    if (notation_.latex) return std::string(function.latex) + "\\left(" + argument + "\\right)";
    return std::string(function.name) + "(" + argument + ")";
  }

  std::string minus() const { return notation_.latex ? " - " : " − "; }
  std::string choose(const Formula& formula) const { return notation_.latex ? formula.latex : formula.plain; }

  const Notation& notation_;
  Names names_;
  int depth_ = 0;  // 1: the whole term
  bool exact_ = true;
};

// The sums that were shortened, and what is left out of each.
struct LeftOut {
  std::size_t sums = 0, terms = 0;  // the terms: of the last of these sums
  double value = 0.0;
  bool has_equal = false;  // some term is as large as one that is shown
};

Term shorten_sums(Term term, LeftOut& left_out) {
  if (term.kind == TermKind::sum && term.parts.size() > longest_sum) {
    std::vector<std::size_t> order(term.parts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto size = [&](std::size_t i) {
      const double value = std::fabs(term.parts[i].value);
      return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
    };
    std::ranges::stable_sort(order, std::greater(), size);
    const bool has_equal = size(order[terms_of_long_sum - 1]) == size(order[terms_of_long_sum]);
    std::vector<bool> is_shown(order.size(), false);
    for (std::size_t n = 0; n < terms_of_long_sum; ++n) is_shown[order[n]] = true;
    std::vector<Term> parts;
    double rest = 0.0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (is_shown[i]) {
        parts.push_back(std::move(term.parts[i]));
      } else {
        rest += term.parts[i].value;
      }
    }
    left_out = {left_out.sums + 1, order.size() - terms_of_long_sum, rest, left_out.has_equal || has_equal};
    parts.push_back(constant_of(rest, {fmt::format("({}\u00A0others)", left_out.terms),
                                       fmt::format("\\left(\\text{{{} others}}\\right)", left_out.terms)}));
    term.parts = std::move(parts);
  }
  for (Term& part : term.parts) part = shorten_sums(std::move(part), left_out);
  return term;
}

std::string told_left_out(const LeftOut& left_out) {
  const std::string_view equal = left_out.has_equal ? "Some of the others are as large. " : "";
  if (left_out.sums > 1)
    return fmt::format(
        "Of each sum of more than {} terms, the {} largest by magnitude are shown, in their order. {}"
        "The others stand behind them, with what they add up to (--full shows all).",
        longest_sum, terms_of_long_sum, equal);
  return fmt::format(
      "The {} largest terms by magnitude are shown, in their order. {}The other {} add up to {} (--full shows all).",
      terms_of_long_sum, equal, left_out.terms, written_number(left_out.value, Notation()));
}

// Works out the innermost terms: those whose parts are numbers already.
Term one_step_further(const Term& term) {
  const bool is_signed = term.kind == TermKind::negative || term.kind == TermKind::inverse;
  if (!is_signed && (is_leaf(term) || std::ranges::all_of(term.parts, is_leaf))) return constant_of(term.value);
  Term result = term;
  for (Term& part : result.parts) {
    if (!is_square(term) || &part == result.parts.data()) part = one_step_further(part);
  }
  return result;
}

}  // namespace

DerivationStep with_short_sums(const DerivationStep& derived, bool full) {
  if (full) return derived;
  DerivationStep shortened = derived;
  LeftOut left_out;
  shortened.term = shorten_sums(std::move(shortened.term), left_out);
  if (left_out.sums > 0) shortened.told_reason += (shortened.told_reason.empty() ? "" : " ") + told_left_out(left_out);
  return shortened;
}

std::string written_number(double value, const Notation& notation) { return numeral_of(value, notation).text; }

std::string written_subject(const DerivationStep& derived, const Notation& notation) {
  return written_cell(*derived.matrix, derived.row, derived.column, notation.latex);
}

std::vector<WrittenStep> steps_of(const DerivationStep& derived, const Notation& notation) {
  std::vector<WrittenStep> steps = {TermWriter(notation, Names::shown).write(derived.term)};
  Term rest = derived.term;
  while (true) {
    WrittenStep next = TermWriter(notation, Names::replaced_by_numbers).write(rest);
    if (next.text != steps.back().text) steps.push_back(std::move(next));
    if (is_leaf(rest)) return steps;
    rest = one_step_further(rest);
  }
}

std::string aligned_steps(const DerivationStep& derived, int precision) {
  const Notation notation{.latex = true, .precision = std::max(precision, least_precision), .terms_in_line = 4};
  std::string lines, left = written_subject(derived, notation) + " ";
  for (const WrittenStep& step : steps_of(derived, notation)) {
    lines += left + (step.is_rounded ? "&\\approx " : "&= ") + step.text + "\n";
    left = "\\\\ ";
  }
  return lines;
}

std::string written_shapes(const FormulaBlock& block) {
  std::string shapes;
  for (const Shape operand : block.operands) shapes += "[" + to_string(operand) + "] ";
  return shapes + (shapes.empty() ? "[" : "→ [") + to_string(block.result) + "]";
}

}  // namespace attn
