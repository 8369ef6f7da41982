#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "school/tutor/question.hpp"

namespace attn {

// The judge's table, judge.json: what a wrong answer is asked, in which order, and what is then said. The page of a
// lesson reads the same one.

/// The table as it stands there; CMakeLists.txt compiles it in.
std::string_view judge_table();

/// What is known of an answer, by the names that the table has. A fact that is not there does not hold.
struct Evidence {
  std::map<std::string, bool> facts;
  std::map<std::string, std::string> places = {};  // what stands in {} of the sentences
  /// Of the answers that are recognized up to a kind, so closely. Nothing: there are none.
  std::function<std::optional<Evidence>(std::string_view last, double closeness)> search = {};
};

/// What the first row of a list says whose facts hold; nothing: none holds.
std::optional<Judgment> judged_by(std::string_view list, const Evidence& evidence);

/// A number of the table. Where it is asked for often, it is kept.
double judge_limit(std::string_view name);

/// The names of the mistakes that people make by hand, the most usual first.
const std::vector<std::string>& usual_mistakes();

/// How people type what is no finite number, in lower case.
const std::vector<std::string>& words_of_infinity();

/// The names of kinds of recognized answers and of marks, in the order of RecognizedAnswer::Kind and Judgment::Mark.
const std::vector<std::string>& names_of_kinds();
const std::vector<std::string>& names_of_marks();

}  // namespace attn
