#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "page/block/page.hpp"
#include "school/drill/drill.hpp"

namespace attn {

/// A sheet of problems for a class: what draws it, and draws it once more when it is marked.
struct DrillSheet {
  std::vector<Drill> drills;  // which take turns; at least one
  std::uint32_t seed = 1;
  std::size_t count = 10;
  std::vector<const Mistake*> mistakes = {};  // that are to show in its problems
};

constexpr std::size_t most_problems_of_sheet = 1000;

/// "attn drill softmax scale --seed 7 --count 10".
std::string command_of(const DrillSheet& sheet);

/// The words behind "attn drill" that somebody wrote at the head of a sheet. Throws InputError: no drill that is
/// built in, an unknown option or mistake, too many problems.
DrillSheet drill_sheet_of(std::span<const std::string> words);

std::vector<DrawnProblem> problems_of(const DrillSheet& sheet, const RunCommand& run);

/// Those of a mistake's drills: the drills that are built in, of which one problem in a few shows the mistake.
std::vector<Drill> drills_that_show(const Mistake& mistake, std::span<const Drill> drills, const RunCommand& run);

/// The mistake with this name. Throws InputError.
const Mistake& find_mistake(std::string_view name);

}  // namespace attn
