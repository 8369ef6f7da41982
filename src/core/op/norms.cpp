#include "core/op/definition.hpp"

// Whole rows: their means, variances and lengths, what normalization makes of them, and the gradients. Kernels: sums
// run over the same eight lanes on every processor, and distances from a mean lose no digits where the numbers of a
// row lie close together.

namespace attn {
namespace {

Formula mean_square(const Formula& x, std::string_view index) {
  const Formula whole = within(Binding::whole, x);
  return {"mean of each row of " + whole.plain + "²",
          fmt::format("\\tfrac{{1}}{{d}} \\sum_{{{}}} {{{}}}_{{i{}}}^{{2}}", index, whole.latex, index)};
}

const Scalar minus_half = {-0.5, {"(−½)", "\\left(-\\tfrac{1}{2}\\right)"}};

template <const char* name>
Frame one_for_each_row(const Use& use) {
  const Frame& x = use.frame(0);
  return {{x.shape.rows, 1}, x.rows, axis(name)};
}
constexpr char mean_name[] = "mean", norm_name[] = "norm";

}  // namespace

// --- one number for each row, and rows of length 1

const Op op::row_means = {
    .name = "row_means",
    .plain = "mean of each row of $1!",
    .latex = "\\tfrac{1}{d} \\sum_{j} {$1!}_{ij}",
    .binding = Binding::words,
    .cell = "of x: sum(k = 1 to columns(x): x[i,k]) / columns(x)",
    .definition = CHECKED_1((x), set(result, mean_of_rows(x));),
    .compute =
        [](const Use&, Operands operands, RowsToMake result) {
          const auto columns = static_cast<double>(operands[0].shape.columns);
          for (std::size_t i = result.first; i < result.end(); ++i)
            result.row(i)[0] = sum_of_cells(operands[0].row(i)) / columns;
        },
    .frame = one_for_each_row<mean_name>,
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      const Frame& x = use.frame(0);
      const auto size = static_cast<double>(x.shape.columns);
      const std::string written = fmt::format("{}", size);
      return {attn::repeat_columns(attn::divide(d, {size, {written, written}}), x.shape.columns, x.columns)};
    }};

// The distances from the mean add up to 0, so that nothing flows back to it.
const Op op::row_variances = {
    .name = "row_variances",
    .plain = "mean of ($1! − $2!)² over each row",
    .latex = "\\tfrac{1}{d} \\sum_{j} \\left({$1!}_{ij} - {$2!}_{i}\\right)^{2}",
    .binding = Binding::words,
    .cell = "of x, means: sum(k = 1 to columns(x): (x[i,k] − means[i,1])²) / columns(x)",
    .definition = CHECKED_2((x, means), set(result, mean_of_rows(xt::square(x - means)));),
    .compute =
        [](const Use&, Operands operands, RowsToMake result) {
          for (std::size_t i = result.first; i < result.end(); ++i) {
            const std::span<const double> x = operands[0].row(i);
            const double mean = operands[1](i, 0), rest = mean_distance(x, mean);
            const double sum = sum_of_squared_distances(x, mean);
            // In this order NaN stays NaN.
            result.row(i)[0] = std::max(sum / static_cast<double>(x.size()) - rest * rest, 0.0);
          }
        },
    .frame = [](const Use& use) -> Frame {
      const Frame& x = use.frame(0);
      if (use.frame(1).shape != Shape{x.shape.rows, 1}) {
        fail("{} is {}: it must hold one mean for each of the {} rows", use.operands[1]->title(),
             to_string(use.frame(1).shape), x.shape.rows);
      }
      return {{x.shape.rows, 1}, x.rows, axis("variance")};
    },
    .passes = 2,  // distance, square and sum
    .bounds = {.least = 0.0, .says = "A variance is never negative: it is a mean of squares."},
    .gradients = [](const Use&, const Value&, const Value& d, std::span<const Value> operands) -> Gradients {
      return {attn::row_variances_gradient(operands[0], operands[1], d), std::nullopt};
    }};

const Op op::half_squared_norms = {
    .name = "half_squared_norms",
    .plain = "½‖$1‖²",
    .latex = "\\tfrac{1}{2} \\lVert $1 \\rVert^{2}",
    .cell = "of x: sum(k = 1 to columns(x): x[i,k]²) / 2",
    .definition = CHECKED_1((x), set(result, sum_of_rows(xt::square(x)) / 2.0);),
    .compute =
        [](const Use&, Operands operands, RowsToMake result) {
          for (std::size_t i = result.first; i < result.end(); ++i)
            result.row(i)[0] = sum_of_squares(operands[0].row(i)) / 2.0;
        },
    .frame = one_for_each_row<norm_name>,
    .cost = [](const Use&, std::span<const Shape> operands) -> Cost {
      return {.multiply_adds = operands[0].cells(), .element_operations = operands[0].rows};
    },
    .bounds = {.least = 0.0, .says = "A sum of squares is never negative."},
    .gradients = [](const Use&, const Value&, const Value& d, std::span<const Value> operands) -> Gradients {
      return {attn::multiply(operands[0], d)};
    }};

// Divided by its largest number first, or by a power of two near it, a row of any numbers has squares that a double
// can hold.
const Op op::unit_rows = {
    .name = "unit_rows",
    .plain = "$1* / ‖$1‖, row by row",
    .latex = "\\frac{{$1}_{i}}{\\lVert {$1}_{i} \\rVert}",
    .binding = Binding::words,
    .cell = R"(of x: with e = exponent(x[i]), scale = 2^e,
          scaled stands for (x[i,j] / scale) / √(sum(k = 1 to columns(x): (x[i,k] / scale)²)):
        all(k = 1 to columns(x): x[i,k] = 0): x[i,j] because "the row has length 0 and stays";
        e = 0: x[i,j] / √(sum(k = 1 to columns(x): x[i,k]²)) because "the divisor is the length of the row";
        e > 0: scaled
          because "every number of the row is divided by 2^{e} first, which changes no direction: the squares would be
            too large for double precision";
        scaled
          because "every number of the row is divided by 2^{e} first, which changes no direction: the squares would be
            too small for double precision")",
    .definition = CHECKED_1((x), const Numbers most = largest_of_rows(xt::abs(x));
                            const Numbers near_one = x / xt::where(xt::equal(most, 0.0), 1.0, most);
                            const Numbers lengths = xt::sqrt(sum_of_rows(xt::square(near_one)));
                            set(result, near_one / xt::where(xt::equal(lengths, 0.0), 1.0, lengths));),
    .compute =
        [](const Use&, Operands operands, RowsToMake result) {
          take_first(operands, result);
          for (std::size_t i = result.first; i < result.end(); ++i) {
            const int exponent = exponent_of(result.row(i));
            if (exponent != 0) {
              for (double& value : result.row(i)) value = std::ldexp(value, -exponent);
            }
            const double length = std::sqrt(sum_of_squares(result.row(i)));
            for (double& value : result.row(i)) value = length == 0.0 ? value : value / length;
          }
        },
    .in_place = true,
    .cost = [](const Use&, std::span<const Shape> operands) -> Cost {
      return {.multiply_adds = operands[0].cells(), .element_operations = operands[0].cells()};
    },
    .bounds = {-1.0, 1.0, "A number of a vector of length 1 lies between −1 and 1."},
    .gradients = [](const Use&, const Value& result, const Value& d, std::span<const Value> operands) -> Gradients {
      return {attn::unit_rows_gradient(d, result, operands[0])};
    }};

// --- normalization

const Op op::standardize = {
    .name = "standardize",
    .formula = [](const Use& use, std::span<const Formula> operands) -> Formula {
      const Formula x = within(Binding::sum, operands[0]), mean = within(Binding::product, operands[1]),
                    root = root_of(within(Binding::sum, operands[2]), use[setting::epsilon]);
      return {fmt::format("({} − {}) / {}", x.plain, mean.plain, root.plain),
              fmt::format("\\frac{{{} - {}}}{{{}}}", x.latex, mean.latex, root.latex), Binding::product};
    },
    .cell = R"(of x, means, variances:
        epsilon = 0: (x[i,j] − means[i,1]) / √(variances[i,1]);
        (x[i,j] − means[i,1]) / √(variances[i,1] + epsilon) because "{epsilon} avoids a division by 0")",
    .definition =
        CHECKED_3((x, means, variances), set(result, (x - means) / xt::sqrt(variances + use[setting::epsilon]));),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          take_first(operands, result);
          for (std::size_t i = result.first; i < result.end(); ++i) {
            const double mean = operands[1](i, 0), deviation = divisor_of(operands[2](i, 0), use[setting::epsilon], i);
            center_row(result.row(i), mean, mean_distance(result.row(i), mean));
            attn::divide(result.row(i), deviation);
          }
        },
    .in_place = true,
    .passes = 2,  // distance, division
    // y = (x − m) / s with s = √(v + ε): by x it is 1/s, by m −1/s, and by v −½ y / s².
    .gradients = [](const Use& use, const Value& result, const Value& d, std::span<const Value> operands) -> Gradients {
      const double epsilon = use[setting::epsilon];
      const Value by_x = attn::divide_by_deviation(d, operands[2], epsilon);
      const Value sums = attn::times(attn::row_sums(attn::multiply(by_x, result)), minus_half);
      return {by_x, attn::times(attn::row_sums(by_x), minus_one()),
              attn::divide_by_deviation(sums, operands[2], epsilon)};
    }};

const Op op::divide_by_root_mean_square = {
    .name = "divide_by_root_mean_square",
    .formula = [](const Use& use, std::span<const Formula> operands) -> Formula {
      const Formula x = within(Binding::product, operands[0]);
      const Formula root = root_of(mean_square(operands[0], "j"), use[setting::epsilon]);
      return {x.plain + " / " + root.plain, "\\frac{" + x.latex + "}{" + root.latex + "}", Binding::product};
    },
    .cell = R"(of x: with mean stands for sum(k = 1 to columns(x): x[i,k]²) / columns(x):
        epsilon = 0: x[i,j] / √(mean);
        x[i,j] / √(mean + epsilon) because "{epsilon} avoids a division by 0")",
    .definition = CHECKED_1((x), const Numbers squares = mean_of_rows(xt::square(x));
                            set(result, x / xt::sqrt(squares + use[setting::epsilon]));),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          take_first(operands, result);
          for (std::size_t i = result.first; i < result.end(); ++i) {
            const double mean = sum_of_squares(result.row(i)) / static_cast<double>(result.shape.columns);
            attn::divide(result.row(i), divisor_of(mean, use[setting::epsilon], i));
          }
        },
    .in_place = true,
    .passes = 2,  // square and sum, division
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value> operands) -> Gradients {
      return {attn::root_mean_square_gradient(d, operands[0], use[setting::epsilon])};
    }};

// --- gradients

// Operands: x, the means and d.
const Op op::row_variances_gradient = {
    .name = "row_variances_gradient",
    .plain = "$3* ⊙ 2 / (its number of columns) ⋅ ($1+ − $2*)",
    .latex = "\\tfrac{2}{d} \\left($1+ - $2*\\right) \\odot $3*",
    .binding = Binding::product,
    .cell = R"(of x, means, d: d[i,1] · 2 · (x[i,j] − means[i,1]) / columns(x)
        because "the mean changes with the number as well; but the distances from it add up to 0, so that changes
          nothing")",
    .definition =
        CHECKED_3((x, means, d), set(result, 2.0 / static_cast<double>(result.shape.columns) * (x - means) * d);),
    .compute =
        [](const Use&, Operands operands, RowsToMake result) {
          take_first(operands, result);
          for (std::size_t i = result.first; i < result.end(); ++i) {
            const double mean = operands[1](i, 0), rest = mean_distance(result.row(i), mean);
            const double factor = 2.0 * operands[2](i, 0) / static_cast<double>(result.shape.columns);
            center_row(result.row(i), mean, rest);
            attn::multiply(result.row(i), factor);
          }
        },
    .in_place = true,
    .passes = 2,  // distance, product
    // g = 2/n (x − mean) d.
    .gradients = [](const Use&, const Value&, const Value& u, std::span<const Value> operands) -> Gradients {
      const Value &x = operands[0], &means = operands[1], &d = operands[2];
      const auto columns = static_cast<double>(x.shape().columns);
      const std::string written = fmt::format("{}", columns);
      const Scalar factor{2.0 / columns, {"(2/" + written + ")", "\\tfrac{2}{" + written + "}"}};
      const Value by_distance = attn::times(attn::multiply(u, d), factor);
      return {by_distance, attn::times(attn::row_sums(by_distance), minus_one()),
              attn::times(attn::row_sums(attn::multiply(u, attn::subtract(x, means))), factor)};
    }};

const Op op::divide_by_deviation = {
    .name = "divide_by_deviation",
    .formula = [](const Use& use, std::span<const Formula> operands) -> Formula {
      const Formula root = root_of(within(Binding::sum, operands[1]), use[setting::epsilon]);
      return {within(Binding::product, operands[0]).plain + " / " + root.plain,
              "\\frac{" + operands[0].latex + "}{" + root.latex + "}", Binding::product};
    },
    .cell = R"(of d, variances:
        epsilon = 0: d[i,j] / √(variances[i,1]);
        d[i,j] / √(variances[i,1] + epsilon) because "{epsilon} avoids a division by 0")",
    .definition = CHECKED_2((d, variances), set(result, d / xt::sqrt(variances + use[setting::epsilon]));),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          take_first(operands, result);
          for (std::size_t i = result.first; i < result.end(); ++i)
            attn::divide(result.row(i), divisor_of(operands[1](i, 0), use[setting::epsilon], i));
        },
    .in_place = true,
    // g = d / s with s = √(v + ε): by v it is −½ g / s².
    .gradients = [](const Use& use, const Value& result, const Value& u, std::span<const Value> operands) -> Gradients {
      const double epsilon = use[setting::epsilon];
      const Value by_d = attn::divide_by_deviation(u, operands[1], epsilon);
      const Value sums = attn::times(attn::row_sums(attn::multiply(by_d, result)), minus_half);
      return {by_d, attn::divide_by_deviation(sums, operands[1], epsilon)};
    }};

// Operands: d and x.
const Op op::root_mean_square_gradient = {
    .name = "root_mean_square_gradient",
    .formula = [](const Use& use, std::span<const Formula> operands) -> Formula {
      const double epsilon = use[setting::epsilon];
      const Formula d = within(Binding::product, operands[0]), x = within(Binding::product, operands[1]);
      const std::string d_latex = "{" + within(Binding::whole, operands[0]).latex + "}",
                        x_latex = "{" + within(Binding::whole, operands[1]).latex + "}";
      const Formula mean = mean_square(operands[1], "k");
      const std::string more = epsilon == 0.0 ? "" : fmt::format(" + {}", epsilon);
      const Formula root = root_of(mean, epsilon);
      return {"(" + d.plain + " − " + x.plain + " ⊙ mean of each row of " + d.plain + " ⊙ " + x.plain + " / (" +
                  mean.plain + more + ")) / " + root.plain,
              "\\frac{1}{" + root.latex + "} \\left(" + d_latex + "_{ij} - " + x_latex + "_{ij} \\frac{\\sum_{k} " +
                  d_latex + "_{ik} " + x_latex + "_{ik}}{\\sum_{k} " + x_latex + "_{ik}^{2}" +
                  (epsilon == 0.0 ? "" : " + d \\cdot " + fmt::format("{}", epsilon)) + "}\\right)",
              Binding::product};
    },
    .cell = R"(of d, x: with mean stands for sum(k = 1 to columns(x): x[i,k]²) / columns(x),
          along stands for x[i,j] · (sum(k = 1 to columns(x): d[i,k] · x[i,k]) / columns(x)):
        epsilon = 0: (d[i,j] − along / mean) / √(mean);
        (d[i,j] − along / (mean + epsilon)) / √(mean + epsilon) because "{epsilon} avoids a division by 0")",
    .definition = CHECKED_2((d, x), const Numbers squares = mean_of_rows(xt::square(x)) + use[setting::epsilon];
                            const Numbers products = mean_of_rows(d * x);
                            set(result, (d - x * products / squares) / xt::sqrt(squares));),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          take_first(operands, result);
          const auto size = static_cast<double>(result.shape.columns);
          for (std::size_t i = result.first; i < result.end(); ++i) {
            const std::span<double> d = result.row(i);
            const std::span<const double> x = operands[1].row(i);
            const double root = divisor_of(sum_of_squares(x) / size, use[setting::epsilon], i);
            const double share = dot_product(d, x) / size / (root * root);
            add_multiple(d, -share, x);
            attn::divide(d, root);
          }
        },
    .in_place = true,
    .passes = 4};  // square and sum, product and sum, distance, division

// Operands: d, y and x.
const Op op::unit_rows_gradient = {
    .name = "unit_rows_gradient",
    .plain = "($1* − $2* ⊙ row sums of $2* ⊙ $1*) / ‖$3‖, row by row",
    .latex = "\\frac{{$1!}_{ij} - {$2!}_{ij} \\sum_{k} {$2!}_{ik} {$1!}_{ik}}{\\lVert {$3}_{i} \\rVert}",
    .binding = Binding::words,
    .cell = R"(of d, y, x: with e = exponent(x[i]), scale = 2^e,
          length stands for (e = 0: √(sum(k = 1 to columns(x): x[i,k]²));
            scale · √(sum(k = 1 to columns(x): (x[i,k] / scale)²))):
        all(k = 1 to columns(x): x[i,k] = 0): 0 because "the row has length 0 and no direction";
        (d[i,j] − y[i,j] · sum(k = 1 to columns(x): y[i,k] · d[i,k])) / length
          because "what a gradient has in the direction of the row changes only its length, and is taken out")",
    .definition = CHECKED_3((d, y, x), const Numbers most = largest_of_rows(xt::abs(x));
                            const Numbers scale = xt::where(xt::equal(most, 0.0), 1.0, most);
                            const Numbers lengths = scale * xt::sqrt(sum_of_rows(xt::square(x / scale)));
                            const Numbers along = sum_of_rows(y * d); const Numbers across = d - y * along;
                            set(result, xt::where(xt::equal(lengths, 0.0), 0.0, across / lengths));),
    .compute =
        [](const Use&, Operands operands, RowsToMake result) {
          take_first(operands, result);
          for (std::size_t i = result.first; i < result.end(); ++i) {
            const std::span<double> d = result.row(i);
            const std::span<const double> y = operands[1].row(i), x = operands[2].row(i);
            const int exponent = exponent_of(x);
            double squares = 0.0, along = 0.0;
            for (std::size_t k = 0; k < d.size(); ++k) {
              const double part = std::ldexp(x[k], -exponent);
              squares += part * part;
              along += y[k] * d[k];
            }
            const double length = std::ldexp(std::sqrt(squares), exponent);
            for (std::size_t k = 0; k < d.size(); ++k) d[k] = length == 0.0 ? 0.0 : (d[k] - y[k] * along) / length;
          }
        },
    .in_place = true,
    .cost = [](const Use&, std::span<const Shape> operands) -> Cost {
      constexpr std::uint64_t passes = 2;  // distance, division
      return {.multiply_adds = 2 * operands[0].cells(), .element_operations = passes * operands[0].cells()};
    }};

// --- what applies them

Value row_means(const Value& x) { return apply(op::row_means, {x}); }
Value row_variances(const Value& x, const Value& means) { return apply(op::row_variances, {x, means}); }
Value half_squared_norms(const Value& x) { return apply(op::half_squared_norms, {x}); }
Value unit_rows(const Value& x) { return apply(op::unit_rows, {x}); }
Value standardize(const Value& x, const Value& means, const Value& variances, double epsilon) {
  return apply(op::standardize, {x, means, variances}, {{setting::epsilon, epsilon}});
}
Value divide_by_root_mean_square(const Value& x, double epsilon) {
  return apply(op::divide_by_root_mean_square, {x}, {{setting::epsilon, epsilon}});
}
Value row_variances_gradient(const Value& x, const Value& means, const Value& d) {
  return apply(op::row_variances_gradient, {x, means, d});
}
Value divide_by_deviation(const Value& d, const Value& variances, double epsilon) {
  return apply(op::divide_by_deviation, {d, variances}, {{setting::epsilon, epsilon}});
}
Value root_mean_square_gradient(const Value& d, const Value& x, double epsilon) {
  return apply(op::root_mean_square_gradient, {d, x}, {{setting::epsilon, epsilon}});
}
Value unit_rows_gradient(const Value& d, const Value& y, const Value& x) {
  return apply(op::unit_rows_gradient, {d, y, x});
}

}  // namespace attn
