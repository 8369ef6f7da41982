#include "core/term/term.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/graph/find.hpp"
#include "core/graph/function.hpp"
#include "core/graph/graph.hpp"
#include "core/support/error.hpp"
#include "core/term/expression_functions.hpp"

namespace attn {

namespace {

const Node& node_of(const Term& term, const NodeNow& now) { return now ? now(*term.node) : *term.node; }

double cell_of(const Term& term, const Node& node) {
  const Shape& shape = node.frame.shape;
  if (term.row >= shape.rows || term.column >= shape.columns) fail("{} has no such cell", node.title());
  return node.cell(term.row, term.column);
}

Quantity of_row(const Term& term, const Node& node) {
  if (term.row >= node.frame.shape.rows || node.frame.shape.columns == 0) fail("{} has no such row", node.title());
  const std::vector<double> cells = node.row(term.row);
  return term.row_function->of({cells, node.frame.columns});
}

// Binds more tightly the higher it is.
int precedence(const Term& term) {
  switch (term.kind) {
    case Term::Kind::less:
    case Term::Kind::greater:
    case Term::Kind::equal:
      return 0;
    case Term::Kind::sum:
      return 1;
    case Term::Kind::product:
    case Term::Kind::inverse:
      return 2;
    case Term::Kind::negative:
      return 1;
    case Term::Kind::power:
      return 3;
    default:
      break;
  }
  const double* const number = std::get_if<double>(&term.constant);
  const bool is_negative = term.kind == Term::Kind::constant && term.notation.plain.empty() && number && *number < 0;
  return is_negative ? 1 : 4;
}

using WriteLeaf = std::string (*)(const Term& term);

std::string text_of(const Term& term, WriteLeaf leaf, int around) {
  const auto part = [&](std::size_t i, int binds) { return text_of(term.parts[i], leaf, binds); };
  const auto joined = [&](Term::Kind turned, std::string_view plain, std::string_view turned_sign, int binds) {
    std::string text;
    for (std::size_t i = 0; i < term.parts.size(); ++i) {
      const bool is_turned = i > 0 && term.parts[i].kind == turned;
      text += i == 0 ? "" : is_turned ? turned_sign : plain;
      text += is_turned ? text_of(term.parts[i].parts.front(), leaf, binds + 1) : part(i, binds);
    }
    return text;
  };
  std::string text;
  switch (term.kind) {
    case Term::Kind::sum:
      text = joined(Term::Kind::negative, " + ", " − ", 1);
      break;
    case Term::Kind::product:
      text = joined(Term::Kind::inverse, " · ", " / ", 2);
      break;
    case Term::Kind::negative:
      text = "−" + part(0, 2);
      break;
    case Term::Kind::inverse:
      text = "1 / " + part(0, 3);
      break;
    case Term::Kind::power:
      text = part(0, 4) + "^" + part(1, 4);
      break;
    case Term::Kind::call:
      text = term.function == &square_root ? "√" + part(0, 4) : fmt::format("{}({})", term.function->name, part(0, 0));
      break;
    case Term::Kind::less:
      text = part(0, 1) + " < " + part(1, 1);
      break;
    case Term::Kind::greater:
      text = part(0, 1) + " > " + part(1, 1);
      break;
    case Term::Kind::equal:
      text = part(0, 1) + " = " + part(1, 1);
      break;
    default:
      text = leaf(term);
  }
  return precedence(term) < around ? "(" + text + ")" : text;
}

std::string minus_signed(std::string number) { return number.starts_with('-') ? "−" + number.substr(1) : number; }

std::string leaf_in_numbers(const Term& term) {
  if (term.kind == Term::Kind::constant && !term.notation.plain.empty()) return term.notation.plain;
  return minus_signed(written(value_of_term(term)));
}

std::string row_called(const Term& term) {
  return fmt::format("{}[{}]", term.node->title(), name_of_place(term.node->frame.rows, term.row));
}

std::string leaf_in_names(const Term& term) {
  switch (term.kind) {
    case Term::Kind::cell:
      return cell_name({term.node, term.row, term.column});
    case Term::Kind::row:
      return fmt::format("{}({})", term.row_function->name, row_called(term));
    case Term::Kind::shape:
      return fmt::format("{}({})", term.shape_function->name, term.node->title());
    case Term::Kind::size:
      return term.notation.plain;
    default:
      return leaf_in_numbers(term);
  }
}

std::string leaf_in_words(const Term& term) {
  if (term.kind != Term::Kind::row) return leaf_in_names(term);
  return fmt::format("the {} of {}", term.row_function->words, row_called(term));
}

void collect(const Term& term, std::vector<const Node*>& nodes) {
  if (term.node && std::ranges::find(nodes, term.node) == nodes.end()) nodes.push_back(term.node);
  for (const Term& part : term.parts) collect(part, nodes);
}

double value_of(Term::Kind kind, const std::vector<Term>& parts) {
  double value = parts.front().value;
  switch (kind) {
    case Term::Kind::sum:
      for (std::size_t i = 1; i < parts.size(); ++i) value += parts[i].value;
      return value;
    case Term::Kind::product:
      for (std::size_t i = 1; i < parts.size(); ++i) {
        if (parts[i].kind == Term::Kind::inverse) {
          value /= parts[i].parts.front().value;
        } else {
          value *= parts[i].value;
        }
      }
      return value;
    case Term::Kind::negative:
      return -value;
    case Term::Kind::inverse:
      return 1.0 / value;
    case Term::Kind::power:
      return parts[1].value == 2.0 ? value * value : std::pow(value, parts[1].value);
    default:
      return 0.0;
  }
}

bool is_pair_with(const Term& term, Term::Kind kind, Term::Kind turned) {
  return term.kind == kind && term.parts.size() == 2 && term.parts[1].kind == turned && term.parts[0].kind != turned;
}

void collect_cells(const Term& term, std::vector<Cell>& cells, std::set<Cell>& seen) {
  const Cell cell{term.node, term.row, term.column};
  if (term.kind == Term::Kind::cell && seen.insert(cell).second) cells.push_back(cell);
  for (const Term& part : term.parts) collect_cells(part, cells, seen);
}

}  // namespace

std::string cell_name(const Cell& cell) {
  return fmt::format("{}[{},{}]", cell.node->title(), name_of_place(cell.node->frame.rows, cell.row),
                     name_of_place(cell.node->frame.columns, cell.column));
}

Term constant_of(double value, Formula notation) {
  return {.constant = value, .value = value, .notation = std::move(notation)};
}

Term cell_term(const Cell& cell) {
  return {.kind = Term::Kind::cell, .node = cell.node, .row = cell.row, .column = cell.column};
}

Term call_of(const Function& function, Term argument) {
  const double value = function.evaluate(argument.value);
  return {.kind = Term::Kind::call, .value = value, .function = &function, .parts = {std::move(argument)}};
}

Term term_of(Term::Kind kind, std::vector<Term> parts) {
  const double value = value_of(kind, parts);
  return {.kind = kind, .value = value, .parts = std::move(parts)};
}

bool is_difference(const Term& term) { return is_pair_with(term, Term::Kind::sum, Term::Kind::negative); }
bool is_quotient(const Term& term) { return is_pair_with(term, Term::Kind::product, Term::Kind::inverse); }
bool is_square(const Term& term) {
  return term.kind == Term::Kind::power && term.parts[1].kind == Term::Kind::constant && term.parts[1].value == 2.0;
}

Quantity value_of_term(const Term& term, const NodeNow& now) {
  const auto part = [&](std::size_t i) { return number_from(term.parts[i], now); };
  switch (term.kind) {
    case Term::Kind::constant:
      return term.constant;
    case Term::Kind::cell:
      return cell_of(term, node_of(term, now));
    case Term::Kind::size:
      return term.node ? static_cast<double>(node_of(term, now).frame.shape.*term.side) : term.constant;
    case Term::Kind::row:
      return of_row(term, node_of(term, now));
    case Term::Kind::shape:
      return term.shape_function->of(node_of(term, now).frame.shape);
    case Term::Kind::negative:
      return -part(0);
    case Term::Kind::inverse:
      return 1.0 / part(0);
    case Term::Kind::power:
      return std::pow(part(0), part(1));
    case Term::Kind::call:
      return term.function->evaluate(part(0));
    case Term::Kind::less:
      return part(0) < part(1) && !equal_but_for_last_bits(part(0), part(1));
    case Term::Kind::greater:
      return part(0) > part(1) && !equal_but_for_last_bits(part(0), part(1));
    case Term::Kind::equal:
      return equal_but_for_last_bits(part(0), part(1));
    case Term::Kind::sum: {
      double total = part(0);
      for (std::size_t i = 1; i < term.parts.size(); ++i) total += part(i);
      return total;
    }
    case Term::Kind::product: {
      double total = part(0);
      for (std::size_t i = 1; i < term.parts.size(); ++i) {
        const Term& factor = term.parts[i];
        if (factor.kind == Term::Kind::inverse) {
          total /= number_from(factor.parts.front(), now);
        } else {
          total *= part(i);
        }
      }
      return total;
    }
  }
  return term.constant;
}

double number_from(const Term& term, const NodeNow& now) { return std::get<double>(value_of_term(term, now)); }

bool gives_number(const Term& term) {
  switch (term.kind) {
    case Term::Kind::less:
    case Term::Kind::greater:
    case Term::Kind::equal:
      return false;
    case Term::Kind::constant:
    case Term::Kind::row:
    case Term::Kind::shape:
      return std::holds_alternative<double>(value_of_term(term));
    default:
      return true;
  }
}

std::vector<Cell> cells_of(const Term& term) {
  std::vector<Cell> cells;
  std::set<Cell> seen;
  collect_cells(term, cells, seen);
  return cells;
}

std::vector<const Node*> nodes_of(const Term& term) {
  std::vector<const Node*> nodes;
  collect(term, nodes);
  return nodes;
}

std::string in_names(const Term& term) { return text_of(term, leaf_in_names, 0); }

std::string in_words(const Term& term) { return text_of(term, leaf_in_words, 0); }

std::string in_numbers(const Term& term) { return text_of(term, leaf_in_numbers, 0); }

}  // namespace attn
