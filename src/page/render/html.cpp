#include "page/render/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/graph/formula.hpp"
#include "core/support/number.hpp"
#include "page/render/derivation_steps.hpp"
#include "page/render/format.hpp"
#include "page/render/mathml.hpp"
#include "page/render/style.hpp"
#include "page/render/svg.hpp"
#include "page/render/table_layout.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

// --- html

constexpr int levels_of_shade = 9;  // of shades of a cell

// A formula that was read from a file may have any LaTeX: then its plain form stands for it.
std::string formula_in_html(const Formula& formula, MathPlace place) {
  if (is_our_latex(formula.latex)) return mathml(formula.latex, place);
  return "<code>" + in_markup(formula.plain) + "</code>";
}

constexpr MarksOfSpans marks_in_html = {
    {{"", ""}, {"<strong>", "</strong>"}, {"<em>", "</em>"}, {"<code>", "</code>"}, {"", ""}}};

std::string text_in_html(const Text& text) {
  return text_with_marks(text, marks_in_html, [](const Span& span) {
    return span.style == Span::Style::formula ? formula_in_html({span.text, span.latex}, MathPlace::among_words)
                                              : in_markup(span.text);
  });
}

// How many there are, and what they are: "2 rows (queries)".
std::string written_size(std::size_t count, std::string_view noun, const Axis& axis) {
  const bool says_more = !axis.name.empty() && axis.name != std::string(noun) + "s";
  return count_of(count, noun) + (says_more ? " (" + axis.name + ")" : "");
}

// Ends the begin of a cell with the class of its shade: p1 to p9 for more than zero, n1 to n9 for less.
void append_shade_class(std::string& line, double strength) {
  const long level = std::lround(std::fabs(strength) * levels_of_shade);
  if (level == 0) return line.push_back('>');
  line += strength < 0.0 ? " class=\"n" : " class=\"p";
  line += static_cast<char>('0' + level);
  line += "\">";
}

// A list and nothing else.
bool is_list(const ParagraphsWithMargins& margined) {
  return std::ranges::all_of(margined.lines,
                             [](const ParagraphsWithMargins::Line& line) { return line.first == "- "; });
}

class HtmlWriter final : public Writer {
 public:
  using Writer::write;
  HtmlWriter(const Style& style, Sink& sink, std::string ids)
      : Writer(style), style_(style), sink_(sink), ids_(std::move(ids)) {}

  void write(const Heading& heading) override {
    level_ = std::clamp(outer_level_ + heading.level, 1, deepest_heading);
    sink_.write(fmt::format("<h{0}>{1}</h{0}>\n", level_, text_in_html(heading.text)));
  }

  void write(const Prose& prose) override { sink_.write("<p>" + text_in_html(prose.text) + "</p>\n"); }

  void write(const FormulaBlock& block) override {
    sink_.write(fmt::format("<div class=\"formula\">{} <span class=\"shapes\">{}</span></div>\n",
                            formula_in_html(block.formula, MathPlace::alone), in_markup(written_shapes(block))));
  }

  void write(const Table& table) override {
    static constexpr RowForm form{.label = {"<tr><th scope=\"row\">", "</th>"},
                                  .column = {"<th scope=\"col\">", "</th>"},
                                  .cell = {"<td", "</td>"},
                                  .sum = {"<td class=\"sum\">", "</td>"},
                                  .end = "</tr>\n",
                                  .masked = "<span aria-hidden=\"true\">·</span><span class=\"heard\">masked</span>",
                                  .label_of = header,
                                  .shade = append_shade_class};
    const TableWalk walk(table, style_.precision);
    write_caption(table, table.cells->shape());
    sink_.write("<thead>\n<tr><td></td>" + walk.column_labels(form, walk.all(), table.row_sums) +
                "</tr>\n</thead>\n<tbody>\n");
    const bool masked = walk.write_rows(form, walk.all(), table.row_sums, sink_);
    sink_.write("</tbody>\n</table>\n");
    if (masked) sink_.write("<p class=\"legend\">· masked</p>\n");
    sink_.write("</div>\n");
  }

  void write(const SideBySide& group) override {
    sink_.write("<div class=\"beside\">\n");
    Writer::write(group);
    sink_.write("</div>\n");
  }

  // One factor at the left, the other above the result.
  void write(const ProductBlock& product) override {
    sink_.write("<div class=\"product\">\n<div></div>\n");
    for (const Table* table : {&product.right, &product.left, &product.result}) write(*table);
    sink_.write("</div>\n");
  }

  void write(const HeatMaps& maps) override {
    sink_.write("<div class=\"beside\">\n");
    Writer::write(maps);
    sink_.write("</div>\n");
  }

  void write(const Drawing& drawing) override {
    sink_.write("<figure>\n" + svg_of(drawing, fmt::format("{}-{}", ids_, ++drawings_)) + "</figure>\n");
  }

  void write(const Listing& all) override {
    const Listing listing = for_readers(all);
    if (listing.columns.empty()) return;
    sink_.write("<div class=\"wide\">\n<table class=\"listing\">\n<thead>\n<tr>");
    for (const std::string& column : listing.columns) sink_.write("<th scope=\"col\">" + in_markup(column) + "</th>");
    sink_.write("</tr>\n</thead>\n<tbody>\n");
    for (const auto& row : listing.rows) {
      sink_.write("<tr>");
      for (const std::string& cell : row) sink_.write("<td>" + in_markup(cell) + "</td>");
      sink_.write("</tr>\n");
    }
    sink_.write("</tbody>\n</table>\n</div>\n");
  }

  void write(const ParagraphsWithMargins& margined) override {
    const auto span = [](const std::string& words) { return words.empty() ? "" : "<span>" + words + "</span>"; };
    if (is_list(margined)) {
      sink_.write("<ul>\n");
      for (const ParagraphsWithMargins::Line& line : margined.lines)
        sink_.write("<li>" + text_in_html(line.text) + "</li>\n");
      return sink_.write("</ul>\n");
    }
    sink_.write("<div class=\"margined\">\n");
    for (const ParagraphsWithMargins::Line& line : margined.lines) {
      const std::string words = span(in_markup(line.first)) + span(text_in_html(line.text));
      if (!words.empty()) sink_.write("<p>" + words + "</p>\n");
    }
    sink_.write("</div>\n");
  }

  void write(const CodeBlock& block) override {
    sink_.write("<pre tabindex=\"0\"><code>" + lines_in_markup(block.text) + "</code></pre>\n");
  }

  void write(const Note& note) override {
    sink_.write("<div class=\"note\">\n");
    Writer::write(note);
    sink_.write("</div>\n");
  }

  void write(const FoldedBlock& folded) override {
    sink_.write("<details>\n<summary>" + in_markup(folded.title) + "</summary>\n");
    write(folded.page->blocks);
    sink_.write("</details>\n");
  }

  // Its headings stand below the one that it stands under.
  void write(const CommandOutput& output) override {
    const Style within = style_within(output, style_);
    HtmlWriter writer(within, sink_, ids_);
    writer.drawings_ = drawings_;
    writer.outer_level_ = level_ + 1 - highest_heading(output.page->blocks);
    sink_.write("<div class=\"output\">\n");
    writer.write(output.page->blocks);
    sink_.write("</div>\n");
    drawings_ = writer.drawings_;
  }

  void write(const DerivationStep& whole) override {
    const DerivationStep derived = with_short_sums(whole, style_.full);
    sink_.write(
        "<div class=\"wide\">" +
        mathml("\\begin{aligned}" + aligned_steps(derived, style_.precision) + "\\end{aligned}", MathPlace::alone) +
        "</div>\n");
    if (!derived.told_reason.empty()) sink_.write("<p class=\"reason\">" + in_markup(derived.told_reason) + "</p>\n");
  }

 protected:
  Metrics metrics() const override { return pixels; }

 private:
  static std::string header(const std::string& label, bool is_marked) {
    return is_marked ? "<mark>" + in_markup(label) + "</mark>" : in_markup(label);
  }

  // As formulas write it; where that is another spelling, with the name that is typed.
  static std::string caption_of(const Table& table) {
    const Formula name = symbol_of(table);
    if (name.latex.empty() || name.latex == latex_of_name(name.plain)) return in_markup(name.plain);
    return formula_in_html(name, MathPlace::among_words) + " <code>" + in_markup(name.plain) + "</code>";
  }

  void write_caption(const Table& table, Shape shape) {
    constexpr std::size_t many = 6;  // columns, which a telephone has no room for
    sink_.write(
        fmt::format("<div class=\"wide\"{}>\n<table class=\"matrix\"", shape.columns > many ? " tabindex=\"0\"" : ""));
    if (!table.array.empty()) sink_.write(" data-matrix=\"" + in_markup(table.array) + "\"");
    sink_.write(fmt::format(">\n<caption>{} <span class=\"size\">{}, {}</span></caption>\n", caption_of(table),
                            in_markup(written_size(shape.rows, "row", table.rows)),
                            in_markup(written_size(shape.columns, "column", table.columns))));
  }

  const Style& style_;
  Sink& sink_;
  const std::string ids_;
  std::size_t drawings_ = 0;
  int outer_level_ = 0;  // is added to the levels of headings
  int level_ = 0;        // of the last heading
};

std::string title_of_page(const Page& page) {
  for (const Block& block : page.blocks) {
    if (const Heading* const heading = std::get_if<Heading>(&block)) return words_of(heading->text);
  }
  for (const Block& block : page.blocks) {
    if (const Table* const table = std::get_if<Table>(&block)) return table->title;
  }
  return "attn";
}

constexpr std::string_view rules_of_page = R"(
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
)";

constexpr std::string_view rules_of_blocks = R"(
h1, h2, h3, h4, h5, h6 { line-height: 1.25; margin: 1.6em 0 0.5em; }
h1 { margin-top: 0; }
p { max-width: 44rem; }
a { color: var(--link); }
pre, code { font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; }
code { font-size: 0.9em; }
pre { padding: 0.8em 1em; overflow-x: auto; background: var(--box); border-radius: 4px; line-height: 1.25; }
figure { margin: 1em 0; overflow-x: auto; }
.wide { position: relative; overflow-x: auto; margin: 1em 0; }
.beside { display: flex; flex-wrap: wrap; gap: 0 2rem; }
.product { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0 2rem; align-items: end; }
@media (max-width: 40rem) { .product { display: block; } }
.formula { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 2rem; overflow-x: auto; }
math[display="block"] { width: fit-content; margin: 0.4em 0; }
mtable.aligned mtd { text-align: left; padding: 0.25em 0.1em; }
mtable.aligned mtd:first-child { text-align: right; }
mtable.cases mtd { text-align: left; }
.shapes, .size, .legend, .reason { color: var(--quiet); font-size: 0.9em; font-weight: normal; }
.size { display: block; }
caption code { font-weight: normal; color: var(--quiet); }
.legend, .reason { margin: 0.3em 0 1em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: bold; padding-bottom: 0.3em; white-space: nowrap; }
th, td { padding: 0.2em 0.6em; border-bottom: 1px solid var(--rule); text-align: right; white-space: pre; }
thead th { border-bottom: 2px solid var(--quiet); }
th { font-weight: 600; unicode-bidi: plaintext; }
tbody th { text-align: left; }
strong { unicode-bidi: isolate; }
.sum { border-left: 1px solid var(--rule); }
.listing th, .listing td { text-align: left; vertical-align: top; white-space: pre-wrap; }
.margined p { display: flex; margin: 0.2em 0; white-space: pre-wrap; }
.note, .output { margin: 1em 0; padding: 0.1em 1em; border-left: 4px solid var(--link); background: var(--box); }
.heard { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
td { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
@media print {
body { font: 9.5pt/1.3 system-ui, sans-serif; } main { max-width: none; padding: 0; }
.wide, figure, pre { overflow: visible; } tr, .wide, figure, .formula, .note { break-inside: avoid; }
.size { display: inline; margin-left: 0.6em; } th, td { padding: 0.05em 0.6em; }
:is(h1, h2, h3, caption, thead, .beside) { break-after: avoid; }
:is(h2, h3, h4, h5, h6) { margin: 0.7em 0 0.1em; font-size: 1.1em; } :is(.wide, .note, .output, figure, p) { margin: 0.25em 0; }
}
)";

// Even the strongest shade leaves a number on it readable.
std::string rules_for_shades() {
  std::string text;
  for (const auto& [kind, color] : {std::pair{'p', "positive"}, std::pair{'n', "negative"}}) {
    for (int level = 1; level <= levels_of_shade; ++level)
      text += fmt::format(".{}{} {{ background: rgba(var(--{}), 0.{:02}); }}\n", kind, level, color, 6 * level);
  }
  return text;
}

// What blocks look like, wherever they stand.
std::string rules_within() {
  return std::string(rules_of_blocks) + rules_for_shades() + std::string(rules_for_drawings());
}

// The rules of a part are for what is in it: the page around it keeps its own.
std::string begin_of_part() {
  constexpr std::string_view part = ".attn";
  return fmt::format(
      "<section class=\"attn\">\n<style>{}{} {{ color: var(--ink); background: var(--ground); {} }}\n</style>\n",
      color_variables(part), part, rules_within());
}

// --- markup

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace

// --- html

std::unique_ptr<Writer> html_writer(const Style& style, Sink& sink, std::string ids) {
  return std::make_unique<HtmlWriter>(style, sink, std::move(ids));
}

std::string html_rules() { return color_variables() + std::string(rules_of_page) + rules_within(); }

std::string html_begin(const HtmlHead& head) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<style>{}{}</style>\n</head>\n<body>\n<main>\n",
      in_markup(head.policy), in_markup(head.title), html_rules(), head.more_rules);
}

void render_html(const Page& page, const Style& style, Sink& sink) {
  if (const MarkupSettings& part = style.settings<MarkupSettings>(); part.is_part) {
    sink.write(begin_of_part());
    html_writer(style, sink, part.begin_of_ids())->write(page.blocks);
    return sink.write("</section>\n");
  }
  sink.write(html_begin({.title = title_of_page(page)}));
  html_writer(style, sink)->write(page.blocks);
  sink.write(html_end);
}

// --- markup

std::string in_markup(std::string_view text) { return escaped(printable(text)); }

std::string lines_in_markup(std::string_view lines) { return escaped(printable_lines(lines)); }

}  // namespace attn
