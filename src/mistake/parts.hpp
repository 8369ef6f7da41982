#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "mistake/mistake.hpp"
#include "mistake/rewriting.hpp"
#include "op/operations.hpp"

// What rows of mistakes are made of.

namespace attn {

using Made = std::optional<Value>;

/// An operand of a node, or null where it has fewer.
const Node* operand(const Node& node, std::size_t i);

/// Whether an operand of a node is one of these, whatever other names it has.
bool uses(const Node& node, const Node& operand);

/// The operation of a node on its operands as they now are, but some of them exchanged.
Value on_others(const Node& node, const std::function<Made(const Node& operand)>& other, Rewriting& again);

/// What `result` would be if `from`, of which it is made, were `value`: all between them is made again.
Value put(const Node& result, const Node& from, const Value& value, Rewriting& again);

/// A column of zeros, or of one number, as long as `column`.  [n, 1] -> [n, 1].
Value constant_like(const Value& column, double number);

/// A factor that has no notation of its own.
Scalar plain_number(double value);

/// Whether a node is a gradient, or made of one.
bool is_gradient(const Node& node);

/// As tables of mistakes write them.
constexpr auto error = Mistake::Kind::error, convention = Mistake::Kind::convention;

}  // namespace attn
