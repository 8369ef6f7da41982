#include "lesson/coverage.hpp"

#include <algorithm>

#include "lesson/library.hpp"

namespace attn {
namespace {

// The command whose block says that it shows the line, or else the lesson's first.
std::string command_for(const Lesson& lesson, std::string_view line) {
  const std::vector<CommandBlock>& blocks = lesson.document.commands;
  const auto says_so = [&](const CommandBlock& block) {
    return std::ranges::find(block.attributes.covers, line) != block.attributes.covers.end();
  };
  auto found = std::ranges::find_if(blocks, says_so);
  if (found == blocks.end()) found = blocks.begin();
  return found == blocks.end() ? "" : found->lines.front().text;
}

}  // namespace

Listing coverage(const std::vector<Lesson>& lessons) {
  Listing listing{{"line", "lesson", "command", "what it says"}, {}};
  for (const ChecklistLine& line : checklist()) {
    bool covered = false;
    for (const Lesson& lesson : lessons) {
      if (std::ranges::find(lesson.covers, line.name) == lesson.covers.end()) continue;
      listing.rows.push_back(
          {std::string(line.name), lesson.name, command_for(lesson, line.name), std::string(line.says)});
      covered = true;
    }
    if (!covered) listing.rows.push_back({std::string(line.name), "–", "", std::string(line.says)});
  }
  return listing;
}

}  // namespace attn
