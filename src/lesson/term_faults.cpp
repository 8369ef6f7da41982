#include "lesson/term_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "lesson/terms.hpp"

namespace attn {
namespace {

using Introductions = std::map<const Term*, std::string>;  // and where

Introductions introductions_in(std::span<const Lesson> lessons) {
  Introductions found;
  for (const Lesson& lesson : lessons) {
    for (const TermUse& use : term_uses(lesson)) {
      if (use.introduces) found.try_emplace(use.term, lesson.document.path);
    }
  }
  return found;
}

}  // namespace

std::vector<TermFault> term_faults(const Lesson& lesson) {
  static const std::vector<Lesson> course = built_in_lessons();
  const auto is_this = [&](const Lesson& other) {
    return other.number == lesson.number && other.name == lesson.name;
  };
  const auto here = std::ranges::find_if(course, is_this);
  const bool is_of_course = here != course.end();
  Introductions known, later;
  if (is_of_course) known = introductions_in({course.begin(), here});
  const std::vector<TermUse> uses = term_uses(lesson);
  for (const TermUse& use : uses) {
    if (use.introduces) later.try_emplace(use.term, fmt::format("line {}", use.line));
  }
  if (is_of_course) later.merge(introductions_in({here + 1, course.end()}));
  std::vector<TermFault> faults;
  std::set<const Term*> told;
  for (const TermUse& use : uses) {
    const auto tell = [&](std::string says) {
      if (told.insert(use.term).second) faults.push_back({use.line, std::move(says)});
    };
    if (use.introduces) {
      const auto [first, is_new] = known.try_emplace(use.term, fmt::format("line {}", use.line));
      if (!is_new) tell(fmt::format("'{}' is introduced again: {} does it", use.term->name, first->second));
    } else if (!known.contains(use.term) && later.contains(use.term)) {
      tell(fmt::format("'{}' is used here and introduced later, in {}", use.term->name, later[use.term]));
    }
  }
  return faults;
}

}  // namespace attn
