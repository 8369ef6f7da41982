#include "school/drill/draws.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <random>

#include "core/graph/operation.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/term/expression_functions.hpp"
#include "core/term/term.hpp"
#include "school/drill/cut.hpp"

namespace attn {

namespace {

// --- draws

Generator seeded(std::initializer_list<std::uint32_t> numbers) {
  std::seed_seq mixed(numbers);
  return Generator(mixed);
}

// Libraries differ in how they make a number of a range out of bits, so that this is done here.
std::size_t drawn_place(Generator& generator, std::size_t count) {
  return static_cast<std::size_t>(uniform(generator) * static_cast<double>(count));
}

// --- lines

constexpr double farthest = 1e6;  // of a range
constexpr double most_on_a_side = 64;
constexpr std::string_view row_name = "row", column_name = "column";

// Lists that drills share, by the name that they have after `one of`.
struct NamedList {
  std::string_view name, alternatives;
};

constexpr std::array named_lists = {
    NamedList{"sentences",  // three words, and their translation
              "cats chase mice; chats chassent souris | we read books; nous lisons livres | "
              "she codes well; elle code bien | birds eat seeds; oiseaux mangent graines | "
              "the dog sleeps; le chien dort | it rains again; il pleut encore"},
};

std::pair<std::string_view, std::string_view> names_and_value(std::string_view line) {
  const Cut cut = cut_at(line, "=");
  if (!cut.after || cut.before.empty() || cut.after->empty()) fail("write a name, =, and a value: n = 2..4");
  return {cut.before, *cut.after};
}

std::vector<std::string_view> trimmed_pieces(std::string_view text, char separator) {
  std::vector<std::string_view> pieces = split_at(text, separator);
  for (std::string_view& piece : pieces) {
    piece = trimmed(piece);
    if (piece.empty()) fail("'{}': something is missing beside '{}'", text, separator);
  }
  return pieces;
}

std::vector<std::string_view> alternatives_in(std::string_view text) {
  if (const NamedList* list = find_row(std::span<const NamedList>(named_lists), text)) text = list->alternatives;
  return trimmed_pieces(text, '|');
}

// Nothing: one of the words is no number.
std::optional<std::vector<double>> numbers_of_words(const Words& words) {
  std::vector<double> numbers;
  for (const std::string& word : words) {
    const std::optional<double> number = parse_number<double>(word);
    if (!number || !std::isfinite(*number)) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

Matrix matrix_of(const std::vector<std::vector<double>>& rows) {
  Matrix matrix({rows.size(), rows.front().size()});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != rows.front().size()) fail("the rows have different lengths: give them the same");
    std::ranges::copy(rows[i], row(matrix, i).begin());
  }
  return matrix;
}

// Whether expressions have a constant or a function of that name.
bool has_meaning(std::string_view name) {
  return find_row(constants(), name) || find_row(number_functions(), name) || find_row(row_functions(), name) ||
         find_row(shape_functions(), name);
}

}  // namespace

// --- draws

Draws::Draws(std::uint32_t seed, std::uint32_t attempt)
    : kinds_(seeded({seed, 1})), generator_(seeded({seed, 1, attempt})) {}

std::uint32_t seed_after(std::uint32_t seed) { return seeded({seed, 2})(); }

std::size_t Draws::kind(std::size_t count) { return drawn_place(kinds_, count); }

std::size_t Draws::place(std::size_t count) { return count < 2 ? 0 : drawn_place(generator_, count); }

// --- lines

Words DrawnNames::names() const {
  Words names;
  for (const auto& [name, number] : numbers_) names.push_back(name);
  for (const auto& [name, matrix] : matrices_) names.push_back(name);
  for (const auto& [name, words] : words_) names.push_back(name);
  return names;
}

Quantity DrawnNames::quantity(std::string_view expression, const Variables& variables) const {
  constexpr std::uint64_t work_of_byte = 4096;  // of an expression, which is read and worked out
  Budget::take_work(work_of_byte * expression.size());
  for (QuantityScanner scanner(expression); !scanner.is_at_end(); scanner.skip_name_or_sign()) {
    const std::string_view name = scanner.next_name();
    if (!name.empty() && !variables.contains(name) && !matrices_.contains(name) && !has_meaning(name))
      fail_unknown("name", name, names());
  }
  return value_of_term(read_term(expression, graph_.get(), variables));
}

double DrawnNames::number(std::string_view expression, const Variables& variables) const {
  const Quantity found = quantity(expression, variables);
  if (const bool* is_so = std::get_if<bool>(&found)) return *is_so ? 1.0 : 0.0;
  const double* const number = std::get_if<double>(&found);
  if (!number || !std::isfinite(*number)) fail("'{}' is {}: give a finite number", expression, attn::written(found));
  return *number;
}

double DrawnNames::whole(std::string_view expression, double least, double most) const {
  const double value = number(expression);
  if (!(value >= least && value <= most && value == std::floor(value)))
    fail("'{}' is {}: give a whole number from {} to {}", expression, attn::written(value), least, most);
  return value;
}

// `1..n`, `0..90 step 10`, `1..n except hidden`.
DrawnNames::Range DrawnNames::range(std::string_view text) const {
  const Cut except = cut_at(text, " except "), step = cut_at(except.before, " step "), ends = cut_at(step.before, "..");
  if (!ends.after) fail("'{}' is no range: write its first and its last number, such as 1..4", text);
  Range range{.except = 0};
  range.first = whole(ends.before, -farthest, farthest);
  if (step.after) range.step = whole(*step.after, 1, farthest);
  const double last = whole(*ends.after, -farthest, farthest);
  if (last < range.first) fail("'{}' is empty: let it end at its first number or above", text);
  range.count = static_cast<std::size_t>((last - range.first) / range.step) + 1;
  range.except = range.count;
  if (except.after) {
    const double place = (whole(*except.after, range.first, last) - range.first) / range.step;
    if (place != std::floor(place)) fail("'{}': {} is not in the range", text, *except.after);
    range.except = static_cast<std::size_t>(place);
    if (--range.count == 0) fail("'{}' is empty: nothing is left of it", text);
  }
  return range;
}

double DrawnNames::drawn(const Range& range, Draws& draws) const {
  constexpr std::uint64_t work_of_draw = 16;
  Budget::take_work(work_of_draw);
  std::size_t place = draws.place(range.count);
  if (place >= range.except) ++place;
  return range.first + range.step * static_cast<double>(place);
}

// `2 by n`.
Shape DrawnNames::shape(std::string_view text) const {
  const Cut sides = cut_at(text, " by ");
  if (!sides.after) fail("'{}' is no shape: write rows by columns, such as 2 by 3", text);
  return {static_cast<std::size_t>(whole(sides.before, 1, most_on_a_side)),
          static_cast<std::size_t>(whole(*sides.after, 1, most_on_a_side))};
}

DrawnNames::Alternative DrawnNames::alternative(std::string_view text) const {
  Alternative words;
  for (const std::string_view member : trimmed_pieces(text, ';')) words.push_back(split_at_any(filled(member), " "));
  return words;
}

// `one of A | B`, `shuffled one of A | B`, `shuffled 1 2 3`.
DrawnNames::Alternative DrawnNames::drawn_words(std::string_view text, Draws& draws) const {
  if (const auto rest = after_word(text, "shuffled ")) {
    Alternative words = drawn_words(*rest, draws);
    for (Words& list : words) list = draws.shuffled(std::move(list));
    return words;
  }
  const std::optional<std::string_view> list = after_word(text, "one of ");
  if (!list) return alternative(text);
  const Alternatives alternatives = alternatives_in(*list);
  return alternative(alternatives[draws.place(alternatives.size())]);
}

void DrawnNames::draw(std::string_view line, Draws& draws) {
  const auto [names, value] = names_and_value(line);
  if (value.starts_with("shuffled ") || value.starts_with("one of ")) return set(names, drawn_words(value, draws));
  const Cut of = cut_at(value, " of ");
  if (!of.after) return set(names, drawn(range(value), draws));
  const Cut rows = cut_at(of.before, " rows");
  if (!rows.after) {
    Matrix matrix(shape(of.before));
    const Range cells_of = range(*of.after);
    for (double& cell : cells(matrix)) cell = drawn(cells_of, draws);
    return set(names, std::move(matrix));
  }
  std::vector<std::vector<double>> all;
  for (double left = whole(rows.before, 1, most_on_a_side); left > 0; --left) {
    const Alternative words = drawn_words(*of.after, draws);
    const std::optional<std::vector<double>> numbers = numbers_of_words(words.front());
    if (words.size() != 1 || !numbers) fail("'{}': a row has numbers, with blanks between them", value);
    all.push_back(*numbers);
  }
  set(names, matrix_of(all));
}

void DrawnNames::draw_kind(std::string_view line, Draws& draws) {
  const auto [names, value] = names_and_value(line);
  const Alternatives alternatives = alternatives_in(value);
  set(names, alternative(alternatives[draws.kind(alternatives.size())]));
}

void DrawnNames::work_out(std::string_view line) {
  const auto [names, value] = names_and_value(line);
  if (const auto item = after_word(value, "item ")) {
    const Cut of = cut_at(*item, " of ");
    if (!of.after) fail("'{}': write item i of A | B | C", value);
    const Alternatives alternatives = alternatives_in(*of.after);
    const double place = whole(of.before, 1, static_cast<double>(alternatives.size()));
    return set(names, alternative(alternatives[static_cast<std::size_t>(place) - 1]));
  }
  const Cut of = cut_at(value, " of ");
  if (!of.after) return set(names, number(value));
  Matrix matrix(shape(of.before));
  Variables variables = numbers_;
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    for (std::size_t j = 0; j < matrix.shape().columns; ++j) {
      variables.insert_or_assign(std::string(row_name), static_cast<double>(i + 1));
      variables.insert_or_assign(std::string(column_name), static_cast<double>(j + 1));
      matrix(i, j) = number(*of.after, variables);
    }
  }
  set(names, std::move(matrix));
}

bool DrawnNames::is_so(std::string_view expression) const {
  const Quantity found = quantity(expression, numbers_);
  const bool* const so = std::get_if<bool>(&found);
  if (!so) fail("'{}' is {}: compare two numbers with <, > or =", expression, attn::written(found));
  return *so;
}

std::string DrawnNames::new_name(std::string_view name) const {
  if (!is_name(name) || name.find('.') != std::string_view::npos)
    fail("'{}' is no name: write letters and digits, a letter first", name);
  if (name == row_name || name == column_name || has_meaning(name))
    fail("{} means something else: choose another name", name);
  if (numbers_.contains(name) || words_.contains(name) || matrices_.contains(name))
    fail("{} has a value already: choose another name", name);
  return std::string(name);
}

void DrawnNames::set(std::string_view name, double number) { numbers_.emplace(new_name(name), number); }

void DrawnNames::set(std::string_view name, Matrix matrix) {
  const std::string checked = new_name(name);
  const auto shared = std::make_shared<const Matrix>(std::move(matrix));
  graph_->input(Name{role::other, checked}, shared, axis("rows"), axis("columns"));
  matrices_.emplace(checked, shared);
}

void DrawnNames::set(std::string_view names, const Alternative& words) {
  const std::vector<std::string_view> all = trimmed_pieces(names, ',');
  if (all.size() != words.size())
    fail("{} for {}: separate the names by commas, and their values by semicolons", count_of(words.size(), "value"),
         count_of(all.size(), "name"));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::optional<std::vector<double>> numbers = numbers_of_words(words[i]);
    if (!numbers) {
      words_.emplace(new_name(all[i]), words[i]);
    } else if (numbers->size() == 1) {
      set(all[i], numbers->front());
    } else {
      set(all[i], matrix_of({*numbers}));
    }
  }
}

}  // namespace attn
