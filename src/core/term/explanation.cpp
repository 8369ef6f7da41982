#include "core/term/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/graph/graph.hpp"
#include "core/math/elementary_functions.hpp"
#include "core/math/rows.hpp"
#include "core/term/cell_text.hpp"

namespace attn {
namespace {

using Kind = Pattern::Kind;

// A number that was not computed where it stands was copied from the first node with a name.
std::string source_of(Cell cell) {
  while (cell.node->name.empty()) {
    const Term from = explain(*cell.node, cell.row, cell.column).term;
    if (from.kind != Term::Kind::cell) return "";
    cell = {from.node, from.row, from.column};
  }
  return fmt::format("copied from {}[{},{}]", cell.node->name, cell.row + 1, cell.column + 1);
}

// √ and powers of a notation as LaTeX has them: "10000^(2/4)", "√(2/π)", "−½".
std::string latex_of_notation(std::string_view plain) {
  struct Sign {
    std::string_view plain, latex;
  };
  constexpr Sign signs[] = {{"√(", "\\sqrt{"},      {"√2", "\\sqrt{2}"}, {"^(", "^{"},    {"π", "\\pi"},
                            {"½", "\\tfrac{1}{2}"}, {"−", "-"},          {"∞", "\\infty"}};
  std::string latex;
  int open = 0;  // braces that a parenthesis closes
  while (!plain.empty()) {
    const auto found = std::ranges::find_if(signs, [&](const Sign& sign) { return plain.starts_with(sign.plain); });
    if (found != std::end(signs)) {
      open += found->plain.ends_with('(');
      latex += found->latex;
      plain.remove_prefix(found->plain.size());
      continue;
    }
    const bool closes = plain.front() == ')' && open > 0;
    latex += closes ? '}' : plain.front();
    open -= closes;
    plain.remove_prefix(1);
  }
  return latex;
}

// Fills the text of an operation in, for one cell of one node.
class Filling {
 public:
  Filling(const Node& node, std::size_t row, std::size_t column)
      : node_(node),
        text_(cell_text_of(*node.op)),
        sentences_(attn::sentences_of(*node.op, node.use())),
        slots_(text_.slots, 0.0) {
    const bool counts_in_sentence = std::ranges::find(text_.by_sentence, true) != text_.by_sentence.end();
    const std::size_t rows = std::max<std::size_t>(node.frame.shape.rows / sentences_, 1);
    sentence_ = row / rows;
    slots_[0] = static_cast<double>((counts_in_sentence ? row % rows : row) + 1);
    slots_[1] = static_cast<double>(column + 1);
    for (const CellText::Binding& binding : text_.bindings) slots_[binding.slot] = number(binding.pattern);
  }

  Explanation explanation() {
    const auto holds_here = [this](const CellText::Case& one) { return !one.condition || holds(*one.condition); };
    const CellText::Case& chosen = *std::ranges::find_if(text_.cases, holds_here);
    return {term(chosen.term), sentence(chosen.because)};
  }

  void each_part(const TakeCells& take) {
    const auto holds_here = [this](const CellText::Case& one) { return !one.condition || holds(*one.condition); };
    parts(std::ranges::find_if(text_.cases, holds_here)->term, take);
  }

 private:
  // --- numbers

  double number(const Pattern& pattern) {
    const auto part = [&](std::size_t i) { return number(pattern.parts[i]); };
    switch (pattern.kind) {
      case Kind::number:
        return pattern.value;
      case Kind::notated:
        return part(0);
      case Kind::letter:
        return slots_[pattern.index];
      case Kind::setting:
        return number_of_setting(setting_called(pattern.name));
      case Kind::element:
        return element_of(setting_called(pattern.name), place(pattern.parts[0]));
      case Kind::cell:
        return cell(pattern).value();
      case Kind::rows:
        return static_cast<double>(is_by_sentence(pattern.index) ? shape(pattern.index).rows / sentences_
                                                                 : shape(pattern.index).rows);
      case Kind::columns:
        return static_cast<double>(shape(pattern.index).columns);
      case Kind::sentence:
        return static_cast<double>(shape(pattern.index).rows / sentences_);
      case Kind::place:
        return static_cast<double>(place_of_largest(row(pattern)) + 1);
      case Kind::total:
        return sum_of(row(pattern));
      case Kind::exponent:
        return exponent_of(row(pattern));
      case Kind::difference:
        return part(0) - part(1);
      case Kind::quotient:
        return part(0) / part(1);
      case Kind::negative:
        return -part(0);
      case Kind::power:
        if (pattern.parts[1].value == 2.0) return part(0) * part(0);
        return pattern.parts[0].value == 2.0 ? std::exp2(part(1)) : elementary::power(part(0), part(1));
      case Kind::call:
        return pattern.function->evaluate(part(0));
      case Kind::sum:
      case Kind::product: {
        double all = part(0);
        for (std::size_t i = 1; i < pattern.parts.size(); ++i)
          all = pattern.kind == Kind::sum ? all + part(i) : all * part(i);
        return all;
      }
      case Kind::added_up: {
        double all = 0.0;
        for_each(pattern, [&](const Pattern& body) { return all += number(body), true; });
        return all;
      }
      case Kind::choice:
        return number(chosen(pattern));
      case Kind::block:
        return std::floor((part(0) - 1.0) / part(1)) + 1.0;
      case Kind::within:
        return std::fmod(part(0) - 1.0, part(1)) + 1.0;
      case Kind::least:
        return std::fmin(part(0), part(1));
      case Kind::most:
        return std::fmax(part(0), part(1));
      case Kind::distance:
        return static_cast<double>(node_.find(setting::distance)
                                       ->between(static_cast<std::size_t>(part(0)), static_cast<std::size_t>(part(1))));
      case Kind::magnitude:
        return std::fabs(part(0));
      default:
        return holds(pattern) ? 1.0 : 0.0;
    }
  }

  bool holds(const Pattern& condition) {
    const auto part = [&](std::size_t i) { return number(condition.parts[i]); };
    switch (condition.kind) {
      case Kind::less:
        return part(0) < part(1);
      case Kind::greater:
        return part(0) > part(1);
      case Kind::equal:
        return part(0) == part(1);
      case Kind::unequal:
        return part(0) != part(1);
      case Kind::both:
        return holds(condition.parts[0]) && holds(condition.parts[1]);
      default: {
        bool all = true;
        for_each(condition, [&](const Pattern& body) { return all = holds(body); });
        return all;
      }
    }
  }

  const Pattern& chosen(const Pattern& choice) {
    std::size_t i = 0;
    while (i + 1 < choice.parts.size() && !holds(choice.parts[i])) i += 2;
    return choice.parts[i + 1 < choice.parts.size() ? i + 1 : i];
  }

  // Does something with the body, for all places of the variables for which the condition holds, until it says no.
  template <class Do>
  void for_each(const Pattern& over, const Do& act, std::size_t variable = 0) {
    const std::size_t count = over.slots.size();
    if (variable == count) {
      const bool has_condition = over.parts.size() == 2 * count + 2;
      goes_on_ = (has_condition && !holds(over.parts.back())) || act(over.parts[2 * count]);
      return;
    }
    goes_on_ = true;
    const double first = number(over.parts[2 * variable]), last = number(over.parts[2 * variable + 1]);
    for (double place = first; place <= last && goes_on_; ++place) {
      slots_[over.slots[variable]] = place;
      for_each(over, act, variable + 1);
    }
  }

  const OpSetting& setting_called(std::string_view name) const { return *node_.settings.named(name); }

  static double element_of(const OpSetting& setting, std::size_t place) {
    if (const RowPositions* const positions = std::get_if<RowPositions>(&setting.value))
      return static_cast<double>((*positions)[place]);
    return std::get<std::vector<double>>(setting.value)[place];
  }

  static double number_of_setting(const OpSetting& setting) {
    if (const Scalar* const scalar = std::get_if<Scalar>(&setting.value)) return scalar->value;
    if (const std::size_t* const count = std::get_if<std::size_t>(&setting.value)) return static_cast<double>(*count);
    return std::get<double>(setting.value);
  }

  // --- places

  bool is_by_sentence(std::size_t operand) const {
    return operand == of_result ? std::ranges::find(text_.by_sentence, true) != text_.by_sentence.end()
                                : text_.by_sentence[operand];
  }
  const Shape& shape(std::size_t operand) const {
    return operand == of_result ? node_.frame.shape : node_.operands[operand]->frame.shape;
  }
  std::size_t place(const Pattern& pattern) { return static_cast<std::size_t>(number(pattern)) - 1; }

  // The row of an operand in the whole of it.
  std::size_t row_in_operand(std::size_t operand, std::size_t row) const {
    return is_by_sentence(operand) ? sentence_ * (shape(operand).rows / sentences_) + row : row;
  }

  Cell cell(const Pattern& pattern) {
    std::size_t row = place(pattern.parts[0]), column = place(pattern.parts[1]);
    if (text_.joined == CellText::Joining::no)
      return {node_.operands[pattern.index], row_in_operand(pattern.index, row), column};
    const bool is_below = text_.joined == CellText::Joining::below;
    std::size_t& along = is_below ? row : column;
    for (const Node* part : node_.operands) {
      const std::size_t rows = part->frame.shape.rows / sentences_;
      const std::size_t size = is_below ? rows : part->frame.shape.columns;
      if (along < size) return {part, is_below ? sentence_ * rows + row : row, column};
      along -= size;
    }
    return {};
  }

  std::vector<double> row(const Pattern& pattern) {
    return node_.operands[pattern.index]->row(row_in_operand(pattern.index, place(pattern.parts[0])));
  }

  // --- trees

  Term term(const Pattern& pattern) {
    const auto part = [&](std::size_t i) { return term(pattern.parts[i]); };
    switch (pattern.kind) {
      case Kind::notated: {
        const std::string written = sentence(pattern.pieces);
        return constant_of(number(pattern), {written, latex_of_notation(written)});
      }
      case Kind::setting: {
        const OpSetting& setting = setting_called(pattern.name);
        const Scalar* const scalar = std::get_if<Scalar>(&setting.value);
        return constant_of(number(pattern), scalar ? scalar->notation : Formula{});
      }
      case Kind::cell: {
        const Cell here = cell(pattern);
        Term leaf = cell_term(here);
        leaf.value = here.value();
        return leaf;
      }
      case Kind::sum:
      case Kind::product: {
        std::vector<Term> parts;
        for (const Pattern& one : pattern.parts) parts.push_back(term(one));
        return term_of(pattern.kind == Kind::sum ? Term::Kind::sum : Term::Kind::product, std::move(parts));
      }
      case Kind::difference:
        return term_of(Term::Kind::sum, {part(0), term_of(Term::Kind::negative, {part(1)})});
      case Kind::quotient:
        return term_of(Term::Kind::product, {part(0), term_of(Term::Kind::inverse, {part(1)})});
      case Kind::negative:
        return term_of(Term::Kind::negative, {part(0)});
      case Kind::power:
        return term_of(Term::Kind::power, {part(0), part(1)});
      case Kind::call:
        return call_of(*pattern.function, part(0));
      case Kind::added_up: {
        std::vector<Term> terms;
        for_each(pattern, [&](const Pattern& body) {
          terms.push_back(term(body));
          return true;
        });
        return term_of(Term::Kind::sum, std::move(terms));
      }
      case Kind::choice:
        return term(chosen(pattern));
      default:
        return constant_of(number(pattern));
    }
  }

  // --- cells

  // Of the same patterns as term().
  static bool has_terms(Kind kind) {
    constexpr std::array with_terms = {Kind::sum,      Kind::product, Kind::difference, Kind::quotient,
                                       Kind::negative, Kind::power,   Kind::call};
    return std::ranges::find(with_terms, kind) != with_terms.end();
  }

  void parts(const Pattern& pattern, const TakeCells& take) {
    if (pattern.kind == Kind::cell) {
      const Cell here = cell(pattern);
      take({.node = here.node, .row = here.row, .column = here.column});
    } else if (pattern.kind == Kind::choice) {
      parts(chosen(pattern), take);
    } else if (pattern.kind == Kind::added_up && is_along_lines(pattern)) {
      lines(pattern, take);
    } else if (pattern.kind == Kind::added_up) {
      for_each(pattern, [&](const Pattern& body) {
        parts(body, take);
        return true;
      });
    } else if (has_terms(pattern.kind)) {
      for (const Pattern& one : pattern.parts) parts(one, take);
    }
  }

  // Whether each cell of a sum runs along a row or a column with its variable, or stays where it is.
  bool is_along_lines(const Pattern& sum) const {
    return text_.joined == CellText::Joining::no && sum.slots.size() == 1 && sum.parts.size() == 3 &&
           runs_along_lines(sum.parts[2], sum.slots[0]);
  }

  static bool is_letter(const Pattern& pattern, std::size_t slot) {
    return pattern.kind == Kind::letter && pattern.index == slot;
  }
  static bool names(const Pattern& pattern, std::size_t slot) {
    return is_letter(pattern, slot) ||
           std::ranges::any_of(pattern.parts, [&](const Pattern& part) { return names(part, slot); });
  }

  static bool runs_along_lines(const Pattern& body, std::size_t slot) {
    if (body.kind == Kind::cell) {
      const Pattern &row = body.parts[0], &column = body.parts[1];
      const bool row_stays = !names(row, slot), column_stays = !names(column, slot);
      return (row_stays && (column_stays || is_letter(column, slot))) || (column_stays && is_letter(row, slot));
    }
    if (body.kind == Kind::choice || body.kind == Kind::added_up) return false;
    return !has_terms(body.kind) ||
           std::ranges::all_of(body.parts, [&](const Pattern& part) { return runs_along_lines(part, slot); });
  }

  void lines(const Pattern& sum, const TakeCells& take) {
    const std::size_t slot = sum.slots[0];
    const double first = number(sum.parts[0]), last = number(sum.parts[1]);
    if (!(first <= last)) return;
    slots_[slot] = first;
    lines(sum.parts[2], slot, static_cast<std::size_t>(last - first) + 1, take);
  }

  void lines(const Pattern& body, std::size_t slot, std::size_t count, const TakeCells& take) {
    if (body.kind == Kind::cell) {
      const Cell begin = cell(body);
      take({.node = begin.node,
            .row = begin.row,
            .rows = names(body.parts[0], slot) ? count : 1,
            .column = begin.column,
            .columns = names(body.parts[1], slot) ? count : 1});
    } else if (has_terms(body.kind)) {
      for (const Pattern& one : body.parts) lines(one, slot, count, take);
    }
  }

  // --- sentences

  std::string sentence(const CellSentence& pieces) {
    std::string all;
    for (const CellPiece& piece : pieces) all += written(piece);
    return all;
  }

  std::string written(const CellPiece& piece) {
    using PieceKind = CellPiece::Kind;
    switch (piece.kind) {
      case PieceKind::words:
        return piece.words;
      case PieceKind::cell: {
        const Cell here = cell(piece.pattern[0]);
        return fmt::format("{}[{},{}]", here.node->title(), here.row + 1, here.column + 1);
      }
      case PieceKind::number:
        return written_number(piece.pattern[0]);
      case PieceKind::title:
        return node_.operands[piece.operand]->title();
      case PieceKind::row_label:
        return node_.operands[piece.operand]->frame.rows.label(row_in_operand(piece.operand, place(piece.pattern[0])));
      case PieceKind::column_label:
        return node_.operands[piece.operand]->frame.columns.label(place(piece.pattern[0]));
      case PieceKind::list_of_rows: {
        std::string list;
        for_each(piece.pattern[0], [&](const Pattern& body) {
          list += (list.empty() ? "" : ", ") + node_.operands[piece.operand]->frame.rows.label(place(body));
          return true;
        });
        return list;
      }
      case PieceKind::source:
        return source_of(cell(piece.pattern[0]));
    }
    return "";
  }

  std::string written_number(const Pattern& pattern) {
    if (pattern.kind == Kind::notated) return sentence(pattern.pieces);
    if (pattern.kind == Kind::setting) {
      const OpSetting& setting = setting_called(pattern.name);
      if (const std::string* const word = std::get_if<std::string>(&setting.value)) return *word;
      if (const Scalar* const scalar = std::get_if<Scalar>(&setting.value)) return scalar->notation.plain;
    }
    return fmt::format("{}", number(pattern));
  }

  const Node& node_;
  const CellText& text_;
  std::size_t sentences_;     // of a batch
  std::size_t sentence_ = 0;  // of the cell
  std::vector<double> slots_;
  bool goes_on_ = true;
};

// A node without a name cannot be pointed to: what stands behind its cell takes its place.
Term with_names_only(Term term) {
  if (term.kind == Term::Kind::cell && term.node->name.empty())
    return explain(Cell{term.node, term.row, term.column}).term;
  for (Term& part : term.parts) part = with_names_only(std::move(part));
  return term;
}

// Steps with symbols in place of nodes.
class Derivations {
 public:
  Derivations(std::size_t deepest, std::string_view scope, const TakeDerivationStep& take)
      : deepest_(deepest), scope_(scope), take_(take) {}

  void add(const Cell& cell, std::size_t depth) {
    const bool is_given = !cell.node->op && depth > 0;
    if (is_given || !seen_.insert(cell).second) return;
    Explanation explanation = explain(cell);
    const std::vector<Cell> terms = depth < deepest_ ? cells_of(explanation.term) : std::vector<Cell>();
    take_({.matrix = symbol_of(*cell.node),
           .row = cell.row,
           .column = cell.column,
           .value = cell.value(),
           .depth = depth,
           .term = detached(std::move(explanation.term)),
           .reason = explanation.reason,
           .told_reason = with_short_names(explanation.reason, *cell.node, scope_)});
    for (const Cell& term : terms) add(term, depth + 1);
  }

 private:
  std::shared_ptr<const Symbol> symbol_of(const Node& node) {
    std::shared_ptr<const Symbol>& known = symbols_[&node];
    if (!known) {
      known = std::make_shared<const Symbol>(
          node.name.empty() ? Symbol{node.title(), {node.title(), "\\left(" + formula_of(node).latex + "\\right)"}}
                            : Symbol{node.name, symbol(node, scope_)});
    }
    return known;
  }

  Term detached(Term term) {
    if (term.node) {
      term.matrix = symbol_of(*term.node);
      term.node = nullptr;
    }
    for (Term& part : term.parts) part = detached(std::move(part));
    return term;
  }

  std::size_t deepest_;
  std::string_view scope_;
  const TakeDerivationStep& take_;
  std::set<Cell> seen_;
  std::map<const Node*, std::shared_ptr<const Symbol>> symbols_;
};

}  // namespace

Explanation explain(const Node& node, std::size_t row, std::size_t column) {
  return Filling(node, row, column).explanation();
}

void each_part(const Node& node, std::size_t row, std::size_t column, const TakeCells& take) {
  Filling(node, row, column).each_part(take);
}

Explanation explain(const Cell& cell) {
  if (!cell.node->op) {
    const std::string origin = cell.node->origin.empty() ? "is given" : cell.node->origin;
    return {constant_of(cell.value()), cell.node->name + " " + origin + ", not computed here"};
  }
  Explanation explanation = explain(*cell.node, cell.row, cell.column);
  explanation.term = with_names_only(std::move(explanation.term));
  return explanation;
}

void derive(const Cell& cell, std::size_t depth, std::string_view scope, const TakeDerivationStep& take) {
  Derivations(depth, scope, take).add(cell, 0);
}

}  // namespace attn
