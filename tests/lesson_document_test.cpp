#include <doctest/doctest.h>

#include "page/document/document.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view line) { return command_lines(line, "a.md", 1).front().words; }

void check_document_refused(std::string_view part, std::string_view text) {
  const std::string sentence = refusal([&] { read_document(text, "a.md"); });
  CAPTURE(text);
  CHECK_MESSAGE(sentence.find(part) != std::string::npos, sentence);
}

}  // namespace

TEST_CASE("every leaf of a text has a first line and a last one that is not before it") {
  const std::vector<MarkdownLeaf> leaves = markdown_leaves("<!-- a -->\n\n# b\n\nc\nd\n***\n");
  const std::vector<std::pair<std::size_t, std::size_t>> lines = {{1, 1}, {3, 3}, {5, 6}, {7, 7}};
  REQUIRE(leaves.size() == lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CHECK(leaves[i].first_line == lines[i].first);
    CHECK(leaves[i].last_line == lines[i].second);
  }
}

TEST_CASE("a paragraph right above a table begins where it stands") {
  const std::vector<MarkdownLeaf> leaves = markdown_leaves("# a\n\nb\n| c |\n| - |\n| d |\n");
  REQUIRE(leaves.size() >= 2);
  CHECK(leaves[1].first_line == 3);
}

TEST_CASE("a command line is parted into words as a shell parts it") {
  CHECK(words_of("attn walk") == Words{"walk"});
  CHECK(words_of("$ attn  walk\t--text 'a b'") == Words{"walk", "--text", "a b"});
  CHECK(words_of(R"(attn explain "weights[\"a\",1]")") == Words{"explain", R"(weights["a",1])"});
  CHECK(words_of(R"(attn a\ b 'it'"'"'s' "")") == Words{"a b", "it's", ""});
  CHECK(words_of(R"(attn '$HOME|`*' "a*b|c")") == Words{"$HOME|`*", "a*b|c"});
  CHECK(words_of("attn walk # and why") == Words{"walk"});
  CHECK(words_of("attn walk a#b") == Words{"walk", "a#b"});
  CHECK(words_of("attn \"a\\b\"") == Words{"a\\b"});
}

TEST_CASE("a backslash at the end of a command line goes on in the next, and lines are counted") {
  const auto lines = command_lines("attn walk \\\n  --causal\n\n# nothing\r\nattn help\r\n", "a.md", 5);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].words == Words{"walk", "--causal"});
  CHECK(lines[0].line == 5);
  CHECK(lines[1].words == Words{"help"});
  CHECK(lines[1].line == 9);
}

TEST_CASE("what only a shell can do is refused with file and line") {
  for (const char* line : {"attn walk | head", "attn walk > out", "attn walk < in", "attn walk; ls", "attn walk &",
                           "attn walk $HOME", "attn walk `ls`", "attn walk *.csv", "attn walk (a)",
                           "attn walk weights[1,2]", "attn walk {a,b}", "attn walk ~/x", "attn walk \"$HOME\"",
                           "attn walk \"`ls`\"", "attn 'walk", "attn \"walk", "attn walk \\", "ls", "attention"}) {
    CAPTURE(line);
    CHECK(refusal([&] { command_lines(line, "a.md", 7); }).starts_with("a.md:7: "));
  }
}

TEST_CASE("a document's blocks are found, with their lines, attributes and outputs") {
  const Document document = read_document(
      "# Title\n\n```attn width=40 precision=2 format=csv fails hidden covers=1.1,E2\nattn walk\n```\n"
      "<!-- attn:output -->\n```text\nold\n```\n<!-- /attn:output -->\n\n```question\nask: x\n```\n"
      "```sh\nattn walk | head\n```\n    ```attn\n",
      "a.md");
  REQUIRE(document.commands.size() == 1);
  const CommandBlock& block = document.commands.front();
  CHECK(block.fence.first_line == 3);
  CHECK(block.fence.last_line == 5);
  CHECK(block.attributes.style.width == 40);
  CHECK(block.attributes.style.precision == 2);
  CHECK(block.attributes.style.format == "csv");
  CHECK(block.attributes.fails);
  CHECK(block.attributes.hidden);
  CHECK(block.attributes.covers == Words{"1.1", "E2"});
  REQUIRE(block.output.has_value());
  CHECK(block.output->begin == 6);
  CHECK(block.output->end == 10);
  CHECK(block.last_line() == 10);
  REQUIRE(document.questions.size() == 1);
  CHECK(document.questions.front().first_line == 12);
}

TEST_CASE("blocks in lists and quotations are found with what stands before their lines") {
  const Document document = read_document(
      "1. a\n\n   ```attn\n   attn walk\n   ```\n\n- ```attn\n  attn help\n  ```\n\n> - ~~~attn\n>   attn "
      "help\n>   "
      "~~~\n",
      "a.md");
  REQUIRE(document.commands.size() == 3);
  CHECK(document.commands[0].fence.margin == "   ");
  CHECK(document.commands[1].fence.margin == "  ");
  CHECK(document.commands[2].fence.margin == ">   ");
}

TEST_CASE("what stands in an output is no block of the document") {
  const Document document = read_document(
      "```attn\nattn walk\n```\n<!-- attn:output -->\n\n```attn\nattn help\n```\n\n<!-- /attn:output -->\n", "a.md");
  CHECK(document.commands.size() == 1);
}

TEST_CASE("front matter is read and keeps its lines") {
  const Document document = read_document("---\ntitle: A: b\nneeds: c,\n  d\n---\n```attn\nattn walk\n```\n", "a.md");
  REQUIRE(document.front_matter.size() == 2);
  CHECK(document.front_matter[0].value == "A: b");
  CHECK(document.front_matter[1].value == "c, d");
  CHECK(document.front_matter[1].line == 3);
  CHECK(document.commands.front().fence.first_line == 6);
}

TEST_CASE("a document that cannot be read is refused with file and line") {
  check_document_refused("a.md:2: this block is not closed", "\n```attn\nattn walk\n");
  check_document_refused("a.md:1: this block is not closed", "- ```attn\n  attn walk\n\nafter\n");
  check_document_refused("a.md:1: unknown attribute of a block 'widht' (did you mean 'width'?)",
                         "```attn widht=3\nattn walk\n```\n");
  check_document_refused("a.md:1: width must be 20 or more", "```attn width=3\nattn walk\n```\n");
  check_document_refused("a.md:1: width needs a value", "```attn width\nattn walk\n```\n");
  check_document_refused("a.md:1: fails takes no value", "```attn fails=no\nattn walk\n```\n");
  check_document_refused("a.md:1: this block has no command", "```attn\n# attn walk\n```\n");
  check_document_refused("a.md:2: '|'", "```attn\nattn walk | x\n```\n");
  check_document_refused("a.md:4: this output has no end", "```attn\nattn walk\n```\n<!-- attn:output -->\n");
  check_document_refused("a.md:1: <!-- attn:output --> has no block", "<!-- attn:output -->\n");
  check_document_refused("a.md:5: <!-- /attn:output --> has no block",
                         "```attn\nattn walk\n```\n\n<!-- /attn:output -->\n");
  check_document_refused("a.md:1: the front matter is not closed", "---\ntitle: x\n");
  check_document_refused("a.md:2: 'title' has no colon: write KEY: VALUE", "---\ntitle\n---\n");
  check_document_refused("a.md:2: title has no value", "---\ntitle:\n---\n");
  check_document_refused("a.md:1: a question takes no attributes", "```question hard\nask: x\n```\n");
}

TEST_CASE("any bytes at all are a document or refused") {
  const std::string piece = "```attn\n> - <!-- attn:output -->\r\n---\n\t1. ~~~question\rx\0\xff`";
  std::string text;
  for (std::size_t i = 0; i < 400; ++i) {
    text += piece.substr(i * 7 % piece.size(), i % 13);
    const std::string sentence = refusal([&] { read_document(text, "a.md"); });
    CHECK((sentence.starts_with("a.md:") || sentence == "(it was accepted)"));
  }
  CHECK(read_document("", "a.md").lines.empty());
}

TEST_CASE("tables whose rows lack very many cells are refused with file and line") {
  const auto table = [](std::string_view margin, std::size_t columns, std::size_t rows) {
    const auto row = [&](std::string_view cell) {
      std::string line(margin);
      for (std::size_t i = 0; i < columns; ++i) line.append("|").append(cell);
      return line + "|\n";
    };
    std::string text = "Before.\n\n" + row("x") + row("-");
    for (std::size_t i = 0; i < rows; ++i) text.append(margin).append("a\n");
    return text;
  };
  check_document_refused("a.md:104: rows of tables lack more than", table("", 1000, 5000));
  check_document_refused("a.md:104: rows of tables lack more than", table("> ", 1000, 5000));
  std::string many;
  for (int i = 0; i < 20; ++i) many += table("", 100, 100) + "\n";
  check_document_refused("a.md:", many);
  CHECK(read_document(table("", 3, 1000), "a.md").leaves.size() == 2);
  std::string honest = "|a|b|c|\n|:-|-|-:|\n";
  for (int i = 0; i < 100000; ++i) honest += "|1|2|3|\n";
  CHECK(read_document(honest, "a.md").leaves.front().rows.size() == 100001);
}
