#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>

#include "core/graph/plan.hpp"
#include "core/graph/run.hpp"
#include "core/op/operations.hpp"
#include "core/term/explanation.hpp"
#include "evaluated.hpp"
#include "operation_samples.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Value input(Graph& graph, std::string_view name, Matrix cells) {
  return graph.input(name_from_text(name), std::move(cells), axis("rows"), axis("columns"));
}

void check_explanations(const Node& node) {
  const Matrix& result = node.matrix();
  for (std::size_t i = 0; i < result.shape().rows; ++i) {
    for (std::size_t j = 0; j < result.shape().columns; ++j) {
      CAPTURE(i);
      CAPTURE(j);
      const Term expression = explain(node, i, j).term;
      CHECK(close(expression.value, result(i, j), 1e-12));
      CHECK(close(evaluated(expression), result(i, j), 1e-12));
    }
  }
}

std::vector<std::string> names_of(const std::vector<const Node*>& nodes) {
  std::vector<std::string> names;
  for (const Node* node : nodes) names.push_back(node->name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("every operation computes, explains every cell, is written and is counted") {
  for (const OperationSample& sample : operation_samples()) {
    CAPTURE(sample.name);
    Graph graph;
    Samples from(graph);
    const Value value = sample.apply(from);
    const Node& node = value.node();
    REQUIRE(node.op);
    CHECK(node.op->name == sample.name);
    CHECK(node.matrix().shape() == node.frame.shape);
    CHECK(node.frame.shape.cells() > 0);
    check_explanations(node);

    std::vector<Formula> written;
    for (const Node* operand : node.operands) written.push_back(symbol(*operand));
    const Formula formula = formula_of(*node.op, node.use(), written);
    for (const Formula& operand : written) {
      CHECK(formula.plain.find(operand.plain) != std::string::npos);
      CHECK(formula.latex.find(operand.latex) != std::string::npos);
    }
    CHECK_FALSE(formula_of(node).plain.empty());
    CHECK_FALSE(formula_of(node).latex.empty());
    const Cost cost = cost_of(node);
    CHECK((cost.multiply_adds + cost.element_operations > 0) == !node.is_alias());
  }
}

TEST_CASE("every operation has a sample, and every sample is of an operation") {
  std::set<std::string_view> sampled, all;
  for (const Op* op : operations()) all.insert(op->name);
  for (const OperationSample& sample : operation_samples()) sampled.insert(sample.name);
  CHECK(all == sampled);
}

TEST_CASE("an operation moves numbers when every cell of its result is a cell of an operand") {
  for (const OperationSample& sample : operation_samples()) {
    CAPTURE(sample.name);
    Graph graph;
    Samples from(graph);
    const Value value = sample.apply(from);
    const Node& node = value.node();
    bool moved = true;
    for (std::size_t i = 0; i < value.shape().rows; ++i) {
      for (std::size_t j = 0; j < value.shape().columns; ++j) {
        const Term expression = explain(node, i, j).term;
        moved = moved && expression.kind == Term::Kind::cell;
      }
    }
    CHECK(node.op->moves == moved);
  }
}

TEST_CASE("a function is the same for one number and for all cells of a matrix, and keeps its bounds") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Function* function :
       {&exponential, &hyperbolic_tangent, &error_function, &logistic, &rectifier, &gelu_function,
        &gelu_by_tanh_function, &silu_function, &sine, &cosine, &square_root, &logarithm, &absolute_value}) {
    CAPTURE(function->name);
    std::vector<double> numbers = {-2.5, -0.0, 0.0, 0.75, 3.0, nan};
    const std::vector<double> before = numbers;
    function->evaluate_all(numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double expected = function->evaluate(before[i]);
      CHECK((numbers[i] == expected || (std::isnan(numbers[i]) && std::isnan(expected))));
      CHECK(!(expected < function->bounds.least));
      CHECK(!(expected > function->bounds.most));
    }
    CHECK(std::isnan(numbers.back()));
  }
}

TEST_CASE("the named operands are those that the formula mentions, behind what has no name") {
  Graph graph;
  const Value x = input(graph, "x", matrix({{1, 2}})), w = input(graph, "w", matrix({{1}, {1}})),
              b = input(graph, "b", matrix({{1}}));
  const Value q = name(role::q, add(matmul(x, w), b));
  CHECK(names_of(q.node().named_operands()) == Names{"x", "w", "b"});
  CHECK(names_of(name(name_from_text("again"), q).node().named_operands()) == Names{"q"});
  CHECK(x.node().named_operands().empty());
}

TEST_CASE("the scope of a node is known with its dot and without") {
  Graph graph;
  const Graph::Scope head(graph, scope::head, 2);
  const Value inside = input(graph, "weights", matrix({{1}}));
  CHECK(inside.node().scope() == "head.2.");
  CHECK(inside.node().scope_name() == "head.2");
  Graph other;
  CHECK(input(other, "weights", matrix({{1}})).node().scope_name() == "");
}

TEST_CASE("operations give the numbers worked out by hand") {
  Graph graph;
  const Value a = input(graph, "a", matrix({{1, 2}, {3, 4}})), b = input(graph, "b", matrix({{5, 6}, {7, 8}}));
  const Value one_row = input(graph, "row", matrix({{10, 20}})), top = input(graph, "top", matrix({{1, 0}, {1, 1}}));
  CHECK(same(matmul(a, b).matrix(), matrix({{19, 22}, {43, 50}})));
  CHECK(same(matmul_transposed(a, b).matrix(), matrix({{17, 23}, {39, 53}})));
  CHECK(same(add(a, b).matrix(), matrix({{6, 8}, {10, 12}})));
  CHECK(same(add(a, one_row).matrix(), matrix({{11, 22}, {13, 24}})));
  CHECK(same(divide(a, {4, {"√16", ""}}).matrix(), matrix({{0.25, 0.5}, {0.75, 1}})));
  CHECK(same(mask(a, top, -infinity).matrix(), matrix({{1, -infinity}, {3, 4}})));
  CHECK(same(columns(b, 1, 1).matrix(), matrix({{6}, {8}})));
  CHECK(same(concatenate({a, one_row.graph().name(name_from_text("again"), b), a}).matrix(),
             matrix({{1, 2, 5, 6, 1, 2}, {3, 4, 7, 8, 3, 4}})));
  const double e = std::exp(1.0);
  CHECK(close(softmax(a).matrix(), matrix({{1 / (1 + e), e / (1 + e)}, {1 / (1 + e), e / (1 + e)}}), 1e-15));
}

TEST_CASE("products cost as many multiplications as they have, other operations as many cells") {
  Graph graph;
  const Value a = input(graph, "a", Matrix({2, 3}, 1.0)), b = input(graph, "b", Matrix({3, 5}, 1.0));
  const auto cost = [](const Value& value) { return cost_of(value.node()); };
  CHECK(cost(matmul(a, b)).multiply_adds == 2 * 3 * 5);
  CHECK(cost(matmul_transposed(a, a)).multiply_adds == 2 * 3 * 2);
  CHECK(cost(add(a, a)).element_operations == 6);
  CHECK(cost(columns(b, 1, 2)).element_operations == 6);
  CHECK(cost(concatenate({a, a, a})).element_operations == 18);
}

TEST_CASE("masked and empty rows are explained as what they are") {
  Graph graph;
  const Value scores = input(graph, "scores", matrix({{1, 2, 3}, {4, 5, 6}}));
  const Value allowed = input(graph, "mask", matrix({{1, 0, 1}, {0, 0, 0}}));
  const Value masked = name(role::masked, mask(scores, allowed, -infinity, {"query", "key"}));
  const Value weights = name(role::weights, softmax(masked));
  check_explanations(masked.node());
  check_explanations(weights.node());
  const auto reason = [](const Value& value, std::size_t row, std::size_t column) {
    return explain(value.node(), row, column).reason;
  };
  CHECK(reason(masked, 0, 0) == "key 1 is not masked for query 1, so the score stays");
  CHECK(reason(masked, 0, 1) == "key 2 is masked for query 1: −∞ replaces the score");
  CHECK(reason(weights, 0, 1) == "its score is −∞, and exp(−∞) = 0");
  CHECK(reason(weights, 1, 1) == "every number of row 2 is −∞, so its weights are 0");
  CHECK(reason(weights, 0, 0).find("masked[1,3], the largest score of the row, is subtracted first") !=
        std::string::npos);
}

TEST_CASE("a term lists its cells once, in the order in which they are written") {
  Graph graph;
  const Value a = input(graph, "a", matrix({{1, 2}}));
  const Node& node = a.node();
  const Term first = cell_term({&node, 0, 0}), second = cell_term({&node, 0, 1});
  const Term distance = term_of(Term::Kind::sum, {second, term_of(Term::Kind::negative, {first})});
  const Term all = term_of(Term::Kind::sum, {second, first, constant_of(3.0)});
  const Term quotient =
      term_of(Term::Kind::product, {call_of(exponential, distance), term_of(Term::Kind::inverse, {all})});
  CHECK(close(number_from(quotient), std::exp(1.0) / 6.0, 1e-15));
  CHECK(is_difference(distance));
  CHECK(is_quotient(quotient));
  CHECK(cells_of(quotient) == std::vector<Cell>{{&node, 0, 1}, {&node, 0, 0}});
}

TEST_CASE("names are given within the open scopes") {
  Graph graph;
  const Value x = input(graph, "x", matrix({{1}}));
  {
    const Graph::Scope encoder(graph, scope::encoder), layer(graph, scope::number, 1);
    {
      const Graph::Scope head(graph, scope::head, 2);
      const Node& node = name(role::weights, softmax(x)).node();
      CHECK(node.name == "encoder.1.head.2.weights");
      CHECK(node.scope() == "encoder.1.head.2.");
      CHECK(node.leaf() == "weights");
    }
    CHECK(name(role::output, softmax(x)).node().name == "encoder.1.output");
  }
  CHECK(name(role::output, softmax(x)).node().name == "output");
  CHECK(x.node().scope() == "");
  CHECK(graph.names() == Names{"x", "encoder.1.head.2.weights", "encoder.1.output", "output"});
  CHECK_THROWS_AS(name(role::output, softmax(x)), std::logic_error);
}

TEST_CASE("a second name is an alias that shares its cells and leads back to what was computed") {
  Graph graph;
  const Value x = input(graph, "x", matrix({{1, 2}}));
  const Value masked = name(role::masked, name(role::scaled, x));
  CHECK(masked.node().is_alias());
  CHECK(&masked.node().original() == &x.node());
  CHECK(&x.node().original() == &x.node());
  CHECK(masked.node().cells() == x.node().cells());
  const Value weights = softmax(masked);
  CHECK(weights.node().operands.front() == &x.node());
  CHECK_FALSE(weights.node().is_alias());
  CHECK(formula_of(masked.node()).plain == "masked = x");
}

TEST_CASE("formulas give names in full, and bracket what has no name") {
  Graph graph;
  const Value x = input(graph, "x", matrix({{1, 2}}));
  const Node& scores = name(role::scores, matmul_transposed(x, x)).node();
  CHECK(formula_of(scores).plain == "scores = x ⋅ xᵀ");
  CHECK(formula_of(scores).latex == "\\mathrm{scores} = X \\, {X}^{\\top}");
  const Value nameless = matmul_transposed(x, x);
  CHECK(nameless.node().title() == "(x ⋅ xᵀ)");
  CHECK(formula_of(name(role::weights, softmax(nameless)).node()).plain == "weights = softmax(x ⋅ xᵀ)");
  CHECK(formula_of(matmul(nameless, add(x, x)).node()).plain == "x ⋅ xᵀ ⋅ (x + x)");
  CHECK(formula_of(matmul(transpose(x), nameless).node()).plain == "xᵀ ⋅ (x ⋅ xᵀ)");
  CHECK(formula_of(subtract(subtract(x, x), x).node()).plain == "x − x − x");
  CHECK(formula_of(subtract(x, subtract(x, x)).node()).plain == "x − (x − x)");
  CHECK(formula_of(transpose(transpose(x)).node()).plain == "xᵀᵀ");
  const Graph::Scope head(graph, scope::head, 2);
  const Value q = name(role::q, columns(x, 0, 1));
  CHECK(formula_of(q.node()).plain == "head.2.q = column 1 of x");
  const Value part = name(role::x, columns(x, 0, 1));
  CHECK(formula_of(part.node()).plain == "head.2.x = column 1 of x");
  CHECK(formula_of(name(role::scores, matmul_transposed(q, q)).node()).plain == "head.2.scores = head.2.q ⋅ head.2.qᵀ");
  CHECK(symbol(name(role::w_q, columns(x, 1, 1)).node()).latex == "{W^{Q}}_{\\mathrm{head.2}}");
}

TEST_CASE("a pattern may leave out leading scopes, and a star stands for anything") {
  struct Row {
    std::string_view pattern, name;
    bool matches;
  };
  for (const Row& row : {
           Row{"weights", "weights", true},
           Row{"weights", "head.2.weights", true},
           Row{"2.weights", "head.2.weights", true},
           Row{"head.2.weights", "encoder.1.head.2.weights", true},
           Row{"eights", "head.2.weights", false},
           Row{"head.2", "head.2.weights", false},
           Row{"head.*.output", "head.12.output", true},
           Row{"head.*.output", "encoder.head.1.output", true},
           Row{"head.*.output", "output", false},
           Row{"encoder.2.*", "encoder.2.head.1.q", true},
           Row{"encoder.2.*", "encoder.21.q", false},
           Row{"*", "anything.at.all", true},
           Row{"*ed", "head.1.masked", true},
           Row{"*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaac", false},
           Row{"s*d*d", "scaled.added", true},
           Row{"", "weights", false},
           Row{"w", "", false},
       }) {
    CAPTURE(row.pattern);
    CAPTURE(row.name);
    CHECK(matches(row.pattern, row.name) == row.matches);
  }
}

TEST_CASE("nodes are found by pattern in order, and only the exact one where there is one") {
  Graph graph;
  const Value x = input(graph, "x", matrix({{1}}));
  for (const std::size_t number : {1, 2}) {
    const Graph::Scope scope(graph, scope::head, number);
    name(role::weights, softmax(x));
    name(role::output, softmax(x));
  }
  name(role::output, softmax(x));
  softmax(x);
  CHECK(names_of(graph.matching("weights")) == Names{"head.1.weights", "head.2.weights"});
  CHECK(names_of(graph.matching("head.*.output")) == Names{"head.1.output", "head.2.output"});
  CHECK(names_of(graph.matching("*output")) == Names{"head.1.output", "head.2.output", "output"});
  CHECK(names_of(graph.matching("output")) == Names{"output"});
  CHECK(graph.matching("*").size() == 6);  // all but the one without a name
  CHECK(names_of(graph.matching("output|head.2.*")) == Names{"output", "head.2.weights", "head.2.output"});
  CHECK(names_of(graph.matching("head.1.*|weights")) == Names{"head.1.weights", "head.1.output", "head.2.weights"});
  CHECK(matches("q|weights", "head.1.weights"));
  CHECK_FALSE(matches("q|k", "head.1.weights"));
  CHECK(graph.find("weights") == nullptr);
  CHECK(&graph.at("head.2.weights") == graph.find("head.2.weights"));
}

TEST_CASE("a name that is not there is answered with the nearest one") {
  Graph graph;
  input(graph, "scores", matrix({{1}}));
  input(graph, "values", matrix({{1}}));
  check_refused({
      {"unknown matrix 'scoers' (did you mean 'scores'?). Choose one of: scores, values", [&] { graph.at("scoers"); }},
      {"unknown matrix 'vlues' (did you mean 'values'?)", [&] { graph.matching("vlues"); }},
      {"unknown matrix 'head.*'. Choose one of: scores, values", [&] { graph.matching("head.*"); }},
      {"unknown matrix 'vlues'", [&] { graph.matching("scores|vlues"); }},
  });
}

TEST_CASE("only what matches is kept") {
  Graph graph(keep_matching("head.*.weights"));
  const Value x = input(graph, "x", matrix({{1, 2}}));
  for (const std::size_t number : {1, 2}) {
    const Graph::Scope scope(graph, scope::head, number);
    name(role::output, add(name(role::weights, softmax(name(role::scores, divide(x, {2, {"2", "2"}})))), x));
  }
  graph.run().compute();
  Names kept;
  for (const Node& node : graph.nodes()) {
    if (graph.run().holds(node)) kept.push_back(node.name);
  }
  CHECK(kept == Names{"x", "head.1.weights", "head.2.weights"});
  CHECK(close(cells(graph.at("head.2.weights").matrix())[0], 1 / (1 + std::exp(0.5)), 1e-15));
}

TEST_CASE("rows and columns keep their labels through operations") {
  Graph graph;
  const Value x = graph.input(role::x, matrix({{1, 2, 3}}), axis("tokens", {"it"}), axis("features", {"a", "b", "c"}));
  const Value part = columns(x, 1, 2);
  CHECK(part.node().frame.columns.label(0) == "b");
  CHECK(part.node().frame.rows.label(0) == "it");
  CHECK(matmul_transposed(x, x).node().frame.columns.label(0) == "it");
  CHECK(concatenate({x, x}).node().frame.columns.label(3) == "4");
  CHECK(axis("features", {}).label(4) == "5");
}

TEST_CASE("operands that do not fit together are refused by name and shape") {
  Graph graph;
  const Value q = input(graph, "q", Matrix({2, 3}, 1.0)), k = input(graph, "k", Matrix({4, 2}, 1.0));
  check_refused({
      {"q is 2×3 but k is 4×2: the first must have as many columns as the second has rows", [&] { matmul(q, k); }},
      {"q is 2×3 but k is 4×2: both must have the same number of columns", [&] { matmul_transposed(q, k); }},
      {"q is 2×3 but k is 4×2: it must have the same shape, or be one row of 3 or one column of 2 numbers",
       [&] { add(q, k); }},
      {"k is 4×2 but q is 2×3: a mask must have the shape of the matrix that it masks", [&] { mask(q, k, 0.0); }},
      {"q has 3 columns: columns 3 to 4 are not among them", [&] { columns(q, 2, 2); }},
      {"q is 2×3 but k is 4×2: matrices side by side need the same number of rows",
       [&] {
         concatenate({q, k});
       }},
      {"(softmax(k)) is 4×2", [&] { matmul(q, softmax(k)); }},
  });
}
