#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "page/page.hpp"

namespace attn {

/// A leaf of a Markdown text: a fenced block, a comment, a heading, a paragraph, or anything else that holds
/// no other block.
struct MarkdownLeaf {
  enum class Kind { fence, html, heading, paragraph, other };
  Kind kind = Kind::other;
  std::size_t container = 0;   // equal for leaves of the same list item, quotation or text
  std::size_t first_line = 0;  // from 1
  std::size_t last_line = 0;   // of a fence: the one that closes it
  std::size_t column = 0;      // of its first byte, from 1
  std::string info;            // of a fence: the words behind it
  std::string text;            // of a fence: what it holds; of HTML: itself; of a heading: its words
  Text words;                  // of a paragraph: without its marks; what they emphasised is strong
};

/// The leaves of a text in GitHub's Markdown, in order. Lines end with \n, \r\n or \r.
std::vector<MarkdownLeaf> markdown_leaves(std::string_view text);

/// The text as HTML; HTML in it is left out.
std::string html_of(std::string_view markdown);

}  // namespace attn
