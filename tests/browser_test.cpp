#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "commands_tried.hpp"
#include "golden.hpp"
#include "process.hpp"
#include "school/browser/browser_document.hpp"
#include "terminals.hpp"

using namespace attn;

namespace {

// What stands between two marks of a page; `from` is where it is looked for.
std::string between(std::string_view page, std::string_view begin, std::string_view end) {
  const std::size_t first = page.rfind(begin) + begin.size();
  return std::string(page.substr(first, page.find(end, first) - first));
}

std::string script_of(std::string_view page) { return between(page, "<script>", "</script>"); }
std::string style_of(std::string_view page) { return between(page, "<style>", "</style>"); }

void replace(std::string& text, std::string_view old, std::string_view by) {
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  text.replace(at, old.size(), by);
}

std::string in_base64_of(std::string_view text) { return in_base64(std::as_bytes(std::span(text))); }

}  // namespace

TEST_CASE("bytes are written in base64, and hashes as a policy names them") {
  // RFC 4648, section 10, and FIPS 180-2, B.1.
  CHECK(in_base64_of("") == "");
  CHECK(in_base64_of("f") == "Zg==");
  CHECK(in_base64_of("fo") == "Zm8=");
  CHECK(in_base64_of("foo") == "Zm9v");
  CHECK(in_base64_of("foobar") == "Zm9vYmFy");
  CHECK(source_hash("abc") == "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

TEST_CASE("a page for browsers allows its only script and its only style, and asks for nothing") {
  const std::string page = accepted({"page"}).out;
  check_has(page, "script-src '" + source_hash(script_of(page)) + "'");
  check_has(page, "style-src '" + source_hash(style_of(page)) + "'");
  check_has(page, "default-src 'none'");
  for (const std::string_view no : {"unsafe-", "http://", "https://", " style=\"", " onclick", "@import", "url("})
    CHECK_MESSAGE(page.find(no) == std::string::npos, no);
  CHECK(page.size() < 200'000);
  CHECK(accepted({"page"}).out == page);
}

TEST_CASE("the page of a tiny problem is golden, but for its script and its style") {
  std::string page = accepted({"page", "--scores", "1 2; 0 0", "--causal", "--v", "1; 2"}).out;
  replace(page, source_hash(script_of(page)), "sha256-of-the-script");
  replace(page, source_hash(style_of(page)), "sha256-of-the-style");
  replace(page, script_of(page), "");
  replace(page, style_of(page), "");
  check_golden("page.html", page, Tolerance::last_digit);
}

TEST_CASE("a page for browsers has a table of each matrix, without scripts too") {
  for (const Words& words :
       {Words{"walk", "--example", "animal"}, Words{"encoder"}, Words{"transformer"}, Words{"align"}}) {
    const std::string page = accepted(Words{"page"} + words).out;
    const Json all = parse_json(accepted(words + Words{"--only", "*", "--format", "json"}).out, "page");
    std::size_t tables = 0;
    for (const Json& node : all["nodes"]) {
      if (node["operation"] == "identity") continue;
      check_has(page, "data-matrix=\"" + node["name"].get<std::string>() + "\"");
      ++tables;
    }
    CHECK(tables > 10);
  }
}

TEST_CASE("the question of a page is about the query with the most weight on another word") {
  check_has(accepted({"page"}).out, "<h1 id=\"question\">What does “Machines” attend to?</h1>");
  check_has(accepted({"page", "--example", "animal"}).out, "What does “it” attend to?");
  check_has(accepted({"page", "--weights", "0 1; 1 0", "--v", "1; 2"}).out, "What does query 1 attend to?");
  check_has(accepted({"page", "--scores", "0 0; 0 0", "--mask", "0 0; 0 0"}).out, "attends to no key");
  check_has(accepted({"page", "--scores", "9 0 0"}).out, "(100\u00A0%). No other key has a larger weight.");
  const std::string random = accepted({"page", "--text", "the cat sat"}).out;
  CHECK(random.find("not trained") < random.find("id=\"answer\""));
  const std::string given = accepted({"page", "--example", "thinking-machines"}).out;
  CHECK(given.find("class=\"random\"") == std::string::npos);
  check_has(accepted({"page", "--x", "1 2", "--wq", "1; 2"}).out, "How was each number made?");
}

TEST_CASE("a page for browsers of a part has what the part is made of as inputs") {
  const std::string page = accepted({"page", "walk", "--only", "weights"}).out;
  check_has(page, "\"name\": \"weights\"");
  check_has(page, "is an input of this part");
  CHECK(page.find("\"name\": \"scores\"") == std::string::npos);
  const std::string head = accepted({"page", "walk", "--model", "course", "--text", "The query", "--head", "2"}).out;
  check_has(head, "\"name\": \"head.2.weights\"");
  CHECK(head.find("head.1.") == std::string::npos);
  CHECK(head.size() < 330'000);
}

TEST_CASE("what a page for browsers cannot be is refused in one sentence") {
  const TemporaryFolder folder;
  refuses({"page", "-o", folder.path("walk.txt")}, "give a name that ends in .html");
  refuses({"page", "--format", "json"}, "leave out --format");
  refuses({"page", "walk", "--only", "nothing"}, "unknown matrix 'nothing'");
  refuses({"page", "encoder", "--outline"}, "leave out --outline");
  refuses({"page", "tokenize"}, "attn tokenize cannot be shown by attn page. Choose one of: walk, ");
  refuses({"page", "encoder", "--wq", "1"}, "attn encoder has no option '--wq'");
  refuses({"encoder", "--page", "--width", "40"}, "leave out --width");
  refuses({"page", "--n", "2"}, "attn page has no option '--n'");
  refuses({"page", "encoder", "--d-model", "600", "--d-ff", "2400"}, "a page for browsers holds at most");
}

TEST_CASE("a page for browsers is not written to a terminal" * needs_terminals()) {
  const ProcessResult finished = run_attn_on_terminal({"page"}, 80);
  CHECK(finished.code == 2);
  CHECK((finished.out + finished.errors).find("give -o walk.html") != std::string::npos);
}

TEST_CASE("where a page was written to a file, it is said how it is opened") {
  const TemporaryFolder folder;
  const ProcessResult finished = run_attn({"page", "-o", folder.path("walk.html")});
  CHECK(finished.code == 0);
  CHECK(finished.out == "");
  CHECK(finished.errors == "attn: open " + folder.path("walk.html") + " in a browser\n");
  CHECK((bytes_of(folder.path("walk.html")) == accepted({"page"}).out));
}

TEST_CASE("words cannot end the data of a page, nor begin a script") {
  const TemporaryFolder folder;
  const std::string problem = folder.write(
      "words.json", R"({"tokens": ["</script><script>alert(1)</script>", "<!--"], "x": [[1, 2], [3, 4]]})");
  const std::string page = accepted({"page", "--problem", problem, "--seed", "1"}).out;
  std::size_t scripts = 0;
  for (std::size_t at = page.find("<script"); at != std::string::npos; at = page.find("<script", at + 1)) ++scripts;
  CHECK(scripts == 2);
  CHECK(page.find("<!--") == std::string::npos);
}
