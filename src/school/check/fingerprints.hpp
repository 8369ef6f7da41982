#pragma once

#include <optional>
#include <string>
#include <vector>

#include "school/mistake/comparison.hpp"

namespace attn {

/// Somebody's matrix beside the one that it should be.
struct FingerprintSubject {
  const Node& node;
  const Matrix& theirs;
  const Matrix& right;
  const Rounding& rounding;
  const Difference& difference;
};

/// What can be seen of a matrix that differs before any mistake is tried.
struct Fingerprints {
  std::vector<std::string> sentences;
  std::string summary;    // the one that says most of a cause; empty where none does
  bool identify = false;  // the last one says what the matrix is: the transpose, another matrix, a multiple
};

/// Its shape, its sums, which rows are right, a factor, an order. They are the rows of a table, in its order,
/// up to one that identifies the matrix.
Fingerprints fingerprints(const FingerprintSubject& seen);

/// What every right number was multiplied by; nothing: there is no such factor but 1.
std::optional<double> factor_of(const FingerprintSubject& seen);

/// "1, 2 and 5 to 9", counted from 1.
std::string written_places(const std::vector<std::size_t>& places);

}  // namespace attn
