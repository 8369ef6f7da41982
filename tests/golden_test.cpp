#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "core/support/text.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/npz.hpp"
#include "golden.hpp"
#include "process.hpp"

using namespace attn;

namespace {

// One page for all formats: two heads, a mask, negative numbers, and labels that each format must guard.
std::string page(Words options, const Surroundings& surroundings = {}) {
  Words words = {"walk", "--problem", golden_path("problem.json")};
  words.insert(words.end(), options.begin(), options.end());
  const ProcessResult finished = run_attn(words, surroundings);
  CHECK_MESSAGE(finished.code == 0, command_line(words));
  CHECK(finished.errors == "");
  return finished.out;
}

void check_same_cells(const Matrix& expected, const Matrix& found) {
  REQUIRE(expected.shape() == found.shape());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double one = cells(expected)[i], other = cells(found)[i];
    if (one != other) CHECK(one == doctest::Approx(other).epsilon(1e-12));
  }
}

// The headers of all .npy arrays in the bytes, with the places where they stand.
std::string npy_headers(std::string_view bytes) {
  std::string headers;
  for (std::size_t at = bytes.find("\x93NUMPY"); at != std::string_view::npos; at = bytes.find("\x93NUMPY", at + 1)) {
    const std::size_t end = bytes.find('\n', at);
    headers += std::to_string(at) + ": " + std::string(bytes.substr(at, end - at)) + "\n";
  }
  return headers;
}

// Headers byte by byte, numbers with a tolerance.
void check_golden_arrays(const std::string& name, const std::string& found) {
  const TemporaryFolder folder;
  const std::string expected_path = golden_path(name), found_path = folder.write(name, found);
  if (updates_golden()) {
    std::filesystem::copy_file(found_path, expected_path, std::filesystem::copy_options::overwrite_existing);
  }
  const std::string expected = bytes_of(expected_path);
  CHECK(found.size() == expected.size());
  CHECK(npy_headers(found) == npy_headers(expected));
  CHECK(npy_headers(found) != "");
  if (!name.ends_with(".npz"))
    return check_same_cells(read_matrix(expected_path).matrix, read_matrix(found_path).matrix);
  const std::vector<std::string> names = npz_names(expected, name);
  REQUIRE(npz_names(found, name) == names);
  for (const std::string& key : names) {
    INFO(key);
    check_same_cells(read_matrix(expected_path + ":" + key).matrix, read_matrix(found_path + ":" + key).matrix);
  }
}

void check_golden_run(const std::string& name, const Words& words) {
  const ProcessResult finished = run_attn(words);
  CHECK(finished.code == 0);
  CHECK(finished.errors == "");
  check_golden(name, finished.out, Tolerance::last_digit);
}

}  // namespace

TEST_CASE("a page as text is the golden one") { check_golden("walk.txt", page({}), Tolerance::last_digit); }

TEST_CASE("a page in ASCII is the golden one") {
  check_golden("walk.ascii.txt", page({"--ascii"}), Tolerance::last_digit);
}

TEST_CASE("a page in 24-bit colors is the golden one") {
  const std::string found =
      page({"--only", "*.weights", "--color", "always"}, {.variables = {{"COLORTERM", "truecolor"}}});
  check_golden("weights.color.txt", found, Tolerance::last_digit);
}

TEST_CASE("a page as Markdown is the golden one") {
  check_golden("walk.md", page({"--format", "markdown"}), Tolerance::last_digit);
}

TEST_CASE("a page as HTML is the golden one") {
  check_golden("walk.html", page({"--format", "html"}), Tolerance::last_digit);
}

TEST_CASE("a page as LaTeX is the golden one") {
  check_golden("walk.tex", page({"--format", "latex", "--shading"}), Tolerance::last_digit);
}

TEST_CASE("a whole document of LaTeX is the golden one") {
  check_golden("outline.tex", page({"--outline", "--format", "latex", "--standalone"}), Tolerance::last_digit);
}

TEST_CASE("weights as SVG are the golden ones") {
  check_golden("weights.svg", page({"--format", "svg", "--only", "head.1.weights"}), Tolerance::last_digit);
}

TEST_CASE("a page as Markdown for GitHub and GitLab differs in its formulas and headings alone") {
  const auto replace = [](std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  const std::string markdown = page({"--format", "markdown"});
  std::string expected;
  for (const std::string_view piece : split_at(markdown, '\n')) {
    std::string line(piece);
    if (line.starts_with("#")) line.insert(0, "##");
    if (line.starts_with("$$")) {
      line = "```math\n" + line.substr(2, line.size() - 4) + "\n```";
      replace(line, "\\operatorname{", "\\mathrm{");
    }
    expected += line + "\n";
  }
  const std::string fences = page({"--format", "markdown", "--math", "fences", "--heading-level", "3"});
  CHECK(fences + "\n" == expected);
  CHECK(fences.find("```math") != std::string::npos);
}

TEST_CASE("a page as CSV is the golden one") {
  check_golden("walk.csv", page({"--format", "csv"}), Tolerance::relative);
}

TEST_CASE("a page as TSV is that as CSV, with tabs between its cells") {
  std::string csv = page({"--format", "csv"});
  std::ranges::replace(csv, ',', '\t');
  CHECK(page({"--format", "tsv"}) == csv);
}

TEST_CASE("a page as JSON is the golden one") {
  check_golden("walk.json", page({"--format", "json"}), Tolerance::relative);
}

TEST_CASE("a matrix for NumPy is the golden one") {
  check_golden_arrays("output.npy", page({"--format", "npy", "--only", "output"}));
}

TEST_CASE("the matrices for NumPy are the golden ones") { check_golden_arrays("walk.npz", page({"--format", "npz"})); }

TEST_CASE("a walk by word is the golden one") { check_golden_run("by-word.txt", {"walk", "--by-word", "Thinking"}); }

TEST_CASE("a map of attention is the golden one") { check_golden_run("map.txt", {"map", "encoder", "--seed", "6"}); }

TEST_CASE("a query's weights below its words are the golden ones") {
  check_golden_run("from.txt", {"softmax", "--text", "the cat saw the dog", "--heads", "2", "--causal", "--from", "saw",
                                "--seed", "6"});
}

TEST_CASE("a drawn product is the golden one") {
  check_golden_run("product.txt", {"product", "--example", "animal", "head.1.scores", "--cell", "it,animal"});
}

TEST_CASE("an explanation down to the inputs is the golden one") {
  check_golden_run("explain.txt", {"explain", "output[1,2]", "--depth", "9"});
}

TEST_CASE("an explanation as Markdown is the golden one") {
  check_golden_run("explain.md", {"explain", "weights[1,2]", "--depth", "2", "--format", "markdown"});
}

// The steps before are those by hand, with less between them.
TEST_CASE("what gradients take is the golden page") {
  check_golden_run("backward.txt", {"backward", "--section", "What it takes"});
}

TEST_CASE("gradients by hand are the golden ones") { check_golden_run("by-hand.txt", {"backward", "--by-hand"}); }

TEST_CASE("gradients as LaTeX are the golden ones") {
  check_golden_run("backward.tex", {"backward", "--format", "latex"});
}

TEST_CASE("gradients compared with finite differences are the golden page") {
  check_golden_run("check.txt", {"backward", "--check", "--text", "a b c", "--causal", "--d-model", "4"});
}

TEST_CASE("what a number depends on is the golden page") {
  check_golden_run("influence.txt", {"influence", "--of", "output[it,1]"});
}

TEST_CASE("the influence of words beside attention is the golden page") {
  check_golden_run("influence-align.txt", {"influence", "align", "--seed", "7", "--source", "one two three"});
}

TEST_CASE("the list of examples is the golden one") { check_golden_run("examples.txt", {"examples"}); }

TEST_CASE("a page of drawings is the golden one") { check_golden_run("pool.txt", {"pool"}); }

TEST_CASE("the drawing of a whole model is the golden one") {
  check_golden_run("model.txt", {"transformer", "--outline", "--norm", "pre", "--width", "120"});
}

TEST_CASE("a translation drawn along its words in ASCII is the golden one") {
  check_golden_run("align-outline.ascii.txt", {"align", "--outline", "--variant", "luong", "--ascii"});
}

TEST_CASE("a drawing of what layers reach is the golden one") {
  check_golden_run("cost-outline.txt", {"cost", "--outline"});
}

TEST_CASE("a page of drawings in ASCII is the golden one") {
  check_golden_run("positions.ascii.txt", {"positions", "--n", "8", "--d-model", "4", "--ascii", "--width", "60"});
}

TEST_CASE("a page of drawings as Markdown is the golden one") {
  check_golden_run("sweep.md", {"scale", "--sweep", "1,4,16", "--format", "markdown"});
}
