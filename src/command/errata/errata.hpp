#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"
#include "page/block/page.hpp"

namespace attn {

/// A place where published texts err or disagree, and how the program shows it.
struct Erratum {
  std::string_view name;  // "E6"
  std::string_view where;
  std::string_view what;
  void (*demonstrate)(Page& page, Graph& graph);  // what is wrong, what is right, and the numbers
  std::string_view more = {};                     // a command that shows more of it
};

std::span<const Erratum> errata();

// The demonstrations. Each adds blocks to the page, and nodes to the graph and the trace.
void show_filled_weights(Page& page, Graph& graph);
void show_columns_and_rows(Page& page, Graph& graph);
void show_one_letter_for_two(Page& page, Graph& graph);
void show_additive_cost(Page& page, Graph& graph);
void show_dropped_norms(Page& page, Graph& graph);
void show_root_of_length(Page& page, Graph& graph);
void show_sizes_of_heads(Page& page, Graph& graph);
void show_split_heads(Page& page, Graph& graph);
void show_alignment_variants(Page& page, Graph& graph);
void show_wrong_index(Page& page, Graph& graph);
void show_overflow(Page& page, Graph& graph);
void show_convolution_paths(Page& page, Graph& graph);
void show_own_word_not_highest(Page& page, Graph& graph);
void show_layouts_of_sinusoids(Page& page, Graph& graph);
void show_norm_before_and_after(Page& page, Graph& graph);
void show_sets_of_a_decoder_layer(Page& page, Graph& graph);
void show_masked_embeddings(Page& page, Graph& graph);
void show_index_of_the_state(Page& page, Graph& graph);
void show_shift_and_mask(Page& page, Graph& graph);
void show_first_state(Page& page, Graph& graph);

// What demonstrations have in common.

/// Formulas and tables of some nodes, which become part of the page's trace.
void show(Page& page, const std::vector<Value>& values);

/// A built-in example, computed into the graph.
void solve_example(std::string_view name, Graph& graph);

/// The node of that name, as a value.
Value at(Graph& graph, std::string_view name);

/// An input of different small numbers of both signs.
Value small_numbers(Graph& graph, const Name& name, Shape shape);

/// One row of numbers as an input.
Value row_of_numbers(Graph& graph, const Name& name, const std::vector<double>& numbers);

/// The sum of a row.
double sum_of_row(const Value& value, std::size_t i);

}  // namespace attn
