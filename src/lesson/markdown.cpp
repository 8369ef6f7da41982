#include "lesson/markdown.hpp"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include <cstdlib>
#include <memory>

namespace attn {
namespace {

using Parser = std::unique_ptr<cmark_parser, void (*)(cmark_parser*)>;
using Node = std::unique_ptr<cmark_node, void (*)(cmark_node*)>;
using Walk = std::unique_ptr<cmark_iter, void (*)(cmark_iter*)>;

// The parser owns the extensions that the writer asks for: it lives as long as what it has read.
struct Parsed {
  Parser parser;
  Node root;
};

Parsed parsed(std::string_view text) {
  cmark_gfm_core_extensions_ensure_registered();
  Parser parser(cmark_parser_new(CMARK_OPT_DEFAULT), cmark_parser_free);
  for (const char* name : {"table", "strikethrough", "autolink"}) {
    cmark_parser_attach_syntax_extension(parser.get(), cmark_find_syntax_extension(name));
  }
  cmark_parser_feed(parser.get(), text.data(), text.size());
  Node root(cmark_parser_finish(parser.get()), cmark_node_free);
  return {std::move(parser), std::move(root)};
}

std::string owned(char* text) {
  std::string copy = text;
  std::free(text);
  return copy;
}

bool is_container(cmark_node* node) {
  const cmark_node_type type = cmark_node_get_type(node);
  return type == CMARK_NODE_DOCUMENT || type == CMARK_NODE_LIST || type == CMARK_NODE_ITEM ||
         type == CMARK_NODE_BLOCK_QUOTE;
}

// The style of a piece of a paragraph: that of what it is, or of what it stands in.
Span::Style style_of(cmark_node* piece) {
  if (cmark_node_get_type(piece) == CMARK_NODE_CODE) return Span::Style::code;
  for (cmark_node* node = piece; node; node = cmark_node_parent(node)) {
    const cmark_node_type type = cmark_node_get_type(node);
    if (type == CMARK_NODE_STRONG || type == CMARK_NODE_EMPH) return Span::Style::strong;
  }
  return Span::Style::plain;
}

Text words_of(cmark_node* paragraph) {
  Text words;
  const Walk walk(cmark_iter_new(paragraph), cmark_iter_free);
  while (cmark_iter_next(walk.get()) != CMARK_EVENT_DONE) {
    cmark_node* const node = cmark_iter_get_node(walk.get());
    const cmark_node_type type = cmark_node_get_type(node);
    const bool breaks = type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK;
    const char* const literal = breaks ? " " : cmark_node_get_literal(node);
    if (literal) words.push_back({style_of(node), literal});
  }
  return words;
}

MarkdownLeaf leaf_of(cmark_node* node) {
  MarkdownLeaf leaf;
  leaf.first_line = static_cast<std::size_t>(cmark_node_get_start_line(node));
  leaf.last_line = static_cast<std::size_t>(cmark_node_get_end_line(node));
  leaf.column = static_cast<std::size_t>(cmark_node_get_start_column(node));
  int length = 0, offset = 0;
  char sign = 0;
  if (cmark_node_get_fenced(node, &length, &offset, &sign)) {
    leaf.kind = MarkdownLeaf::Kind::fence;
    leaf.info = cmark_node_get_fence_info(node);
    leaf.text = cmark_node_get_literal(node);
  } else if (cmark_node_get_type(node) == CMARK_NODE_HTML_BLOCK) {
    leaf.kind = MarkdownLeaf::Kind::html;
    leaf.text = cmark_node_get_literal(node);
  } else if (cmark_node_get_type(node) == CMARK_NODE_HEADING) {
    leaf.kind = MarkdownLeaf::Kind::heading;
    leaf.text = owned(cmark_render_plaintext(node, CMARK_OPT_DEFAULT, 0));
    while (leaf.text.ends_with('\n')) leaf.text.pop_back();
  } else if (cmark_node_get_type(node) == CMARK_NODE_PARAGRAPH) {
    leaf.kind = MarkdownLeaf::Kind::paragraph;
    leaf.words = words_of(node);
  }
  return leaf;
}

}  // namespace

std::vector<MarkdownLeaf> markdown_leaves(std::string_view text) {
  const Parsed document = parsed(text);
  const Walk walk(cmark_iter_new(document.root.get()), cmark_iter_free);
  std::vector<MarkdownLeaf> leaves;
  std::vector<std::size_t> open;
  std::size_t containers = 0;
  for (cmark_event_type event; (event = cmark_iter_next(walk.get())) != CMARK_EVENT_DONE;) {
    cmark_node* const node = cmark_iter_get_node(walk.get());
    if (is_container(node)) {
      if (event == CMARK_EVENT_ENTER) {
        open.push_back(containers++);
      } else {
        open.pop_back();
      }
    } else if (event == CMARK_EVENT_ENTER && is_container(cmark_node_parent(node))) {
      leaves.push_back(leaf_of(node));
      leaves.back().container = open.back();
    }
  }
  return leaves;
}

std::string html_of(std::string_view markdown) {
  const Parsed document = parsed(markdown);
  cmark_llist* const extensions = cmark_parser_get_syntax_extensions(document.parser.get());
  return owned(cmark_render_html(document.root.get(), CMARK_OPT_DEFAULT, extensions));
}

}  // namespace attn
