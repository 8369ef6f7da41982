#include "lesson/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "graph/address.hpp"
#include "lesson/quantity_functions.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

constexpr std::array<std::string_view, 10> superscripts = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};

bool is_name_begin(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_name(char c) {
  return is_name_begin(c) || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// Takes an expression apart, from left to right: signs, numbers, names, what stands in quotes and brackets.
// Blanks between them do not count. Throws InputError where something begins and does not end.
class QuantityScanner {
 public:
  explicit QuantityScanner(std::string_view expression) : expression_(expression), rest_(expression) {}

  std::string_view expression() const { return expression_; }
  // What has not been taken yet.
  std::string_view rest() const { return rest_; }
  bool is_at_end();
  // Whether a name comes next.
  bool is_at_name();

  // Takes this sign if it comes next.
  bool take(std::string_view sign);
  // The same, and throws InputError where it does not.
  void expect(std::string_view sign);

  // A number, "0.5" or "50 %".
  double number();
  // The exponent in "e²" or "10⁻³", if one comes next.
  std::optional<int> superscript();
  // A name such as "head.1.weights"; empty where none comes.
  std::string_view name();
  // What stands before the next quotation mark; the one before it has been taken.
  std::string_view quoted();
  // What stands between brackets, in which a word in quotes may hold one.
  std::string_view brackets();

 private:
  void skip_blanks();
  std::string_view taken(std::size_t length);

  std::string_view expression_, rest_;
};

void QuantityScanner::skip_blanks() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
}

std::string_view QuantityScanner::taken(std::size_t length) {
  const std::string_view piece = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return piece;
}

bool QuantityScanner::is_at_end() {
  skip_blanks();
  return rest_.empty();
}

bool QuantityScanner::is_at_name() {
  return !is_at_end() && is_name_begin(rest_.front());
}

bool QuantityScanner::take(std::string_view sign) {
  skip_blanks();
  if (!rest_.starts_with(sign)) return false;
  taken(sign.size());
  return true;
}

void QuantityScanner::expect(std::string_view sign) {
  if (!take(sign)) fail("'{}': {} is missing before '{}'", expression_, sign, rest_);
}

double QuantityScanner::number() {
  skip_blanks();
  double value = 0.0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc()) fail("'{}': '{}' is neither a number nor a name", expression_, rest_);
  taken(static_cast<std::size_t>(end - rest_.data()));
  return take("%") ? value / 100 : value;
}

std::optional<int> QuantityScanner::superscript() {
  constexpr int largest = 1000;  // beyond, every power is 0 or infinite
  const bool negative = take("⁻");
  std::optional<int> value;
  for (;;) {
    const auto digit =
        std::ranges::find_if(superscripts, [&](std::string_view sign) { return rest_.starts_with(sign); });
    if (digit == superscripts.end()) break;
    value = std::min(value.value_or(0) * 10 + static_cast<int>(digit - superscripts.begin()), largest);
    taken(digit->size());
  }
  if (negative && !value) fail("'{}': a number is missing after ⁻", expression_);
  return negative ? -*value : value;
}

std::string_view QuantityScanner::name() {
  skip_blanks();
  return taken(static_cast<std::size_t>(std::ranges::find_if_not(rest_, is_name) - rest_.begin()));
}

std::string_view QuantityScanner::quoted() {
  const std::string_view word = taken(std::min(rest_.find('"'), rest_.size()));
  expect("\"");
  return word;
}

std::string_view QuantityScanner::brackets() {
  expect("[");
  bool in_quotes = false;
  std::size_t end = 0;
  while (end < rest_.size() && (in_quotes || rest_[end] != ']')) in_quotes ^= rest_[end++] == '"';
  if (end == rest_.size()) fail("'{}': ] is missing", expression_);
  const std::string_view inside = taken(end);
  expect("]");
  return inside;
}

// Works an expression out as it reads it.
class Reader {
 public:
  Reader(std::string_view expression, const Graph* graph) : scanner_(expression), graph_(graph) {}

  LookedUp read() {
    Quantity quantity = comparison();
    if (!scanner_.is_at_end())
      fail("'{}' cannot be read from '{}' on", scanner_.expression(), scanner_.rest());
    return {std::move(quantity), looked_};
  }

 private:
  // Real expressions are not nested this deeply; the limit protects the stack.
  static constexpr int deepest = 100;

  bool take(std::string_view sign) { return scanner_.take(sign); }

  double number(const Quantity& quantity) const {
    if (const double* value = std::get_if<double>(&quantity)) return *value;
    fail("'{}': {} is not a number", scanner_.expression(), written(quantity));
  }

  Quantity comparison() {
    Quantity left = sum();
    if (take("<")) return number(left) < number(sum());
    if (take(">")) return number(left) > number(sum());
    if (take("=")) return equal_but_for_last_bits(number(left), number(sum()));
    return left;
  }

  Quantity sum() {
    Quantity left = product();
    for (;;) {
      if (take("+")) {
        left = number(left) + number(product());
      } else if (take("-") || take("−")) {
        left = number(left) - number(product());
      } else {
        return left;
      }
    }
  }

  Quantity product() {
    Quantity left = signed_power();
    for (;;) {
      if (take("*") || take("⋅") || take("·") || take("×")) {
        left = number(left) * number(signed_power());
      } else if (take("/") || take("÷")) {
        left = number(left) / number(signed_power());
      } else {
        return left;
      }
    }
  }

  Quantity signed_power() {
    if (++depth_ > deepest) fail("the expression is nested too deeply: write it more simply");
    Quantity result;
    if (take("-") || take("−")) {
      result = -number(signed_power());
    } else if (take("+")) {
      result = number(signed_power());
    } else if (take("√")) {
      result = std::sqrt(number(signed_power()));
    } else {
      result = power();
    }
    --depth_;
    return result;
  }

  Quantity power() {
    Quantity base = primary();
    if (const std::optional<int> exponent = scanner_.superscript()) return std::pow(number(base), *exponent);
    if (take("^")) return std::pow(number(base), number(signed_power()));
    return base;
  }

  Quantity primary() {
    if (take("(")) {
      Quantity inside = comparison();
      scanner_.expect(")");
      return inside;
    }
    if (take("\"")) return std::string(scanner_.quoted());
    if (scanner_.is_at_end()) fail("'{}' ends where a number or a name is expected", scanner_.expression());
    return scanner_.is_at_name() ? named() : Quantity(scanner_.number());
  }

  Quantity named() {
    const std::string_view begin = scanner_.rest(), called = scanner_.name();
    if (take("(")) {
      Quantity result = call(called);
      scanner_.expect(")");
      return result;
    }
    if (scanner_.rest().starts_with('[')) {
      scanner_.brackets();
      looked_ = true;
      return find_cell(graph(), begin.substr(0, begin.size() - scanner_.rest().size())).value();
    }
    if (const Constant* constant = find_row(constants(), called)) return constant->value;
    looked_ = true;
    return size_of(graph(), called);
  }

  Quantity call(std::string_view called) {
    if (const NumberFunction* function = find_row(number_functions(), called))
      return function->of(number(comparison()));
    if (const RowFunction* function = find_row(row_functions(), called)) return function->of(row());
    if (const ShapeFunction* function = find_row(shape_functions(), called))
      return function->of(matrix(scanner_.name()).frame.shape);
    std::vector<std::string> names = names_of(number_functions());
    for (const RowFunction& function : row_functions()) names.emplace_back(function.name);
    for (const ShapeFunction& function : shape_functions()) names.emplace_back(function.name);
    fail_unknown("function", called, names);
  }

  MatrixRow row() {
    const Node& node = matrix(scanner_.name());
    if (!scanner_.rest().starts_with('['))
      fail("'{}': the row is missing: write {}[1]", scanner_.expression(), node.name);
    const std::string_view place = scanner_.brackets();
    const std::size_t i = find_place(node.frame.rows, node.frame.shape.rows, place,
                                     fmt::format("row '{}' of {}", place, node.name));
    return {attn::row(node.matrix(), i), node.frame.columns};
  }

  const Graph& graph() const {
    if (!graph_)
      fail("'{}' is not a number: write a number, or a fraction such as 1/8", scanner_.expression());
    return *graph_;
  }

  const Node& matrix(std::string_view called) {
    looked_ = true;
    const std::vector<const Node*> nodes = graph().matching(called);
    if (nodes.size() > 1)
      fail("'{}' could be {} or {}: give the full name", called, nodes[0]->name, nodes[1]->name);
    return *nodes.front();
  }

  QuantityScanner scanner_;
  const Graph* graph_;
  bool looked_ = false;
  int depth_ = 0;
};

}  // namespace

LookedUp look_up_quantity(std::string_view expression, const Graph* graph) {
  return Reader(expression, graph).read();
}

std::string written(const Quantity& quantity) {
  if (const std::string* word = std::get_if<std::string>(&quantity)) return *word;
  if (const bool* is_so = std::get_if<bool>(&quantity)) return *is_so ? "yes" : "no";
  if (const Shape* shape = std::get_if<Shape>(&quantity))
    return fmt::format("{}×{}", shape->rows, shape->columns);
  const double number = std::get<double>(quantity);
  std::string text;
  append_fixed(text, number, decimals_for(std::span(&number, 1), 4));
  return text;
}

}  // namespace attn
