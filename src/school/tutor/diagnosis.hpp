#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/term/term.hpp"
#include "school/mistake/mistake.hpp"
#include "school/tutor/question.hpp"

namespace attn {

struct TypedAnswer;

/// An answer that is recognised, and what is said to it.
struct RecognizedAnswer {
  /// What it comes from, the likeliest first: what the question's author noted, a step on the way that is taken for the
  /// end, or a function for another, a number of the question that was copied, the cell beside the one that is asked
  /// about, a slip on the way that is taught, a slip in writing the number, a mistake in the computation, another
  /// convention, a number of the question that is not on the way, a slip that few make, any other number that was
  /// shown.
  enum class Kind { note, step, given, neighbor, slip, writing, mistake, convention, copied, rare, shown };

  Quantity quantity;
  Kind kind = Kind::note;
  std::string says;                  // one or two sentences
  const Mistake* mistake = nullptr;  // of a mistake and a convention
  /// How coarsely a number may have been typed to be told as this one: so many others of its kind, and of likelier
  /// ones, lie around it that a coarser one may well be one by chance.
  double within = std::numeric_limits<double>::infinity();
};

/// All answers to a question that are recognised, in the order of their kinds. They are made from its
/// computation when they are first asked for. Where the same number comes from several, all are there.
const std::vector<RecognizedAnswer>& recognizable_answers(const SolvedQuestion& solved);

/// The mistakes that change what is asked for, and with which the answer is correct nevertheless.
std::vector<const Mistake*> cannot_be_told_apart(const SolvedQuestion& solved);

/// What is said to a typed answer that is not the correct one. A number counts as one that is recognised at
/// the precision with which it was typed.
Judgment diagnose(const SolvedQuestion& solved, const TypedAnswer& typed);

/// What the rows and the columns of a shape stand for that is asked for: " The rows are …". Empty: nothing
/// tells it.
std::string about_axes(const SolvedQuestion& solved);

/// The words from which one is asked for, each once. Empty: any word may be asked for.
std::vector<std::string> words_to_choose(const SolvedQuestion& solved);

}  // namespace attn
