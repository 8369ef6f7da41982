#include <array>
#include <cmath>
#include <numbers>

#include "core/op/operations.hpp"
#include "core/op/ways.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// --- embeddings
// Mistakes with the embeddings of words, and how positions are added to them.

namespace {

// The number that embeddings are multiplied by, √d.
const Scalar* factor_of_embeddings(const Node& scaled) {
  return scaled.is(role::scaled_x) && scaled.operation ? number_of(*scaled.operation) : nullptr;
}

// The rows of the table below or above the right ones, as where one side counts words from 0 and the
// other from 1. Above the first row is the last one, as for an index of −1 in Python.
Made neighboring_rows(bool one_below, const Node& node, Rewriting& again) {
  const Node* const looked_up = node.is(role::ids) && !node.operation ? node.beside(role::x) : nullptr;
  const Node* const table = looked_up ? operand(*looked_up, 1) : nullptr;
  if (!table || !table->is(role::e) || looked_up->operands[0] != &node) return std::nullopt;
  const double count = static_cast<double>(table->frame.shape.rows);
  Matrix ids = node.matrix();
  for (double& id : cells(ids)) {
    if (one_below) {
      id = id == count ? 1.0 : id + 1.0;
    } else {
      id = id == 1.0 ? count : id - 1.0;
    }
  }
  return again.input_like(node, std::move(ids));
}
Made next_rows(const Node& node, Rewriting& again) { return neighboring_rows(true, node, again); }
Made rows_before(const Node& node, Rewriting& again) { return neighboring_rows(false, node, again); }

Made embeddings_not_scaled(const Node& node, Rewriting& again) {
  return factor_of_embeddings(node) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

Made divided(const Node& node, Rewriting& again) {
  const Scalar* const root = factor_of_embeddings(node);
  return root ? Made(divide(again.of(*node.operands[0]), *root)) : std::nullopt;
}

Made scaled_by_size(const Node& node, Rewriting& again) {
  const Scalar* const root = factor_of_embeddings(node);
  return root ? Made(times(again.unchanged(node), *root)) : std::nullopt;
}

// Embeddings that are looked up and stay as they are.
Made scaled_all_the_same(const Node& node, Rewriting& again) {
  const Node* const table = operand(node, 1);
  const bool is_embedding = node.is(role::x) && table && table->is(role::e);
  const bool enters_a_model = node.within(scope::source) || node.within(scope::target);
  if (!is_embedding || !enters_a_model || node.beside(role::scaled_x)) return std::nullopt;
  const double d = static_cast<double>(node.frame.shape.columns);
  return times(again.unchanged(node), plain_number(std::sqrt(d)));
}

Made positions_scaled_too(const Node& node, Rewriting& again) {
  const Node* const scaled = node.is(role::positioned) ? operand(node, 0) : nullptr;
  const Scalar* const root = scaled ? factor_of_embeddings(*scaled) : nullptr;
  if (!root) return std::nullopt;
  return times(add(again.of(*scaled->operands[0]), again.of(*node.operands[1])), *root);
}

Made positions_missing(const Node& node, Rewriting& again) {
  return node.is(role::positioned) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

Made positions_alone(const Node& node, Rewriting& again) {
  if (!node.is(role::positioned)) return std::nullopt;
  const Value positions = again.of(*node.operands[1]);
  const std::size_t words = positions.shape().rows, sentences = node.frame.rows.batch;
  if (sentences == 1) return positions;
  return repeat_rows(positions, {.parts = 1, .apart = words}, sentences, node.frame.rows);
}

Made positions_multiplied(const Node& node, Rewriting& again) {
  if (!node.is(role::positioned)) return std::nullopt;
  return multiply(again.of(*node.operands[0]), again.of(*node.operands[1]));
}

// Which sentence of a batch a word is in, as its position.
Made by_sentence(const Node& node, Rewriting& again) {
  const Node* const positioned = node.is(role::positions) ? node.beside(role::positioned) : nullptr;
  const bool is_one = !positioned || positioned->frame.rows.batch == 1;
  if (node.is(role::positions) && is_one) {
    const Value first = rows(again.unchanged(node), 0, 1);
    return repeat_rows(first, {}, node.frame.shape.rows, node.frame.rows);
  }
  const std::size_t sentences = node.frame.rows.batch;
  if (!node.is(role::positioned) || sentences == 1) return std::nullopt;
  const Value some = rows(again.of(*node.operands[1]), 0, sentences);
  const std::size_t words = node.frame.shape.rows / sentences;
  return add(again.of(*node.operands[0]), repeat_rows(some, {.parts = sentences, .apart = 1}, words, node.frame.rows));
}

constexpr std::array mistakes_in_embeddings = {
    Mistake{"next-embeddings", error, "each embedding taken one row too low",
            "This is what the rows of the embedding table give that stand below the right ones. "
            "A table's first row belongs to the first word.",
            next_rows},
    Mistake{"embeddings-before", error, "each embedding taken one row too high",
            "This is what the rows of the embedding table give that stand above the right ones. "
            "Words are counted from 1 here, and many programs count from 0.",
            rows_before},
    Mistake{"embeddings-not-scaled", error, "embeddings without the factor √d",
            "This is what the embeddings give without the factor √d. "
            "Multiply them by √d before positions are added.",
            embeddings_not_scaled},
    Mistake{"embeddings-divided", error, "embeddings divided by √d",
            "This is what embeddings divided by √d give. Multiply them by √d.", divided},
    Mistake{"embeddings-times-d", error, "embeddings multiplied by d instead of √d",
            "This is what embeddings multiplied by d give. Multiply them by its root, √d.", scaled_by_size},
    Mistake{"embeddings-scaled", convention, "embeddings multiplied by √d",
            "This is what embeddings multiplied by √d give, as in the first Transformer. "
            "This model takes them as they are.",
            scaled_all_the_same},
    Mistake{"positions-scaled-too", error, "positions multiplied by √d as well",
            "This is what comes out when embeddings and positions are multiplied by √d together. "
            "Multiply the embeddings alone, and then add the positions.",
            positions_scaled_too},
    Mistake{"positions-missing", error, "no positions",
            "This is what comes out without positions. Add the vector of each position to the vector of its word.",
            positions_missing},
    Mistake{"positions-alone", error, "positions without the words",
            "This is what the positions give alone. Add them to the vectors of the words.", positions_alone},
    Mistake{"positions-multiplied", error, "positions multiplied instead of added",
            "This is what the vectors give when they are multiplied by the positions. Add the positions.",
            positions_multiplied},
    Mistake{
        "positions-by-sentence", error, "the number of the sentence taken as the position",
        "This is what comes out when all words of a sentence have the same position, because rows are counted along the batch. "
        "Give each word the position that it has in its sentence.",
        by_sentence},
};

}  // namespace

std::span<const Mistake> mistakes_of_embeddings() { return mistakes_in_embeddings; }

// --- positions
// Mistakes with sines and cosines of positions, and with the numbers of positions.

namespace {

bool even(std::size_t column, std::size_t) { return column % 2 == 0; }
std::string no_columns(std::size_t) { return ""; }

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
constexpr std::size_t interleaved = 0, one_half_each = 1;

std::optional<Known> known(const Node& node) {
  const SinusoidLayout* const layout = node.operation ? layout_of(*node.operation) : nullptr;
  if (!layout) return std::nullopt;
  return Known{*layout, *waves_of(*node.operation), node};
}

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

Made exponent_by_column(const Node& node, Rewriting& again) {
  const auto now = known(node);
  return now && now->is(interleaved) ? Made(now->with(by_column, again)) : std::nullopt;
}

// base^(column/d) = (√base)^(2 column/d)
Made cosine_slower(const Node& node, Rewriting& again) {
  const auto now = known(node);
  if (!now || !now->is(interleaved)) return std::nullopt;
  return now->with(by_column, {now->waves.first, std::sqrt(now->waves.base)}, again);
}

Made without_two(const Node& node, Rewriting& again) {
  const auto now = known(node);
  return now ? Made(now->with_base(std::sqrt(now->waves.base), again)) : std::nullopt;
}

Made waves_multiplied(const Node& node, Rewriting& again) {
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
  return now && now->is(interleaved) ? Made(now->with(one_frequency, again)) : std::nullopt;
}

Made in_halves(const Node& node, Rewriting& again) {
  const auto now = known(node);
  if (!now || !now->is(interleaved)) return std::nullopt;
  return now->with(sinusoid_layouts()[one_half_each], again);
}

Made in_pairs(const Node& node, Rewriting& again) {
  const auto now = known(node);
  if (!now || !now->is(one_half_each)) return std::nullopt;
  return now->with(sinusoid_layouts()[interleaved], again);
}

Made waves_exchanged(const Node& node, Rewriting& again) {
  const auto now = known(node);
  if (!now) return std::nullopt;
  return now->with(now->is(interleaved) ? cosine_first : cosines_first, again);
}

// base^(j/(d/2 − 1)), in halves: so the last of d/2 waves has the length of the base itself.
Made up_to_the_base(const Node& node, Rewriting& again) {
  const auto now = known(node);
  const std::size_t frequencies = node.frame.shape.columns / 2;
  if (!now || frequencies < 2 || node.frame.shape.columns % 2 == 1) return std::nullopt;
  const double stretched = now->size() / 2.0 / static_cast<double>(frequencies - 1);
  return now->with(sinusoid_layouts()[one_half_each], {now->waves.first, std::pow(now->waves.base, stretched)}, again);
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
      const double angle =
          static_cast<double>(now->waves.first + i) / std::pow(now->waves.base, exponent) * std::numbers::pi / 180.0;
      table(i, j) = now->layout.is_sine(j, d) ? std::sin(angle) : std::cos(angle);
    }
  }
  return again.input_like(node, std::move(table));
}

Made counted_from_1(const Node& node, Rewriting& again) {
  if (const auto now = known(node)) return now->with(now->layout, {now->waves.first + 1, now->waves.base}, again);
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

constexpr std::array mistakes_in_positions = {
    Mistake{"exponent-counts-columns", error, "the exponent 2·column/d in every column",
            "This is what the exponent 2·column/d gives in every column. "
            "A sine and the cosine beside it share a frequency: take 2·⌊column/2⌋/d, with columns counted from 0.",
            exponent_by_column},
    Mistake{"cosine-has-its-own-frequency", error, "the exponent column/d in every column",
            "This is what the exponent column/d gives in every column. "
            "A sine and the cosine beside it share a frequency: in both the exponent is 2j/d with the same j.",
            cosine_slower},
    Mistake{"exponent-without-2", error, "the exponent j/d instead of 2j/d",
            "This is what the exponent j/d gives. It is 2j/d.", without_two},
    Mistake{"frequency-multiplied", error, "positions multiplied instead of divided",
            "This is what multiplication by the power of the base gives. "
            "Divide the position by it, so that later columns change more slowly.",
            waves_multiplied},
    Mistake{
        "exponent-floored", error, "the exponent rounded down to a whole number",
        "This is what comes out when −ln(base) / d // 2 is rounded down before it is multiplied, as Python evaluates it from left to right. "
        "Compute exp(−2j ln(base) / d) without rounding.",
        floored_exponent},
    Mistake{
        "exponent-is-zero", error, "the exponent 2j/d rounded to 0",
        "This is what comes out when 2j/d is divided as whole numbers and becomes 0: all columns have the frequency 1. "
        "Divide as real numbers.",
        integer_exponent},
    Mistake{"sines-then-cosines", convention, "all sines before all cosines",
            "These are the same sines and cosines with all sines first, as tensor2tensor has them. "
            "Here each cosine stands beside its sine, as in the paper. "
            "Either order can be used, as long as it stays the same.",
            in_halves},
    Mistake{
        "sines-beside-cosines", convention, "each cosine beside its sine",
        "These are the same sines and cosines with each cosine beside its sine, as in the paper on the Transformer. "
        "Here all sines stand first. Either order can be used, as long as it stays the same.",
        in_pairs},
    Mistake{"cosines-first", convention, "sine and cosine exchanged",
            "These are the numbers with sine and cosine exchanged, as some diffusion models have them. "
            "Here the sine comes first.",
            waves_exchanged},
    Mistake{
        "waves-up-to-the-base", convention, "the exponent j/(d/2 − 1)",
        "This is what the exponent j/(d/2 − 1) gives with all sines first, as in tensor2tensor: the last wave is 2π·base long. "
        "In the formula of the paper the exponent is 2j/d.",
        up_to_the_base},
    Mistake{"degrees", error, "angles in degrees",
            "This is what angles in degrees give. They are in radians: switch the calculator to radians.", in_degrees},
    Mistake{"positions-from-1", error, "positions counted from 1",
            "This is what positions counted from 1 give. The first position counts as 0.", counted_from_1},
};

}  // namespace

std::span<const Mistake> mistakes_of_positions() { return mistakes_in_positions; }

// --- rotary
// Mistakes with rotary positions, and with those of distances.

namespace {

/// Which columns are turned together as a point of the plane: x with each column in the place of its partner,
/// the first of a point as it is and the second negated.
using Partners = Value (*)(const Value& x);

Value pairs_beside_each_other(const Value& x) {
  std::vector<Value> parts;
  for (std::size_t j = 0; j < x.shape().columns; j += 2) {
    parts.push_back(times(columns(x, j + 1, 1), minus_one()));
    parts.push_back(columns(x, j, 1));
  }
  return concatenate(parts);
}

Value half_apart(const Value& x) {
  const std::size_t half = x.shape().columns / 2;
  return concatenate({times(columns(x, half, half), minus_one()), columns(x, 0, half)});
}

// The angles of columns: each twice, or all and then all again.
std::size_t repeated(std::size_t column, std::size_t) { return column / 2; }
std::size_t tiled(std::size_t column, std::size_t size) { return column % (size / 2); }

template <std::size_t (*frequency)(std::size_t, std::size_t), bool sines>
constexpr SinusoidLayout waves_alone{"waves", "", frequency, [](std::size_t, std::size_t) { return sines; },
                                     [](std::size_t) { return std::string(); }};

// x ⊙ cos + partners(x) ⊙ sin
template <std::size_t (*frequency)(std::size_t, std::size_t)>
Value turned(const Value& x, Partners partners, Waves waves) {
  const Shape shape = {sentences_of(x).rows, x.shape().columns};
  const Frame frame{shape, rows_of_one(x.node().frame.rows), x.node().frame.columns};
  const Value cosines = sinusoid(x.graph(), waves_alone<frequency, false>, frame, waves);
  const Value sines = sinusoid(x.graph(), waves_alone<frequency, true>, frame, waves);
  return add(multiply(x, cosines), multiply(partners(x), sines));
}

/// Queries or keys that are turned, as they now come in.
struct Turned {
  const Node& before;
  Value x;
  Waves waves;
};

std::optional<Turned> turned_here(const Node& node, Rewriting& again) {
  const bool is_turned = node.is(role::rotated_q) || node.is(role::rotated_k);
  if (!is_turned || node.is_alias() || !node.operation) return std::nullopt;
  return Turned{*node.operands[0], again.of(*node.operands[0]), *waves_of(*node.operation)};
}

Made halves(const Node& node, Rewriting& again) {
  const auto now = turned_here(node, again);
  return now ? Made(turned<tiled>(now->x, half_apart, now->waves)) : std::nullopt;
}

Made angles_tiled(const Node& node, Rewriting& again) {
  const auto now = turned_here(node, again);
  return now ? Made(turned<tiled>(now->x, pairs_beside_each_other, now->waves)) : std::nullopt;
}

Made angles_repeated(const Node& node, Rewriting& again) {
  const auto now = turned_here(node, again);
  return now ? Made(turned<repeated>(now->x, half_apart, now->waves)) : std::nullopt;
}

Made backwards(const Node& node, Rewriting& again) {
  const auto now = turned_here(node, again);
  return now ? Made(rotate_back(now->x, now->waves)) : std::nullopt;
}

Made keys_not_turned(const Node& node, Rewriting& again) {
  const auto now = node.is(role::rotated_k) ? turned_here(node, again) : std::nullopt;
  return now ? Made(now->x) : std::nullopt;
}

Made queries_not_turned(const Node& node, Rewriting& again) {
  const auto now = node.is(role::rotated_q) ? turned_here(node, again) : std::nullopt;
  return now ? Made(now->x) : std::nullopt;
}

Made nothing_turned(const Node& node, Rewriting& again) {
  const auto now = turned_here(node, again);
  return now ? Made(now->x) : std::nullopt;
}

// The keys count from 1 where the queries count from 0.
Made keys_one_late(const Node& node, Rewriting& again) {
  const auto now = node.is(role::rotated_k) ? turned_here(node, again) : std::nullopt;
  return now ? Made(rotate(now->x, {now->waves.first + 1, now->waves.base})) : std::nullopt;
}

// The values as well.
Made values_turned(const Node& node, Rewriting& again) {
  const Node* const keys = sums_values(node) ? node.operands[0]->beside(role::rotated_k) : nullptr;
  if (!keys || !keys->operation || !waves_of(*keys->operation)) return std::nullopt;
  const Value values = rotate(again.of(*node.operands[1]), *waves_of(*keys->operation));
  return matmul(again.of(*node.operands[0]), values);
}

// base^(j/d): the root of the base has this exponent.
Made exponent_without_two(const Node& node, Rewriting& again) {
  const auto now = turned_here(node, again);
  return now ? Made(rotate(now->x, {now->waves.first, std::sqrt(now->waves.base)})) : std::nullopt;
}

// base^(2j/d) with the d of all heads: the base of one head is so much smaller.
Made size_of_all_heads(const Node& node, Rewriting& again) {
  const auto now = turned_here(node, again);
  const Node* const all = now && now->before.within(scope::head) ? operand(now->before, 0) : nullptr;
  if (!all || all->frame.shape.columns == node.frame.shape.columns) return std::nullopt;
  const double share = static_cast<double>(node.frame.shape.columns) / static_cast<double>(all->frame.shape.columns);
  return rotate(now->x, {now->waves.first, std::pow(now->waves.base, share)});
}

// How many words went in at a time of which these are the keys: all at once, or first those before.
std::vector<std::size_t> words_at_a_time(const Node& keys) {
  std::vector<std::size_t> counts;
  const Node* now = &keys.original();
  while (now->within(scope::head) && operand(*now, 0)) now = &now->operands[0]->original();
  for (; now->is(role::keys); now = &now->operands[0]->original())
    counts.insert(counts.begin(), now->operands[1]->frame.shape.rows);
  counts.insert(counts.begin(), now->frame.shape.rows);
  return counts;
}

// Words that are written one by one, with a position of their own that does not go on from those before.
Made with_cache(const Node& node, Rewriting& again, std::size_t (*position)(std::size_t before)) {
  const auto now = turned_here(node, again);
  const Node* const queries = node.beside(role::rotated_q);
  if (!now || !queries || !queries->operation || waves_of(*queries->operation)->first == 0) return std::nullopt;
  const double base = now->waves.base;
  if (node.is(role::rotated_q)) return rotate(now->x, {position(now->waves.first), base});
  std::vector<Value> parts;
  std::size_t before = 0;
  for (const std::size_t count : words_at_a_time(now->before)) {
    parts.push_back(rotate(rows(now->x, before, count), {before == 0 ? 0 : position(before), base}));
    before += count;
  }
  return stack(parts);
}

Made from_0_with_cache(const Node& node, Rewriting& again) {
  return with_cache(node, again, [](std::size_t) { return std::size_t{0}; });
}

Made one_late_with_cache(const Node& node, Rewriting& again) {
  return with_cache(node, again, [](std::size_t before) { return before + 1; });
}

// i − j in the place of j − i: the table from its other end.
Made distance_reversed(const Node& node, Rewriting& again) {
  if (!node.is(role::relative) || node.is_alias() || node.operands.size() != 1) return std::nullopt;
  const Value table = again.of(*node.operands[0]);
  std::vector<Value> parts;
  for (std::size_t j = table.shape().columns; j-- > 0;) parts.push_back(columns(table, j, 1));
  return again.graph().apply(node.operation, {concatenate(parts)});
}

Made distance_missing(const Node& node, Rewriting& again) {
  const Node* const content = node.is(role::scores) ? node.beside(role::content) : nullptr;
  return content ? Made(again.of(*content)) : std::nullopt;
}

constexpr std::array mistakes_in_rotary = {
    Mistake{"rotary-halves", convention, "columns j and j + d/2 turned together",
            "This is what comes out when columns j and j + d/2 are turned together, as in Llama of Hugging Face. "
            "Here neighbors are turned together, 2j and 2j + 1, as in the paper. "
            "What was learned in one order has to be used in it.",
            halves},
    Mistake{
        "rotary-angles-tiled", error, "neighbors turned together with the angles of halves",
        "This is what comes out when neighbors are turned together, but with the angles in the order that belongs to halves: all, and then all again. "
        "Give both columns of a pair the same angle.",
        angles_tiled},
    Mistake{"rotary-angles-repeated", error, "halves turned together with the angles of neighbors",
            "This is what comes out when columns j and j + d/2 are turned together, but by different angles: "
            "each angle stands twice in a row. Give both columns of a pair the same angle.",
            angles_repeated},
    Mistake{"rotary-backwards", error, "turned by the opposite angles",
            "This is what the opposite angles give. Compute x cos − y sin, and x sin + y cos.", backwards},
    Mistake{"rotary-keys-not-turned", error, "only the queries turned",
            "This is what comes out when only the queries are turned. "
            "Turn the keys as well, each by the angle of its own position.",
            keys_not_turned},
    Mistake{"rotary-queries-not-turned", error, "only the keys turned",
            "This is what comes out when only the keys are turned, or when every query has position 0. "
            "Turn the queries as well, each by the angle of its own position.",
            queries_not_turned},
    Mistake{"rotary-missing", error, "neither queries nor keys turned",
            "This is what comes out without positions. Turn each query and each key by the angle of its position.",
            nothing_turned},
    Mistake{"rotary-keys-one-late", error, "keys turned by one position too many",
            "This is what comes out when the positions of the keys count from 1 and those of the queries from 0. "
            "Count both from the same number.",
            keys_one_late},
    Mistake{"rotary-values-turned", error, "values turned as well",
            "This is what comes out when the values are turned as well. Turn queries and keys only.", values_turned},
    Mistake{"rotary-exponent-without-2", error, "the exponent j/d instead of 2j/d in rotary positions",
            "This is what the exponent j/d gives. It is 2j/d.", exponent_without_two},
    Mistake{"rotary-size-of-all-heads", error, "angles with the size of all heads together",
            "This is what the exponent 2j/d gives with the size of all heads together. Take the size of one head.",
            size_of_all_heads},
    Mistake{"rotary-from-0-with-cache", error, "each new word turned as if it were the first",
            "This is what comes out when each word that is written gets position 0. "
            "Go on counting from the words that are remembered.",
            from_0_with_cache},
    Mistake{"rotary-one-late-with-cache", error, "each new word turned by one position too many",
            "This is what comes out when each word that is written gets a position one too high. "
            "Its position is the number of words before it.",
            one_late_with_cache},
    Mistake{"distance-reversed", error, "the distance i − j instead of j − i",
            "This is what the distance i − j gives, from the key to the query. "
            "Count from the query to the key, j − i: words that come later have positive distances.",
            distance_reversed},
    Mistake{"distance-missing", error, "scores without the part of the distance",
            "This is what the scores are without the part of the distance. Add it.", distance_missing},
};

}  // namespace

std::span<const Mistake> mistakes_of_rotary_positions() { return mistakes_in_rotary; }

}  // namespace attn
