#pragma once

#include <memory>
#include <string>
#include <vector>

#include "document/living.hpp"
#include "puzzle/assignment.hpp"
#include "puzzle/misses.hpp"
#include "puzzle/puzzle.hpp"

namespace attn {

/// A property of a puzzle on one of its inputs, and where it does not hold.
struct PropertyVerdict {
  const Property* property = nullptr;
  std::size_t input = 0;
  std::vector<Miss> misses = {};
};

/// A puzzle with numbers in place of its unknowns.
struct Trial {
  Settings settings;
  std::vector<std::shared_ptr<const Graph>> graphs = {};  // one for each input
  std::vector<PropertyVerdict> verdicts = {};             // input by input
  std::vector<std::string> notes = {};  // of those whose property holds, unless it is solved

  bool is_solved() const;
  /// The first input on which something does not hold, or the first of all.
  std::size_t telling_input() const;
};

/// Computes what the settings make of the puzzle's commands and looks at its properties. The commands of an
/// author take no more than a document's may. Throws InputError where they cannot be computed so.
Trial tried(const Puzzle& puzzle, Settings settings, const RunCommand& run);

/// What an author of a puzzle has to know, as sentences: it is solved before anything is set, its solution is
/// none, it has no hint.
std::vector<std::string> faults_of(const Puzzle& puzzle, const RunCommand& run);

}  // namespace attn
