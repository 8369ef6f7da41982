#include "quantity/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "graph/address.hpp"
#include "quantity/functions.hpp"
#include "quantity/scanner.hpp"
#include "quantity/working.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

// Reads an expression, and makes its tree.
class Reader {
 public:
  Reader(std::string_view expression, const Graph* graph, const Variables& variables)
      : scanner_(expression), graph_(graph), variables_(variables) {}

  Working read() {
    Working working = comparison();
    if (!scanner_.is_at_end())
      fail("'{}' cannot be read from '{}' on", scanner_.expression(), scanner_.rest());
    return working;
  }

 private:
  using Kind = Working::Kind;

  // Real expressions are not nested this deeply; the limit protects the stack.
  static constexpr int deepest = 100;

  bool take(std::string_view sign) { return scanner_.take(sign); }

  Working number(Working working) const {
    if (gives_number(working)) return working;
    fail("'{}': {} is not a number", scanner_.expression(), written(worked_out(working)));
  }

  Working negative(Working working) { return made_of(Kind::negative, {number(std::move(working))}); }

  Working comparison() {
    Working left = sum();
    for (const auto& [sign, kind] : {std::pair{"<", Kind::less}, {">", Kind::greater}, {"=", Kind::equal}}) {
      if (!take(sign)) continue;
      Working number_left = number(std::move(left));
      return made_of(kind, {std::move(number_left), number(sum())});
    }
    return left;
  }

  // One part is itself.
  Working joined(Kind kind, std::vector<Working> parts) const {
    if (parts.size() == 1) return std::move(parts.front());
    return made_of(kind, std::move(parts));
  }

  void add(std::vector<Working>& parts, Working part) const {
    if (parts.size() == 1) parts.front() = number(std::move(parts.front()));
    parts.push_back(std::move(part));
  }

  Working sum() {
    std::vector<Working> terms;
    terms.push_back(product());
    for (;;) {
      if (take("+")) {
        add(terms, number(product()));
      } else if (take("-") || take("−")) {
        add(terms, negative(product()));
      } else {
        return joined(Kind::sum, std::move(terms));
      }
    }
  }

  Working product() {
    std::vector<Working> factors;
    factors.push_back(signed_power());
    for (;;) {
      if (take("*") || take("⋅") || take("·") || take("×")) {
        add(factors, number(signed_power()));
      } else if (take("/") || take("÷")) {
        add(factors, made_of(Kind::inverse, {number(signed_power())}));
      } else {
        return joined(Kind::product, std::move(factors));
      }
    }
  }

  Working signed_power() {
    if (++depth_ > deepest) fail("the expression is nested too deeply: write it more simply");
    Working result;
    if (take("-") || take("−")) {
      result = negative(signed_power());
    } else if (take("+")) {
      result = number(signed_power());
    } else if (take("√")) {
      result = call_of(square_root, number(signed_power()));
    } else {
      result = power();
    }
    --depth_;
    return result;
  }

  Working power() {
    Working base = primary();
    if (const std::optional<int> exponent = scanner_.superscript())
      return made_of(Kind::power, {number(std::move(base)), constant_of(*exponent)});
    if (!take("^")) return base;
    Working number_below = number(std::move(base));
    return made_of(Kind::power, {std::move(number_below), number(signed_power())});
  }

  Working primary() {
    if (take("(")) {
      Working inside = comparison();
      scanner_.expect(")");
      return inside;
    }
    if (take("\"")) {
      Working word;
      word.constant = std::string(scanner_.quoted());
      return word;
    }
    if (scanner_.is_at_end()) fail("'{}' ends where a number or a name is expected", scanner_.expression());
    return scanner_.is_at_name() ? named() : constant_of(scanner_.number());
  }

  Working named() {
    const std::string_view begin = scanner_.rest(), called = scanner_.name();
    if (take("(")) {
      Working result = call(called);
      scanner_.expect(")");
      return result;
    }
    if (scanner_.rest().starts_with('[')) {
      scanner_.brackets();
      return cell_working(find_cell(graph(), begin.substr(0, begin.size() - scanner_.rest().size()),
                                    [this](std::string_view place) { return place_of_variables(place); }));
    }
    if (const auto variable = variables_.find(called); variable != variables_.end())
      return constant_of(variable->second);
    Working working;
    working.name = called;
    if (const Constant* constant = find_row(constants(), called)) {
      working.constant = constant->value;
    } else {
      working.kind = Kind::size;
      if (called == heads_letter) {
        working.constant = static_cast<double>(heads_of(graph()));
      } else {
        const FoundSize size = find_size(graph(), called);
        working.node = &size.node;
        working.side = size.side;
      }
    }
    return working;
  }

  static Working call_of(const Function& function, Working argument) {
    Working working = made_of(Kind::call, {std::move(argument)});
    working.function = &function;
    return working;
  }

  Working call(std::string_view called) {
    if (const NumberFunction* function = find_row(number_functions(), called))
      return call_of(*function->function, number(comparison()));
    if (const RowFunction* function = find_row(row_functions(), called)) {
      Working working = row();
      working.row_function = function;
      worked_out(working);  // says where it has no answer
      return working;
    }
    if (const ShapeFunction* function = find_row(shape_functions(), called)) {
      Working working;
      working.kind = Kind::shape;
      working.node = &matrix(scanner_.name());
      working.shape_function = function;
      return working;
    }
    std::vector<std::string> names = names_of(number_functions());
    for (const RowFunction& function : row_functions()) names.emplace_back(function.name);
    for (const ShapeFunction& function : shape_functions()) names.emplace_back(function.name);
    fail_unknown("function", called, names);
  }

  Working row() {
    const Node& node = matrix(scanner_.name());
    if (!scanner_.rest().starts_with('['))
      fail("'{}': the row is missing: write {}[1]", scanner_.expression(), node.name);
    const std::string_view place = scanner_.brackets();
    Working working;
    working.kind = Kind::row;
    working.node = &node;
    working.row = find_place(node.frame.rows, node.frame.shape.rows, place,
                             fmt::format("row '{}' of {}", place, node.name),
                             [this](std::string_view text) { return place_of_variables(text); });
    return working;
  }

  // A place that is told by variables, such as i-1. All others are labels or numbers.
  std::optional<std::size_t> place_of_variables(std::string_view place) const {
    QuantityScanner names(place);
    bool has_variable = false;
    for (; !has_variable && !names.is_at_end(); names.skip_name_or_sign())
      has_variable = variables_.contains(names.next_name());
    if (!has_variable) return std::nullopt;
    const Working working = Reader(place, graph_, variables_).read();
    const double value = number_from(number(working));
    if (!(value >= 0.0 && value <= 1e6 && value == std::floor(value)))
      fail("'{}' is {}: a row or a column is a whole number", place, written(Quantity(value)));
    return static_cast<std::size_t>(value);
  }

  const Graph& graph() const {
    if (!graph_)
      fail("'{}' is not a number: write a number, or a fraction such as 1/8", scanner_.expression());
    return *graph_;
  }

  const Node& matrix(std::string_view called) {
    const std::vector<const Node*> nodes = graph().matching(called);
    if (nodes.size() > 1)
      fail("'{}' could be {} or {}: give the full name", called, nodes[0]->name, nodes[1]->name);
    return *nodes.front();
  }

  QuantityScanner scanner_;
  const Graph* graph_;
  const Variables& variables_;
  int depth_ = 0;
};

// Whether it has a leaf that is a part of a computation.
bool is_of_computation(const Working& working) {
  return working.node || working.kind == Working::Kind::size ||
         std::ranges::any_of(working.parts, is_of_computation);
}

}  // namespace

Working read_working(std::string_view expression, const Graph* graph, const Variables& variables) {
  return Reader(expression, graph, variables).read();
}

LookedUp look_up_quantity(std::string_view expression, const Graph* graph) {
  const Working working = read_working(expression, graph);
  return {worked_out(working), is_of_computation(working)};
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
