#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <utility>

#include "core/support/utf8.hpp"
#include "page/render/derivation_steps.hpp"
#include "page/render/format.hpp"
#include "page/render/mathml.hpp"
#include "page/render/style.hpp"
#include "page/render/table_layout.hpp"
#include "page/render/tex.hpp"
#include "page/render/width.hpp"

namespace attn {
namespace {

constexpr double digits_in_line = 66.0;  // of 10 pt, in a line of the usual document (345 pt)
constexpr double between_columns = 2.4;  // in digits
constexpr std::size_t most_rows_of_page = 35;
constexpr double longest_label_in_digits = 22.0;  // in digits; a longer one is broken into lines
constexpr std::size_t most_rows_of_bracket = 12;

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80U; });
}

// A formula that was read from a file may have any LaTeX: then its plain form stands for it.
std::string in_math(const Formula& formula) {
  return is_our_latex(formula.latex) && is_ascii(formula.latex) ? formula.latex
                                                                : "\\text{" + in_tex(formula.plain) + "}";
}

// What a matrix is called, as in the formulas around it; a table of other numbers has words.
std::string name_of(const Table& table) {
  const Formula name = symbol_of(table);
  return name.latex.empty() ? "\\text{" + in_tex(name.plain) + "}" : in_math(name);
}

constexpr MarksOfSpans marks_in_latex = {
    {{"", ""}, {"\\textbf{", "}"}, {"\\emph{", "}"}, {"\\texttt{", "}"}, {"$", "$"}}};

// The matrices that a page shows, by the names that its sentences have for them, as formulas write them.
using NamesInMath = std::map<std::string, std::string, std::less<>>;

std::string text_in_latex(const Text& text, const NamesInMath& names) {
  char before = ' ';
  const auto name_in_span = [&](const Span& span) {
    return span.style == Span::Style::code ? names.find(span.text) : names.end();
  };
  Text spans = text;
  for (Span& span : spans) {
    if (const auto name = name_in_span(span); name != names.end())
      span = {Span::Style::formula, std::move(span.text), name->second};
  }
  return text_with_marks(spans, marks_in_latex, [&](const Span& span) {
    const char last = std::exchange(before, span.text.empty() ? before : span.text.back());
    if (span.style == Span::Style::formula) return in_math({span.text, span.latex});
    return breakable(span.style == Span::Style::code ? span.text : with_quotation_marks(span.text, last));
  });
}

// A word in a cell: a long one may break anywhere, as those do that know no blanks.
std::string label_cell(std::string_view label) {
  if (width_in_tex(label) <= longest_label_in_digits) return in_tex(label);
  constexpr std::size_t bytes_between = 8;
  std::string broken;
  for (std::size_t begin = 0, end; begin < label.size(); begin = end) {
    end = std::min(begin + bytes_between, label.size());
    while (end < label.size() && continues_character(label[end])) ++end;
    broken += in_tex(label.substr(begin, end - begin)) + "\\allowbreak{}";
  }
  return fmt::format("\\parbox[t]{{{:g}em}}{{\\raggedright {}}}", longest_label_in_digits / 2.0, broken);
}

double width_of_label(std::string_view label) { return std::min(width_in_tex(label), longest_label_in_digits); }

// The sizes of letters that tables are set in, the largest first.
struct Size {
  std::string_view begin, end;  // around the table
  double line, between;         // the width of a line, and of what is between columns, in digits
};
constexpr std::array sizes = {
    Size{"", "", 66.0, 2.4},
    Size{"{\\footnotesize\\setlength{\\tabcolsep}{4pt}\n", "}\n", 79.0, 1.9},
    Size{"{\\scriptsize\\setlength{\\tabcolsep}{3pt}\n", "}\n", 90.0, 1.6},
};

// Where the columns of a table stand: in one table, or where no letters are small enough, in several.
struct Arrangement {
  Size size;
  std::vector<Columns> parts;
  bool is_long = false;  // for a page
};

Arrangement arranged(double around, const std::vector<double>& widths) {
  for (const Size& size : sizes) {
    double width = around;
    for (const double column : widths) width += column + size.between;
    if (width <= size.line) return {size, {{0, widths.size()}}};
  }
  Arrangement result{sizes[1], {{0, 0}}};
  double used = around;
  for (std::size_t j = 0; j < widths.size(); ++j) {
    const double more = widths[j] + result.size.between;
    if (used + more > result.size.line && result.parts.back().count > 0) {
      result.parts.push_back({j, 0});
      used = around;
    }
    ++result.parts.back().count;
    used += more;
  }
  return result;
}

class LatexWriter final : public Writer {
 public:
  using Writer::write;
  LatexWriter(const Style& style, Sink& sink) : Writer(style), style_(style), sink_(sink) {}

  void write(const Heading& heading) override {
    static constexpr std::string_view commands[] = {"section*", "subsection*", "subsubsection*", "paragraph*"};
    level_ = std::max(outer_level_ + heading.level, 1);
    const std::size_t place = std::min<std::size_t>(static_cast<std::size_t>(level_), std::size(commands)) - 1;
    say(fmt::format("\\{}{{{}}}", commands[place], text_in_latex(heading.text, names_)), heading.text);
  }

  // A word without an end leaves gaps in a line rather than stick out of it, and so does one in quotation marks, which
  // TeX does not hyphenate.
  void write(const Prose& prose) override {
    const std::string words = text_in_latex(prose.text, names_);
    const bool is_loose = words.find("\\allowbreak") != std::string::npos || words.find("``") != std::string::npos;
    say(is_loose ? "{\\sloppy " + words + "\\par}" : words, prose.text);
  }

  void write(const FormulaBlock& block) override {
    const std::string formula = in_math(block.formula), shapes = written_shapes(block);
    const double width = static_cast<double>(display_width(block.formula.plain)),
                 with_shapes = width + static_cast<double>(display_width(shapes));
    // The shapes stand beside the formula where there is room, and otherwise below it.
    const bool are_beside = with_shapes + 4.0 <= digits_in_line;
    say("\\[\n" + fitting(formula, width) + (are_beside ? "\\qquad " : "\n\\]\n\\[\n") + "\\text{\\small " +
        in_tex(shapes) + "}\n\\]");
  }

  void write(const Table& table) override {
    note(table.title);
    const TableWalk walk(table, style_.precision);
    const std::vector<double> widths = widths_of(table, walk.digits());
    if (is_bracket(table, widths)) return write_bracket(walk);
    Arrangement arrangement = arranged(table, widths);
    arrangement.is_long = lines_of(table) > most_rows_of_page;
    std::vector<std::string> labels;  // which every part repeats
    for (std::size_t i = 0; i < table.cells->shape().rows; ++i) {
      note(table.rows.label(i));
      labels.push_back(label_cell(table.rows.label(i)));
    }
    for (const Columns columns : arrangement.parts) write_part(walk, columns, arrangement, labels);
  }

  void write(const Drawing& drawing) override {
    for (const Drawing::Label& label : drawing.labels) note(label.text);
    say("\\begin{center}\n" + tikz_of(drawing) + "\n\\end{center}");
  }

  void write(const ProductBlock& product) override {
    const Picture picture = picture_in_tikz(product, style_);
    for (const Picture::Part& part : picture.parts) {
      for (const Drawing::Label& label : part.drawing.labels) note(label.text);
    }
    say("\\begin{center}\n" + tikz_of(picture, {}, true) + "\n\\end{center}");
  }

  void write(const Listing& all) override {
    const Listing listing = for_readers(all);
    if (listing.columns.empty()) return;
    const bool is_long = listing.rows.size() > most_rows_of_page;
    const std::string name = is_long ? "longtable" : "tabular";
    std::string head = cells_of(listing.columns) + " \\\\\n\\midrule\n";
    std::string text = fmt::format("\\begin{{{}}}{{{}}}\n\\toprule\n{}", name, columns_of(listing), head);
    if (is_long) text += "\\endhead\n";
    for (const auto& row : listing.rows) text += cells_of(row) + " \\\\\n";
    text += fmt::format("\\bottomrule\n\\end{{{}}}", name);
    say(is_long ? text : "\\begin{center}\n" + text + "\n\\end{center}");
  }

  void write(const ParagraphsWithMargins& margined) override {
    std::string text =
        "\\begin{list}{}{\\setlength{\\leftmargin}{1em}\\setlength{\\itemindent}{-1em}\\setlength{\\itemsep}{0pt}\\setlength{\\parsep}{0pt}}\n";
    for (const ParagraphsWithMargins::Line& line : margined.lines) {
      note(words_of(line.text));
      text += "\\item[]" + in_tex(line.first) + text_in_latex(line.text, names_) + "\n";
    }
    say(text + "\\end{list}");
  }

  void write(const CodeBlock& block) override {
    std::string text = "\\begin{flushleft}\\ttfamily\\footnotesize\n";
    const std::string lines = printable_lines(block.text);
    for (std::size_t begin = 0, end; begin <= lines.size(); begin = end + 1) {
      end = std::min(lines.find('\n', begin), lines.size());
      const std::string_view line = std::string_view(lines).substr(begin, end - begin);
      note(line);
      text += code_line(line) + (end < lines.size() ? "\\\\{}\n" : "\n");
    }
    say(text + "\\end{flushleft}");
  }

  void write(const Note& note) override {
    say("\\begin{quote}");
    Writer::write(note);
    say("\\end{quote}");
  }

  // Its headings stand below the one that it stands under.
  void write(const CommandOutput& output) override {
    const Style within = style_within(output, style_);
    LatexWriter writer(within, sink_);
    writer.outer_level_ = level_ + 1 - highest_heading(output.page->blocks);
    writer.names_ = names_;
    writer.write(output.page->blocks);
    has_numbers_ = has_numbers_ || writer.has_numbers_;
  }

  void write(const DerivationStep& whole) override {
    const DerivationStep derived = with_short_sums(whole, style_.full);
    const std::string steps = aligned_steps(derived, style_.precision);
    if (!is_our_latex("\\begin{aligned}" + steps + "\\end{aligned}") || !is_ascii(steps)) return Writer::write(whole);
    if (widest_line_of(steps) > digits_in_line) {
      say("\\[\n\\resizebox{\\linewidth}{!}{$\\displaystyle\\begin{aligned}\n" + steps + "\\end{aligned}$}\n\\]");
    } else {
      say("{\\allowdisplaybreaks\\begin{align*}\n" + steps + "\\end{align*}}");
    }
    if (!derived.told_reason.empty()) write(Prose{text(derived.told_reason)});
  }

  // The names of the matrices that these blocks show.
  void take_names(const std::vector<Block>& blocks) {
    for (const Block& block : blocks) {
      if (const auto* const output = std::get_if<CommandOutput>(&block)) take_names(output->page->blocks);
      if (const auto* const product = std::get_if<ProductBlock>(&block)) {
        for (const Table* table : {&product->left, &product->right, &product->result}) take_name(*table);
      }
    }
    for (const Table& table : tables_of(blocks)) take_name(table);
  }

  // What the page owes to its reader at its end.
  void finish() {
    if (!has_numbers_) return;
    say("{\\footnotesize \\texttt{U+} and a number stand for the character with this number in Unicode.\\par}");
  }

 protected:
  Metrics metrics() const override { return tikz_units; }

 private:
  void take_name(const Table& table) {
    const Formula name = symbol_of(table);
    if (!name.latex.empty() && is_our_latex(name.latex)) names_.emplace(name.plain, name.latex);
  }

  void say(std::string_view text) { sink_.write(std::string(text) + "\n\n"); }
  void say(std::string_view text, const Text& words) {
    note(words_of(words));
    say(text);
  }
  void note(std::string_view words) { has_numbers_ = has_numbers_ || has_numbers_in_tex(words); }

  static std::string fitting(const std::string& formula, double width) {
    if (width <= digits_in_line) return formula;
    return "\\resizebox{\\linewidth}{!}{$\\displaystyle " + formula + "$}";
  }

  // A small matrix without words, which fits into a line.
  static bool is_bracket(const Table& table, const std::vector<double>& widths) {
    constexpr double around = 8.0, between = 2.2;  // in digits
    double width = width_in_tex(table.title) + around;
    for (const double column : widths) width += column + between;
    return !table.rows.labels && !table.columns.labels && !table.row_sums && !table.columns_differ &&
           table.cells->shape().rows <= most_rows_of_bracket && width <= digits_in_line;
  }

  void write_bracket(const TableWalk& walk) {
    const Table& table = walk.table();
    const Shape shape = table.cells->shape();
    const RowForm form{
        .between = " & ", .masked = "\\cdot", .shade = shades_ ? append_shade : nullptr, .number = append_math};
    std::string text =
        fmt::format("\\[\n{} = \\left[\\begin{{array}}{{{}}}\n", name_of(table), std::string(shape.columns, 'r'));
    bool masked = false;
    for (std::size_t i = 0; i < shape.rows; ++i) {
      masked = walk.append_row(form, i, {0, shape.columns}, false, text) || masked;
      text += i + 1 < shape.rows ? " \\\\\n" : "\n";
    }
    say(text + "\\end{array}\\right]" + (masked ? "\\qquad \\cdot\\text{ masked}" : "") + "\n\\]");
  }

  static void append_math(std::string& text, double value, const Digits& digits) {
    if (std::isfinite(value)) return digits.append(text, value);
    text += std::isnan(value) ? "\\mathrm{NaN}" : value < 0.0 ? "-\\infty" : "\\infty";
  }

  // A number among words, where a hyphen would stand for its sign.
  static void append_number(std::string& text, double value, const Digits& digits) {
    if (!std::isfinite(value)) {
      text += '$';
      append_math(text, value, digits);
      text += '$';
      return;
    }
    const std::size_t begin = text.size();
    digits.append(text, value);
    if (text[begin] == '-') text.replace(begin, 1, "$-$");
  }

  static void append_shade(std::string& text, double strength) {
    constexpr double strongest = 55.0;  // of a hundred: the number stays readable
    const long share = std::lround(std::fabs(strength) * strongest);
    if (share == 0) return;
    text += strength < 0.0 ? "\\cellcolor{orange!" : "\\cellcolor{blue!";
    text += std::to_string(share);
    text += '}';
  }

  // The widths of columns follow from their labels and their largest numbers.
  static std::vector<double> widths_of(const Table& table, const std::vector<Digits>& digits) {
    double least = 0.0, most = 0.0;
    for (const double cell : cells(*table.cells)) {
      if (!std::isfinite(cell)) continue;
      least = std::min(least, cell);
      most = std::max(most, cell);
    }
    std::vector<double> widths;
    for (std::size_t j = 0; j < table.cells->shape().columns; ++j) {
      const std::size_t numbers = std::max(digits[j].width(least), digits[j].width(most));
      widths.push_back(std::max(static_cast<double>(numbers) + (least < 0.0 ? 1.0 : 0.0),
                                table.columns.labels ? width_of_label(table.columns.label(j)) : 0.0));
    }
    return widths;
  }

  static Arrangement arranged(const Table& table, const std::vector<double>& widths) {
    constexpr double width_of_sums = 8.0, bold = 1.2;
    double first = width_of_label(table.title) * bold;
    for (std::size_t i = 0; i < table.cells->shape().rows; ++i)
      first = std::max(first, width_of_label(table.rows.label(i)));
    return attn::arranged(first + (table.row_sums ? width_of_sums : 0.0), widths);
  }

  // Some columns of a table, with its title and the labels of its rows.
  void write_part(const TableWalk& walk, Columns columns, const Arrangement& arrangement,
                  std::span<const std::string> labels) {
    const Table& table = walk.table();
    const bool is_last = columns.first + columns.count == table.cells->shape().columns,
               has_sums = table.row_sums && is_last, is_long = arrangement.is_long;
    const RowForm form{.column = {" & ", ""},
                       .cell = {" & ", ""},
                       .sum = {" & ", ""},
                       .end = " \\\\\n",
                       .masked = "$\\cdot$",
                       .total = "$\\Sigma$",
                       .row_labels = labels,
                       .label_of = [](const std::string& label, bool) { return label_cell(label); },
                       .shade = shades_ ? append_shade : nullptr,
                       .number = append_number};
    for (std::size_t j = columns.first; j < columns.first + columns.count; ++j) note(table.columns.label(j));
    const std::string title =
        symbol_of(table).latex.empty() ? "\\textbf{" + label_cell(table.title) + "}" : "$" + name_of(table) + "$";
    const std::string head = title + walk.column_labels(form, columns, has_sums) + " \\\\\n\\midrule\n";
    const std::string name = is_long ? "longtable" : "tabular";
    sink_.write(arrangement.size.begin);
    sink_.write(is_long ? "" : "\\begin{center}\n");
    sink_.write(fmt::format("\\begin{{{}}}{{@{{}}l{}{}@{{}}}}\n\\toprule\n{}{}", name, std::string(columns.count, 'r'),
                            has_sums ? "r" : "", head, is_long ? "\\endhead\n\\bottomrule\n\\endfoot\n" : ""));
    const bool masked = walk.write_rows(form, columns, has_sums, sink_);
    sink_.write(fmt::format("{}\\end{{{}}}\n", is_long ? "" : "\\bottomrule\n", name));
    if (masked) sink_.write(is_long ? "\\noindent$\\cdot$ masked\n" : "\n$\\cdot$ masked\n");
    sink_.write(is_long ? "" : "\\end{center}\n");
    sink_.write(std::string(arrangement.size.end) + "\n");
  }

  // How high a table is: long labels take several lines.
  static std::size_t lines_of(const Table& table) {
    std::size_t lines = 0;
    for (std::size_t i = 0; i < table.cells->shape().rows; ++i)
      lines +=
          1 + (table.rows.labels ? static_cast<std::size_t>(width_in_tex(table.rows.label(i)) / longest_label_in_digits)
                                 : 0);
    return lines;
  }

  // Columns with room for their words, or where there is none, shares of the line.
  std::string columns_of(const Listing& listing) {
    std::vector<double> widths;
    for (std::size_t j = 0; j < listing.columns.size(); ++j) {
      double widest = width_in_tex(listing.columns[j]);
      note(listing.columns[j]);
      for (const auto& row : listing.rows) {
        if (j >= row.size()) continue;
        note(row[j]);
        widest = std::max(widest, width_in_tex(row[j]));
      }
      widths.push_back(widest + between_columns);
    }
    double total = 0.0;
    for (const double width : widths) total += width;
    if (total <= digits_in_line) return std::string(widths.size(), 'l');
    // Narrow columns get what they need, and wide ones share the rest: what is narrow grows with what others leave.
    double share = 0.0, rest = digits_in_line, wide = 0.0;
    for (std::size_t narrow = 0, before = widths.size(); narrow != before;) {
      before = narrow;
      share = rest / static_cast<double>(widths.size() - narrow);
      rest = digits_in_line, wide = 0.0, narrow = 0;
      for (const double width : widths) {
        (width <= share ? rest : wide) += width <= share ? -width : width;
        narrow += width <= share ? 1 : 0;
      }
    }
    std::string columns;
    for (const double width : widths) {
      if (width <= share) {
        columns += 'l';
      } else {
        columns += fmt::format(">{{\\raggedright\\arraybackslash}}p{{{:.2f}\\linewidth}}",
                               0.97 * (width / wide * rest - between_columns) / digits_in_line);
      }
    }
    return columns;
  }

  static std::string cells_of(const std::vector<std::string>& row) {
    std::string text;
    for (const std::string& cell : row) {
      const std::size_t blanks = std::min(cell.find_first_not_of(' '), cell.size());
      text += text.empty() && &cell == &row.front() ? "" : " & ";
      for (std::size_t i = 0; i < blanks; ++i) text += "~";
      text += breakable(std::string_view(cell).substr(blanks));
    }
    return text;
  }

  static std::string code_line(std::string_view line) {
    if (line.empty()) return "\\mbox{}";
    std::string result;
    for (std::size_t begin = 0, end; begin < line.size(); begin = end) {
      end = std::min(line.find_first_of(" \t", begin), line.size());
      result += breakable(line.substr(begin, end - begin));
      for (; end < line.size() && (line[end] == ' ' || line[end] == '\t'); ++end) {
        const bool is_alone = end > 0 && line[end - 1] != ' ' && end + 1 < line.size() && line[end + 1] != ' ';
        result += is_alone ? " " : "~";
      }
    }
    return result;
  }

  const Style& style_;
  bool shades_ = style_.settings<TexSettings>().shading;
  Sink& sink_;
  int outer_level_ = 0;  // is added to the levels of headings
  int level_ = 0;        // of the last heading
  bool has_numbers_ = false;
  NamesInMath names_;
};

constexpr std::string_view packages = "amsmath,array,booktabs,graphicx,longtable,tikz";

std::string preamble(const TexSettings& settings) {
  return fmt::format(
      "\\documentclass{{article}}\n{}\\usepackage{{{}}}\n\\setlength{{\\parindent}}{{0pt}}\n"
      "\\setlength{{\\parskip}}{{0.6em}}\n\\emergencystretch=3em\n\\begin{{document}}\n\n",
      settings.shading ? "\\usepackage[table]{xcolor}\n" : "", packages);
}

}  // namespace

void render_latex(const Page& page, const Style& style, Sink& sink) {
  const TexSettings& settings = style.settings<TexSettings>();
  if (settings.standalone) {
    sink.write(preamble(settings));
  } else {
    sink.write(fmt::format("% Needs {}\\usepackage{{{}}}\n\n",
                           settings.shading ? "\\usepackage[table]{xcolor} and then " : "", packages));
  }
  Style inner = style;
  inner.own.of<TexSettings>().tells_numbers = true;
  LatexWriter writer(inner, sink);
  writer.take_names(page.blocks);
  static_cast<Writer&>(writer).write(page.blocks);
  writer.finish();
  if (settings.standalone) sink.write("\\end{document}\n");
}

}  // namespace attn
