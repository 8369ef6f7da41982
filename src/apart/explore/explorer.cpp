#include "apart/explore/explorer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "apart/explore/ancestry.hpp"
#include "core/graph/find.hpp"
#include "core/graph/run.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "core/support/utf8.hpp"
#include "core/term/quantity.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

// Where a walk begins: at the first weights, or at the last matrix.
const Node& first_chosen(const std::vector<const Node*>& steps) {
  const auto weights = std::ranges::find_if(steps, [](const Node* node) { return node->is(role::weights); });
  return weights == steps.end() ? *steps.back() : **weights;
}

// The next place with a label that has the word in it, or this number.
std::optional<std::size_t> place_with(const Axis& axis, std::size_t size, std::size_t from, const std::string& word) {
  for (std::size_t i = 1; i <= size; ++i) {
    const std::size_t place = (from + i) % size;
    const std::string label = axis.label(place);
    if (axis.labels ? label.find(word) != std::string::npos : label == word) return place;
  }
  return std::nullopt;
}

// The first cell that is NaN, or infinite and not masked; nothing: there is none.
std::optional<Cell> first_that_is_no_number(const std::vector<const Node*>& steps, const EditableComputation& changed) {
  for (const Node* node : steps) {
    const Node& now = changed.now(*node);
    for (std::size_t i = 0; i < node->frame.shape.rows; ++i) {
      const std::vector<double> row = now.row(i);
      const auto found = std::ranges::find_if(
          row, [&](double x) { return !std::isfinite(x) && !(node->may_be_masked() && std::isinf(x) && x < 0); });
      if (found != row.end()) return Cell{node, i, static_cast<std::size_t>(found - row.begin())};
    }
  }
  return std::nullopt;
}

constexpr double tolerance_of_laws = 1e-9;

}  // namespace

Explorer::Explorer(ExploredComputation what, const Style& style)
    : what_(std::move(what)), style_(style), changed_(*what_.graph), place_{} {
  for (const Node* node : what_.graph->named()) {
    if (node->frame.shape.cells() > 0) steps_.push_back(node);
  }
  if (steps_.empty()) fail("there is no matrix to explore here");
  place_ = {&first_chosen(steps_), 0, 0};
  // Two computations are compared from their first difference on.
  if (what_.second && !differing().empty()) {
    const ChangedMatrix& first = differing().front();
    place_ = {what_.graph->find(first.node->name), first.moved.row, first.moved.column};
  }
}

void Explorer::open(const View& view) { showing_ = static_cast<Showing>(&view - views().data()); }

Cell Explorer::chosen() const { return {&changed_.now(*place_.node), place_.row, place_.column}; }

const MatrixLayout& Explorer::measure(const Node& node) {
  const auto found = measured_.find(&node);
  if (found != measured_.end()) return found->second;
  return measured_.emplace(&node, matrix_layout(node, style_)).first->second;
}

// --- keys

void Explorer::press(const Keystroke& key) {
  if (key.kind == Keystroke::Kind::resized) return;
  message_.clear();
  try {
    if (question_) return press_in_question(key);
    constexpr int page = 10, all = 1 << 30;
    switch (key.kind) {
      case Keystroke::Kind::up:
        return move(-1, 0);
      case Keystroke::Kind::down:
        return move(1, 0);
      case Keystroke::Kind::left:
        return is_sliding_ ? slide(-1) : move(0, -1);
      case Keystroke::Kind::right:
        return is_sliding_ ? slide(1) : move(0, 1);
      case Keystroke::Kind::page_up:
        return move(-page, 0);
      case Keystroke::Kind::page_down:
        return move(page, 0);
      case Keystroke::Kind::home:
        return move(0, -all);
      case Keystroke::Kind::end:
        return move(0, all);
      case Keystroke::Kind::enter:
        return showing_ == Showing::matrices ? go_deeper() : show(Showing::matrices);
      case Keystroke::Kind::backspace:
        return go_back();
      case Keystroke::Kind::tab:
        return next_shown(1);
      case Keystroke::Kind::back_tab:
        return next_shown(-1);
      case Keystroke::Kind::escape:
        is_sliding_ = false;
        showing_ = Showing::matrices;
        return;
      case Keystroke::Kind::mouse:
        return click(key.row, key.column);
      case Keystroke::Kind::character:
        return press_character(key.text);
      case Keystroke::Kind::left_off:
        is_left_ = true;
        return;
      case Keystroke::Kind::resized:
        return;
    }
  } catch (const InputError& error) {
    message_ = error.what();
  }
}

void Explorer::press_in_question(const Keystroke& key) {
  Question& question = *question_;
  if (key.kind == Keystroke::Kind::left_off) {
    is_left_ = true;
  } else if (key.kind == Keystroke::Kind::escape) {
    question_.reset();
  } else if (key.kind == Keystroke::Kind::backspace) {
    std::string& typed = question.typed;
    while (!typed.empty() && continues_character(typed.back())) typed.pop_back();
    if (!typed.empty()) typed.pop_back();
  } else if (key.kind == Keystroke::Kind::character) {
    constexpr std::size_t most = 500;
    if (question.typed.size() < most) question.typed += key.text;
  } else if (key.kind == Keystroke::Kind::enter) {
    const Question answered = question;
    question_.reset();
    (this->*answered.answer)(answered.typed);
  }
}

std::string_view Explorer::asking() { return "/\\g=b"; }

void Explorer::show(Showing what) {
  showing_ = showing_ == what ? Showing::matrices : what;
  help_from_ = 0;
}

void Explorer::press_character(std::string_view character) {
  struct Meaning {
    std::string_view character;
    void (*does)(Explorer& explorer);
  };
  static constexpr std::array meanings = {
      Meaning{"q", [](Explorer& e) { e.is_left_ = true; }},
      Meaning{"?", [](Explorer& e) { e.show(Showing::help); }},
      Meaning{"m", [](Explorer& e) { e.show(Showing::map); }},
      Meaning{"d", [](Explorer& e) { e.show(Showing::differences); }},
      Meaning{"e", [](Explorer& e) { e.show(Showing::heads); }},
      Meaning{"t", [](Explorer& e) { e.is_transposed_ = !e.is_transposed_; }},
      Meaning{"h", [](Explorer& e) { e.move(0, -1); }},
      Meaning{"l", [](Explorer& e) { e.move(0, 1); }},
      Meaning{"k", [](Explorer& e) { e.move(-1, 0); }},
      Meaning{"j", [](Explorer& e) { e.move(1, 0); }},
      Meaning{"n", [](Explorer& e) { e.next_step(1); }},
      Meaning{"N", [](Explorer& e) { e.next_step(-1); }},
      Meaning{"[", [](Explorer& e) { e.next_like(scope::head, -1); }},
      Meaning{"]", [](Explorer& e) { e.next_like(scope::head, 1); }},
      Meaning{"{", [](Explorer& e) { e.next_like(scope::number, -1); }},
      Meaning{"}", [](Explorer& e) { e.next_like(scope::number, 1); }},
      Meaning{">", [](Explorer& e) { e.next_moved(); }},
      Meaning{"/", [](Explorer& e) { e.ask("row: ", &Explorer::find_row); }},
      Meaning{"\\", [](Explorer& e) { e.ask("column: ", &Explorer::find_column); }},
      Meaning{"g", [](Explorer& e) { e.ask("cell or matrix: ", &Explorer::go_to); }},
      Meaning{"=", [](Explorer& e) { e.ask(fmt::format("{} = ", address_of(e.as_it_was())), &Explorer::set_cell); }},
      Meaning{"b", [](Explorer& e) { e.ask("stop where this law breaks: ", &Explorer::stop_where); }},
      Meaning{"B", [](Explorer& e) { e.laws_.clear(); }},
      Meaning{"s", [](Explorer& e) { e.is_sliding_ = !e.is_sliding_; }},
      Meaning{"u", [](Explorer& e) { e.undo(); }},
      Meaning{"U", [](Explorer& e) { e.undo_all(); }},
      Meaning{"c", [](Explorer& e) { e.write_command(); }},
  };
  const auto meaning = std::ranges::find(meanings, character, &Meaning::character);
  if (meaning == meanings.end()) fail("{} is no key here: ? shows the keys", character);
  meaning->does(*this);
}

void Explorer::ask(std::string asks, void (Explorer::*answer)(const std::string&)) {
  question_ = Question{.asks = std::move(asks), .answer = answer};
}

// --- places

void Explorer::move(int rows, int columns) {
  if (showing_ == Showing::help) {
    help_from_ = rows < 0 ? help_from_ - std::min<std::size_t>(help_from_, 1) : help_from_ + 1;
    return;
  }
  if (is_transposed_) std::swap(rows, columns);
  const Shape shape = place_.node->frame.shape;
  const auto moved = [](std::size_t place, int by, std::size_t size) {
    const auto last = static_cast<std::int64_t>(size) - 1;
    return static_cast<std::size_t>(std::clamp<std::int64_t>(static_cast<std::int64_t>(place) + by, 0, last));
  };
  place_.row = moved(place_.row, rows, shape.rows);
  place_.column = moved(place_.column, columns, shape.columns);
}

void Explorer::move_to(const Place& place) {
  if (place == place_) return;
  before_.push_back(place_);
  place_ = place;
}

// A cell of this computation, or of the one with changes.
void Explorer::move_to(const Cell& cell) {
  const Node* const node = what_.graph->find(cell.node->name);
  if (node) move_to(Place{node, cell.row, cell.column});
}

void Explorer::go_back() {
  if (before_.empty()) fail("this is where the way began");
  place_ = before_.back();
  before_.pop_back();
}

// Into the first matrix that the cell is made of, at the same place where it is made of that.
void Explorer::go_deeper() {
  std::optional<Place> part;
  each_named_part(*place_.node, place_.row, place_.column, [&](const CellsOfOperand& cells) {
    if (!part) part = Place{cells.node, cells.row, cells.column};
    const bool has_place = cells.node == part->node && cells.node->frame.shape == place_.node->frame.shape &&
                           place_.row - cells.row < cells.rows && place_.column - cells.column < cells.columns;
    if (has_place) part = Place{cells.node, place_.row, place_.column};
  });
  if (!part) fail("{}: Backspace goes back", explain({place_.node, place_.row, place_.column}).reason);
  move_to(*part);
}

void Explorer::next_shown(int by) {
  const std::vector<const Node*> shown = shown_nodes();
  const auto at = static_cast<int>(std::ranges::find(shown, place_.node) - shown.begin());
  const int count = static_cast<int>(shown.size());
  const Node& next = *shown[static_cast<std::size_t>((at + by + count) % count)];
  const Shape shape = next.frame.shape;
  Place place{&next, within_size(place_.row, shape.rows), within_size(place_.column, shape.columns)};
  bool is_part = false;
  each_named_part(*place_.node, place_.row, place_.column, [&](const CellsOfOperand& cells) {
    if (cells.node == &next && !is_part) place = {&next, cells.row, cells.column};
    is_part = is_part || cells.node == &next;
  });
  move_to(place);
}

void Explorer::next_step(int by) {
  const auto at = static_cast<int>(std::ranges::find(steps_, place_.node) - steps_.begin());
  const int next = at + by;
  if (next < 0 || next >= static_cast<int>(steps_.size()))
    fail("{} is the {} matrix", place_.node->name, by > 0 ? "last" : "first");
  const Node& node = *steps_[static_cast<std::size_t>(next)];
  move_to(Place{&node, within_size(place_.row, node.frame.shape.rows),
                within_size(place_.column, node.frame.shape.columns)});
}

// The matrix of the same name in the next scope of this kind: the next head, the next layer.
void Explorer::next_like(const ScopeKind& kind, int by) {
  const std::string_view what = &kind == &scope::head ? "head" : "layer";
  const NamedScope* const here = place_.node->within(kind);
  if (!here || !here->number) fail("{} is in no {}", place_.node->name, what);
  const std::size_t wanted = *here->number + static_cast<std::size_t>(by);
  const std::string outer(here->outer ? here->outer->prefix : "");
  const std::string_view behind = std::string_view(place_.node->name).substr(here->prefix.size());
  const Node* const node = what_.graph->find(outer + ScopeName(kind, wanted).text + '.' + std::string(behind));
  if (!node) fail("there is no {} {} beside {}", what, wanted, here->title());
  move_to(Place{node, within_size(place_.row, node->frame.shape.rows),
                within_size(place_.column, node->frame.shape.columns)});
}

// The next matrix that has changed, at the cell that has changed most.
void Explorer::next_moved() {
  const std::vector<ChangedMatrix>& moved = differing();
  if (moved.empty()) fail("nothing {}: = sets a cell", what_.second ? "differs" : "has moved");
  const auto at = [&](const ChangedMatrix& one) { return what_.graph->find(one.node->name); };
  const auto next =
      std::ranges::find_if(moved, [&](const ChangedMatrix& one) { return at(one)->index > place_.node->index; });
  const ChangedMatrix& one = next == moved.end() ? moved.front() : *next;
  move_to(Place{at(one), one.moved.row, one.moved.column});
}

// The matrices that differ from the second computation; without one, from what they were before the changes.
const std::vector<ChangedMatrix>& Explorer::differing() {
  if (!what_.second) return changed_.moved();
  if (from_second_) return *from_second_;
  compared_ = 0;
  std::vector<ChangedMatrix> all;
  for (const Node* node : steps_) {
    const Node& here = changed_.now(*node);
    const Node* const there = what_.second->find(node->name);
    if (node->is_alias() || !there || there->frame.shape != here.frame.shape) continue;
    const Difference moved = difference(here.matrix(), there->matrix());
    ++compared_;
    if (!moved.agrees()) all.push_back({&here, there, moved});
  }
  return from_second_.emplace(std::move(all));
}

void Explorer::forget_numbers() {
  measured_.clear();
  from_second_.reset();
}

void Explorer::find_row(const std::string& word) {
  if (word.empty()) return;
  const Frame& frame = place_.node->frame;
  const auto row = place_with(frame.rows, frame.shape.rows, place_.row, word);
  if (!row) fail("no row of {} is called '{}': \\ finds columns", place_.node->name, word);
  move_to(Place{place_.node, *row, place_.column});
}

void Explorer::find_column(const std::string& word) {
  if (word.empty()) return;
  const Frame& frame = place_.node->frame;
  const auto column = place_with(frame.columns, frame.shape.columns, place_.column, word);
  if (!column) fail("no column of {} is called '{}': / finds rows", place_.node->name, word);
  move_to(Place{place_.node, place_.row, *column});
}

// A name stands for the matrix in the scopes around the chosen one first; without a name, for the chosen one.
void Explorer::go_to(const std::string& typed) {
  const std::string address(trimmed(typed));
  if (address.empty()) return;
  const std::size_t bracket = std::min(address.find('['), address.size());
  std::string name = address.substr(0, bracket);
  if (name.empty()) name = place_.node->name;
  for (const NamedScope* scope = place_.node->place; scope; scope = scope->outer) {
    if (what_.graph->find(name)) break;
    if (what_.graph->find(scope->prefix + name)) name.insert(0, scope->prefix);
  }
  if (bracket == address.size()) return move_to(Place{what_.graph->matching(name).front(), 0, 0});
  move_to(find_cells(*what_.graph, name + address.substr(bracket)).front());
}

// --- changes

void Explorer::set(double value, bool is_slid) {
  changed_.set({&place_.node->original(), place_.row, place_.column, value, is_slid});
  forget_numbers();
  look_at_laws();
}

void Explorer::set_cell(const std::string& number) {
  if (number.empty()) return;
  const double value = number_from(read_term(number, &changed_.graph()));
  if (!std::isfinite(value)) fail("a cell takes finite numbers, and {} is none", number);
  set(value, false);
}

// By a tenth of the power of ten below the largest number of the matrix, so that the numbers stay short.
void Explorer::slide(int by) {
  double largest = 0;
  for (std::size_t i = 0; i < place_.node->frame.shape.rows; ++i) {
    for (const double x : place_.node->row(i)) {
      if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
    }
  }
  const double steps = std::pow(10.0, 1.0 - std::floor(std::log10(largest > 0 ? largest : 1.0)));  // in 1
  const double value = (std::round(chosen().value() * steps) + by) / steps;
  if (!std::isfinite(value)) fail("{} cannot be moved", address_of(as_it_was()));
  set(value, true);
}

void Explorer::undo() {
  if (!changed_.undo()) fail("nothing is changed: = sets a cell");
  forget_numbers();
  look_at_laws();
}

void Explorer::undo_all() {
  if (changed_.settings().empty()) fail("nothing is changed: = sets a cell");
  changed_.undo_all();
  forget_numbers();
  look_at_laws();
}

// Laws that are new, or the first cell that is NaN or infinite.
void Explorer::stop_where(const std::string& laws) {
  if (trimmed(laws).empty()) {
    const std::optional<Cell> cell = first_that_is_no_number(steps_, changed_);
    message_ = cell ? fmt::format("{} is the first cell that is NaN or infinite", address_of(*cell))
                    : "no cell is NaN or infinite, but for masked scores";
    if (cell) move_to(*cell);
    return;
  }
  std::vector<LookedAt> added;
  std::optional<LawViolation> broken;
  for (const std::string_view one : split_at(laws, ';')) {
    if (trimmed(one).empty()) continue;
    const std::string law(trimmed(one));
    added.push_back({law, false});
    for (LawCheck& held : check_law(law, changed_.graph(), tolerance_of_laws)) {
      if (!held.broken) continue;
      added.back().is_broken = true;
      if (broken) continue;
      broken = std::move(held.broken);
      message_ = fmt::format("{} does not hold{}", law, broken->place.empty() ? "" : " at " + broken->place);
    }
  }
  laws_.insert(laws_.end(), added.begin(), added.end());
  if (!broken) message_ = fmt::format("{} holds; it is looked at after each change", trimmed(laws));
  if (broken && broken->cell) move_to(*broken->cell);
}

// Tells the laws that a change has broken, or mended.
void Explorer::look_at_laws() {
  for (LookedAt& one : laws_) {
    const std::vector<LawCheck> held = check_law(one.law, changed_.graph(), tolerance_of_laws);
    const auto broken = std::ranges::find_if(held, [](const LawCheck& law) { return law.broken.has_value(); });
    const bool is_broken = broken != held.end();
    if (is_broken != one.is_broken) {
      const std::string where = is_broken && !broken->broken->place.empty() ? " at " + broken->broken->place : "";
      message_ = fmt::format("{} {}{}", one.law, is_broken ? "does not hold any more" : "holds again", where);
    }
    one.is_broken = is_broken;
  }
}

void Explorer::write_command() {
  command_ = what_.without_screen(as_it_was(), changed_.settings());
  message_ = command_;
}

void Explorer::click(std::size_t row, std::size_t column) {
  for (const MatrixBox& box : boxes_) {
    if (const auto cell = box.cell_at(row, column)) return move_to(Cell{box.shown().node, cell->first, cell->second});
  }
}

}  // namespace attn
