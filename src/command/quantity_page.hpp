#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/command.hpp"
#include "problem/problem_file.hpp"

namespace attn {

/// A label and its numbers, one for each column.
using QuantityRows = std::vector<std::pair<std::string, std::vector<double>>>;

/// A page of quantities: each table is a matrix of its trace, so that every format can write it.
class QuantityPage {
 public:
  QuantityPage();

  void say(Block block) { page_.say(std::move(block)); }
  void say(Text paragraph) { page_.say(std::move(paragraph)); }
  void say(std::string paragraph) { page_.say(std::move(paragraph)); }
  void head(int level, std::string title) { page_.head(level, std::move(title)); }
  /// One row of numbers for each label; columns are quantities of their own.
  void table(std::string_view name, const std::vector<std::string>& columns, const QuantityRows& rows);
  /// Numbers of one kind. The table is named like the matrix in the trace.
  void matrix(std::string_view name, Matrix cells, const Axis& rows, const Axis& columns, Heat heat);
  void set_problem(std::shared_ptr<const Problem> problem) {
    page_.recipe = recipe_of(problem);
    problem_ = std::move(problem);
  }
  Outcome outcome(std::vector<std::string> warnings) && {
    return {.page = std::move(page_), .warnings = std::move(warnings), .computation = {tables_, problem_}};
  }

 private:
  std::shared_ptr<Graph> tables_;
  std::shared_ptr<const Problem> problem_ = {};
  Page page_;
};

}  // namespace attn
