#pragma once

#include "page/page.hpp"
#include "render/style.hpp"
#include "support/sink.hpp"

namespace attn {

/// Writes a table for a terminal or a plain file: labelled rows and columns, decimal points in one line,
/// masked cells as `·` with a legend, cells shaded where there is color, and rows and columns left out where
/// the style has a width, with their counts.
void write_text_table(const Table& table, const Style& style, Sink& sink);

/// Small tables beside each other as far as the width allows (80 columns where there is no terminal), then
/// below.
void write_side_by_side(const std::vector<Table>& tables, const Style& style, Sink& sink);

}  // namespace attn
