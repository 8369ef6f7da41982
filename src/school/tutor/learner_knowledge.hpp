#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/term/term.hpp"
#include "school/tutor/question.hpp"

namespace attn {

/// What somebody knows who answers a question: the numbers that stand in it, and the tables seen before it.
class LearnerKnowledge {
 public:
  explicit LearnerKnowledge(const SolvedQuestion& solved);

  /// The numbers that stand in the question.
  const std::vector<double>& numbers() const { return numbers_; }
  /// Those that somebody may copy: not the 2 of "row 2".
  const std::vector<double>& data() const { return data_; }
  /// Whether a table of this name has shown these numbers.
  bool is_shown(const Node& node) const;
  /// Whether it was shown, or both of its sizes stand in the question.
  bool has_shape(const Node& node) const;
  /// Whether a number stands in the question.
  bool stands(const Cell& cell) const;
  /// Whether a number was shown, or stands in the question.
  bool has(const Cell& cell) const;
  /// What stands in the place of a cell in tables of the same name that have shown other numbers.
  std::vector<double> in_other_tables(const Cell& cell) const;
  /// Whether all numbers are there with which a number is explained, in a few steps; in place of those that stand in
  /// the question, which are about another number, only those of tables.
  bool can_work_out(const Cell& cell) const;
  bool can_work_out_from_tables(const Cell& cell) const;
  /// And the other way round: only from those that stand in the question.
  bool can_work_out_from_question(const Cell& cell) const;
  /// Whether each number of a working is there, or can be worked out.
  bool has_all_of(const Term& working) const;
  /// The nodes that have to be computed for an answer: what comes before the numbers that are there is no part of it.
  /// A mask can be forgotten where the numbers that it leaves are there: with `masks` what is masked is to be computed.
  std::set<const Node*> still_to_compute(const Term& asked, bool masks) const;

 private:
  std::vector<double> numbers_, data_;
  std::shared_ptr<const MatricesShown> shown_;
  mutable std::map<const Node*, bool> is_shown_;
};

/// Whether a number as a text has it is this value: a number with decimals may be rounded.
bool stands_for(double number, double value);

}  // namespace attn
