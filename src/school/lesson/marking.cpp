#include "school/lesson/marking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/opened.hpp"

namespace attn {
namespace {

// What is said to an answer in one word, and its sign in a table.
struct MarkName {
  Judgment::Mark mark;
  std::string_view name;
  std::string_view sign;
};

constexpr std::array mark_names = {
    MarkName{Judgment::Mark::right, "correct", "✓"},
    MarkName{Judgment::Mark::wrong, "wrong", "✗"},
    MarkName{Judgment::Mark::convention, "convention", "~"},
    MarkName{Judgment::Mark::unreadable, "unreadable", "?"},
};

const MarkName& name_of_mark(const MarkedAnswer& answer) {
  return *std::ranges::find(mark_names, answer.judgment.mark, &MarkName::mark);
}

constexpr std::string_view sign_of_none = "–";

std::string_view sign_of(const std::optional<MarkedAnswer>& answer) {
  return answer ? name_of_mark(*answer).sign : sign_of_none;
}

// One row for each student and question: a table for spreadsheets.
Records records_of(std::span<const SolvedQuestion> questions, std::span<const MarkedHandIn> hand_ins) {
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

// A line of answers that begins with the number of its question.
struct Numbered {
  std::size_t question = 0;  // from 1 on
  std::string_view answer;
};

std::optional<Numbered> numbered(std::string_view line) {
  std::string_view rest = line;
  bool has_word = false;
  for (const std::string_view word : {"question", "q"}) {
    if (has_word || !in_lower_case(rest).starts_with(word)) continue;
    rest = trimmed(rest.substr(word.size()));
    has_word = true;
  }
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const std::optional<std::size_t> question = parsed<std::size_t>(rest.substr(0, digits));
  if (!question) return std::nullopt;
  rest.remove_prefix(digits);
  const bool is_marked = !rest.empty() && std::string_view(".):").find(rest.front()) != std::string_view::npos;
  if (is_marked) rest.remove_prefix(1);
  // "1.5" is a number, and so is "1" alone.
  const bool ends = rest.empty() || rest.front() == ' ' || rest.front() == '\t';
  if (!ends || !(is_marked || has_word)) return std::nullopt;
  return Numbered{*question, trimmed(rest)};
}

// The lines with their numbers; nothing unless all have one, and some of them an answer.
std::optional<std::vector<Numbered>> all_numbered(const std::vector<std::string>& lines) {
  std::vector<Numbered> all;
  for (const std::string& line : lines) {
    const std::optional<Numbered> one = numbered(line);
    if (!one) return std::nullopt;
    all.push_back(*one);
  }
  const auto has_answer = [](const Numbered& one) { return !one.answer.empty(); };
  if (std::ranges::none_of(all, has_answer)) return std::nullopt;
  return all;
}

MarkedHandIn unmarked(std::span<const SolvedQuestion> questions, std::string name, std::string problem = {}) {
  MarkedHandIn none{std::move(name), GivenAnswers(questions.size()), std::move(problem)};
  for (const SolvedQuestion& solved : questions) none.counts.push_back(!solved.question.predicts);
  return none;
}

std::optional<std::string> unless_left_out(std::string_view answer) {
  const bool is_left_out = answer.empty() || answer == "-" || answer == "–" || answer == "—";
  return is_left_out ? std::nullopt : std::optional<std::string>(answer);
}

}  // namespace

MarkedAnswer marked(const SolvedQuestion& solved, const std::string& given) { return {given, judge(solved, given)}; }

std::vector<std::string> answers_in(std::string_view text) {
  text = without_byte_order_mark(text);
  std::vector<std::string> answers;
  for (const std::string& line : parted(text, "\r\n")) {
    const std::string_view answer = trimmed(line);
    if (!answer.empty() && !answer.starts_with('#')) answers.emplace_back(answer);
  }
  return answers;
}

std::vector<HandIn> hand_ins(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<fs::path> files;
  if (!fs::is_directory(path, ignored)) {
    files.emplace_back(path);
  } else {
    for (const auto& entry : fs::directory_iterator(path)) {
      const bool is_hidden = entry.path().filename().string().starts_with('.');
      // A link may lead to any file of the reader, whose lines would stand among the answers.
      const bool is_file = entry.symlink_status().type() == fs::file_type::regular;
      if (is_file && !is_hidden) files.push_back(entry.path());
    }
    if (files.empty()) fail("{} holds no files: give a folder with a file of answers for each name", path);
    std::ranges::sort(files);
  }
  std::map<std::string, std::size_t> files_called;
  for (const fs::path& file : files) ++files_called[file.stem().string()];
  std::vector<HandIn> all;
  for (const fs::path& file : files) {
    const std::string name = file.stem().string();
    all.push_back({files_called.at(name) > 1 ? file.filename().string() : name, answers_in(read_bytes(file.string()))});
  }
  return all;
}

std::vector<std::optional<std::string>> by_question(const std::vector<std::string>& lines, std::size_t questions) {
  std::vector<std::optional<std::string>> answers(questions);
  if (const std::optional<std::vector<Numbered>> all = all_numbered(lines)) {
    std::set<std::size_t> seen;
    for (const Numbered& one : *all) {
      if (one.question < 1 || one.question > questions)
        fail("there is no question {}: they are numbered 1 to {}", one.question, questions);
      if (!seen.insert(one.question).second)
        fail("question {} is answered twice: give one answer to each", one.question);
      answers[one.question - 1] = unless_left_out(one.answer);
    }
    return answers;
  }
  if (lines.size() != questions)
    fail("{} to {}: give one in each line, with - where there is none, or number them: 2. 0.25",
         count_of(lines.size(), "answer"), count_of(questions, "question"));
  for (std::size_t i = 0; i < questions; ++i) answers[i] = unless_left_out(lines[i]);
  return answers;
}

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

MarkedHandIn marked(std::span<const SolvedQuestion> questions, const HandIn& hand_in) {
  MarkedHandIn result = unmarked(questions, hand_in.name);
  const std::vector<std::optional<std::string>> answers = by_question(hand_in.lines, questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (answers[i]) result.answers[i] = marked(questions[i], *answers[i]);
  }
  return result;
}

std::vector<MarkedHandIn> marked(std::span<const SolvedQuestion> questions, std::span<const HandIn> hand_ins) {
  std::vector<MarkedHandIn> all;
  for (const HandIn& hand_in : hand_ins) {
    try {
      all.push_back(marked(questions, hand_in));
    } catch (const InputError& error) {
      if (hand_ins.size() == 1) fail("{}: {}", hand_in.name, error.what());
      all.push_back(unmarked(questions, hand_in.name, error.what()));
    }
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
      return {Note::Kind::correct, {text(strong("Correct: "), answer->given, ".")}};
    case Judgment::Mark::convention:
      return {Note::Kind::hint, {text(strong("Another convention: "), answer->given, ".", reason)}};
    case Judgment::Mark::unreadable:
      return {Note::Kind::wrong,
              {text(strong("Could not be read: "), answer->given, ".", reason, " The answer is ", correct, ".")}};
    case Judgment::Mark::wrong:
      break;
  }
  return {Note::Kind::wrong, {text(strong("Not correct: "), answer->given, ". The answer is ", correct, ".", reason)}};
}

std::vector<Block> summary_of(std::span<const SolvedQuestion> questions, const MarkedHandIn& hand_in) {
  return {Prose{text(fmt::format("Correct: {} of {}.", hand_in.correct(), count_of(hand_in.counted(), "answer")))},
          records_of(questions, {&hand_in, 1})};
}

std::vector<Block> class_marks(std::span<const SolvedQuestion> questions, std::span<const MarkedHandIn> hand_ins) {
  Listing marks{{"name"}, {}, true};
  Margined problems;
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
      std::move(marks), Prose{text("✓ correct   ✗ wrong   ~ another convention   ? could not be read   – no answer")}};
  if (!problems.lines.empty()) {
    blocks.emplace_back(Prose{text("Not marked:")});
    blocks.emplace_back(std::move(problems));
  }
  blocks.emplace_back(std::move(legend));
  blocks.emplace_back(records_of(questions, hand_ins));
  return blocks;
}

}  // namespace attn
