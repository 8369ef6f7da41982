#pragma once

#include "page/page.hpp"
#include "render/style.hpp"
#include "support/sink.hpp"

namespace attn {

/// Writes a table for a terminal or a plain file: labelled rows and columns, decimal points in one line,
/// masked cells as `·` with a legend, cells shaded where there is color. Where the style has a width, a table
/// that is wider has its name above it, narrower gaps, fewer decimals, and at last fewer columns; a long one
/// has fewer rows. What was left out is counted below it.
void write_text_table(const Table& table, const Style& style, Sink& sink);

/// Small tables beside each other as far as the width allows (80 columns where there is no terminal), then
/// below.
void write_side_by_side(const std::vector<Table>& tables, const Style& style, Sink& sink);

/// A product as people draw it where there is room (80 columns without a terminal), and otherwise its tables
/// one after the other.
void write_product(const ProductBlock& product, const Style& style, Sink& sink);

}  // namespace attn
