// Questions of lessons as pages have them, and how the program judges answers to them, as JSON: what the
// script of a page for browsers has to judge as well. Usage: attn_browser_answers LESSON…

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <set>

#include "command/docs.hpp"
#include "core/term/expression_functions.hpp"
#include "school/lesson/lesson.hpp"
#include "school/lesson/page_data.hpp"
#include "school/tutor/diagnosis.hpp"
#include "school/tutor/judge.hpp"

namespace attn {
namespace {

// Ways to type a number.
void add_forms(double number, std::set<std::string>& typed) {
  for (const int decimals : {0, 1, 2, 4}) {
    const std::string written = fmt::format("{:.{}f}", number, decimals);
    typed.insert(written);
    std::string comma = written;
    if (const std::size_t at = comma.find('.'); at != std::string::npos) comma[at] = ',';
    typed.insert(comma);
    typed.insert(fmt::format("-{}", written));
  }
  typed.insert(fmt::format("{:.1f} %", 100 * number));
  typed.insert(fmt::format("{:.6g} / 2", 2 * number));
}

std::set<std::string> typed_to(const SolvedQuestion& solved) {
  std::set<std::string> typed = {"",         "777",     "-3",     "0",     "1/8", "25 %",    "e^2",    "e² + 1",
                                 "1,024",    "1,024.5", "0,88",   "√2",    "2x4", "3 × 3",   "[1, 2]", "2 by 9",
                                 "the word", "wrod",    "1",      "2",     "yes", "sqrt(2)", "1e-3",   "log(0)",
                                 "(1 + 2",   "2^0.5",   "−0.5",   "+1.5",  ".5",  "5.",      "1.2.3",  "10⁻²",
                                 "\"it\"",   "the it",  "exp(1)", "1 < 2", "2 2", "3·4",     "e",      "pi"};
  const auto add = [&](const Quantity& quantity) {
    if (const double* const number = std::get_if<double>(&quantity)) return add_forms(*number, typed);
    const std::string word = written(quantity);
    typed.insert(word);
    typed.insert("The " + word);
    typed.insert(word + "x");
    if (word.size() > 2) typed.insert(word.substr(1));
  };
  add(solved.answer);
  std::size_t rows = 0;
  for (const RecognizedAnswer& row : recognizable_answers(solved)) {
    constexpr std::size_t most_rows = 40;
    if (++rows <= most_rows) add(row.quantity);
  }
  return typed;
}

void write_question_with_answers(const SolvedQuestion& solved, JsonWriter& json) {
  json.begin_object();
  json.key("ask");
  json.string(solved.question.ask);
  json.key("question");
  write_question(solved, "key", json);
  json.key("others");
  std::vector<std::string> others;
  for (const RecognizedAnswer& row : recognizable_answers(solved)) {
    if (row.kind >= RecognizedAnswer::Kind::shown) others.push_back(row.says);
  }
  json.strings(others);
  json.key("judged");
  json.begin_array();
  for (const std::string& answer : typed_to(solved)) {
    const Judgment judged = judge(solved, answer);
    json.begin_object();
    json.key("typed");
    json.string(answer);
    json.key("mark");
    json.string(names_of_marks()[static_cast<std::size_t>(judged.mark)]);
    json.key("says");
    json.string(judged.says);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_all(std::span<const char* const> lessons, JsonWriter& json) {
  json.begin_object();
  json.key("functions");
  json.strings(names_of(number_functions()));
  json.key("constants");
  json.strings(names_of(constants()));
  json.key("questions");
  json.begin_array();
  for (const char* const name : lessons) {
    for (const SolvedQuestion& solved : execute(find_lesson(name), block_runner()).questions)
      write_question_with_answers(solved, json);
  }
  json.end_array();
  json.end_object();
}

}  // namespace
}  // namespace attn

int main(int count, char** words) {
  attn::Sink sink([](std::string_view bytes) { std::fwrite(bytes.data(), 1, bytes.size(), stdout); });
  attn::JsonWriter json(sink);
  attn::write_all(std::span(words + 1, static_cast<std::size_t>(count - 1)), json);
  sink.flush();
}
