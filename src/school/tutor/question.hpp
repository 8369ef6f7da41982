#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/term/quantity.hpp"
#include "page/document/document.hpp"

namespace attn {

/// What kind of answer a question wants.
enum class AnswerKind { number, choice, shape, word };

/// "number", as the key `kind:` says it.
std::string_view name_of(AnswerKind kind);

/// A mistake that is often made: what it leads to, and what went wrong.
struct AuthorsNote {
  std::string of;
  std::string says;
  std::size_t line = 0;
};

/// A way to the answer as the text teaches it, in its numbers: an expression that gives the same number.
struct AuthorsPath {
  std::string of;
  std::size_t line = 0;
};

/// A question as its block asks it.
struct Question {
  std::string ask;
  bool predicts = false;  // asks for a prediction: what is seen does not tell the answer, and no miss counts
  bool asks_why = false;  // asks for the reason of the answer before it; the right choice is said by the author
  AnswerKind kind = AnswerKind::number;
  std::string of;                   // the expression that is the answer
  std::vector<AuthorsPath> paths;   // on which the text comes to it, where that is another one than of `of`
  std::optional<double> tolerance;  // of a number
  std::vector<std::string> choices;
  std::string because;  // of a question for a reason: the right choice
  std::vector<std::string> hints;
  std::vector<AuthorsNote> notes;
  std::optional<std::string> explore = {};  // keys with which a screen of its matrices opens; nothing: none does
  std::string on;                           // a command, or options of attn walk; empty: the nearest block above
  Place place;
};

/// Reads a block of lines `key: value`. Throws InputError with path and line: an unknown key, one that is
/// missing or given twice, a kind that there is not.
Question read_question(const Document& document, const FencedBlock& block);
/// The same of lines that were read already, of a block that begins at `place`.
Question question_of(std::span<const Entry> entries, const Place& place);
/// The names of its keys.
std::vector<std::string_view> keys_of_questions();

/// The words of the command line that opens the screen of a question that has one (`explore`). Throws InputError where
/// `on` is no command line.
std::vector<std::string> words_of_screen(const Question& question);

/// The question, its choices under it, as paragraphs.
std::vector<std::string> question_lines(const Question& question);

struct RecognizedAnswer;

/// The tables that somebody has seen, by the names of their matrices.
using MatricesShown = std::multimap<std::string, std::shared_ptr<const Matrix>, std::less<>>;

/// Adds the tables of a page.
void note_tables(const std::vector<Block>& blocks, MatricesShown& shown);

/// A question whose answer is known.
struct SolvedQuestion {
  Question question;
  Quantity answer;
  std::vector<std::pair<Quantity, std::string>> notes;  // and what went wrong
  std::shared_ptr<const Graph> graph = {};              // that it is about; null where it is not shared
  std::shared_ptr<const MatricesShown> shown = {};      // to who answers; null: none
  mutable std::shared_ptr<const std::vector<RecognizedAnswer>> recognised = {};  // once they were asked for
};

/// Works the answer out. The graph stays, where it is shared. Throws InputError with path and line: an answer
/// of the wrong kind, one that is not looked up in the computation, a note on the correct answer.
SolvedQuestion solve(Question question, const Graph& graph);

/// A quantity as an answer to a question: of a choice, what it chooses. Throws InputError where it is of the
/// wrong kind, not finite, or not among the choices.
Quantity as_answer(const Quantity& found, const Question& question);

/// The answer as it is shown.
std::string answer_of(const SolvedQuestion& solved);

/// How far a number may be off: as the question says, or else half a hundredth, or half a percent of a large
/// one.
double tolerance_for(const SolvedQuestion& solved);

/// Whether a quantity counts as the other one.
bool is_same(const Quantity& one, const Quantity& other, const SolvedQuestion& solved);

/// Whether a typed answer is correct. One that follows another convention is neither right nor wrong, nor is a
/// prediction that did not come out, and one that cannot be read is no answer yet.
struct Judgment {
  enum class Mark { right, wrong, convention, unreadable, guess };
  Mark mark = Mark::wrong;
  std::string says;  // what went wrong, where it is known
};

/// Compares a typed answer with the correct one.
Judgment judge(const SolvedQuestion& solved, std::string_view typed);

}  // namespace attn
