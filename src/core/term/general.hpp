#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

/// How any cell of a matrix is made, in the names of its operands: "weights[i,j] = exp(scores[i,j] − scores[i,m]) / …",
/// a line for each case, and one for each letter that stands for something.
std::vector<std::string> general_cell(const Node& node);

/// The definition of its operation, a statement in each line.
std::string written_definition(const Definition& definition);

/// The names that the definition has for the operands, in order; none where they are a list.
std::vector<std::string> operands_of(const Definition& definition);

}  // namespace attn
