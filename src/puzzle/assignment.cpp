#include "puzzle/assignment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "quantity/quantity.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

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

std::string zeros(Shape shape) {
  return typed(Matrix(shape, 0.0));
}

const Unknown& unknown_called(const Puzzle& puzzle, std::string_view name) {
  std::vector<std::string> names;
  for (const Unknown& unknown : puzzle.unknowns) {
    if (unknown.name() == name) return unknown;
    names.emplace_back(unknown.name());
  }
  if (names.size() == 1) fail("'{}' cannot be set: set {}", name, names.front());
  fail("'{}' cannot be set: set one of {}", name, listed(names));
}

// The place in `[2,3]`; of a single row or column, one number is enough.
std::pair<std::size_t, std::size_t> place_of(std::string_view brackets, std::string_view name, Shape shape) {
  std::vector<std::string_view> pieces = pieces_of(brackets);
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
  for (const std::string_view row : pieces_of(plain, ';')) rows.push_back(words_of_row(row));
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

}  // namespace

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
    if (puzzle.unknowns.size() > 1 || !are_numbers(line))
      fail("'{}' sets nothing: {}", line, forms_of(puzzle));
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
      place_of(left.substr(bracket + 1, left.size() - bracket - 2), unknown.name(), unknown.start.shape());
  matrix(place.first, place.second) = number_of(std::string(right), left);
}

std::string typed(const Matrix& matrix) {
  std::string text;
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    for (std::size_t j = 0; j < matrix.shape().columns; ++j) {
      if (!text.empty()) text += j == 0 ? "; " : " ";
      append_exact(text, matrix(i, j));
    }
  }
  return text;
}

}  // namespace attn
