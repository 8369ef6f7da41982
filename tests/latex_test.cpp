#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "commands_tried.hpp"
#include "page/block/page.hpp"
#include "page/render/format.hpp"
#include "page/render/tex.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

Style in_tex_with(TexSettings settings) {
  Style style;
  style.own.put(settings);
  return style;
}

std::string latex_of(std::vector<Block> blocks, const Style& style = {}) {
  return written_by([&](Sink& sink) { render_latex(Page{.blocks = std::move(blocks)}, style, sink); });
}

Table table_of(Matrix cells) {
  return {.title = "w_q",
          .rows = axis("rows"),
          .columns = axis("columns"),
          .cells = std::make_shared<const Matrix>(std::move(cells)),
          .heat = Heat::around_zero};
}

}  // namespace

TEST_CASE("any text is LaTeX in ASCII") {
  CHECK(in_tex("a_b & 50% {x} #1 $") == "a\\_b \\& 50\\% \\{x\\} \\#1 \\$");
  CHECK(in_tex("\\^~") == "\\textbackslash{}\\textasciicircum{}\\textasciitilde{}");
  CHECK(in_tex("é ï Ž ő ß") == "\\'{e} \\\"{\\i{}} \\v{Z} \\H{o} \\ss{}");
  CHECK(in_tex("σ ό ×") == "\\ensuremath{\\sigma} \\ensuremath{\\acute{o}} \\ensuremath{\\times}");
  CHECK(in_tex("--") == "-{}-");
  CHECK(in_tex("😀") == "\\texttt{U+1F600}\\allowbreak{}");
  CHECK(in_tex("\x1b") == "\\texttt{U+FFFD}\\allowbreak{}");
  CHECK(in_tex("\u202E") == in_tex("\xFF"));
  CHECK(has_numbers_in_tex("a ש"));
  CHECK_FALSE(has_numbers_in_tex("naïve → x"));
}

TEST_CASE("every sign of Unicode up to the emoji is written in ASCII, and braces match") {
  for (char32_t point = 1; point < 0x20000; point += point < 0x3000 ? 1 : 97) {
    std::string text;
    if (point < 0x80) {
      text += static_cast<char>(point);
    } else if (point < 0x800) {
      text += {static_cast<char>(0xC0 | (point >> 6)), static_cast<char>(0x80 | (point & 0x3F))};
    } else if (point < 0x10000) {
      text += {static_cast<char>(0xE0 | (point >> 12)), static_cast<char>(0x80 | ((point >> 6) & 0x3F)),
               static_cast<char>(0x80 | (point & 0x3F))};
    } else {
      text += {static_cast<char>(0xF0 | (point >> 18)), static_cast<char>(0x80 | ((point >> 12) & 0x3F)),
               static_cast<char>(0x80 | ((point >> 6) & 0x3F)), static_cast<char>(0x80 | (point & 0x3F))};
    }
    const std::string tex = in_tex(text);
    int depth = 0;
    for (std::size_t i = 0; i < tex.size(); ++i) {
      const bool is_escaped = i > 0 && tex[i - 1] == '\\';
      if (!is_escaped) depth += tex[i] == '{' ? 1 : tex[i] == '}' ? -1 : 0;
    }
    const bool is_ascii = std::ranges::all_of(tex, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    CHECK_MESSAGE((depth == 0 && is_ascii && !tex.empty()), static_cast<unsigned>(point) << ": " << tex);
  }
}

TEST_CASE("a small matrix is one in brackets, and one with words is a table with rules") {
  CHECK(has(latex_of({table_of(matrix({{1, -2}, {0.5, 3}}))}),
            "\\text{w\\_q} = \\left[\\begin{array}{rr}\n1.0 & -2.0 \\\\\n0.5 & 3.0\n\\end{array}\\right]"));
  Table table = table_of(matrix({{1, -2}, {0.5, 3}}));
  table.rows = axis("tokens", {"a&b", "c"});
  const std::string latex = latex_of({table});
  CHECK(has(latex,
            "\\begin{tabular}{@{}lrr@{}}\n\\toprule\n\\textbf{w\\_q} & 1 & 2 \\\\\n\\midrule\n"
            "a\\&b & 1.0 & $-$2.0 \\\\\nc & 0.5 & 3.0 \\\\\n\\bottomrule\n"));
  CHECK_FALSE(has(latex, "cellcolor"));
  CHECK(has(latex_of({table}, in_tex_with({.shading = true})), "& \\cellcolor{orange!37}$-$2.0 \\\\"));
}

TEST_CASE("masked cells and cells that are no numbers are signs in LaTeX") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Table table = table_of(matrix({{1, -infinity}, {infinity, std::numeric_limits<double>::quiet_NaN()}}));
  CHECK(has(latex_of({table}), "1 & -\\infty \\\\\n\\infty & \\mathrm{NaN}\n"));
  table.scores = table.cells;
  table.rows = axis("tokens", {"a", "b"});
  CHECK(has(latex_of({table}), "a & 1 & $\\cdot$ \\\\\nb & $\\infty$ & $\\mathrm{NaN}$ \\\\\n"));
  CHECK(has(latex_of({table}), "$\\cdot$ masked"));
}

TEST_CASE("prose of LaTeX has quotation marks, and code and labels have the sign that was typed") {
  const auto prose = [](const Text& words) { return latex_of({Prose{words}}); };
  CHECK(has(prose(text(strong("\"it\""), " attends to \"the cat\" (\"7 %\").")),
            "\\textbf{``it''} attends to ``the cat'' (``7 \\%'')."));
  CHECK(has(prose(text("\"", code("a \"b\""), "\"")), "``\\texttt{a {\\ttfamily\\char34}b{\\ttfamily\\char34}}''"));
  CHECK(in_tex("what?“so”'s") == "what?{}``so''{}'s");
}

TEST_CASE("a long table of LaTeX goes on on the next page, and a wide one in the next table") {
  const std::string latex = latex_of({table_of(Matrix({90, 40}, -1.0 / 3.0))});
  CHECK(has(latex, "\\begin{longtable}"));
  CHECK(has(latex, "\\endhead"));
  CHECK(has(latex, "\\end{longtable}\n}\n\n{\\footnotesize"));
  std::size_t columns = 0;
  for (std::size_t at = 0; (at = latex.find("{@{}l", at)) != std::string::npos; ++at)
    columns += latex.find("@{}}", at) - at - 5;
  CHECK(columns == 40);
}

TEST_CASE("a formula of a file that is not ours is shown as words in LaTeX") {
  const std::string latex = latex_of({FormulaBlock{{"a & \\b", "\\input{/etc/passwd}"}, {}, {1, 1}},
                                      Prose{text(math({"x", "\\write18{ls}"}), math({"√d", "\\sqrt{d}"}))}});
  CHECK_FALSE(has(latex, "\\input"));
  CHECK_FALSE(has(latex, "write18"));
  CHECK(has(latex, "\\text{a \\& \\textbackslash{}b}"));
  CHECK(has(latex, "$\\text{x}$$\\sqrt{d}$"));
}

TEST_CASE("LaTeX is a part of a document that says what it needs, or a whole document") {
  const std::string part = latex_of({Heading{1, text("A")}});
  CHECK(part == "% Needs \\usepackage{amsmath,array,booktabs,graphicx,longtable,tikz}\n\n\\section*{A}\n\n");
  const std::string whole = latex_of({Heading{1, text("A")}}, in_tex_with({.standalone = true}));
  CHECK(whole.starts_with("\\documentclass{article}\n\\usepackage{amsmath,"));
  CHECK(whole.ends_with("\\section*{A}\n\n\\end{document}\n"));
  CHECK(has(latex_of({}, in_tex_with({.standalone = true, .shading = true})),
            "\\usepackage[table]{xcolor}\n\\usepackage{amsmath"));
  CHECK(has(latex_of({Prose{text("😀")}}), "stand for the character with this number in Unicode"));
}

TEST_CASE("headings begin at the level that is asked for, also those of a part of a page") {
  const auto levels = [](const Words& words) {
    std::string levels;
    const std::string text = accepted(words + Words{"--format", "markdown"}).out;
    for (std::size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
      const std::size_t end = text.find_first_not_of('#', at);
      if (end > at && text[end] == ' ') levels += std::to_string(end - at);
    }
    return levels;
  };
  CHECK(levels({"walk"}).starts_with("122"));
  CHECK(levels({"walk", "--heading-level", "3"}).starts_with("344"));
  CHECK(levels({"walk", "--heading-level", "6"}).starts_with("666"));
  CHECK(levels({"walk", "--section", "Given", "--heading-level", "1"}) == "1");
  CHECK(levels({"encoder", "--only", "*.weights"}).starts_with("2"));
  CHECK(levels({"encoder", "--only", "*.weights", "--heading-level", "4"}).starts_with("4"));
  CHECK(levels({"encoder", "--only", "*.weights", "--heading-level", "0"}) == "");
  refuses({"walk", "--heading-level", "7"}, "--heading-level");
}

TEST_CASE("formulas of Markdown stand in fences that GitHub and GitLab render") {
  const std::string fenced = accepted({"explain", "weights[1,1]", "--format", "markdown", "--math", "fences"}).out;
  CHECK(has(fenced, "```math\n\\mathrm{weights} = \\mathrm{softmax}\\left("));
  CHECK(has(fenced, "```math\n\\begin{aligned}\n"));
  CHECK_FALSE(has(fenced, "$$"));
  CHECK_FALSE(has(fenced, "\\operatorname"));
  const std::string plain = accepted({"explain", "weights[1,1]", "--format", "markdown"}).out;
  CHECK(has(plain, "$$\\mathrm{weights} = \\operatorname{softmax}\\left("));
  CHECK(plain == accepted({"explain", "weights[1,1]", "--format", "markdown", "--math", "dollars"}).out);
  refuses({"walk", "--math", "brackets"}, "unknown marks 'brackets'. Choose one of: dollars, fences");
}

TEST_CASE("a picture for LaTeX is a part to be read into a document, or a document of class standalone") {
  const Words product = {"product", "scores[1,2]", "--format", "tikz"};
  const std::string part = accepted(product).out;
  CHECK(part.starts_with("% Needs \\usepackage{amsmath,graphicx,tikz}\n\\begin{tikzpicture}"));
  CHECK(part.ends_with("\\end{tikzpicture}\n"));
  CHECK(has(part, "$\\mathrm{scores} = Q \\, {K}^{\\top}$"));
  CHECK(has(part, "\\boldmath${K}^{\\top}$"));
  const std::string whole = accepted(product + Words{"--standalone"}).out;
  CHECK(whole.starts_with("\\documentclass[border=4pt]{standalone}\n\\usepackage{amsmath,graphicx,tikz}\n"));
  CHECK(whole.ends_with("\\end{tikzpicture}\n\\end{document}\n"));
  CHECK_FALSE(has(whole, "attn-ink"));
  const std::string dark = accepted(product + Words{"--standalone", "--theme", "dark"}).out;
  CHECK(has(dark, "\\definecolor{attn-ground}{HTML}{16181C}"));
  CHECK(has(dark, "\\fill[attn-ground]"));
  CHECK_FALSE(has(accepted(product + Words{"--theme", "dark", "--transparent"}).out, "\\fill[attn-ground]"));
}
