#pragma once

#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "graph/op/along.hpp"

namespace attn {

/// An operation that puts matrices one after another, along their rows or their columns, as its file in this
/// folder defines it.
struct Join {
  std::string_view name;
  Along along;
  std::string_view place;                                 // "side by side"
  Axis (*axis)(Operation::Operands parts);                // of the direction in which the result is longer
  Formula (*formula)(std::span<const Formula> operands);  // how it is written
};

/// One part alone is itself. `kind` lives for ever. Throws InputError when the parts are of different sizes
/// in the other direction.
Value join(const Join& kind, std::vector<Value> parts);

/// The formulas of all operands with `plain` or `latex` between them.
Formula listed(std::span<const Formula> operands, std::string_view plain, std::string_view latex);

}  // namespace attn
