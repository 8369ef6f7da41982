#include "core/math/random.hpp"

#include <fmt/format.h>

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

namespace {

// What std::mersenne_twister_engine takes its state from: init_by_array of mt19937ar.c (Matsumoto and Nishimura 2002).
class SeedAndName {
 public:
  using result_type = std::uint32_t;

  SeedAndName(std::uint32_t seed, std::string_view name) : seed_(seed), name_(name) {}

  template <class Word>
  void generate(Word* state, const Word* end) const {
    const auto size = static_cast<std::size_t>(end - state), length = 1 + name_.size();
    state[0] = 19650218;
    for (std::uint32_t i = 1; i < size; ++i) state[i] = 1812433253 * bent(state[i - 1]) + i;
    std::size_t i = 1;
    const auto next = [&] {
      if (++i < size) return;
      state[0] = state[size - 1];
      i = 1;
    };
    for (std::size_t k = 0; k < std::max(size, length); ++k) {
      const std::size_t j = k % length;
      state[i] = (state[i] ^ (bent(state[i - 1]) * 1664525)) + key(j) + static_cast<std::uint32_t>(j);
      next();
    }
    for (std::size_t k = 1; k < size; ++k) {
      state[i] = (state[i] ^ (bent(state[i - 1]) * 1566083941)) - static_cast<std::uint32_t>(i);
      next();
    }
    state[0] = 0x80000000;
  }

 private:
  static std::uint32_t bent(std::uint32_t word) { return word ^ (word >> 30); }
  std::uint32_t key(std::size_t j) const { return j == 0 ? seed_ : static_cast<unsigned char>(name_[j - 1]); }

  std::uint32_t seed_;
  std::string_view name_;
};

}  // namespace

Generator generator_of(std::uint32_t seed, std::string_view name) {
  SeedAndName all(seed, name);
  return Generator(all);
}

const DrawnFrom* DrawnMatrices::of(const Matrix& matrix) const {
  if (matrix.stored() || matrix.size() == 0) return nullptr;
  const auto has_its_cells = [&](const std::pair<Matrix, DrawnFrom>& one) {
    return one.first.data() == matrix.data() && one.first.shape() == matrix.shape();
  };
  const auto found = std::ranges::find_if(all_, has_its_cells);
  return found == all_.end() ? nullptr : &found->second;
}

Matrix RandomSource::draw(const RandomMatrix& asked, Spread spread) {
  constexpr std::uint64_t work_of_number = 16, work_of_generator = 4000;
  const auto [from, to] = spread;
  const Shape shape = asked.shape;
  Budget::take_work(work_of_number * shape.cells());
  Matrix matrix(shape);
  DrawnFrom how{.seed = seed_, .from = from, .to = to};
  const auto next = [from = from, to = to](Generator& generator) { return from + (to - from) * uniform(generator); };
  const auto generator_for = [&](std::string_view label) {
    Budget::take_work(work_of_generator);
    return generator_of(seed_, fmt::format("{}[{}]", asked.name, label));
  };
  if (kind_.drawn_by == DrawnBy::order) {
    how.before = count_;
    for (double& cell : cells(matrix)) cell = next(in_order_);
    count_ += shape.cells();
  } else if (how.name = asked.name; !asked.row_labels.empty()) {
    how.labels.assign(asked.row_labels.begin(), asked.row_labels.end());
    for (std::size_t i = 0; i < shape.rows; ++i) {
      Generator generator = generator_for(how.labels.at(i));
      for (double& cell : row(matrix, i)) cell = next(generator);
    }
  } else if (!asked.column_labels.empty()) {
    how.labels.assign(asked.column_labels.begin(), asked.column_labels.end());
    how.by_column = true;
    for (std::size_t j = 0; j < shape.columns; ++j) {
      Generator generator = generator_for(how.labels.at(j));
      for (std::size_t i = 0; i < shape.rows; ++i) matrix(i, j) = next(generator);
    }
  } else {
    Budget::take_work(work_of_generator);
    Generator generator = generator_of(seed_, asked.name);
    for (double& cell : cells(matrix)) cell = next(generator);
  }
  drawings_.add(matrix, std::move(how));
  return matrix;
}

// Uniform on [−√3, √3] has variance one.
Spread unit_variance(Shape) { return {-std::sqrt(3.0), std::sqrt(3.0)}; }

// Glorot and Bengio 2010: a projection keeps roughly the variance of what it projects.
Spread glorot(Shape shape) {
  const double limit = std::sqrt(6.0 / static_cast<double>(shape.rows + shape.columns));
  return {-limit, limit};
}

Spread from_zero_to_one(Shape) { return {0.0, 1.0}; }

std::span<const RandomKind> random_kinds() {
  static constexpr std::array kinds = {random_kind::by_name, random_kind::numpy};
  return kinds;
}

}  // namespace attn
