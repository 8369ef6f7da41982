#include "quantity/working.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/address.hpp"
#include "quantity/functions.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

using Kind = Working::Kind;

const Node& node_of(const Working& working, const NodeNow& now) {
  return now ? now(*working.node) : *working.node;
}

double cell_of(const Working& working, const Node& node) {
  const Shape& shape = node.frame.shape;
  if (working.row >= shape.rows || working.column >= shape.columns) fail("{} has no such cell", node.title());
  return node.cell(working.row, working.column);
}

Quantity of_row(const Working& working, const Node& node) {
  if (working.row >= node.frame.shape.rows || node.frame.shape.columns == 0)
    fail("{} has no such row", node.title());
  const std::vector<double> cells = node.row(working.row);
  return working.row_function->of({cells, node.frame.columns});
}

// Binds more tightly the higher it is.
int precedence(const Working& working) {
  switch (working.kind) {
    case Kind::less:
    case Kind::greater:
    case Kind::equal:
      return 0;
    case Kind::sum:
      return 1;
    case Kind::product:
    case Kind::inverse:
      return 2;
    case Kind::negative:
      return 1;
    case Kind::power:
      return 3;
    default:
      break;
  }
  const double* const number = std::get_if<double>(&working.constant);
  const bool is_negative = working.kind == Kind::constant && working.name.empty() && number && *number < 0;
  return is_negative ? 1 : 4;
}

using WriteLeaf = std::string (*)(const Working& working);

std::string text_of(const Working& working, WriteLeaf leaf, int around) {
  const auto part = [&](std::size_t i, int binds) { return text_of(working.parts[i], leaf, binds); };
  const auto joined = [&](Kind turned, std::string_view plain, std::string_view turned_sign, int binds) {
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
    case Kind::sum:
      text = joined(Kind::negative, " + ", " − ", 1);
      break;
    case Kind::product:
      text = joined(Kind::inverse, " · ", " / ", 2);
      break;
    case Kind::negative:
      text = "−" + part(0, 2);
      break;
    case Kind::inverse:
      text = "1 / " + part(0, 3);
      break;
    case Kind::power:
      text = part(0, 4) + "^" + part(1, 4);
      break;
    case Kind::call:
      text = working.function == &square_root ? "√" + part(0, 4)
                                              : fmt::format("{}({})", working.function->name, part(0, 0));
      break;
    case Kind::less:
      text = part(0, 1) + " < " + part(1, 1);
      break;
    case Kind::greater:
      text = part(0, 1) + " > " + part(1, 1);
      break;
    case Kind::equal:
      text = part(0, 1) + " = " + part(1, 1);
      break;
    default:
      text = leaf(working);
  }
  return precedence(working) < around ? "(" + text + ")" : text;
}

std::string minus_signed(std::string number) {
  return number.starts_with('-') ? "−" + number.substr(1) : number;
}

std::string leaf_in_numbers(const Working& working) {
  if (working.kind == Kind::constant && !working.name.empty()) return working.name;
  return minus_signed(written(worked_out(working)));
}

std::string row_called(const Working& working) {
  return fmt::format("{}[{}]", working.node->title(), place_called(working.node->frame.rows, working.row));
}

std::string leaf_in_names(const Working& working) {
  switch (working.kind) {
    case Kind::cell:
      return called({working.node, working.row, working.column});
    case Kind::row:
      return fmt::format("{}({})", working.row_function->name, row_called(working));
    case Kind::shape:
      return fmt::format("{}({})", working.shape_function->name, working.node->title());
    case Kind::size:
      return working.name;
    default:
      return leaf_in_numbers(working);
  }
}

std::string leaf_in_words(const Working& working) {
  if (working.kind != Kind::row) return leaf_in_names(working);
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
  working.kind = Kind::cell;
  working.node = cell.node;
  working.row = cell.row;
  working.column = cell.column;
  return working;
}

Working made_of(Kind kind, std::vector<Working> parts) {
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
      return made_of(Kind::sum, std::move(parts));
    case Expression::Kind::product:
      return made_of(Kind::product, std::move(parts));
    case Expression::Kind::difference:
      return made_of(Kind::sum, {parts[0], made_of(Kind::negative, {parts[1]})});
    case Expression::Kind::quotient:
      return made_of(Kind::product, {parts[0], made_of(Kind::inverse, {parts[1]})});
    case Expression::Kind::square:
      return made_of(Kind::power, {parts[0], constant_of(2.0)});
    case Expression::Kind::call:
      break;
  }
  Working working = made_of(Kind::call, std::move(parts));
  working.function = expression.function;
  return working;
}

Quantity worked_out(const Working& working, const NodeNow& now) {
  const auto part = [&](std::size_t i) { return number_from(working.parts[i], now); };
  switch (working.kind) {
    case Kind::constant:
      return working.constant;
    case Kind::cell:
      return cell_of(working, node_of(working, now));
    case Kind::size:
      return working.node ? static_cast<double>(node_of(working, now).frame.shape.*working.side)
                          : working.constant;
    case Kind::row:
      return of_row(working, node_of(working, now));
    case Kind::shape:
      return working.shape_function->of(node_of(working, now).frame.shape);
    case Kind::negative:
      return -part(0);
    case Kind::inverse:
      return 1.0 / part(0);
    case Kind::power:
      return std::pow(part(0), part(1));
    case Kind::call:
      return working.function->evaluate(part(0));
    case Kind::less:
      return part(0) < part(1) && !equal_but_for_last_bits(part(0), part(1));
    case Kind::greater:
      return part(0) > part(1) && !equal_but_for_last_bits(part(0), part(1));
    case Kind::equal:
      return equal_but_for_last_bits(part(0), part(1));
    case Kind::sum: {
      double total = part(0);
      for (std::size_t i = 1; i < working.parts.size(); ++i) total += part(i);
      return total;
    }
    case Kind::product: {
      double total = part(0);
      for (std::size_t i = 1; i < working.parts.size(); ++i) {
        const Working& factor = working.parts[i];
        if (factor.kind == Kind::inverse) {
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

double number_from(const Working& working, const NodeNow& now) {
  return std::get<double>(worked_out(working, now));
}

bool gives_number(const Working& working) {
  switch (working.kind) {
    case Kind::less:
    case Kind::greater:
    case Kind::equal:
      return false;
    case Kind::constant:
    case Kind::row:
    case Kind::shape:
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

std::string in_names(const Working& working) {
  return text_of(working, leaf_in_names, 0);
}

std::string in_words(const Working& working) {
  return text_of(working, leaf_in_words, 0);
}

std::string in_numbers(const Working& working) {
  return text_of(working, leaf_in_numbers, 0);
}

}  // namespace attn
