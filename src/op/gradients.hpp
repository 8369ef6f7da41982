#pragma once

#include "graph/graph.hpp"
#include "op/operations.hpp"

namespace attn {

// The operations that gradients are made of, beside those of operations.hpp. `d` is the gradient of what an
// operation has made.

/// Throws InputError: what this operation made of a gradient has no gradient of its own.
[[noreturn]] void no_second_gradient(const Operation& operation);

/// −1, by which a gradient is multiplied.
Scalar minus_one();

/// The rows and columns of `d` added up to those of an operand of which one row, one column or one sentence
/// served for all.  [m, n] -> the operand's shape.
Value summed_like(const Value& d, const Value& operand);

/// The sum of what flows back to one node. Parts of a matrix that are all of it together, such as what flows
/// back to the columns of each head, are joined and not added to each other's zeros.
Value sum_of_flows(const std::vector<Value>& flows);

/// d ⊙ f′, cell by cell, for the function that an operation applies to every cell. `z` is what its
/// derivative is worked out from: the result or the argument.  [m, n] [m, n] -> [m, n].
Value tanh_gradient(const Value& d, const Value& result);
Value sigmoid_gradient(const Value& d, const Value& result);
Value relu_gradient(const Value& d, const Value& result);
Value gelu_gradient(const Value& d, const Value& x);
Value gelu_by_tanh_gradient(const Value& d, const Value& x);
Value silu_gradient(const Value& d, const Value& x);

/// α ⊙ (d − row sums of α ⊙ d): every row of d times the Jacobian diag(α) − ααᵀ of softmax.
/// [m, n] [m, n] -> [m, n].
Value softmax_gradient(const Value& weights, const Value& d);

/// (d − row sums of y ⊙ d) / row sums of x, where y is x divided by its row sums; 0 where such a sum is 0.
/// [m, n] [m, n] [m, n] -> [m, n].
Value normalize_gradient(const Value& d, const Value& y, const Value& x);

/// 2/n (x − mean) d, row by row: of a variance that is known by its row.  [m, n] [m, 1] [m, 1] -> [m, n].
Value row_variances_gradient(const Value& x, const Value& means, const Value& d);

/// d / √(variance + ε), row by row.  [m, n] [m, 1] -> [m, n].
Value divide_by_deviation(const Value& d, const Value& variances, double epsilon);

/// (d − x · mean of d ⊙ x / r²) / r with r = √(mean of x² + ε), row by row.  [m, n] [m, n] -> [m, n].
Value root_mean_square_gradient(const Value& d, const Value& x, double epsilon);

/// (d − y (y · d)) / ‖x‖, row by row, where y is x / ‖x‖; 0 where x is 0.  [m, n] [m, n] [m, n] -> [m, n].
Value unit_rows_gradient(const Value& d, const Value& y, const Value& x);

/// Rows of `d` added up by their ids, a row for each of the table.  [n, 1] [n, d] -> [vocabulary, d].
Value add_rows_by_id(const Value& ids, const Value& d, const Value& table);

/// The cells of a matrix below each other, of which the rows are named: the opposite of unpair().
/// [m, n] -> [m·n, 1].
Value pairs_of(const Value& x, Axis rows);

/// What `d` has at each distance j − i, added up as the table has them, in one row for all or in one for
/// each. [m, n] -> [1, 2c + 1] or [m, 2c + 1].
Value sum_by_distance(const Value& d, const Value& table);

/// rotate() by the opposite angles.  [n, d] -> [n, d].
Value rotate_back(const Value& x, Waves waves = {});

/// `x` in the columns, or rows, from `first` on of a matrix like `whole`, among zeros: the opposite of
/// columns() and rows().  [m, n] -> the shape of `whole`.
Value columns_among_zeros(const Value& x, std::size_t first, const Value& whole);
Value rows_among_zeros(const Value& x, std::size_t first, const Value& whole);

/// (softmax(logits) − target) ⊙ d, where the target is 1 at the id, or what smoothing leaves of it there and
/// gives to all.  [n, V] [n, 1] [n, 1] -> [n, V].
Value cross_entropy_gradient(const Value& logits, const Value& ids, const Value& d, double smoothing);

}  // namespace attn
