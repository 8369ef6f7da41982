#include "lesson/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "graph/address.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

struct Function {
  std::string_view name;
  double (*of)(double);
};

constexpr std::array functions = {
    Function{"sqrt", [](double x) { return std::sqrt(x); }},
    Function{"exp", [](double x) { return std::exp(x); }},
    Function{"log", [](double x) { return std::log(x); }},
    Function{"tanh", [](double x) { return std::tanh(x); }},
    Function{"abs", [](double x) { return std::fabs(x); }},
};

// A row of a matrix: the numbers, and what their columns are called.
struct Row {
  std::span<const double> cells;
  const Axis& columns;
};

struct RowFunction {
  std::string_view name;
  Quantity (*of)(const Row& row);
};

std::string label_at(const Row& row, std::span<const double>::iterator place) {
  return row.columns.label(static_cast<std::size_t>(place - row.cells.begin()));
}

constexpr std::array row_functions = {
    RowFunction{"sum",
                [](const Row& row) -> Quantity {
                  double sum = 0.0;
                  for (const double cell : row.cells) sum += cell;
                  return sum;
                }},
    RowFunction{"largest", [](const Row& row) -> Quantity { return *std::ranges::max_element(row.cells); }},
    RowFunction{"smallest", [](const Row& row) -> Quantity { return *std::ranges::min_element(row.cells); }},
    RowFunction{
        "most",
        [](const Row& row) -> Quantity { return label_at(row, std::ranges::max_element(row.cells)); }},
    RowFunction{
        "least",
        [](const Row& row) -> Quantity { return label_at(row, std::ranges::min_element(row.cells)); }},
};

struct ShapeFunction {
  std::string_view name;
  Quantity (*of)(const Shape& shape);
};

constexpr std::array shape_functions = {
    ShapeFunction{"rows", [](const Shape& shape) -> Quantity { return static_cast<double>(shape.rows); }},
    ShapeFunction{"columns",
                  [](const Shape& shape) -> Quantity { return static_cast<double>(shape.columns); }},
    ShapeFunction{"shape", [](const Shape& shape) -> Quantity { return shape; }},
};

// A size by its letter, and the matrices that have it, the first that there is.
struct Size {
  std::string_view name;
  std::array<std::string_view, 2> matrices;
  std::size_t Shape::*side;
};

constexpr std::array sizes = {
    Size{"n_q", {"scores", "weights"}, &Shape::rows}, Size{"n_k", {"scores", "weights"}, &Shape::columns},
    Size{"d_model", {"x", "x"}, &Shape::columns},     Size{"d_k", {"head.1.q", "q"}, &Shape::columns},
    Size{"d_v", {"head.1.v", "v"}, &Shape::columns},
};

const Node* first_matching(const Graph& graph, std::string_view pattern) {
  const auto found = std::ranges::find_if(
      graph.nodes(), [&](const Node& node) { return !node.name.empty() && matches(pattern, node.name); });
  return found == graph.nodes().end() ? nullptr : &*found;
}

std::size_t heads_of(const Graph& graph) {
  std::size_t heads = 1;
  while (first_matching(graph, fmt::format("head.{}.weights", heads + 1))) ++heads;
  return heads;
}

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
    if (const Function* function = find_row(std::span<const Function>(functions), called))
      return function->of(number(comparison()));
    if (const RowFunction* function = find_row(std::span<const RowFunction>(row_functions), called))
      return function->of(row());
    if (const ShapeFunction* function = find_row(std::span<const ShapeFunction>(shape_functions), called)) {
      skip_blanks();
      return function->of(matrix(name()).frame.shape);
    }
    std::vector<std::string> names = names_of(std::span<const Function>(functions));
    for (const RowFunction& function : row_functions) names.emplace_back(function.name);
    for (const ShapeFunction& function : shape_functions) names.emplace_back(function.name);
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

  Row row() {
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
    const Graph& graph = this->graph();
    looked_ = true;
    if (called == "h") return static_cast<double>(heads_of(graph));
    const Size& size = look_up(std::span<const Size>(sizes), called, "size");
    for (const std::string_view pattern : size.matrices) {
      if (const Node* node = first_matching(graph, pattern))
        return static_cast<double>(node->frame.shape.*size.side);
    }
    fail("there is no {} here: this computation has no {}", called, size.matrices.back());
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
