#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command/command.hpp"
#include "graph/cost.hpp"
#include "model/layers.hpp"
#include "problem/problem_file.hpp"

namespace attn {

/// A label and its numbers, one for each column.
using QuantityRows = std::vector<std::pair<std::string, std::vector<double>>>;

/// What Work holds, as the end of such a row, and what these columns mean.
extern const std::vector<std::string> work_columns;
Listing meaning_of_work_columns();
std::vector<double> numbers(const Work& work);

/// A page of quantities: each table is a matrix of its trace, so that every format can write it.
class CostPage {
 public:
  CostPage();

  void say(Block block) { page_.say(std::move(block)); }
  void say(Text paragraph) { page_.say(std::move(paragraph)); }
  void say(std::string paragraph) { page_.say(std::move(paragraph)); }
  void head(int level, std::string title) { page_.head(level, std::move(title)); }
  /// One row of numbers for each label; columns are quantities of their own.
  void table(std::string_view name, const std::vector<std::string>& columns, const QuantityRows& rows);
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

/// The kinds of layers at these sizes: what they are, by formula, and built and counted where they are small.
void add_layers(CostPage& page, LayerSizes sizes);
/// How many layers it takes until the ends of a sequence meet, for convolutions with kernel k.
void add_paths(CostPage& page, std::size_t k);
/// Up to which length self-attention is cheaper than the others.
void add_crossover(CostPage& page, LayerSizes sizes);

/// Eight heads against one as wide, counted: on n words of size d where these are given, and else on those of
/// a usual size.
void add_heads(CostPage& page, std::optional<std::size_t> n, std::optional<std::size_t> d);
/// The scoring functions on the same queries and keys, counted.
void add_scores(CostPage& page, LayerSizes sizes);

/// The time that every kind of layer and every scoring function takes on this machine.
void add_measurements(CostPage& page);

}  // namespace attn
