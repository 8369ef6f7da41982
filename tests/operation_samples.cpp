#include "operation_samples.hpp"

#include <array>

#include "core/math/definitions.hpp"
#include "core/op/operations.hpp"
#include "core/op/ways.hpp"

namespace attn {
namespace {

using Operands = std::span<const Rows>;

template <class Next>
Matrix made(Shape shape, Next next) {
  Matrix matrix(shape);
  for (double& cell : cells(matrix)) cell = next();
  return matrix;
}

const Scalar eight = {8.0, {"√64", "\\sqrt{64}"}};
constexpr double fill = -1e6, epsilon = 1e-5;

void define_sinusoid(const SinusoidLayout& layout, definition::Waves waves, RowsToMake result) {
  const std::size_t d = result.shape.columns;
  Matrix frequencies({1, d}), is_sine({1, d});
  for (std::size_t j = 0; j < d; ++j) {
    frequencies(0, j) = static_cast<double>(layout.frequency(j, d));
    is_sine(0, j) = layout.is_sine(j, d) ? 1.0 : 0.0;
  }
  definition::sinusoid(rows_of(frequencies), rows_of(is_sine), waves, result);
}

// A definition of one operand, or of two.
template <void (*define)(Rows, RowsToMake)>
void of_one(Operands x, RowsToMake result) {
  define(x[0], result);
}
template <void (*define)(Rows, Rows, RowsToMake)>
void of_two(Operands x, RowsToMake result) {
  define(x[0], x[1], result);
}

template <void (*define)(Rows, Rows, Rows, RowsToMake)>
void of_three(Operands x, RowsToMake result) {
  define(x[0], x[1], x[2], result);
}

constexpr bool is_exact = true, is_not_exact = false, has_no_gradient = false;
constexpr double smoothing = 0.1;

const std::array table = {
    OperationSample{"matmul",
                    [](Samples& s) {
                      return matmul(s.matrix("a", {s.m, s.k}), s.matrix("b", {s.k, s.n}));
                    },
                    of_two<definition::matmul>},
    OperationSample{"matmul_transposed",
                    [](Samples& s) {
                      return matmul_transposed(s.matrix("a", {s.m, s.k}), s.matrix("b", {s.n, s.k}));
                    },
                    of_two<definition::matmul_transposed>},
    OperationSample{"transposed_matmul",
                    [](Samples& s) {
                      return transposed_matmul(s.matrix("a", {s.k, s.m}), s.matrix("b", {s.k, s.n}));
                    },
                    of_two<definition::transposed_matmul>},
    OperationSample{"add",
                    [](Samples& s) {
                      return add(s.matrix("a", {s.m, s.n}), s.matrix("b", {1, s.n}));
                    },
                    of_two<definition::add>, is_exact},
    OperationSample{"subtract",
                    [](Samples& s) {
                      return subtract(s.matrix("a", {s.m, s.n}), s.matrix("b", {s.m, 1}));
                    },
                    of_two<definition::subtract>, is_exact},
    OperationSample{"multiply",
                    [](Samples& s) {
                      return multiply(s.matrix("a", {s.m, s.n}), s.matrix("b", {s.m, s.n}));
                    },
                    of_two<definition::multiply>, is_exact},
    OperationSample{"transpose",
                    [](Samples& s) {
                      return transpose(s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::transpose>, is_exact},
    OperationSample{"half_squared_norms",
                    [](Samples& s) {
                      return half_squared_norms(s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::half_squared_norms>},
    OperationSample{"unit_rows",
                    [](Samples& s) {
                      return unit_rows(s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::unit_rows>},
    OperationSample{
        "minus_half_squared_distances",
        [](Samples& s) {
          return minus_half_squared_distances(s.matrix("a", {s.m, s.k}), s.matrix("b", {s.n, s.k}));
        },
        of_two<definition::minus_half_squared_distances>},
    OperationSample{"pairwise_sum",
                    [](Samples& s) {
                      return pairwise_sum(s.matrix("a", {s.m, s.k}), s.matrix("b", {s.n, s.k}));
                    },
                    of_two<definition::pairwise_sum>, is_exact},
    OperationSample{"pairs",
                    [](Samples& s) {
                      return pairs(s.matrix("a", {s.m, s.k}), s.matrix("b", {s.n, s.k + 1}));
                    },
                    of_two<definition::pairs>, is_exact},
    OperationSample{
        "unpair",
        [](Samples& s) {
          return unpair(s.matrix("p", {s.m * s.n, 1}), s.matrix("a", {s.m, s.k}), s.matrix("b", {s.n, s.k}));
        },
        of_one<definition::unpair>, is_exact},
    OperationSample{"tanh",
                    [](Samples& s) {
                      return tanh(s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::tanh>},
    OperationSample{"sigmoid",
                    [](Samples& s) {
                      return sigmoid(s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::sigmoid>},
    OperationSample{"relu",
                    [](Samples& s) {
                      return relu(s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::relu>, is_exact},
    OperationSample{"gelu",
                    [](Samples& s) {
                      return gelu(s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::gelu>},
    OperationSample{"gelu_tanh",
                    [](Samples& s) {
                      return gelu_by_tanh(s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::gelu_by_tanh>},
    OperationSample{"silu",
                    [](Samples& s) {
                      return silu(s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::silu>},
    OperationSample{"exp",
                    [](Samples& s) {
                      return exp(s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::exp>},
    OperationSample{"tanh_gradient",
                    [](Samples& s) {
                      return tanh_gradient(s.matrix("d", {s.m, s.n}), s.matrix("y", {s.m, s.n}));
                    },
                    of_two<definition::tanh_gradient>},
    OperationSample{"sigmoid_gradient",
                    [](Samples& s) {
                      return sigmoid_gradient(s.matrix("d", {s.m, s.n}), s.matrix("y", {s.m, s.n}));
                    },
                    of_two<definition::sigmoid_gradient>},
    OperationSample{"relu_gradient",
                    [](Samples& s) {
                      return relu_gradient(s.matrix("d", {s.m, s.n}), s.matrix("y", {s.m, s.n}));
                    },
                    of_two<definition::relu_gradient>, is_exact},
    OperationSample{"gelu_gradient",
                    [](Samples& s) {
                      return gelu_gradient(s.matrix("d", {s.m, s.n}), s.matrix("x", {s.m, s.n}));
                    },
                    of_two<definition::gelu_gradient>, is_not_exact, has_no_gradient},
    OperationSample{"gelu_tanh_gradient",
                    [](Samples& s) {
                      return gelu_by_tanh_gradient(s.matrix("d", {s.m, s.n}), s.matrix("x", {s.m, s.n}));
                    },
                    of_two<definition::gelu_by_tanh_gradient>, is_not_exact, has_no_gradient},
    OperationSample{"silu_gradient",
                    [](Samples& s) {
                      return silu_gradient(s.matrix("d", {s.m, s.n}), s.matrix("x", {s.m, s.n}));
                    },
                    of_two<definition::silu_gradient>, is_not_exact, has_no_gradient},
    OperationSample{"times",
                    [](Samples& s) {
                      return times(s.matrix("a", {s.m, s.n}), eight);
                    },
                    [](Operands x, RowsToMake result) { definition::times(x[0], eight.value, result); },
                    is_exact},
    OperationSample{"divide",
                    [](Samples& s) {
                      return divide(s.matrix("a", {s.m, s.n}), eight);
                    },
                    [](Operands x, RowsToMake result) { definition::divide(x[0], eight.value, result); },
                    is_exact},
    OperationSample{"replace",
                    [](Samples& s) {
                      return replace(s.matrix("a", {s.m, s.n}), s.allowed({s.m, s.n}), fill);
                    },
                    [](Operands x, RowsToMake result) { definition::replace(x[0], x[1], fill, result); },
                    is_exact},
    OperationSample{"mask",
                    [](Samples& s) {
                      return mask(s.matrix("a", {s.m, s.n}), s.allowed({s.m, s.n}), fill);
                    },
                    [](Operands x, RowsToMake result) { definition::mask(x[0], x[1], fill, result); },
                    is_exact},
    OperationSample{"softmax",
                    [](Samples& s) {
                      return softmax(s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::softmax>},
    OperationSample{"normalize",
                    [](Samples& s) {
                      return normalize(s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::normalize>},
    OperationSample{"softmax_gradient",
                    [](Samples& s) {
                      return softmax_gradient(s.weights("a", {s.m, s.n}), s.matrix("d", {s.m, s.n}));
                    },
                    of_two<definition::softmax_gradient>},
    OperationSample{"normalize_gradient",
                    [](Samples& s) {
                      return normalize_gradient(s.matrix("d", {s.m, s.n}), s.matrix("y", {s.m, s.n}), s.weights("x", {s.m, s.n}));
                    },
                    of_three<definition::normalize_gradient>, is_not_exact, has_no_gradient},
    OperationSample{"row_sums",
                    [](Samples& s) {
                      return row_sums(s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::row_sums>},
    OperationSample{"sum_rows",
                    [](Samples& s) {
                      return sum_rows(s.matrix("a", {s.m * s.k, s.n}), {}, axis("sum"));
                    },
                    [](Operands x, RowsToMake result) { definition::sum_rows(x[0], {1, 1}, result); }},
    OperationSample{"sum_rows",
                    [](Samples& s) {
                      return sum_rows(s.matrix("a", {2 * s.m * 3, s.n}), {.parts = 2, .apart = 3}, axis("rows"));
                    },
                    [](Operands x, RowsToMake result) { definition::sum_rows(x[0], {2, 3}, result); }},
    OperationSample{"repeat_rows",
                    [](Samples& s) {
                      return repeat_rows(s.matrix("a", {2 * s.k, s.n}), {.parts = 2, .apart = s.k}, 3, axis("rows"));
                    },
                    [](Operands x, RowsToMake result) { definition::repeat_rows(x[0], {2, x[0].shape.rows / 2}, 3, result); }, is_exact},
    OperationSample{"repeat_columns",
                    [](Samples& s) {
                      return repeat_columns(s.matrix("a", {s.m, 1}), s.n, axis("columns"));
                    },
                    of_one<definition::repeat_columns>, is_exact},
    OperationSample{"row_means",
                    [](Samples& s) {
                      return row_means(s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::row_means>},
    OperationSample{"row_variances",
                    [](Samples& s) {
                      const Value a = s.matrix("a", {s.m, s.n});
                      return row_variances(a, name(role::mean, row_means(a)));
                    },
                    of_two<definition::row_variances>},
    OperationSample{
        "standardize",
        [](Samples& s) {
          const Value a = s.matrix("a", {s.m, s.n}), means = name(role::mean, row_means(a));
          return standardize(a, means, name(role::variance, row_variances(a, means)), epsilon);
        },
        [](Operands x, RowsToMake result) { definition::standardize(x[0], x[1], x[2], epsilon, result); }},
    OperationSample{"divide_by_root_mean_square",
                    [](Samples& s) {
                      return divide_by_root_mean_square(s.matrix("a", {s.m, s.n}), epsilon);
                    },
                    [](Operands x, RowsToMake result) {
                      definition::divide_by_root_mean_square(x[0], epsilon, result);
                    }},
    OperationSample{"row_variances_gradient",
                    [](Samples& s) {
                      const Value a = s.matrix("a", {s.m, s.n}); return row_variances_gradient(a, name(role::mean, row_means(a)), s.matrix("d", {s.m, 1}));
                    },
                    of_three<definition::row_variances_gradient>},
    OperationSample{"divide_by_deviation",
                    [](Samples& s) {
                      const Value a = s.matrix("a", {s.m, s.n}), means = name(role::mean, row_means(a)); return divide_by_deviation(s.matrix("d", {s.m, s.k}), name(role::variance, row_variances(a, means)), 0.5);
                    },
                    [](Operands x, RowsToMake result) { definition::divide_by_deviation(x[0], x[1], 0.5, result); }},
    OperationSample{"root_mean_square_gradient",
                    [](Samples& s) {
                      return root_mean_square_gradient(s.matrix("d", {s.m, s.n}), s.matrix("x", {s.m, s.n}), epsilon);
                    },
                    [](Operands x, RowsToMake result) { definition::root_mean_square_gradient(x[0], x[1], epsilon, result); }, is_not_exact, has_no_gradient},
    OperationSample{"unit_rows_gradient",
                    [](Samples& s) {
                      return unit_rows_gradient(s.matrix("d", {s.m, s.n}), s.matrix("y", {s.m, s.n}), s.matrix("x", {s.m, s.n}));
                    },
                    of_three<definition::unit_rows_gradient>, is_not_exact, has_no_gradient},
    OperationSample{"uniform",
                    [](Samples& s) {
                      return uniform(s.matrix("a", {s.m, s.n}));
                    },
                    [](Operands, RowsToMake result) { definition::uniform(result); }, is_exact},
    OperationSample{"largest",
                    [](Samples& s) {
                      return largest(s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::largest>, is_exact},
    OperationSample{"rows",
                    [](Samples& s) {
                      return rows(s.matrix("a", {s.m + 2, s.n}), 1, s.m);
                    },
                    [](Operands x, RowsToMake result) { definition::rows(x[0], 1, result); }, is_exact},
    OperationSample{"columns",
                    [](Samples& s) {
                      return columns(s.matrix("a", {s.m, s.n + 2}), 1, s.n);
                    },
                    [](Operands x, RowsToMake result) { definition::columns(x[0], 1, result); }, is_exact},
    OperationSample{"reshape",
                    [](Samples& s) {
                      return reshape(s.matrix("a", {s.m * s.k, s.n}), s.m);
                    },
                    of_one<definition::reshape>, is_exact},
    OperationSample{"rows_among_zeros",
                    [](Samples& s) {
                      return rows_among_zeros(s.matrix("a", {s.m, s.n}), 1, s.matrix("b", {s.m + 2, s.n}));
                    },
                    [](Operands x, RowsToMake result) { definition::rows_among_zeros(x[0], 1, result); }, is_exact},
    OperationSample{"columns_among_zeros",
                    [](Samples& s) {
                      return columns_among_zeros(s.matrix("a", {s.m, s.n}), 1, s.matrix("b", {s.m, s.n + 2}));
                    },
                    [](Operands x, RowsToMake result) { definition::columns_among_zeros(x[0], 1, result); }, is_exact},
    OperationSample{"concatenate",
                    [](Samples& s) {
                      return concatenate({s.matrix("a", {s.m, s.k}), s.matrix("b", {s.m, s.n})});
                    },
                    definition::concatenate, is_exact},
    OperationSample{"stack",
                    [](Samples& s) {
                      return stack({s.matrix("a", {s.m, s.n}), s.matrix("b", {s.k, s.n})});
                    },
                    definition::stack, is_exact},
    OperationSample{
        "labelled",
        [](Samples& s) {
          return labelled(s.matrix("a", {s.m, s.n}), axis("words", std::vector<std::string>(s.m, "it")));
        },
        of_one<definition::identity>, is_exact},
    OperationSample{"embed",
                    [](Samples& s) {
                      return embed(s.ids(s.m, s.k), s.matrix("e", {s.k, s.n}));
                    },
                    of_two<definition::embed>, is_exact},
    OperationSample{"add_rows_by_id",
                    [](Samples& s) {
                      return add_rows_by_id(s.ids(s.m, s.k), s.matrix("d", {s.m, s.n}), s.matrix("e", {s.k, s.n}));
                    },
                    of_two<definition::add_rows_by_id>},
    OperationSample{"cross_entropy",
                    [](Samples& s) {
                      return cross_entropy(s.matrix("z", {s.m, s.n}), s.ids(s.m, s.n));
                    },
                    [](Operands x, RowsToMake result) { definition::cross_entropy(x[0], x[1], 0.0, result); }},
    OperationSample{"cross_entropy",
                    [](Samples& s) {
                      return cross_entropy(s.matrix("z", {s.m, s.n}), s.ids(s.m, s.n), smoothing);
                    },
                    [](Operands x, RowsToMake result) { definition::cross_entropy(x[0], x[1], smoothing, result); }},
    OperationSample{"cross_entropy_gradient",
                    [](Samples& s) {
                      return cross_entropy_gradient(s.matrix("z", {s.m, s.n}), s.ids(s.m, s.n), s.matrix("d", {s.m, 1}), 0.0);
                    },
                    [](Operands x, RowsToMake result) { definition::cross_entropy_gradient(x[0], x[1], x[2], 0.0, result); }},
    OperationSample{"cross_entropy_gradient",
                    [](Samples& s) {
                      return cross_entropy_gradient(s.matrix("z", {s.m, s.n}), s.ids(s.m, s.n), s.matrix("d", {s.m, 1}), smoothing);
                    },
                    [](Operands x, RowsToMake result) { definition::cross_entropy_gradient(x[0], x[1], x[2], smoothing, result); }},
    OperationSample{"one_hot",
                    [](Samples& s) {
                      return one_hot(s.ids(s.m, s.k), s.matrix("e", {s.k, s.n}));
                    },
                    of_one<definition::one_hot>, is_exact},
    OperationSample{"pairs_of",
                    [](Samples& s) {
                      return pairs_of(s.matrix("a", {s.m, s.n}), axis("pairs"));
                    },
                    of_one<definition::pairs_of>, is_exact},
    OperationSample{"sum_by_distance",
                    [](Samples& s) {
                      return sum_by_distance(s.matrix("d", {s.m, s.n}), s.matrix("r", {1, 3}));
                    },
                    [](Operands x, RowsToMake result) { definition::sum_by_distance(x[0], 1, result); }},
    OperationSample{"sum_by_distance",
                    [](Samples& s) {
                      return sum_by_distance(s.matrix("d", {s.m, s.n}), s.matrix("r", {s.m, 5}));
                    },
                    [](Operands x, RowsToMake result) { definition::sum_by_distance(x[0], x[0].shape.rows, result); }},
    OperationSample{
        "by_distance",
        [](Samples& s) {
          return by_distance(s.matrix("r", {1, 3}), s.matrix("q", {s.m, s.k}), s.matrix("k", {s.n, s.k}));
        },
        of_one<definition::by_distance>, is_exact},
    OperationSample{
        "by_distance",
        [](Samples& s) {
          return by_distance(s.matrix("r", {s.m, 5}), s.matrix("q", {s.m, s.k}), s.matrix("k", {s.n, s.k}));
        },
        of_one<definition::by_distance>, is_exact},
    OperationSample{
        "sinusoid",
        [](Samples& s) {
          return sinusoid(s.graph, sinusoid_layouts()[0], {{s.m, s.n}, axis("tokens"), axis("features")});
        },
        [](Operands, RowsToMake result) { define_sinusoid(sinusoid_layouts()[0], {0, 10000.0}, result); }},
    OperationSample{
        "sinusoid",
        [](Samples& s) {
          return sinusoid(s.graph, sinusoid_layouts()[1], {{s.m, s.n}, axis("tokens"), axis("features")},
                          {.first = 7, .base = 100.0});
        },
        [](Operands, RowsToMake result) { define_sinusoid(sinusoid_layouts()[1], {7, 100.0}, result); }},
    OperationSample{"rotate",
                    [](Samples& s) {
                      return rotate(s.matrix("a", {s.m, 2 * s.k}), {.first = 3, .base = 100.0});
                    },
                    [](Operands x, RowsToMake result) { definition::rotate(x[0], {3, 100.0}, result); }},
    OperationSample{"rotate_back",
                    [](Samples& s) {
                      return rotate_back(s.matrix("a", {s.m, 2 * s.k}), {.first = 3, .base = 100.0});
                    },
                    [](Operands x, RowsToMake result) { definition::rotate_back(x[0], {3, 100.0}, result); }},
    OperationSample{"identity",
                    [](Samples& s) {
                      return name(called("again"), s.matrix("a", {s.m, s.n}));
                    },
                    of_one<definition::identity>, is_exact},
};

}  // namespace

Value Samples::matrix(std::string_view name, Shape shape) {
  std::uniform_real_distribution<double> any(-2.0, 2.0);
  return graph.input(called(name), made(shape, [&] { return any(generator_); }), axis("rows"), axis("columns"));
}

Value Samples::weights(std::string_view name, Shape shape) {
  std::uniform_real_distribution<double> positive(0.1, 2.0);
  Matrix matrix = made(shape, [&] { return positive(generator_); });
  for (std::size_t i = 0; i < shape.rows; ++i) {
    double sum = 0.0;
    for (const double cell : row(matrix, i)) sum += cell;
    for (double& cell : row(matrix, i)) cell /= sum;
  }
  return graph.input(called(name), std::move(matrix), axis("rows"), axis("columns"));
}

Value Samples::allowed(Shape shape) {
  Matrix matrix = made(shape, [&] { return generator_() % 3 == 0 ? 0.0 : 1.0; });
  for (double& cell : row(matrix, shape.rows / 2)) cell = shape.rows > 2 ? 0.0 : cell;
  return graph.input(called("allowed"), std::move(matrix), axis("rows"), axis("columns"));
}

Value Samples::ids(std::size_t count, std::size_t words) {
  const auto any = [&] { return static_cast<double>(generator_() % words + 1); };
  return graph.input(called("ids"), made({count, 1}, any), axis("words"), axis("id"));
}

std::span<const OperationSample> operation_samples() { return table; }

}  // namespace attn
