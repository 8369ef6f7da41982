#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/support/outside.hpp"
#include "page/block/page.hpp"
#include "page/render/style.hpp"

namespace attn {

/// The most numbers that a page for browsers computes with, and shows in tables; a single larger table is
/// left out, and its numbers are part of the page all the same.
constexpr std::size_t most_numbers_in_browser = 2'000'000, most_cells_in_browser = 150'000,
                      most_cells_of_table = 10'000;

/// Throws InputError when a computation has more numbers than that. Nothing is computed for it.
void require_room_in_browser(const Graph& graph);

/// What a page says of the command line that it was made by.
struct MadeBy {
  std::string command;            // its name
  std::vector<std::string> line;  // its words, without those that ask for a page
  std::string scale;              // the option that gives the divisor of the scores; empty: there is none
  std::string random;             // which numbers are random, in a sentence; empty: none is
};

/// Writes a page that a browser shows and computes: one file, which asks for nothing else. What `page` says
/// is all there without scripts; of matrices that it has no table of, there are tables behind it.
void write_browser_page(const Page& page, const Graph& graph, const MadeBy& made_by, const Style& style, Sink& sink);

}  // namespace attn
