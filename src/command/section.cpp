#include "command/section.hpp"

#include <algorithm>
#include <cctype>

#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

bool begins_alike(const std::string& heading, const std::string& name) {
  const auto alike = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return name.size() <= heading.size() && std::equal(name.begin(), name.end(), heading.begin(), alike);
}

std::vector<std::string> headings_of(const Page& page) {
  std::vector<std::string> headings;
  for (const Block& block : page.blocks) {
    if (const auto* heading = std::get_if<Heading>(&block)) headings.push_back(words_of(heading->text));
  }
  return headings;
}

// A section ends at the next heading, of whatever level. A heading that is exactly the name goes before those
// that only begin with it.
std::vector<Block> section(const Page& page, const std::string& name) {
  const std::vector<std::string> headings = headings_of(page);
  if (headings.empty()) {
    fail("--section {}: this output has no sections. Leave out --section, or --only where it is given", name);
  }
  const bool exists = std::ranges::find(headings, name) != headings.end();
  std::vector<Block> blocks;
  bool inside = false;
  for (const Block& block : page.blocks) {
    if (const auto* heading = std::get_if<Heading>(&block)) {
      const std::string words = words_of(heading->text);
      inside = exists ? words == name : begins_alike(words, name);
    }
    if (inside) blocks.push_back(block);
  }
  if (blocks.empty()) fail_unknown("section", name, headings);
  return blocks;
}

}  // namespace

Page only_sections(Page page, const std::string& names) {
  std::vector<Block> blocks;
  for (const std::string_view name : pieces_of(names, '|')) {
    std::vector<Block> more = section(page, std::string(name));
    std::ranges::move(more, std::back_inserter(blocks));
  }
  page.blocks = std::move(blocks);
  return page;
}

Page with_headings_at(Page page, std::size_t level) {
  if (level == 0) {
    std::erase_if(page.blocks, [](const Block& block) { return std::holds_alternative<Heading>(block); });
    return page;
  }
  const int shift = static_cast<int>(level) - highest_heading(page.blocks);
  for (Block& block : page.blocks) {
    if (Heading* const heading = std::get_if<Heading>(&block))
      heading->level = std::min(heading->level + shift, deepest_heading);
  }
  return page;
}

}  // namespace attn
