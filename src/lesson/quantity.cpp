#include "lesson/quantity.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "graph/address.hpp"
#include "lesson/quantity_functions.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

bool is_name_begin(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_name(char c) {
  return is_name_begin(c) || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// Reads an expression from left to right, and works it out as it goes.
class Reader {
 public:
  Reader(std::string_view expression, const Graph* graph)
      : expression_(expression), rest_(expression), graph_(graph) {}

  LookedUp read() {
    Quantity quantity = comparison();
    skip_blanks();
    if (!rest_.empty()) fail("'{}': nothing is understood from '{}' on", expression_, rest_);
    return {std::move(quantity), looked_};
  }

 private:
  // Deeper nesting is no expression that anybody writes.
  static constexpr int deepest = 100;

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

  bool take(std::string_view sign) {
    skip_blanks();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(sign.size());
    return true;
  }

  void expect(std::string_view sign) {
    if (!take(sign)) fail("'{}': {} is missing before '{}'", expression_, sign, rest_);
  }

  double number(const Quantity& quantity) const {
    if (const double* value = std::get_if<double>(&quantity)) return *value;
    fail("'{}': {} is no number to compute with", expression_, written(quantity));
  }

  Quantity comparison() {
    Quantity left = sum();
    if (take("<")) return number(left) < number(sum());
    if (take(">")) return number(left) > number(sum());
    if (take("=")) return equal(number(left), number(sum()));
    return left;
  }

  // Two ways to the same number may differ in its last bits.
  static bool equal(double a, double b) {
    return a == b || std::fabs(a - b) <= 1e-12 * std::fmax(std::fabs(a), std::fabs(b));
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
    } else if (take("√")) {
      result = std::sqrt(number(signed_power()));
    } else {
      result = primary();
      if (take("^")) result = std::pow(number(result), number(signed_power()));
    }
    --depth_;
    return result;
  }

  Quantity primary() {
    skip_blanks();
    if (take("(")) {
      Quantity inside = comparison();
      expect(")");
      return inside;
    }
    if (take("\"")) {
      std::string word(rest_.substr(0, rest_.find('"')));
      rest_.remove_prefix(word.size());
      expect("\"");
      return word;
    }
    if (rest_.empty()) fail("'{}' ends where a number or a name should stand", expression_);
    return is_name_begin(rest_.front()) ? named() : Quantity(literal());
  }

  double literal() {
    double value = 0.0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) fail("'{}': '{}' is neither a number nor a name", expression_, rest_);
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return take("%") ? value / 100 : value;
  }

  std::string_view name() {
    const auto end = std::ranges::find_if_not(rest_, is_name);
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  Quantity named() {
    const std::string_view begin = rest_, called = name();
    if (take("(")) {
      Quantity result = call(called);
      expect(")");
      return result;
    }
    if (rest_.starts_with('[')) {
      brackets();
      looked_ = true;
      return find_cell(graph(), begin.substr(0, begin.size() - rest_.size())).value();
    }
    return size(called);
  }

  Quantity call(std::string_view called) {
    if (const NumberFunction* function = find_row(number_functions(), called))
      return function->of(number(comparison()));
    if (const RowFunction* function = find_row(row_functions(), called)) return function->of(row());
    if (const ShapeFunction* function = find_row(shape_functions(), called)) {
      skip_blanks();
      return function->of(matrix(name()).frame.shape);
    }
    std::vector<std::string> names = names_of(number_functions());
    for (const RowFunction& function : row_functions()) names.emplace_back(function.name);
    for (const ShapeFunction& function : shape_functions()) names.emplace_back(function.name);
    fail_unknown("function", called, names);
  }

  // What stands between brackets, in which a word in quotes may hold one.
  std::string_view brackets() {
    bool quoted = false;
    std::size_t end = 1;
    while (end < rest_.size() && (quoted || rest_[end] != ']')) quoted ^= rest_[end++] == '"';
    if (end == rest_.size()) fail("'{}': ] is missing", expression_);
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return inside;
  }

  MatrixRow row() {
    skip_blanks();
    const Node& node = matrix(name());
    if (!rest_.starts_with('[')) fail("'{}': a row is missing after {}: [1]", expression_, node.name);
    const std::string_view place = brackets();
    const std::size_t i = find_place(node.frame.rows, node.frame.shape.rows, place,
                                     fmt::format("row '{}' of {}", place, node.name));
    return {attn::row(node.matrix(), i), node.frame.columns};
  }

  const Graph& graph() const {
    if (!graph_) fail("'{}' is not a number: give one, or a fraction such as 1/8", expression_);
    return *graph_;
  }

  const Node& matrix(std::string_view called) {
    looked_ = true;
    const std::vector<const Node*> nodes = graph().matching(called);
    if (nodes.size() > 1)
      fail("'{}' could be {} or {}: give the whole name", called, nodes[0]->name, nodes[1]->name);
    return *nodes.front();
  }

  Quantity size(std::string_view called) {
    looked_ = true;
    return size_of(graph(), called);
  }

  std::string_view expression_, rest_;
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
