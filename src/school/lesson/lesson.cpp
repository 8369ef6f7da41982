#include "school/lesson/lesson.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/support/text.hpp"
#include "data/files/file_access.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {
namespace {

struct NamedRoad {
  std::string_view name;
  Road road;
};

constexpr std::array roads = {NamedRoad{"main", Road::main}, NamedRoad{"side", Road::side}};

// A key of the front matter. Of one that repeats there can be several lines.
struct FrontMatterKey {
  std::string_view name;
  bool repeats;
  void (*set)(Lesson& lesson, const std::string& value);
};

constexpr std::array front_matter_keys = {
    FrontMatterKey{"title", false, [](Lesson& lesson, const std::string& value) { lesson.title = value; }},
    FrontMatterKey{"road", false,
                   [](Lesson& lesson, const std::string& value) {
                     lesson.road = look_up(std::span<const NamedRoad>(roads), value, "road").road;
                   }},
    FrontMatterKey{"needs", false,
                   [](Lesson& lesson, const std::string& value) { lesson.needs = split_at_any(value, ", "); }},
    FrontMatterKey{"covers", false,
                   [](Lesson& lesson, const std::string& value) { lesson.covers = split_at_any(value, ", "); }},
    FrontMatterKey{"can", true, [](Lesson& lesson, const std::string& value) { lesson.can.push_back(value); }},
    FrontMatterKey{"try", false, [](Lesson& lesson, const std::string& value) { lesson.try_it = value; }},
};

void read_front_matter(Lesson& lesson) {
  std::vector<std::string_view> given;
  for (const Entry& entry : lesson.document.front_matter) {
    at_place(lesson.document.at(entry.line), [&] {
      const FrontMatterKey& key =
          look_up(std::span<const FrontMatterKey>(front_matter_keys), entry.key, "key of a lesson");
      if (!key.repeats && std::ranges::find(given, key.name) != given.end())
        fail("{} is given twice: give it once", key.name);
      given.push_back(key.name);
      key.set(lesson, entry.value);
    });
  }
  if (lesson.title.empty())
    fail_at(lesson.document.at(1), "the lesson has no title: begin it with a line ---, title: …, and ---");
}

std::size_t count_of_words(std::string_view text) {
  std::size_t count = 0;
  bool is_within = false;
  for (const char c : text) {
    const bool is_blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    count += !is_blank && !is_within;
    is_within = !is_blank;
  }
  return count;
}

// What is read: the text without outputs, the questions, and what the puzzles ask for.
std::size_t words_to_read(const Lesson& lesson) {
  std::size_t words = 0;
  for (const MarkdownLeaf& leaf : lesson.document.leaves) {
    if (is_output(lesson.document, leaf.first_line)) continue;
    for (const Text& text : leaf.words) words += count_of_words(words_of(text));
  }
  for (const Question& question : lesson.questions) {
    for (const std::string& line : question_lines(question)) words += count_of_words(line);
  }
  for (const Puzzle& puzzle : lesson.puzzles) words += count_of_words(puzzle.ask);
  return words;
}

// A choice or a guess is not worked out.
bool is_to_be_worked_out(const Question& question) { return question.kind != AnswerKind::choice && !question.predicts; }

std::size_t minutes_for(const Lesson& lesson) {
  const Pace& pace = usual_pace;
  const auto worked_out = static_cast<std::size_t>(std::ranges::count_if(lesson.questions, is_to_be_worked_out));
  std::size_t tables = 0;
  for (const CommandBlock& block : lesson.document.commands) tables += block.lines.size();
  const auto times = [](std::size_t count, double minutes) { return static_cast<double>(count) * minutes; };
  return static_cast<std::size_t>(std::ceil(times(words_to_read(lesson), 1.0 / pace.words_per_minute) +
                                            times(worked_out, pace.answer) +
                                            times(lesson.questions.size() - worked_out, pace.choice) +
                                            times(lesson.puzzles.size(), pace.puzzle) + times(tables, pace.table)));
}

// Where a step ends: a block of the document, and what it is.
struct StepEnd {
  std::size_t first_line;
  std::size_t next_line;
  LessonStep step;
};

std::vector<LessonStep> steps_of(const Lesson& lesson) {
  const Document& document = lesson.document;
  std::vector<StepEnd> ends;
  for (std::size_t i = 0; i < document.commands.size(); ++i) {
    const CommandBlock& block = document.commands[i];
    ends.push_back({block.fence.first_line, block.last_line() + 1, {.commands = i}});
  }
  for (std::size_t i = 0; i < document.questions.size(); ++i) {
    const FencedBlock& block = document.questions[i];
    ends.push_back({block.first_line, block.last_line + 1, {.question = i}});
  }
  for (std::size_t i = 0; i < document.puzzles.size(); ++i) {
    const FencedBlock& block = document.puzzles[i];
    ends.push_back({block.first_line, block.last_line + 1, {.puzzle = i}});
  }
  for (const MarkdownLeaf& leaf : document.leaves) {
    const bool is_outermost = leaf.margins.outermost == 0;
    if (leaf.kind == MarkdownLeaf::Kind::rule && is_outermost && !is_output(document, leaf.first_line))
      ends.push_back({leaf.first_line, leaf.last_line + 1, {}});
  }
  std::ranges::sort(ends, {}, &StepEnd::first_line);
  std::vector<LessonStep> steps;
  ends.push_back({document.lines.size() + 1, document.lines.size() + 1, {}});
  const auto has_words = [](const std::string& text) { return !trimmed(text).empty(); };
  std::size_t line = document.first_line;
  for (StepEnd& end : ends) {
    end.step.first_line = line;
    end.step.last_line = end.first_line - 1;
    const std::span<const std::string> text(document.lines.data() + line - 1, end.first_line - line);
    if (end.step.commands || end.step.question || end.step.puzzle || std::ranges::any_of(text, has_words))
      steps.push_back(end.step);
    line = end.next_line;
  }
  return steps;
}

// The number and the name in "lessons/01-soft-lookup.md".
std::pair<std::string, std::string> number_and_name(const std::string& path) {
  const std::string stem = std::filesystem::path(path).stem().string();
  const std::size_t digits = std::min(stem.find_first_not_of("0123456789"), stem.size());
  if (digits == 0 || digits + 1 >= stem.size() || stem[digits] != '-') return {"", stem};
  return {stem.substr(0, digits), stem.substr(digits + 1)};
}

Lesson built_in_lesson(const LessonFile& file) {
  Lesson lesson = read_lesson(file.text, std::string(file.path));
  lesson.document.folder.reset();
  for (Puzzle& puzzle : lesson.puzzles) puzzle.folder.reset();
  return lesson;
}

bool begins_with(const LessonFile& file, std::string_view word) { return !word.empty() && file.name.starts_with(word); }

// Where a word of its name or its title begins so, upper and lower case alike.
bool says(const LessonFile& file, std::string_view word) {
  constexpr std::size_t least = 3;
  const std::string begin = in_lower_case(word);
  const auto holds = [&](const std::string& text) {
    for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos; ++at) {
      if (at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0) return true;
    }
    return false;
  };
  return word.size() >= least && (holds(std::string(file.name)) || holds(in_lower_case(built_in_lesson(file).title)));
}

// The question about what a page shows. Where its command keeps no matrix of that name, because it shows few,
// the question is about all that the problem allows.
SolvedQuestion solve_on(const Question& question, const Calculation& computation) {
  if (!computation.graph) fail_at(question.place, "on: the command computes nothing: give attn walk or another step");
  if (!computation.problem) return solve(question, *computation.graph);
  try {
    return solve(question, *computation.graph);
  } catch (const InputError&) {
    // What is wrong, if anything, is reported for the whole computation below.
  }
  const auto graph = std::make_shared<Graph>();
  add_computation(*computation.problem, *graph);
  return solve(question, *graph);
}

// What a question is about: its own command, or the nearest computation above it.
SolvedQuestion solved_on(const Calculation& above, const Question& question, const RunCommand& run) {
  if (question.asks_why) return solve(question, Graph());
  if (!question.on.empty()) return solve_alone(question, run);
  if (above.graph) return solve_on(question, above);
  fail_at(question.place, "no block above computes anything: give the question a line on: --example NAME");
}

}  // namespace

Lesson read_lesson(std::string_view text, std::string path) {
  Lesson lesson;
  std::tie(lesson.number, lesson.name) = number_and_name(path);
  lesson.document = read_document(text, std::move(path));
  read_front_matter(lesson);
  for (const FencedBlock& block : lesson.document.questions)
    lesson.questions.push_back(read_question(lesson.document, block));
  for (const FencedBlock& block : lesson.document.puzzles)
    lesson.puzzles.push_back(read_puzzle(lesson.document, block));
  lesson.steps = steps_of(lesson);
  lesson.minutes = minutes_for(lesson);
  return lesson;
}

std::string_view name_of(Road road) { return std::ranges::find(roads, road, &NamedRoad::road)->name; }

Lesson find_lesson(const std::string& word) {
  if (word.ends_with(".md")) return read_lesson(read_bytes(word), word);
  const std::span<const LessonFile> files = lesson_files();
  for (const LessonFile& file : files) {
    const std::string number = number_and_name(std::string(file.path)).first;
    if (word == number || "0" + word == number) return built_in_lesson(file);
  }
  if (parse_number<std::size_t>(word))
    fail("there is no lesson {}. The lessons are numbered 1 to {}", word, files.size());
  if (const LessonFile* const file = find_row(files, word)) return built_in_lesson(*file);
  for (const auto& fits : {begins_with, says}) {
    std::vector<std::string> names;
    for (const LessonFile& file : files) {
      if (fits(file, word)) names.emplace_back(file.name);
    }
    if (names.size() == 1) return built_in_lesson(look_up(files, names.front(), "lesson"));
    if (names.size() > 1) fail("'{}' fits several lessons. Choose one of: {}", word, fmt::join(names, ", "));
  }
  return built_in_lesson(look_up(files, word, "lesson"));
}

std::vector<Lesson> built_in_lessons() {
  std::vector<Lesson> lessons;
  for (const LessonFile& file : lesson_files()) lessons.push_back(built_in_lesson(file));
  return lessons;
}

SolvedQuestion solve_alone(const Question& question, const RunCommand& run) {
  const CommandResult result = at_place(question.place, [&] {
    return run_alone(command_lines(command_or_options(question.on), "on", question.place.line).front().words, run);
  });
  return solve_on(question, result.computation);
}

LessonResult execute(const Lesson& lesson, const RunCommand& run, const SeeBlock& see) {
  const DocumentSandbox guest(lesson.document);
  LessonResult result;
  result.run = run;
  Calculation latest;   // the only one that stays: a question is about the nearest above it
  MatricesShown shown;  // so far
  auto question = lesson.questions.begin();
  const auto solve_above = [&](std::size_t line) {
    for (; question != lesson.questions.end() && question->place.line < line; ++question) {
      result.questions.push_back(solved_on(latest, *question, run));
      result.questions.back().shown = std::make_shared<const MatricesShown>(shown);
    }
  };
  for (const CommandBlock& block : lesson.document.commands) {
    solve_above(block.fence.first_line);
    BlockResult& block_result = result.blocks.emplace_back(run_block(lesson.document, block, run));
    if (see) see(block_result);
    for (CommandResult& command : block_result.results) {
      if (command.page) note_tables(command.page->blocks, shown);
      const Calculation computation = std::exchange(command.computation, {});
      if (computation.graph) latest = computation;
    }
  }
  solve_above(lesson.document.lines.size() + 1);
  return result;
}

}  // namespace attn
