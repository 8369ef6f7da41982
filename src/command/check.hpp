#pragma once

#include "command/command.hpp"

namespace attn {

/// Whether the line says what the problem is, in another way than by its matrices.
bool gives_problem(const Arguments& arguments);

/// Reads the file of --against into the arguments. Where the line leaves out what the problem is computed
/// from, its matrices are taken from the file: those that cannot be computed from others there. From JSON
/// that attn wrote, the problem is the one in it. Throws InputError: unreadable, damaged, or nothing to
/// compute from.
void take_matrices_to_compare(const Command& command, Arguments& arguments);

/// Puts the comparison of that file with the computation in the place of the page; the verdict is failed
/// where a matrix differs. Throws InputError where no matrix of the file can be compared.
void compare(Answer& answer, const Command& command, const Arguments& arguments);

}  // namespace attn
