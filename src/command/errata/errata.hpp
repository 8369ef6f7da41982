#pragma once

#include <span>
#include <string_view>

#include "page/page.hpp"

namespace attn {

/// A place where the documents err or disagree, and how the program shows it.
struct Erratum {
  std::string_view name;  // "E6"
  std::string_view where;
  std::string_view what;
  std::string_view command;                       // that shows it
  void (*demonstrate)(Page& page, Graph& graph);  // its numbers; null: the command has them
};

std::span<const Erratum> errata();

// The demonstrations. Each adds blocks to the page, and nodes to the graph and the trace.
void show_columns_and_rows(Page& page, Graph& graph);
void show_one_letter_for_two(Page& page, Graph& graph);
void show_sizes_of_heads(Page& page, Graph& graph);
void show_root_of_length(Page& page, Graph& graph);
void show_wrong_index(Page& page, Graph& graph);
void show_overflow(Page& page, Graph& graph);
void show_own_word_not_highest(Page& page, Graph& graph);
void show_layouts_of_sinusoids(Page& page, Graph& graph);
void show_norm_before_and_after(Page& page, Graph& graph);

}  // namespace attn
