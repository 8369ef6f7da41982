#include "page/block/page.hpp"

#include <algorithm>

namespace attn {

Span strong(std::string text) { return {Span::Style::strong, std::move(text)}; }

Span code(std::string text) { return {Span::Style::code, std::move(text)}; }

Span math(Formula formula) { return {Span::Style::formula, std::move(formula.plain), std::move(formula.latex)}; }

Text joined_text(std::initializer_list<TextPiece> pieces) {
  Text text;
  text.reserve(pieces.size());
  for (const TextPiece& piece : pieces) {
    text.push_back(piece.span ? *piece.span : Span{.text = std::string(piece.words)});
  }
  return text;
}

TablePlace Table::marked() const {
  const auto found = std::ranges::find_if(told, &TablePlace::is_marked);
  return found == told.end() ? TablePlace{} : *found;
}

Block::Block(const Block&) = default;
Block::Block(Block&&) noexcept = default;
Block& Block::operator=(const Block&) = default;
Block& Block::operator=(Block&&) noexcept = default;
Block::~Block() = default;

void Page::say(Block block) { blocks.push_back(std::move(block)); }

void Page::say(Text paragraph) { say(Prose{std::move(paragraph)}); }

void Page::say(std::string paragraph) { say(text(std::move(paragraph))); }

void Page::head(int level, std::string title) { say(Heading{level, text(std::move(title))}); }

std::vector<Table> tables_of(const std::vector<Block>& blocks) {
  std::vector<Table> tables;
  for (const Block& block : blocks) {
    if (const auto* const table = std::get_if<Table>(&block)) tables.push_back(*table);
    if (const auto* const beside = std::get_if<SideBySide>(&block))
      tables.insert(tables.end(), beside->tables.begin(), beside->tables.end());
  }
  return tables;
}

Listing for_readers(Listing listing) {
  const auto cut = [&](std::vector<std::string>& cells) { cells.resize(std::min(cells.size(), listing.shown)); };
  cut(listing.columns);
  for (std::vector<std::string>& row : listing.rows) cut(row);
  return listing;
}

int highest_heading(const std::vector<Block>& blocks) {
  int highest = deepest_heading;
  for (const Block& block : blocks) {
    if (const Heading* const heading = std::get_if<Heading>(&block)) highest = std::min(highest, heading->level);
  }
  return highest;
}

std::string words_of(const Text& text) {
  std::string words;
  for (const Span& span : text) words += span.text;
  return words;
}

}  // namespace attn
