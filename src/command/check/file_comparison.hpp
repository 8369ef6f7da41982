#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command/check.hpp"
#include "command/check/steps_in_file.hpp"
#include "command/check/supposed_settings.hpp"
#include "school/check/findings.hpp"
#include "school/check/matching.hpp"

namespace attn {

/// The matrices of --against, and the steps of which they were joined: hung on the arguments.
struct MatricesToCompare {
  std::shared_ptr<const NamedMatrices> all = {};
  StepsInFile steps = {};
  std::shared_ptr<const NamedMatrices> as_read = {};  // before anything was taken from them
  std::shared_ptr<const Arguments> as_typed = {};     // likewise
  bool is_recorded = false;
  std::size_t other_readings = 0;  // that its matrices may have besides the first
  OptionList supposed = {};        // of those that were put because the file cannot be read without
};

/// The arguments once more, with the matrices as they are taken where some settings are supposed. Throws InputError
/// where that does not fit.
Arguments supposing(const Command& command, const Arguments& arguments, const Supposition& supposed);

/// Whether the line says what the problem is, in another way than by its matrices.
bool gives_problem(const Arguments& arguments);

/// Somebody's matrices beside a computation, and what explains them.
struct CheckResult {
  std::shared_ptr<Graph> graph;  // of the computation
  MatchedMatrices matched;
  Findings findings;

  /// Whether all agrees, or is right with other precision, or, unless it is strict, differs by what can be conventions.
  /// What was supposed is strictly not known.
  bool passes(bool is_strict) const;
};

/// Compares the file of --against with what was computed, or, where that does not explain it, with what is computed
/// with settings that neither the line nor the file says. Throws InputError where no matrix of it can be compared.
CheckResult check_result(const Command& command, const Arguments& arguments, std::shared_ptr<Graph> graph);

/// The options of a line that say how something is computed, and not from which numbers, as they are typed: "--causal",
/// "--heads 2".
std::vector<std::string> typed_again(const Arguments& arguments);

}  // namespace attn
