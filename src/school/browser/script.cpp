#include "school/browser/script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/term/cell_text.hpp"

namespace attn {
namespace {

using PatternKind = Pattern::Kind;

// Writes the text of one operation as two functions: of one cell, which a `make` works out or keeps as a tree; and of
// all cells at once, in the same order of the same operations.
class CellScript {
 public:
  explicit CellScript(const Op& op) : op_(op), text_(cell_text_of(op)) {}

  std::string function() {
    std::string all = fmt::format(
        "  {}: (make, node, row, column) => {{\n    const i = row + 1;\n    const j = column + 1;\n", op_.name);
    if (!text_.operands.empty() && text_.joined == CellText::Joining::no)
      all += fmt::format("    const [{}] = node.operands;\n", fmt::join(text_.operands, ", "));
    all += "    const s = node.attributes;\n";
    for (const CellText::Binding& binding : text_.bindings)
      all += fmt::format("    const {} = {};\n", binding.name, number(binding.pattern));
    for (const CellText::Case& one : text_.cases) all += case_of(one);
    return all + "  },\n";
  }

  std::string function_of_all() {
    if (text_.joined != CellText::Joining::no)
      return fmt::format("  {0}: (node) => eachCell(node, operations.{0}),\n", op_.name);
    is_of_all_ = true;
    std::string all = fmt::format("  {}: (node) => {{\n", op_.name), names = "    const node_cells = node.cells;\n";
    if (!text_.operands.empty())
      all += fmt::format("    const [{}] = node.operands;\n", fmt::join(text_.operands, ", "));
    for (const std::string& operand : text_.operands)
      names += fmt::format("    const {0}_cells = {0}.cells, {0}_columns = {0}.columns;\n", operand);
    all += names + "    const s = node.attributes, $rows = node.rows, $columns = node.columns;\n    let $place = 0;\n" +
           "    for (let i = 1; i <= $rows; ++i) for (let j = 1; j <= $columns; ++j) {\n";
    for (const CellText::Binding& binding : text_.bindings)
      all += fmt::format("      const {} = {};\n", binding.name, number(binding.pattern));
    std::string value;
    for (const CellText::Case& one : text_.cases)
      value += one.condition ? fmt::format("{} ? {} : ", number(*one.condition), number(one.term)) : number(one.term);
    is_of_all_ = false;
    return all + fmt::format("      node_cells[$place++] = {};\n    }}\n  }},\n", value);
  }

 private:
  std::string case_of(const CellText::Case& one) {
    std::string lines;
    const std::string_view indent = one.condition ? "      " : "    ";
    if (one.condition) lines += fmt::format("    if ({}) {{\n", number(*one.condition));
    if (!one.because.empty()) lines += fmt::format("{}make.because(() => {});\n", indent, words(one.because));
    lines += fmt::format("{}return {};\n", indent, tree(one.term));
    if (one.condition) lines += "    }\n";
    return lines;
  }

  std::string name_of(std::size_t operand) const { return operand == of_result ? "node" : text_.operands[operand]; }
  const std::string& variable(std::size_t slot) const { return text_.slot_names[slot]; }

  static std::string literal(double value) {
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
  }

  // --- numbers and conditions, worked out

  std::string both(const Pattern& pattern, std::string_view sign) {
    std::vector<std::string> parts;
    for (const Pattern& part : pattern.parts) parts.push_back(number(part));
    return fmt::format("({})", fmt::join(parts, sign));
  }

  std::string number(const Pattern& pattern) {
    const auto part = [&](std::size_t i) { return number(pattern.parts[i]); };
    switch (pattern.kind) {
      case PatternKind::number:
        return literal(pattern.value);
      case PatternKind::notated:
        return part(0);
      case PatternKind::letter:
        return variable(pattern.index);
      case PatternKind::setting:
        return "s." + pattern.name;
      case PatternKind::element:
        return fmt::format("s.{}[{} - 1]", pattern.name, part(0));
      case PatternKind::cell:
        return cell(pattern, "numbers");
      case PatternKind::rows:
      case PatternKind::sentence:
        return name_of(pattern.index) + ".rows";
      case PatternKind::columns:
        return name_of(pattern.index) + ".columns";
      case PatternKind::place:
        return fmt::format("placeOfLargest({}, {})", name_of(pattern.index), part(0));
      case PatternKind::total:
        return fmt::format("totalOf({}, {})", name_of(pattern.index), part(0));
      case PatternKind::exponent:
        return fmt::format("exponentOf({}, {})", name_of(pattern.index), part(0));
      case PatternKind::sum:
        return both(pattern, " + ");
      case PatternKind::difference:
        return both(pattern, " - ");
      case PatternKind::product:
        return both(pattern, " * ");
      case PatternKind::quotient:
        return both(pattern, " / ");
      case PatternKind::negative:
        return fmt::format("(-{})", part(0));
      case PatternKind::power:
        return is_square(pattern) ? fmt::format("square({})", part(0)) : both(pattern, " ** ");
      case PatternKind::call:
        return fmt::format("functions[\"{}\"]({})", pattern.function->name, part(0));
      case PatternKind::added_up:
        return is_of_all_ ? added_up(pattern) : fmt::format("numbers.sum({})", over(pattern, number(body_of(pattern))));
      case PatternKind::choice:
        return choice(pattern, [this](const Pattern& one) { return number(one); });
      case PatternKind::block:
        return fmt::format("(Math.floor(({} - 1) / {}) + 1)", part(0), part(1));
      case PatternKind::within:
        return fmt::format("((({} - 1) % {}) + 1)", part(0), part(1));
      case PatternKind::least:
        return fmt::format("Math.min({}, {})", part(0), part(1));
      case PatternKind::most:
        return fmt::format("Math.max({}, {})", part(0), part(1));
      case PatternKind::distance:
        return fmt::format("distanceBetween(s.distance, {}, {})", part(0), part(1));
      case PatternKind::magnitude:
        return fmt::format("Math.abs({})", part(0));
      case PatternKind::less:
        return both(pattern, " < ");
      case PatternKind::greater:
        return both(pattern, " > ");
      case PatternKind::equal:
        return both(pattern, " === ");
      case PatternKind::unequal:
        return both(pattern, " !== ");
      case PatternKind::both:
        return both(pattern, " && ");
      case PatternKind::every:
        return fmt::format("{}.every((holds) => holds)", over(pattern, number(body_of(pattern))));
    }
    return "";
  }

  template <class Write>
  std::string choice(const Pattern& pattern, const Write& write) {
    std::string all;
    std::size_t i = 0;
    for (; i + 1 < pattern.parts.size(); i += 2)
      all += fmt::format("{} ? {} : ", number(pattern.parts[i]), write(pattern.parts[i + 1]));
    return fmt::format("({}{})", all, write(pattern.parts[i]));
  }

  static const Pattern& body_of(const Pattern& pattern) { return pattern.parts[2 * pattern.slots.size()]; }

  // What stands behind, for all places of the variables: a list.
  std::string over(const Pattern& pattern, std::string_view body) {
    std::vector<std::string> ranges, names;
    for (std::size_t k = 0; k < pattern.slots.size(); ++k) {
      ranges.push_back(fmt::format("[{}, {}]", number(pattern.parts[2 * k]), number(pattern.parts[2 * k + 1])));
      names.push_back(variable(pattern.slots[k]));
    }
    const bool has_condition = pattern.parts.size() == 2 * pattern.slots.size() + 2;
    const std::string holds = has_condition ? number(pattern.parts.back()) : "true";
    return fmt::format("over([{0}], ({1}) => {2}, ({1}) => {3})", fmt::join(ranges, ", "), fmt::join(names, ", "),
                       holds, body);
  }

  static bool is_square(const Pattern& pattern) {
    return pattern.parts[1].kind == PatternKind::number && pattern.parts[1].value == 2.0;
  }

  // The same added up in loops, in the same order.
  std::string added_up(const Pattern& pattern) {
    std::string loops;
    for (std::size_t k = 0; k < pattern.slots.size(); ++k)
      loops += fmt::format("for (let {0} = {1}, $last_{0} = {2}; {0} <= $last_{0}; ++{0}) ", variable(pattern.slots[k]),
                           number(pattern.parts[2 * k]), number(pattern.parts[2 * k + 1]));
    if (pattern.parts.size() == 2 * pattern.slots.size() + 2)
      loops += fmt::format("if ({}) ", number(pattern.parts.back()));
    return fmt::format("(() => {{ let $sum = 0; {}$sum += {}; return $sum; }})()", loops, number(body_of(pattern)));
  }

  std::string cell(const Pattern& pattern, std::string_view made_by) {
    const std::string row = number(pattern.parts[0]), column = number(pattern.parts[1]);
    if (is_of_all_) {
      const std::string name = name_of(pattern.index);
      const std::string columns = pattern.index == of_result ? "$columns" : name + "_columns";
      return fmt::format("{}_cells[({} - 1) * {} + {} - 1]", name, row, columns, column);
    }
    if (text_.joined != CellText::Joining::no)
      return fmt::format("{}.cell(...cellOfJoined(node, \"{}\", {} - 1, {} - 1))", made_by,
                         text_.joined == CellText::Joining::below ? "rows" : "columns", row, column);
    return fmt::format("{}.cell({}, {} - 1, {} - 1)", made_by, name_of(pattern.index), row, column);
  }

  // --- with `make`, which works terms out or keeps them

  std::string tree(const Pattern& pattern) {
    const auto part = [&](std::size_t i) { return tree(pattern.parts[i]); };
    const auto list = [&] {
      std::vector<std::string> parts;
      for (const Pattern& one : pattern.parts) parts.push_back(tree(one));
      return fmt::format("{}", fmt::join(parts, ", "));
    };
    switch (pattern.kind) {
      case PatternKind::notated:
        return fmt::format("make.number({}, {})", number(pattern), words(pattern.pieces));
      case PatternKind::setting:
        return has_notation(pattern.name) ? fmt::format("make.number(s.{0}, notationOf(s, \"{0}\"))", pattern.name)
                                          : fmt::format("make.number(s.{})", pattern.name);
      case PatternKind::cell:
        return cell(pattern, "make");
      case PatternKind::sum:
        return fmt::format("make.sum([{}])", list());
      case PatternKind::product:
        return fmt::format("make.product([{}])", list());
      case PatternKind::difference:
        return fmt::format("make.difference({})", list());
      case PatternKind::quotient:
        return fmt::format("make.quotient({})", list());
      case PatternKind::power:
        return fmt::format("make.square({})", part(0));
      case PatternKind::call:
        return fmt::format("make.call(\"{}\", {})", pattern.function->name, part(0));
      case PatternKind::added_up:
        return fmt::format("make.sum({})", over(pattern, tree(body_of(pattern))));
      case PatternKind::choice:
        return choice(pattern, [this](const Pattern& one) { return tree(one); });
      default:
        return fmt::format("make.number({})", number(pattern));
    }
  }

  // --- sentences, as templates

  std::string words(const CellSentence& pieces) {
    std::string all;
    for (const CellPiece& piece : pieces)
      all += piece.kind == CellPiece::Kind::words ? escaped(piece.words) : "${" + hole(piece) + "}";
    return "`" + all + "`";
  }

  static std::string escaped(std::string_view words) {
    std::string all;
    for (const char c : words) {
      if (c == '`' || c == '\\' || c == '$') all += '\\';
      all += c;
    }
    return all;
  }

  std::string hole(const CellPiece& piece) {
    const std::string operand = text_.operands.empty() ? "" : name_of(piece.operand);
    switch (piece.kind) {
      case CellPiece::Kind::cell: {
        const Pattern& of = piece.pattern[0];
        return fmt::format("calledCell({}, {}, {})", name_of(of.index), number(of.parts[0]), number(of.parts[1]));
      }
      case CellPiece::Kind::number:
        return written(piece.pattern[0]);
      case CellPiece::Kind::title:
        return operand + ".title";
      case CellPiece::Kind::row_label:
        return fmt::format("labelOf({}.rowAxis, {} - 1)", operand, number(piece.pattern[0]));
      case CellPiece::Kind::column_label:
        return fmt::format("labelOf({}.columnAxis, {} - 1)", operand, number(piece.pattern[0]));
      case CellPiece::Kind::list_of_rows: {
        const Pattern& of = piece.pattern[0];
        const std::string label = fmt::format("labelOf({}.rowAxis, {} - 1)", operand, number(body_of(of)));
        return over(of, label) + ".join(\", \")";
      }
      case CellPiece::Kind::source: {
        const Pattern& of = piece.pattern[0];
        return fmt::format("copiedFrom({}, {} - 1, {} - 1)", name_of(of.index), number(of.parts[0]),
                           number(of.parts[1]));
      }
      case CellPiece::Kind::words:
        break;
    }
    return "";
  }

  std::string written(const Pattern& pattern) {
    if (pattern.kind == PatternKind::notated) return words(pattern.pieces);
    if (pattern.kind != PatternKind::setting) return fmt::format("writtenShortest({})", number(pattern));
    if (has_notation(pattern.name)) return fmt::format("notationOf(s, \"{}\")", pattern.name);
    return fmt::format("writtenSetting(s.{})", pattern.name);
  }

  const Op& op_;
  const CellText& text_;
  bool is_of_all_ = false;  // which of the two functions is written
};

}  // namespace

std::string script_of_operations(std::span<const Op* const> all) {
  std::string script = "\nconst operations = {\n";
  for (const Op* op : all) script += CellScript(*op).function();
  script += "};\n\n// The same for all cells of a node at once, in place.\nconst computations = {\n";
  for (const Op* op : all) script += CellScript(*op).function_of_all();
  script += "};\n\n// Those that compute no number.\nconst movingOperations = new Set([";
  for (const Op* op : all) {
    if (op->moves) script += fmt::format("\"{}\", ", op->name);
  }
  return script + "]);\n";
}

std::vector<const Op*> operations_of(const Graph& graph) {
  std::vector<const Op*> all;
  for (const Node& node : graph.nodes()) {
    if (node.op && std::ranges::find(all, node.op) == all.end()) all.push_back(node.op);
  }
  return all;
}

}  // namespace attn
