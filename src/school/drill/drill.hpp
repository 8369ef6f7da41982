#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/math/random.hpp"
#include "page/document/living.hpp"
#include "school/lesson/prompt.hpp"
#include "school/tutor/question.hpp"

namespace attn {

/// Whole numbers, as rows.
using WholeNumbers = std::vector<std::vector<int>>;

/// What a drill draws: the same for the same numbers on every machine. A problem is drawn again, as the next
/// attempt, where the first numbers serve badly.
class Draws {
 public:
  Draws(std::uint32_t seed, std::uint32_t problem, std::uint32_t attempt);

  /// What a problem asks for, of so many things: the same in all its attempts, so that none is drawn more
  /// rarely because its numbers seldom serve.
  std::size_t kind(std::size_t count);

  /// Each number from `least` to `most` is as probable as the others.
  int between(int least, int most);
  /// A place in a list of this length.
  std::size_t place(std::size_t count);
  /// One of them.
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[place(list.size())];
  }
  int one_of(std::initializer_list<int> list) { return *(list.begin() + place(list.size())); }
  /// Rows of numbers from `least` to `most`, in steps of `step` from `least` on.
  WholeNumbers numbers(std::size_t rows, std::size_t columns, int least, int most, int step = 1);
  /// The same in another order.
  template <class T>
  std::vector<T> shuffled(std::vector<T> list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[place(i)]);
    return list;
  }

 private:
  Generator kinds_, generator_;
};

/// A matrix as an option takes it: "2 1; 0 3".
std::string written(const WholeNumbers& numbers);

/// Three words of a sentence, and their translation.
struct Sentence {
  std::vector<std::string> words;
  std::vector<std::string> translation;
};
const std::vector<Sentence>& sentences();

/// Matrices that a problem is put with: as --only takes them, of a command, or of the one in the question.
struct Given {
  std::string only;
  std::string command = {};  // empty: that of the question
};

/// A small problem, as a drill draws it.
struct DrillProblem {
  Question question;         // and in `on` the command that computes it
  std::vector<Given> given;  // what the problem is put with
  std::string solution;      // the options with which the command shows how the answer comes about
};

/// What can be practised: a step of attention or of a model, and how a problem of it is drawn.
struct Drill {
  std::string_view name;    // "masked-softmax"
  std::string_view trains;  // "attention weights where some keys are masked"
  DrillProblem (*draw)(Draws& draws);
};

/// All of them, in the order in which a computation has these steps. A new one is a row in the table of its
/// subject.
std::span<const Drill> drills();

/// The tolerance of answers whose exponentials are given with two decimals.
inline constexpr double two_decimals = 0.01;

// The subjects, in of_attention.cpp and of_models.cpp.
std::span<const Drill> drills_of_scores();
std::span<const Drill> drills_of_weights();
std::span<const Drill> drills_of_shapes();
std::span<const Drill> drills_of_layers();
std::span<const Drill> drills_of_training();

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

/// Asks problem after problem, with the same hints and diagnoses as lessons, until the reader leaves. After
/// each it shows how the answer comes about. `begin` says what is practised.
void take_drill(DrillSeries series, const RunCommand& run, Conversation& conversation, std::vector<Block> begin);

}  // namespace attn
