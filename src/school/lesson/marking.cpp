#include "school/lesson/marking.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "school/tutor/diagnosis.hpp"

namespace attn {

namespace {

// What is said to an answer in one word, and its sign in a table.
struct MarkName {
  Judgment::Mark mark;
  std::string_view name;
  std::string_view sign;
};

constexpr std::array mark_names = {
    MarkName{Judgment::Mark::right, "correct", "✓"},         MarkName{Judgment::Mark::wrong, "wrong", "✗"},
    MarkName{Judgment::Mark::convention, "convention", "~"}, MarkName{Judgment::Mark::unreadable, "unreadable", "?"},
    MarkName{Judgment::Mark::guess, "guess", "o"},
};

const MarkName& name_of_mark(const MarkedAnswer& answer) {
  return *std::ranges::find(mark_names, answer.judgment.mark, &MarkName::mark);
}

constexpr std::string_view sign_of_none = "–";

std::string_view sign_of(const std::optional<MarkedAnswer>& answer) {
  return answer ? name_of_mark(*answer).sign : sign_of_none;
}

// One row for each student and question: a table for spreadsheets.
Records records_of_marks(std::span<const SolvedQuestion> questions, std::span<const MarkedHandIn> hand_ins) {
  Records records{"answers", {"student", "number", "question", "given", "answer", "verdict", "points", "reason"}, {}};
  for (const MarkedHandIn& hand_in : hand_ins) {
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const std::optional<MarkedAnswer>& answer = hand_in.answers[i];
      records.rows.push_back({hand_in.name, i + 1, questions[i].question.ask, answer ? answer->given : "",
                              rounded_answer(questions[i]),
                              answer                    ? std::string(name_of_mark(*answer).name)
                              : hand_in.problem.empty() ? "missing"
                                                        : "not marked",
                              std::uint64_t{hand_in.counts[i] && answer && answer->is_correct() ? 1U : 0U},
                              answer ? answer->judgment.says : hand_in.problem});
    }
  }
  return records;
}

MarkedHandIn unmarked(std::span<const SolvedQuestion> questions, std::string name, std::string problem = {}) {
  MarkedHandIn none{std::move(name), GivenAnswers(questions.size()), std::move(problem)};
  for (const SolvedQuestion& solved : questions) none.counts.push_back(!solved.question.predicts);
  return none;
}

// --- reasons

// What a wrong answer was told to come from; null: nothing that is recognized.
const RecognizedAnswer* told_to_come_from(const SolvedQuestion& solved, const Judgment& judgment) {
  const std::vector<RecognizedAnswer>& all = recognizable_answers(solved);
  const auto told = std::ranges::find_if(
      all, [&](const RecognizedAnswer& one) { return !one.says.empty() && judgment.says.starts_with(one.says); });
  return told == all.end() ? nullptr : &*told;
}

template <class Item>
void add_once(std::vector<Item>& list, const Item& item) {
  if (std::ranges::find(list, item) == list.end()) list.push_back(item);
}

void note_reason(std::vector<SharedReason>& reasons, std::size_t sheet, std::size_t question,
                 const RecognizedAnswer* from, const std::string& name, const std::string& given) {
  const Mistake* const mistake = from ? from->mistake : nullptr;
  const std::string says = from ? from->says : "";
  const auto is_this = [&](const SharedReason& one) {
    if (mistake || one.mistake) return one.mistake == mistake;
    return one.sheet == sheet && one.questions.front() == question && one.says == says;
  };
  auto found = std::ranges::find_if(reasons, is_this);
  if (found == reasons.end()) found = reasons.insert(found, {mistake, says, sheet, {question}});
  if (found->sheet == sheet) add_once(found->questions, question);
  add_once(found->names, name);
  add_once(found->answers, given);
}

}  // namespace

MarkedAnswer marked(const SolvedQuestion& solved, const std::string& given) { return {given, judge(solved, given)}; }

std::size_t MarkedHandIn::correct() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (counts[i] && answers[i] && answers[i]->is_correct()) ++count;
  }
  return count;
}

std::size_t MarkedHandIn::counted() const { return static_cast<std::size_t>(std::ranges::count(counts, true)); }

bool MarkedHandIn::is_good() const {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (counts[i] && (!answers[i] || answers[i]->is_wrong())) return false;
  }
  return true;
}

MarkedHandIn marked(std::span<const SolvedQuestion> questions, HandIn hand_in) {
  const std::vector<std::optional<std::string>> answers = by_question(hand_in, questions);
  MarkedHandIn result = unmarked(questions, hand_in.name);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (answers[i]) result.answers[i] = marked(questions[i], *answers[i]);
  }
  return result;
}

MarkedHandIn marked_in_class(std::span<const SolvedQuestion> questions, const HandIn& hand_in) {
  try {
    return marked(questions, hand_in);
  } catch (const InputError& error) {
    return unmarked(questions, hand_in.name, error.what());
  }
}

std::vector<MarkedHandIn> marked(std::span<const SolvedQuestion> questions, std::span<const HandIn> hand_ins) {
  std::vector<MarkedHandIn> all;
  for (const HandIn& hand_in : hand_ins) {
    all.push_back(marked_in_class(questions, hand_in));
    if (hand_ins.size() == 1 && !all.back().problem.empty()) fail("{}: {}", hand_in.name, all.back().problem);
  }
  return all;
}

std::string rounded_answer(const SolvedQuestion& solved) {
  const double* const number = std::get_if<double>(&solved.answer);
  std::string written = answer_of(solved);
  if (!number) return written;
  constexpr int most = 3;  // written() has four
  const double tolerance = tolerance_for(solved);
  double half = 0.5;
  for (int decimals = 0; decimals <= most; ++decimals, half /= 10) {
    if (half > tolerance * (1 + 1e-9)) continue;
    std::string rounded = fmt::format("{:.{}f}", *number, decimals);
    return rounded.size() < written.size() ? rounded : written;
  }
  return written;
}

Note note_on(const SolvedQuestion& solved, const std::optional<MarkedAnswer>& answer) {
  const std::string correct = rounded_answer(solved);
  if (!answer) return {Note::Kind::wrong, {text(strong("Not answered. "), "The answer is ", correct, ".")}};
  const std::string& says = answer->judgment.says;
  const std::string reason = says.empty() ? "" : " " + says;
  switch (answer->judgment.mark) {
    case Judgment::Mark::right:
      return {Note::Kind::correct, {text(strong("Correct: "), with_full_stop(answer->given))}};
    case Judgment::Mark::convention:
      return {Note::Kind::hint, {text(strong("Another convention: "), answer->given, ".", reason)}};
    case Judgment::Mark::unreadable:
      return {Note::Kind::wrong,
              {text(strong("Could not be read: "), answer->given, ".", reason, " The answer is ", correct, ".")}};
    case Judgment::Mark::guess:
      return {Note::Kind::answer,
              {text(strong("Predicted: "), answer->given, ". What comes out is ", correct, ".", reason)}};
    case Judgment::Mark::wrong:
      break;
  }
  return {Note::Kind::wrong, {text(strong("Not correct: "), answer->given, ". The answer is ", correct, ".", reason)}};
}

std::vector<Block> summary_of(std::span<const SolvedQuestion> questions, const MarkedHandIn& hand_in) {
  return {Prose{text(fmt::format("Correct: {} of {}.", hand_in.correct(), count_of(hand_in.counted(), "answer")))},
          records_of_marks(questions, {&hand_in, 1})};
}

std::vector<Block> class_marks(std::span<const SolvedQuestion> questions, std::span<const MarkedHandIn> hand_ins) {
  Listing marks{{"name"}, {}, true};
  ParagraphsWithMargins problems;
  std::vector<std::size_t> correct(questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i) marks.columns.push_back(std::to_string(i + 1));
  marks.columns.emplace_back("correct");
  for (const MarkedHandIn& hand_in : hand_ins) {
    std::vector<std::string>& row = marks.rows.emplace_back(1, hand_in.name);
    for (std::size_t i = 0; i < questions.size(); ++i) {
      row.emplace_back(sign_of(hand_in.answers[i]));
      if (hand_in.answers[i] && hand_in.answers[i]->is_correct()) ++correct[i];
    }
    row.push_back(hand_in.problem.empty() ? std::to_string(hand_in.correct()) : "not marked");
    if (!hand_in.problem.empty())
      problems.lines.push_back({"- ", "  ", text(hand_in.name, ": ", hand_in.problem, ".")});
  }
  std::vector<std::string>& last = marks.rows.emplace_back(1, "correct");
  for (std::size_t i = 0; i < questions.size(); ++i)
    last.push_back(questions[i].question.predicts ? "" : std::to_string(correct[i]));
  last.emplace_back("");
  Listing legend{{"", "question"}, {}, true};
  for (std::size_t i = 0; i < questions.size(); ++i)
    legend.rows.push_back(
        {std::to_string(i + 1), (questions[i].question.predicts ? "Predict: " : "") + questions[i].question.ask});
  std::vector<Block> blocks = {
      std::move(marks),
      Prose{text(
          "✓ correct   ✗ wrong   ~ another convention   o predicted otherwise   ? could not be read   – no answer")}};
  std::size_t counted = 0, right = 0, of = 0;
  for (const MarkedHandIn& hand_in : hand_ins) {
    if (!hand_in.problem.empty()) continue;
    ++counted;
    right += hand_in.correct();
    of = hand_in.counted();
  }
  if (counted > 0)
    blocks.emplace_back(
        Prose{text(fmt::format("On average {:.1f} of {} are correct.",
                               static_cast<double>(right) / static_cast<double>(counted), count_of(of, "answer")))});
  if (!problems.lines.empty()) {
    blocks.emplace_back(Prose{text("Not marked:")});
    blocks.emplace_back(std::move(problems));
  }
  blocks.emplace_back(std::move(legend));
  blocks.emplace_back(records_of_marks(questions, hand_ins));
  return blocks;
}

// --- reasons

std::vector<SharedReason> shared_reasons(std::span<const MarkedSheet> sheets) {
  std::vector<SharedReason> reasons;
  for (std::size_t s = 0; s < sheets.size(); ++s) {
    for (const MarkedHandIn& hand_in : sheets[s].hand_ins) {
      for (std::size_t i = 0; i < hand_in.answers.size(); ++i) {
        const std::optional<MarkedAnswer>& answer = hand_in.answers[i];
        if (!hand_in.counts[i] || !answer || answer->judgment.mark != Judgment::Mark::wrong) continue;
        note_reason(reasons, s, i, told_to_come_from(sheets[s].questions[i], answer->judgment), hand_in.name,
                    answer->given);
      }
    }
  }
  for (SharedReason& reason : reasons) std::ranges::sort(reason.questions);
  std::ranges::stable_sort(reasons, std::ranges::greater(),
                           [](const SharedReason& one) { return std::pair(!one.says.empty(), one.names.size()); });
  return reasons;
}

std::string words_of(const SharedReason& reason) {
  constexpr std::size_t most = 5;
  if (!reason.says.empty()) return reason.says;
  std::vector<std::string> some(reason.answers.begin(), reason.answers.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                                     most, reason.answers.size())));
  if (some.size() < reason.answers.size()) some.emplace_back("…");
  return fmt::format("Not known. They answered: {}", fmt::join(some, "; "));
}

std::vector<Block> table_of_reasons(std::span<const SharedReason> reasons, std::span<const MarkedSheet> sheets) {
  Listing listing{{"students", "questions", "what is wrong"}, {}, true};
  Records records{"reasons", {"count", "sheet", "questions", "mistake", "says", "students", "answers"}, {}};
  for (const SharedReason& reason : reasons) {
    std::vector<std::uint64_t> numbers;
    for (const std::size_t question : reason.questions) numbers.push_back(question + 1);
    std::string where = fmt::format("{}", fmt::join(numbers, ", "));
    Records::Value mistake = std::monostate();
    if (reason.mistake) mistake = std::string(reason.mistake->name);
    records.rows.push_back({std::uint64_t{reason.names.size()}, sheets[reason.sheet].title, std::move(numbers),
                            std::move(mistake), reason.says, reason.names, reason.answers});
    if (sheets.size() > 1) where = fmt::format("{}: {}", sheets[reason.sheet].title, where);
    listing.rows.push_back({std::to_string(reason.names.size()), std::move(where), words_of(reason)});
  }
  return {std::move(listing), std::move(records)};
}

}  // namespace attn
