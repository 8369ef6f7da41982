#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "data/files/matrix_file.hpp"

namespace attn {

struct MatchedMatrices;

/// The steps of a decoder with a cache, as they are rows of one computation of all words.
struct StepsInFile {
  std::size_t count = 0;                // 0: the file has none
  std::size_t words_in_first_step = 1;  // each further one has one
  /// The first step at which a matrix has other rows than it can have there, or no longer those of the step before.
  std::map<std::string, std::size_t> broken_at = {};

  /// The step, from 1, that computes a row.
  std::size_t of_row(std::size_t row) const { return row < words_in_first_step ? 1 : row - words_in_first_step + 2; }
};

/// Joins the matrices of each step, such as step.1.q and step.2.k, to those of all words. The rows of new words follow
/// each other; of a cache, that of the last step is taken; weights get zeros for the words that are not there yet. What
/// cannot be joined, or contradicts an earlier step, is told in the remarks. Nothing is changed where no name has
/// steps.
StepsInFile join_steps(NamedMatrices& all);

/// The first step at which something differs from the computation, and the matrix that does so first there; nothing: no
/// step does.
struct StepThatDiffers {
  std::size_t step;
  std::string matrix;
};
std::optional<StepThatDiffers> first_that_differs(const StepsInFile& steps, const MatchedMatrices& matched);

}  // namespace attn
