#pragma once

#include <vector>

#include "page/page.hpp"
#include "puzzle/trial.hpp"

namespace attn {

/// What a puzzle asks for: its title, its task, and what is set. `level` is that of its heading; without one,
/// it stands within a lesson.
std::vector<Block> opening_of(const Puzzle& puzzle, int level = 2);

/// The numbers that are set, and what becomes of them on the most telling input: weights are shaded.
std::vector<Block> numbers_of(const Puzzle& puzzle, const Trial& trial);

/// The matrices of a computation that the puzzle shows.
std::vector<const Node*> shown_of(const Puzzle& puzzle, const Graph& graph);

/// Whether it is solved, and if not, what is wrong.
Block verdict_of(const Puzzle& puzzle, const Trial& trial);

/// Every property on every input, for machine formats; text leaves it out.
Listing properties_of(const Puzzle& puzzle, const Trial& trial);

}  // namespace attn
