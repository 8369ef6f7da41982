#pragma once

#include <vector>

#include "command/arguments.hpp"
#include "files/matrix_file.hpp"

namespace attn {

/// The problem that the matrices of a file belong to: those among them that cannot be computed from others,
/// by the names that people give them, and how many heads there are. What is given counts more than they.
OptionValues inputs_among(const std::vector<MatrixFile>& files, const Arguments& given);

}  // namespace attn
