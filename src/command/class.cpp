#include "command/class.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "command/course_commands.hpp"
#include "command/docs.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "school/drill/review.hpp"
#include "school/drill/sheet.hpp"
#include "school/lesson/lesson.hpp"
#include "school/lesson/marking.hpp"
#include "school/lesson/show.hpp"

namespace attn {

namespace {

// --- the sheets that a class was given

// What was handed out: a lesson, or a sheet of drills.
struct HandedOut {
  MarkedSheet marked;
  std::optional<Lesson> lesson = {};     // nothing: drills
  std::vector<std::string> drills = {};  // the name of the drill of each question
};

std::vector<std::string> words_between_blanks(std::string_view line) {
  Words words;
  for (const std::string& word : split_at_any(line, " \t")) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

// What a class was given, before anything is computed.
struct SheetAsked {
  std::optional<Lesson> lesson = {};
  DrillSheet drills = {};
};

// The title of a sheet, by which two that are the same are known.
std::string title_of(const SheetAsked& asked) {
  if (!asked.lesson) return command_of(asked.drills);
  return fmt::format("Lesson {}",
                     asked.lesson->number.empty() ? asked.lesson->document.path : without_zeros(asked.lesson->number));
}

// What a hand-in says that it answers. It is a stranger's text, and names only what is built in.
SheetAsked sheet_said(const std::string& line) {
  const Words words = words_between_blanks(line);
  const bool is_lesson = words.size() == 3 && words[0] == "attn" && words[1] == "lesson";
  const bool are_drills = words.size() > 2 && words[0] == "attn" && words[1] == "drill";
  if (are_drills) return {.drills = drill_sheet_of(std::span(words).subspan(2))};
  if (!is_lesson || words[2].ends_with(".md"))
    fail("the sheet {} is not known: write Sheet: attn lesson 5, or what stands at the head of a sheet of drills",
         in_quotes(line));
  return {.lesson = find_lesson(words[2])};
}

HandedOut handed_out(SheetAsked asked) {
  HandedOut sheet{.marked = {.title = title_of(asked)}, .lesson = std::move(asked.lesson)};
  if (sheet.lesson) {
    sheet.marked.questions = execute(*sheet.lesson, block_runner()).questions;
    return sheet;
  }
  for (const DrawnProblem& drawn : problems_of(asked.drills, block_runner())) {
    sheet.marked.questions.push_back(drawn.solved);
    sheet.drills.push_back(drawn.drill->name);
  }
  return sheet;
}

// Where each hand-in says itself what it answers, one that cannot be read belongs to no sheet. Returns sentences on
// them.
std::vector<std::string> take_out_unread(std::vector<HandIn>& hand_ins) {
  std::vector<std::string> told;
  for (const HandIn& hand_in : hand_ins) {
    if (!hand_in.problem.empty()) told.push_back(fmt::format("{} is not marked: {}", hand_in.name, hand_in.problem));
  }
  if (told.size() == hand_ins.size()) fail("{}", told.front());
  std::erase_if(hand_ins, [](const HandIn& hand_in) { return !hand_in.problem.empty(); });
  return told;
}

// The hand-ins of a folder, by their sheets, in the order in which these first come.
std::vector<HandedOut> marked_sheets(const std::vector<HandIn>& hand_ins, const std::optional<std::string>& lesson) {
  std::vector<HandedOut> sheets;
  std::map<std::string, std::size_t> places;  // by title
  for (const HandIn& hand_in : hand_ins) {
    if (hand_in.sheet.empty() && !lesson)
      fail(
          "{} does not say which sheet it answers: give a lesson, as in attn lesson class FOLDER 5, or begin each file with a line such as Sheet: attn lesson 5",
          hand_in.name);
    SheetAsked asked;
    try {
      asked = hand_in.sheet.empty() ? SheetAsked{.lesson = find_lesson(*lesson)} : sheet_said(hand_in.sheet);
    } catch (const InputError& error) {
      fail("{}: {}", hand_in.name, error.what());
    }
    const auto [place, is_new] = places.try_emplace(title_of(asked), sheets.size());
    if (is_new) sheets.push_back(handed_out(std::move(asked)));
    HandedOut& sheet = sheets[place->second];
    sheet.marked.hand_ins.push_back(marked_in_class(sheet.marked.questions, hand_in));
  }
  return sheets;
}

// --- what to talk about tomorrow

constexpr std::size_t most_to_talk_about = 3, problems_for_each = 2;

// The drills behind the questions to which a reason was told: those of the sheet, or those that the lesson names.
std::vector<Drill> drills_behind(const SharedReason& reason, const HandedOut& sheet) {
  std::vector<Drill> drills;
  std::vector<std::string> names = sheet.lesson ? drills_named(*sheet.lesson) : std::vector<std::string>();
  if (!sheet.lesson) {
    for (const std::size_t question : reason.questions) names.push_back(sheet.drills[question]);
  }
  for (const std::string& name : names) {
    if (std::ranges::find(drills, name, &Drill::name) == drills.end()) drills.push_back(find_drill(name));
  }
  return drills;
}

// A sheet on these reasons, a drill for each: one in which the mistake shows, the nearest one first.
std::optional<DrillSheet> sheet_on(std::span<const SharedReason> reasons, std::span<const HandedOut> sheets,
                                   std::uint32_t seed) {
  DrillSheet sheet{.drills = {}, .seed = seed, .count = 0};
  for (const SharedReason& reason : reasons) {
    std::vector<Drill> drills = drills_behind(reason, sheets[reason.sheet]);
    if (reason.mistake) {
      std::vector<Drill> showing = drills_that_show(*reason.mistake, drills, block_runner());
      if (showing.empty()) showing = drills_that_show(*reason.mistake, built_in_drills(), block_runner());
      if (!showing.empty()) sheet.mistakes.push_back(reason.mistake);
      drills = std::move(showing);
    }
    if (drills.empty()) continue;
    sheet.count += problems_for_each;
    if (std::ranges::find(sheet.drills, drills.front().name, &Drill::name) == sheet.drills.end())
      sheet.drills.push_back(std::move(drills.front()));
  }
  if (sheet.drills.empty()) return std::nullopt;
  return sheet;
}

void add_tomorrow(Page& page, std::span<const SharedReason> reasons, std::span<const HandedOut> sheets,
                  std::uint32_t seed) {
  const std::span<const SharedReason> first = reasons.first(std::min(reasons.size(), most_to_talk_about));
  std::size_t class_size = 0;
  for (const HandedOut& sheet : sheets) class_size += sheet.marked.hand_ins.size();
  page.head(2, "To talk about");
  for (const SharedReason& reason : first) {
    const Question& question = sheets[reason.sheet].marked.questions[reason.questions.front()].question;
    page.say(Note{Note::Kind::question,
                  {text(strong(fmt::format("{} of {}: ", reason.names.size(), class_size)), question.ask),
                   text(words_of(reason))}});
  }
  const std::optional<DrillSheet> next = sheet_on(first, sheets, seed);
  if (!next) return;
  page.head(2, "A sheet on these");
  page.say(CodeBlock{"console", "$ " + command_of(*next)});
  const std::vector<DrawnProblem> problems = problems_of(*next, block_runner());
  for (std::size_t i = 0; i < problems.size(); ++i) {
    page.head(3, fmt::format("Problem {}", i + 1));
    for (Block& block : shown(problems[i], block_runner())) page.say(std::move(block));
  }
}

}  // namespace

Answer mark_class(const Arguments& arguments) {
  Answer answer;
  std::vector<HandIn> all = hand_ins(arguments.words[1]);
  std::optional<std::string> lesson;
  if (arguments.words.size() > 2) lesson = arguments.words[2];
  if (!lesson) answer.warnings = take_out_unread(all);
  const std::vector<HandedOut> sheets = marked_sheets(all, lesson);
  std::vector<MarkedSheet> marked;
  for (const HandedOut& sheet : sheets) marked.push_back(sheet.marked);
  answer.page.head(1, fmt::format("A class: {}", count_of(all.size(), "hand-in")));
  for (const MarkedSheet& sheet : marked) {
    answer.page.head(2, sheet.title);
    for (Block& block : class_marks(sheet.questions, sheet.hand_ins)) answer.page.say(std::move(block));
  }
  const std::vector<SharedReason> reasons = shared_reasons(marked);
  if (!reasons.empty()) {
    answer.page.head(2, "Mistakes");
    for (Block& block : table_of_reasons(reasons, marked)) answer.page.say(std::move(block));
    const std::uint32_t seed = static_cast<std::uint32_t>(arguments.count(option::seed).value_or(1));
    add_tomorrow(answer.page, reasons, sheets, seed);
  }
  for (const MarkedSheet& sheet : marked) {
    if (verdict_on(sheet.hand_ins) == Verdict::failed) answer.verdict = Verdict::failed;
  }
  return answer;
}

}  // namespace attn
