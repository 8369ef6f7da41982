#include "core/term/law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/graph/find.hpp"
#include "core/graph/function.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "core/term/expression_functions.hpp"
#include "core/term/law_side.hpp"
#include "core/term/quantity.hpp"

namespace attn {

namespace {

using namespace laws;

constexpr LawFunction of_heads = {"of_heads", "the matrices of this name of all heads, beside each other"};

double sum_of_two(double a, double b) { return a + b; }
double difference_of_two(double a, double b) { return a - b; }
double product_of_two(double a, double b) { return a * b; }
double quotient_of_two(double a, double b) { return a / b; }
double power_of_two(double a, double b) { return std::pow(a, b); }

// --- reading

// The scopes of a name, from the innermost outwards: "encoder.1.head.2.", "encoder.1.head.", …, "".
std::vector<std::string> scopes_around(std::string_view scope) {
  std::vector<std::string> all = {std::string(scope)};
  while (!scope.empty()) {
    scope.remove_suffix(1);
    scope = scope.substr(0, scope.rfind('.') + 1);
    all.emplace_back(scope);
  }
  return all;
}

// The matrices of a name of the heads in a scope, or in one around it; none where there are no such heads.
std::vector<const Node*> heads_in(const Graph& graph, std::string_view scope, std::string_view name) {
  for (const std::string& around : scopes_around(scope)) {
    std::vector<const Node*> heads;
    while (const Node* const head = graph.find(fmt::format("{}head.{}.{}", around, heads.size() + 1, name)))
      heads.push_back(head);
    if (!heads.empty()) return heads;
  }
  return {};
}

// A size by its letter, such as d_k, where no matrix is called so.
std::optional<double> size_called(const Graph& graph, std::string_view name) {
  try {
    const FoundSize found = find_size(graph, name);
    return static_cast<double>(found.node.frame.shape.*found.side);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

bool names_matrix(const Graph& graph, std::string_view name) {
  return std::ranges::any_of(graph.named(), [&](const Node* node) { return matches(name, node->name); });
}

// A name, and the matrix that it stands for this time.
using Lookup = std::function<const Node&(std::string_view name)>;

class LawReader {
 public:
  LawReader(std::string_view law, const Graph& graph, const Node& first, const Lookup& look_up, double tolerance)
      : scanner_(law), graph_(graph), first_(first), look_up_(look_up), tolerance_(tolerance) {}

  LawCheck read() {
    LawCheck held{.law = std::string(scanner_.expression()), .of = {}};
    std::optional<LawViolation> broken;
    const bool is_property = takes_property(broken);
    held.broken = is_property ? broken : comparison();
    if (is_property && !scanner_.is_at_end())
      fail("'{}': a property is a law of its own: leave out '{}'", scanner_.expression(), scanner_.rest());
    if (!scanner_.is_at_end()) refuse_rest();
    held.of = used_;
    if (held.broken) held.broken->because = because_;
    return held;
  }

 private:
  static constexpr int deepest = 100;

  [[noreturn]] void refuse_rest() {
    for (const ComparisonSign& sign : comparison_signs()) {
      if (scanner_.rest().starts_with(sign.written))
        fail("'{}' compares more than two sides: write two laws, with ; between them", scanner_.expression());
    }
    fail("'{}' cannot be read from '{}' on", scanner_.expression(), scanner_.rest());
  }

  bool takes_property(std::optional<LawViolation>& broken) {
    QuantityScanner ahead = scanner_;
    const std::string_view called = ahead.name();
    const Property* const property = find_row(properties(), called);
    if (!property || !ahead.take("(")) return false;
    scanner_ = ahead;
    const Side x = sum();
    scanner_.expect(")");
    const Shape shape = x.cells.shape();
    if (property->is_of_square && shape.rows != shape.columns)
      fail("'{}': {} cells have no diagonal: {} is a property of as many columns as rows{}", scanner_.expression(),
           to_string(shape), called,
           called == "causal" && names_matrix(graph_, "mask") ? "; for the mask here, write 'weights * (1 - mask) = 0'"
                                                              : "");
    Budget::take_work(shape.cells());
    std::size_t count = 0;
    for (std::size_t i = 0; i < shape.rows; ++i) {
      for (std::size_t j = 0; j < shape.columns; ++j) {
        if (property->holds(x.cells, i, j, tolerance_) || count++ > 0) continue;
        broken = LawViolation{.left = x.cells(i, j), .should_be = std::string(property->wanted)};
        tell_place(*broken, x, i, j);
      }
    }
    if (broken) {
      broken->cells = count;
      broken->of = shape.cells();
    }
    return true;
  }

  std::optional<LawViolation> comparison() {
    const Side left = sum();
    for (const ComparisonSign& sign : comparison_signs()) {
      if (scanner_.take(sign.written)) return compared(left, sum(), sign);
    }
    if (!scanner_.is_at_end()) refuse_rest();
    fail("'{}' is no law: compare two sides with < > or =, or give a property such as causal(weights)",
         scanner_.expression());
  }

  std::optional<LawViolation> compared(const Side& left, const Side& right, const ComparisonSign& sign) const {
    const Side places = by_cells(
        left, right, [](double a, double) { return a; }, scanner_.expression());
    const Shape shape = places.cells.shape();
    std::optional<LawViolation> worst;
    double furthest = -1.0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < shape.rows; ++i) {
      for (std::size_t j = 0; j < shape.columns; ++j) {
        const double a = cell_at(left, i, j), b = cell_at(right, i, j);
        if (sign.holds(a, b, tolerance_)) continue;
        ++count;
        const double apart = std::isfinite(a - b) ? std::fabs(a - b) : std::numeric_limits<double>::infinity();
        if (apart <= furthest) continue;
        furthest = apart;
        worst = LawViolation{.left = a, .right = b, .compares = true, .should_be = std::string(sign.words)};
        tell_place(*worst, places, i, j);
      }
    }
    if (worst) {
      worst->cells = count;
      worst->of = shape.cells();
    }
    return worst;
  }

  // However it is nested, the stack is not used up.
  template <class Read>
  Side deeper(const Read& read) {
    if (++depth_ > deepest) fail("the law is nested too deeply: write it more simply");
    Side side = read();
    --depth_;
    return side;
  }

  Side with(const Side& left, const Side& right, CellFunction f) const {
    return by_cells(left, right, f, scanner_.expression());
  }

  Side sum() {
    return deeper([&] {
      Side left = product();
      for (;;) {
        if (scanner_.take("+")) {
          left = with(left, product(), sum_of_two);
        } else if (scanner_.take("-") || scanner_.take("−")) {
          left = with(left, product(), difference_of_two);
        } else {
          return left;
        }
      }
    });
  }

  Side product() {
    Side left = factor();
    for (;;) {
      if (scanner_.take("*") || scanner_.take("⋅") || scanner_.take("·") || scanner_.take("×")) {
        left = with(left, factor(), product_of_two);
      } else if (scanner_.take("/") || scanner_.take("÷")) {
        left = with(left, factor(), quotient_of_two);
      } else {
        return left;
      }
    }
  }

  Side factor() {
    return deeper([&] {
      if (scanner_.take("-") || scanner_.take("−")) return with(laws::one(0.0), factor(), difference_of_two);
      if (scanner_.take("√")) return applied("sqrt", factor());
      Side base = primary();
      if (const std::optional<int> exponent = scanner_.superscript())
        return with(base, laws::one(*exponent), power_of_two);
      return scanner_.take("^") ? with(base, factor(), power_of_two) : base;
    });
  }

  Side primary() {
    if (scanner_.take("(")) {
      Side inside = sum();
      scanner_.expect(")");
      return inside;
    }
    if (scanner_.is_at_end()) fail("'{}' ends where a number or a name is expected", scanner_.expression());
    return scanner_.is_at_name() ? named() : laws::one(scanner_.number());
  }

  Side named() {
    const std::string_view called = scanner_.name();
    if (scanner_.take("(")) {
      Side x = called == of_heads.name ? heads_beside_each_other() : sum();
      scanner_.expect(")");
      return called == of_heads.name ? x : applied(called, std::move(x));
    }
    if (const Constant* const constant = find_row(constants(), called)) return laws::one(constant->value);
    if (!names_matrix(graph_, called)) {
      if (const std::optional<double> size = size_called(graph_, called)) return laws::one(*size);
    }
    const Node& node = look_up_(called);
    use(node);
    Budget::take_work(node.frame.shape.cells());
    if (!scanner_.rest().starts_with('['))
      return {.cells = node.matrix(), .rows = {&node, false}, .columns = {&node, true}};
    const std::vector<Cell> found = find_cells(graph_, fmt::format("{}[{}]", node.name, scanner_.brackets()));
    if (found.empty()) fail("'{}': {} has no columns", scanner_.expression(), node.name);
    Side row{.cells = Matrix({1, found.size()}), .rows = {&node, false, found.front().row}, .columns = {&node, true}};
    // A cell was asked for, or a row that has one.
    if (found.size() == 1) row.columns.at = found.front().column;
    for (std::size_t j = 0; j < found.size(); ++j) row.cells(0, j) = found[j].value();
    return row;
  }

  Side heads_beside_each_other() {
    const std::string_view called = scanner_.name();
    std::vector<const Node*> heads = heads_in(graph_, first_.scope(), called);
    if (heads.empty()) fail("'{}': no heads have a matrix {} here", scanner_.expression(), called);
    Shape shape{heads.front()->frame.shape.rows, 0};
    for (const Node* head : heads) shape.columns += head->frame.shape.columns;
    Side all{.cells = Matrix(shape), .rows = {heads.front(), false}, .columns = {heads.front(), true, {}, heads}};
    std::size_t first_column = 0;
    for (const Node* head : heads) {
      use(*head);
      const Shape part = head->frame.shape;
      if (part.rows != shape.rows || part.columns != heads.front()->frame.shape.columns)
        fail("'{}': {} is {} and {} is {}: they do not stand beside each other", scanner_.expression(),
             heads.front()->name, to_string(heads.front()->frame.shape), head->name, to_string(part));
      for (std::size_t i = 0; i < part.rows; ++i) {
        for (std::size_t j = 0; j < part.columns; ++j) all.cells(i, first_column + j) = head->matrix()(i, j);
      }
      first_column += part.columns;
    }
    return all;
  }

  void use(const Node& node) {
    if (std::ranges::find(used_, &node) == used_.end()) used_.push_back(&node);
  }

  Side applied(std::string_view called, Side x) {
    if (const SideFunction* const of = find_row(functions_of_sides(), called)) {
      Side made = of->of(x);
      const auto is_nan = [](double number) { return std::isnan(number); };
      if (!of->needs.empty() && std::ranges::any_of(cells(made.cells), is_nan))
        because_ = fmt::format("{} needs {}: without them it is NaN.", called, of->needs);
      return made;
    }
    if (const NumberFunction* const function = find_row(number_functions(), called)) {
      for (double& cell : cells(x.cells)) cell = function->function->evaluate(cell);
      return x;
    }
    if (find_row(properties(), called))
      fail("'{}': {} is a law of its own and gives no number: write {} alone", scanner_.expression(), called,
           fmt::format("{}(…)", called));
    std::vector<std::string> names;
    for (const LawFunction& function : law_functions()) names.emplace_back(function.name);
    fail_unknown("function", called, names);
  }

  QuantityScanner scanner_;
  const Graph& graph_;
  const Node& first_;
  const Lookup& look_up_;
  double tolerance_;
  int depth_ = 0;
  std::vector<const Node*> used_ = {};
  std::string because_ = {};
};

// The names of matrices that a law has, in order, and those whose heads it joins.
struct NamesInLaw {
  std::vector<std::string_view> matrices, of_heads;
};

NamesInLaw names_in(std::string_view law, const Graph& graph) {
  NamesInLaw names;
  QuantityScanner scanner(law);
  while (!scanner.is_at_end()) {
    const char next = scanner.rest().front();
    if (next == '[') {
      scanner.brackets();
    } else if (next >= '0' && next <= '9') {
      scanner.number();
    } else if (!scanner.is_at_name()) {
      scanner.skip_name_or_sign();
    } else if (const std::string_view name = scanner.name(); scanner.take("(")) {
      if (name == of_heads.name) names.of_heads.push_back(scanner.name());
    } else if (!find_row(constants(), name) && (names_matrix(graph, name) || !size_called(graph, name))) {
      names.matrices.push_back(name);
    }
  }
  return names;
}

// A name that stands for one matrix in the scope of another one, or in the nearest scope around it; else null. The
// last of these is that of full names.
const Node* found_around(const Graph& graph, const Node& first, std::string_view name) {
  for (const std::string& scope : scopes_around(first.scope())) {
    if (const Node* const beside = graph.find(scope + std::string(name))) return beside;
  }
  return nullptr;
}

// The matrices of a name of the first head of each attention.
std::vector<const Node*> first_heads(const Graph& graph, std::string_view name) {
  std::vector<const Node*> all;
  for (const Node* node : graph.named()) {
    const std::string_view scope = node->scope();
    const bool is_first = scope == "head.1." || scope.ends_with(".head.1.");
    if (is_first && node->name == fmt::format("{}{}", scope, name)) all.push_back(node);
  }
  return all;
}

// --- telling

std::string number_in_full(double number) { return fmt::format("{}", number); }

// With an exponent where the usual decimals would show 0, or more digits than one reads.
std::string compact_number(double number) {
  constexpr double large = 1e15;
  std::string usual = written(Quantity(number));
  const bool is_large = std::isfinite(number) && std::fabs(number) >= large;
  const bool is_shown = number == 0.0 || parse_number<double>(usual) != 0.0;
  return is_shown && !is_large ? usual : fmt::format("{:.4g}", number);
}

}  // namespace

std::vector<LawCheck> check_law(std::string_view law, const Graph& graph, double tolerance,
                                const std::function<bool(const Node& matrix)>& applies) {
  const NamesInLaw names = names_in(law, graph);
  if (names.matrices.empty() && names.of_heads.empty())
    fail("'{}' names no matrix: it holds or not, whatever is computed", law);
  // The name that most matrices have stands for each of them in turn.
  std::string_view leading;
  std::vector<const Node*> all_first;
  for (const std::string_view name : names.matrices) {
    std::vector<const Node*> found = graph.matching(name);
    if (found.size() <= all_first.size()) continue;
    leading = name;
    all_first = std::move(found);
  }
  if (names.matrices.empty()) {
    all_first = first_heads(graph, names.of_heads.front());
    if (all_first.empty()) fail("'{}': no heads have a matrix {} here", law, names.of_heads.front());
  }
  // It is not held where it does not apply, as to attention without a mask.
  const auto has_heads = [&](const Node* first) {
    return std::ranges::all_of(names.of_heads, [&](std::string_view name) {
      return graph.find(fmt::format("{}head.1.{}", first->scope(), name)) != nullptr;
    });
  };
  const auto is_chosen = [&](const Node* first) { return !applies || applies(*first); };
  const auto has_others = [&](const Node* first) {
    return std::ranges::all_of(
        names.matrices, [&](std::string_view name) { return name == leading || found_around(graph, *first, name); });
  };
  for (const std::function<bool(const Node*)>& is_held :
       {std::function<bool(const Node*)>(has_heads), {has_others}, {is_chosen}}) {
    if (std::ranges::any_of(all_first, is_held)) std::erase_if(all_first, std::not_fn(is_held));
  }
  std::vector<LawCheck> all;
  for (const Node* first : all_first) {
    // The others stand in the same scope or in one around it, or there is only one of the name.
    const Lookup look_up = [&](std::string_view name) -> const Node& {
      if (name == leading) return *first;
      if (const Node* const beside = found_around(graph, *first, name)) return *beside;
      const std::vector<const Node*> found = graph.matching(name);
      if (found.size() > 1)
        fail("'{}': {} could be {} or {}: give the full name", law, name, found[0]->name, found[1]->name);
      return *found.front();
    };
    all.push_back(LawReader(law, graph, *first, look_up, tolerance).read());
  }
  return all;
}

std::vector<std::string> laws_in(std::string_view text) {
  std::vector<std::string> laws = {""};
  bool is_quoted = false;
  for (const char c : text) {
    if (c == '"') is_quoted = !is_quoted;
    if (c == ';' && !is_quoted) {
      laws.emplace_back();
    } else {
      laws.back() += c;
    }
  }
  for (std::string& law : laws) law = std::string(trimmed(law));
  std::erase(laws, "");
  if (laws.empty()) fail("there is no law: give one such as 'row_sums(weights) = 1'");
  return laws;
}

std::string violation_in_words(const LawViolation& broken) {
  std::string left = compact_number(broken.left), right = compact_number(broken.right);
  if (broken.compares && parse_number<double>(left) == parse_number<double>(right)) {
    left = number_in_full(broken.left);
    right = number_in_full(broken.right);
  }
  const std::string because = broken.because.empty() ? "" : " " + broken.because;
  if (!broken.compares) {
    const std::string place = broken.place.empty() ? "A number" : broken.place;
    return fmt::format("{} is {}. It should be {}.{}", place, left, broken.should_be, because);
  }
  const std::string place =
      broken.place.empty() ? "The left side is" : fmt::format("At {}, the left side is", broken.place);
  return fmt::format("{} {}. It should be {} the right side, {}.{}", place, left, broken.should_be, right, because);
}

std::vector<LawFunction> law_functions() {
  std::vector<LawFunction> all;
  for (const Property& property : properties()) all.push_back({property.name, property.summary});
  for (const SideFunction& of : functions_of_sides()) all.push_back({of.name, of.summary});
  all.push_back(of_heads);
  for (const NumberFunction& function : number_functions()) all.push_back({function.name, "of each number"});
  return all;
}

}  // namespace attn
