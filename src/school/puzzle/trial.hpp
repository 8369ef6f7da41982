#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "page/block/page.hpp"
#include "page/document/document_outputs.hpp"
#include "school/puzzle/misses.hpp"
#include "school/puzzle/puzzle.hpp"

namespace attn {

/// The numbers of each unknown of a puzzle, in their order.
using Settings = std::vector<Matrix>;

/// Those that it begins with.
Settings settings_at_start(const Puzzle& puzzle);

/// Reads a matrix of this shape as people type it: `1 0; 0 1` or `[[1,0],[0,1]]`. A number may be an
/// expression without blanks, such as `1/2` or `cos(1)`. `name` is for messages. Throws InputError: another
/// shape, or a cell that is not a finite number.
Matrix read_numbers(std::string_view text, std::string_view name, Shape shape);

/// Sets what a line says: `w_q = 1 0; 0 1`, or one cell: `w_q[1,2] = 3`, where one number is enough for a
/// single row or column. Where a puzzle has one unknown, its numbers need no name. Throws InputError and sets
/// nothing.
void assign(const Puzzle& puzzle, std::string_view line, Settings& settings);

/// A matrix as it can be typed, with all digits.
std::string matrix_as_typed(const Matrix& matrix);

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
  std::vector<std::string> notes = {};                    // of those whose property holds, unless it is solved

  bool is_solved() const;
  /// The first input on which something does not hold, or the first of all.
  std::size_t telling_input() const;
};

/// Computes what the settings make of the puzzle's commands and looks at its properties. The commands of an
/// author take no more than a document's may. Throws InputError where they cannot be computed so.
Trial trial_of(const Puzzle& puzzle, Settings settings, const RunCommand& run);

/// What an author of a puzzle has to know, as sentences: it is solved before anything is set, its solution is
/// none, it has no hint.
std::vector<std::string> faults_of(const Puzzle& puzzle, const RunCommand& run);

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
