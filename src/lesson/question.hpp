#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.hpp"

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

/// A question as its block asks it.
struct Question {
  std::string ask;
  AnswerKind kind = AnswerKind::number;
  std::string of;                   // the expression that is the answer
  std::optional<double> tolerance;  // of a number
  std::vector<std::string> choices;
  std::vector<std::string> hints;
  std::vector<AuthorsNote> notes;
  std::string on;  // a command, or options of attn walk; empty: the nearest block above
  Place place;
};

/// Reads a block of lines `key: value`. Throws InputError with path and line: an unknown key, one that is
/// missing or given twice, a kind that there is not.
Question read_question(const Document& document, const FencedBlock& block);

/// The question, its choices under it, as paragraphs.
std::vector<std::string> question_lines(const Question& question);

}  // namespace attn
