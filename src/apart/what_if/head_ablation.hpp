#pragma once

#include <memory>

#include "command/command.hpp"

namespace attn {

/// What becomes of a cell or a matrix of a computation without each of its heads, a line for each. `said` is what the
/// command says of the computation. Throws InputError: there are no heads, or nothing of the name that is asked for.
Answer head_ablation_page(const std::shared_ptr<Graph>& computed, Answer said, const Arguments& arguments);

}  // namespace attn
