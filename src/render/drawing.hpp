#pragma once

#include "page/page.hpp"
#include "render/style.hpp"
#include "support/sink.hpp"

namespace attn {

// Drawings and lists made of characters, one file each. They keep to the style's width, or to 80 columns
// without one.

/// One or two blanks for each cell, colored as in a table, or where there are no colors signs in steps.
/// Columns are left out evenly where there is no room, and rows of a large matrix unless all of it is asked
/// for. A cell that is not finite is a question mark.
void write_heat_map(const HeatMap& map, const Style& style, Sink& sink);

/// Curves on a grid of characters, with a sign of its own for each and the range of both axes. Points that
/// are not finite, or not positive on a logarithmic axis, are passed over.
void write_plot(const Plot& plot, const Style& style, Sink& sink);

/// Boxes in rows, each below those that lead to it, with lines that fork and join between the rows. Lines
/// that would have to cross share a corner: what is drawn is to be planar.
void write_flow(const Flow& flow, const Style& style, Sink& sink);

/// Rows of words in columns, each broken into lines where there is no room.
void write_listing(const Listing& listing, const Style& style, Sink& sink);

/// The entries of a legend, in as many lines of at most `width` columns as they need.
void write_entries(const std::vector<std::string>& entries, std::size_t width, Sink& sink);

}  // namespace attn
