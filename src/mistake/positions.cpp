#include <array>
#include <cmath>
#include <numbers>

#include "mistake/parts.hpp"
#include "op/known.hpp"

// Mistakes with sines and cosines of positions, and with the numbers of positions.

namespace attn {
namespace {

bool even(std::size_t column, std::size_t) {
  return column % 2 == 0;
}
std::string no_columns(std::size_t) {
  return "";
}

/// A sinusoid as it is computed: the order of its columns and its waves.
struct Known {
  const SinusoidLayout& layout;
  Waves waves;
  const Node& node;

  double size() const { return static_cast<double>(node.frame.shape.columns); }
  bool is(std::size_t layout_in_table) const { return &layout == &sinusoid_layouts()[layout_in_table]; }
  Value with(const SinusoidLayout& other, Waves others, Rewriting& again) const {
    return sinusoid(again.graph(), other, node.frame, others);
  }
  Value with(const SinusoidLayout& other, Rewriting& again) const { return with(other, waves, again); }
  Value with_base(double base, Rewriting& again) const { return with(layout, {waves.first, base}, again); }
};
constexpr std::size_t beside_each_other = 0, one_half_each = 1;

std::optional<Known> known(const Node& node) {
  const SinusoidLayout* const layout = node.operation ? layout_of(*node.operation) : nullptr;
  if (!layout) return std::nullopt;
  return Known{*layout, *waves_of(*node.operation), node};
}

// Every column has a frequency of its own, counted as if there were d of them.
constexpr SinusoidLayout by_column = {"by column", "", [](std::size_t column, std::size_t) { return column; },
                                      even, no_columns};

constexpr SinusoidLayout one_frequency = {"one", "", [](std::size_t, std::size_t) { return std::size_t{0}; },
                                          even, no_columns};

constexpr SinusoidLayout cosine_first = {
    "cosine first", "", [](std::size_t column, std::size_t) { return column / 2; },
    [](std::size_t column, std::size_t) { return column % 2 == 1; }, no_columns};

constexpr SinusoidLayout cosines_first = {
    "cosines first", "",
    [](std::size_t column, std::size_t size) {
      const std::size_t cosines = size / 2;
      return column < cosines ? column : column - cosines;
    },
    [](std::size_t column, std::size_t size) { return column >= size / 2; }, no_columns};

Made exponent_by_column(const Node& node, Rewriting& again) {
  const auto now = known(node);
  return now && now->is(beside_each_other) ? Made(now->with(by_column, again)) : std::nullopt;
}

// base^(column/d) = (√base)^(2 column/d)
Made cosine_slower(const Node& node, Rewriting& again) {
  const auto now = known(node);
  if (!now || !now->is(beside_each_other)) return std::nullopt;
  return now->with(by_column, {now->waves.first, std::sqrt(now->waves.base)}, again);
}

Made without_two(const Node& node, Rewriting& again) {
  const auto now = known(node);
  return now ? Made(now->with_base(std::sqrt(now->waves.base), again)) : std::nullopt;
}

Made multiplied(const Node& node, Rewriting& again) {
  const auto now = known(node);
  return now ? Made(now->with_base(1.0 / now->waves.base, again)) : std::nullopt;
}

// exp(2j · floor(−ln base / d / 2)), as Python reads −log(base) / d // 2: a base of its own, e^(d · rate).
Made floored_exponent(const Node& node, Rewriting& again) {
  const auto now = known(node);
  if (!now) return std::nullopt;
  const double rate = -std::floor(-std::log(now->waves.base) / now->size() / 2.0);
  return now->with_base(std::exp(now->size() * rate), again);
}

Made integer_exponent(const Node& node, Rewriting& again) {
  const auto now = known(node);
  return now && now->is(beside_each_other) ? Made(now->with(one_frequency, again)) : std::nullopt;
}

Made in_halves(const Node& node, Rewriting& again) {
  const auto now = known(node);
  if (!now || !now->is(beside_each_other)) return std::nullopt;
  return now->with(sinusoid_layouts()[one_half_each], again);
}

Made in_pairs(const Node& node, Rewriting& again) {
  const auto now = known(node);
  if (!now || !now->is(one_half_each)) return std::nullopt;
  return now->with(sinusoid_layouts()[beside_each_other], again);
}

Made exchanged(const Node& node, Rewriting& again) {
  const auto now = known(node);
  if (!now) return std::nullopt;
  return now->with(now->is(beside_each_other) ? cosine_first : cosines_first, again);
}

// base^(j/(d/2 − 1)), in halves: so the last of d/2 waves has the length of the base itself.
Made up_to_the_base(const Node& node, Rewriting& again) {
  const auto now = known(node);
  const std::size_t frequencies = node.frame.shape.columns / 2;
  if (!now || frequencies < 2 || node.frame.shape.columns % 2 == 1) return std::nullopt;
  const double stretched = now->size() / 2.0 / static_cast<double>(frequencies - 1);
  return now->with(sinusoid_layouts()[one_half_each],
                   {now->waves.first, std::pow(now->waves.base, stretched)}, again);
}

// Radians that were taken for degrees.
Made in_degrees(const Node& node, Rewriting& again) {
  const auto now = known(node);
  if (!now) return std::nullopt;
  const std::size_t d = node.frame.shape.columns;
  Matrix table(node.frame.shape);
  for (std::size_t i = 0; i < table.shape().rows; ++i) {
    for (std::size_t j = 0; j < d; ++j) {
      const double exponent = 2.0 * static_cast<double>(now->layout.frequency(j, d)) / now->size();
      const double angle = static_cast<double>(now->waves.first + i) / std::pow(now->waves.base, exponent) *
                           std::numbers::pi / 180.0;
      table(i, j) = now->layout.is_sine(j, d) ? std::sin(angle) : std::cos(angle);
    }
  }
  return again.input_like(node, std::move(table));
}

Made counted_from_1(const Node& node, Rewriting& again) {
  if (const auto now = known(node))
    return now->with(now->layout, {now->waves.first + 1, now->waves.base}, again);
  const bool turns = node.is(role::rotated_q) || node.is(role::rotated_k);
  if (turns && node.operation) {
    Waves waves = *waves_of(*node.operation);
    ++waves.first;
    return rotate(again.of(*node.operands[0]), waves);
  }
  // Some rows of a learned table, of which one more is left.
  const Node* const learned = node.is(role::positions) ? operand(node, 0) : nullptr;
  if (!learned || node.frame.shape.rows + 1 > learned->frame.shape.rows) return std::nullopt;
  const std::optional<std::size_t> first = first_of_slice(*node.operation);
  return first ? Made(rows(again.of(*learned), *first + 1, node.frame.shape.rows)) : std::nullopt;
}

constexpr std::array table = {
    Mistake{"exponent-counts-columns", error, "the exponent 2·column/d in every column",
            "This is what the exponent 2·column/d gives in every column. A sine and the cosine beside it "
            "share a frequency: take 2·⌊column/2⌋/d, with columns counted from 0.",
            exponent_by_column},
    Mistake{"cosine-has-its-own-frequency", error, "the exponent column/d in every column",
            "This is what the exponent column/d gives in every column. A sine and the cosine beside it share "
            "a frequency: in both the exponent is 2j/d with the same j.",
            cosine_slower},
    Mistake{"exponent-without-2", error, "the exponent j/d instead of 2j/d",
            "This is what the exponent j/d gives. It is 2j/d.", without_two},
    Mistake{"frequency-multiplied", error, "positions multiplied instead of divided",
            "This is what multiplication by the power of the base gives. Divide the position by it, so that "
            "later columns change more slowly.",
            multiplied},
    Mistake{"exponent-floored", error, "the exponent rounded down to a whole number",
            "This is what comes out when −ln(base) / d // 2 is rounded down before it is multiplied, as "
            "Python evaluates it from left to right. Compute exp(−2j ln(base) / d) without rounding.",
            floored_exponent},
    Mistake{"exponent-is-zero", error, "the exponent 2j/d rounded to 0",
            "This is what comes out when 2j/d is divided as whole numbers and becomes 0: all columns have "
            "the frequency 1. Divide as real numbers.",
            integer_exponent},
    Mistake{"sines-then-cosines", convention, "all sines before all cosines",
            "These are the same sines and cosines with all sines first, as tensor2tensor has them. Here each "
            "cosine stands beside its sine, as in the paper. Either order can be used, as long as it stays "
            "the same.",
            in_halves},
    Mistake{
        "sines-beside-cosines", convention, "each cosine beside its sine",
        "These are the same sines and cosines with each cosine beside its sine, as in the paper on the "
        "Transformer. Here all sines stand first. Either order can be used, as long as it stays the same.",
        in_pairs},
    Mistake{"cosines-first", convention, "sine and cosine exchanged",
            "These are the numbers with sine and cosine exchanged, as some diffusion models have them. Here "
            "the sine comes first.",
            exchanged},
    Mistake{"waves-up-to-the-base", convention, "the exponent j/(d/2 − 1)",
            "This is what the exponent j/(d/2 − 1) gives with all sines first, as in tensor2tensor: the last "
            "wave is 2π·base long. In the formula of the paper the exponent is 2j/d.",
            up_to_the_base},
    Mistake{"degrees", error, "angles in degrees",
            "This is what angles in degrees give. They are in radians: switch the calculator to radians.",
            in_degrees},
    Mistake{"positions-from-1", error, "positions counted from 1",
            "This is what positions counted from 1 give. The first position counts as 0.", counted_from_1},
};

}  // namespace

std::span<const Mistake> mistakes_of_positions() {
  return table;
}

}  // namespace attn
