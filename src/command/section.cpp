#include "command/section.hpp"

#include <algorithm>
#include <cctype>

#include "support/lookup.hpp"

namespace attn {
namespace {

std::string words_of(const Heading& heading) {
  std::string words;
  for (const Span& span : heading.text) words += span.text;
  return words;
}

bool begins_alike(const std::string& heading, const std::string& name) {
  const auto alike = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return name.size() <= heading.size() && std::equal(name.begin(), name.end(), heading.begin(), alike);
}

std::vector<std::string> headings_of(const Page& page) {
  std::vector<std::string> headings;
  for (const Block& block : page.blocks) {
    if (const auto* heading = std::get_if<Heading>(&block)) headings.push_back(words_of(*heading));
  }
  return headings;
}

// A section ends where one begins that is not part of it.
std::vector<Block> section(const Page& page, const std::string& name) {
  std::vector<Block> blocks;
  int level = 0;  // of the section that we are in; 0: of none
  for (const Block& block : page.blocks) {
    if (const auto* heading = std::get_if<Heading>(&block)) {
      if (level == 0 || heading->level <= level)
        level = begins_alike(words_of(*heading), name) ? heading->level : 0;
    }
    if (level != 0) blocks.push_back(block);
  }
  if (blocks.empty()) fail_unknown("section", name, headings_of(page));
  return blocks;
}

}  // namespace

Page only_sections(Page page, const std::string& names) {
  std::vector<Block> blocks;
  for (std::size_t begin = 0, end; begin <= names.size(); begin = end + 1) {
    end = std::min(names.find('|', begin), names.size());
    std::vector<Block> more = section(page, names.substr(begin, end - begin));
    std::ranges::move(more, std::back_inserter(blocks));
  }
  page.blocks = std::move(blocks);
  return page;
}

}  // namespace attn
