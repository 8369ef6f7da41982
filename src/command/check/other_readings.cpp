#include "command/check/other_readings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "command/check/arranged_matrices.hpp"
#include "command/check/inputs_in_file.hpp"
#include "core/math/rows.hpp"
#include "core/support/number.hpp"
#include "school/check/matching.hpp"
#include "school/check/names.hpp"

namespace attn {

namespace {

// A square weight whose name does not say whether it is (in, out).
bool may_be_turned(const MatrixFile& file) {
  static constexpr std::array weights = {&role::w_q, &role::w_k,    &role::w_v, &role::w_o,
                                         &role::w_1, &role::w_gate, &role::w_2};
  const Shape shape = file.matrix.shape();
  return file.count == 1 && shape.rows == shape.columns && !is_linear_weight(name_in_all_heads(file.name)) &&
         std::ranges::find(weights, role_of(file)) != weights.end() && file.matrix != transposed(file.matrix);
}

Matrix opposite(const Matrix& mask) {
  Matrix other = mask;
  for (double& x : cells(other)) x = 1.0 - x;
  return other;
}

// A mask of which either number may permit. One that leaves every query a key is not read so that it leaves one none.
bool may_be_opposite(const MatrixFile& file) {
  if (!is_mask(file) || !holds_permissions(file.matrix)) return false;
  const auto leaves_one_none = [&](double permits) {
    for (std::size_t i = 0; i < file.matrix.shape().rows; ++i) {
      const std::span<const double> own = row(file.matrix, i);
      if (std::ranges::find(own, permits) == own.end()) return true;
    }
    return false;
  };
  return leaves_one_none(1.0) || !leaves_one_none(0.0);
}

}  // namespace

std::vector<OtherReading> other_readings(const std::vector<MatrixFile>& files) {
  OtherReading turned{{}, transposed, "read as (out, in)"},
      opposite_masks{{}, opposite, "read as 1 or true where a key is masked, as PyTorch's nn.MultiheadAttention does"};
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (may_be_turned(files[i])) turned.places.push_back(i);
    if (may_be_opposite(files[i])) opposite_masks.places.push_back(i);
  }
  std::vector<OtherReading> all;
  for (OtherReading& one : std::array{std::move(turned), std::move(opposite_masks)}) {
    if (!one.places.empty()) all.push_back(std::move(one));
  }
  return all;
}

void read_otherwise(NamedMatrices& all, const OtherReading& reading) {
  std::vector<std::string> names;
  for (const std::size_t place : reading.places) {
    MatrixFile& file = all.matrices[place];
    file.matrix = reading.read(file.matrix);
    names.push_back(file.name);
  }
  all.doubts.push_back(fmt::format("{0} {1:is|are} {2}, which the file does not say.", names_for_sentence(names),
                                   Count{names.size()}, reading.so));
}

}  // namespace attn
