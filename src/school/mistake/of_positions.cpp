#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "core/op/gradient_operations.hpp"
#include "school/mistake/amounts.hpp"
#include "school/mistake/numbers.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// Mistakes with sines and cosines of positions, and with the numbers of positions.

namespace {

bool even(std::size_t column, std::size_t) { return column % 2 == 0; }
std::string no_columns(std::size_t) { return ""; }

// --- a sinusoid as it is computed: the order of its columns and its waves

enum SinusoidColumns : std::size_t { interleaved, one_half_each };

bool is_sinusoid(const Node& node) { return node.find(setting::layout) != nullptr; }
template <SinusoidColumns layout>
bool has_layout(const Node& node) {
  return is_sinusoid(node) && *node.find(setting::layout) == &sinusoid_layouts()[layout];
}

Value with_layout(RewriteSite at, const SinusoidLayout& layout, Waves waves) {
  return sinusoid(at.rewriting.graph(), layout, at.node.frame, waves);
}
Value with_waves(RewriteSite at, Waves waves) { return with_layout(at, **at.node.find(setting::layout), waves); }

// Every column has a frequency of its own, counted as if there were d of them.
constexpr SinusoidLayout by_column = {"by column", "", [](std::size_t column, std::size_t) { return column; }, even,
                                      no_columns};

constexpr SinusoidLayout one_frequency = {"one", "", [](std::size_t, std::size_t) { return std::size_t{0}; }, even,
                                          no_columns};

constexpr SinusoidLayout cosine_first = {"cosine first", "", [](std::size_t column, std::size_t) { return column / 2; },
                                         [](std::size_t column, std::size_t) { return column % 2 == 1; }, no_columns};

constexpr SinusoidLayout cosines_first = {"cosines first", "",
                                          [](std::size_t column, std::size_t size) {
                                            const std::size_t cosines = size / 2;
                                            return column < cosines ? column : column - cosines;
                                          },
                                          [](std::size_t column, std::size_t size) { return column >= size / 2; },
                                          no_columns};

// exp(2j · floor(−ln base / d / 2)), as Python reads −log(base) / d // 2: a base of its own, e^(d · rate).
Made floored_exponent(RewriteSite at) {
  const auto d = static_cast<double>(at.node.frame.shape.columns);
  const double rate = -std::floor(-std::log(waves(at).base) / d / 2.0);
  return with_waves(at, with_base(at, std::exp(d * rate)));
}

// base^(j/(d/2 − 1)), in halves: so the last of d/2 waves has the length of the base itself.
bool has_two_waves(const Node& node) {
  const std::size_t d = node.frame.shape.columns;
  return is_sinusoid(node) && d >= 4 && d % 2 == 0;
}
Made up_to_the_base(RewriteSite at) {
  const double half = static_cast<double>(at.node.frame.shape.columns) / 2.0;
  const double base = std::pow(waves(at).base, half / (half - 1.0));
  return with_layout(at, sinusoid_layouts()[one_half_each], with_base(at, base));
}

// The same sinusoid at positions that begin with another number and are apart by another one.
enum class OnlyWaves { both, sines, cosines };
Made waves_table(RewriteSite at, double begin, double apart, OnlyWaves only = OnlyWaves::both) {
  const SinusoidLayout& layout = **at.node.find(setting::layout);
  const Waves own = waves(at);
  Matrix table(at.node.frame.shape);
  const auto [words, d] = table.shape();
  for (std::size_t i = 0; i < words; ++i) {
    for (std::size_t j = 0; j < d; ++j) {
      const double exponent = 2.0 * static_cast<double>(layout.frequency(j, d)) / static_cast<double>(d);
      const double position = begin + static_cast<double>(own.positions[i]) * apart;
      const double angle = position / std::pow(own.base, exponent);
      const bool is_sine = only == OnlyWaves::both ? layout.is_sine(j, d) : only == OnlyWaves::sines;
      table(i, j) = is_sine ? std::sin(angle) : std::cos(angle);
    }
  }
  return at.like(std::move(table));
}

// Radians that were taken for degrees.
Made in_degrees(RewriteSite at) { return waves_table(at, 0.0, std::numbers::pi / 180.0); }

// Some rows of a learned table, of which one more is left.
bool has_learned_rows(const Node& node) {
  const Node* const learned = node.is(role::positions) ? operand(node, 0) : nullptr;
  const std::optional<std::size_t> first = learned ? first_of_slice(node) : std::nullopt;
  return first && *first + node.frame.shape.rows < learned->frame.shape.rows;
}
// Rows of a learned table that are not its first ones.
bool begins_later(const Node& node) {
  return node.is(role::positions) && operand(node, 0) && first_of_slice(node).value_or(0) > 0;
}
bool counts_all(const Node& node) {
  return is_sinusoid(node) && waves_of(node)->positions.follow_each_other() && waves_of(node)->positions.first() == 0;
}
bool counts_positions(const Node& node) { return is_sinusoid(node) || turns(node) || has_learned_rows(node); }
Made counted_from_1(RewriteSite at) {
  if (is_sinusoid(at.node)) return with_waves(at, one_later(at));
  if (turns(at.node)) return rotate(at[0], one_later(at));
  return rows(at[0], *first_of_slice(at.node) + 1, at.node.frame.shape.rows);
}

constexpr Mistake mistakes_in_positions[] = {
    {"positions-from-1", error, "positions counted from 1",
     "This is what positions counted from 1 give. The first position counts as 0.", counts_positions, counted_from_1},
    {"exponent-counts-columns", error, "the exponent 2·column/d in every column",
     "This is what the exponent 2·column/d gives in every column. "
     "A sine and the cosine beside it share a frequency: take 2·⌊column/2⌋/d, with columns counted from 0.",
     has_layout<interleaved>, [](RewriteSite at) -> Made { return with_layout(at, by_column, waves(at)); }},
    {"cosine-has-its-own-frequency", error, "the exponent column/d in every column",
     "This is what the exponent column/d gives in every column. "
     "A sine and the cosine beside it share a frequency: in both the exponent is 2j/d with the same j.",
     // base^(column/d) = (√base)^(2 column/d)
     has_layout<interleaved>,
     [](RewriteSite at) -> Made { return with_layout(at, by_column, with_base(at, std::sqrt(waves(at).base))); }},
    {"exponent-without-2", error, "the exponent j/d instead of 2j/d",
     "This is what the exponent j/d gives. It is 2j/d.", is_sinusoid,
     [](RewriteSite at) -> Made { return with_waves(at, with_base(at, std::sqrt(waves(at).base))); }},
    {"exponent-doubled", error, "the exponent 4j/d instead of 2j/d",
     "This is what the exponent 4j/d gives, as when 2j is taken for j: columns are counted in steps of two, and then doubled again. "
     "It is 2j/d.",
     is_sinusoid,
     [](RewriteSite at) -> Made { return with_waves(at, with_base(at, waves(at).base * waves(at).base)); }},
    {"sines-alone", error, "sines in all columns",
     "This is what sines give in all columns. Every second column is a cosine.", is_sinusoid,
     [](RewriteSite at) { return waves_table(at, 0.0, 1.0, OnlyWaves::sines); }},
    {"cosines-alone", error, "cosines in all columns",
     "This is what cosines give in all columns. Every second column is a sine.", is_sinusoid,
     [](RewriteSite at) { return waves_table(at, 0.0, 1.0, OnlyWaves::cosines); }},
    {"position-restarted", error, "positions that begin again with 0",
     "This is what comes out when positions begin again with 0. "
     "Take the position of each row, which does not begin with 0 here.",
     [](const Node& node) { return is_sinusoid(node) && waves_of(node)->positions.first() != 0; },
     [](RewriteSite at) -> Made { return with_waves(at, {.base = waves(at).base}); }},
    {"learned-position-restarted", error, "the first rows of the position table",
     "This is what the first rows of the table of positions give. "
     "Take the row of each word's own position.",
     begins_later, [](RewriteSite at) -> Made { return rows(at[0], 0, at.node.frame.shape.rows); }},
    {"frequency-multiplied", error, "positions multiplied instead of divided",
     "This is what multiplication by the power of the base gives. "
     "Divide the position by it, so that later columns change more slowly.",
     is_sinusoid, [](RewriteSite at) -> Made { return with_waves(at, with_base(at, 1.0 / waves(at).base)); }},
    {"exponent-floored", error, "the exponent rounded down to a whole number",
     "This is what comes out when −ln(base) / d // 2 is rounded down before it is multiplied, as Python evaluates it from left to right. "
     "Compute exp(−2j ln(base) / d) without rounding.",
     is_sinusoid, floored_exponent},
    {"exponent-is-zero", error, "the exponent 2j/d rounded to 0",
     "This is what comes out when 2j/d is divided as whole numbers and becomes 0: all columns have the frequency 1. "
     "Divide as real numbers.",
     has_layout<interleaved>, [](RewriteSite at) -> Made { return with_layout(at, one_frequency, waves(at)); }},
    {"sines-then-cosines", convention, "all sines before all cosines",
     "These are the same sines and cosines with all sines first, as tensor2tensor has them. "
     "Here each cosine stands beside its sine, as in the paper. "
     "Either order can be used, as long as it stays the same.",
     has_layout<interleaved>,
     [](RewriteSite at) -> Made { return with_layout(at, sinusoid_layouts()[one_half_each], waves(at)); }},
    {"sines-beside-cosines", convention, "each cosine beside its sine",
     "These are the same sines and cosines with each cosine beside its sine, as in the paper on the Transformer. "
     "Here all sines stand first. Either order can be used, as long as it stays the same.",
     has_layout<one_half_each>,
     [](RewriteSite at) -> Made { return with_layout(at, sinusoid_layouts()[interleaved], waves(at)); }},
    {"cosines-first", convention, "sine and cosine exchanged",
     "These are the numbers with sine and cosine exchanged, as some diffusion models have them. "
     "Here the sine comes first.",
     is_sinusoid,
     [](RewriteSite at) -> Made {
       return with_layout(at, has_layout<interleaved>(at.node) ? cosine_first : cosines_first, waves(at));
     }},
    {"waves-up-to-the-base", convention, "the exponent j/(d/2 − 1)",
     "This is what the exponent j/(d/2 − 1) gives with all sines first, as in tensor2tensor: the last wave is 2π·base long. "
     "In the formula of the paper the exponent is 2j/d.",
     has_two_waves, up_to_the_base},
    {"degrees", error, "angles in degrees",
     "This is what angles in degrees give. They are in radians: switch the calculator to radians.", is_sinusoid,
     in_degrees},
};

bool has_waves(const Node& node) { return is_sinusoid(node) || turns(node); }
Made with_another_base(RewriteSite at, double base) {
  if (is_sinusoid(at.node)) return with_waves(at, with_base(at, base));
  return rotate(at[0], with_base(at, base));
}

// Words that go in at once and count from 0, as if those behind some number of them had gone in later.
bool counts_from_0(const Node& node) {
  const std::optional<Waves> own = has_waves(node) ? waves_of(node) : std::nullopt;
  return own && !node.within(scope::step) && own->positions.follow_each_other() && own->positions.first() == 0 &&
         node.frame.shape.rows >= 3 * node.frame.rows.batch && !is_gradient(node);
}
Made with_positions_behind(RewriteSite at, double first, std::size_t (*later)(std::size_t behind)) {
  const std::size_t words = at.node.frame.shape.rows / at.node.frame.rows.batch;
  if (!(first >= 1.0 && first < static_cast<double>(words)) || first != std::floor(first)) return std::nullopt;
  const auto count = static_cast<std::size_t>(first);
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < words; ++i) positions.push_back(i < count ? i : later(i - count));
  Waves all = waves(at);
  all.positions = RowPositions(std::move(positions));
  if (is_sinusoid(at.node)) return with_waves(at, std::move(all));
  return rotate(at[0], std::move(all));
}
std::string amount_of_words(const Node&, double number) {
  return number == 1.0 ? "behind the first word" : fmt::format("behind the first {} words", number);
}

constexpr MistakeWithNumber numbers_of_positions[] = {
    {{"another-base", error, "another base of the waves",
      "This is what another base gives. Take the base of the formula, such as 10000.", has_waves, nullptr},
     with_another_base,
     amount_itself,
     MistakeWithNumber::Scale::logarithmic,
     {1000.0, 100.0, 1e5, 5e5, 1e6, 10.0}},
    {{"another-first-position", error, "positions that begin with another number",
      "This is what positions give that begin with another number. The first position counts as 0.", is_sinusoid,
      nullptr},
     [](RewriteSite at, double number) { return waves_table(at, number, 1.0); },
     amount_itself,
     MistakeWithNumber::Scale::linear,
     {1.0, 2.0, -1.0, 3.0, 4.0, 5.0}},
    {{"another-step", error, "positions multiplied by a number",
      "This is what positions give that are multiplied by a number. They count 0, 1, 2, ….", counts_all, nullptr},
     [](RewriteSite at, double number) { return waves_table(at, 0.0, number); },
     amount_itself,
     MistakeWithNumber::Scale::logarithmic,
     {0.5, 2.0, 6.283185307179586, 0.1, 0.01}},
    {{"later-words-at-0", error, "position 0 for each word behind the first ones",
      "This is what comes out when each word behind the first ones has the position 0, as where words that come later go in one by one and count from 0 each time. "
      "Go on counting from the words before.",
      counts_from_0, nullptr},
     [](RewriteSite at, double number) {
       return with_positions_behind(at, number, [](std::size_t) { return std::size_t{0}; });
     },
     amount_of_words,
     MistakeWithNumber::Scale::linear,
     {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}},
    {{"later-words-from-0", error, "positions that begin again with 0 behind the first words",
      "This is what comes out when the positions begin again with 0 behind the first words, as where words that come later go in together and count from 0. "
      "Go on counting from the words before.",
      counts_from_0, nullptr},
     [](RewriteSite at, double number) {
       return with_positions_behind(at, number, [](std::size_t behind) { return behind; });
     },
     amount_of_words,
     MistakeWithNumber::Scale::linear,
     {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}},
};

}  // namespace

std::span<const Mistake> mistakes_of_positions() { return mistakes_in_positions; }

std::span<const MistakeWithNumber> numbers_in_positions() { return numbers_of_positions; }

}  // namespace attn
