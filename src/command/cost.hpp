#pragma once

#include <string>
#include <vector>

#include "command/command.hpp"
#include "model/layers.hpp"

namespace attn {

/// A page of quantities: each table is a matrix of its trace, so that every format can write it.
class CostPage {
 public:
  CostPage();

  void say(Block block) { page_.blocks.push_back(std::move(block)); }
  void say(std::string sentence) { say(Prose{text(std::move(sentence))}); }
  void head(int level, std::string title) { say(Heading{level, text(std::move(title))}); }
  /// One row of numbers for each label; columns are quantities of their own.
  void table(std::string_view name, const std::vector<std::string>& columns,
             const std::vector<std::pair<std::string, std::vector<double>>>& rows);
  void set_problem(std::shared_ptr<const Problem> problem) { page_.problem = std::move(problem); }
  Page take() && { return std::move(page_); }

 private:
  std::shared_ptr<Graph> tables_;
  Page page_;
};

/// A count in a sentence: all its digits, or 1.07e+36 where a double does not hold them.
std::string in_words(double count);

/// The layers compared at these sizes: formulas, counts, paths, and where the costs cross.
void add_layers(CostPage& page, LayerSizes sizes);

/// Eight heads against one as wide, and the scoring functions, counted.
void add_heads(CostPage& page);
void add_scores(CostPage& page, LayerSizes sizes);

/// The time that every kind of layer and every scoring function takes on this machine.
void add_measurements(CostPage& page);

}  // namespace attn
