#pragma once

#include <string>
#include <vector>

#include "apart/explore/grid.hpp"
#include "apart/explore/matrix_box.hpp"
#include "core/graph/graph.hpp"
#include "page/block/page.hpp"
#include "page/render/style.hpp"

// What the views of an explorer write in words.

namespace attn {

inline const Look quiet_look{.dim = true}, strong_look{.bold = true};

/// The lines of some blocks, as pages have them.
std::vector<std::string> lines_of(std::vector<Block> blocks, std::size_t width, const Style& style);
/// Writes as many lines as there is room for; … says that there are more.
void put_lines(Grid& grid, Area area, const std::vector<std::string>& lines);

/// Whether compact_number() says all digits of a number.
bool is_exact(double value);
/// A number in a sentence, where very large and very small ones have exponents.
std::string compact_number(double value);
/// "= 0.5", or "≈ 0.7558" where there are more digits.
std::string with_equality_sign(double value);

/// Whether a cell is explained by a table of shares: it is of a softmax of numbers. Where a score is NaN or ∞, the
/// arithmetic itself says what comes of it.
bool is_shown_as_shares(const Cell& cell);

}  // namespace attn
