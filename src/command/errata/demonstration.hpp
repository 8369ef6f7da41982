#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "page/page.hpp"

namespace attn {

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
