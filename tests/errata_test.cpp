#include <doctest/doctest.h>

#include <set>
#include <string>

#include "command/errata/errata.hpp"
#include "process.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

constexpr std::string_view begin = "---\nwhere: a text\nwhat: an error\n---\n";

std::string page_of_erratum(const std::string& text) {
  const Answer answer = erratum_page(read_erratum(std::string(begin) + text, "lessons/errata/03-a.md"));
  std::string page;
  Sink sink([&](std::string_view bytes) { page += bytes; });
  render_text(answer.page, {.width = 80}, sink);
  sink.flush();
  return page;
}

std::string fault_of_erratum(const std::string& text) {
  try {
    erratum_page(read_erratum(text, "a.md"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("the files of the errata name all demonstrations, and each is named once") {
  std::multiset<std::string> named;
  for (const ErratumFile& file : erratum_files()) {
    const Erratum erratum = read_erratum(file.text, std::string(file.path));
    for (const MarkdownLeaf& leaf : erratum.document.leaves) {
      if (leaf.info == "demonstration") named.insert(std::string(trimmed(leaf.text)));
    }
  }
  for (const Demonstration& row : demonstrations()) CHECK_MESSAGE(named.count(std::string(row.name)) == 1, row.name);
  CHECK(named.size() == demonstrations().size());
}

TEST_CASE("an erratum shows commands and names numbers of what they compute") {
  const std::string page = page_of_erratum(R"(
The second weight is {weights[1,2]: 2 decimals}, in a matrix of {shape(weights)}; {{ is a brace.

```attn
attn softmax --scores '0 1'
```

From [0, 1] to itself it is {difference(scores, scores)}.
)");
  CHECK(has(page, "E3 (a text): an error"));
  CHECK(has(page, "The second weight is 0.73, in a matrix of 1×2; { is a brace."));
  CHECK(has(page, "$ attn softmax --scores '0 1'"));
  CHECK(has(page, "weights │       1       2"));
  CHECK(has(page, "it is less than 1e-9."));
  const std::string hidden = page_of_erratum("```attn hidden\nattn softmax --scores '0 1'\n```\n{scores[1,2]}.\n");
  CHECK(has(hidden, "1."));
  CHECK_FALSE(has(hidden, "softmax"));
}

TEST_CASE("the erratum that the guide for authors shows has a page, and outputs in a file are no part of one") {
  const std::string guide = bytes_of(std::string(ATTN_SOURCE_FOLDER) + "/docs/lessons.md"), fence = "````markdown\n";
  const std::size_t from = guide.find(fence + "---\nwhere:");
  REQUIRE(from != std::string::npos);
  const std::size_t first = from + fence.size();
  CHECK(fault_of_erratum(guide.substr(first, guide.find("````", first) - first)) == "nothing");
  const std::string hidden = "```attn hidden\nattn softmax --scores '0 1'\n```\n";
  const std::string output = "<!-- attn:output -->\n```text\nno\n```\n<!-- /attn:output -->\n";
  CHECK(page_of_erratum(hidden + output + "\nA.\n") == page_of_erratum(hidden + "\nA.\n"));
}

TEST_CASE("what is wrong with an erratum is said with its line") {
  const std::string front(begin);
  for (const auto& fault : {std::pair{front + "{weights[1,2]}\n", "a.md:5: "},
                            {front + "{1\n", "a.md:5: '{1' has no }"},
                            {front + "```demonstration\nnothing\n```\n", "a.md:5: unknown demonstration 'nothing'"},
                            {front + "```attn\nattn walk --wrong\n```\n", "a.md:5: "},
                            {front + "# A heading\n", "a.md:5: an erratum has paragraphs"},
                            {std::string("A\n"), "a.md:1: an erratum begins with"},
                            {std::string("---\nwher: a\n---\n"), "a.md:2: unknown key of an erratum 'wher'"},
                            {std::string("---\nwhere: a\nwhere: a\n---\n"), "a.md:3: where is given twice"}})
    CHECK_MESSAGE(has(fault_of_erratum(fault.first), fault.second), fault_of_erratum(fault.first));
}
