#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "document/living.hpp"
#include "drill/drill.hpp"
#include "lesson/answer.hpp"

namespace attn {

/// A problem that was drawn, with its answer.
struct DrawnProblem {
  std::string_view drill;  // its name
  DrillProblem problem;
  SolvedQuestion solved;
};

/// The problems of some drills, one after the other, the drills in turn. The same seed draws the same
/// problems everywhere. A problem whose answer some known mistake gives as well is drawn again a few times,
/// and so is one that was there before.
class DrillSeries {
 public:
  /// The commands pass in how a command is run. There is at least one drill.
  DrillSeries(std::vector<Drill> drills, std::uint32_t seed, RunCommand run);

  DrawnProblem next();

 private:
  DrawnProblem draw(const Drill& drill);

  std::vector<Drill> drills_;
  std::uint32_t seed_;
  RunCommand run_;
  std::uint32_t number_ = 0;         // of problems that were drawn
  std::set<std::string> seen_ = {};  // what was asked, and on what
};

/// What a problem is about: the matrices that are given, and the question.
std::vector<Block> shown(const DrawnProblem& drawn, const RunCommand& run);

/// The numbers of the matrices that are given, for programs: "q = 1 0, k = 1 0; 0 1".
std::string given_numbers(const DrawnProblem& drawn, const RunCommand& run);

/// How the answer comes about: the command that shows it, and what it prints.
std::vector<Block> solution_of(const DrawnProblem& drawn, const RunCommand& run);

}  // namespace attn
