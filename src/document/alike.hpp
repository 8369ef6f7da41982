#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Whether two texts are the same except for the last digits of their numbers: a number with decimals may be
/// one unit of its last digit off, and any number 1e-12 of its size, because processors differ. Whole
/// numbers, and how many decimals are printed, must be the same.
bool alike(std::string_view one, std::string_view other);

/// The same for texts whose numbers are all at full precision: any may be 1e-12 of its size off, and none
/// more.
bool alike_at_full_precision(std::string_view one, std::string_view other);

/// The lines that differ, "- " before those of `old_lines` and "+ " before those of `new_lines`, among up to
/// three lines around them, which begin with two blanks; "  …" where lines are left out. Lines that are alike
/// count as the same.
std::vector<std::string> difference(const std::vector<std::string>& old_lines,
                                    const std::vector<std::string>& new_lines);

}  // namespace attn
