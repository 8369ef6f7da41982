#include "operation_samples.hpp"

#include <array>

#include "core/op/gradient_operations.hpp"
#include "core/op/operations.hpp"

namespace attn {
namespace {

template <class Next>
Matrix made(Shape shape, Next next) {
  Matrix matrix(shape);
  for (double& cell : cells(matrix)) cell = next();
  return matrix;
}

const Scalar eight = {8.0, {"√64", "\\sqrt{64}"}};
constexpr double fill = -1e6, epsilon = 1e-5;

constexpr bool has_no_gradient = false;
constexpr double smoothing = 0.1;

// Positions that do not follow each other, within the words of the tree below.
RowPositions scattered(std::size_t count) {
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < count; ++i) list.push_back((3 * i + 4) % 11);
  return RowPositions(std::move(list));
}

// The parent of word i is word ⌊i/2⌋.
Distance tree_of_eleven() { return Distance({0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}); }

const std::array table = {
    OperationSample{"matmul",
                    [](Samples& s) {
                      return matmul(s.matrix("a", {s.m, s.k}), s.matrix("b", {s.k, s.n}));
                    }},
    OperationSample{"matmul_transposed",
                    [](Samples& s) {
                      return matmul_transposed(s.matrix("a", {s.m, s.k}), s.matrix("b", {s.n, s.k}));
                    }},
    OperationSample{"transposed_matmul",
                    [](Samples& s) {
                      return transposed_matmul(s.matrix("a", {s.k, s.m}), s.matrix("b", {s.k, s.n}));
                    }},
    OperationSample{"add",
                    [](Samples& s) {
                      return add(s.matrix("a", {s.m, s.n}), s.matrix("b", {1, s.n}));
                    }},
    OperationSample{"subtract",
                    [](Samples& s) {
                      return subtract(s.matrix("a", {s.m, s.n}), s.matrix("b", {s.m, 1}));
                    }},
    OperationSample{"multiply",
                    [](Samples& s) {
                      return multiply(s.matrix("a", {s.m, s.n}), s.matrix("b", {s.m, s.n}));
                    }},
    OperationSample{"transpose",
                    [](Samples& s) {
                      return transpose(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{"half_squared_norms",
                    [](Samples& s) {
                      return half_squared_norms(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{"unit_rows",
                    [](Samples& s) {
                      return unit_rows(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{
        "minus_half_squared_distances",
        [](Samples& s) {
          return minus_half_squared_distances(s.matrix("a", {s.m, s.k}), s.matrix("b", {s.n, s.k}));
        }},
    OperationSample{"pairwise_sum",
                    [](Samples& s) {
                      return pairwise_sum(s.matrix("a", {s.m, s.k}), s.matrix("b", {s.n, s.k}));
                    }},
    OperationSample{"pairs",
                    [](Samples& s) {
                      return pairs(s.matrix("a", {s.m, s.k}), s.matrix("b", {s.n, s.k + 1}));
                    }},
    OperationSample{
        "unpair",
        [](Samples& s) {
          return unpair(s.matrix("p", {s.m * s.n, 1}), s.matrix("a", {s.m, s.k}), s.matrix("b", {s.n, s.k}));
        }},
    OperationSample{"tanh",
                    [](Samples& s) {
                      return tanh(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{"sigmoid",
                    [](Samples& s) {
                      return sigmoid(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{"relu",
                    [](Samples& s) {
                      return relu(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{"gelu",
                    [](Samples& s) {
                      return gelu(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{"gelu_tanh",
                    [](Samples& s) {
                      return gelu_by_tanh(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{"silu",
                    [](Samples& s) {
                      return silu(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{"exp",
                    [](Samples& s) {
                      return exp(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{"tanh_gradient",
                    [](Samples& s) {
                      return tanh_gradient(s.matrix("d", {s.m, s.n}), s.matrix("y", {s.m, s.n}));
                    }},
    OperationSample{"sigmoid_gradient",
                    [](Samples& s) {
                      return sigmoid_gradient(s.matrix("d", {s.m, s.n}), s.matrix("y", {s.m, s.n}));
                    }},
    OperationSample{"relu_gradient",
                    [](Samples& s) {
                      return relu_gradient(s.matrix("d", {s.m, s.n}), s.matrix("y", {s.m, s.n}));
                    }},
    OperationSample{"gelu_gradient",
                    [](Samples& s) {
                      return gelu_gradient(s.matrix("d", {s.m, s.n}), s.matrix("x", {s.m, s.n}));
                    }, has_no_gradient},
    OperationSample{"gelu_tanh_gradient",
                    [](Samples& s) {
                      return gelu_by_tanh_gradient(s.matrix("d", {s.m, s.n}), s.matrix("x", {s.m, s.n}));
                    }, has_no_gradient},
    OperationSample{"silu_gradient",
                    [](Samples& s) {
                      return silu_gradient(s.matrix("d", {s.m, s.n}), s.matrix("x", {s.m, s.n}));
                    }, has_no_gradient},
    OperationSample{"times",
                    [](Samples& s) {
                      return times(s.matrix("a", {s.m, s.n}), eight);
                    }},
    OperationSample{"divide",
                    [](Samples& s) {
                      return divide(s.matrix("a", {s.m, s.n}), eight);
                    }},
    OperationSample{"replace",
                    [](Samples& s) {
                      return replace(s.matrix("a", {s.m, s.n}), s.allowed({s.m, s.n}), fill);
                    }},
    OperationSample{"mask",
                    [](Samples& s) {
                      return mask(s.matrix("a", {s.m, s.n}), s.allowed({s.m, s.n}), fill);
                    }},
    OperationSample{"softmax",
                    [](Samples& s) {
                      return softmax(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{"normalize",
                    [](Samples& s) {
                      return normalize(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{"softmax_gradient",
                    [](Samples& s) {
                      return softmax_gradient(s.weights("a", {s.m, s.n}), s.matrix("d", {s.m, s.n}));
                    }},
    OperationSample{"normalize_gradient",
                    [](Samples& s) {
                      return normalize_gradient(s.matrix("d", {s.m, s.n}), s.matrix("y", {s.m, s.n}), s.weights("x", {s.m, s.n}));
                    }, has_no_gradient},
    OperationSample{"row_sums",
                    [](Samples& s) {
                      return row_sums(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{"sum_rows",
                    [](Samples& s) {
                      return sum_rows(s.matrix("a", {s.m * s.k, s.n}), {}, axis("sum"));
                    }},
    OperationSample{"sum_rows",
                    [](Samples& s) {
                      return sum_rows(s.matrix("a", {2 * s.m * 3, s.n}), {.parts = 2, .apart = 3}, axis("rows"));
                    }},
    OperationSample{"repeat_rows",
                    [](Samples& s) {
                      return repeat_rows(s.matrix("a", {2 * s.k, s.n}), {.parts = 2, .apart = s.k}, 3, axis("rows"));
                    }},
    OperationSample{"repeat_columns",
                    [](Samples& s) {
                      return repeat_columns(s.matrix("a", {s.m, 1}), s.n, axis("columns"));
                    }},
    OperationSample{"row_means",
                    [](Samples& s) {
                      return row_means(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{"row_variances",
                    [](Samples& s) {
                      const Value a = s.matrix("a", {s.m, s.n});
                      return row_variances(a, name(role::mean, row_means(a)));
                    }},
    OperationSample{
        "standardize",
        [](Samples& s) {
          const Value a = s.matrix("a", {s.m, s.n}), means = name(role::mean, row_means(a));
          return standardize(a, means, name(role::variance, row_variances(a, means)), epsilon);
        }},
    OperationSample{"divide_by_root_mean_square",
                    [](Samples& s) {
                      return divide_by_root_mean_square(s.matrix("a", {s.m, s.n}), epsilon);
                    }},
    OperationSample{"row_variances_gradient",
                    [](Samples& s) {
                      const Value a = s.matrix("a", {s.m, s.n}); return row_variances_gradient(a, name(role::mean, row_means(a)), s.matrix("d", {s.m, 1}));
                    }},
    OperationSample{"divide_by_deviation",
                    [](Samples& s) {
                      const Value a = s.matrix("a", {s.m, s.n}), means = name(role::mean, row_means(a)); return divide_by_deviation(s.matrix("d", {s.m, s.k}), name(role::variance, row_variances(a, means)), 0.5);
                    }},
    OperationSample{"root_mean_square_gradient",
                    [](Samples& s) {
                      return root_mean_square_gradient(s.matrix("d", {s.m, s.n}), s.matrix("x", {s.m, s.n}), epsilon);
                    }, has_no_gradient},
    OperationSample{"unit_rows_gradient",
                    [](Samples& s) {
                      return unit_rows_gradient(s.matrix("d", {s.m, s.n}), s.matrix("y", {s.m, s.n}), s.matrix("x", {s.m, s.n}));
                    }, has_no_gradient},
    OperationSample{"uniform",
                    [](Samples& s) {
                      return uniform(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{"largest",
                    [](Samples& s) {
                      return largest(s.matrix("a", {s.m, s.n}));
                    }},
    OperationSample{"rows",
                    [](Samples& s) {
                      return rows(s.matrix("a", {s.m + 2, s.n}), 1, s.m);
                    }},
    OperationSample{"columns",
                    [](Samples& s) {
                      return columns(s.matrix("a", {s.m, s.n + 2}), 1, s.n);
                    }},
    OperationSample{"reshape",
                    [](Samples& s) {
                      return reshape(s.matrix("a", {s.m * s.k, s.n}), s.m);
                    }},
    OperationSample{"rows_among_zeros",
                    [](Samples& s) {
                      return rows_among_zeros(s.matrix("a", {s.m, s.n}), 1, s.matrix("b", {s.m + 2, s.n}));
                    }},
    OperationSample{"columns_among_zeros",
                    [](Samples& s) {
                      return columns_among_zeros(s.matrix("a", {s.m, s.n}), 1, s.matrix("b", {s.m, s.n + 2}));
                    }},
    OperationSample{"concatenate",
                    [](Samples& s) {
                      return concatenate({s.matrix("a", {s.m, s.k}), s.matrix("b", {s.m, s.n})});
                    }},
    OperationSample{"stack",
                    [](Samples& s) {
                      return stack({s.matrix("a", {s.m, s.n}), s.matrix("b", {s.k, s.n})});
                    }},
    OperationSample{
        "labelled",
        [](Samples& s) {
          return labelled(s.matrix("a", {s.m, s.n}), axis("words", std::vector<std::string>(s.m, "it")));
        }},
    OperationSample{"embed",
                    [](Samples& s) {
                      return embed(s.ids(s.m, s.k), s.matrix("e", {s.k, s.n}));
                    }},
    OperationSample{"add_rows_by_id",
                    [](Samples& s) {
                      return add_rows_by_id(s.ids(s.m, s.k), s.matrix("d", {s.m, s.n}), s.matrix("e", {s.k, s.n}));
                    }},
    OperationSample{"cross_entropy",
                    [](Samples& s) {
                      return cross_entropy(s.matrix("z", {s.m, s.n}), s.ids(s.m, s.n));
                    }},
    OperationSample{"cross_entropy",
                    [](Samples& s) {
                      return cross_entropy(s.matrix("z", {s.m, s.n}), s.ids(s.m, s.n), smoothing);
                    }},
    OperationSample{"cross_entropy_gradient",
                    [](Samples& s) {
                      return cross_entropy_gradient(s.matrix("z", {s.m, s.n}), s.ids(s.m, s.n), s.matrix("d", {s.m, 1}), 0.0);
                    }},
    OperationSample{"cross_entropy_gradient",
                    [](Samples& s) {
                      return cross_entropy_gradient(s.matrix("z", {s.m, s.n}), s.ids(s.m, s.n), s.matrix("d", {s.m, 1}), smoothing);
                    }},
    OperationSample{"one_hot",
                    [](Samples& s) {
                      return one_hot(s.ids(s.m, s.k), s.matrix("e", {s.k, s.n}));
                    }},
    OperationSample{"pairs_of",
                    [](Samples& s) {
                      return pairs_of(s.matrix("a", {s.m, s.n}), axis("pairs"));
                    }},
    OperationSample{"sum_by_distance",
                    [](Samples& s) {
                      return sum_by_distance(s.matrix("d", {s.m, s.n}), s.matrix("r", {1, 3}));
                    }},
    OperationSample{"sum_by_distance",
                    [](Samples& s) {
                      return sum_by_distance(s.matrix("d", {s.m, s.n}), s.matrix("r", {s.m, 5}));
                    }},
    OperationSample{
        "by_distance",
        [](Samples& s) {
          return by_distance(s.matrix("r", {1, 3}), s.matrix("q", {s.m, s.k}), s.matrix("k", {s.n, s.k}));
        }},
    OperationSample{
        "by_distance",
        [](Samples& s) {
          return by_distance(s.matrix("r", {s.m, 5}), s.matrix("q", {s.m, s.k}), s.matrix("k", {s.n, s.k}));
        }},
    OperationSample{"by_distance",
                    [](Samples& s) {
                      return by_distance(s.matrix("r", {1, 5}), s.matrix("q", {s.m, s.k}), s.matrix("k", {s.n, s.k}),
                                         {.queries = 2});
                    }},
    OperationSample{"by_distance",
                    [](Samples& s) {
                      return by_distance(s.matrix("r", {s.m, 4}), s.matrix("q", {s.m, s.k}), s.matrix("k", {s.n, s.k}),
                                         {scattered(s.m), scattered(s.n), tree_of_eleven()});
                    }},
    OperationSample{"sum_by_distance",
                    [](Samples& s) {
                      return sum_by_distance(s.matrix("d", {s.m, s.n}), s.matrix("r", {1, 4}),
                                             {scattered(s.m), scattered(s.n), tree_of_eleven()});
                    }},
    OperationSample{"sum_by_distance",
                    [](Samples& s) {
                      return sum_by_distance(s.matrix("d", {s.m, s.n}), s.matrix("r", {s.m, 3}),
                                             {.queries = scattered(s.m)});
                    }},
    OperationSample{
        "sinusoid",
        [](Samples& s) {
          return sinusoid(s.graph, sinusoid_layouts()[1], {{s.m, s.n}, axis("tokens"), axis("features")},
                          {.positions = scattered(s.m), .base = 100.0});
        }},
    OperationSample{"rotate",
                    [](Samples& s) {
                      return rotate(s.matrix("a", {s.m, 2 * s.k}), {.positions = scattered(s.m), .base = 100.0});
                    }},
    OperationSample{
        "sinusoid",
        [](Samples& s) {
          return sinusoid(s.graph, sinusoid_layouts()[0], {{s.m, s.n}, axis("tokens"), axis("features")});
        }},
    OperationSample{
        "sinusoid",
        [](Samples& s) {
          return sinusoid(s.graph, sinusoid_layouts()[1], {{s.m, s.n}, axis("tokens"), axis("features")},
                          {.positions = 7, .base = 100.0});
        }},
    OperationSample{"rotate",
                    [](Samples& s) {
                      return rotate(s.matrix("a", {s.m, 2 * s.k}), {.positions = 3, .base = 100.0});
                    }},
    OperationSample{"rotate_back",
                    [](Samples& s) {
                      return rotate_back(s.matrix("a", {s.m, 2 * s.k}), {.positions = 3, .base = 100.0});
                    }},
    OperationSample{"rotate",
                    [](Samples& s) {
                      return rotate(s.matrix("a", {s.m, 4 * s.k}), {.positions = 3, .base = 100.0, .in_halves = true});
                    }},
    OperationSample{"rotate",
                    [](Samples& s) {
                      return rotate(s.matrix("a", {s.m, 4 * s.k + 1}),
                                    {.base = 100.0,
                                     .in_halves = true,
                                     .turned = 4 * s.k,
                                     .slower = std::vector<double>(2 * s.k, 3.0)});
                    }},
    OperationSample{"rotate_back",
                    [](Samples& s) {
                      return rotate_back(s.matrix("a", {s.m, 4 * s.k + 2}),
                                         {.positions = 2, .base = 100.0, .in_halves = true, .turned = 4 * s.k});
                    }},
    OperationSample{"identity",
                    [](Samples& s) {
                      return name(name_from_text("again"), s.matrix("a", {s.m, s.n}));
                    }},
};

}  // namespace

Value Samples::matrix(std::string_view name, Shape shape) {
  std::uniform_real_distribution<double> any(-2.0, 2.0);
  return graph.input(name_from_text(name), made(shape, [&] { return any(generator_); }), axis("rows"), axis("columns"));
}

Value Samples::weights(std::string_view name, Shape shape) {
  std::uniform_real_distribution<double> positive(0.1, 2.0);
  Matrix matrix = made(shape, [&] { return positive(generator_); });
  for (std::size_t i = 0; i < shape.rows; ++i) {
    double sum = 0.0;
    for (const double cell : row(matrix, i)) sum += cell;
    for (double& cell : row(matrix, i)) cell /= sum;
  }
  return graph.input(name_from_text(name), std::move(matrix), axis("rows"), axis("columns"));
}

Value Samples::allowed(Shape shape) {
  Matrix matrix = made(shape, [&] { return generator_() % 3 == 0 ? 0.0 : 1.0; });
  for (double& cell : row(matrix, shape.rows / 2)) cell = shape.rows > 2 ? 0.0 : cell;
  return graph.input(name_from_text("allowed"), std::move(matrix), axis("rows"), axis("columns"));
}

Value Samples::ids(std::size_t count, std::size_t words) {
  const auto any = [&] { return static_cast<double>(generator_() % words + 1); };
  return graph.input(name_from_text("ids"), made({count, 1}, any), axis("words"), axis("id"));
}

std::span<const OperationSample> operation_samples() { return table; }

}  // namespace attn
