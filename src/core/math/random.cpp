#include "core/math/random.hpp"

#include <algorithm>
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

const DrawnFrom* DrawnMatrices::of(const Matrix& matrix) const {
  if (matrix.stored() || matrix.size() == 0) return nullptr;
  const auto has_its_cells = [&](const std::pair<Matrix, DrawnFrom>& one) {
    return one.first.data() == matrix.data() && one.first.shape() == matrix.shape();
  };
  const auto found = std::ranges::find_if(all_, has_its_cells);
  return found == all_.end() ? nullptr : &found->second;
}

Matrix RandomSource::draw(Shape shape, double from, double to) {
  constexpr std::uint64_t work_of_number = 16;
  Budget::take_work(work_of_number * shape.cells());
  Matrix matrix(shape);
  for (double& cell : cells(matrix)) cell = from + (to - from) * uniform(generator_);
  drawings_.add(matrix, {.seed = seed_, .before = count_, .from = from, .to = to});
  count_ += shape.cells();
  return matrix;
}

namespace {

// Uniform on [−√3, √3] has variance one; parameters follow Glorot and Bengio 2010, so that a projection keeps
// roughly the variance of what it projects.
class OwnSource final : public RandomSource {
 public:
  using RandomSource::RandomSource;

  Matrix embeddings(Shape shape) override { return draw(shape, -std::sqrt(3.0), std::sqrt(3.0)); }
  Matrix parameter(Shape shape) override {
    const double limit = std::sqrt(6.0 / static_cast<double>(shape.rows + shape.columns));
    return draw(shape, -limit, limit);
  }
};

class NumpySource final : public RandomSource {
 public:
  using RandomSource::RandomSource;

  Matrix embeddings(Shape shape) override { return draw(shape, 0.0, 1.0); }
  Matrix parameter(Shape shape) override { return draw(shape, 0.0, 1.0); }
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
