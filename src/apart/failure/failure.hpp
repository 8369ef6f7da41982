#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/term/law.hpp"
#include "school/mistake/mistake.hpp"

namespace attn {

/// Something without which a failure does not show in a computation, and whether a computation has it. It need not be
/// enough.
struct FailureNeed {
  bool (*is_met)(const Graph& computation);
  std::string_view needs;  // in a clause: "several heads"
};

/// A failure as one meets it: mistakes that are known, the law that catches them, and how it is fixed.
struct Failure {
  std::string_view name;      // "row-of-nan"
  std::string_view symptom;   // in a phrase: "a row of NaN in the weights"
  std::string_view mistakes;  // by name, separated by blanks: made together
  std::string_view law;
  std::string_view shown;    // the matrix in which it is met
  std::string_view command;  // that is computed where none is named
  std::string_view problem;  // where none is given
  std::string_view options;  // without which the failure does not arise; empty: none
  std::span<const FailureNeed> requirements;
  std::string_view why;  // true of every computation
  std::string_view fix;
  std::string_view not_beside = {};  // a matrix in whose scope the law is another one; empty: it is the same in all
};

/// All of them. A new one is a row.
std::span<const Failure> failures();

/// What it requires and a computation does not have, in a clause: "several heads and several words"; empty: the
/// computation has all of that.
std::string missing_for(const Failure& failure, const Graph& computation);

/// Its mistakes.
std::vector<const Mistake*> mistakes_of(const Failure& failure);

/// A failure in a computation: the same computation with its mistakes, and its law held to both.
struct MadeFailure {
  std::shared_ptr<Graph> broken;  // null: there is no node where the mistakes can be made
  bool changes = false;           // some node; otherwise its numbers are those of the original
  std::vector<LawCheck> of_broken, of_original;

  /// The first place where the law fails; null: it holds.
  const LawCheck* failing() const;
  bool holds_for_original() const;
};

/// Makes it. The original outlives what is made. Throws InputError where the mistakes cannot be computed there, or the
/// law cannot be held, as where a matrix that it names is missing.
MadeFailure make_failure(const Failure& failure, const Graph& original);

}  // namespace attn
