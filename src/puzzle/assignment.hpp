#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "puzzle/puzzle.hpp"

namespace attn {

/// The numbers of each unknown of a puzzle, in their order.
using Settings = std::vector<Matrix>;

/// Those that it begins with.
Settings settings_at_start(const Puzzle& puzzle);

/// Reads a matrix of this shape as people type it: `1 0; 0 1` or `[[1,0],[0,1]]`. A number may be an
/// expression without blanks, such as `1/2` or `cos(1)`. `name` is for messages. Throws InputError: another
/// shape, or a cell that is not a finite number.
Matrix read_numbers(std::string_view text, std::string_view name, Shape shape);

/// Sets what a line says: `w_q = 1 0; 0 1`, or one cell: `w_q[1,2] = 3`, where one number is enough for a
/// single row or column. Where a puzzle has one unknown, its numbers need no name. Throws InputError and sets
/// nothing.
void assign(const Puzzle& puzzle, std::string_view line, Settings& settings);

/// A matrix as it can be typed, with all digits.
std::string typed(const Matrix& matrix);

}  // namespace attn
