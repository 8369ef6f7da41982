#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command/computed_problem.hpp"
#include "core/graph/plan.hpp"
#include "core/model/layers.hpp"

namespace attn {

/// What Work holds, as the end of such a row, and what these columns mean.
extern const std::vector<std::string> work_columns;
Listing meaning_of_work_columns();
std::vector<double> numbers(const Work& work);

/// The kinds of layers at these sizes: what they are, by formula, and built and counted where they are small.
void add_layers(QuantityPage& page, LayerSizes sizes);
/// How many layers it takes until the ends of a sequence meet, for convolutions with kernel k.
void add_paths(QuantityPage& page, std::size_t k);
/// Up to which length self-attention is cheaper than the others.
void add_crossover(QuantityPage& page, LayerSizes sizes);

/// Lengths far beyond those at which self-attention is cheaper: multiply-adds, and the memory of its weights.
void add_long_sequences(QuantityPage& page, std::size_t d);
/// The time and the memory that they take on this machine.
void measure_long_sequences(QuantityPage& page);

/// Eight heads against one as wide, counted: on n words of size d where these are given, and else on those of
/// a usual size.
void add_heads(QuantityPage& page, std::optional<std::size_t> n, std::optional<std::size_t> d);
/// The scoring functions on the same queries and keys, counted.
void add_scores(QuantityPage& page, LayerSizes sizes);

/// The time that every kind of layer and every scoring function takes on this machine.
void add_measurements(QuantityPage& page);

}  // namespace attn
