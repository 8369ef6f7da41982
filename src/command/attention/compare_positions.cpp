#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "command/computed_problem.hpp"
#include "core/attention/positional_encoding.hpp"
#include "core/math/elementary_functions.hpp"
#include "core/math/random.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/model_file.hpp"
#include "data/problem/problem_options.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

constexpr std::size_t usual_n = 16, usual_d = 8, distance_limit = 4;
constexpr std::uint32_t seed = 1;

struct Sizes {
  std::size_t n, d;
  double base;
};

// n words that are all the same, or other words: whatever differs between their scores comes from positions.
Matrix same_words(Sizes sizes) {
  const Matrix one = RandomSource(random_kind::by_name, seed).vectors({role::x.leaf, {1, sizes.d}});
  Matrix x({sizes.n, sizes.d});
  for (std::size_t i = 0; i < sizes.n; ++i) std::ranges::copy(row(one, 0), row(x, i).begin());
  return x;
}

Matrix learned_table(const PositionKind& kind, Sizes sizes) {
  const Shape shape =
      kind.table_shape({.n = sizes.n, .d_model = sizes.d, .d_k = sizes.d, .max_distance = distance_limit});
  return RandomSource(random_kind::by_name, seed).vectors({role::position_table.leaf, shape});
}

// An example of a tree: the parent of word i is word ⌊i/2⌋, and word 1 is the root.
Matrix example_tree(std::size_t words) {
  Matrix parents({1, words});
  for (std::size_t word = 1; word <= words; ++word) parents(0, word - 1) = static_cast<double>(word / 2);
  return parents;
}

// The scores of n equal words with random queries and keys, as they go into the softmax.
Matrix scores_of(const PositionKind& kind, Sizes sizes, const std::optional<Matrix>& table) {
  OptionValues options;
  options.put(option::x, MatrixFile{.matrix = same_words(sizes)});
  options.put(option::positions, std::string(kind.name));
  options.put(option::base, sizes.base);
  options.put(option::d_k, sizes.d);
  options.put(option::seed, std::size_t{seed});
  if (kind.is_in_tree)
    options.put(option::parents, MatrixFile{.matrix = example_tree(sizes.n), .kind = CellKind::whole});
  if (table) options.put(option::position_table, MatrixFile{.matrix = *table});
  const Problem problem = build_problem(options);
  Graph graph(keep_nothing());
  add_computation(problem, graph, Extent::weights);
  return Value(graph.at(role::masked)).matrix();
}

// The largest difference of a score and the one so many rows and columns behind it.
double largest_step(const Matrix& scores, std::size_t rows, std::size_t columns) {
  double largest = 0.0;
  for (std::size_t i = 0; i + rows < scores.shape().rows; ++i) {
    for (std::size_t j = 0; j + columns < scores.shape().columns; ++j)
      largest = std::max(largest, std::fabs(scores(i + rows, j + columns) - scores(i, j)));
  }
  return largest;
}

double largest_exchange(const Matrix& scores) {
  double largest = 0.0;
  for (std::size_t i = 0; i < scores.shape().rows; ++i) {
    for (std::size_t j = 0; j < i; ++j) largest = std::max(largest, std::fabs(scores(i, j) - scores(j, i)));
  }
  return largest;
}

bool has_waves_in_columns(const PositionKind& kind) { return kind.has_waves && kind.of_embeddings; }

bool has_table(const Transformer& model) { return model.recipe.positions->table_shape != nullptr; }

class PositionComparison {
 public:
  PositionComparison(QuantityPage& page, Sizes sizes) : page_(page), sizes_(sizes) {}

  void add() {
    page_.head(1, "Kinds of positions compared");
    page_.say(
        fmt::format("All kinds with n = {} positions and vectors of size d = {}. "
                    "Learned tables, queries and keys are random (seed {}), not trained. "
                    "Relative kinds and those in a tree count distances above {} as {}. "
                    "The tree is an example: the parent of word i is word ⌊i/2⌋, and word 1 is the root.{}",
                    sizes_.n, sizes_.d, seed, distance_limit, distance_limit,
                    pointer_to_trained("transformer", has_table, " --only '*_positions.table'")));
    add_learned();
    add_scores();
    add_periods();
    add_pros_and_cons();
  }

 private:
  void add_learned() {
    page_.head(2, "Learned numbers, and positions beyond n");
    page_.say(fmt::format(
        "The learned numbers of each kind, for n = {} and for n = {} positions. "
        "The column \"beyond\" is 1 if the scores of {} positions can be computed with what was learned for {}, and 0 if not.",
        sizes_.n, 2 * sizes_.n, 2 * sizes_.n, sizes_.n));
    const Sizes twice{2 * sizes_.n, sizes_.d, sizes_.base};
    QuantityRows rows;
    std::string refusal;
    for (const PositionKind& kind : position_kinds()) {
      const auto count = [&](Sizes sizes) {
        return kind.table_shape ? static_cast<double>(learned_table(kind, sizes).size()) : 0.0;
      };
      rows.push_back({std::string(kind.name), {count(sizes_), count(twice), 1.0}});
      try {
        scores_of(kind, twice, table_of(kind));
      } catch (const InputError&) {
        rows.back().second.back() = 0.0;
        const std::size_t known = table_of(kind)->shape().rows;
        refusal = fmt::format("The table of {} has a row for each of {} positions, and none for position {}.",
                              kind.name, known, known + 1);
      }
    }
    page_.table("learned", {fmt::format("n = {}", sizes_.n), fmt::format("n = {}", twice.n), "beyond"}, rows);
    if (!refusal.empty()) page_.say(refusal);
    page_.say("That numbers exist beyond n does not mean that a model works there that was trained on n positions.");
  }

  void add_scores() {
    page_.head(2, "What the scores of equal words depend on");
    page_.say(
        "The same word stands at all positions, with one random query and key matrix. "
        "So only the positions can make scores differ. Each column has the largest difference:");
    page_.say(
        Listing{{"column", "between"},
                {{"key", "neighboring keys of one query; 0: positions have no effect"},
                 {"same distance", "pairs of the same distance and direction; 0: only the distance counts"},
                 {"direction", "a pair and the pair with query and key exchanged; 0: ahead and back are the same"}}});
    QuantityRows rows;
    for (const PositionKind& kind : position_kinds()) {
      const Matrix scores = scores_of(kind, sizes_, table_of(kind));
      rows.push_back(
          {std::string(kind.name), {largest_step(scores, 0, 1), largest_step(scores, 1, 1), largest_exchange(scores)}});
    }
    page_.table("scores", {"key", "same distance", "direction"}, rows);
    page_.say(
        "A vector that is added to a word is multiplied with the word too: its scores depend on the position itself, not only on the distance. "
        "Kinds that rotate queries and keys, and relative kinds, depend on the distance alone if the words are the same. "
        "Kinds in a tree depend on the distance in the tree alone, which pairs of the same distance in the text need not share.");
  }

  // A pair of columns is a hand of a clock, and this is when it is back where it was.
  void add_periods() {
    page_.head(2, "Periods of the sinusoids");
    const PositionKind& kind = *std::ranges::find_if(position_kinds(), has_waves_in_columns);
    Graph graph(keep_nothing());
    const Value x = graph.input(role::x, Matrix({2 * sizes_.n, sizes_.d}, 0.0), axis("positions"), axis("features"));
    const Matrix positions = kind.of_embeddings(x, {.waves = {.base = sizes_.base}}).matrix();
    page_.say(fmt::format(
        "Each pair of columns repeats after its period. "
        "\"seen\" is the share of the period that {} positions pass through. "
        "\"nearest\" compares position {} with the first {} positions: it is the distance from its pair of numbers to the nearest of theirs.",
        sizes_.n, 2 * sizes_.n, sizes_.n));
    QuantityRows rows;
    for (std::size_t j = 0; j < sizes_.d / 2; ++j) {
      const double period =
          2.0 * std::numbers::pi *
          elementary::power(sizes_.base, 2.0 * static_cast<double>(j) / static_cast<double>(sizes_.d));
      const double seen = std::min(1.0, static_cast<double>(sizes_.n - 1) / period);
      rows.push_back({fmt::format("columns {}, {}", 2 * j + 1, 2 * j + 2), {period, seen, nearest(positions, 2 * j)}});
    }
    page_.table("periods", {"period", "seen", "nearest"}, rows);
    page_.say(
        "A pair whose \"seen\" is 1 has passed through its whole period. "
        "Beyond n it only comes near values that it had before. "
        "A pair whose \"seen\" is below 1 has not: beyond n it first goes on through the rest of its period. "
        "Positions that are a whole number of periods apart have the same pair of numbers.");
  }

  void add_pros_and_cons() {
    page_.head(2, "Pros and cons");
    Listing listing{{"kind", "pros", "cons"}, {}, true};
    for (const PositionKind& kind : position_kinds())
      listing.rows.push_back({std::string(kind.name), std::string(kind.pros), std::string(kind.cons)});
    page_.say(std::move(listing));
  }

  double nearest(const Matrix& positions, std::size_t column) const {
    double least = std::numeric_limits<double>::infinity();
    const std::size_t last = positions.shape().rows - 1;
    for (std::size_t i = 0; i < sizes_.n; ++i) {
      least = std::min(least, std::hypot(positions(last, column) - positions(i, column),
                                         positions(last, column + 1) - positions(i, column + 1)));
    }
    return least;
  }

  std::optional<Matrix> table_of(const PositionKind& kind) const {
    if (!kind.table_shape) return std::nullopt;
    return learned_table(kind, sizes_);
  }

  QuantityPage& page_;
  Sizes sizes_;
};

}  // namespace

Answer run_compare_positions(const Command&, const Arguments& arguments) {
  const Sizes sizes{arguments.count(option::n).value_or(usual_n), arguments.count(option::d).value_or(usual_d),
                    arguments.number(option::base).value_or(Waves::usual_base)};
  if (sizes.n < 2) fail("--n {}: kinds are compared by pairs of positions, so give 2 or more", sizes.n);
  if (sizes.d % 2 == 1) fail("--d {}: sines and cosines are pairs of numbers, so give an even one", sizes.d);
  QuantityPage page;
  PositionComparison(page, sizes).add();
  return std::move(page).answer({});
}

}  // namespace attn
