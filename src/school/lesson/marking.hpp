#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "page/block/page.hpp"
#include "school/lesson/hand_in.hpp"
#include "school/mistake/mistake.hpp"
#include "school/tutor/question.hpp"

namespace attn {

// Answers that are handed in together, and marked.

/// An answer, and what is said to it.
struct MarkedAnswer {
  std::string given;
  Judgment judgment;

  bool is_correct() const { return judgment.mark == Judgment::Mark::right; }
  /// Neither correct nor in agreement with others.
  bool is_wrong() const { return !is_correct() && judgment.mark != Judgment::Mark::convention; }
};

MarkedAnswer marked(const SolvedQuestion& solved, const std::string& given);

/// What somebody answered, for each question; nothing: not answered.
using GivenAnswers = std::vector<std::optional<MarkedAnswer>>;

struct MarkedHandIn {
  std::string name;
  GivenAnswers answers;           // one for each question
  std::string problem = {};       // why none of them could be marked; empty: they are
  std::vector<bool> counts = {};  // whether each answer does; that to a prediction does not

  /// How many of those that count are correct, and how many count.
  std::size_t correct() const;
  std::size_t counted() const;
  /// Whether each answer that counts is there, and correct or in agreement with others.
  bool is_good() const;
};

/// Throws InputError where by_question() does.
MarkedHandIn marked(std::span<const SolvedQuestion> questions, HandIn hand_in);
/// The same of one in a class: where it cannot be marked, it says why.
MarkedHandIn marked_in_class(std::span<const SolvedQuestion> questions, const HandIn& hand_in);
/// Those of a class: one whose answers cannot be told apart says why, and the others are marked.
std::vector<MarkedHandIn> marked(std::span<const SolvedQuestion> questions, std::span<const HandIn> hand_ins);

/// The answer with as many decimals as its tolerance asks for.
std::string rounded_answer(const SolvedQuestion& solved);

/// A choice may be a sentence, and have its full stop.
inline std::string with_full_stop(std::string words) { return words.ends_with('.') ? words : std::move(words) + "."; }

/// What is said to an answer, with the correct one where it is another.
Note note_on(const SolvedQuestion& solved, const std::optional<MarkedAnswer>& answer);

/// "Correct: 3 of 4 answers.", and for programs each answer with its verdict.
std::vector<Block> summary_of(std::span<const SolvedQuestion> questions, const MarkedHandIn& hand_in);

/// The hand-ins of a class: who answered which question correctly, and for programs every answer.
std::vector<Block> class_marks(std::span<const SolvedQuestion> questions, std::span<const MarkedHandIn> hand_ins);

/// A reason that wrong answers of a class were told: a mistake in a computation, to whichever questions, or what is
/// said to one question; or that it is not known, to one question.
struct SharedReason {
  const Mistake* mistake = nullptr;  // null: it is what is said
  std::string says;                  // to the first answer; empty: what is wrong is not known
  std::size_t sheet = 0;             // of the first answer
  std::vector<std::size_t> questions = {};
  std::vector<std::string> names = {};    // of those who were told it, each once
  std::vector<std::string> answers = {};  // that they gave, each once
};

/// The questions of one sheet, and what was handed in.
struct MarkedSheet {
  std::string title;
  std::vector<SolvedQuestion> questions = {};
  std::vector<MarkedHandIn> hand_ins = {};
};

/// All of them, the one that most were told first; then answers of which it is not known what is wrong.
std::vector<SharedReason> shared_reasons(std::span<const MarkedSheet> sheets);

/// What is said of it, or which answers they gave.
std::string words_of(const SharedReason& reason);

/// A table of the reasons: how many were told each, where, and what it is; and for programs who.
std::vector<Block> table_of_reasons(std::span<const SharedReason> reasons, std::span<const MarkedSheet> sheets);

}  // namespace attn
