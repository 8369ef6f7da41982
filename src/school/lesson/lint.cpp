#include "school/lesson/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/file_access.hpp"
#include "page/render/width.hpp"
#include "school/lesson/lesson.hpp"
#include "school/lesson/prompt.hpp"
#include "school/lesson/show.hpp"
#include "school/puzzle/trial.hpp"
#include "school/tutor/diagnosis.hpp"

namespace attn {

namespace {

constexpr std::size_t widest = 80;

// Gathers what is wrong with one lesson.
class Lint {
 public:
  explicit Lint(const Lesson& lesson) : lesson_(lesson) {}

  // Of what the author has written: outputs are checked once it is known what they are.
  void check_width() {
    std::size_t line = 1;
    for (const CommandBlock& block : lesson_.document.commands) {
      if (!block.output) continue;
      check_width(line, block.output->begin);
      line = block.output->end;
    }
    check_width(line, lesson_.document.lines.size());
  }

  // Where a lesson is taken, a command line stands behind a prompt.
  void check_commands() {
    constexpr std::size_t prompt = 2;
    for (const CommandBlock& block : lesson_.document.commands) {
      for (const CommandLine& command : block.lines) {
        for (std::size_t i = 0; i < command.lines.size() && !block.attributes.hidden; ++i) {
          const std::size_t width = display_width(command.lines[i]);
          if (width + prompt > widest && width <= widest)
            add(command.line + i, "after its prompt this line is {} columns wide, and {} is the most: break it",
                width + prompt, widest);
        }
      }
    }
  }

  // Only lines of text can be broken: those of a Markdown table, for example, cannot.
  void check_output_width(const LessonResult& result) {
    const std::vector<CommandBlock>& blocks = lesson_.document.commands;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto is_text = [](const CommandResult& command) { return command.format == "text"; };
      if (blocks[i].output && std::ranges::all_of(result.blocks[i].results, is_text))
        check_width(blocks[i].output->begin + 1, blocks[i].output->end - 1);
    }
  }

  void check_length() {
    constexpr std::size_t most = 25;
    if (lesson_.minutes > most)
      add(1, "the lesson takes about {} minutes, and {} is the most: split it, or ask less", lesson_.minutes, most);
  }

  void check_references() {
    for (const Entry& entry : lesson_.document.front_matter) {
      for (const std::string& name : split_at_any(entry.value, ", ")) {
        if (entry.key == "needs" && !is_lesson(name))
          add(entry.line, "needs: there is no lesson '{}'{}", name, did_you_mean(name, names_of(lesson_files())));
        if (entry.key == "covers") check_covered(name, entry.line);
      }
    }
    for (const CommandBlock& block : lesson_.document.commands) {
      for (const std::string& name : block.attributes.covers) {
        if (std::ranges::find(lesson_.covers, name) == lesson_.covers.end())
          add(block.fence.first_line, "covers: {} is not among what the front matter says is covered", name);
      }
    }
  }

  // What a reader is to try runs as it stands, in any folder.
  void check_trial(const RunCommand& run) {
    for (const Entry& entry : lesson_.document.front_matter) {
      if (entry.key != "try") continue;
      try {
        const DocumentSandbox guest{std::optional<std::filesystem::path>()};
        for (const CommandLine& line : command_lines(entry.value, lesson_.document.path, entry.line))
          run_alone(line.words, run);
      } catch (const InputError& error) {
        add(entry.line, "try: {}", error.what());
      }
    }
  }

  void check_questions() {
    if (lesson_.questions.empty() && lesson_.puzzles.empty()) add(1, "the lesson asks nothing: give it a question");
    if (!lesson_.questions.empty() && lesson_.questions.front().asks_why)
      add(lesson_.questions.front().place.line, "why: no question is before it: put it after one");
    for (const Question& question : lesson_.questions) {
      if (question.hints.empty() && !question.asks_why)
        add(question.place.line, "the question has no hint: give it a line hint:");
      for (const std::string& choice : question.choices) {
        if (key_press(choice)) add(question.place.line, "the choice '{}' is a key: call it otherwise", choice);
      }
    }
  }

  void check_puzzles(const RunCommand& run) {
    for (const Puzzle& puzzle : lesson_.puzzles) {
      for (const std::string& fault : attn::faults_of(puzzle, run)) add(puzzle.place.line, "{}", fault);
    }
  }

  // Where nobody is at a terminal, a screen is printed.
  void check_screens(const RunCommand& run) {
    for (const Question& question : lesson_.questions) {
      if (!question.explore) continue;
      try {
        run_alone(words_of_screen(question), run);
      } catch (const InputError& error) {
        add(question.place.line, "explore: {}", error.what());
      }
    }
  }

  // A step and the line that asks for the next one are to stand on one screen of 24 lines.
  void check_heights(const LessonResult& result) {
    constexpr std::size_t most = 20;
    for (const LessonStep& step : lesson_.steps) {
      const std::size_t height = height_of(lesson_, step, result);
      if (height > most)
        add(step.first_line, "this step takes {} lines, and {} is the most: split it with a line ***, or show less",
            height, most);
    }
  }

  // A page of the lesson asks no other computer for anything.
  void check_pictures() {
    for (const MarkdownLeaf& leaf : lesson_.document.leaves) {
      for (const std::string& address : leaf.pictures) {
        const std::string_view scheme = std::string_view(address).substr(0, address.find(':') + 1);
        const bool is_local = scheme.empty() ? !address.starts_with("//") : scheme == "data:" || scheme == "file:";
        if (!is_local)
          add(leaf.first_line,
              "pages of this lesson will not show the picture {}: put it beside the lesson and give its name",
              in_quotes(address));
      }
    }
  }

  void check_tags() {
    for (const MarkdownLeaf& leaf : lesson_.document.leaves) {
      for (const std::string& tag : leaf.tags)
        add(leaf.first_line, "{} is raw HTML, and is not shown: write it between backticks", in_quotes(tag));
    }
  }

  void check_terms() {
    for (const TermFault& fault : term_faults(lesson_)) add(fault.line, "{}", fault.says);
  }

  void check_answers(const LessonResult& result) {
    for (const SolvedQuestion& solved : result.questions) {
      const std::size_t line = solved.question.place.line;
      if (solved.question.kind == AnswerKind::word && key_press(answer_of(solved)))
        add(line, "the answer '{}' is a key: ask for something else", answer_of(solved));
      const double* const number = std::get_if<double>(&solved.answer);
      if (number && *number != 0.0 && tolerance_for(solved) >= std::fabs(*number))
        add(line, "0 would be right as well, because the answer is {}: give a smaller tolerance", answer_of(solved));
    }
    std::vector<BlockOutput> outputs;
    for (const BlockResult& block : result.blocks) {
      outputs.push_back(block.printed);
      for (const BrokenLaw& broken : block.printed.broken_laws) add(broken.line, "{}", broken.says);
    }
    for (const StaleBlock& stale : stale_blocks(lesson_.document, outputs))
      add(stale.place.line, "the output is not current: attn docs update {}", lesson_.document.path);
  }

  template <class... Args>
  void add(std::size_t line, fmt::format_string<Args...> sentence, Args&&... args) {
    faults_.push_back({line, fmt::format(sentence, std::forward<Args>(args)...)});
  }

  std::vector<std::string> finish() {
    std::ranges::stable_sort(faults_, {}, &Fault::line);
    std::vector<std::string> sentences;
    for (const Fault& fault : faults_)
      sentences.push_back(fmt::format("{}:{}: {}", lesson_.document.path, fault.line, fault.says));
    return sentences;
  }

 private:
  struct Fault {
    std::size_t line;
    std::string says;
  };

  void check_width(std::size_t first, std::size_t last) {
    for (std::size_t line = first; line <= last; ++line) {
      const std::size_t width = display_width(without_ending(lesson_.document.lines[line - 1]));
      if (width > widest) add(line, "this line is {} columns wide, and {} is the most: break it", width, widest);
    }
  }

  // One that is built in, or a file beside this one.
  bool is_lesson(const std::string& name) const {
    const FolderConfinement confined(lesson_.document.folder);
    return find_row(lesson_files(), name) || file_exists(name + ".md");
  }

  void check_covered(const std::string& name, std::size_t line) {
    if (!find_row(checklist(), name))
      add(line, "covers: there is no line '{}' in the checklist{}", name, did_you_mean(name, names_of(checklist())));
  }

  const Lesson& lesson_;
  std::vector<Fault> faults_;
};

CheckedQuestion checked(const SolvedQuestion& solved) {
  CheckedQuestion question{solved.question.place, 0, 0, {}, cannot_be_told_apart(solved)};
  for (const RecognizedAnswer& answer : recognizable_answers(solved)) {
    if (answer.mistake) question.recognised.push_back(answer.mistake);
    if (answer.kind == RecognizedAnswer::Kind::note) ++question.notes;
    constexpr std::array slips = {RecognizedAnswer::Kind::step, RecognizedAnswer::Kind::slip,
                                  RecognizedAnswer::Kind::writing, RecognizedAnswer::Kind::rare};
    if (std::ranges::find(slips, answer.kind) != slips.end()) ++question.slips;
  }
  return question;
}

}  // namespace

CheckedLesson check_lesson(std::string_view text, const std::string& path, const RunCommand& run) {
  CheckedLesson checked_lesson;
  try {
    const Lesson lesson = read_lesson(text, path);
    Lint lint(lesson);
    lint.check_width();
    lint.check_commands();
    lint.check_length();
    lint.check_references();
    lint.check_questions();
    lint.check_pictures();
    lint.check_tags();
    lint.check_terms();
    lint.check_trial(run);
    lint.check_puzzles(run);
    lint.check_screens(run);
    try {
      const LessonResult result = execute(lesson, run);
      lint.check_output_width(result);
      lint.check_answers(result);
      lint.check_heights(result);
      for (const SolvedQuestion& solved : result.questions) checked_lesson.questions.push_back(checked(solved));
    } catch (const InputError& error) {
      checked_lesson.faults.emplace_back(error.what());
    }
    std::ranges::move(lint.finish(), std::back_inserter(checked_lesson.faults));
  } catch (const InputError& error) {
    checked_lesson.faults = {error.what()};
  }
  return checked_lesson;
}

}  // namespace attn
