#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "page/document/document_outputs.hpp"
#include "school/drill/draws.hpp"
#include "school/lesson/prompt.hpp"
#include "school/mistake/mistake.hpp"
#include "school/tutor/question.hpp"

namespace attn {

/// A drill that is built in: a file of the folder lessons/drills/.
struct DrillFile {
  std::string_view name;  // "masked-softmax" of 05-masked-softmax.md
  std::string_view path;
  std::string_view text;
};

/// All of them, in the order in which a computation has these steps.
std::span<const DrillFile> drill_files();

/// One kind of problem: a block of a drill's file. Its lines are filled in with what is drawn.
struct ProblemKind {
  std::size_t often = 1;          // how many kinds it counts as where one is chosen
  std::vector<Entry> draws;       // draw:, about:, let: and keep:, in this order
  std::vector<Entry> asks;        // the lines of its question
  std::vector<Entry> given;       // what the problem is put with
  std::optional<Entry> solution;  // the options with which the command shows how the answer comes about
  Place place;
};

/// What can be practised: a step of attention or of a model, and how problems of it are drawn.
struct Drill {
  std::string name;    // "masked-softmax"; of another one its path
  std::string trains;  // "attention weights where some keys are masked"
  std::vector<ProblemKind> kinds;
  bool is_built_in = false;
  std::optional<std::filesystem::path> folder = {};  // whose files its commands may read; without one, none
};

/// Reads a file of blocks called `drill`. Throws InputError with path and line: no block, an unknown key, one
/// that is missing or given twice. What can only be seen of a problem is found when one is drawn.
Drill read_drill(std::string_view text, const std::string& path);

/// A drill that is built in, by its name, or the one in a file whose name ends in .md. Throws InputError.
Drill find_drill(const std::string& word);

/// All that are built in.
std::vector<Drill> built_in_drills();

/// Matrices that a problem is put with: as --only takes them, of a command, or of the one in the question.
struct GivenMatrices {
  std::string only;
  std::string command = {};  // empty: that of the question
};

/// A small problem, as a drill draws it.
struct DrillProblem {
  Question question;                 // and in `on` the command that computes it
  std::vector<GivenMatrices> given;  // what the problem is put with
  std::string solution;              // the options with which the command shows how the answer comes about
};

/// Draws a problem. Throws InputError with path and line.
DrillProblem draw_problem(const Drill& drill, Draws& draws);

/// What an author of a drill has to know.
struct CheckedDrill {
  std::vector<std::string> faults = {};  // each with path and line
  struct Kind {
    Place place;
    std::size_t problems = 0, answers = 0;  // that differ
    std::size_t unsolved = 0;               // that have no one answer, so that they are drawn again
  };
  std::vector<Kind> kinds = {};
  std::size_t drawn = 0;  // problems of each
};

/// Draws many problems of each kind, and says which cannot be asked, answered or explained.
CheckedDrill check_drill(std::string_view text, const std::string& path, const RunCommand& run);

/// A drill to begin with, which there is nothing to find fault with.
std::string_view drill_template();

/// A problem that was drawn, with its answer.
struct DrawnProblem {
  std::shared_ptr<const Drill> drill;
  std::uint32_t seed = 0;  // with which a series of this drill begins with this problem
  DrillProblem problem;
  SolvedQuestion solved;
};

/// The problems of some drills, one after the other, the drills in turn. The same seed draws the same
/// problems everywhere. A problem whose answer some known mistake gives as well is drawn again a few times,
/// and so is one that was there before, and one in which none of the mistakes shows that it is drawn for.
class DrillSeries {
 public:
  /// The commands pass in how a command is run. There is at least one drill.
  DrillSeries(std::vector<Drill> drills, std::uint32_t seed, RunCommand run, std::vector<const Mistake*> mistakes = {});

  DrawnProblem next();

 private:
  DrawnProblem draw(const std::shared_ptr<const Drill>& drill, std::uint32_t seed) const;
  std::pair<bool, std::size_t> faults_of(const SolvedQuestion& solved) const;

  std::vector<std::shared_ptr<const Drill>> drills_;
  std::uint32_t seed_;  // of the next problem
  RunCommand run_;
  std::vector<const Mistake*> mistakes_;
  std::uint32_t number_ = 0;         // of problems that were drawn
  std::set<std::string> seen_ = {};  // what was asked, and on what
};

/// The commands that print what is given, and that show how the answer comes about.
std::string command_for(const GivenMatrices& given, const Question& question);
std::string command_of_solution(const DrillProblem& problem);
/// What such a command gives.
CommandResult result_of_command(const std::string& command, const DrawnProblem& drawn, const RunCommand& run);

/// What a problem is about: the matrices that are given, and the question.
std::vector<Block> shown(const DrawnProblem& drawn, const RunCommand& run);

/// The numbers of the matrices that are given, with their words, for spreadsheets: "q = 1 0, k (rows the, cat) = 1 0;
/// 0 1".
std::string given_numbers(const DrawnProblem& drawn, const RunCommand& run);

/// How the answer comes about: the command that shows it, and what it prints.
std::vector<Block> solution_of(const DrawnProblem& drawn, const RunCommand& run);

/// Asks problem after problem, with the same hints and diagnoses as lessons, until the reader leaves. After
/// each it shows how the answer comes about. `begin` says what is practised.
void take_drill(DrillSeries series, const RunCommand& run, Conversation& conversation, std::vector<Block> begin);

}  // namespace attn
