#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/support/outside.hpp"
#include "data/problem/problem.hpp"
#include "page/block/page.hpp"
#include "page/render/style.hpp"
#include "school/browser/story.hpp"

namespace attn {

/// The most numbers that a page for browsers computes with, and shows in tables; a single larger table is
/// left out, and its numbers are part of the page all the same.
constexpr std::size_t most_numbers_in_browser = 2'000'000, most_cells_in_browser = 150'000, most_cells_of_table = 4'000,
                      most_columns_of_table = 256;

/// Throws InputError when a computation has more numbers than that. Nothing is computed for it.
void require_room_in_browser(const Graph& graph);

/// The command line that a page was made by.
struct PageOrigin {
  std::string command = {};            // its name
  std::vector<std::string> line = {};  // its words, without those that ask for a page
  std::string scale = {};              // the option that gives the divisor of the scores; empty: there is none
  bool takes_changes = false;          // whether attn what-if makes changes to what it computes
};

/// Throws InputError when no query of the attention weights is called so, or there are no weights.
void require_query(const std::string& word, const Graph& graph);

/// What a page for browsers is about.
struct ComputationInBrowser {
  const Graph& graph;
  const Calculation& drawn;  // knows which inputs were drawn, and how
  const PageOrigin& made_by;
  std::string_view random;          // says beside the answer which numbers are random; empty: none is
  Story story = {};                 // told beside what is computed
  std::optional<std::string> word;  // the query that is asked about first, as require_query() knows it; nothing: the
                                    // one that gives another word the largest weight
};

/// Writes a page that a browser shows and computes: one file, which asks for nothing else. What `page` says
/// is all there without scripts; of matrices that it has no table of, there are tables behind it.
void write_browser_page(const Page& page, const ComputationInBrowser& about, const Style& style, Sink& sink);

}  // namespace attn
