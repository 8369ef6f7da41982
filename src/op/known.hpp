#pragma once

#include <optional>

#include "op/operations.hpp"

namespace attn {

// What some operations know, for those who make another computation of one. Nothing: it is another operation.

/// ε, of standardize() and divide_by_root_mean_square().
std::optional<double> epsilon_of(const Operation& operation);

/// How the target of cross_entropy() is smoothed.
std::optional<double> smoothing_of(const Operation& operation);

/// What sinusoid() and rotate() make their angles of.
std::optional<Waves> waves_of(const Operation& operation);

/// In which order sinusoid() has its columns, or null.
const SinusoidLayout* layout_of(const Operation& operation);

/// Where the rows or columns begin that rows() and columns() take, from 0.
std::optional<std::size_t> first_of_slice(const Operation& operation);

/// add(), subtract() or multiply() once more, on operands of any shapes that fit together.
std::optional<Value> same_cell_by_cell(const Operation& operation, const std::vector<Value>& operands);

/// Whether an operation is concatenate() or stack().
bool is_join(const Operation& operation);

/// Whether an operation is transposed_matmul(), and whether it is softmax_gradient().
bool is_transposed_matmul(const Operation& operation);
bool is_softmax_gradient(const Operation& operation);

/// The function by whose derivative an operation multiplies a gradient, or null.
const Function* differentiated_by(const Operation& operation);

}  // namespace attn
