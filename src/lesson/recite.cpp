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
using Reply = std::function<Block(std::size_t question)>;

std::vector<Block> with_replies(const Lesson& lesson, const WorkedLesson& worked, const Reply& reply) {
  std::vector<Block> blocks = opening_of(lesson);
  for (const LessonStep& step : lesson.steps) {
    append(blocks, shown(lesson, step, worked));
    if (!step.question) continue;
    blocks.push_back(shown(lesson.questions[*step.question]));
    blocks.push_back(reply(*step.question));
  }
  return blocks;
}

void refuse_other_count(const WorkedLesson& worked, const std::vector<std::string>& answers) {
  if (answers.size() == worked.posed.size()) return;
  fail("{} to {}: give one in each line, as many as there are questions", count_of(answers.size(), "answer"),
       count_of(worked.posed.size(), "question"));
}

}  // namespace

std::vector<Block> recited(const Lesson& lesson, const WorkedLesson& worked) {
  return with_replies(lesson, worked, [&](std::size_t i) {
    return Note{Note::Kind::answer, {text(strong("Answer: "), answer_of(worked.posed[i]))}};
  });
}

Graded graded(const Lesson& lesson, const WorkedLesson& worked, const std::vector<std::string>& answers) {
  refuse_other_count(worked, answers);
  Graded result;
  Listing listing{{"question", "given", "answer", "correct"}, {}};
  listing.shown = 0;  // the verdicts stand below the questions
  result.blocks = with_replies(lesson, worked, [&](std::size_t i) {
    const Posed& posed = worked.posed[i];
    const Judged judged = judge(posed, answers[i]);
    const bool correct = judged.mark == Judged::Mark::right;
    listing.rows.push_back({posed.question.ask, answers[i], answer_of(posed), correct ? "yes" : "no"});
    if (correct) return Note{Note::Kind::correct, {text(strong("Correct: "), answers[i], ".")}};
    ++result.wrong;
    return Note{Note::Kind::wrong,
                {text(strong("Not correct: "), answers[i], ". The answer is ", answer_of(posed), ".",
                      judged.says.empty() ? "" : " ", judged.says)}};
  });
  result.blocks.emplace_back(Prose{text(
      fmt::format("Correct: {} of {}.", answers.size() - result.wrong, count_of(answers.size(), "answer")))});
  result.blocks.emplace_back(std::move(listing));
  return result;
}

LessonProgress answered(const Lesson& lesson, const WorkedLesson& worked,
                        const std::vector<std::string>& answers) {
  refuse_other_count(worked, answers);
  LessonProgress progress;
  const std::vector<std::string> keys = keys_of(lesson);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::optional<std::size_t> question = lesson.steps[i].question;
    if (!question) continue;
    const bool right = judge(worked.posed[*question], answers[*question]).mark == Judged::Mark::right;
    progress.answers[keys[i]] = {answers[*question], right, right, !right};
  }
  return progress;
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
