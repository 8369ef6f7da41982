#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "page/block/page.hpp"
#include "school/tutor/question.hpp"

namespace attn {

// Answers as somebody hands them in, on lines of a file. The grammar is told in docs/lessons.md, "For teachers".

/// What somebody handed in.
struct HandIn {
  /// A line that has something to say, without blanks around it.
  struct Line {
    std::string text;
    std::size_t number = 0;  // in the file, from 1 on
  };
  std::string name;  // what stands behind `Name:`; else that of the file, without the ending where no other has it
  std::string sheet = {};  // what stands behind `Sheet:`: the command that gives the questions; empty: it does not say
  std::vector<Line> lines = {};  // but those of its head
  std::string problem = {};      // why its file cannot be read; empty: it can
};

/// What stands at the head of a sheet to be written on, and below each of its questions.
Text head_of_sheet(const std::string& sheet);
Text line_for_answer();

/// Reads the text of a file: UTF-8, or UTF-16 as its first two bytes say. Throws InputError: UTF-16 that is broken.
HandIn hand_in_of(std::string_view text, std::string name);

/// The lines of a text that are not empty and do not begin with #, without blanks around them.
std::vector<std::string> answers_in(std::string_view text);

/// What a file holds, or each file of a folder (data/files/files_of_folder.hpp) in the order of their names. Throws
/// InputError: there is none, or the only one cannot be read.
std::vector<HandIn> hand_ins(const std::string& path);

/// The answer to each question; nothing where there is none, or a dash. Each line has the next answer, unless one
/// begins with the number of its question: "2. 0.4", "Q2 0.4", "Problem 2: weight = 0.4". A first line that is no
/// answer is taken for a name, and becomes that of the hand-in. Throws InputError, with the line: more or fewer
/// answers than questions, a number that is there twice or that of no question, a line that belongs to none.
std::vector<std::optional<std::string>> by_question(HandIn& hand_in, std::span<const SolvedQuestion> questions);

}  // namespace attn
