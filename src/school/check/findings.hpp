#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "school/check/mistake_pairs.hpp"
#include "school/check/step_precision.hpp"
#include "school/mistake/comparison.hpp"
#include "school/mistake/mistake.hpp"

namespace attn {

/// Of which findings before it a matrix is computed, by their places, where these were taken for granted.
struct Grounds {
  std::vector<std::size_t> numbers;  // those of the file, and by nothing between that was taken for granted as well
  std::vector<std::size_t> explanations;  // by which something is made otherwise that it is made of
};

/// A matrix that differs from what it would be with what was found before, and what explains that.
struct Finding {
  std::size_t place;                          // among those that were compared
  std::shared_ptr<const Matrix> expected;     // null: it cannot be computed from the numbers before it
  Difference difference;                      // from that
  std::vector<const Mistake*> mistakes = {};  // each of which gives these numbers, and as many of those behind them
  std::vector<Change> made = {};              // each of them, as it is made here
  std::vector<std::string> amounts = {};      // of each the number that was solved for, in words; empty: they have none
  std::vector<MistakePair> pairs = {};        // where no mistake does: each gives all that differs from here on
  std::size_t explains = 0;                   // matrices that differ and have the numbers of these mistakes
  const Mistake* convention = nullptr;        // with which they do so; null: none is needed
  std::vector<std::size_t> unused = {};       // places of right matrices from which this one was not computed then
  bool is_alone = false;                      // what is computed from it is right
  bool has_other_mask_value = false;          // which is all that differs: a convention
  std::optional<std::size_t> contradicts = {};  // the first that is computed from it and has not the numbers that the
                                                // mistakes give, so that they are a guess

  bool was_followed =
      true;  // by all that differs behind it, with each of the mistakes: those that are left fit it alike

  std::optional<Grounds> grounds = {};  // nothing: they are not known

  std::vector<std::string> same_numbers = {};  // what a mistake with a usual number gives as well, in words
  std::string precision = {};  // how its steps may have been rounded besides: "steps rounded to 2 decimals"

  bool is_beyond_rounding = false;  // one of its cells, which alone is further off than rounded steps explain

  bool is_identified = false;  // by what can be seen of it: it is the transpose, or has dropout

  /// Whether something explains it.
  bool is_explained() const { return !mistakes.empty() || !pairs.empty(); }

  /// Whether what differs can be a convention.
  bool may_be_convention() const;
};

/// What explains somebody's matrices. The first finding is that of the first matrix that differs; each
/// further one takes for granted the first mistake of those before it or, where none explains them, their
/// numbers.
struct Findings {
  std::vector<Finding> all;
  std::vector<const Mistake*> hidden;              // where all is right: errors that would give these numbers as well
  bool has_more = false;                           // whether more matrices differ that were not looked at
  std::string said_otherwise = {};                 // what the line says of what would be a convention: "--norm post"
  std::optional<StepPrecision> precision = {};     // with which all that differs is right
  std::vector<const Mistake*> also_given_by = {};  // then: mistakes that give these few digits as well

  /// Whether one listed mistake, or convention, gives all that differs.
  bool is_one_mistake() const;
  /// How many of them nothing explains.
  std::size_t unexplained() const;
  /// Whether all that differs can be conventions.
  bool may_be_conventions() const;
};

/// What is right with other precision.
Findings right_with(StepPrecision precision);

/// Whether one mistake gives all that differs.
bool is_one_mistake(const Graph& graph, std::span<const ComparedMatrix> compared);

/// Whether there is a mistake that gives all of these numbers.
bool is_explained(const Graph& graph, std::span<const ComparedMatrix> matrices);

/// The first of these that gives all that differs: a right computation with other precision, one mistake, one mistake
/// of somebody who rounds; else what explains most. `compared` is in the order of the computation, whose numbers are
/// there.
Findings find_mistakes(const Graph& graph, std::span<const ComparedMatrix> compared);

/// The work that a search may take that goes further than single mistakes, in about nanoseconds.
constexpr std::uint64_t work_for_search = 700'000'000;

/// The same of what is no right computation with a precision that is known exactly.
Findings explain_difference(const Graph& graph, std::span<const ComparedMatrix> compared,
                            std::uint64_t work = work_for_search);

/// Whether a mistake can be made, and gives these numbers as well, which are right.
bool is_hidden(const Graph& graph, std::span<const ComparedMatrix> compared, const Mistake& mistake);

/// Which mistakes a computation tells apart in matrices of the roles that were compared, where they are rounded as
/// these are and no finer than at 3 decimals: a number for each, the same for those whose numbers may then look the
/// same. Null stands for no mistake, as does one that cannot be made.
std::vector<std::size_t> mistake_groups(const Graph& graph, std::span<const Mistake* const> mistakes,
                                        std::span<const ComparedMatrix> compared);

}  // namespace attn
