#include "school/tutor/other_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "core/term/expression_functions.hpp"

namespace attn {

namespace {

// --- other answers

constexpr std::size_t most_other_numbers = 600, most_cells_tried = 20'000;
constexpr std::ptrdiff_t most_zeros = 4;  // where there are more, a 0 says nothing

void collect_cells(const Term& working, std::vector<Cell>& cells) {
  const Cell cell{working.node, working.row, working.column};
  if (working.kind == Term::Kind::cell && std::ranges::find(cells, cell) == cells.end()) cells.push_back(cell);
  for (const Term& part : working.parts) collect_cells(part, cells);
}

Term with_cell(Term working, const Cell& cell, const Cell& other) {
  if (working.kind == Term::Kind::cell && Cell{working.node, working.row, working.column} == cell) {
    working.node = other.node;
    working.row = other.row;
    working.column = other.column;
  }
  for (Term& part : working.parts) part = with_cell(std::move(part), cell, other);
  return working;
}

// Where a cell lies, seen from the one that is asked for.
std::string place_beside(const Cell& other, const Cell& asked) {
  if (other.row == asked.row && other.column == asked.column) return "the same place of another matrix";
  if (other.node != asked.node) return "";
  if (other.row == asked.row)
    return other.column == asked.column + 1   ? "the next column"
           : other.column + 1 == asked.column ? "the column before"
                                              : "another column";
  if (other.column == asked.column)
    return other.row == asked.row + 1 ? "the next row" : other.row + 1 == asked.row ? "the row before" : "another row";
  if (other.row == asked.column && other.column == asked.row) return "row and column exchanged";
  return "another row and column";
}

// The other numbers of one question, each value once, with what was found first.
class Numbers {
 public:
  Numbers(const Term& asked, const LearnerKnowledge& known, RecognizedAnswer::Kind kind)
      : asked_(asked), known_(known), kind_(kind) {
    collect_cells(asked, cells_);
    is_given_whole_ = std::ranges::all_of(cells_, [&](const Cell& cell) {
      return !known.is_shown(*cell.node) && known.can_work_out_from_question(cell);
    });
  }

  void add_neighbors() {
    for (const Cell& cell : cells_) {
      std::vector<Cell> others;
      const Shape& shape = cell.node->frame.shape;
      if (shape.cells() > most_cells_tried || cells_.size() > 4) continue;
      for (std::size_t j = 0; j < shape.columns; ++j) others.push_back({cell.node, cell.row, j});
      for (std::size_t i = 0; i < shape.rows; ++i) others.push_back({cell.node, i, cell.column});
      if (cell.column < shape.rows && cell.row < shape.columns) others.push_back({cell.node, cell.column, cell.row});
      std::ranges::stable_sort(others, {}, [&](const Cell& other) { return distance(other, cell); });
      for (std::size_t i = 0; i < shape.rows; ++i) {
        for (std::size_t j = 0; j < shape.columns; ++j) others.push_back({cell.node, i, j});
      }
      const auto is_zero = [](const Cell& other) { return other.value() == 0.0; };
      if (std::ranges::count_if(others, is_zero) > most_zeros) std::erase_if(others, is_zero);
      for (const Cell& other : others) add_instead(cell, other);
    }
  }

  // Another head has a matrix of the same role.
  void add_alike(const Graph& graph) {
    for (const Cell& cell : cells_) {
      if (cells_.size() > 4 || !cell.node->role) continue;
      for (const Node& node : graph.nodes()) {
        if (&node == cell.node || node.role != cell.node->role || node.family != cell.node->family) continue;
        if (node.frame.shape != cell.node->frame.shape) continue;
        add_instead(cell, {&node, cell.row, cell.column});
      }
    }
  }

  void add_matrix(const Node& node) {
    if (node.frame.shape.cells() > most_cells_tried) return;
    for (std::size_t i = 0; i < node.frame.shape.rows; ++i) {
      for (std::size_t j = 0; j < node.frame.shape.columns; ++j) add_other({&node, i, j});
    }
  }

  void add_other(const Cell& other) {
    add(other.value(), fmt::format("This is {}. Something else is asked for.", cell_name(other)));
  }

  // A table of the same name, made of other numbers, was shown before.
  void add_other_tables() {
    for (const Cell& cell : cells_) {
      for (const double number : known_.in_other_tables(cell))
        if (asked_.kind == Term::Kind::cell)
          add(number, fmt::format("This is {} as an earlier table has it, for other numbers.", cell_name(cell)));
    }
  }

  std::vector<RecognizedAnswer> finish() { return std::move(found_); }

 private:
  bool full() const { return found_.size() >= most_other_numbers; }

  static std::size_t distance(const Cell& other, const Cell& cell) {
    const auto apart = [](std::size_t a, std::size_t b) { return a > b ? a - b : b - a; };
    const bool is_turned = other.row == cell.column && other.column == cell.row;
    return is_turned ? 1 : apart(other.row, cell.row) + apart(other.column, cell.column);
  }

  void add_instead(const Cell& cell, const Cell& other) {
    if (full() || other == cell || !is_known(other, cell)) return;
    const bool alone = asked_.kind == Term::Kind::cell;
    const double value = number_from(with_cell(asked_, cell, other));
    const bool is_elsewhere = other.node != cell.node;
    const std::string place =
        is_elsewhere ? other.node->scope() != cell.node->scope() ? "the same place elsewhere" : "another matrix"
                     : place_beside(other, cell);
    add(value,
        alone ? fmt::format("This is {}: {}. Take {}.", cell_name(other), place, cell_name(cell))
              : fmt::format("This is what {} gives in the place of {}: {}.", cell_name(other), cell_name(cell), place),
        alone && !is_elsewhere && lies_beside(other, cell) && is_at_hand(other) ? RecognizedAnswer::Kind::neighbor
                                                                                : kind_);
  }

  // The numbers of a question are about the row that it asks about.
  bool is_known(const Cell& other, const Cell& cell) const {
    if (known_.is_shown(*other.node)) return true;
    const bool is_in_row = other.node == cell.node && other.row == cell.row;
    return is_in_row ? known_.can_work_out(other) : known_.can_work_out_from_tables(other);
  }

  // Who is given all numbers in the question seldom takes others out of a table.
  bool is_at_hand(const Cell& other) const {
    return !is_given_whole_ || known_.is_shown(*other.node) || known_.can_work_out_from_question(other);
  }

  // In a large matrix a number that stands far away says nothing.
  static bool lies_beside(const Cell& other, const Cell& cell) {
    constexpr std::size_t few = 12;
    const bool is_turned = other.row == cell.column && other.column == cell.row;
    if (other.row != cell.row && other.column != cell.column && !is_turned) return false;
    const Shape shape = cell.node->frame.shape;
    return (other.row == cell.row ? shape.columns : shape.rows) <= few || distance(other, cell) <= 1;
  }

  void add(double value, std::string says) { add(value, std::move(says), kind_); }
  void add(double value, std::string says, RecognizedAnswer::Kind kind) {
    if (!std::isfinite(value) || full() || !values_.insert(value).second) return;
    found_.push_back({value, kind, std::move(says)});
  }

  const Term& asked_;
  const LearnerKnowledge& known_;
  RecognizedAnswer::Kind kind_;
  std::vector<Cell> cells_;
  bool is_given_whole_ = false;  // whether the question has all that is needed
  std::set<double> values_;
  std::vector<RecognizedAnswer> found_;
};

constexpr std::size_t longest_name = 60;

bool is_call(const Term& working) { return working.kind == Term::Kind::call; }

// A number with its name, where it has one that is short: "weights[1,2] = 0.5".
std::string with_its_name(const Term& working, std::string_view is) {
  const std::string value = in_numbers(constant_of(number_from(working))), name = in_words(working);
  return name == value || name.size() > longest_name ? value : fmt::format("{}{}{}", name, is, value);
}

// A bound of which neither the question nor its choices speak only decides between these.
bool is_only_bound(const Term& side, const Question& question) {
  if (!nodes_of(side).empty() || is_call(side) || std::ranges::any_of(side.parts, is_call)) return false;
  std::vector<double> known = numbers_in(question.ask);
  for (const std::string& choice : question.choices) std::ranges::copy(numbers_in(choice), std::back_inserter(known));
  return std::ranges::find(known, number_from(side)) == known.end();
}

// What tells the choices apart: two numbers, or one.
std::string compared(const Term& asked, const Question& question) {
  const Term &left = asked.parts[0], &right = asked.parts[1];
  if (!is_only_bound(right, question))
    return fmt::format("Compare {} and {}.", with_its_name(left, " = "), with_its_name(right, " = "));
  const Term& plain = is_call(left) && left.function == &absolute_value ? left.parts[0] : left;
  if (&plain != &left && is_difference(plain))
    return fmt::format("Compare {} and {}.", with_its_name(plain.parts[0], " = "),
                       with_its_name(plain.parts[1].parts[0], " = "));
  const bool has_name = in_words(plain).size() <= longest_name;
  return fmt::format("Here {}{}.", has_name ? "" : "the number is ", with_its_name(plain, " is "));
}

// --- numbers in words

// A sentence that a question quotes is about something else than its numbers.
std::string without_quotations(const std::string& text) {
  std::string left;
  bool is_quoted = false;
  for (const char c : text) {
    if (c == '"') is_quoted = !is_quoted;
    left += is_quoted ? ' ' : c;
  }
  return is_quoted ? text : left;
}

struct NumberInText {
  double value;
  bool is_index;  // "row 2" says which one
};

std::vector<NumberInText> numbers_read(std::string_view text) {
  static constexpr std::array<std::string_view, 11> words = {"zero", "one",   "two",   "three", "four", "five",
                                                             "six",  "seven", "eight", "nine",  "ten"};
  static constexpr std::array<std::string_view, 6> indexed = {"number", "row", "column", "key", "head", "layer"};
  std::vector<NumberInText> numbers;
  std::string before;
  std::string plain = without_quotations(std::string(text));
  for (std::size_t at; (at = plain.find("−")) != std::string::npos;) plain.replace(at, std::string("−").size(), "-");
  for (const std::string& word : split_at_any(plain, " \n\t()[]{}=+*/?!:;\"'`·⋅×")) {
    std::string number = word;
    while (!number.empty() && (number.back() == '.' || number.back() == ',')) number.pop_back();
    std::erase(number, ',');
    const bool is_index = std::ranges::find(indexed, before) != indexed.end();
    before = in_lower_case(number);
    if (const std::optional<double> value = parse_number<double>(number); value && std::isfinite(*value)) {
      numbers.push_back({*value, is_index});
      continue;
    }
    const auto found = std::ranges::find(words, before);
    if (found != words.end()) numbers.push_back({static_cast<double>(found - words.begin()), is_index});
  }
  return numbers;
}

}  // namespace

// --- other answers

std::vector<RecognizedAnswer> neighbors(const Term& asked, const LearnerKnowledge& known) {
  if (!gives_number(asked)) return {};
  Numbers numbers(asked, known, RecognizedAnswer::Kind::shown);
  numbers.add_neighbors();
  return numbers.finish();
}

std::vector<RecognizedAnswer> same_place_in_other_heads(const Term& asked, const Graph& graph,
                                                        const LearnerKnowledge& known) {
  if (!gives_number(asked)) return {};
  Numbers numbers(asked, known, RecognizedAnswer::Kind::shown);
  numbers.add_alike(graph);
  return numbers.finish();
}

std::vector<RecognizedAnswer> other_numbers(const Term& asked, const Graph& graph, const LearnerKnowledge& known) {
  if (!gives_number(asked)) return {};
  Numbers numbers(asked, known, RecognizedAnswer::Kind::shown);
  const std::vector<const Node*> nodes = nodes_of(asked);
  std::vector<const Node*> others;
  for (const Node* node : graph.named()) {
    if (std::ranges::find(nodes, node) == nodes.end() && known.is_shown(*node)) others.push_back(node);
  }
  std::ranges::reverse(others);
  numbers.add_other_tables();
  for (const Node* node : others) numbers.add_matrix(*node);
  return numbers.finish();
}

std::vector<RecognizedAnswer> other_words(const Term& asked) {
  std::vector<RecognizedAnswer> found;
  if (asked.kind != Term::Kind::row || gives_number(asked)) return found;
  const std::string answer = std::get<std::string>(value_of_term(asked));
  const std::vector<double> row = asked.node->row(asked.row);
  std::size_t place = 0;
  while (place < row.size() && asked.node->frame.columns.label(place) != answer) ++place;
  if (place == row.size()) return found;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const std::string word = asked.node->frame.columns.label(j);
    if (word == answer) continue;
    const auto is_here = [&](const RecognizedAnswer& one) { return one.quantity == Quantity(word); };
    if (std::ranges::any_of(found, is_here)) continue;
    found.push_back({word, RecognizedAnswer::Kind::shown,
                     fmt::format("{} is {}. In this row another number is {}.", cell_name({asked.node, asked.row, j}),
                                 written(row[j]), row[j] < row[place] ? "larger" : "smaller")});
  }
  return found;
}

std::vector<RecognizedAnswer> other_shapes(const Term& asked, const Graph& graph, const LearnerKnowledge& known) {
  std::vector<RecognizedAnswer> found;
  if (asked.kind != Term::Kind::shape) return found;
  const Shape right = asked.node->frame.shape;
  const auto add = [&](Shape shape, RecognizedAnswer::Kind kind, std::string says) {
    const auto is_here = [&](const RecognizedAnswer& one) { return one.quantity == Quantity(shape); };
    if (shape != right && std::ranges::none_of(found, is_here)) found.push_back({shape, kind, std::move(says)});
  };
  add({right.columns, right.rows}, RecognizedAnswer::Kind::slip,
      "Rows and columns are exchanged: the rows come first.");
  std::vector<const Node*> nodes = asked.node->named_operands();
  for (const Node* node : graph.named()) {
    if (known.is_shown(*node) && std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
  }
  for (const Node* node : nodes) {
    if (known.has_shape(*node))
      add(node->frame.shape, RecognizedAnswer::Kind::given, fmt::format("This is the shape of {}.", node->title()));
  }
  return found;
}

std::vector<RecognizedAnswer> other_choices(const Term& asked, const SolvedQuestion& solved) {
  std::vector<RecognizedAnswer> found;
  const bool compares =
      asked.kind == Term::Kind::less || asked.kind == Term::Kind::greater || asked.kind == Term::Kind::equal;
  if (!compares) return found;
  const std::string says = compared(asked, solved.question);
  for (const std::string& choice : solved.question.choices) {
    if (Quantity(choice) != solved.answer) found.push_back({choice, RecognizedAnswer::Kind::slip, says});
  }
  return found;
}

// --- numbers in words

std::string number_in_sentence(double number) {
  const std::string text = written(number);
  return text.starts_with('-') ? "−" + text.substr(1) : text;
}

std::vector<double> numbers_in(std::string_view text) {
  std::vector<double> numbers;
  for (const NumberInText& one : numbers_read(text)) numbers.push_back(one.value);
  return numbers;
}

std::vector<double> data_in(std::string_view text) {
  std::vector<double> numbers;
  for (const NumberInText& one : numbers_read(text)) {
    if (!one.is_index) numbers.push_back(one.value);
  }
  return numbers;
}

}  // namespace attn
