#include "apart/explore/view_text.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include "apart/change/alteration.hpp"
#include "apart/explore/ancestry.hpp"
#include "apart/explore/explorer.hpp"
#include "core/graph/find.hpp"
#include "core/op/operations.hpp"
#include "core/support/number.hpp"
#include "core/support/number_pair.hpp"
#include "core/support/text.hpp"
#include "core/term/quantity.hpp"
#include "page/render/format.hpp"
#include "page/render/width.hpp"
#include "page/tell/describe.hpp"

namespace attn {

// The lines of some blocks, as pages have them.
std::vector<std::string> lines_of(std::vector<Block> blocks, std::size_t width, const Style& style) {
  Style narrow = style;
  narrow.width = width;
  std::string all;
  Sink sink([&](std::string_view bytes) { all += bytes; });
  formats().front().render({.blocks = std::move(blocks)}, narrow, sink);
  sink.flush();
  std::vector<std::string> lines;
  for (const std::string_view line : split_at(all, '\n')) {
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

void put_lines(Grid& grid, Area area, const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < std::min(lines.size(), area.rows); ++i) {
    const bool is_cut = i + 1 == area.rows && lines.size() > area.rows;
    grid.put_line(area.row + i, area.column, is_cut ? " …" : lines[i], area.column + area.columns);
  }
}

bool is_exact(double value) { return parse_number<double>(attn::written(Quantity(value))) == value; }

// "= 0.5", or "≈ 0.7558" where there are more digits.
// In a sentence, where very large and very small numbers have exponents.
std::string compact_number(double value) {
  if (std::isnan(value)) return "NaN";
  const double size = std::fabs(value);
  const bool is_plain = std::isfinite(value) && (size == 0.0 || (size >= 1e-4 && size < 1e7));
  return is_plain ? attn::written(Quantity(value)) : written_value(value);
}

std::string with_equality_sign(double value) {
  return fmt::format("{} {}", is_exact(value) || !std::isfinite(value) ? "=" : "≈", compact_number(value));
}

// A softmax of numbers. Where a score is NaN or ∞, the arithmetic itself says what comes of it.
bool is_shown_as_shares(const Cell& cell) {
  const Node& weights = cell.node->original();
  if (weights.op != &op::softmax) return false;
  const std::vector<double> scores = weights.operands.front()->row(cell.row);
  return std::ranges::all_of(scores, [](double x) { return std::isfinite(x) || (std::isinf(x) && x < 0); });
}

}  // namespace attn
