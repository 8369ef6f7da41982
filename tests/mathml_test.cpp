#include "page/render/mathml.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "command/app.hpp"
#include "commands_tried.hpp"
#include "core/graph/name.hpp"
#include "operation_samples.hpp"
#include "page/document/document.hpp"
#include "page/render/derivation_steps.hpp"
#include "page/render/format.hpp"

using namespace attn;

namespace {

// What stands between <math> and </math>, without the row around all of it.
std::string inner(std::string_view latex) {
  const std::string begin = "<math><mrow>", end = "</mrow></math>";
  const std::string all = mathml(latex, MathPlace::among_words);
  REQUIRE(all.starts_with(begin));
  REQUIRE(all.ends_with(end));
  return all.substr(begin.size(), all.size() - begin.size() - end.size());
}

// Most formulas stand on many pages.
void check_latex(const std::string& latex) {
  static std::set<std::string> checked;
  if (checked.insert(latex).second) CHECK_MESSAGE(is_our_latex(latex), latex);
}

// Every formula that a page shows, in LaTeX.
class Formulas final : public Writer {
 public:
  using Writer::write;
  explicit Formulas(const Style& style) : Writer(style) {}

  void write(const Heading& heading) override { take(heading.text); }
  void write(const Prose& prose) override { take(prose.text); }
  void write(const FormulaBlock& block) override { take(block.formula.latex); }
  void write(const Table&) override {}
  void write(const Listing&) override {}
  void write(const CodeBlock&) override {}
  void write(const Drawing&) override {}
  void write(const DerivationStep& derived) override {
    take("\\begin{aligned}" + aligned_steps(with_short_sums(derived, false), 4) + "\\end{aligned}");
  }
  void write(const CommandOutput& output) override { Writer::write(output.page->blocks); }

  std::size_t count = 0;

 private:
  void take(const Text& text) {
    for (const Span& span : text) {
      if (span.style == Span::Style::formula) take(span.latex);
    }
  }
  void take(const std::string& latex) {
    check_latex(latex);
    ++count;
  }
};

std::size_t formulas_on_page(const std::vector<std::string>& words) {
  const AnswerInFormat all = answer(words, bare_environment());
  Formulas formulas(all.style);
  static_cast<Writer&>(formulas).write(all.page.blocks);
  for (const TracedMatrix& node : all.page.trace.matrices()) check_latex(node.formula.latex);
  return formulas.count + all.page.trace.size();
}

bool is_on_gradients(const Command& command) { return command.name == "backward" || command.name == "influence"; }

// Those on the pages of the examples of some commands.
std::size_t formulas_of(bool (*is_meant)(const Command&)) {
  std::size_t formulas = 0;
  for (const Command& command : commands()) {
    if (!is_meant(command)) continue;
    for (const std::string_view example : command.examples) {
      for (const CommandLine& line : command_lines(example, std::string(command.name), 1)) {
        if (line.text.find('.') != std::string::npos || line.text.find("base") != std::string::npos) continue;
        CAPTURE(line.text);
        formulas += formulas_on_page(line.words);
      }
    }
  }
  return formulas;
}

void check_notation(const Term& term) {
  check_latex(term.notation.latex);
  for (const Term& part : term.parts) check_notation(part);
}

}  // namespace

TEST_CASE("a formula becomes the elements of MathML that it is made of") {
  CHECK(inner("Q") == "<mi>Q</mi>");
  CHECK(inner("12.5") == "<mn>12.5</mn>");
  CHECK(inner("-x") == "<mo>−</mo><mi>x</mi>");
  CHECK(inner("a<b") == "<mi>a</mi><mo>&lt;</mo><mi>b</mi>");
  CHECK(inner("W^{Q}") == "<msup><mi>W</mi><mi>Q</mi></msup>");
  CHECK(inner("x_i^2") == "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>");
  CHECK(inner("j'") == "<msup><mi>j</mi><mo>′</mo></msup>");
  CHECK(inner("\\sum_{j}") == "<munder><mo>∑</mo><mi>j</mi></munder>");
  CHECK(inner("\\frac{1}{d}") == "<mfrac><mn>1</mn><mi>d</mi></mfrac>");
  CHECK(inner("\\sqrt{d}") == "<msqrt><mi>d</mi></msqrt>");
  CHECK(inner("\\mathrm{w\\_q}") == "<mi>w_q</mi>");
  CHECK(inner("\\mathrm{e}") == "<mi mathvariant=\"normal\">e</mi>");
  CHECK(inner("\\text{ if }") == "<mtext>\u00A0if\u00A0</mtext>");
  CHECK(inner("\\left(x\\right)") == "<mrow><mo>(</mo><mi>x</mi><mo>)</mo></mrow>");
  CHECK(inner("\\begin{cases}a & b \\\\ c\\end{cases}") ==
        "<mrow><mo>{</mo><mtable class=\"cases\"><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr>"
        "<mtr><mtd><mi>c</mi></mtd></mtr></mtable></mrow>");
  CHECK(mathml("x", MathPlace::alone) == "<math display=\"block\"><mrow><mi>x</mi></mrow></math>");
}

TEST_CASE("LaTeX that is not ours is shown as it stands, and known to be none") {
  for (const std::string_view latex :
       {"\\input{/etc/passwd}", "}", "{", "x_", "\\left(x", "\\begin{tikzpicture}x\\end{tikzpicture}", "a & b \\\\",
        "\\", "\\frac{1}", "$", "\\begin{cases}a", "#1", "%", "\\right)", "\\mathrm", "\\text{a", "x_i_j", "x^2^3"}) {
    CAPTURE(latex);
    CHECK_FALSE(is_our_latex(latex));
    CHECK(inner(latex).find("<merror>") != std::string::npos);
  }
  CHECK(inner("\\<script>").find("<script>") == std::string::npos);
  const std::string deep(100'000, '{');
  CHECK_FALSE(is_our_latex(deep));
}

TEST_CASE("the formula of every operation is LaTeX that becomes MathML") {
  for (const OperationSample& sample : operation_samples()) {
    Graph graph;
    Samples from(graph);
    const Value value = sample.apply(from);
    const std::string latex = formula_of(value.node()).latex;
    CAPTURE(sample.name);
    CHECK_MESSAGE(is_our_latex(latex), latex);
    value.matrix();
    check_notation(explain(value.node(), 0, 0).term);
  }
}

TEST_CASE("the letter of every role is LaTeX that becomes MathML") {
  for (const Role* role : roles()) CHECK_MESSAGE(is_our_latex(role->latex), role->latex);
}

TEST_CASE("every formula on the pages of gradients is LaTeX that becomes MathML") {
  CHECK(formulas_of(is_on_gradients) > 100);
}

TEST_CASE("every formula on the other pages of the commands' examples is LaTeX that becomes MathML") {
  CHECK(formulas_of([](const Command& command) {
          return !is_on_gradients(command) && (command.takes_problem() || command.takes_model());
        }) > 400);
}
