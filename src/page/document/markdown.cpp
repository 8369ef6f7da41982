#include "page/document/markdown.hpp"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "page/document/document.hpp"

namespace attn {

namespace {

using CmarkParser = std::unique_ptr<cmark_parser, void (*)(cmark_parser*)>;
using CmarkNode = std::unique_ptr<cmark_node, void (*)(cmark_node*)>;
using Walk = std::unique_ptr<cmark_iter, void (*)(cmark_iter*)>;

// The parser owns the extensions that the writer asks for: it lives as long as what it has read.
struct Parsed {
  CmarkParser parser;
  CmarkNode root;
};

void* or_no_memory(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}

// Where cmark gets no memory it ends the program with a sentence of its own. No exception may pass through C:
// here it meets noexcept, and main's handler tells it.
void* cells_for_cmark(std::size_t count, std::size_t size) noexcept { return or_no_memory(std::calloc(count, size)); }
void* more_for_cmark(void* memory, std::size_t size) noexcept { return or_no_memory(std::realloc(memory, size)); }

void take_memory_here() { *cmark_get_default_mem_allocator() = {cells_for_cmark, more_for_cmark, std::free}; }

// For each of up to 1000 addresses in a paragraph, the library copies all that stands behind it.
bool has_few_addresses(std::string_view text) {
  constexpr std::size_t most_bytes_copied = std::size_t{1} << 26, most_copies = 1000;
  const auto addresses = static_cast<std::size_t>(std::ranges::count(text, '@'));
  return text.size() * std::min(addresses, most_copies) <= most_bytes_copied;
}

// For each cell of a row, the library looks at those before it.
bool has_short_rows(std::string_view text) {
  constexpr std::size_t most_looks = std::size_t{1} << 26;
  std::size_t looks = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const auto bars = static_cast<std::size_t>(std::ranges::count(text.substr(0, end), '|'));
    looks += bars * bars;
    text.remove_prefix(end);
  }
  return looks <= most_looks;
}

Parsed parsed_markdown(std::string_view text) {
  take_memory_here();
  cmark_gfm_core_extensions_ensure_registered();
  CmarkParser parser(cmark_parser_new(CMARK_OPT_DEFAULT), cmark_parser_free);
  for (const char* name : {"table", "strikethrough", "autolink"}) {
    if (std::string_view(name) == "autolink" && !has_few_addresses(text)) continue;
    if (std::string_view(name) == "table" && !has_short_rows(text)) continue;
    cmark_parser_attach_syntax_extension(parser.get(), cmark_find_syntax_extension(name));
  }
  cmark_parser_feed(parser.get(), text.data(), text.size());
  CmarkNode root(cmark_parser_finish(parser.get()), cmark_node_free);
  return {std::move(parser), std::move(root)};
}

std::string owned(char* text) {
  std::string copy = text;
  std::free(text);
  return copy;
}

std::string text_of(const char* text) { return text ? text : ""; }

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
    if (type == CMARK_NODE_STRONG) return Span::Style::strong;
    if (type == CMARK_NODE_EMPH) return Span::Style::emphasis;
  }
  return Span::Style::plain;
}

bool leads_to_markdown(std::string_view url) {
  const bool is_relative = url.find(':') == std::string_view::npos && !url.starts_with('/');
  return is_relative && url.substr(0, url.find('#')).ends_with(".md");
}

// "lesson 17" of "17-cost.md"; nothing for other files.
std::string lesson_at(std::string_view url) {
  const std::string_view file = url.substr(url.rfind('/') + 1);
  const std::size_t begin = file.find_first_not_of('0'), end = file.find_first_not_of("0123456789");
  if (end == std::string_view::npos || begin >= end || file[end] != '-') return "";
  return "lesson " + std::string(file.substr(begin, end - begin));
}

// Gathers the words of a paragraph. A link cannot be followed in a terminal: its words stand in quotes where
// they name something that is near, and its address behind them where it is far.
class NodeWords {
 public:
  std::vector<Text> gathered(cmark_node* paragraph) {
    const Walk walk(cmark_iter_new(paragraph), cmark_iter_free);
    for (cmark_event_type event; (event = cmark_iter_next(walk.get())) != CMARK_EVENT_DONE;)
      add(cmark_iter_get_node(walk.get()), event == CMARK_EVENT_ENTER);
    return std::move(lines_);
  }

 private:
  void add(cmark_node* node, bool enters) {
    const cmark_node_type type = cmark_node_get_type(node);
    if (type == CMARK_NODE_LINK) {
      if (enters) {
        open_link(text_of(cmark_node_get_url(node)));
      } else {
        close_link(text_of(cmark_node_get_url(node)));
      }
    } else if (type == CMARK_NODE_IMAGE) {
      say(enters ? "[picture: " : "]");
    } else if (type == CMARK_NODE_LINEBREAK) {
      lines_.emplace_back();
    } else if (type == CMARK_NODE_SOFTBREAK) {
      say(" ");
    } else if (type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE) {
      lines_.back().push_back({style_of(node), cmark_node_get_literal(node)});
      linked_ += cmark_node_get_literal(node);
    }
  }

  void open_link(const std::string& url) {
    linked_.clear();
    if (leads_to_markdown(url)) say("\"");
  }

  void close_link(const std::string& url) {
    const std::string lesson = lesson_at(url);
    if (leads_to_markdown(url)) return say(lesson.empty() ? "\"" : "\" (" + lesson + ")");
    const bool says_it_all = url.starts_with('#') || url.ends_with(linked_);
    if (!says_it_all) say(" (" + url + ")");
  }

  void say(std::string words) { lines_.back().push_back({Span::Style::plain, std::move(words)}); }

  std::vector<Text> lines_ = std::vector<Text>(1);
  std::string linked_;  // the words of the last link
};

// Raw HTML, which is shown nowhere. Comments are meant not to be.
std::vector<std::string> tags_in(cmark_node* leaf) {
  std::vector<std::string> tags;
  const Walk walk(cmark_iter_new(leaf), cmark_iter_free);
  for (cmark_event_type event; (event = cmark_iter_next(walk.get())) != CMARK_EVENT_DONE;) {
    cmark_node* const node = cmark_iter_get_node(walk.get());
    if (event != CMARK_EVENT_ENTER || cmark_node_get_type(node) != CMARK_NODE_HTML_INLINE) continue;
    std::string tag = text_of(cmark_node_get_literal(node));
    if (!tag.starts_with("<!--")) tags.push_back(std::move(tag));
  }
  return tags;
}

std::vector<std::string> pictures_in(cmark_node* leaf) {
  std::vector<std::string> addresses;
  const Walk walk(cmark_iter_new(leaf), cmark_iter_free);
  for (cmark_event_type event; (event = cmark_iter_next(walk.get())) != CMARK_EVENT_DONE;) {
    cmark_node* const node = cmark_iter_get_node(walk.get());
    if (event == CMARK_EVENT_ENTER && cmark_node_get_type(node) == CMARK_NODE_IMAGE)
      addresses.push_back(text_of(cmark_node_get_url(node)));
  }
  return addresses;
}

std::vector<std::vector<std::string>> rows_of_table(cmark_node* table) {
  std::vector<std::vector<std::string>> rows;
  for (cmark_node* row = cmark_node_first_child(table); row; row = cmark_node_next(row)) {
    std::vector<std::string>& cells = rows.emplace_back();
    for (cmark_node* cell = cmark_node_first_child(row); cell; cell = cmark_node_next(cell)) {
      std::string& words = cells.emplace_back();
      for (const Text& line : NodeWords().gathered(cell)) {
        for (const Span& span : line) words += span.text;
      }
    }
  }
  return rows;
}

// "- ", or "3. " with room for the list's last number.
std::string sign_of(cmark_node* item) {
  cmark_node* const list = cmark_node_parent(item);
  if (cmark_node_get_list_type(list) != CMARK_ORDERED_LIST) return "- ";
  int number = cmark_node_get_list_start(list), last = number - 1;
  for (cmark_node* other = cmark_node_previous(item); other; other = cmark_node_previous(other)) ++number;
  for (cmark_node* other = cmark_node_first_child(list); other; other = cmark_node_next(other)) ++last;
  const char* const delimiter = cmark_node_get_list_delim(list) == CMARK_PAREN_DELIM ? ")" : ".";
  return fmt::format("{:{}}{} ", number, std::to_string(last).size(), delimiter);
}

// Whether no empty line stands before a leaf of this item. A list that stands in no other one is set apart
// from what stands before it.
bool is_tight(cmark_node* leaf, cmark_node* item) {
  cmark_node* const list = cmark_node_parent(item);
  const bool begins_list = !cmark_node_previous(leaf) && !cmark_node_previous(item);
  const bool is_inner = cmark_node_get_type(cmark_node_parent(list)) == CMARK_NODE_ITEM;
  return cmark_node_get_list_tight(list) != 0 && (is_inner || !begins_list);
}

MarkdownMargins margins_of(cmark_node* leaf) {
  MarkdownMargins margins;
  cmark_node* const parent = cmark_node_parent(leaf);
  margins.tight = cmark_node_get_type(parent) == CMARK_NODE_ITEM && is_tight(leaf, parent);
  bool leads = true;  // whether nothing stands before the leaf in the item
  for (cmark_node* node = leaf; cmark_node* around = cmark_node_parent(node); node = around) {
    leads = leads && cmark_node_previous(node) == nullptr;
    const cmark_node_type type = cmark_node_get_type(around);
    if (type == CMARK_NODE_ITEM) {
      const std::string sign = sign_of(around), blanks(sign.size(), ' ');
      margins.first.insert(0, leads ? sign : blanks);
      margins.rest.insert(0, blanks);
    } else if (type == CMARK_NODE_BLOCK_QUOTE) {
      margins.first.insert(0, "> ");
      margins.rest.insert(0, "> ");
    }
    if (type != CMARK_NODE_DOCUMENT) margins.outermost = static_cast<std::size_t>(cmark_node_get_start_line(around));
  }
  return margins;
}

bool is_table(cmark_node* node) { return std::string_view(cmark_node_get_type_string(node)) == "table"; }

// Of a paragraph right above a table, cmark-gfm gives no line: the table has that in which both begin.
std::size_t first_line_of(cmark_node* node) {
  const int line = cmark_node_get_start_line(node);
  cmark_node* const next = cmark_node_next(node);
  return static_cast<std::size_t>(line == 0 && next ? cmark_node_get_start_line(next) : line);
}

MarkdownLeaf leaf_of(cmark_node* node) {
  MarkdownLeaf leaf;
  leaf.first_line = first_line_of(node);
  // Of a comment in one line, cmark-gfm gives the line before it.
  leaf.last_line = std::max(leaf.first_line, static_cast<std::size_t>(cmark_node_get_end_line(node)));
  leaf.column = static_cast<std::size_t>(cmark_node_get_start_column(node));
  leaf.margins = margins_of(node);
  const cmark_node_type type = cmark_node_get_type(node);
  int length = 0, offset = 0;
  char sign = 0;
  if (type == CMARK_NODE_CODE_BLOCK) {
    const bool is_fenced = cmark_node_get_fenced(node, &length, &offset, &sign) != 0;
    leaf.kind = is_fenced ? MarkdownLeaf::Kind::fence : MarkdownLeaf::Kind::code;
    leaf.info = text_of(cmark_node_get_fence_info(node));
    leaf.text = text_of(cmark_node_get_literal(node));
  } else if (type == CMARK_NODE_HTML_BLOCK) {
    leaf.kind = MarkdownLeaf::Kind::html;
    leaf.text = text_of(cmark_node_get_literal(node));
  } else if (type == CMARK_NODE_HEADING) {
    leaf.kind = MarkdownLeaf::Kind::heading;
    leaf.level = cmark_node_get_heading_level(node);
    leaf.words = NodeWords().gathered(node);
    leaf.pictures = pictures_in(node);
    leaf.tags = tags_in(node);
  } else if (type == CMARK_NODE_PARAGRAPH) {
    leaf.kind = MarkdownLeaf::Kind::paragraph;
    leaf.words = NodeWords().gathered(node);
    leaf.pictures = pictures_in(node);
    leaf.tags = tags_in(node);
  } else if (type == CMARK_NODE_THEMATIC_BREAK) {
    leaf.kind = MarkdownLeaf::Kind::rule;
  } else if (is_table(node)) {
    leaf.kind = MarkdownLeaf::Kind::table;
    leaf.rows = rows_of_table(node);
    leaf.pictures = pictures_in(node);
    leaf.tags = tags_in(node);
  }
  return leaf;
}

// "17-cost.md#heads" becomes "17-cost.html#heads".
void lead_to_html(cmark_node* root) {
  const Walk walk(cmark_iter_new(root), cmark_iter_free);
  for (cmark_event_type event; (event = cmark_iter_next(walk.get())) != CMARK_EVENT_DONE;) {
    cmark_node* const node = cmark_iter_get_node(walk.get());
    if (event != CMARK_EVENT_ENTER || cmark_node_get_type(node) != CMARK_NODE_LINK) continue;
    std::string url = text_of(cmark_node_get_url(node));
    if (!leads_to_markdown(url)) continue;
    constexpr std::string_view ending = ".md";
    url.replace(std::min(url.find('#'), url.size()) - ending.size(), ending.size(), ".html");
    cmark_node_set_url(node, url.c_str());
  }
}

bool is_place(cmark_node* node) {
  cmark_node* const child = cmark_node_first_child(node);
  return cmark_node_get_type(node) == CMARK_NODE_PARAGRAPH && child && !cmark_node_next(child) &&
         cmark_node_get_type(child) == CMARK_NODE_TEXT && cmark_node_get_literal(child) == placeholder;
}

void fill_places(cmark_node* root, std::span<const std::string> pieces) {
  std::vector<cmark_node*> places;
  const Walk walk(cmark_iter_new(root), cmark_iter_free);
  for (cmark_event_type event; (event = cmark_iter_next(walk.get())) != CMARK_EVENT_DONE;) {
    cmark_node* const node = cmark_iter_get_node(walk.get());
    if (event == CMARK_EVENT_ENTER && is_place(node)) places.push_back(node);
  }
  for (std::size_t i = 0; i < std::min(places.size(), pieces.size()); ++i) {
    cmark_node* const piece = cmark_node_new(CMARK_NODE_CUSTOM_BLOCK);
    cmark_node_set_on_enter(piece, pieces[i].c_str());
    cmark_node_replace(places[i], piece);
    cmark_node_free(places[i]);
  }
}

constexpr std::size_t most_missing_cells = 100'000;  // in a whole text

// Nothing, or nothing but the signs of quotations.
bool is_empty(std::string_view line) { return line.find_first_not_of(" \t\v\f>") == std::string_view::npos; }

// Whether this may be the line below the head of a table. Where it is none, too much is counted.
bool may_begin_rows(std::string_view line) {
  return line.find('-') != std::string_view::npos && line.find_first_not_of(" \t\v\f>|:-") == std::string_view::npos;
}

// At most so many; there is one more than signs between them where the line neither begins nor ends with one.
std::size_t cells_in(std::string_view line) { return static_cast<std::size_t>(std::ranges::count(line, '|')) + 1; }

}  // namespace

std::vector<MarkdownLeaf> markdown_leaves(std::string_view text) {
  const Parsed document = parsed_markdown(text);
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

std::string without_placeholders(std::string text) {
  constexpr std::string_view replacement = "\uFFFD";
  for (std::size_t at; (at = text.find(placeholder)) != std::string::npos;)
    text.replace(at, placeholder.size(), replacement);
  return text;
}

std::string html_of(std::string_view markdown, std::span<const std::string> pieces) {
  const Parsed document = parsed_markdown(markdown);
  lead_to_html(document.root.get());
  fill_places(document.root.get(), pieces);
  cmark_llist* const extensions = cmark_parser_get_syntax_extensions(document.parser.get());
  return owned(cmark_render_html(document.root.get(), CMARK_OPT_TABLE_PREFER_STYLE_ATTRIBUTES, extensions));
}

void refuse_oversized_tables(std::string_view markdown, const std::string& path) {
  std::size_t columns = 0, missing = 0;
  for (std::size_t begin = 0, number = 1; begin < markdown.size(); ++number) {
    const std::size_t end = std::min(markdown.find_first_of("\r\n", begin), markdown.size());
    const std::string_view line = markdown.substr(begin, end - begin);
    begin = end + (markdown.substr(end).starts_with("\r\n") ? 2 : 1);
    if (is_empty(line)) {
      columns = 0;
    } else if (may_begin_rows(line)) {
      columns = std::max(columns, cells_in(line));
    }
    missing += columns - std::min(columns, cells_in(line));
    if (missing > most_missing_cells) {
      fail_at({path, number}, "rows of tables lack more than {} cells: give each row all of its cells",
              most_missing_cells);
    }
  }
}

std::string version_of_cmark() { return cmark_version_string(); }

}  // namespace attn
