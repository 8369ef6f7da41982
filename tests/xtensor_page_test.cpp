// What docs/xtensor.md says of code: it is compiled, its numbers are those of attn, and what it calls wrong is wrong.

#include <doctest/doctest.h>

#include <cstdio>
#include <map>
#include <memory>
#include <regex>

#include "commands_tried.hpp"
#include "process.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

std::string text_of_source(const std::string& path) { return bytes_of(ATTN_SOURCE_FOLDER "/" + path); }
const std::string& page_on_xtensor() {
  static const std::string text = text_of_source("docs/xtensor.md");
  return text;
}

// What a program of tests/xtensor_page/ prints.
std::string printed_by(const std::string& name) {
  const std::string path = (tested_program().parent_path() / "tests/xtensor_page" / name).string();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(("'" + path + "'").c_str(), "r"), pclose);
  REQUIRE(pipe);
  std::string text;
  for (int c; (c = std::fgetc(pipe.get())) != EOF;) text += static_cast<char>(c);
  CHECK_MESSAGE(!text.empty(), path << " prints nothing");
  return text;
}

std::vector<std::string> blocks_of_code() {
  const std::string fence = "\n```cpp\n", &page = page_on_xtensor();
  std::vector<std::string> blocks;
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    blocks.push_back(page.substr(at, page.find("```", at) - at));
  }
  return blocks;
}

// Every number of a text: "{{ 1.5 , -2. }}".
std::vector<double> numbers_of_arrays(const std::string& text) {
  static const std::regex number(R"(-?\d+\.\d*(e[-+]\d+)?)");
  std::vector<double> all;
  for (std::sregex_iterator one(text.begin(), text.end(), number), end; one != end; ++one)
    all.push_back(std::stod(one->str()));
  return all;
}

// The rows of the page's tables by their first cell, which is in `…`, each with its other cells by their headings.
std::map<std::string, std::map<std::string, std::string>> rows_of_page() {
  std::map<std::string, std::map<std::string, std::string>> rows;
  const auto plain = [](std::string cell) {
    std::erase(cell, '`');
    return cell;
  };
  for (const MarkdownLeaf& leaf : read_document(page_on_xtensor(), "docs/xtensor.md").leaves) {
    for (std::size_t i = 1; i < leaf.rows.size(); ++i) {
      for (std::size_t j = 1; j < leaf.rows[i].size(); ++j)
        rows[plain(leaf.rows[i][0])][plain(leaf.rows[0][j])] = leaf.rows[i][j];
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("every block of C++ on the page on xtensor is compiled, and the last one is a whole program") {
  const std::string program = text_of_source("tests/xtensor_page/attention.cpp");
  const std::string forms = text_of_source("tests/xtensor_page/forms.cpp");
  const std::vector<std::string> blocks = blocks_of_code();
  REQUIRE(blocks.size() > 5);
  for (const std::string& block : blocks) {
    const bool is_compiled = has(program, block) || has(forms, block);
    CHECK_MESSAGE(is_compiled, "nothing compiles:\n" << block);
  }
  CHECK(blocks.back() == program);
}

TEST_CASE("the program of the page on xtensor prints what the page shows, and what attn computes") {
  const std::string printed = printed_by("attn_xtensor_attention");
  CHECK(has(page_on_xtensor(), "\n```text\n" + printed + "```\n"));
  std::vector<double> computed;
  static const std::regex command("\nattn walk --x .* --only output\n");
  for (std::sregex_iterator one(page_on_xtensor().begin(), page_on_xtensor().end(), command), end; one != end; ++one) {
    const std::shared_ptr<Graph> graph = computation_of(std::string(trimmed(one->str())));
    for (const double x : cells(graph->at("output").matrix())) computed.push_back(x);
  }
  const std::vector<double> numbers = numbers_of_arrays(printed);
  REQUIRE(computed.size() == 24);  // three words with four numbers each, of one head and of two
  REQUIRE(numbers.size() == computed.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) CHECK(close(numbers[i], computed[i], 1e-6));
}

TEST_CASE("forms of code are right or wrong in a release of xtensor as the page on it says") {
  const std::string printed = printed_by("attn_xtensor_forms");
  const std::string release = printed.substr(8, printed.find('\n') - 8);
  const auto rows = rows_of_page();
  std::size_t told = 0;
  static const std::regex line("\n(\\w+): (right|wrong)");
  std::map<std::string, std::string> found;
  for (std::sregex_iterator one(printed.begin(), printed.end(), line), end; one != end; ++one)
    found[one->str(1)] = one->str(2);
  REQUIRE(found.size() > 20);
  for (const auto& [form, cells] : rows) {
    if (!cells.contains("0.24.3")) continue;
    ++told;
    const auto result = found.find(form);
    if (result == found.end()) continue;  // without xtensor-blas
    // What reads memory that nobody has written may be right by chance.
    const auto cell = cells.find(release);
    if (cell != cells.end() && (cell->second == "right" || form != "joined_to_itself"))
      CHECK_MESSAGE(result->second == cell->second, form << " in xtensor " << release);
    found.erase(result);
  }
  CHECK(told > 8);
  // What no table mentions is what to write instead.
  for (const auto& [form, result] : found) CHECK_MESSAGE(result == "right", form << " is wrong, and no table says so");
}

TEST_CASE("the forms whose times the page on xtensor shows are those that are measured") {
  const std::string forms = text_of_source("tests/xtensor_page/forms.cpp");
  std::size_t times = 0;
  for (const auto& [form, cells] : rows_of_page()) {
    if (!cells.contains("n = 512")) continue;
    ++times;
    std::string name = form.substr(0, form.find(" of "));
    CHECK_MESSAGE(has(forms, "tell_time(\"`" + name) != has(forms, "tell_time(\"" + name), form);
  }
  CHECK(times > 10);
}
