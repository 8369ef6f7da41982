#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "page/document/document.hpp"
#include "page/document/document_outputs.hpp"
#include "school/puzzle/puzzle.hpp"
#include "school/tutor/question.hpp"

namespace attn {

/// A lesson that is built in: a file of the folder lessons/.
struct LessonFile {
  std::string_view name;  // "soft-lookup" of 01-soft-lookup.md
  std::string_view path;  // "lessons/01-soft-lookup.md"
  std::string_view text;
};

/// All of them, in the order of their numbers.
std::span<const LessonFile> lesson_files();

/// A line of the checklist: what the lessons together are to cover.
struct ChecklistLine {
  std::string_view name;  // "1.2", "E6"
  std::string_view says;
};

/// lessons/checklist.txt: in each line a name and what it stands for.
std::span<const ChecklistLine> checklist();

/// lessons/template.txt: what a new lesson begins with.
std::string_view lesson_template();

/// lessons/terms.txt: in each line a term, and after commas the forms that it takes.
std::string_view terms_text();

/// A piece of a lesson: lines of text, and at their end at most one block of commands, one question or one
/// puzzle. A thematic break (`***`) ends a step as well.
struct LessonStep {
  std::size_t first_line = 0;                // of the text
  std::size_t last_line = 0;                 // before the block; below first_line when there is no text
  std::optional<std::size_t> commands = {};  // which of the document's
  std::optional<std::size_t> question = {};  // which of the lesson's
  std::optional<std::size_t> puzzle = {};    // which of the lesson's
};

/// Where in the course a lesson stands: the main road is taken first, in its order. A side road can be left
/// out.
enum class Road { main, side };

/// How fast a lesson is taken: the words of its text and its questions in a minute, and the minutes for each
/// number, word or shape that is worked out, for each choice or guess, for each puzzle, and for each command,
/// whose tables are looked at.
struct Pace {
  double words_per_minute = 180.0;
  double answer = 0.9;
  double choice = 0.3;
  double puzzle = 4.0;
  double table = 0.35;
};
inline constexpr Pace usual_pace;

/// A document to learn from.
struct Lesson {
  std::string number;  // "01" of 01-soft-lookup.md, or nothing
  std::string name;    // "soft-lookup" of it
  Document document;
  std::string title;
  Road road = Road::main;
  std::vector<std::string> needs;   // names of lessons to take before
  std::size_t minutes = 0;          // that it takes at the usual pace, rounded up
  std::vector<std::string> covers;  // names of lines of the checklist
  std::vector<std::string> can;     // what one can do after it: "compute the weights of a row of scores"
  std::string try_it;               // a command to try on a sentence of one's own, or nothing
  std::vector<Question> questions;
  std::vector<Puzzle> puzzles;
  std::vector<LessonStep> steps;
};

/// Reads a lesson. Throws InputError with path and line: what read_document and read_question refuse, and
/// front matter with an unknown key, or without a title.
Lesson read_lesson(std::string_view text, std::string path);

/// "main" or "side", as the front matter says it.
std::string_view name_of(Road road);

/// A lesson that is built in, by its name or its number, or the one in a file whose name ends in .md.
/// Throws InputError.
Lesson find_lesson(const std::string& word);

/// All that are built in.
std::vector<Lesson> built_in_lessons();

/// A lesson with all its blocks run, and the answers of its questions.
struct LessonResult {
  std::vector<BlockResult> blocks;        // of the document's blocks
  std::vector<SolvedQuestion> questions;  // of the lesson
  RunCommand run;                         // computes what is tried at a puzzle
};

/// Works out a question that names the command that it is about. Throws InputError with path and line.
SolvedQuestion solve_alone(const Question& question, const RunCommand& run);

/// Is shown a block of commands that was run, with its computations, which do not stay.
using SeeBlock = std::function<void(const BlockResult& block)>;

/// Runs a lesson's commands, confined to its folder. Throws InputError with path and line.
LessonResult execute(const Lesson& lesson, const RunCommand& run, const SeeBlock& see = {});

}  // namespace attn
