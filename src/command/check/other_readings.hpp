#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "command/command.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

/// A reading of a file's matrices that is as possible as the first: neither names nor shapes tell them apart.
struct OtherReading {
  std::vector<std::size_t> places;  // of the matrices that are read otherwise
  Matrix (*read)(const Matrix& matrix);
  std::string_view so;  // "they are read … "
};

std::vector<OtherReading> other_readings(const std::vector<MatrixFile>& files);

/// Reads matrices so, and says it.
void read_otherwise(NamedMatrices& all, const OtherReading& reading);

}  // namespace attn
