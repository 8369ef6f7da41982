#include "lesson/recite.hpp"

#include <functional>

#include "lesson/judge.hpp"
#include "lesson/show.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

void append(std::vector<Block>& blocks, std::vector<Block> more) {
  for (Block& block : more) blocks.push_back(std::move(block));
}

// What is said after the question with this number.
using Reply = std::function<std::string(std::size_t question)>;

std::vector<Block> with_replies(const Lesson& lesson, const WorkedLesson& worked, const Reply& reply) {
  std::vector<Block> blocks = opening_of(lesson);
  for (const LessonStep& step : lesson.steps) {
    append(blocks, shown(lesson, step, worked));
    if (!step.question) continue;
    append(blocks, shown(lesson.questions[*step.question]));
    blocks.emplace_back(Prose{text(reply(*step.question))});
  }
  return blocks;
}

}  // namespace

std::vector<Block> recited(const Lesson& lesson, const WorkedLesson& worked) {
  return with_replies(lesson, worked, [&](std::size_t i) { return "Answer: " + answer_of(worked.posed[i]); });
}

Graded graded(const Lesson& lesson, const WorkedLesson& worked, const std::vector<std::string>& answers) {
  if (answers.size() != worked.posed.size()) {
    fail("{} to {}: give one in each line, as many as there are questions",
         count_of(answers.size(), "answer"), count_of(worked.posed.size(), "question"));
  }
  Graded result;
  result.blocks = with_replies(lesson, worked, [&](std::size_t i) {
    const Judged judged = judge(worked.posed[i], answers[i]);
    if (judged.mark == Judged::Mark::right) return fmt::format("Answered {}: right.", answers[i]);
    ++result.wrong;
    return fmt::format("Answered {}: wrong; it is {}.{}{}", answers[i], answer_of(worked.posed[i]),
                       judged.says.empty() ? "" : " ", judged.says);
  });
  result.blocks.emplace_back(Prose{text(
      fmt::format("Right: {} of {}.", answers.size() - result.wrong, count_of(answers.size(), "answer")))});
  return result;
}

std::vector<std::string> answers_in(std::string_view text) {
  std::vector<std::string> answers;
  for (const std::string& line : parted(text, "\r\n")) {
    const std::string_view answer = trimmed(line);
    if (!answer.empty() && !answer.starts_with('#')) answers.emplace_back(answer);
  }
  return answers;
}

}  // namespace attn
