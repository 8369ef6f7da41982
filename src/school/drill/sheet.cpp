#include "school/drill/sheet.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "school/tutor/diagnosis.hpp"

namespace attn {
namespace {

constexpr std::string_view seed_option = "--seed", count_option = "--count", mistake_option = "--mistake";

template <class Number>
Number number_after(std::string_view option, const std::string& word, Number most) {
  const std::optional<Number> number = parse_number<Number>(word);
  if (!number || *number > most) fail("{} {}: give a whole number up to {}", option, word, most);
  return *number;
}

}  // namespace

const Mistake& find_mistake(std::string_view name) { return look_up(mistakes(), name, "mistake"); }

std::string command_of(const DrillSheet& sheet) {
  std::string line = "attn drill";
  for (const Drill& drill : sheet.drills) line += " " + drill.name;
  line += fmt::format(" {} {} {} {}", seed_option, sheet.seed, count_option, sheet.count);
  for (const Mistake* mistake : sheet.mistakes) line += fmt::format(" {} {}", mistake_option, mistake->name);
  return line;
}

DrillSheet drill_sheet_of(std::span<const std::string> words) {
  DrillSheet sheet;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with("--")) {
      if (word.ends_with(".md")) fail("{}: a sheet that was handed in may only name drills that are built in", word);
      sheet.drills.push_back(find_drill(word));
      continue;
    }
    if (i + 1 == words.size()) fail("{} of the sheet has no value", word);
    const std::string& value = words[++i];
    if (word == seed_option) {
      sheet.seed = number_after<std::uint32_t>(word, value, UINT32_MAX);
    } else if (word == count_option) {
      sheet.count = number_after<std::size_t>(word, value, most_problems_of_sheet);
    } else if (word == mistake_option) {
      sheet.mistakes.push_back(&find_mistake(value));
    } else {
      fail("a sheet of drills has no option {}", word);
    }
  }
  if (sheet.drills.empty()) fail("the sheet names no drill: write Sheet: attn drill softmax --seed 7 --count 10");
  return sheet;
}

std::vector<DrawnProblem> problems_of(const DrillSheet& sheet, const RunCommand& run) {
  DrillSeries series(sheet.drills, sheet.seed, run, sheet.mistakes);
  std::vector<DrawnProblem> problems;
  while (problems.size() < sheet.count) problems.push_back(series.next());
  return problems;
}

std::vector<Drill> drills_that_show(const Mistake& mistake, std::span<const Drill> drills, const RunCommand& run) {
  std::vector<Drill> showing;
  for (const Drill& drill : drills) {
    const DrawnProblem drawn = DrillSeries({drill}, 1, run, {&mistake}).next();
    const std::vector<RecognizedAnswer>& all = recognizable_answers(drawn.solved);
    if (std::ranges::find(all, &mistake, &RecognizedAnswer::mistake) != all.end()) showing.push_back(drill);
  }
  return showing;
}

}  // namespace attn
