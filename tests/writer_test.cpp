#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "commands_tried.hpp"
#include "computations.hpp"
#include "core/math/random.hpp"
#include "core/support/number.hpp"
#include "page/render/derivation_steps.hpp"
#include "page/render/format.hpp"
#include "page/render/ranked_columns.hpp"
#include "page/render/table_layout.hpp"
#include "page/tell/describe.hpp"
#include "process.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

// A format of its own: marks in brackets, and drawings as elements whose places are pixels. What it does not
// say, such as what becomes of a note, has a default.
class BracketWriter final : public Writer {
 public:
  using Writer::write;
  explicit BracketWriter(const Style& style) : Writer(style) {}

  void write(const Heading& heading) override { add("heading", words_of(heading.text)); }
  void write(const Prose& prose) override {
    std::string words;
    for (const Span& span : prose.text)
      words += span.style == Span::Style::formula ? "$" + span.latex + "$" : span.text;
    add("prose", words);
  }
  void write(const FormulaBlock& block) override { add("formula", block.formula.latex + " " + written_shapes(block)); }
  void write(const Table& table) override {
    std::string words = table.title;
    for (const double cell : cells(*table.cells)) words += fmt::format(" {}", cell);
    add("table", words);
  }
  void write(const Listing& listing) override {
    for (const auto& row : listing.rows) add("row", fmt::format("{}", fmt::join(row, ", ")));
  }
  void write(const CodeBlock& block) override { add("code", block.text); }
  void write(const Drawing& drawing) override {
    if (drawing.caption) add("caption", *drawing.caption);
    for (const auto& [from, to] : drawing.boxes) add("box", fmt::format("{},{} {},{}", from.x, from.y, to.x, to.y));
    for (const Drawing::Line& line : drawing.lines) {
      std::string points;
      for (const auto& [x, y] : line.points) points += fmt::format(" {},{}", x, y);
      add(line.has_arrow ? "arrow" : "line", points);
    }
    for (const Drawing::Label& label : drawing.labels)
      add("label", fmt::format("{},{} {}", label.at.x, label.at.y, label.text));
    for (const auto& [at, series] : drawing.marks) add("mark", fmt::format("{},{} {}", at.x, at.y, series));
    if (drawing.cells) write(drawing.cells->table);
  }

  std::string text;

 protected:
  Metrics metrics() const override { return {.column = 8, .line = 16, .limit = 640}; }

 private:
  void add(std::string_view name, std::string_view words) { text += fmt::format("[{}: {}]\n", name, words); }
};

Table table_called(std::string title) {
  return {.title = std::move(title),
          .rows = axis("rows"),
          .columns = axis("columns"),
          .cells = std::make_shared<const Matrix>(matrix({{1, 0.5}}))};
}

DerivationStep derived_step() {
  const auto scores = std::make_shared<const Symbol>(Symbol{"scores", {"scores", "S"}});
  DerivationStep step{.matrix = scores, .row = 0, .column = 1, .value = 2.0 / 3.0};
  step.term = term_of(Term::Kind::product, {constant_of(2.0), term_of(Term::Kind::inverse, {constant_of(3.0)})});
  step.reason = step.told_reason = "because it is so";
  return step;
}

struct Sample {
  Block block;
  std::string written;
};

// Every kind of block, and what the format makes of it.
std::vector<Sample> samples() {
  auto said = std::make_shared<Page>();
  said->head(1, "what was said");
  return {
      {Heading{1, text("a title")}, "[heading: a title]\n"},
      {Prose{text("divided by ", math({"√d_k", "\\sqrt{d_k}"}))}, "[prose: divided by $\\sqrt{d_k}$]\n"},
      {FormulaBlock{{"q ⋅ kᵀ", "Q K^T"}, {{2, 3}, {2, 3}}, {2, 2}}, "[formula: Q K^T [2×3] [2×3] → [2×2]]\n"},
      {table_called("weights"), "[table: weights 1 0.5]\n"},
      {SideBySide{{table_called("q"), table_called("k")}}, "[table: q 1 0.5]\n[table: k 1 0.5]\n"},
      {HeatMap{table_called("p")},
       "[caption: p: 1 row (rows), 2 columns (columns)]\n[label: 0,0 1]\n[table: p 1 0.5]\n"},
      {HeatMaps{{table_called("m"), table_called("n")}},
       "[caption: m: 1 row (rows), 2 columns (columns)]\n[label: 0,0 1]\n[table: m 1 0.5]\n"
       "[caption: n: 1 row (rows), 2 columns (columns)]\n[label: 0,0 1]\n[table: n 1 0.5]\n"},
      {ShadedWords{table_called("it")}, "[table: it 1 0.5]\n"},
      {ProductBlock{table_called("q"), table_called("kᵀ"), table_called("scores")},
       "[table: q 1 0.5]\n[table: kᵀ 1 0.5]\n[table: scores 1 0.5]\n"},
      {Plot{.title = "curve", .x_name = "d", .series = {{"one", {0, 1}, {0, 1}}}},
       "[caption: curve]\n[label: 0,0 1.0]\n[label: 0,80 0.5]\n[label: 0,160 0.0]\n[label: 40,192 0]\n"
       "[label: 324,192 d]\n[label: 608,192 1]\n[mark: 40,160 0]\n[mark: 608,0 0]\n"},
      {Diagram{.title = "t",
               .description = "",
               .lanes = {""},
               .things = {{{"queries"}, {0, 0, 0}}, {{"sums"}, {0, 1, 0}}},
               .links = {{0, 1}},
               .groups = {{"twice", {1}}}},
       "[box: 16,0 96,32]\n[box: 16,64 96,96]\n[arrow:  56,32 56,64]\n[label: 32,16 queries]\n"
       "[label: 44,80 sums]\n"},
      {Flow{{{"q", "2×3", {}}, {"scores", "", {0}}}},
       "[box: 12,0 60,48]\n[box: 0,64 72,96]\n[arrow:  40,48 40,64]\n[label: 36,16 q]\n[label: 28,32 2×3]\n"
       "[label: 16,80 scores]\n"},
      {Listing{{"name"}, {{"walk", "all steps"}}}, "[row: walk, all steps]\n"},
      {Records{"answers", {"given"}, {{"0.88"}}}, ""},  // for programs
      {ParagraphsWithMargins{{{"- ", "  ", text("an item")}}}, "[prose: - an item]\n"},
      {CodeBlock{"console", "$ attn walk"}, "[code: $ attn walk]\n"},
      {Note{Note::Kind::hint, {text("look again")}}, "[prose: look again]\n"},
      {CommandOutput{.page = said}, "[code: what was said\n─────────────]\n"},
      {FoldedBlock{"Answer", said}, "[heading: what was said]\n"},
      {Derivation{[](const TakeDerivationStep& take) { take(derived_step()); }},
       "[prose: ${S}_{1,2} = \\frac{2}{3} \\approx 0.6667$]\n[prose: because it is so]\n"},
  };
}

}  // namespace

TEST_CASE("a format that writes six kinds of blocks and drawings shows all that a page can hold") {
  std::map<std::size_t, bool> seen;
  for (const auto& [block, written] : samples()) {
    const Style style;
    BracketWriter writer(style);
    writer.write({block});
    CHECK(writer.text == written);
    seen[block.index()] = true;
  }
  CHECK(seen.size() == std::variant_size_v<AnyBlock>);
}

TEST_CASE("a drawing has the same places in characters and in pixels") {
  const Flow flow{{{"a", "", {}}, {"b", "", {}}, {"c", "", {0, 1}}}};
  const Style style;
  const Drawing drawn = lay_out(flow, style, {.limit = 60}),
                scaled = lay_out(flow, style, {.column = 10, .line = 20, .limit = 600});
  REQUIRE(drawn.boxes.size() == 3);
  REQUIRE(scaled.boxes.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(drawn.boxes[i].from.y * 20 == scaled.boxes[i].from.y);
    const std::size_t exact = drawn.boxes[i].from.x * 10, pixels = scaled.boxes[i].from.x;
    CHECK(std::max(exact, pixels) - std::min(exact, pixels) <= 10);
  }
}

TEST_CASE("a document says how it writes a row, and the walk over a table what stands in it") {
  constexpr RowForm form{
      .label = {"<", ">"},
      .column = {"{", "}"},
      .cell = {"[", "]"},
      .sum = {"(", ")"},
      .between = ", ",
      .end = ";",
      .masked = "no",
      .total = "all",
      .label_of = [](const std::string& label, bool is_marked) { return label + (is_marked ? "!" : ""); },
      .shade = [](std::string& line, double strength) { line += strength > 0.0 ? '+' : '0'; }};
  Matrix cells({2, 2}), scores({2, 2}, 0.0);
  cells(0, 0) = 1.0, cells(0, 1) = 0.0, cells(1, 0) = 0.25, cells(1, 1) = 0.75;
  scores(0, 1) = -std::numeric_limits<double>::infinity();
  const Table table{.title = "weights",
                    .rows = axis("queries", {"a", "b"}),
                    .columns = axis("keys", {"c", "d"}),
                    .cells = std::make_shared<const Matrix>(cells),
                    .scores = std::make_shared<const Matrix>(scores),
                    .heat = Heat::weights,
                    .row_sums = true,
                    .told = {{1, 0, true}}};
  const TableWalk walk(table, 2);
  const auto rows = [&](Columns columns, bool with_sums) {
    bool is_masked = false;
    const std::string text =
        written_by([&](Sink& sink) { is_masked = walk.write_rows(form, columns, with_sums, sink); });
    return std::pair(text, is_masked);
  };
  CHECK(walk.column_labels(form, walk.all(), true) == "{c!}{d}{all}");
  CHECK(rows(walk.all(), true) == std::pair(std::string("<a>[+1.00], [0no](1);<b!>[+0.25], [+0.75](1);"), true));
  CHECK(rows({0, 1}, false) == std::pair(std::string("<a>[+1.00];<b!>[+0.25];"), false));
}

TEST_CASE("documents leave it to the walk over a table which cells are masked") {
  for (const char* const file : {"html.cpp", "latex.cpp", "markdown_format.cpp"}) {
    CAPTURE(file);
    const std::string text = bytes_of(fmt::format("{}/src/page/render/{}", ATTN_SOURCE_FOLDER, file));
    CHECK(text.find("TableWalk") != std::string::npos);
    CHECK(text.find("is_masked(") == std::string::npos);
    CHECK(text.find("case Span::Style::") == std::string::npos);
  }
}

TEST_CASE("a step is rounded where a number in it is, and the first one is not") {
  const std::vector<WrittenStep> steps = steps_of(derived_step(), {});
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].sign() == "=");
  CHECK(steps[0].text == "2 / 3");
  CHECK(steps[1].sign() == "≈");
  CHECK(steps[1].text == "0.6667");
}

TEST_CASE("a long sum shows its largest terms in their order, and what all others add up to") {
  const auto scores = std::make_shared<const Symbol>(Symbol{"scores", {"scores", "S"}});
  const auto sum_of = [&](std::size_t count) {
    std::vector<Term> parts;
    for (std::size_t i = 0; i < count; ++i) {
      const double value = static_cast<double>((i * 7) % count) * (i % 2 == 0 ? 1.0 : -1.0);
      parts.push_back({.kind = Term::Kind::cell, .value = value, .matrix = scores, .row = 0, .column = i});
    }
    return term_of(Term::Kind::sum, std::move(parts));
  };
  DerivationStep step{.matrix = scores};
  step.term = sum_of(longest_sum);
  CHECK(with_short_sums(step, false).term.parts.size() == longest_sum);
  CHECK(with_short_sums(step, false).told_reason.empty());

  step.term = sum_of(40);
  const DerivationStep shortened = with_short_sums(step, false);
  REQUIRE(shortened.term.parts.size() == terms_of_long_sum + 1);
  double smallest_shown = 1e9, all = 0.0, largest_left_out = 0.0;
  std::set<std::size_t> shown;
  for (std::size_t i = 0; i < terms_of_long_sum; ++i) {
    const Term& term = shortened.term.parts[i];
    CHECK((i == 0 || term.column > shortened.term.parts[i - 1].column));
    shown.insert(term.column);
    smallest_shown = std::min(smallest_shown, std::fabs(term.value));
  }
  for (const Term& term : step.term.parts) {
    if (!shown.contains(term.column)) largest_left_out = std::max(largest_left_out, std::fabs(term.value));
  }
  CHECK(smallest_shown >= largest_left_out);
  for (const Term& term : shortened.term.parts) all += term.value;
  CHECK(all == step.term.value);
  CHECK(shortened.term.value == step.term.value);
  const std::vector<WrittenStep> steps = steps_of(shortened, {});
  CHECK(steps[0].text.ends_with(" + (32\u00A0others)"));
  CHECK(steps.back().text == written_number(step.term.value, {}));
  CHECK(shortened.told_reason ==
        fmt::format("The 8 largest terms by magnitude are shown, in their order. The other 32 add up to {} (--full "
                    "shows all).",
                    written_number(shortened.term.parts.back().value, {})));
  CHECK(with_short_sums(step, true).term.parts.size() == 40);

  // A sum within another one is shortened as well.
  std::vector<Term> nested;
  for (std::size_t i = 0; i < 50; ++i) nested.push_back(sum_of(i == 3 ? 40 : 2));
  step.term = term_of(Term::Kind::sum, std::move(nested));
  const DerivationStep both = with_short_sums(step, false);
  CHECK(both.term.parts.size() == terms_of_long_sum + 1);
  CHECK(both.term.parts[3].parts.size() == terms_of_long_sum + 1);
  check_has(both.told_reason, "Of each sum of more than 32 terms");
}

TEST_CASE("of a row of many words readers are shown the first, and programs all") {
  constexpr std::size_t count = 300;
  auto graph = std::make_shared<Graph>();
  Matrix weights({2, count});
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < count; ++j) weights(i, j) = 1e-5 * static_cast<double>(j + 1);
    weights(i, 17 + i) = weights(i, 200) = 0.25;
  }
  graph->input({role::distribution, "distribution"}, std::move(weights), axis("queries"), axis("vocabulary"));
  const Node& node = graph->nodes().front();
  const Table table = table_of(node);
  CHECK(is_wide(table));
  const Page page{.trace = {{&node}}, .blocks = {table}};
  const auto written = [&](std::string_view name, bool full) {
    const auto format = std::ranges::find(formats(), name, &Format::name);
    return written_by([&](Sink& sink) { format->render(page, Style{.full = full}, sink); });
  };
  for (const char* const name : {"text", "markdown", "html", "latex"}) {
    CAPTURE(name);
    const std::string text = written(name, false);
    check_has(text, "290 others");
    check_has(text, "1,201");
    check_lacks(text, "1,250");
    CHECK(written(name, true).size() > text.size());
  }
  const std::string text = written("text", false);
  CHECK(text.find("[1,18]") < text.find("[1,201]"));
  CHECK(text.find("[1,201]") < text.find("[2,19]"));
  // What the others add up to: those up to 292, and not the two large ones.
  check_has(text, written_digits(1e-5 * (292.0 * 293.0 / 2.0 - 18.0 - 201.0), 4));
  for (const char* const name : {"csv", "json"}) CHECK(written(name, false) == written(name, true));
}

TEST_CASE("where equal numbers are all that is left of a row, no others are listed") {
  constexpr std::size_t count = 300;
  const auto shown = [](Matrix weights) {
    auto graph = std::make_shared<Graph>();
    graph->input({role::distribution, "distribution"}, std::move(weights), axis("queries"), axis("vocabulary"));
    const Page page{.trace = {{&graph->nodes().front()}}, .blocks = {table_of(graph->nodes().front())}};
    const auto format = std::ranges::find(formats(), "markdown", &Format::name);
    return written_by([&](Sink& sink) { format->render(page, Style{}, sink); });
  };
  Matrix weights({1, count}, 0.5 / (count - 2));
  weights(0, 17) = weights(0, 200) = 0.25;
  const std::string ties = shown(weights);
  check_has(ties, "298 with this number each");
  check_has(ties, "all 300 numbers of each row, equal ones counted together");
  check_lacks(ties, "other");
  weights(0, 100) = 0.001;
  const std::string smaller = shown(weights);
  check_has(smaller, "297 with this number each");
  check_has(smaller, "1 other ");
}

TEST_CASE("a table of many numbers is the same bytes with any number of threads") {
  auto graph = std::make_shared<Graph>();
  Matrix numbers = RandomSource(random_kind::by_name, 1).vectors({"x", {700, 90}});
  auto scores = std::make_shared<Matrix>(numbers);
  for (std::size_t i = 0; i < 700; i += 7) (*scores)(i, i % 90) = -std::numeric_limits<double>::infinity();
  graph->input(name_from_text("matrix"), std::move(numbers), axis("rows"), axis("columns"));
  const Node& node = graph->nodes().front();
  Table table = table_of(node);
  table.scores = scores;
  const Page page{.trace = {{&node}}, .blocks = {table}};
  for (const Format& format : formats()) {
    if (format.parts) continue;  // a drawing holds no such table
    CAPTURE(format.name);
    const auto written = [&](std::size_t count) {
      const Threads threads(count);
      return written_by([&](Sink& sink) { format.render(page, Style{}, sink); });
    };
    const std::string one = written(1);
    REQUIRE(one.size() > 100'000);
    for (const std::size_t count : {2, 3, 5}) CHECK((written(count) == one));
  }
}
