#include "puzzle/show.hpp"

#include <fmt/format.h>

#include <set>

#include "support/number.hpp"
#include "support/text.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

std::string of_inputs(const Puzzle& puzzle, std::size_t input) {
  return fmt::format("input {} of {}", input + 1, puzzle.commands.size());
}

Table table_of(const Unknown& unknown, const Matrix& matrix) {
  Table table;
  table.title = unknown.name();
  table.rows = axis("rows");
  table.columns = axis("columns");
  table.cells = std::make_shared<const Matrix>(matrix);
  return table;
}

}  // namespace

std::vector<Block> opening_of(const Puzzle& puzzle, int level) {
  std::vector<std::string> names;
  for (const Unknown& unknown : puzzle.unknowns)
    names.push_back(fmt::format("{} ({})", unknown.name(), to_string(unknown.start.shape())));
  std::vector<Block> blocks;
  if (!puzzle.title.empty()) blocks.emplace_back(Heading{level, text("Puzzle: ", puzzle.title)});
  blocks.emplace_back(
      Note{Note::Kind::question, {text(puzzle.ask), text("You set ", strong(listed(names)), ".")}});
  return blocks;
}

std::vector<const Node*> shown_of(const Puzzle& puzzle, const Graph& graph) {
  const std::vector<std::string> names =
      puzzle.shows.empty() ? std::vector<std::string>{"weights"} : puzzle.shows;
  std::vector<const Node*> shown;
  for (const std::string& name : names) {
    for (const Node* node : graph.matching(name)) shown.push_back(node);
  }
  return shown;
}

std::vector<Block> numbers_of(const Puzzle& puzzle, const Trial& trial) {
  SideBySide set, made;
  for (std::size_t i = 0; i < trial.settings.size(); ++i)
    set.tables.push_back(table_of(puzzle.unknowns[i], trial.settings[i]));
  const std::size_t input = trial.telling_input();
  for (const Node* node : shown_of(puzzle, *trial.graphs[input]))
    made.tables.push_back(attn::table_of(*node));
  std::vector<Block> blocks = {std::move(set)};
  if (puzzle.commands.size() > 1) blocks.emplace_back(Prose{text("With ", of_inputs(puzzle, input), ":")});
  blocks.emplace_back(std::move(made));
  return blocks;
}

Block verdict_of(const Puzzle& puzzle, const Trial& trial) {
  constexpr std::size_t most = 3;
  const std::size_t inputs = puzzle.commands.size();
  if (trial.is_solved()) {
    const std::string where = inputs == 1   ? ""
                              : inputs == 2 ? " It holds on both inputs."
                                            : fmt::format(" It holds on all {} inputs.", inputs);
    return Note{Note::Kind::correct, {text(strong("Solved."), where)}};
  }
  Note note{Note::Kind::wrong, {}};
  std::set<std::string> told;  // one miss says enough of a row
  for (const PropertyVerdict& verdict : trial.verdicts) {
    if (verdict.input != trial.telling_input()) continue;
    for (const Miss& miss : verdict.misses) {
      if (!told.insert(miss.about).second || told.size() > most) continue;
      note.lines.push_back(note.lines.empty() ? text(strong("Not yet. "), miss.says) : text(miss.says));
    }
  }
  if (told.size() > most)
    note.lines.push_back(text(fmt::format("Not yet as it should be: {} more.", told.size() - most)));
  for (const std::string& says : trial.notes) note.lines.push_back(text(says));
  return note;
}

Listing properties_of(const Puzzle& puzzle, const Trial& trial) {
  Listing listing{{"property", "input", "holds", "says"}, {}};
  listing.shown = 0;
  for (const PropertyVerdict& verdict : trial.verdicts) {
    std::string says;
    for (const Miss& miss : verdict.misses) says += (says.empty() ? "" : " ") + miss.says;
    listing.rows.push_back({verdict.property->text, of_inputs(puzzle, verdict.input),
                            verdict.misses.empty() ? "yes" : "no", std::move(says)});
  }
  return listing;
}

}  // namespace attn
