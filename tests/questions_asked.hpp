#pragma once

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "command/docs.hpp"
#include "school/lesson/lesson.hpp"
#include "school/tutor/diagnosis.hpp"

namespace attn {

// The only question of a lesson, with everything that stands behind it.
inline SolvedQuestion asked_below(const std::string& blocks, const std::string& lines, const std::string& ask) {
  const std::string text = "---\ntitle: A\n---\n\n" + blocks + "```question\nask: " + ask + "\n" + lines + "```\n";
  return execute(read_lesson(text, "a.md"), block_runner()).questions.front();
}

inline SolvedQuestion asked(const std::string& lines, const std::string& ask = "What is it?") {
  return asked_below("", lines, ask);
}

inline std::string block_of(const std::string& command) { return "```attn\n" + command + "\n```\n\n"; }

// A question below the tables of its own computation.
inline SolvedQuestion asked_of_tables(const std::string& lines, const std::string& ask = "What is it?") {
  const std::size_t begin = lines.find("on: ") + 4, end = lines.find('\n', begin);
  const std::string on = lines.substr(begin, end - begin);
  return asked_below(block_of(on.starts_with("attn ") ? on : "attn walk " + on), lines, ask);
}

inline std::string said(const SolvedQuestion& solved, std::string_view typed) {
  const Judgment judged = judge(solved, typed);
  return judged.mark == Judgment::Mark::right ? "(right)" : judged.says;
}

// Ways to miss an answer: near it, its shares and multiples, its digits, other numbers of the computation.
inline std::set<std::string> wrong_numbers(const SolvedQuestion& solved) {
  std::set<std::string> typed = {"1e4", "-0.5", "0.07", "1/3", "0.95", "0.125", "-7.5"};
  const auto add = [&](double number, std::initializer_list<int> decimals) {
    if (std::fabs(number) > 1e9) return;
    for (const int digits : decimals) typed.insert(fmt::format("{:.{}f}", number, digits));
  };
  const double answer = std::get<double>(solved.answer);
  for (const double factor : {-1.0, 0.1, 0.25, 0.5, 0.9, 0.97, 1.03, 1.1, 2.0, 10.0})
    add(factor * answer, {0, 1, 2, 4});
  for (int whole = -3; whole <= 20; ++whole) add(whole, {0});
  for (int share = 1; share < 20; ++share) add(share * 0.05, {2});
  for (const RecognizedAnswer& one : recognizable_answers(solved)) add(std::get<double>(one.quantity), {2, 4});
  return typed;
}

}  // namespace attn
