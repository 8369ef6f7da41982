#include "school/puzzle/trial.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "core/term/quantity.hpp"
#include "page/tell/describe.hpp"
#include "school/tutor/judge.hpp"

namespace attn {

namespace {

// --- trial

std::vector<std::string> with_settings(std::vector<std::string> words, const Puzzle& puzzle, const Settings& settings) {
  for (std::size_t i = 0; i < settings.size(); ++i) {
    words.emplace_back(puzzle.unknowns[i].option->name);
    words.push_back(matrix_as_typed(settings[i]));
  }
  return words;
}

// The options that are set stand in no line of the puzzle: a complaint says to what they are added.
CommandResult result_of_trial(const Puzzle::Command& command, const Puzzle& puzzle, const Settings& settings,
                              const RunCommand& run) {
  CommandResult result;
  try {
    result = run_alone(with_settings(command.words, puzzle, settings), run);
  } catch (const InputError& error) {
    fail_at(command.place, "on: attn {}, to which the numbers to set are added: {}", fmt::join(command.words, " "),
            error.what());
  }
  if (!result.computation.graph)
    fail_at(command.place, "attn {} computes nothing: give attn walk or another step", command.words.front());
  return result;
}

// --- assignment

// Words between blanks and commas that stand in no parentheses.
std::vector<std::string> words_of_row(std::string_view row) {
  std::vector<std::string> words(1);
  int depth = 0;
  for (const char c : row) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    const bool separates = depth == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',');
    if (!separates) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

double number_of(const std::string& word, std::string_view name) {
  const Quantity quantity = look_up_quantity(word, nullptr).quantity;
  const double* const number = std::get_if<double>(&quantity);
  if (!number || !std::isfinite(*number)) fail("{}: '{}' is not a finite number", name, word);
  return *number;
}

// `[[1,0],[0,1]]` as `1,0; 0,1`.
std::string without_brackets(std::string_view text) {
  std::string result;
  int depth = 0;
  for (const char c : text) {
    if (c == ']') --depth;
    if (c == '[') {
      ++depth;
    } else if (c == ',' && depth == 1) {
      result += ';';
    } else if (c != ']') {
      result += c;
    }
  }
  return result;
}

std::string zeros(Shape shape) { return matrix_as_typed(Matrix(shape, 0.0)); }

const Unknown& unknown_called(const Puzzle& puzzle, std::string_view name) {
  std::vector<std::string> names;
  for (const Unknown& unknown : puzzle.unknowns) {
    if (unknown.name() == name) return unknown;
    names.emplace_back(unknown.name());
  }
  if (names.size() == 1) fail("'{}' cannot be set: set {}", name, names.front());
  fail("'{}' cannot be set: set one of {}", name, list_in_words(names));
}

// The place in `[2,3]`; of a single row or column, one number is enough.
std::pair<std::size_t, std::size_t> place_in_brackets(std::string_view brackets, std::string_view name, Shape shape) {
  std::vector<std::string_view> pieces = split_at(brackets);
  if (pieces.size() == 1 && shape.rows == 1) pieces.insert(pieces.begin(), "1");
  if (pieces.size() == 1 && shape.columns == 1) pieces.emplace_back("1");
  if (pieces.size() != 2) fail("{}[{}]: write a row and a column: {}[1,1]", name, brackets, name);
  return {whole_number("the row", trimmed(pieces[0]), 1, shape.rows) - 1,
          whole_number("the column", trimmed(pieces[1]), 1, shape.columns) - 1};
}

// What can be typed.
std::string forms_of(const Puzzle& puzzle) {
  std::vector<std::string> names;
  for (const Unknown& unknown : puzzle.unknowns) names.emplace_back(unknown.name());
  const Unknown& first = puzzle.unknowns.front();
  return fmt::format("give all numbers of {}, such as {} = {}, or one of them, such as {}[1,1] = 3",
                     fmt::join(names, " or "), first.name(), zeros(first.start.shape()), first.name());
}

std::vector<std::vector<std::string>> rows_of_words(std::string_view text) {
  const std::string plain =
      trimmed(text).starts_with('[') ? without_brackets(trimmed(text)) : std::string(trimmed(text));
  std::vector<std::vector<std::string>> rows;
  for (const std::string_view row : split_at(plain, ';')) rows.push_back(words_of_row(row));
  if (rows.size() > 1 && rows.back().empty()) rows.pop_back();  // a last ; says nothing
  return rows;
}

// Whether it holds numbers and nothing else.
bool are_numbers(std::string_view text) {
  try {
    std::size_t count = 0;
    for (const std::vector<std::string>& row : rows_of_words(text)) {
      for (const std::string& word : row) number_of(word, text);
      count += row.size();
    }
    return count > 0;
  } catch (const InputError&) {
    return false;
  }
}

// --- show

std::string of_inputs(const Puzzle& puzzle, std::size_t input) {
  return fmt::format("input {} of {}", input + 1, puzzle.commands.size());
}

Table table_of_unknown(const Unknown& unknown, const Matrix& matrix) {
  Table table;
  table.title = unknown.name();
  table.rows = axis("rows");
  table.columns = axis("columns");
  table.cells = std::make_shared<const Matrix>(matrix);
  return table;
}

}  // namespace

// --- trial

bool Trial::is_solved() const {
  return std::ranges::all_of(verdicts, [](const PropertyVerdict& verdict) { return verdict.misses.empty(); });
}

std::size_t Trial::telling_input() const {
  const auto first =
      std::ranges::find_if(verdicts, [](const PropertyVerdict& verdict) { return !verdict.misses.empty(); });
  return first == verdicts.end() ? 0 : first->input;
}

Trial trial_of(const Puzzle& puzzle, Settings settings, const RunCommand& run) {
  const OptionalSandbox guest(puzzle.name.empty(), puzzle.folder);
  Trial trial{std::move(settings)};
  for (const Puzzle::Command& command : puzzle.commands) {
    const CommandResult result = result_of_trial(command, puzzle, trial.settings, run);
    const std::size_t input = trial.graphs.size();
    trial.graphs.push_back(result.computation.graph);
    for (const Property& property : puzzle.holds)
      trial.verdicts.push_back({&property, input, misses_of(property, *trial.graphs.back())});
  }
  if (trial.is_solved()) return trial;
  for (const PuzzleNote& note : puzzle.notes) {
    if (holds(note.when, *trial.graphs[trial.telling_input()])) trial.notes.push_back(note.says);
  }
  return trial;
}

std::vector<std::string> faults_of(const Puzzle& puzzle, const RunCommand& run) {
  std::vector<std::string> faults;
  if (puzzle.hints.empty()) faults.emplace_back("the puzzle has no hint: give it a line hint:");
  try {
    if (trial_of(puzzle, settings_at_start(puzzle), run).is_solved())
      faults.emplace_back("the puzzle is solved before anything is set: begin with other numbers");
  } catch (const InputError& error) {
    faults.push_back(
        fmt::format("the puzzle cannot be computed with the numbers that it begins with: {}", error.what()));
  }
  if (puzzle.solution.empty()) {
    faults.emplace_back("the puzzle has no solution: give it a line solution: for each matrix to set");
    return faults;
  }
  try {
    Settings settings = settings_at_start(puzzle);
    for (const std::string& line : puzzle.solution) assign(puzzle, line, settings);
    const Trial trial = trial_of(puzzle, settings, run);
    for (const std::shared_ptr<const Graph>& graph : trial.graphs) {
      for (const std::string& name : puzzle.shows) graph->matching(name);  // says which there is not
    }
    for (const PropertyVerdict& verdict : trial.verdicts) {
      if (!verdict.misses.empty())
        faults.push_back(fmt::format("the solution is none: {}", verdict.misses.front().says));
    }
  } catch (const InputError& error) {
    faults.push_back(fmt::format("solution: {}", error.what()));
  }
  return faults;
}

// --- assignment

Settings settings_at_start(const Puzzle& puzzle) {
  Settings settings;
  for (const Unknown& unknown : puzzle.unknowns) settings.push_back(unknown.start);
  return settings;
}

Matrix read_numbers(std::string_view text, std::string_view name, Shape shape) {
  const std::vector<std::vector<std::string>> rows = rows_of_words(text);
  if (rows.size() != shape.rows)
    fail("{} has {}, and this has {}: write {} = {}", name, count_of(shape.rows, "row"), rows.size(), name,
         zeros(shape));
  Matrix matrix(shape, 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != shape.columns)
      fail("{} has {}, and row {} has {}: write {} = {}", name, count_of(shape.columns, "column"), i + 1,
           rows[i].size(), name, zeros(shape));
    for (std::size_t j = 0; j < shape.columns; ++j) matrix(i, j) = number_of(rows[i][j], name);
  }
  return matrix;
}

void assign(const Puzzle& puzzle, std::string_view line, Settings& settings) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) {
    const Unknown& only = puzzle.unknowns.front();
    if (puzzle.unknowns.size() > 1 || !are_numbers(line)) fail("'{}' sets nothing: {}", line, forms_of(puzzle));
    settings.front() = read_numbers(line, only.name(), only.start.shape());
    return;
  }
  const std::string_view left = trimmed(line.substr(0, equals)), right = trimmed(line.substr(equals + 1));
  const std::size_t bracket = left.find('[');
  const Unknown& unknown = unknown_called(puzzle, trimmed(left.substr(0, bracket)));
  Matrix& matrix = settings[static_cast<std::size_t>(&unknown - puzzle.unknowns.data())];
  if (bracket == std::string_view::npos) {
    matrix = read_numbers(right, unknown.name(), unknown.start.shape());
    return;
  }
  if (!left.ends_with(']')) fail("'{}': ] is missing", left);
  const auto place =
      place_in_brackets(left.substr(bracket + 1, left.size() - bracket - 2), unknown.name(), unknown.start.shape());
  matrix(place.first, place.second) = number_of(std::string(right), left);
}

std::string matrix_as_typed(const Matrix& matrix) {
  std::string text;
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    for (std::size_t j = 0; j < matrix.shape().columns; ++j) {
      if (!text.empty()) text += j == 0 ? "; " : " ";
      append_exact(text, matrix(i, j));
    }
  }
  return text;
}

// --- show

std::vector<Block> opening_of(const Puzzle& puzzle, int level) {
  std::vector<std::string> names;
  for (const Unknown& unknown : puzzle.unknowns)
    names.push_back(fmt::format("{} ({})", unknown.name(), to_string(unknown.start.shape())));
  std::vector<Block> blocks;
  if (!puzzle.title.empty()) blocks.emplace_back(Heading{level, text("Puzzle: ", puzzle.title)});
  blocks.emplace_back(
      Note{Note::Kind::question, {text(puzzle.ask), text("You set ", strong(list_in_words(names)), ".")}});
  return blocks;
}

std::vector<const Node*> shown_of(const Puzzle& puzzle, const Graph& graph) {
  const std::vector<std::string> names = puzzle.shows.empty() ? std::vector<std::string>{"weights"} : puzzle.shows;
  std::vector<const Node*> shown;
  for (const std::string& name : names) {
    for (const Node* node : graph.matching(name)) shown.push_back(node);
  }
  return shown;
}

std::vector<Block> numbers_of(const Puzzle& puzzle, const Trial& trial) {
  SideBySide set, made;
  for (std::size_t i = 0; i < trial.settings.size(); ++i)
    set.tables.push_back(table_of_unknown(puzzle.unknowns[i], trial.settings[i]));
  const std::size_t input = trial.telling_input();
  for (const Node* node : shown_of(puzzle, *trial.graphs[input])) made.tables.push_back(table_of(*node));
  std::vector<Block> blocks = {std::move(set)};
  if (puzzle.commands.size() > 1) blocks.emplace_back(Prose{text("With ", of_inputs(puzzle, input), ":")});
  blocks.emplace_back(std::move(made));
  return blocks;
}

Block verdict_of(const Puzzle& puzzle, const Trial& trial) {
  const auto most = static_cast<std::size_t>(judge_limit("misses told"));
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
    note.lines.push_back(text(judged_by("more misses", {{}, {{"count", std::to_string(told.size() - most)}}})->says));
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
