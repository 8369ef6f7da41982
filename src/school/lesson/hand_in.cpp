#include "school/lesson/hand_in.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/file_access.hpp"
#include "data/files/files_of_folder.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {
namespace {

// --- text

void append_utf8(std::string& text, char32_t code) {
  const auto add = [&](char32_t bits) { text += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xE0 | code >> 12);
    } else {
      add(0xF0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3F));
    }
    add(0x80 | (code >> 6 & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

// UTF-16 without its first two bytes, which say whether the larger half of a unit comes first.
std::string from_utf16(std::string_view bytes, bool larger_first) {
  if (bytes.size() % 2 != 0) fail("the file is UTF-16 with half a letter at its end: save it as UTF-8");
  const auto unit = [&](std::size_t at) {
    const auto first = static_cast<unsigned char>(bytes[at]), second = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<char32_t>(larger_first ? first << 8 | second : second << 8 | first);
  };
  const auto is_within = [](char32_t code, char32_t first) { return code >= first && code < first + 0x400; };
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    char32_t code = unit(at);
    if (is_within(code, 0xD800) && at + 2 < bytes.size() && is_within(unit(at + 2), 0xDC00)) {
      at += 2;
      code = 0x10000 + ((code - 0xD800) << 10) + (unit(at) - 0xDC00);
    } else if (is_within(code, 0xD800) || is_within(code, 0xDC00)) {
      fail("the file is UTF-16 with half a letter in it: save it as UTF-8");
    }
    append_utf8(text, code);
  }
  return text;
}

std::string in_utf8(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE")) return from_utf16(bytes.substr(2), false);
  if (bytes.starts_with("\xFE\xFF")) return from_utf16(bytes.substr(2), true);
  return std::string(without_byte_order_mark(bytes));
}

// The marks of Markdown around a line of a sheet that was filled in: a quotation, emphasis.
std::string_view without_marks(std::string_view line) {
  while (!line.empty() && (line.front() == '>' || line.front() == '*' || line.front() == ' ')) line.remove_prefix(1);
  return trimmed(line);
}

// What was written on a line to write on, or set as code.
std::string written_on(std::string_view line) {
  constexpr std::string_view blanks = "*_` \t";
  const std::size_t first = line.find_first_not_of(blanks), last = line.find_last_not_of(blanks);
  return first == std::string_view::npos ? "" : std::string(line.substr(first, last + 1 - first));
}

// What stands behind this word and a colon; nothing: the line does not begin so.
std::optional<std::string_view> behind_word(std::string_view line, std::string_view word) {
  line = without_marks(line);
  if (in_lower_case(line.substr(0, word.size())) != word) return std::nullopt;
  line.remove_prefix(word.size());
  line.remove_prefix(std::min(line.find_first_not_of("* "), line.size()));
  if (!line.starts_with(':')) return std::nullopt;
  return line.substr(1);
}

// What stands in the place for an answer; nothing: the line is none.
std::optional<std::string> in_place_for_answer(std::string_view line) {
  for (const std::string_view word : {"your answer", "answer"}) {
    if (const auto rest = behind_word(line, word)) return written_on(*rest);
  }
  return std::nullopt;
}

// The fields in the head of a sheet; all may stand on one line.
enum class HeadField { name, date, of_class, sheet };
struct HeadWord {
  std::string_view word;
  HeadField field;
};
constexpr std::array head_words = {HeadWord{"name", HeadField::name}, HeadWord{"date", HeadField::date},
                                   HeadWord{"class", HeadField::of_class}, HeadWord{"sheet", HeadField::sheet}};

// Whether a line is of the head, whose name and sheet are then noted.
bool read_head(std::string_view line, HandIn& hand_in) {
  for (const HeadWord& one : head_words) {
    const std::optional<std::string_view> rest = behind_word(line, one.word);
    if (!rest) continue;
    std::size_t end = rest->size();  // where the next field begins
    for (std::size_t at = 0; at + 1 < rest->size() && end == rest->size(); ++at) {
      const bool begins =
          ((*rest)[at] == ' ' || (*rest)[at] == '_') && std::ranges::any_of(head_words, [&](const HeadWord& next) {
            return behind_word(rest->substr(at + 1), next.word).has_value();
          });
      if (begins) end = at + 1;
    }
    const std::string value = written_on(rest->substr(0, end));
    if (one.field == HeadField::name && !value.empty()) hand_in.name = value;
    if (one.field == HeadField::sheet) hand_in.sheet = value;
    if (end < rest->size()) read_head(rest->substr(end), hand_in);
    return true;
  }
  return false;
}

// --- numbers of questions

// A line that begins with the number of a question.
struct Numbered {
  std::size_t question = 0;  // from 1 on
  std::string_view answer;
};

std::optional<Numbered> numbered(std::string_view line) {
  std::string_view rest = without_marks(line);
  bool has_word = false;
  for (const std::string_view word : {"question", "problem", "predict", "q"}) {
    if (has_word || !in_lower_case(rest).starts_with(word)) continue;
    rest = trimmed(rest.substr(word.size()));
    has_word = true;
  }
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const std::optional<std::size_t> question = parse_number<std::size_t>(rest.substr(0, digits));
  if (!question) return std::nullopt;
  rest.remove_prefix(digits);
  const bool is_marked = !rest.empty() && std::string_view(".):").find(rest.front()) != std::string_view::npos;
  if (is_marked) rest.remove_prefix(1);
  // "1.5" is a number, and so is "1" alone.
  const bool ends = rest.empty() || std::string_view(" \t*").find(rest.front()) != std::string_view::npos;
  if (!ends || !(is_marked || has_word)) return std::nullopt;
  return Numbered{*question, without_marks(rest)};
}

// Whether lines begin with numbers of questions: all of them, or one with a word before it, or with an answer behind
// it where the next has another number. "1." and "2." alone are numbers themselves.
bool are_numbered(const std::vector<HandIn::Line>& lines) {
  std::size_t found = 0;
  bool tells = false;
  for (const HandIn::Line& line : lines) {
    const std::optional<Numbered> one = numbered(line.text);
    if (!one) continue;
    ++found;
    const char first = without_marks(line.text).front();
    tells = tells || !one->answer.empty() || first < '0' || first > '9';
  }
  return tells && found > 0;
}

std::optional<std::string> unless_left_out(std::string_view answer) {
  const bool is_left_out = answer.empty() || answer == "-" || answer == "–" || answer == "—";
  return is_left_out ? std::nullopt : std::optional<std::string>(answer);
}

// A number or a shape may be told with what it is: "weight = 0.67".
std::string_view behind_equals(std::string_view answer, AnswerKind kind) {
  const std::size_t sign = answer.rfind('=');
  const bool is_told = (kind == AnswerKind::number || kind == AnswerKind::shape) && sign != std::string_view::npos;
  const std::string_view rest = is_told ? trimmed(answer.substr(sign + 1)) : answer;
  return rest.empty() ? answer : rest;
}

std::string told_line(const HandIn::Line& line) {
  return fmt::format("line {}, {}", line.number, in_quotes(line.text));
}

using ByQuestion = std::vector<std::optional<std::string>>;

// Answers behind the numbers of their questions, or below them, where the number stands alone or above a question.
ByQuestion by_number(HandIn& hand_in, std::span<const SolvedQuestion> questions) {
  const bool is_sheet = std::ranges::any_of(
      hand_in.lines, [](const HandIn::Line& line) { return in_place_for_answer(line.text).has_value(); });
  ByQuestion answers(questions.size());
  std::vector<bool> seen(questions.size()), is_answered(questions.size());
  std::optional<std::size_t> current;  // the question that was numbered last
  const auto set = [&](const HandIn::Line& line, std::string_view answer) {
    if (is_answered[*current])
      fail("question {} has a second answer in {}: give one answer to each", *current + 1, told_line(line));
    is_answered[*current] = true;
    answers[*current] = unless_left_out(answer);
  };
  for (const HandIn::Line& line : hand_in.lines) {
    const std::optional<std::string> answer = in_place_for_answer(line.text);
    if (const std::optional<Numbered> one = answer ? std::nullopt : numbered(line.text)) {
      if (one->question < 1 || one->question > questions.size())
        fail("there is no question {}: they are numbered 1 to {}", one->question, questions.size());
      current = one->question - 1;
      if (seen[*current]) fail("question {} is answered twice: give one answer to each", one->question);
      seen[*current] = true;
      if (!is_sheet && !one->answer.empty()) set(line, one->answer);
    } else if (!current) {
      if (&line != &hand_in.lines.front())
        fail("{} stands before the first question: write {}", told_line(line), "Name: …");
      hand_in.name = line.text;
    } else if (answer || !is_sheet) {
      set(line, answer ? *answer : line.text);
    }
  }
  return answers;
}

ByQuestion in_order(HandIn& hand_in, std::span<const SolvedQuestion> questions) {
  std::vector<HandIn::Line>& lines = hand_in.lines;
  const auto is_no_answer = [&](const HandIn::Line& line) {
    return judge(questions.front(), line.text).mark == Judgment::Mark::unreadable;
  };
  if (lines.size() == questions.size() + 1 && !questions.empty() && is_no_answer(lines.front())) {
    hand_in.name = lines.front().text;
    lines.erase(lines.begin());
  }
  if (lines.size() != questions.size())
    fail("{} to {}{}: give one in each line, with - where there is none, or number them: 2. 0.25",
         count_of(lines.size(), "answer"), count_of(questions.size(), "question"),
         lines.size() > questions.size()
             ? fmt::format(", the first in {}, the last in {}", told_line(lines.front()), told_line(lines.back()))
             : "");
  ByQuestion answers;
  for (const HandIn::Line& line : lines) answers.push_back(unless_left_out(line.text));
  return answers;
}

}  // namespace

Text head_of_sheet(const std::string& sheet) {
  return text(fmt::format("Name: {:_<30} Date: {:_<12} Sheet: ", "", ""), code(sheet));
}

Text line_for_answer() { return text(fmt::format("Answer: {:_<30}", "")); }

HandIn hand_in_of(std::string_view text, std::string name) {
  HandIn hand_in{std::move(name)};
  const std::string read = in_utf8(text);
  std::size_t number = 0;
  for (std::string_view rest = read; !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
    const std::string_view line = trimmed(rest.substr(0, end));
    rest.remove_prefix(end + (rest.substr(end).starts_with("\r\n") ? 2 : end < rest.size() ? 1 : 0));
    ++number;
    if (line.empty() || line.starts_with('#') || without_marks(line).empty()) continue;
    if (!read_head(line, hand_in)) hand_in.lines.push_back({std::string(line), number});
  }
  return hand_in;
}

std::vector<std::string> answers_in(std::string_view text) {
  std::vector<std::string> answers;
  for (HandIn::Line& line : hand_in_of(text, "").lines) answers.push_back(std::move(line.text));
  return answers;
}

std::vector<HandIn> hand_ins(const std::string& path) {
  std::error_code unknown;
  const bool is_folder = std::filesystem::is_directory(confined_path(path), unknown);
  std::vector<FileOfFolder> files = is_folder ? files_of_folder(path) : std::vector<FileOfFolder>{{.path = path}};
  std::erase_if(files, [](const FileOfFolder& file) { return file.is_folder && file.refused.empty(); });
  if (files.empty()) fail("{} holds no files: give a folder with a file of answers for each name", path);
  const auto name_of = [](const FileOfFolder& file) { return std::filesystem::path(file.path).stem().string(); };
  std::map<std::string, std::size_t> files_called;
  for (const FileOfFolder& file : files) ++files_called[name_of(file)];
  std::vector<HandIn> all;
  for (const FileOfFolder& file : files) {
    const std::string name = name_of(file);
    const std::string called = files_called.at(name) > 1 ? std::filesystem::path(file.path).filename().string() : name;
    try {
      if (!file.refused.empty()) fail("{}", file.refused);
      all.push_back(hand_in_of(read_bytes(file.path), called));
    } catch (const InputError& error) {
      if (files.size() == 1) throw;
      all.push_back({.name = called, .problem = error.what()});
    }
  }
  return all;
}

std::vector<std::optional<std::string>> by_question(HandIn& hand_in, std::span<const SolvedQuestion> questions) {
  if (!hand_in.problem.empty()) fail("{}", hand_in.problem);
  ByQuestion answers = are_numbered(hand_in.lines) ? by_number(hand_in, questions) : in_order(hand_in, questions);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i]) answers[i] = std::string(behind_equals(*answers[i], questions[i].question.kind));
  }
  return answers;
}

}  // namespace attn
