#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drill/draws.hpp"
#include "lesson/question.hpp"

namespace attn {

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

// The subjects, one file each.
std::span<const Drill> drills_of_scores();
std::span<const Drill> drills_of_weights();
std::span<const Drill> drills_of_shapes();
std::span<const Drill> drills_of_layers();
std::span<const Drill> drills_of_training();

}  // namespace attn
