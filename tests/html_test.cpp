#include "page/render/html.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <set>
#include <string>

#include "page/block/page.hpp"
#include "page/render/format.hpp"
#include "page/render/svg.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

std::string written(const std::vector<Block>& blocks) {
  return written_by([&](Sink& sink) {
    const Style style;
    html_writer(style, sink)->write(blocks);
  });
}

std::string page_of(std::vector<Block> blocks) {
  return written_by([&](Sink& sink) { render_html(Page{.blocks = std::move(blocks)}, Style{}, sink); });
}

Table table_of(Matrix cells) {
  return {.title = "w",
          .array = "head.1.weights",
          .rows = axis("queries", {"it", "<b>"}),
          .columns = axis("keys", {"a", "b"}),
          .cells = std::make_shared<const Matrix>(std::move(cells)),
          .heat = Heat::weights};
}

}  // namespace

TEST_CASE("a table of HTML has a caption, headers with scopes, and the name of its matrix") {
  CHECK(written({table_of(matrix({{1, 0}, {0.5, 0.5}}))}) == R"(<div class="wide">
<table class="matrix" data-matrix="head.1.weights">
<caption>w <span class="size">2 rows (queries), 2 columns (keys)</span></caption>
<thead>
<tr><td></td><th scope="col">a</th><th scope="col">b</th></tr>
</thead>
<tbody>
<tr><th scope="row">it</th><td class="p9">1.0</td><td>0.0</td></tr>
<tr><th scope="row">&lt;b&gt;</th><td class="p5">0.5</td><td class="p5">0.5</td></tr>
</tbody>
</table>
</div>
)");
}

TEST_CASE("a masked cell of HTML is told in words, and a negative one has a shade of its own") {
  Table table = table_of(matrix({{-2, 1}, {0, 2}}));
  table.heat = Heat::around_zero;
  table.scores = std::make_shared<const Matrix>(matrix({{0, 0}, {-std::numeric_limits<double>::infinity(), 0}}));
  const std::string html = written({table});
  CHECK(has(html, "<td class=\"n9\">-2</td>"));
  CHECK(has(html, "<td><span aria-hidden=\"true\">·</span><span class=\"heard\">masked</span></td>"));
  CHECK(has(html, "<p class=\"legend\">· masked</p>"));
}

TEST_CASE("words on a page of HTML are text and never markup") {
  const std::string hostile = "</title><script>alert(1)</script>\"'&\x1b[31m\u202E";
  const std::string shown = "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;'&amp;\uFFFD[31m\uFFFD";
  Table table = table_of(matrix({{1, 0}, {0, 1}}));
  table.title = table.array = hostile;
  table.rows = table.columns = axis(hostile, {hostile, hostile});
  const Formula formula{hostile, "\\text{" + hostile + "}"};
  const std::string html =
      page_of({Heading{1, text(hostile)}, Prose{text(strong(hostile), code(hostile), math(formula))}, table,
               HeatMap{table}, Plot{hostile, hostile, {{hostile, {1, 2}, {1, 2}}}}, Flow{{{hostile, hostile}}},
               Listing{{hostile}, {{hostile}}}, ParagraphsWithMargins{{{hostile, "", text(hostile)}}},
               CodeBlock{hostile, hostile}, Note{Note::Kind::hint, {text(hostile)}}});
  CHECK_FALSE(has(html, "<script"));
  CHECK_FALSE(has(html, "\x1b"));
  CHECK_FALSE(has(html, "\u202E"));
  CHECK(has(html, "<title>" + shown + "</title>"));
  CHECK(has(html, "data-matrix=\"" + shown + "\""));
  CHECK(has(html, "<td>" + shown + "</td>"));
}

TEST_CASE("a page of HTML stands alone: no script, no address, and a policy that forbids both") {
  const std::string html = page_of({Heading{1, text("Scores")}, Flow{{{"q"}, {"scores", "", {0}}}}});
  CHECK(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"));
  CHECK(has(html, "content=\"default-src 'none'; style-src 'unsafe-inline'\""));
  CHECK(has(html, "<title>Scores</title>"));
  CHECK_FALSE(has(html, "<script"));
  CHECK_FALSE(has(html, "url("));
  CHECK_FALSE(has(html, "href"));
  CHECK(html.ends_with("</html>\n"));
}

TEST_CASE("every drawing of a page of HTML has ids of its own, also in what a command has said") {
  auto said = std::make_shared<Page>();
  said->head(1, "said");
  said->say(Flow{{{"x"}}});
  const std::string html =
      written({Heading{2, text("outer")}, Flow{{{"a"}}}, CommandOutput{.page = said}, Flow{{{"b"}}}});
  std::set<std::string> ids;
  std::size_t found = 0;
  for (std::size_t at = html.find(" id=\""); at != std::string::npos; at = html.find(" id=\"", at + 1)) {
    ids.insert(html.substr(at, html.find('"', at + 5) - at));
    ++found;
  }
  CHECK(found == 6);
  CHECK(ids.size() == found);
  CHECK(has(html, "<h3>said</h3>"));  // below the heading that it stands under
  CHECK(has(html, "aria-labelledby=\"drawing-3-title drawing-3-description\""));
}

TEST_CASE("a drawing tells those who hear it what it shows") {
  const std::string html =
      written({Flow{{{"q", "2×3"}, {"scores", "", {0}}}}, Plot{"curve", "d", {{"one", {0, 1}, {0.5, 2}}}},
               HeatMap{table_of(matrix({{1, 0}, {0.5, 0.5}}))}});
  CHECK(has(html, "<desc id=\"drawing-1-description\">q (2×3). scores from q.</desc>"));
  CHECK(has(html, "<desc id=\"drawing-2-description\">one: 0.5 at d = 0, 2 at d = 1.</desc>"));
  CHECK(has(html, "2 rows (queries) and 2 columns (keys). Its numbers are from 0 to 1.</desc>"));
}
