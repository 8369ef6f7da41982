#include "core/term/cell_text.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "core/term/quantity.hpp"

namespace attn {
namespace {

using Kind = Pattern::Kind;

struct NamedCall {
  std::string_view name;
  Kind kind;
};
constexpr std::array calls_of_sizes = {NamedCall{"rows", Kind::rows}, NamedCall{"columns", Kind::columns},
                                       NamedCall{"sentence", Kind::sentence}};
constexpr std::array calls_of_rows = {NamedCall{"place", Kind::place}, NamedCall{"total", Kind::total},
                                      NamedCall{"exponent", Kind::exponent}};
constexpr std::array calls_of_places = {NamedCall{"block", Kind::block}, NamedCall{"within", Kind::within},
                                        NamedCall{"min", Kind::least}, NamedCall{"max", Kind::most},
                                        NamedCall{"distance", Kind::distance}};
constexpr std::array signs_of_comparison = {NamedCall{"<", Kind::less}, NamedCall{">", Kind::greater},
                                            NamedCall{"=", Kind::equal}, NamedCall{"≠", Kind::unequal}};
constexpr std::array callable = {&exponential, &hyperbolic_tangent, &error_function, &logistic, &rectifier, &sine,
                                 &cosine,      &logarithm};
constexpr std::array numbers_of_operations = {setting::number.name, setting::fill.name};
constexpr std::array counts_of_operations = {setting::epsilon.name, setting::smoothing.name, setting::first.name,
                                             setting::count.name,   setting::parts.name,     setting::apart.name,
                                             setting::base.name,    setting::turned.name,    setting::before_zero.name};
constexpr std::array lists_of_operations = {setting::frequencies.name, setting::is_sine.name, setting::slower.name,
                                            setting::positions.name, setting::key_positions.name};
constexpr std::array words_of_operations = {setting::row_noun.name, setting::column_noun.name, setting::cell_noun.name,
                                            setting::measured_in.name};

template <class Table>
bool holds(const Table& table, std::string_view name) {
  return std::ranges::find(table, name) != table.end();
}

Pattern made(Kind kind, std::vector<Pattern> parts) { return {.kind = kind, .parts = std::move(parts)}; }
Pattern number_pattern(double value) { return {.kind = Kind::number, .value = value}; }

// Reads a text from left to right, in one pass.
class CellReader {
 public:
  explicit CellReader(std::string_view text) : scanner_(text) {}

  CellText read() {
    if (scanner_.next_name() == "of") read_operands();
    if (scanner_.next_name() == "with") read_bindings();
    do {
      read_case();
      if (!text_.cases.back().condition && !scanner_.is_at_end())
        fail_here("nothing stands behind a case without a condition");
    } while (!scanner_.is_at_end());
    if (text_.cases.back().condition) fail_here("the last case must have no condition");
    text_.slot_names = names_of_slots_;
    return std::move(text_);
  }

 private:
  [[noreturn]] void fail_here(std::string_view why) const {
    fail("'{}': {} before '{}'", scanner_.expression(), why, scanner_.rest());
  }

  bool take(std::string_view sign) { return scanner_.take(sign); }
  void expect(std::string_view sign) { scanner_.expect(sign); }
  // A whole word, not the beginning of one.
  bool take_word(std::string_view word) {
    if (scanner_.next_name() != word) return false;
    scanner_.name();
    return true;
  }
  void expect_word(std::string_view word) {
    if (!take_word(word)) fail_here(fmt::format("'{}' is missing", word));
  }
  std::string new_name() {
    if (!scanner_.is_at_name()) fail_here("a name is missing");
    return std::string(scanner_.name());
  }

  void read_operands() {
    expect_word("of");
    do {
      text_.by_sentence.push_back(take_word("each"));
      text_.operands.push_back(new_name());
    } while (take(","));
    if (take("…"))
      text_.joined = take_word("beside") ? CellText::Joining::beside : (expect_word("below"), CellText::Joining::below);
    expect(":");
  }

  void read_bindings() {
    expect_word("with");
    do {
      const std::string name = new_name();
      if (take_word("stands")) {
        expect_word("for");
        abbreviations_.insert_or_assign(name, term());
      } else {
        expect("=");
        Pattern pattern = term();
        text_.bindings.push_back({name, new_slot(name), std::move(pattern)});
      }
    } while (take(","));
    expect(":");
  }

  void read_case() {
    CellText::Case one;
    Pattern first = condition_or_term();
    if (is_condition(first)) {
      expect(":");
      one.condition = std::move(first);
      one.term = term();
    } else {
      one.term = std::move(first);
    }
    if (take_word("because")) {
      expect("\"");
      one.because = sentence(scanner_.quoted());
    }
    if (one.condition) expect(";");
    text_.cases.push_back(std::move(one));
  }

  std::size_t new_slot(const std::string& name) {
    slots_.insert_or_assign(name, text_.slots);
    names_of_slots_.push_back(name);
    return text_.slots++;
  }

  static bool is_condition(const Pattern& pattern) { return pattern.kind >= Kind::less; }

  // --- conditions

  Pattern condition_or_term() {
    if (take_word("all")) {
      expect("(");
      Pattern all = over(Kind::every);
      expect(")");
      return with_more(std::move(all));
    }
    Pattern left = term();
    for (const NamedCall& one : signs_of_comparison) {
      if (take(one.name)) {
        Pattern right = term();
        return with_more(made(one.kind, {std::move(left), std::move(right)}));
      }
    }
    return left;
  }

  Pattern with_more(Pattern condition) {
    if (!take_word("and")) return condition;
    Pattern other = this->condition();
    return made(Kind::both, {std::move(condition), std::move(other)});
  }

  Pattern condition() {
    Pattern condition = condition_or_term();
    if (!is_condition(condition)) fail_here("a condition is missing");
    return condition;
  }

  // "k = 1 to columns(x), r = … where …: what stands behind", for each of the variables.
  Pattern over(Kind kind, std::string_view before_body = {}) {
    Pattern all{.kind = kind};
    std::vector<std::pair<std::string, std::optional<std::size_t>>> hidden;
    do {
      const std::string name = new_name();
      expect("=");
      Pattern first = term();
      expect_word("to");
      Pattern last = term();
      const auto known = slots_.find(name);
      hidden.emplace_back(name, known == slots_.end() ? std::nullopt : std::optional(known->second));
      all.slots.push_back(new_slot(name));
      all.parts.push_back(std::move(first));
      all.parts.push_back(std::move(last));
    } while (take(","));
    std::optional<Pattern> where;
    if (take_word("where")) where = condition();
    expect(":");
    if (!before_body.empty()) expect_word(before_body);
    all.parts.push_back(kind == Kind::every ? condition() : term());
    if (where) all.parts.push_back(std::move(*where));
    for (const auto& [name, slot] : hidden) {
      if (slot) {
        slots_[name] = *slot;
      } else {
        slots_.erase(name);
      }
    }
    return all;
  }

  // --- terms

  // a − b and a / b close what stands before them, so that every step of an explanation is one of the text.
  Pattern term() {
    if (++depth_ > deepest) fail_here("the text is nested too deeply");
    Pattern all = product();
    for (bool is_open = false;;) {
      if (take("+")) {
        Pattern next = product();
        if (is_open) {
          all.parts.push_back(std::move(next));
        } else {
          all = made(Kind::sum, {std::move(all), std::move(next)});
        }
        is_open = true;
      } else if (take("−")) {
        Pattern next = product();
        all = made(Kind::difference, {std::move(all), std::move(next)});
        is_open = false;
      } else {
        --depth_;
        return all;
      }
    }
  }

  Pattern product() {
    Pattern all = power();
    for (bool is_open = false;;) {
      if (take("·")) {
        Pattern next = power();
        if (is_open) {
          all.parts.push_back(std::move(next));
        } else {
          all = made(Kind::product, {std::move(all), std::move(next)});
        }
        is_open = true;
      } else if (take("/")) {
        Pattern next = power();
        all = made(Kind::quotient, {std::move(all), std::move(next)});
        is_open = false;
      } else {
        return all;
      }
    }
  }

  Pattern power() {
    if (take("−")) {
      if (++depth_ > deepest) fail_here("the text is nested too deeply");
      Pattern negative = made(Kind::negative, {power()});
      --depth_;
      return negative;
    }
    if (take("√")) return {.kind = Kind::call, .function = &square_root, .parts = {primary()}};
    Pattern base = primary();
    if (take("²")) return made(Kind::power, {std::move(base), number_pattern(2.0)});
    if (!take("^")) return base;
    Pattern exponent = primary();
    return made(Kind::power, {std::move(base), std::move(exponent)});
  }

  Pattern primary() {
    if (take("½")) return number_pattern(0.5);
    if (take("π")) return number_pattern(std::numbers::pi);
    if (take("∞")) return number_pattern(std::numeric_limits<double>::infinity());
    if (take("'")) return notated();
    if (take("{")) return hole_of_notation();
    if (take("(")) return in_parentheses();
    if (scanner_.is_at_name()) return named();
    if (scanner_.is_at_end()) fail_here("a number or a name is missing");
    Pattern number = number_pattern(scanner_.number());
    return take("π") ? number_pattern(number.value * std::numbers::pi) : number;
  }

  // '√2' and '{base}^({2 · f}/{n})': worked out, and written as they stand.
  Pattern notated() {
    const std::string_view begin = scanner_.rest();
    const bool was_notated = std::exchange(is_notated_, true);
    Pattern value = term();
    is_notated_ = was_notated;
    const std::string_view written = begin.substr(0, begin.size() - scanner_.rest().size());
    expect("'");
    return {.kind = Kind::notated, .parts = {std::move(value)}, .pieces = sentence(written)};
  }

  Pattern hole_of_notation() {
    if (!is_notated_) fail_here("{ stands in a notation only");
    Pattern inside = term();
    expect("}");
    return inside;
  }

  Pattern in_parentheses() {
    Pattern first = condition_or_term();
    if (!is_condition(first)) {
      expect(")");
      return first;
    }
    Pattern choice = made(Kind::choice, {std::move(first)});
    for (;;) {
      expect(":");
      choice.parts.push_back(term());
      expect(";");
      Pattern next = condition_or_term();
      const bool is_last = !is_condition(next);
      choice.parts.push_back(std::move(next));
      if (is_last) break;
    }
    expect(")");
    return choice;
  }

  std::size_t operand(std::string_view name) const {
    const auto found = std::ranges::find(text_.operands, name);
    if (found == text_.operands.end()) fail_unknown("operand", name, text_.operands);
    return static_cast<std::size_t>(found - text_.operands.begin());
  }

  Pattern named() {
    const std::string name(scanner_.name());
    if (take("(")) {
      Pattern result = called(name);
      expect(")");
      return result;
    }
    if (take("[")) {
      Pattern result = at_place(name);
      expect("]");
      return result;
    }
    if (const auto found = abbreviations_.find(name); found != abbreviations_.end()) return found->second;
    if (const auto found = slots_.find(name); found != slots_.end())
      return {.kind = Kind::letter, .index = found->second};
    if (has_notation(name) || holds(counts_of_operations, name)) return {.kind = Kind::setting, .name = name};
    std::vector<std::string> known;
    for (const auto& [slot, place] : slots_) known.push_back(slot);
    for (const auto& [abbreviation, pattern] : abbreviations_) known.push_back(abbreviation);
    known.insert(known.end(), numbers_of_operations.begin(), numbers_of_operations.end());
    known.insert(known.end(), counts_of_operations.begin(), counts_of_operations.end());
    fail_unknown("name", name, known);
  }

  Pattern at_place(const std::string& name) {
    Pattern row = term();
    if (holds(lists_of_operations, name)) return {.kind = Kind::element, .name = name, .parts = {std::move(row)}};
    expect(",");
    const std::size_t place = operand(name);
    Pattern column = term();
    return {.kind = Kind::cell, .index = place, .parts = {std::move(row), std::move(column)}};
  }

  Pattern called(const std::string& name) {
    if (name == "sum") return over(Kind::added_up);
    if (name == "abs") return made(Kind::magnitude, {term()});
    if (const auto found = std::ranges::find(calls_of_sizes, name, &NamedCall::name); found != calls_of_sizes.end()) {
      const std::string of = new_name();
      return {.kind = found->kind, .index = of == "result" ? of_result : operand(of)};
    }
    if (const auto found = std::ranges::find(calls_of_rows, name, &NamedCall::name); found != calls_of_rows.end()) {
      const std::size_t place = operand(new_name());
      expect("[");
      Pattern row = term();
      expect("]");
      return {.kind = found->kind, .index = place, .parts = {std::move(row)}};
    }
    if (const auto found = std::ranges::find(calls_of_places, name, &NamedCall::name); found != calls_of_places.end()) {
      Pattern first = term();
      expect(",");
      return made(found->kind, {std::move(first), term()});
    }
    const auto has_name = [&](const Function* function) { return function->name == name; };
    if (const auto found = std::ranges::find_if(callable, has_name); found != callable.end())
      return {.kind = Kind::call, .function = *found, .parts = {term()}};
    std::vector<std::string> known = {"sum", "abs"};
    for (const NamedCall& one : calls_of_sizes) known.emplace_back(one.name);
    for (const NamedCall& one : calls_of_rows) known.emplace_back(one.name);
    for (const NamedCall& one : calls_of_places) known.emplace_back(one.name);
    for (const Function* function : callable) known.emplace_back(function->name);
    fail_unknown("function", name, known);
  }

  // --- sentences: words, and holes in braces

  // A line that is broken goes on with one blank.
  static std::string in_one_line(std::string_view words) {
    std::string line;
    bool is_indent = false;
    for (const char c : words) {
      if (is_indent && c == ' ') continue;
      is_indent = c == '\n';
      line += is_indent ? ' ' : c;
    }
    return line;
  }

  CellSentence sentence(std::string_view words) {
    CellSentence pieces;
    while (!words.empty()) {
      const std::size_t open = words.find('{');
      if (open != 0) pieces.push_back({.words = in_one_line(words.substr(0, open)), .pattern = {}});
      if (open == std::string_view::npos) break;
      const std::size_t close = words.find('}', open);
      if (close == std::string_view::npos) fail("'{}': }} is missing", words);
      pieces.push_back(hole(words.substr(open + 1, close - open - 1)));
      words.remove_prefix(close + 1);
    }
    return pieces;
  }

  // Read with the names that are known here.
  CellPiece hole(std::string_view inside) {
    const QuantityScanner outer = std::exchange(scanner_, QuantityScanner(inside));
    CellPiece piece = read_hole();
    if (!scanner_.is_at_end()) fail_here("a hole ends");
    scanner_ = outer;
    return piece;
  }

  CellPiece read_hole() {
    using PieceKind = CellPiece::Kind;
    const std::string name(scanner_.next_name());
    if (take_word("row")) return label(PieceKind::row_label);
    if (take_word("column")) return label(PieceKind::column_label);
    if (take_word("source")) return {.kind = PieceKind::source, .pattern = {term()}};
    if (take_word("list")) return list_of_rows();
    if (holds(words_of_operations, name)) {
      scanner_.name();
      return {.kind = PieceKind::number, .pattern = {{.kind = Kind::setting, .name = name}}};
    }
    const bool is_title = std::ranges::find(text_.operands, name) != text_.operands.end();
    if (is_title && scanner_.rest() == name) {
      scanner_.name();
      return {.kind = PieceKind::title, .operand = operand(name), .pattern = {}};
    }
    Pattern pattern = term();
    return {.kind = pattern.kind == Kind::cell ? PieceKind::cell : PieceKind::number, .pattern = {std::move(pattern)}};
  }

  CellPiece label(CellPiece::Kind kind) {
    Pattern place = term();
    expect_word("of");
    return {.kind = kind, .operand = operand(scanner_.name()), .pattern = {std::move(place)}};
  }

  // "list k = … where …: row k of x"
  CellPiece list_of_rows() {
    Pattern all = over(Kind::added_up, "row");
    expect_word("of");
    return {.kind = CellPiece::Kind::list_of_rows, .operand = operand(scanner_.name()), .pattern = {std::move(all)}};
  }

  static constexpr int deepest = 50;

  QuantityScanner scanner_;
  CellText text_;
  std::map<std::string, std::size_t, std::less<>> slots_ = {{"i", 0}, {"j", 1}};
  std::vector<std::string> names_of_slots_ = {"i", "j"};
  std::map<std::string, Pattern, std::less<>> abbreviations_;
  bool is_notated_ = false;
  int depth_ = 0;
};

}  // namespace

bool has_notation(std::string_view setting) { return holds(numbers_of_operations, setting); }

CellText read_cell_text(std::string_view text) { return CellReader(text).read(); }

const CellText& cell_text_of(const Op& op) {
  static std::mutex mutex;
  static std::map<const Op*, CellText> texts;
  const std::scoped_lock lock(mutex);
  const auto found = texts.find(&op);
  return found != texts.end() ? found->second : texts.emplace(&op, read_cell_text(op.cell)).first->second;
}

}  // namespace attn
