#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "page/block/page.hpp"

namespace attn {

/// What the lists and quotations around a leaf put before its lines: "- " and "  ", or "> " and "> ".
struct MarkdownMargins {
  std::string first;
  std::string rest;
  std::size_t outermost = 0;  // the line in which the outermost of them begins; 0: there is none
  bool tight = false;         // no empty line stands before it
};

/// A leaf of a Markdown text: a fenced block, a comment, a heading, a paragraph, or anything else that holds
/// no other block.
struct MarkdownLeaf {
  enum class Kind { fence, code, html, heading, paragraph, table, rule, other };
  Kind kind = Kind::other;
  std::size_t container = 0;   // equal for leaves of the same list item, quotation or text
  std::size_t first_line = 0;  // from 1
  std::size_t last_line = 0;   // of a fence: the one that closes it
  std::size_t column = 0;      // of its first byte, from 1
  MarkdownMargins margins;
  std::string info;  // of a fence: the words behind it
  std::string text;  // of a fence or of code: what it holds; of HTML: itself
  int level = 0;     // of a heading
  // Of a heading or a paragraph: without marks; what they emphasised is strong. Where the author breaks a
  // line, there is another text.
  std::vector<Text> words;
  std::vector<std::string> pictures;           // addresses of those in it
  std::vector<std::string> tags;               // raw HTML in it, which is not shown
  std::vector<std::vector<std::string>> rows;  // of a table, its head first
};

/// The leaves of a text in GitHub's Markdown, in order. Lines end with \n, \r\n or \r.
std::vector<MarkdownLeaf> markdown_leaves(std::string_view text);

/// A paragraph of Markdown that is nothing but this (U+FFFC) is the place of something else.
constexpr std::string_view placeholder = "\uFFFC";

/// What somebody has written, with another sign for each placeholder in it.
std::string without_placeholders(std::string text);

/// The text as HTML, with these pieces of HTML in the places of its placeholders, in order. HTML in the text
/// is left out, and links to files of Markdown beside it lead to files of HTML.
std::string html_of(std::string_view markdown, std::span<const std::string> pieces = {});

/// Throws InputError with path and line where the rows of Markdown's tables lack more cells than any honest
/// table does: a reader of tables fills them in, so that a few bytes would take all memory.
void refuse_oversized_tables(std::string_view markdown, const std::string& path);

/// The version of the library that reads Markdown.
std::string version_of_cmark();

}  // namespace attn
