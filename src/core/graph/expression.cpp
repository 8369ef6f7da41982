#include "core/graph/expression.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "core/graph/graph.hpp"
#include "core/math/functions.hpp"

namespace attn {

// --- expression

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

double Cell::value() const { return node->cell(row, column); }

Expression number(double value) { return {.kind = Expression::Kind::number, .value = value}; }

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

double root_of(double x) { return std::sqrt(x); }
double magnitude_of(double x) { return std::fabs(x); }

Expression half() { return number(0.5); }
Expression gelu_worked_out(const Expression& x) {
  const Expression root = number(std::numbers::sqrt2, {"√2", "\\sqrt{2}"});
  return product({half(), x, sum({number(1.0), call(error_function, x / root)})});
}
Expression gelu_by_tanh_worked_out(const Expression& x) {
  const Expression slope = number(std::sqrt(2.0 / std::numbers::pi), {"√(2/π)", "\\sqrt{2/\\pi}"});
  const Expression bent = sum({x, product({number(0.044715, {"0.044715", "0.044715"}), x, x, x})});
  return product({half(), x, sum({number(1.0), call(hyperbolic_tangent, product({slope, bent}))})});
}
Expression silu_worked_out(const Expression& x) { return product({x, call(logistic, x)}); }

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
  Expression result = branch(Expression::Kind::call, function.evaluate(argument.value), {std::move(argument)});
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

// --- derivative
// The derivatives of functions of one number. What these are made of is in expression.cpp.

namespace {

Expression one() { return number(1.0); }

// --- from the result

Expression slope_of_tanh(const Expression& y) { return one() - squared(y); }
Formula tanh_formula(const Formula& y) {
  const Formula whole = within(Binding::whole, y);
  return {"1 − " + whole.plain + "²", "1 - {" + whole.latex + "}^{2}", Binding::sum};
}

Expression slope_of_logistic(const Expression& y) { return product({y, one() - y}); }
Formula logistic_formula(const Formula& y) {
  const Formula factor = within(Binding::product, y);
  return {factor.plain + " ⊙ (1 − " + factor.plain + ")",
          factor.latex + " \\odot \\left(1 - " + factor.latex + "\\right)", Binding::product};
}

Expression slope_of_rectifier(const Expression& y) { return number(elementary::slope_of_relu(y.value)); }
Formula rectifier_formula(const Formula& y) {
  return {"(1 where " + y.plain + " > 0, else 0)",
          "\\begin{cases}1 & " + y.latex + " > 0 \\\\ 0 & \\text{otherwise}\\end{cases}"};
}

// At 0 itself there is no slope; 0 is what libraries take.
std::string rectifier_reason(const std::string& cell, double y) {
  return y > 0.0 ? cell + " is above 0, where the slope of ReLU is 1"
                 : cell + " is 0: the argument was not above 0, where the slope of ReLU is 0";
}

// --- from the argument

// As an operator name with a stroke: GELU′(x).
template <const Function& function>
Formula with_stroke(const Formula& x) {
  return {std::string(function.name) + "′(" + x.plain + ")",
          std::string(function.latex) + "'\\left(" + x.latex + "\\right)"};
}

// Φ(x) + x φ(x), of the standard normal distribution and its density.
Expression slope_of_gelu(const Expression& x) {
  const Expression root = number(std::numbers::sqrt2, {"√2", "\\sqrt{2}"});
  const Expression density = call(exponential, product({number(-0.5), squared(x)})) /
                             number(std::sqrt(2.0 * std::numbers::pi), {"√(2π)", "\\sqrt{2\\pi}"});
  return sum({product({half(), sum({one(), call(error_function, x / root)})}), product({x, density})});
}

constexpr double cubic = 0.044715;

Expression slope_of_gelu_by_tanh(const Expression& x) {
  const Expression slope = number(std::sqrt(2.0 / std::numbers::pi), {"√(2/π)", "\\sqrt{2/\\pi}"});
  const Expression factor = number(cubic, {"0.044715", "0.044715"});
  const Expression bent = call(hyperbolic_tangent, product({slope, sum({x, product({factor, x, x, x})})}));
  const Expression inner = product({slope, sum({one(), product({number(3.0), factor, squared(x)})})});
  return sum({product({half(), sum({one(), bent})}), product({half(), x, one() - squared(bent), inner})});
}

Expression slope_of_silu(const Expression& x) {
  const Expression s = call(logistic, x);
  return product({s, sum({one(), product({x, one() - s})})});
}

}  // namespace

const Derivative tanh_derivative = {
    true, elementary::slope_of_tanh, elementary::multiply_by_slope_of_tanh, slope_of_tanh, tanh_formula, nullptr};
const Derivative logistic_derivative = {true,
                                        elementary::slope_of_logistic,
                                        elementary::multiply_by_slope_of_logistic,
                                        slope_of_logistic,
                                        logistic_formula,
                                        nullptr};
const Derivative rectifier_derivative = {true,
                                         elementary::slope_of_relu,
                                         elementary::multiply_by_slope_of_relu,
                                         slope_of_rectifier,
                                         rectifier_formula,
                                         rectifier_reason};
const Derivative gelu_derivative = {false,         elementary::slope_of_gelu,  elementary::multiply_by_slope_of_gelu,
                                    slope_of_gelu, with_stroke<gelu_function>, nullptr};
const Derivative gelu_by_tanh_derivative = {false,
                                            elementary::slope_of_gelu_by_tanh,
                                            elementary::multiply_by_slope_of_gelu_by_tanh,
                                            slope_of_gelu_by_tanh,
                                            with_stroke<gelu_by_tanh_function>,
                                            nullptr};
const Derivative silu_derivative = {false,         elementary::slope_of_silu,  elementary::multiply_by_slope_of_silu,
                                    slope_of_silu, with_stroke<silu_function>, nullptr};

// --- formula

namespace {

std::string escaped(std::string_view words) {
  std::string escaped;
  for (const char c : words) {
    if (std::string_view("_%#&${}").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

Formula within(Binding place, const Formula& formula) {
  if (formula.binding >= place) return formula;
  return {"(" + formula.plain + ")", "\\left(" + formula.latex + "\\right)"};
}

std::string written_out(std::string_view name) { return "\\mathrm{" + escaped(name) + "}"; }

Formula symbol(std::string_view scope, std::string_view leaf, const std::string& latex) {
  if (scope.empty()) return {std::string(leaf), latex};
  return {fmt::format("{}.{}", scope, leaf), fmt::format("{{{}}}_{{{}}}", latex, written_out(scope))};
}

}  // namespace attn
