#pragma once

#include <functional>
#include <span>
#include <string>

#include "lesson/answer.hpp"
#include "lesson/prompt.hpp"

namespace attn {

/// Where a question is asked.
struct AskedAt {
  Conversation& conversation;
  std::span<const LessonKey> keys;  // that do something there
  std::string place;                // how far the reader is, at the beginning of the prompt: "3/9"
};

/// Who is told what becomes of a question.
struct AnswerKept {
  std::function<void(const std::string& typed, bool right)> answered;
  std::function<void()> gave_up;  // the reader wanted to see the answer
};

/// Asks a question until it is answered correctly, its answer is shown, or a key leads away from it. Returns
/// the key: that to the next step after a correct answer.
KeyPress ask(const SolvedQuestion& solved, const AskedAt& at, const AnswerKept& kept);

}  // namespace attn
