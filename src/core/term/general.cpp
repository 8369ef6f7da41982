#include "core/term/general.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/support/text.hpp"
#include "core/support/utf8.hpp"
#include "core/term/cell_text.hpp"

namespace attn {
namespace {

using Kind = Pattern::Kind;

// How many places a line takes, and where it is broken: a line that is too long goes on in further ones, at a blank.
std::size_t places_of(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(line, [](char c) { return !continues_character(c); }));
}

std::string broken(std::string line, std::size_t indent) {
  constexpr std::size_t longest = 76;
  std::string all;
  while (places_of(line) > longest) {
    std::size_t at = line.rfind(' ', line.size());
    while (at != std::string::npos && places_of(std::string_view(line).substr(0, at)) > longest)
      at = line.rfind(' ', at - 1);
    if (at == std::string::npos || at <= indent) break;
    all += line.substr(0, line.find_last_not_of(' ', at) + 1) + "\n";
    line = std::string(indent, ' ') + line.substr(at + 1);
  }
  return all + line;
}

// Writes the text of an operation with the names of one node's operands.
class GeneralCell {
 public:
  explicit GeneralCell(const Node& node) : node_(node), text_(cell_text_of(*node.op)) {}

  std::vector<std::string> lines() {
    std::vector<std::string> all;
    const std::string left = node_.title() + "[i,j]";
    for (const CellText::Case& one : text_.cases) {
      std::string line = (all.empty() ? left : std::string(places_of(left), ' ')) + " = " + written(one.term, 0);
      if (one.condition) line += "   if " + written(*one.condition, 0);
      if (!one.condition && text_.cases.size() > 1) line += "   otherwise";
      all.push_back(broken(std::move(line), places_of(left) + 5));
    }
    for (const CellText::Binding& binding : text_.bindings)
      all.push_back(fmt::format("with {} = {}", binding.name, written(binding.pattern, 0)));
    return all;
  }

 private:
  // How firmly it holds together: comparisons, sums, products, signs and powers, and what nothing can be torn from.
  static int strength(const Pattern& pattern) {
    switch (pattern.kind) {
      case Kind::less:
      case Kind::greater:
      case Kind::equal:
      case Kind::unequal:
      case Kind::both:
        return 0;
      case Kind::sum:
      case Kind::difference:
      case Kind::added_up:
        return 1;
      case Kind::product:
      case Kind::quotient:
        return 2;
      case Kind::negative:
      case Kind::power:
        return 3;
      default:
        return 4;
    }
  }

  std::string joined(const Pattern& pattern, std::string_view sign, int inside) {
    std::string all;
    for (std::size_t i = 0; i < pattern.parts.size(); ++i) {
      // A part that begins at the first place begins nowhere else.
      const bool adds_nothing =
          pattern.kind == Kind::sum && pattern.parts[i].kind == Kind::setting && setting(pattern.parts[i].name) == "0";
      if (adds_nothing) continue;
      if (!all.empty()) all += sign;
      // What is subtracted, or divides, needs its parentheses.
      const bool is_turned = i > 0 && (pattern.kind == Kind::difference || pattern.kind == Kind::quotient);
      all += written(pattern.parts[i], is_turned ? inside + 1 : inside);
    }
    return all;
  }

  std::string written(const Pattern& pattern, int around) {
    std::string text = bare(pattern);
    return strength(pattern) < around ? "(" + text + ")" : text;
  }

  std::string operand(std::size_t place) const {
    return place == of_result ? node_.title() : node_.operands[place]->title();
  }

  // All operands as one matrix.
  std::string matrix(const Pattern& cell) const {
    if (text_.joined == CellText::Joining::no) return operand(cell.index);
    std::vector<std::string> titles;
    for (const Node* part : node_.operands) titles.push_back(part->title());
    return fmt::format("[{}]", fmt::join(titles, text_.joined == CellText::Joining::beside ? "; " : ", "));
  }

  std::string bare(const Pattern& pattern) {
    const auto part = [&](std::size_t i) { return written(pattern.parts[i], 0); };
    switch (pattern.kind) {
      case Kind::number:
        if (std::isinf(pattern.value)) return "∞";
        return fmt::format("{}", pattern.value);
      case Kind::notated:
        return notation(pattern);
      case Kind::letter:
        return text_.slot_names[pattern.index];
      case Kind::setting:
        return setting(pattern.name);
      case Kind::element:
        return fmt::format("{}[{}]", pattern.name, part(0));
      case Kind::cell:
        return fmt::format("{}[{},{}]", matrix(pattern), part(0), part(1));
      case Kind::rows:
      case Kind::sentence:
        return fmt::format("rows({})", operand(pattern.index));
      case Kind::columns:
        return fmt::format("columns({})", operand(pattern.index));
      case Kind::place:
        return fmt::format("the column of the largest number of {}[{}]", operand(pattern.index), part(0));
      case Kind::total:
        return fmt::format("sum of {}[{}]", operand(pattern.index), part(0));
      case Kind::exponent:
        return fmt::format("the power of two near the numbers of {}[{}], where their squares would not fit",
                           operand(pattern.index), part(0));
      case Kind::sum:
        return joined(pattern, " + ", 1);
      case Kind::difference:
        return joined(pattern, " − ", 1);
      case Kind::product:
        return joined(pattern, " · ", 2);
      case Kind::quotient:
        return joined(pattern, " / ", 2);
      case Kind::negative:
        return "−" + written(pattern.parts[0], 3);
      case Kind::power:
        return written(pattern.parts[0], 4) +
               (pattern.parts[1].value == 2.0 ? "²" : "^" + written(pattern.parts[1], 4));
      case Kind::call:
        return fmt::format("{}({})", pattern.function->name, part(0));
      case Kind::added_up:
        return fmt::format("Σ {} {}", ranges(pattern), written(body(pattern), 2));
      case Kind::choice:
        return choice(pattern);
      case Kind::block:
        return fmt::format("⌈{} / {}⌉", written(pattern.parts[0], 2), written(pattern.parts[1], 3));
      case Kind::within:
        return fmt::format("the place of {} within {}", part(0), part(1));
      case Kind::least:
        return fmt::format("min({}, {})", part(0), part(1));
      case Kind::most:
        return fmt::format("max({}, {})", part(0), part(1));
      case Kind::distance:
        return fmt::format("the distance from {} to {}", part(0), part(1));
      case Kind::magnitude:
        return fmt::format("|{}|", part(0));
      case Kind::less:
        return joined(pattern, " < ", 1);
      case Kind::greater:
        return joined(pattern, " > ", 1);
      case Kind::equal:
        return joined(pattern, " = ", 1);
      case Kind::unequal:
        return joined(pattern, " ≠ ", 1);
      case Kind::both:
        return joined(pattern, " and ", 0);
      case Kind::every:
        return fmt::format("{} for all {}", written(body(pattern), 0), ranges(pattern));
    }
    return "";
  }

  static const Pattern& body(const Pattern& over) { return over.parts[2 * over.slots.size()]; }

  // "k = 1 … columns(x)", and where that is said the condition.
  std::string ranges(const Pattern& over) {
    std::vector<std::string> all;
    for (std::size_t k = 0; k < over.slots.size(); ++k) {
      all.push_back(fmt::format("{}=1…{}", text_.slot_names[over.slots[k]], written(over.parts[2 * k + 1], 0)));
      if (over.parts[2 * k].kind != Kind::number)
        all.back() = fmt::format("{}={}…{}", text_.slot_names[over.slots[k]], written(over.parts[2 * k], 0),
                                 written(over.parts[2 * k + 1], 0));
    }
    const bool has_condition = over.parts.size() == 2 * over.slots.size() + 2;
    return fmt::format("({}{})", fmt::join(all, ", "), has_condition ? ", " + written(over.parts.back(), 0) : "");
  }

  std::string choice(const Pattern& pattern) {
    std::string all;
    std::size_t i = 0;
    for (; i + 1 < pattern.parts.size(); i += 2)
      all += fmt::format("{} if {}, else ", written(pattern.parts[i + 1], 0), written(pattern.parts[i], 0));
    return "(" + all + written(pattern.parts[i], 0) + ")";
  }

  std::string notation(const Pattern& pattern) {
    std::string all;
    for (const CellPiece& piece : pattern.pieces)
      all += piece.pattern.empty() ? piece.words : written(piece.pattern[0], 2);
    return all;
  }

  std::string setting(std::string_view name) const {
    const OpSetting& setting = *node_.settings.named(name);
    if (const Scalar* const scalar = std::get_if<Scalar>(&setting.value)) return scalar->notation.plain;
    if (const std::size_t* const count = std::get_if<std::size_t>(&setting.value)) return fmt::format("{}", *count);
    return fmt::format("{}", std::get<double>(setting.value));
  }

  const Node& node_;
  const CellText& text_;
};

}  // namespace

std::vector<std::string> general_cell(const Node& node) { return GeneralCell(node).lines(); }

std::string written_definition(const Definition& definition) {
  std::string lines;
  int parentheses = 0;
  std::size_t indent = 0;
  bool is_new_line = true;
  for (const char c : definition.code) {
    if (is_new_line && c == ' ') continue;
    if (is_new_line) lines += std::string(2 * (c == '}' && indent > 0 ? indent - 1 : indent), ' ');
    is_new_line = false;
    parentheses += c == '(' ? 1 : c == ')' ? -1 : 0;
    lines += c;
    const bool opens = c == '{' && parentheses == 0, closes = c == '}' && parentheses == 0;
    indent += opens;
    indent -= closes;
    is_new_line = opens || closes || (c == ';' && parentheses == 0);
    if (is_new_line) lines += '\n';
  }
  std::vector<std::string> all;
  for (const std::string_view line : split_at(lines, '\n')) {
    if (!line.empty()) all.push_back(broken(std::string(line), 4));
  }
  return fmt::format("{}", fmt::join(all, "\n"));
}

std::vector<std::string> operands_of(const Definition& definition) {
  std::vector<std::string> names;
  std::string_view all = definition.operands;
  if (all.empty()) return names;
  for (const std::string_view name : split_at(all.substr(1, all.size() - 2), ','))
    names.emplace_back(name.substr(name.find_first_not_of(' ')));
  return names;
}

}  // namespace attn
