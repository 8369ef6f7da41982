#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command/check.hpp"
#include "command/check/steps_in_file.hpp"
#include "school/check/findings.hpp"
#include "school/check/matching.hpp"

namespace attn {

/// The matrices of --against, and the steps of which they were joined: hung on the arguments.
struct MatricesToCompare {
  std::shared_ptr<const NamedMatrices> all = {};
  StepsInFile steps = {};
};

/// Whether the line says what the problem is, in another way than by its matrices.
bool gives_problem(const Arguments& arguments);

/// Somebody's matrices beside a computation, and what explains them.
struct CheckResult {
  MatchedMatrices matched;
  Findings findings;

  /// Whether all agrees or, where `conventions_agree`, differs by what can be conventions.
  bool passes(bool conventions_agree) const;
};

/// Compares the file of --against with what was computed. Throws InputError where no matrix of it can be compared.
CheckResult check_result(Graph& graph, const Arguments& arguments);

/// The options of a line that say how something is computed, and not from which numbers, as they are typed: "--causal",
/// "--heads 2".
std::vector<std::string> typed_again(const Arguments& arguments);

}  // namespace attn
