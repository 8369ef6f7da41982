#include "graph/expression.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "graph/graph.hpp"
#include "math/elementary.hpp"

namespace attn {
namespace {

Expression branch(Expression::Kind kind, double value, std::vector<Expression> parts) {
  return {.kind = kind, .value = value, .parts = std::move(parts)};
}

void collect(const Expression& expression, std::vector<Cell>& cells, std::set<Cell>& seen) {
  const bool is_new = expression.kind == Expression::Kind::cell && seen.insert(expression.cell).second;
  if (is_new) cells.push_back(expression.cell);
  for (const Expression& part : expression.parts) collect(part, cells, seen);
}

}  // namespace

double Cell::value() const {
  return node->cell(row, column);
}

Expression number(double value) {
  return {.kind = Expression::Kind::number, .value = value};
}

Expression number(double value, Formula notation) {
  return {.kind = Expression::Kind::number, .value = value, .notation = std::move(notation)};
}

Expression cell(const Node& node, std::size_t row, std::size_t column) {
  const Cell cell{&node, row, column};
  return {.kind = Expression::Kind::cell, .value = cell.value(), .cell = cell};
}

Expression sum(std::vector<Expression> terms) {
  double total = 0.0;
  for (const Expression& term : terms) total += term.value;
  return branch(Expression::Kind::sum, total, std::move(terms));
}

Expression product(std::vector<Expression> factors) {
  double total = 1.0;
  for (const Expression& factor : factors) total *= factor.value;
  return branch(Expression::Kind::product, total, std::move(factors));
}

Expression operator-(Expression a, Expression b) {
  const double value = a.value - b.value;
  return branch(Expression::Kind::difference, value, {std::move(a), std::move(b)});
}

Expression operator/(Expression a, Expression b) {
  const double value = a.value / b.value;
  return branch(Expression::Kind::quotient, value, {std::move(a), std::move(b)});
}

Expression squared(Expression base) {
  const double value = base.value * base.value;
  return branch(Expression::Kind::square, value, {std::move(base)});
}

namespace {

template <double (*f)(double)>
void each(std::span<double> x) {
  for (double& value : x) value = f(value);
}

double root_of(double x) {
  return std::sqrt(x);
}
double magnitude_of(double x) {
  return std::fabs(x);
}

Expression half() {
  return number(0.5);
}
Expression gelu_worked_out(const Expression& x) {
  const Expression root = number(std::numbers::sqrt2, {"√2", "\\sqrt{2}"});
  return product({half(), x, sum({number(1.0), call(error_function, x / root)})});
}
Expression gelu_by_tanh_worked_out(const Expression& x) {
  const Expression slope = number(std::sqrt(2.0 / std::numbers::pi), {"√(2/π)", "\\sqrt{2/\\pi}"});
  const Expression bent = sum({x, product({number(0.044715, {"0.044715", "0.044715"}), x, x, x})});
  return product({half(), x, sum({number(1.0), call(hyperbolic_tangent, product({slope, bent}))})});
}
Expression silu_worked_out(const Expression& x) {
  return product({x, call(logistic, x)});
}

}  // namespace

constexpr double unbounded = std::numeric_limits<double>::infinity();

const Function exponential = {"exp",
                              "\\exp",
                              elementary::exp,
                              elementary::exp,
                              nullptr,
                              nullptr,
                              {0.0, unbounded, "A power of e is never negative."}};
const Function hyperbolic_tangent = {"tanh",
                                     "\\tanh",
                                     elementary::tanh,
                                     elementary::tanh,
                                     nullptr,
                                     &tanh_derivative,
                                     {-1.0, 1.0, "tanh lies between −1 and 1."}};
const Function error_function = {"erf", "\\operatorname{erf}", elementary::erf, elementary::erf};
const Function logistic = {"sigmoid",
                           "\\sigma",
                           elementary::logistic,
                           elementary::logistic,
                           nullptr,
                           &logistic_derivative,
                           {0.0, 1.0, "The sigmoid function lies between 0 and 1."}};
const Function rectifier = {"ReLU",
                            "\\operatorname{ReLU}",
                            elementary::relu,
                            elementary::relu,
                            nullptr,
                            &rectifier_derivative,
                            {0.0, unbounded, "ReLU is never negative."}};
const Function gelu_function = {"GELU",           "\\operatorname{GELU}", elementary::gelu,
                                elementary::gelu, gelu_worked_out,        &gelu_derivative};
const Function gelu_by_tanh_function = {"GELU_tanh",
                                        "\\operatorname{GELU}_{\\tanh}",
                                        elementary::gelu_by_tanh,
                                        elementary::gelu_by_tanh,
                                        gelu_by_tanh_worked_out,
                                        &gelu_by_tanh_derivative};
const Function silu_function = {"SiLU",           "\\operatorname{SiLU}", elementary::silu,
                                elementary::silu, silu_worked_out,        &silu_derivative};
const Function sine = {"sin",
                       "\\sin",
                       elementary::sin,
                       each<elementary::sin>,
                       nullptr,
                       nullptr,
                       {-1.0, 1.0, "A sine lies between −1 and 1."}};
const Function cosine = {"cos",
                         "\\cos",
                         elementary::cos,
                         each<elementary::cos>,
                         nullptr,
                         nullptr,
                         {-1.0, 1.0, "A cosine lies between −1 and 1."}};
const Function square_root = {"√",
                              "\\operatorname{sqrt}",
                              root_of,
                              each<root_of>,
                              nullptr,
                              nullptr,
                              {0.0, unbounded, "A square root is never negative."}};
const Function logarithm = {"ln", "\\ln", elementary::log, each<elementary::log>};
const Function absolute_value = {"abs",
                                 "\\operatorname{abs}",
                                 magnitude_of,
                                 each<magnitude_of>,
                                 nullptr,
                                 nullptr,
                                 {0.0, unbounded, "An absolute value is never negative."}};

Expression worked_out(const Function& function, Expression argument) {
  return function.worked_out ? function.worked_out(argument) : call(function, std::move(argument));
}

Expression call(const Function& function, Expression argument) {
  Expression result =
      branch(Expression::Kind::call, function.evaluate(argument.value), {std::move(argument)});
  result.notation = {std::string(function.name), std::string(function.latex)};
  result.function = &function;
  return result;
}

std::vector<Cell> cells_of(const Expression& expression) {
  std::vector<Cell> cells;
  std::set<Cell> seen;
  collect(expression, cells, seen);
  return cells;
}

}  // namespace attn
