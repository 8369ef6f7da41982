#include "lesson/quantity.hpp"

#include <cmath>

#include "graph/address.hpp"
#include "lesson/quantity_functions.hpp"
#include "lesson/quantity_scanner.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

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
  // Deeper nesting is no expression that anybody writes.
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
