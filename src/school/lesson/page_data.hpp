#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/files/json_writer.hpp"
#include "page/document/document_outputs.hpp"
#include "school/puzzle/puzzle.hpp"
#include "school/tutor/question.hpp"

namespace attn {

/// Where a number that is set stands in a computation: in a cell of an input, or as an attribute of an
/// operation.
struct SetPlace {
  std::size_t unknown = 0, cell = 0;  // which number of which matrix, counted row by row
  const Node* node = nullptr;
  std::size_t place = 0;       // of the node's cells
  std::string attribute = {};  // empty: a cell
};

/// One input of a puzzle as a page plays it, with the numbers that the puzzle begins with.
struct PlayedInput {
  std::shared_ptr<const Graph> graph;
  std::vector<const Node*> nodes = {};  // with all behind them
  std::vector<const Node*> shown = {};
  std::vector<SetPlace> places = {};
};

/// The inputs of a puzzle, if setting a number only puts it in its places; nothing where it changes more,
/// so that only the program can play the puzzle. Each number is tried.
std::optional<std::vector<PlayedInput>> played_inputs(const Puzzle& puzzle, const RunCommand& run);

/// Writes a puzzle with its task, its help and all comparisons of its properties, as trees over cells.
/// `computations` says which computation of the page has each input.
void write_puzzle(const Puzzle& puzzle, std::string_view key, const std::vector<PlayedInput>& inputs,
                  const std::vector<std::size_t>& computations, JsonWriter& json);

/// The most other numbers of a computation that a page recognises in an answer, the nearest first.
constexpr std::size_t most_other_numbers_on_page = 80;

/// Writes a question as JSON, with all that is needed to judge answers and to say what went wrong: the answer
/// is there, readable for everybody. `key` is what answers to it are kept by.
void write_question(const SolvedQuestion& solved, std::string_view key, JsonWriter& json);

}  // namespace attn
