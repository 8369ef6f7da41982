#include "school/puzzle/puzzle.hpp"

#include <algorithm>
#include <array>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/matrix_file.hpp"
#include "data/problem/problem_options.hpp"
#include "school/puzzle/trial.hpp"

namespace attn {

namespace {

// From easy to hard.
constexpr std::array<std::string_view, 4> difficulties = {"very easy", "easy", "medium", "hard"};
constexpr std::size_t largest_side = 64;

std::vector<std::string> command_words(const Entry& entry) {
  return command_lines(command_or_options(entry.value), "on", entry.line).front().words;
}

std::string level_of(const std::string& value) {
  if (std::ranges::find(difficulties, value) != difficulties.end()) return value;
  fail_unknown("level", value, {difficulties.begin(), difficulties.end()});
}

// What can be set: a matrix, or a number, which is a matrix of one cell.
const Option& settable(std::string_view member) {
  std::vector<std::string> names;
  for (const OfferedOption& offered : problem_options().options) {
    const Option& option = *offered.option;
    const bool is_number = option.kind == Kind::number || option.kind == Kind::word_or_number;
    if (option.member.empty() || (option.kind != Kind::matrix && option.kind != Kind::matrices && !is_number)) continue;
    if (option.member == member) return option;
    names.emplace_back(option.member);
  }
  fail_unknown("matrix to set", member, names);
}

// `w_q 4x4`, `scale 1x1 = 8`.
Unknown unknown_of(const Entry& entry) {
  const std::size_t equals = entry.value.find('=');
  const std::vector<std::string> words = split_at_any(entry.value.substr(0, equals), " \t");
  if (words.size() != 2) fail("set: write a name and a shape, such as w_q 4x4");
  const std::size_t times = words[1].find_first_not_of("0123456789");
  const std::string_view sign = std::string_view(words[1]).substr(std::min(times, words[1].size()));
  const std::size_t length = sign.starts_with("×") ? std::string_view("×").size() : 1;
  if (sign.size() <= length || (sign.front() != 'x' && !sign.starts_with("×")))
    fail("set: '{}' is no shape: write one such as 4x4", words[1]);
  const Shape shape{whole_number("the number of rows", words[1].substr(0, times), 1, largest_side),
                    whole_number("the number of columns", sign.substr(length), 1, largest_side)};
  Unknown unknown{&settable(words[0]), Matrix(shape, 0.0)};
  if (equals != std::string::npos)
    unknown.start = read_numbers(std::string_view(entry.value).substr(equals + 1), unknown.name(), shape);
  return unknown;
}

PuzzleNote note_of_puzzle(const std::string& value) {
  constexpr std::string_view arrow = "=>";
  const std::size_t at = value.find(arrow);
  if (at == std::string::npos) fail("note: write a property, =>, and a sentence: weights[1,2] > 0.5 => …");
  PuzzleNote note{read_property(std::string_view(value).substr(0, at)),
                  std::string(trimmed(std::string_view(value).substr(at + arrow.size())))};
  if (note.says.empty()) fail("note: the sentence after => is missing");
  return note;
}

struct PuzzleKey {
  std::string_view name;
  bool repeats;
  void (*set)(Puzzle& puzzle, const Entry& entry);
};

constexpr std::array keys_in_puzzle_files = {
    PuzzleKey{"name", false, [](Puzzle& puzzle, const Entry& entry) { puzzle.name = entry.value; }},
    PuzzleKey{"title", false, [](Puzzle& puzzle, const Entry& entry) { puzzle.title = entry.value; }},
    PuzzleKey{"level", false, [](Puzzle& puzzle, const Entry& entry) { puzzle.level = level_of(entry.value); }},
    PuzzleKey{"ask", false, [](Puzzle& puzzle, const Entry& entry) { puzzle.ask = entry.value; }},
    PuzzleKey{"on", true,
              [](Puzzle& puzzle, const Entry& entry) {
                puzzle.commands.push_back({command_words(entry), {puzzle.place.path, entry.line}});
              }},
    PuzzleKey{"set", true, [](Puzzle& puzzle, const Entry& entry) { puzzle.unknowns.push_back(unknown_of(entry)); }},
    PuzzleKey{"show", false,
              [](Puzzle& puzzle, const Entry& entry) { puzzle.shows = split_at_any(entry.value, ", "); }},
    PuzzleKey{"holds", true,
              [](Puzzle& puzzle, const Entry& entry) { puzzle.holds.push_back(read_property(entry.value)); }},
    PuzzleKey{"note", true,
              [](Puzzle& puzzle, const Entry& entry) { puzzle.notes.push_back(note_of_puzzle(entry.value)); }},
    PuzzleKey{"hint", true, [](Puzzle& puzzle, const Entry& entry) { puzzle.hints.push_back(entry.value); }},
    PuzzleKey{"solution", true, [](Puzzle& puzzle, const Entry& entry) { puzzle.solution.push_back(entry.value); }},
};

void check_whole_puzzle(const Puzzle& puzzle) {
  if (puzzle.ask.empty()) fail("the puzzle has no task: give it a line ask: …");
  if (puzzle.commands.empty()) fail("the puzzle computes nothing: give it a line on: --example NAME");
  if (puzzle.unknowns.empty()) fail("there is nothing to set: give the puzzle a line set: w_q 4x4");
  if (puzzle.holds.empty()) fail("the puzzle has no property: give it a line holds: weights[1,2] > 0.9");
  for (auto unknown = puzzle.unknowns.begin(); unknown != puzzle.unknowns.end(); ++unknown) {
    if (std::ranges::find(puzzle.unknowns.begin(), unknown, unknown->option, &Unknown::option) != unknown)
      fail("{} is to be set twice: give one line set: {}", unknown->name(), unknown->name());
  }
}

Puzzle built_in_puzzle(const PuzzleFile& file) {
  const Document document = read_document(file.text, std::string(file.path));
  Puzzle puzzle = read_puzzle(document, document.puzzles.front());
  puzzle.name = file.name;
  puzzle.folder.reset();
  return puzzle;
}

Puzzle first_in_file(const std::string& path) {
  const Document document = read_document(read_bytes(path), path);
  if (document.puzzles.empty()) fail("{} has no block of puzzle: begin one with a line ```puzzle", path);
  return read_puzzle(document, document.puzzles.front());
}

}  // namespace

Puzzle read_puzzle(const Document& document, const FencedBlock& block) {
  Puzzle puzzle;
  puzzle.place = document.at(block.first_line);
  puzzle.folder = document.folder;
  const std::vector<Entry> entries = entries_of(document, block.first_line + 1, block.last_line, block.margin);
  set_by_keys(std::span<const PuzzleKey>(keys_in_puzzle_files), "key of a puzzle", entries, document.path, puzzle);
  if (entries.size() == 1 && !puzzle.name.empty()) {
    Puzzle named =
        at_place(puzzle.place, [&] { return built_in_puzzle(look_up(puzzle_files(), puzzle.name, "puzzle")); });
    named.place = puzzle.place;
    return named;
  }
  at_place(puzzle.place, [&] {
    if (!puzzle.name.empty()) fail("a puzzle of your own has no name: give it a line title: instead");
    check_whole_puzzle(puzzle);
  });
  return puzzle;
}

Puzzle find_puzzle(const std::string& word) {
  if (word.ends_with(".md")) return first_in_file(word);
  const std::span<const PuzzleFile> files = puzzle_files();
  if (const std::optional<std::size_t> number = parse_number<std::size_t>(word)) {
    if (*number < 1 || *number > files.size())
      fail("there is no puzzle {}. The puzzles are numbered 1 to {}", word, files.size());
    return built_in_puzzle(files[*number - 1]);
  }
  return built_in_puzzle(look_up(files, word, "puzzle"));
}

std::vector<Puzzle> built_in_puzzles() {
  std::vector<Puzzle> puzzles;
  for (const PuzzleFile& file : puzzle_files()) puzzles.push_back(built_in_puzzle(file));
  return puzzles;
}

}  // namespace attn
