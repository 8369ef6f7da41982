#include "core/term/working.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/graph/find.hpp"
#include "core/support/error.hpp"
#include "core/term/functions.hpp"

namespace attn {
namespace {

const Node& node_of(const Working& working, const NodeNow& now) { return now ? now(*working.node) : *working.node; }

double cell_of(const Working& working, const Node& node) {
  const Shape& shape = node.frame.shape;
  if (working.row >= shape.rows || working.column >= shape.columns) fail("{} has no such cell", node.title());
  return node.cell(working.row, working.column);
}

Quantity of_row(const Working& working, const Node& node) {
  if (working.row >= node.frame.shape.rows || node.frame.shape.columns == 0) fail("{} has no such row", node.title());
  const std::vector<double> cells = node.row(working.row);
  return working.row_function->of({cells, node.frame.columns});
}

// Binds more tightly the higher it is.
int precedence(const Working& working) {
  switch (working.kind) {
    case TermKind::less:
    case TermKind::greater:
    case TermKind::equal:
      return 0;
    case TermKind::sum:
      return 1;
    case TermKind::product:
    case TermKind::inverse:
      return 2;
    case TermKind::negative:
      return 1;
    case TermKind::power:
      return 3;
    default:
      break;
  }
  const double* const number = std::get_if<double>(&working.constant);
  const bool is_negative = working.kind == TermKind::constant && working.name.empty() && number && *number < 0;
  return is_negative ? 1 : 4;
}

using WriteLeaf = std::string (*)(const Working& working);

std::string text_of(const Working& working, WriteLeaf leaf, int around) {
  const auto part = [&](std::size_t i, int binds) { return text_of(working.parts[i], leaf, binds); };
  const auto joined = [&](TermKind turned, std::string_view plain, std::string_view turned_sign, int binds) {
    std::string text;
    for (std::size_t i = 0; i < working.parts.size(); ++i) {
      const bool is_turned = i > 0 && working.parts[i].kind == turned;
      text += i == 0 ? "" : is_turned ? turned_sign : plain;
      text += is_turned ? text_of(working.parts[i].parts.front(), leaf, binds + 1) : part(i, binds);
    }
    return text;
  };
  std::string text;
  switch (working.kind) {
    case TermKind::sum:
      text = joined(TermKind::negative, " + ", " − ", 1);
      break;
    case TermKind::product:
      text = joined(TermKind::inverse, " · ", " / ", 2);
      break;
    case TermKind::negative:
      text = "−" + part(0, 2);
      break;
    case TermKind::inverse:
      text = "1 / " + part(0, 3);
      break;
    case TermKind::power:
      text = part(0, 4) + "^" + part(1, 4);
      break;
    case TermKind::call:
      text = working.function == &square_root ? "√" + part(0, 4)
                                              : fmt::format("{}({})", working.function->name, part(0, 0));
      break;
    case TermKind::less:
      text = part(0, 1) + " < " + part(1, 1);
      break;
    case TermKind::greater:
      text = part(0, 1) + " > " + part(1, 1);
      break;
    case TermKind::equal:
      text = part(0, 1) + " = " + part(1, 1);
      break;
    default:
      text = leaf(working);
  }
  return precedence(working) < around ? "(" + text + ")" : text;
}

std::string minus_signed(std::string number) { return number.starts_with('-') ? "−" + number.substr(1) : number; }

std::string leaf_in_numbers(const Working& working) {
  if (working.kind == TermKind::constant && !working.name.empty()) return working.name;
  return minus_signed(written(worked_out(working)));
}

std::string row_called(const Working& working) {
  return fmt::format("{}[{}]", working.node->title(), place_called(working.node->frame.rows, working.row));
}

std::string leaf_in_names(const Working& working) {
  switch (working.kind) {
    case TermKind::cell:
      return called({working.node, working.row, working.column});
    case TermKind::row:
      return fmt::format("{}({})", working.row_function->name, row_called(working));
    case TermKind::shape:
      return fmt::format("{}({})", working.shape_function->name, working.node->title());
    case TermKind::size:
      return working.name;
    default:
      return leaf_in_numbers(working);
  }
}

std::string leaf_in_words(const Working& working) {
  if (working.kind != TermKind::row) return leaf_in_names(working);
  return fmt::format("the {} of {}", working.row_function->words, row_called(working));
}

void collect(const Working& working, std::vector<const Node*>& nodes) {
  if (working.node && std::ranges::find(nodes, working.node) == nodes.end()) nodes.push_back(working.node);
  for (const Working& part : working.parts) collect(part, nodes);
}

}  // namespace

std::string called(const Cell& cell) {
  return fmt::format("{}[{},{}]", cell.node->title(), place_called(cell.node->frame.rows, cell.row),
                     place_called(cell.node->frame.columns, cell.column));
}

Working constant_of(double value) {
  Working working;
  working.constant = value;
  return working;
}

Working cell_working(const Cell& cell) {
  Working working;
  working.kind = TermKind::cell;
  working.node = cell.node;
  working.row = cell.row;
  working.column = cell.column;
  return working;
}

Working made_of(TermKind kind, std::vector<Working> parts) {
  Working working;
  working.kind = kind;
  working.parts = std::move(parts);
  return working;
}

Working working_of(const Expression& expression) {
  std::vector<Working> parts;
  for (const Expression& part : expression.parts) parts.push_back(working_of(part));
  switch (expression.kind) {
    case Expression::Kind::number: {
      Working working = constant_of(expression.value);
      working.name = expression.notation.plain;
      return working;
    }
    case Expression::Kind::cell:
      return cell_working(expression.cell);
    case Expression::Kind::sum:
      return made_of(TermKind::sum, std::move(parts));
    case Expression::Kind::product:
      return made_of(TermKind::product, std::move(parts));
    case Expression::Kind::difference:
      return made_of(TermKind::sum, {parts[0], made_of(TermKind::negative, {parts[1]})});
    case Expression::Kind::quotient:
      return made_of(TermKind::product, {parts[0], made_of(TermKind::inverse, {parts[1]})});
    case Expression::Kind::square:
      return made_of(TermKind::power, {parts[0], constant_of(2.0)});
    case Expression::Kind::call:
      break;
  }
  Working working = made_of(TermKind::call, std::move(parts));
  working.function = expression.function;
  return working;
}

Quantity worked_out(const Working& working, const NodeNow& now) {
  const auto part = [&](std::size_t i) { return number_from(working.parts[i], now); };
  switch (working.kind) {
    case TermKind::constant:
      return working.constant;
    case TermKind::cell:
      return cell_of(working, node_of(working, now));
    case TermKind::size:
      return working.node ? static_cast<double>(node_of(working, now).frame.shape.*working.side) : working.constant;
    case TermKind::row:
      return of_row(working, node_of(working, now));
    case TermKind::shape:
      return working.shape_function->of(node_of(working, now).frame.shape);
    case TermKind::negative:
      return -part(0);
    case TermKind::inverse:
      return 1.0 / part(0);
    case TermKind::power:
      return std::pow(part(0), part(1));
    case TermKind::call:
      return working.function->evaluate(part(0));
    case TermKind::less:
      return part(0) < part(1) && !equal_but_for_last_bits(part(0), part(1));
    case TermKind::greater:
      return part(0) > part(1) && !equal_but_for_last_bits(part(0), part(1));
    case TermKind::equal:
      return equal_but_for_last_bits(part(0), part(1));
    case TermKind::sum: {
      double total = part(0);
      for (std::size_t i = 1; i < working.parts.size(); ++i) total += part(i);
      return total;
    }
    case TermKind::product: {
      double total = part(0);
      for (std::size_t i = 1; i < working.parts.size(); ++i) {
        const Working& factor = working.parts[i];
        if (factor.kind == TermKind::inverse) {
          total /= number_from(factor.parts.front(), now);
        } else {
          total *= part(i);
        }
      }
      return total;
    }
  }
  return working.constant;
}

double number_from(const Working& working, const NodeNow& now) { return std::get<double>(worked_out(working, now)); }

bool gives_number(const Working& working) {
  switch (working.kind) {
    case TermKind::less:
    case TermKind::greater:
    case TermKind::equal:
      return false;
    case TermKind::constant:
    case TermKind::row:
    case TermKind::shape:
      return std::holds_alternative<double>(worked_out(working));
    default:
      return true;
  }
}

std::vector<const Node*> nodes_of(const Working& working) {
  std::vector<const Node*> nodes;
  collect(working, nodes);
  return nodes;
}

std::string in_names(const Working& working) { return text_of(working, leaf_in_names, 0); }

std::string in_words(const Working& working) { return text_of(working, leaf_in_words, 0); }

std::string in_numbers(const Working& working) { return text_of(working, leaf_in_numbers, 0); }

}  // namespace attn
