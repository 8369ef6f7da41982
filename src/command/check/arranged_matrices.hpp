#pragma once

#include <string>
#include <vector>

#include "command/command.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

// Matrices of a file, arranged as a problem has them.

/// Turns the weights of linear layers that are (out, in) to (in, out), and says which: by their names, as PyTorch
/// stores them, or because only so their shapes fit.
void turn_linear_layers(NamedMatrices& all, const Arguments& given);

/// The parts of an array that has a projection for each head.
void part_arrays_of_heads(std::vector<MatrixFile>& files);

/// Puts the projections of heads that a file has one by one side by side, as their results stand side by side. Returns
/// of how many heads they are; 0: it has none.
std::size_t put_heads_side_by_side(NamedMatrices& all);

/// The name of a mask without the module that keeps it, and one mask where each head keeps the same.
void name_masks(std::vector<MatrixFile>& files);

/// Modules keep the mask of the longest sequence, of which a sequence uses the beginning.
void cut_masks(NamedMatrices& all, std::size_t words);

/// Names for a sentence, of which there may be many.
std::string names_for_sentence(std::vector<std::string> names);

}  // namespace attn
