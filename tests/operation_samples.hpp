#pragma once

#include <random>
#include <span>
#include <string_view>

#include "core/graph/graph.hpp"

namespace attn {

/// The sizes of a sample's operands: mostly m rows and n columns, with k in between.
struct SampleSizes {
  std::size_t m = 2, k = 3, n = 4;
};

/// Makes the operands of samples.
class Samples {
 public:
  explicit Samples(Graph& graph, SampleSizes sizes = {}, std::uint32_t seed = 1)
      : graph(graph), m(sizes.m), k(sizes.k), n(sizes.n), generator_(seed) {}

  /// Numbers of both signs.
  Value matrix(std::string_view name, Shape shape);
  /// Zeros and ones, and a row of zeros where there are several rows.
  Value allowed(Shape shape);
  /// Weights: positive numbers, of which each row has the sum 1.
  Value weights(std::string_view name, Shape shape);
  /// Numbers from 1 to `words`, one in each row.
  Value ids(std::size_t count, std::size_t words);

  Graph& graph;
  const std::size_t m, k, n;

 private:
  std::mt19937 generator_;
};

/// One operation on operands that are made for it.
struct OperationSample {
  std::string_view name;
  Value (*apply)(Samples& from);
  bool has_gradient = true;  // or else it says that it has none
};

/// At least one for each operation.
std::span<const OperationSample> operation_samples();

}  // namespace attn
