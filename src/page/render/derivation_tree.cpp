#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "page/render/derivation_steps.hpp"
#include "page/render/picture.hpp"
#include "page/render/width.hpp"

namespace attn {
namespace {

constexpr std::size_t most_cells_of_tree = 300;
constexpr std::size_t most_columns_of_step = 44, most_lines_of_step = 4;
constexpr std::size_t gap_of_tree = 6;  // columns between a cell and those that it is made of

// A cell of a matrix, by name.
using Address = std::tuple<std::string, std::size_t, std::size_t>;

// A line of what a cell says. Where a formula has several lines, its LaTeX stands in the middle of them.
struct TreeLine {
  std::string text, latex = {};
  std::size_t indent = 0;    // columns
  std::size_t of_lines = 1;  // that the LaTeX takes from this one on

  std::size_t width() const { return indent + display_width(text); }
};

struct TreeCell {
  std::vector<TreeLine> lines;  // its name with its number, and how it is made
  std::vector<std::size_t> parts = {};
  std::size_t depth = 0;
  std::size_t top = 0;  // in lines
};

class DerivationTree {
 public:
  DerivationTree(const Style& style, const Metrics& metrics) : style_(style), metrics_(metrics) {}

  void take(const DerivationStep& whole) {
    DerivationStep derived = with_short_sums(whole, style_.full);
    const Address address{derived.matrix->name, derived.row, derived.column};
    if (steps_.empty()) root_ = address;
    steps_.emplace(address, std::move(derived));
  }

  Drawing drawn() && {
    if (steps_.empty()) return std::move(drawing_);
    const DerivationStep& root = steps_.at(root_);
    add(root, 0);
    place(0, 0);
    for (const TreeCell& cell : cells_) {
      const std::size_t depth = cell.depth;
      widths_.resize(std::max(widths_.size(), depth + 1), 0);
      for (const TreeLine& line : cell.lines) widths_[depth] = std::max(widths_[depth], line.width());
    }
    for (std::size_t i = 0; i < cells_.size(); ++i) draw(i);
    drawing_.title = title_of(root, plain()).text;
    drawing_.description =
        fmt::format("A tree of {}: each with those that it is made of.", count_of(cells_.size(), "number"));
    return std::move(drawing_);
  }

 private:
  using Label = Drawing::Label;

  Notation plain() const { return {.precision = std::max(style_.precision, least_precision)}; }
  Notation in_latex() const { return {.latex = true, .precision = std::max(style_.precision, least_precision)}; }

  std::size_t new_cell(std::size_t depth) {
    if (cells_.size() == most_cells_of_tree)
      fail("this tree would have more than {}: give a smaller --depth", count_of(most_cells_of_tree, "number"));
    cells_.push_back({.lines = {}, .depth = depth});
    return cells_.size() - 1;
  }

  // A cell, with those that it is made of.
  std::size_t add(const DerivationStep& derived, std::size_t depth) {
    const std::size_t place = new_cell(depth);
    is_shown_[{derived.matrix->name, derived.row, derived.column}] = true;
    const std::vector<WrittenStep> steps = steps_of(derived, plain());
    cells_[place].lines.push_back(title_of(derived, plain()));
    cells_[place].lines.back().latex = title_of(derived, in_latex()).text;
    // Names, and then numbers; the last step is the number itself.
    for (std::size_t i = 0; i + 1 < steps.size() && i < 2; ++i) add_step(cells_[place], derived, steps[i], i);
    std::vector<const Term*> terms;
    collect(derived.term, terms);
    for (const Term* term : terms) {
      const Address address{term->matrix->name, term->row, term->column};
      const auto step = steps_.find(address);
      const bool goes_on = step != steps_.end() && !is_shown_[address] && has_cells(step->second.term);
      const std::size_t part = goes_on ? add(step->second, depth + 1) : add_leaf(*term, depth + 1);
      // Else it would look like an input.
      const bool is_repeated = !goes_on && step != steps_.end() && has_cells(step->second.term);
      if (is_repeated) cells_[part].lines.push_back({"(explained above)"});
      cells_[place].parts.push_back(part);
    }
    return place;
  }

  std::size_t add_leaf(const Term& term, std::size_t depth) {
    const std::size_t place = new_cell(depth);
    DerivationStep leaf{.matrix = term.matrix, .row = term.row, .column = term.column, .value = term.value};
    leaf.term = constant_of(term.value);
    cells_[place].lines.push_back(title_of(leaf, plain()));
    cells_[place].lines.back().latex = title_of(leaf, in_latex()).text;
    return place;
  }

  // What stands for the rest of a formula: the parentheses that it closes are closed.
  static std::string end_of_cut(std::string_view rest) {
    std::string end;
    std::size_t open = 0;
    bool leaves_out = false;
    for (const char c : rest) {
      if (c == '(') ++open;
      const bool closes_earlier = c == ')' && open == 0;
      if (c == ')' && open > 0) --open;
      if (closes_earlier && leaves_out) end += " …";
      if (closes_earlier) end += ')';
      leaves_out = !closes_earlier && (leaves_out || c != ' ');
    }
    return leaves_out ? end + " …" : end;
  }

  // In LaTeX a formula of several lines is typeset where it is about as wide as in signs.
  void add_step(TreeCell& cell, const DerivationStep& derived, const WrittenStep& step, std::size_t i) const {
    constexpr std::size_t hang = 2;
    std::vector<std::string> lines = wrap(std::string(step.sign()) + " " + step.text, most_columns_of_step);
    const bool is_cut = lines.size() > most_lines_of_step;
    if (is_cut) {
      const std::string rest = fmt::format("{}", fmt::join(std::span(lines).subspan(most_lines_of_step), " "));
      lines.resize(most_lines_of_step);
      lines.back() += end_of_cut(rest);
    }
    Notation notation = in_latex();
    notation.terms_in_line = lines.size() > 1 ? 2 : 0;
    const std::vector<WrittenStep> typeset = steps_of(derived, notation);
    std::string latex;
    if (i < typeset.size() && !is_cut) latex = (step.is_rounded ? "\\approx " : "= ") + typeset[i].text;
    if (lines.size() > 1 && latex.find("\\frac") != std::string::npos) latex.clear();
    if (lines.size() > 1 && !latex.empty()) latex = "\\begin{aligned}&" + latex + "\\end{aligned}";
    for (std::size_t n = 0; n < lines.size(); ++n) {
      TreeLine line{style_.signs(lines[n]), n > 0 && !latex.empty() ? std::string(nothing_in_latex) : latex};
      line.indent = n > 0 ? hang : 0;
      line.of_lines = n > 0 ? 1 : lines.size();
      cell.lines.push_back(std::move(line));
    }
  }

  // "scores[1,2] = 96"
  TreeLine title_of(const DerivationStep& derived, const Notation& notation) const {
    const std::vector<WrittenStep> steps = steps_of(derived, notation);
    const bool is_rounded = steps.back().is_rounded;
    const std::string sign = notation.latex ? (is_rounded ? " \\approx " : " = ") : is_rounded ? " ≈ " : " = ";
    const std::string text = written_subject(derived, notation) + sign + written_number(derived.value, notation);
    return {notation.latex ? text : style_.signs(text), ""};
  }

  static bool has_cells(const Term& term) {
    return term.kind == Term::Kind::cell || std::ranges::any_of(term.parts, has_cells);
  }

  // Its cells, each once, in the order in which they are written.
  static void collect(const Term& term, std::vector<const Term*>& all) {
    const auto is_same = [&](const Term* other) {
      return other->matrix->name == term.matrix->name && other->row == term.row && other->column == term.column;
    };
    if (term.kind == Term::Kind::cell && std::ranges::none_of(all, is_same)) all.push_back(&term);
    for (const Term& part : term.parts) collect(part, all);
  }

  // A cell is beside the middle of those that it is made of. Returns the line below all of them; between two cells is
  // one that is empty.
  std::size_t place(std::size_t i, std::size_t top) {
    std::size_t below = top;
    for (const std::size_t part : cells_[i].parts) below = place(part, below);
    const std::size_t height = cells_[i].lines.size() + 1, taken = below - top;
    if (taken >= height) {
      cells_[i].top = top + (taken - height) / 2;
      return below;
    }
    const std::size_t room = height - taken;
    for (const std::size_t part : cells_[i].parts) move(part, room / 2);
    cells_[i].top = top;
    return top + height;
  }

  void move(std::size_t i, std::size_t down) {
    cells_[i].top += down;
    for (const std::size_t part : cells_[i].parts) move(part, down);
  }

  std::size_t left_of(std::size_t depth) const {
    std::size_t left = 0;
    for (std::size_t d = 0; d < depth; ++d) left += widths_[d] + 2 + gap_of_tree;
    return left;
  }

  // In the middle of a box: half a line above its first and below its last one.
  std::size_t middle_of(const TreeCell& cell) const {
    return (2 * cell.top + cell.lines.size() - 1) * metrics_.line / 2 + margin();
  }
  std::size_t margin() const { return metrics_.line; }

  void draw(std::size_t i) {
    const TreeCell& cell = cells_[i];
    const std::size_t left = left_of(cell.depth) * metrics_.column, text = left + metrics_.column;
    std::size_t width = 0;
    for (const TreeLine& line : cell.lines) width = std::max(width, line.width());
    const std::size_t right = left + (width + 1) * metrics_.column;
    const std::size_t first = cell.top * metrics_.line + margin(),
                      last = first + (cell.lines.size() - 1) * metrics_.line, half = metrics_.line * 2 / 3;
    drawing_.boxes.push_back({{left, first - half}, {right, last + half}});
    for (std::size_t n = 0; n < cell.lines.size(); ++n) {
      const TreeLine& line = cell.lines[n];
      const Label::Kind kind = n == 0 && !cell.parts.empty() ? Label::Kind::strong : Label::Kind::plain;
      const Drawing::Point at{text + line.indent * metrics_.column, first + n * metrics_.line};
      if (line.of_lines == 1 || line.latex.empty()) {
        drawing_.labels.push_back({at, line.text, kind, line.latex});
        continue;
      }
      drawing_.labels.push_back({at, line.text, kind, std::string(nothing_in_latex)});
      drawing_.labels.push_back({{at.x, at.y + (line.of_lines - 1) * metrics_.line / 2}, "", kind, line.latex});
    }
    if (!cell.parts.empty()) connect(cell, right);
  }

  // A line that forks, each part of it drawn once.
  void connect(const TreeCell& cell, std::size_t right) {
    const std::size_t to = left_of(cell.depth + 1) * metrics_.column, turn = to - gap_of_tree / 2 * metrics_.column;
    const std::size_t y = middle_of(cell);
    std::size_t first = y, last = y;
    for (const std::size_t part : cell.parts) {
      const std::size_t at = middle_of(cells_[part]);
      first = std::min(first, at);
      last = std::max(last, at);
      drawing_.lines.push_back({{{turn, at}, {to, at}}});
    }
    drawing_.lines.push_back({{{right, y}, {turn, y}}});
    if (first < last) drawing_.lines.push_back({{{turn, first}, {turn, last}}});
  }

  const Style& style_;
  const Metrics& metrics_;
  std::map<Address, DerivationStep> steps_;
  Address root_;
  std::map<Address, bool> is_shown_;
  std::vector<TreeCell> cells_;
  std::vector<std::size_t> widths_;  // of each depth, in columns
  Drawing drawing_;
};

}  // namespace

Drawing lay_out(const Derivation& derivation, const Style& style, const Metrics& metrics) {
  DerivationTree tree(style, metrics);
  derivation.each([&](const DerivationStep& step) { tree.take(step); });
  return std::move(tree).drawn();
}

}  // namespace attn
