#pragma once

#include <functional>
#include <vector>

#include "command/arguments.hpp"
#include "files/matrix_file.hpp"

namespace attn {

/// Whether a matrix of this name can be what a problem is made of.
bool is_input(const std::string& name);

using OffersOption = std::function<bool(const Option& option)>;

/// The problem that the matrices of a file belong to: those among them that cannot be computed from others,
/// by the names that people give them, and how many heads there are; only options that are offered. What is
/// given counts more than they.
OptionValues inputs_among(const std::vector<MatrixFile>& files, const Arguments& given,
                          const OffersOption& offers);

}  // namespace attn
