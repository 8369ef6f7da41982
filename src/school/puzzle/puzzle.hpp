#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/problem/option.hpp"
#include "page/document/document.hpp"

namespace attn {

/// How two quantities are compared.
struct Relation {
  std::array<std::string_view, 2> signs;  // "≥", ">="
  std::string_view words;                 // "at least"
  bool (*holds)(double value, double bound, double tolerance);
  bool is_equality = false;  // only this one also compares words and shapes, and may have a tolerance
};

/// The places that a variable stands for: `i = 2..n_q`. Both ends are expressions.
struct PlaceRange {
  std::string variable, first, last;
};

/// What the numbers of a computation are to have: `weights[i,i-1] >= 0.9 for i = 2..n_q`. It compares two
/// quantities (core/term/quantity.hpp), once for all places of its ranges.
struct Property {
  std::string text;  // as its author wrote it
  std::string left, right;
  const Relation* relation = nullptr;
  double tolerance = 0.0;  // of an equality between numbers
  std::vector<PlaceRange> ranges;
};

/// Reads `LEFT SIGN RIGHT [± TOLERANCE] [for i = FIRST..LAST, …]`. The signs are ≥ >= ≤ <= > < =, and the
/// tolerance of an equality is 0.01 where none is given. Throws InputError.
Property read_property(std::string_view text);

/// A puzzle that is built in: a file of the folder lessons/puzzles/.
struct PuzzleFile {
  std::string_view name;  // "look-back" of 06-look-back.md
  std::string_view path;
  std::string_view text;
};

/// All of them, in the order of their numbers.
std::span<const PuzzleFile> puzzle_files();

/// What one sets: an option of the commands that the puzzle is about, with a matrix or a number as its value.
struct Unknown {
  const Option* option = nullptr;
  Matrix start;  // what it is as long as nobody sets it; its shape stays

  std::string_view name() const { return option->member; }
};

/// What is said to one whose numbers have a property, as long as the puzzle is not solved.
struct PuzzleNote {
  Property when;
  std::string says;
};

/// A computation in which some numbers are missing, and properties that its numbers are to have. Any numbers
/// that give them these properties are a solution.
struct Puzzle {
  std::string name;  // of one that is built in; empty: another one
  std::string title;
  std::string level;
  std::string ask;  // what to make
  // The words of one command for each input on which the properties are to hold, and where it is written.
  struct Command {
    std::vector<std::string> words;
    Place place;
  };
  std::vector<Command> commands;
  std::vector<Unknown> unknowns;
  std::vector<std::string> shows;  // names of the matrices that are shown after each try
  std::vector<Property> holds;
  std::vector<PuzzleNote> notes;
  std::vector<std::string> hints;
  std::vector<std::string> solution;            // one assignment for each unknown, the last step of help
  std::optional<std::filesystem::path> folder;  // whose files its commands may read; without one, none
  Place place;
};

/// Reads a block of lines `key: value`. One that has only a name is the puzzle of that name that is built in.
/// Throws InputError with path and line: an unknown key, one that is missing or given twice, a matrix that
/// cannot be set, a property that cannot be read.
Puzzle read_puzzle(const Document& document, const FencedBlock& block);

/// A puzzle that is built in, by its name or its number, or the first one in a file whose name ends in .md.
/// Throws InputError.
Puzzle find_puzzle(const std::string& word);

/// All that are built in.
std::vector<Puzzle> built_in_puzzles();

}  // namespace attn
