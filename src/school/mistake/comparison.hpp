#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/graph/graph.hpp"
#include "core/math/difference.hpp"
#include "core/math/rounding.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

/// How exactly somebody else's numbers can be compared: at the decimals that a text has, or at the type of the numbers,
/// or at the decimals that they were rounded to before they were stored in it. `largest` is the largest of the right
/// numbers: decimals that are finer than what the type of theirs loses of such numbers do not count.
/// Numbers of 32 bits that were stored in more are told by their bits. What is written without a point is compared as
/// float64. Digits count only where a text has them ("%e"), or where numbers that were cut at so many digits ("%g")
/// leave out decimals that rounding at decimals would not. Without a notation, the decimals are those of the shortest
/// decimals that read back as these numbers.
Rounding rounding_of(const Matrix& theirs, Precision precision, double largest,
                     const std::optional<NumberNotation>& notation = std::nullopt);
/// The same of a file. Of JSON whose numbers are 0.0 and 1.0 alone, the decimals are those beside it in its file, as
/// decimals_in() says; below 0: it does not say.
Rounding rounding_of(const MatrixFile& theirs, double largest, int decimals_beside = -1);

/// The most decimals that a number in JSON has, where zeros at the end are left out; below 0: too few numbers have any,
/// or one has so many that they were not rounded.
int decimals_in(std::span<const MatrixFile> files);

/// A large negative number, or one of several, that stands in somebody's scores where the right ones are −∞: by
/// agreement, because its weight is 0. Nothing: there is none.
std::optional<double> mask_value(const Node& node, const Matrix& theirs, const Matrix& right);
/// Whether they differ in that alone.
bool differs_in_mask_value(const Node& node, const Matrix& theirs, const Matrix& right, const Rounding& rounding);

/// A matrix of somebody else, and the one of the computation that it is compared with.
struct ComparedMatrix {
  std::string name;  // that it has in its file
  const Node* node;
  std::shared_ptr<const Matrix> theirs;
  Rounding rounding;
  Difference difference;  // from that of the node
};

}  // namespace attn
