#include <fmt/format.h>

#include <array>
#include <cmath>

#include "op/operations.hpp"

namespace attn {
namespace {

// Which of the frequencies a column has, counted from 0.
std::size_t interleaved(std::size_t column, std::size_t) {
  return column / 2;
}
std::size_t concatenated(std::size_t column, std::size_t size) {
  const std::size_t sines = (size + 1) / 2;
  return column < sines ? column : column - sines;
}

constexpr std::array table = {
    SinusoidLayout{"interleaved", "sine and cosine of one frequency beside each other", interleaved,
                   [](std::size_t column, std::size_t) { return column % 2 == 0; },
                   [](std::size_t) { return std::string("2j+1, 2j+2"); }},
    SinusoidLayout{"concatenated", "all sines, then all cosines", concatenated,
                   [](std::size_t column, std::size_t size) { return column < (size + 1) / 2; },
                   [](std::size_t size) { return fmt::format("j+1, {}+j", (size + 1) / 2 + 1); }},
};

class Sinusoid final : public Operation {
 public:
  Sinusoid(const SinusoidLayout& layout, Frame result, std::size_t first)
      : layout_(layout), result_(std::move(result)), first_(first) {}

  std::string_view name() const override { return "sinusoid"; }

  Frame frame(Operands) const override { return result_; }

  void compute(std::span<const Rows>, RowsToMake result) const override {
    for (std::size_t j = 0; j < result.shape.columns; ++j) {
      const double divisor = divisor_of(j);
      const Function& wave = wave_of(j);
      for (std::size_t i = result.first; i < result.end(); ++i) {
        result.row(i)[j] = wave.evaluate(static_cast<double>(first_ + i) / divisor);
      }
    }
  }

  Formula formula(std::span<const Formula>) const override {
    const std::string columns = layout_.columns(result_.shape.columns);
    return {"sin, cos(i / 10000^(2j/d)) in columns " + columns,
            "\\sin, \\cos\\left(\\frac{i}{10000^{2j/d}}\\right) \\text{ in columns } " + columns};
  }

  Explanation explain(Operands, std::size_t row, std::size_t column) const override {
    const std::size_t twice = 2 * layout_.frequency(column, result_.shape.columns);
    const Formula divisor = {fmt::format("10000^({}/{})", twice, result_.shape.columns),
                             fmt::format("10000^{{{}/{}}}", twice, result_.shape.columns)};
    return {call(wave_of(column),
                 number(static_cast<double>(first_ + row)) / number(divisor_of(column), divisor)),
            "the first position counts as 0"};
  }

  Cost cost(std::span<const Shape>) const override { return {.element_operations = result_.shape.cells()}; }

 private:
  double divisor_of(std::size_t column) const {
    const auto frequency = static_cast<double>(layout_.frequency(column, result_.shape.columns));
    return std::pow(10000.0, 2.0 * frequency / static_cast<double>(result_.shape.columns));
  }
  const Function& wave_of(std::size_t column) const {
    return layout_.is_sine(column, result_.shape.columns) ? sine : cosine;
  }

  const SinusoidLayout& layout_;
  Frame result_;
  std::size_t first_;
};

}  // namespace

std::span<const SinusoidLayout> sinusoid_layouts() {
  return table;
}

Value sinusoid(Graph& graph, const SinusoidLayout& layout, Frame frame, std::size_t first) {
  return graph.apply(std::make_unique<const Sinusoid>(layout, std::move(frame), first), {});
}

}  // namespace attn
