#include "core/math/random.hpp"

#include <array>
#include <cmath>
#include <cstdint>

#include "core/support/error.hpp"

namespace attn {

double uniform(Generator& generator) {
  const auto high = static_cast<double>(generator() >> 5);
  const auto low = static_cast<double>(generator() >> 6);
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

namespace {

Matrix uniform_matrix(Generator& generator, Shape shape, double low, double high) {
  constexpr std::uint64_t work_of_number = 16;
  Budget::take_work(work_of_number * shape.cells());
  Matrix matrix(shape);
  for (double& cell : cells(matrix)) cell = low + (high - low) * uniform(generator);
  return matrix;
}

// Uniform on [−√3, √3] has variance one; parameters follow Glorot and Bengio 2010, so that a projection keeps
// roughly the variance of what it projects.
class OwnSource final : public RandomSource {
 public:
  explicit OwnSource(std::uint32_t seed) : generator_(seed) {}

  Matrix embeddings(Shape shape) override { return uniform_matrix(generator_, shape, -std::sqrt(3.0), std::sqrt(3.0)); }
  Matrix parameter(Shape shape) override {
    const double limit = std::sqrt(6.0 / static_cast<double>(shape.rows + shape.columns));
    return uniform_matrix(generator_, shape, -limit, limit);
  }

 private:
  Generator generator_;
};

class NumpySource final : public RandomSource {
 public:
  explicit NumpySource(std::uint32_t seed) : generator_(seed) {}

  Matrix embeddings(Shape shape) override { return uniform_matrix(generator_, shape, 0.0, 1.0); }
  Matrix parameter(Shape shape) override { return uniform_matrix(generator_, shape, 0.0, 1.0); }

 private:
  Generator generator_;
};

template <class Source>
std::unique_ptr<RandomSource> make(std::uint32_t seed) {
  return std::make_unique<Source>(seed);
}

constexpr std::array kinds = {
    RandomKind{"attn", "uniform embeddings of variance 1, Glorot-uniform parameters", make<OwnSource>},
    RandomKind{"numpy", "NumPy's legacy generator: numpy.random.seed(SEED), then numpy.random.rand", make<NumpySource>},
};

}  // namespace

std::span<const RandomKind> random_kinds() { return kinds; }

}  // namespace attn
