#pragma once

#include <string>
#include <string_view>

// Golden files: what the program once wrote, read by a person and kept under tests/golden. Numbers may differ
// in their last bits, as they do from one processor to another; all else must be equal.

enum class Tolerance {
  last_digit,  // one unit of the last decimal that is printed; numbers without a point exactly
  relative,    // 1e-12 of the number
};

/// The first difference as "line 3: expected …, found …", or "" when there is none.
std::string difference(std::string_view expected, std::string_view found, Tolerance tolerance);

/// Checks a text against tests/golden/NAME; with ATTN_UPDATE_GOLDEN=1 in the environment, writes that file.
void check_golden(const std::string& name, const std::string& found, Tolerance tolerance);

/// Whether golden files are to be written.
bool updates_golden();

/// The path of tests/golden/NAME.
std::string golden_path(const std::string& name);
