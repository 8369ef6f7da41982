#include "core/term/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/graph/find.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "core/term/expression_functions.hpp"

namespace attn {

namespace {

// Reads an expression, and makes its tree.
class Reader {
 public:
  Reader(std::string_view expression, const Graph* graph, const Variables& variables)
      : scanner_(expression), graph_(graph), variables_(variables) {}

  Term read() {
    Term term = comparison();
    if (!scanner_.is_at_end()) fail("'{}' cannot be read from '{}' on", scanner_.expression(), scanner_.rest());
    return term;
  }

 private:
  // Real expressions are not nested this deeply; the limit protects the stack.
  static constexpr int deepest = 100;

  bool take(std::string_view sign) { return scanner_.take(sign); }

  Term number(Term term) const {
    if (gives_number(term)) return term;
    fail("'{}': {} is not a number", scanner_.expression(), written(value_of_term(term)));
  }

  Term negative(Term term) { return term_of(Term::Kind::negative, {number(std::move(term))}); }

  Term comparison() {
    Term left = sum();
    for (const auto& [sign, kind] :
         {std::pair{"<", Term::Kind::less}, {">", Term::Kind::greater}, {"=", Term::Kind::equal}}) {
      if (!take(sign)) continue;
      Term number_left = number(std::move(left));
      return term_of(kind, {std::move(number_left), number(sum())});
    }
    return left;
  }

  // One part is itself.
  Term joined(Term::Kind kind, std::vector<Term> parts) const {
    if (parts.size() == 1) return std::move(parts.front());
    return term_of(kind, std::move(parts));
  }

  void add(std::vector<Term>& parts, Term part) const {
    if (parts.size() == 1) parts.front() = number(std::move(parts.front()));
    parts.push_back(std::move(part));
  }

  Term sum() {
    std::vector<Term> terms;
    terms.push_back(product());
    for (;;) {
      if (take("+")) {
        add(terms, number(product()));
      } else if (take("-") || take("−")) {
        add(terms, negative(product()));
      } else {
        return joined(Term::Kind::sum, std::move(terms));
      }
    }
  }

  Term product() {
    std::vector<Term> factors;
    factors.push_back(signed_power());
    for (;;) {
      if (take("*") || take("⋅") || take("·") || take("×")) {
        add(factors, number(signed_power()));
      } else if (take("/") || take("÷")) {
        add(factors, term_of(Term::Kind::inverse, {number(signed_power())}));
      } else {
        return joined(Term::Kind::product, std::move(factors));
      }
    }
  }

  Term signed_power() {
    if (++depth_ > deepest) fail("the expression is nested too deeply: write it more simply");
    Term result;
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

  Term power() {
    Term base = primary();
    if (const std::optional<int> exponent = scanner_.superscript())
      return term_of(Term::Kind::power, {number(std::move(base)), constant_of(*exponent)});
    if (!take("^")) return base;
    Term number_below = number(std::move(base));
    return term_of(Term::Kind::power, {std::move(number_below), number(signed_power())});
  }

  Term primary() {
    if (take("(")) {
      Term inside = comparison();
      scanner_.expect(")");
      return inside;
    }
    if (take("\"")) {
      Term word;
      word.constant = std::string(scanner_.quoted());
      return word;
    }
    if (scanner_.is_at_end()) fail("'{}' ends where a number or a name is expected", scanner_.expression());
    return scanner_.is_at_name() ? named() : constant_of(scanner_.number());
  }

  Term named() {
    const std::string_view begin = scanner_.rest(), called = scanner_.name();
    if (take("(")) {
      Term result = call(called);
      scanner_.expect(")");
      return result;
    }
    if (scanner_.rest().starts_with('[')) {
      scanner_.brackets();
      return cell_term(find_cell(graph(), begin.substr(0, begin.size() - scanner_.rest().size()),
                                 [this](std::string_view place) { return place_of_variables(place); }));
    }
    if (const auto variable = variables_.find(called); variable != variables_.end())
      return constant_of(variable->second);
    Term term;
    term.notation.plain = called;
    if (const Constant* constant = find_row(constants(), called)) {
      term.constant = constant->value;
    } else {
      term.kind = Term::Kind::size;
      if (called == heads_letter) {
        term.constant = static_cast<double>(heads_of(graph()));
      } else {
        const FoundSize size = find_size(graph(), called);
        term.node = &size.node;
        term.side = size.side;
      }
    }
    return term;
  }

  Term call(std::string_view called) {
    if (const NumberFunction* function = find_row(number_functions(), called))
      return call_of(*function->function, number(comparison()));
    if (const RowFunction* function = find_row(row_functions(), called)) {
      Term term = row();
      term.row_function = function;
      value_of_term(term);  // says where it has no answer
      return term;
    }
    if (const ShapeFunction* function = find_row(shape_functions(), called)) {
      Term term;
      term.kind = Term::Kind::shape;
      term.node = &matrix(scanner_.name());
      term.shape_function = function;
      return term;
    }
    std::vector<std::string> names = names_of(number_functions());
    for (const RowFunction& function : row_functions()) names.emplace_back(function.name);
    for (const ShapeFunction& function : shape_functions()) names.emplace_back(function.name);
    fail_unknown("function", called, names);
  }

  Term row() {
    const Node& node = matrix(scanner_.name());
    if (!scanner_.rest().starts_with('['))
      fail("'{}': the row is missing: write {}[1]", scanner_.expression(), node.name);
    const std::string_view place = scanner_.brackets();
    Term term;
    term.kind = Term::Kind::row;
    term.node = &node;
    term.row =
        find_place(node.frame.rows, node.frame.shape.rows, place, fmt::format("row '{}' of {}", place, node.name),
                   [this](std::string_view text) { return place_of_variables(text); });
    return term;
  }

  // A place that is told by variables, such as i-1. All others are labels or numbers.
  std::optional<std::size_t> place_of_variables(std::string_view place) const {
    QuantityScanner names(place);
    bool has_variable = false;
    for (; !has_variable && !names.is_at_end(); names.skip_name_or_sign())
      has_variable = variables_.contains(names.next_name());
    if (!has_variable) return std::nullopt;
    const Term term = Reader(place, graph_, variables_).read();
    const double value = number_from(number(term));
    if (!(value >= 0.0 && value <= 1e6 && value == std::floor(value)))
      fail("'{}' is {}: a row or a column is a whole number", place, written(Quantity(value)));
    return static_cast<std::size_t>(value);
  }

  const Graph& graph() const {
    if (!graph_) fail("'{}' is not a number: write a number, or a fraction such as 1/8", scanner_.expression());
    return *graph_;
  }

  const Node& matrix(std::string_view called) {
    const std::vector<const Node*> nodes = graph().matching(called);
    if (nodes.size() > 1) fail("'{}' could be {} or {}: give the full name", called, nodes[0]->name, nodes[1]->name);
    return *nodes.front();
  }

  QuantityScanner scanner_;
  const Graph* graph_;
  const Variables& variables_;
  int depth_ = 0;
};

// Whether it has a leaf that is a part of a computation.
bool is_of_computation(const Term& term) {
  return term.node || term.kind == Term::Kind::size || std::ranges::any_of(term.parts, is_of_computation);
}

}  // namespace

Term read_term(std::string_view expression, const Graph* graph, const Variables& variables) {
  return Reader(expression, graph, variables).read();
}

QuantityLookup look_up_quantity(std::string_view expression, const Graph* graph) {
  const Term term = read_term(expression, graph);
  return {value_of_term(term), is_of_computation(term)};
}

std::string written(const Quantity& quantity) {
  if (const std::string* word = std::get_if<std::string>(&quantity)) return *word;
  if (const bool* is_so = std::get_if<bool>(&quantity)) return *is_so ? "yes" : "no";
  if (const Shape* shape = std::get_if<Shape>(&quantity)) return fmt::format("{}×{}", shape->rows, shape->columns);
  const double number = std::get<double>(quantity);
  std::string text;
  append_fixed(text, number, decimals_for(std::span(&number, 1), 4));
  return text;
}

}  // namespace attn
