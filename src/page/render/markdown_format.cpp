#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "data/files/cell_values.hpp"
#include "page/render/derivation_steps.hpp"
#include "page/render/format.hpp"
#include "page/render/html.hpp"
#include "page/render/mathml.hpp"
#include "page/render/table_layout.hpp"
#include "page/render/width.hpp"

namespace attn {
namespace {

// A cell of a listing: the spaces that it begins with stay.
std::string cell_of_listing(std::string_view text) {
  const std::size_t spaces = std::min(text.find_first_not_of(' '), text.size());
  std::string result;
  for (std::size_t i = 0; i < spaces; ++i) result += "&nbsp;";
  return result + escaped_markdown(text.substr(spaces));
}

std::string code_span(std::string_view text) {
  std::string fence = "`";
  while (text.find(fence) != std::string_view::npos) fence += '`';
  const bool touches = text.starts_with('`') || text.ends_with('`');
  return fence + (touches ? " " : "") + printable(text) + (touches ? " " : "") + fence;
}

// GitHub's renderer refuses \operatorname.
std::string for_renderers(std::string latex) {
  constexpr std::string_view refused = "\\operatorname{", taken = "\\mathrm{";
  for (std::size_t at; (at = latex.find(refused)) != std::string::npos;) latex.replace(at, refused.size(), taken);
  return latex;
}

// A reader of Markdown that knows no mathematics finds its own marks in a formula: a tag, an address, a picture.
bool has_marks(std::string_view latex) {
  for (std::size_t at = latex.find('<'); at != std::string_view::npos; at = latex.find('<', at + 1)) {
    const unsigned char next = at + 1 < latex.size() ? static_cast<unsigned char>(latex[at + 1]) : ' ';
    if (std::isalpha(next) != 0 || std::string_view("/!?").find(static_cast<char>(next)) != std::string_view::npos)
      return true;
  }
  return std::ranges::any_of(std::array{"](", "![", "][", "://", "`"},
                             [&](std::string_view mark) { return latex.find(mark) != std::string_view::npos; });
}

// A formula that was read from a file may have any LaTeX: then its plain form stands for it, as code.
bool is_formula(std::string_view latex) { return is_our_latex(latex) && !has_marks(latex); }
bool is_formula_of_one_line(std::string_view latex) {
  return latex.find('\n') == std::string_view::npos && is_formula(latex);
}

// Words between marks. Blanks stand outside of them: Markdown sets off nothing that a blank ends.
std::string set_off(const Marks& marks, std::string_view words) {
  if (marks.before.empty()) return escaped_markdown(words);
  const std::size_t begin = std::min(words.find_first_not_of(' '), words.size());
  const std::size_t end = std::max(begin, words.find_last_not_of(' ') + 1);
  if (begin == end) return std::string(words);
  const std::string inside = escaped_markdown(words.substr(begin, end - begin));
  return fmt::format("{}{}{}{}{}", words.substr(0, begin), marks.before, inside, marks.after, words.substr(end));
}

constexpr MarksOfSpans marks_in_markdown = {{{"", ""}, {"**", "**"}, {"*", "*"}, {"", ""}, {"", ""}}};

std::string text_in_markdown(const Text& text, MathMarks math) {
  std::string result;
  for (const Span& span : text) {
    if (span.style == Span::Style::formula && math == MathMarks::fences && is_formula_of_one_line(span.latex)) {
      result += "$`" + for_renderers(span.latex) + "`$";
    } else if (span.style == Span::Style::code) {
      result += code_span(span.text);
    } else {
      result += set_off(marks_of(span, marks_in_markdown), span.text);
    }
  }
  return result;
}

class MarkdownWriter final : public Writer {
 public:
  using Writer::write;
  MarkdownWriter(const Style& style, Sink& sink) : Writer(style), style_(style), sink_(sink) {}

  void write(const Heading& heading) override {
    gap();
    sink_.write(std::string(static_cast<std::size_t>(heading.level), '#') + " " +
                text_in_markdown(heading.text, math_) + "\n");
  }

  void write(const Prose& prose) override {
    gap();
    sink_.write(text_in_markdown(prose.text, math_) + "\n");
  }

  void write(const FormulaBlock& block) override {
    gap();
    if (is_formula_of_one_line(block.formula.latex)) {
      write_formula(block.formula.latex);
    } else {
      sink_.write(code_span(block.formula.plain) + "\n");
    }
    sink_.write("\n" + escaped_markdown(written_shapes(block)) + "\n");
  }

  void write(const Table& table) override {
    gap();
    static constexpr RowForm form{.label = {"| ", " |"},
                                  .column = {" ", " |"},
                                  .cell = {" ", " |"},
                                  .sum = {" ", " |"},
                                  .end = "\n",
                                  .masked = "·",
                                  .label_of = header};
    const TableWalk walk(table, style_.precision);
    sink_.write("| " + escaped_markdown(table.title) + " |" + walk.column_labels(form, walk.all(), table.row_sums) +
                "\n| :--- |");
    for (std::size_t j = 0; j < walk.all().count + (table.row_sums ? 1 : 0); ++j) sink_.write(" ---: |");
    sink_.write("\n");
    if (walk.write_rows(form, walk.all(), table.row_sums, sink_)) sink_.write("\n· masked\n");
  }

  void write(const Listing& all) override {
    const Listing listing = for_readers(all);
    if (listing.columns.empty()) return;
    gap();
    std::string rule = "|";
    sink_.write("|");
    for (const std::string& column : listing.columns) {
      sink_.write(" " + escaped_markdown(column) + " |");
      rule += " --- |";
    }
    sink_.write("\n" + rule + "\n");
    for (const auto& row : listing.rows) {
      sink_.write("|");
      for (const std::string& cell : row) sink_.write(" " + cell_of_listing(cell) + " |");
      sink_.write("\n");
    }
  }

  void write(const FoldedBlock& folded) override {
    gap();
    sink_.write("<details>\n<summary>" + in_markup(folded.title) + "</summary>\n");
    write(folded.page->blocks);
    sink_.write("\n</details>\n");
  }

  void write(const ParagraphsWithMargins& margined) override {
    gap();
    for (const ParagraphsWithMargins::Line& line : margined.lines) {
      const std::string text = line.first + text_in_markdown(line.text, math_);
      sink_.write(text.substr(0, text.find_last_not_of(' ') + 1) + "\n");
    }
  }

  void write(const CodeBlock& block) override {
    gap();
    if (block.language == "markdown") return sink_.write(block.text + "\n");
    const std::string fence = fence_around(block.text);
    sink_.write(fence + printable(block.language) + "\n" + printable_lines(block.text) + "\n" + fence + "\n");
  }

  void write(const DerivationStep& whole) override {
    const DerivationStep derived = with_short_sums(whole, style_.full);
    const std::string steps = aligned_steps(derived, style_.precision);
    const std::string formula = "\\begin{aligned}\n" + steps + "\\end{aligned}";
    if (!is_formula(formula)) return Writer::write(whole);
    gap();
    write_formula(formula);
    if (!derived.told_reason.empty()) sink_.write("\n" + escaped_markdown(derived.told_reason) + "\n");
  }

 private:
  void gap() {
    if (!first_) sink_.write("\n");
    first_ = false;
  }

  static std::string header(const std::string& label, bool is_marked) {
    return is_marked ? "**" + escaped_markdown(label) + "**" : escaped_markdown(label);
  }

  void write_formula(const std::string& latex) {
    if (math_ == MathMarks::dollars) return sink_.write("$$" + latex + "$$\n");
    sink_.write("```math\n" + for_renderers(latex) + "\n```\n");
  }

  const Style& style_;
  MathMarks math_ = style_.settings<MarkdownSettings>().math;
  Sink& sink_;
  bool first_ = true;
};

}  // namespace

std::string escaped_markdown(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_{}[]<>#|$~&").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string fence_around(std::string_view text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(std::max<std::size_t>(3, longest + 1), '`');
}

void render_markdown(const Page& page, const Style& style, Sink& sink) {
  MarkdownWriter(style, sink).write(page.blocks);
}

}  // namespace attn
