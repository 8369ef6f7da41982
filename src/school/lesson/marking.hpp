#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "page/block/page.hpp"
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

/// What somebody handed in, line by line.
struct HandIn {
  std::string name;  // that of its file, without the ending where no other has it
  std::vector<std::string> lines;
};

/// The lines of a text that are not empty and do not begin with #, without blanks around them.
std::vector<std::string> answers_in(std::string_view text);

/// What a file holds, or each file of a folder in the order of their names. Throws InputError.
std::vector<HandIn> hand_ins(const std::string& path);

/// The answer to each of so many questions; nothing where there is none, or a dash. Each line has the next
/// answer, unless all of them begin with the number of their question: "2. 0.4", "2) 0.4", "2: 0.4" or
/// "Q2 0.4". Throws InputError where lines without numbers are more or fewer than the questions, and where a
/// number is there twice or that of no question.
std::vector<std::optional<std::string>> by_question(const std::vector<std::string>& lines, std::size_t questions);

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
MarkedHandIn marked(std::span<const SolvedQuestion> questions, const HandIn& hand_in);
/// Those of a class: one whose answers cannot be told apart says why, and the others are marked.
std::vector<MarkedHandIn> marked(std::span<const SolvedQuestion> questions, std::span<const HandIn> hand_ins);

/// The answer with as many decimals as its tolerance asks for.
std::string rounded_answer(const SolvedQuestion& solved);

/// What is said to an answer, with the correct one where it is another.
Note note_on(const SolvedQuestion& solved, const std::optional<MarkedAnswer>& answer);

/// "Correct: 3 of 4 answers.", and for programs each answer with its verdict.
std::vector<Block> summary_of(std::span<const SolvedQuestion> questions, const MarkedHandIn& hand_in);

/// The hand-ins of a class: who answered which question correctly, and for programs every answer.
std::vector<Block> class_marks(std::span<const SolvedQuestion> questions, std::span<const MarkedHandIn> hand_ins);

}  // namespace attn
