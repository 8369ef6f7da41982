#include "core/op/definition.hpp"

// Operations on cells: of two matrices, of a matrix and a number, and functions of one number.

namespace attn {
namespace {

// --- two matrices: the second has the shape of the first, or is one row or one column for all of it; without a
// batch, it is the same for every sentence of one

std::size_t sentences_that_share(const Use& use) {
  const Frame &x = use.frame(0), &y = use.frame(1);
  const bool has_its_own = y.rows.batch > 1 || y.shape.rows == x.shape.rows || y.shape.rows == 1;
  return has_its_own ? 1 : x.rows.batch;
}

Frame frame_of_cells(const Use& use) {
  const Shape whole = use.frame(0).shape, part = use.frame(1).shape;
  const bool rows_fit =
      part.rows == whole.rows || part.rows == 1 || part.rows == whole.rows / sentences_that_share(use);
  const bool columns_fit = part.columns == whole.columns || part.columns == 1;
  if (!rows_fit || !columns_fit) {
    fail("{} is {} but {} is {}: it must have the same shape, or be one row of {} or one column of {} numbers",
         use.operands[0]->title(), to_string(whole), use.operands[1]->title(), to_string(part), whole.columns,
         whole.rows);
  }
  return use.frame(0);
}

// Kernels for these three: xtensor goes over cells one by one where one row or one column serves for all.
template <void (*change)(std::span<double> x, std::span<const double> y)>
void change_cells(const Use& use, Operands operands, RowsToMake result) {
  take_first(operands, result);
  const std::size_t sentences = sentences_that_share(use), sentence = use.frame(0).shape.rows / sentences;
  for (std::size_t i = result.first; i < result.end(); ++i) {
    const std::span<double> x = result.row(i);
    const std::span<const double> y = operands[1].beside(sentences > 1 ? i % sentence : i);
    if (y.size() == x.size()) {
      change(x, y);
    } else {
      for (double& cell : x) change({&cell, 1}, y);
    }
  }
}

RowRange needed_of_cells(const Use& use, std::size_t operand, RowRange made) {
  const std::size_t all = use.frame(operand).shape.rows;
  return operand == 1 && (all == 1 || sentences_that_share(use) > 1) ? RowRange{0, all} : made;
}

// --- a matrix and a number

template <void (*change)(std::span<double> x, double number)>
void change_by_number(const Use& use, Operands operands, RowsToMake result) {
  take_first(operands, result);
  change(result.all(), use[setting::number].value);
}

// --- functions of one number

template <const Function& function>
void apply_function(const Use&, Operands operands, RowsToMake result) {
  take_first(operands, result);
  function.evaluate_all(result.all());
}

// What flows back: d times the slope, which is known from the result or from the argument.
template <const Op& slope, const Function& function>
Gradients back_through(const Use&, const Value& result, const Value& d, std::span<const Value> operands) {
  return {attn::apply(slope, {d, function.derivative->of_result ? result : operands[0]})};
}

template <const Function& function>
void multiply_by_slope(const Use&, Operands operands, RowsToMake result) {
  take_first(operands, result);
  function.derivative->multiply(result.all(), {operands[1].row(result.first).data(), result.shape.cells()});
}

}  // namespace

// --- two matrices

const Op op::add = {
    .name = "add",
    .plain = "$1+ + $2*",
    .latex = "$1+ + $2*",
    .binding = Binding::sum,
    .cell = "of x, y: x[i,j] + y[within(i, rows(y)), within(j, columns(y))]",
    .definition = CHECKED_2((x, y), set(result, x + y);),
    .compute = change_cells<attn::add>,
    .frame = frame_of_cells,
    .needed = needed_of_cells,
    .sentences = sentences_that_share,
    .in_place = true,
    .gradients = [](const Use&, const Value&, const Value& d, std::span<const Value> operands) -> Gradients {
      return {d, unbroadcast(d, operands[1])};
    }};

const Op op::subtract = {
    .name = "subtract",
    .plain = "$1+ − $2*",
    .latex = "$1+ - $2*",
    .binding = Binding::sum,
    .cell = "of x, y: x[i,j] − y[within(i, rows(y)), within(j, columns(y))]",
    .definition = CHECKED_2((x, y), set(result, x - y);),
    .compute = change_cells<attn::subtract>,
    .frame = frame_of_cells,
    .needed = needed_of_cells,
    .sentences = sentences_that_share,
    .in_place = true,
    .gradients = [](const Use&, const Value&, const Value& d, std::span<const Value> operands) -> Gradients {
      return {d, attn::times(unbroadcast(d, operands[1]), minus_one())};
    }};

const Op op::multiply = {
    .name = "multiply",
    .plain = "$1* ⊙ $2!",
    .latex = "$1* \\odot $2!",
    .binding = Binding::product,
    .cell = "of x, y: x[i,j] · y[within(i, rows(y)), within(j, columns(y))]",
    .definition = CHECKED_2((x, y), set(result, x* y);),
    .compute = change_cells<attn::multiply>,
    .frame = frame_of_cells,
    .needed = needed_of_cells,
    .sentences = sentences_that_share,
    .in_place = true,
    .gradients = [](const Use&, const Value&, const Value& d, std::span<const Value> operands) -> Gradients {
      const Value &x = operands[0], &y = operands[1];
      return {attn::multiply(d, y), unbroadcast(attn::multiply(d, x), y)};
    }};

// --- a matrix and a number. Kernels: they change several cells at once, which halves the time.

const Op op::divide = {
    .name = "divide",
    .formula = [](const Use& use, std::span<const Formula> operands) -> Formula {
      const Formula &x = operands[0], &divisor = use[setting::number].notation;
      return {within(Binding::product, x).plain + " / " + divisor.plain,
              "\\frac{" + x.latex + "}{" + divisor.latex + "}", Binding::product};
    },
    .cell = "of x: x[i,j] / number",
    .definition = CHECKED_1((x), set(result, x / use[setting::number].value);),
    .compute = change_by_number<attn::divide>,
    .in_place = true,
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {attn::divide(d, use[setting::number])};
    }};

const Op op::times = {
    .name = "times",
    .formula = [](const Use& use, std::span<const Formula> operands) -> Formula {
      const Formula x = within(Binding::product, operands[0]), &factor = use[setting::number].notation;
      return {x.plain + " ⋅ " + factor.plain, x.latex + " \\cdot " + factor.latex, Binding::product};
    },
    .cell = "of x: x[i,j] · number",
    .definition = CHECKED_1((x), set(result, x* use[setting::number].value);),
    .compute = change_by_number<attn::multiply>,
    .in_place = true,
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {attn::times(d, use[setting::number])};
    }};

// --- functions of one number. Kernels: our own exp, tanh and erf have the same bits on every processor, and take
// several numbers at once.

const Op op::exp = {
    .name = "exp",
    .plain = "exp($1)",
    .latex = "\\exp\\left($1\\right)",
    .cell = "of x: exp(x[i,j])",
    .definition = CHECKED_1((x), set(result, xt::exp(x));),
    .compute = apply_function<exponential>,
    .in_place = true,
    .gradients = [](const Use&, const Value& result, const Value& d, std::span<const Value>) -> Gradients {
      return {attn::multiply(d, result)};  // its result is its own derivative
    }};

const Op op::tanh = {.name = "tanh",
                     .plain = "tanh($1)",
                     .latex = "\\tanh\\left($1\\right)",
                     .cell = "of x: tanh(x[i,j])",
                     .definition = CHECKED_1((x), set(result, xt::tanh(x));),
                     .compute = apply_function<hyperbolic_tangent>,
                     .in_place = true,
                     .gradients = back_through<op::tanh_gradient, hyperbolic_tangent>,
                     .function = &hyperbolic_tangent};

const Op op::sigmoid = {.name = "sigmoid",
                        .plain = "sigmoid($1)",
                        .latex = "\\sigma\\left($1\\right)",
                        .cell = "of x: sigmoid(x[i,j])",
                        .definition = CHECKED_1((x), set(result, 1.0 / (1.0 + xt::exp(-x)));),
                        .compute = apply_function<logistic>,
                        .in_place = true,
                        .gradients = back_through<op::sigmoid_gradient, logistic>,
                        .function = &logistic};

// A kernel, as its gradient: a choice of xtensor goes over cells one by one.
const Op op::relu = {.name = "relu",
                     .plain = "ReLU($1)",
                     .latex = "\\operatorname{ReLU}\\left($1\\right)",
                     .cell = "of x: ReLU(x[i,j])",
                     .definition = CHECKED_1((x), set(result, xt::where(x < 0.0, 0.0, x));),
                     .compute = apply_function<rectifier>,
                     .in_place = true,
                     .gradients = back_through<op::relu_gradient, rectifier>,
                     .function = &rectifier};

const Op op::gelu = {
    .name = "gelu",
    .plain = "GELU($1)",
    .latex = "\\operatorname{GELU}\\left($1\\right)",
    .cell = "of x: 0.5 · x[i,j] · (1 + erf(x[i,j] / '√2'))",
    .definition = CHECKED_1((x), set(result, 0.5 * x * (1.0 + xt::erf(x * std::numbers::sqrt2 / 2.0)));),
    .compute = apply_function<gelu_function>,
    .in_place = true,
    .gradients = back_through<op::gelu_gradient, gelu_function>,
    .function = &gelu_function};

const Op op::gelu_tanh = {
    .name = "gelu_tanh",
    .plain = "GELU_tanh($1)",
    .latex = "\\operatorname{GELU}_{\\tanh}\\left($1\\right)",
    .cell = "of x: 0.5 · x[i,j] · (1 + tanh('√(2/π)' · (x[i,j] + '0.044715' · x[i,j] · x[i,j] · x[i,j])))",
    .definition = CHECKED_1((x), const double slope = std::sqrt(2.0 / std::numbers::pi);
                            set(result, 0.5 * x * (1.0 + xt::tanh(slope * (x + 0.044715 * xt::cube(x)))));),
    .compute = apply_function<gelu_by_tanh_function>,
    .in_place = true,
    .gradients = back_through<op::gelu_tanh_gradient, gelu_by_tanh_function>,
    .function = &gelu_by_tanh_function};

const Op op::silu = {.name = "silu",
                     .plain = "SiLU($1)",
                     .latex = "\\operatorname{SiLU}\\left($1\\right)",
                     .cell = "of x: x[i,j] · sigmoid(x[i,j])",
                     .definition = CHECKED_1((x), set(result, x / (1.0 + xt::exp(-x)));),
                     .compute = apply_function<silu_function>,
                     .in_place = true,
                     .gradients = back_through<op::silu_gradient, silu_function>,
                     .function = &silu_function};

// --- gradients of functions. Operands: d, and the result or the argument of the function.

const Op op::tanh_gradient = {
    .name = "tanh_gradient",
    .plain = "$1* ⊙ (1 − $2!²)",
    .latex = "$1* \\odot \\left(1 - {$2!}^{2}\\right)",
    .binding = Binding::product,
    .cell = "of d, y: d[i,j] · (1 − y[i,j]²)",
    .definition = CHECKED_2((d, y), set(result, d*(1.0 - xt::square(y)));),
    .compute = multiply_by_slope<hyperbolic_tangent>,
    .in_place = true,
    .gradients = [](const Use&, const Value&, const Value& u, std::span<const Value> operands) -> Gradients {
      const Value &d = operands[0], &y = operands[1];
      return {attn::tanh_gradient(u, y),
              attn::times(attn::multiply(attn::multiply(u, d), y), {-2.0, {"(−2)", "\\left(-2\\right)"}})};
    },
    .differentiates = &hyperbolic_tangent};

const Op op::sigmoid_gradient = {
    .name = "sigmoid_gradient",
    .plain = "$1* ⊙ $2* ⊙ (1 − $2*)",
    .latex = "$1* \\odot $2* \\odot \\left(1 - $2*\\right)",
    .binding = Binding::product,
    .cell = "of d, y: d[i,j] · (y[i,j] · (1 − y[i,j]))",
    .definition = CHECKED_2((d, y), set(result, d* y*(1.0 - y));),
    .compute = multiply_by_slope<logistic>,
    .in_place = true,
    .gradients = [](const Use&, const Value&, const Value& u, std::span<const Value> operands) -> Gradients {
      const Value &d = operands[0], &y = operands[1], both = attn::multiply(u, d);  // times 1 − 2y
      return {attn::sigmoid_gradient(u, y),
              attn::subtract(both, attn::times(attn::multiply(both, y), {2.0, {"2", "2"}}))};
    },
    .differentiates = &logistic};

// At 0 itself there is no slope; 0 is what libraries take.
const Op op::relu_gradient = {
    .name = "relu_gradient",
    .plain = "$1* ⊙ (1 where $2 > 0, else 0)",
    .latex = "$1* \\odot \\begin{cases}1 & $2 > 0 \\\\ 0 & \\text{otherwise}\\end{cases}",
    .binding = Binding::product,
    .cell = R"(of d, y:
        y[i,j] > 0: d[i,j] · 1 because "{y[i,j]} is above 0, where the slope of ReLU is 1";
        y[i,j] ≠ y[i,j]: d[i,j] · y[i,j] because "{y[i,j]} is not a number";
        d[i,j] · 0 because "{y[i,j]} is 0: the argument was not above 0, where the slope of ReLU is 0")",
    .definition = CHECKED_2((d, y), set(result, d* xt::where(y > 0.0, 1.0, y * 0.0));),
    .compute = multiply_by_slope<rectifier>,
    .in_place = true,
    .gradients = [](const Use&, const Value&, const Value& u, std::span<const Value> operands) -> Gradients {
      return {attn::relu_gradient(u, operands[1]), std::nullopt};
    },
    .differentiates = &rectifier};

// Φ(x) + x φ(x), of the standard normal distribution and its density.
const Op op::gelu_gradient = {
    .name = "gelu_gradient",
    .plain = "$1* ⊙ GELU′($2)",
    .latex = "$1* \\odot \\operatorname{GELU}'\\left($2\\right)",
    .binding = Binding::product,
    .cell = R"(of d, x: with density stands for exp(-0.5 · x[i,j]²) / '√(2π)':
        d[i,j] · (0.5 · (1 + erf(x[i,j] / '√2')) + x[i,j] · density))",
    .definition =
        CHECKED_2((d, x), const Numbers density = xt::exp(-xt::square(x) / 2.0) / std::sqrt(2.0 * std::numbers::pi);
                  const Numbers below = 0.5 * (1.0 + xt::erf(x * std::numbers::sqrt2 / 2.0));
                  set(result, d*(below + x * density));),
    .compute = multiply_by_slope<gelu_function>,
    .in_place = true,
    .differentiates = &gelu_function};

const Op op::gelu_tanh_gradient = {
    .name = "gelu_tanh_gradient",
    .plain = "$1* ⊙ GELU_tanh′($2)",
    .latex = "$1* \\odot \\operatorname{GELU}_{\\tanh}'\\left($2\\right)",
    .binding = Binding::product,
    .cell = R"(of d, x: with bent stands for tanh('√(2/π)' · (x[i,j] + '0.044715' · x[i,j] · x[i,j] · x[i,j])),
          inner stands for '√(2/π)' · (1 + 3 · '0.044715' · x[i,j]²):
        d[i,j] · (0.5 · (1 + bent) + 0.5 · x[i,j] · (1 − bent²) · inner))",
    .definition = CHECKED_2((d, x), const double slope = std::sqrt(2.0 / std::numbers::pi);
                            const Numbers bent = xt::tanh(slope * (x + 0.044715 * xt::cube(x)));
                            const Numbers inner = slope * (1.0 + 3.0 * 0.044715 * xt::square(x));
                            set(result, d*(0.5 * (1.0 + bent) + 0.5 * x * (1.0 - xt::square(bent)) * inner));),
    .compute = multiply_by_slope<gelu_by_tanh_function>,
    .in_place = true,
    .differentiates = &gelu_by_tanh_function};

const Op op::silu_gradient = {.name = "silu_gradient",
                              .plain = "$1* ⊙ SiLU′($2)",
                              .latex = "$1* \\odot \\operatorname{SiLU}'\\left($2\\right)",
                              .binding = Binding::product,
                              .cell = R"(of d, x: with s stands for sigmoid(x[i,j]):
        d[i,j] · (s · (1 + x[i,j] · (1 − s))))",
                              .definition = CHECKED_2((d, x), const Numbers s = 1.0 / (1.0 + xt::exp(-x));
                                                      set(result, d* s*(1.0 + x * (1.0 - s)));),
                              .compute = multiply_by_slope<silu_function>,
                              .in_place = true,
                              .differentiates = &silu_function};

// --- what applies them

Value add(const Value& x, const Value& y) { return apply(op::add, {x, y}); }
Value subtract(const Value& x, const Value& y) { return apply(op::subtract, {x, y}); }
Value multiply(const Value& x, const Value& y) { return apply(op::multiply, {x, y}); }
Value divide(const Value& x, const Scalar& divisor) { return apply(op::divide, {x}, {{setting::number, divisor}}); }
Value times(const Value& x, const Scalar& factor) { return apply(op::times, {x}, {{setting::number, factor}}); }
Value exp(const Value& x) { return apply(op::exp, {x}); }
Value tanh(const Value& x) { return apply(op::tanh, {x}); }
Value sigmoid(const Value& x) { return apply(op::sigmoid, {x}); }
Value relu(const Value& x) { return apply(op::relu, {x}); }
Value gelu(const Value& x) { return apply(op::gelu, {x}); }
Value gelu_by_tanh(const Value& x) { return apply(op::gelu_tanh, {x}); }
Value silu(const Value& x) { return apply(op::silu, {x}); }
Value tanh_gradient(const Value& d, const Value& result) { return apply(op::tanh_gradient, {d, result}); }
Value sigmoid_gradient(const Value& d, const Value& result) { return apply(op::sigmoid_gradient, {d, result}); }
Value relu_gradient(const Value& d, const Value& result) { return apply(op::relu_gradient, {d, result}); }
Value gelu_gradient(const Value& d, const Value& x) { return apply(op::gelu_gradient, {d, x}); }
Value gelu_by_tanh_gradient(const Value& d, const Value& x) { return apply(op::gelu_tanh_gradient, {d, x}); }
Value silu_gradient(const Value& d, const Value& x) { return apply(op::silu_gradient, {d, x}); }

}  // namespace attn
