#include "core/op/definition.hpp"

// What is computed for every pair of a row of one matrix and a row of another.

namespace attn {
namespace {

// The rows of a matrix that has `size` numbers for every pair: pair (i, j) is row i·n + j, where n is the
// number of rows of b in a sentence. Labelled "a, b" where either has labels. Refused, before there are
// labels, when it would be too large.
Axis axis_of_pairs(const Use& use, std::size_t size) {
  const Frame &a = use.frame(0), &b = use.frame(1);
  const Sentences sentences = sentences_of(use);
  const std::size_t m = a.shape.rows, n = sentences.other;
  if (!fits({m, n}) || !fits({m * n, size})) {
    fail(
        "the pairs of {} rows of {} and {} rows of {}, with {} numbers each, are more than the {} cells that a matrix may have: give fewer rows",
        m, use.operands[0]->title(), n, use.operands[1]->title(), size, most_cells);
  }
  if (sentences.count > 1 || (!a.rows.labels && !b.rows.labels)) return in_batch_of(a.rows, axis("pairs"));
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) labels.push_back(a.rows.label(i) + ", " + b.rows.label(j));
  }
  return axis("pairs", std::move(labels));
}

// The rows of the first operand, and all of the second, that some pairs consist of.
RowRange rows_behind_pairs(const Use& use, std::size_t operand, RowRange made) {
  if (operand == 1 || made.count == 0) return {0, use.frame(operand).shape.rows};
  const std::size_t n = sentences_of(use).other, first = made.first / n, last = (made.first + made.count - 1) / n;
  return {first, last - first + 1};
}

std::uint64_t count_of_pairs(const Use& use, std::span<const Shape> operands) {
  return operands[0].rows * sentences_of(use).other;
}

// What flows from all pairs of a row to that row.
Value to_first(const Use& use, const Value& d) {
  return sum_rows(d, {.parts = use.frame(0).shape.rows, .apart = 1}, use.frame(0).rows);
}
Value to_second(const Use& use, const Value& d) {
  const Sentences sentences = sentences_of(use);
  return sum_rows(d, {.parts = sentences.count, .apart = sentences.other}, use.frame(1).rows);
}

// Where the two rows of a pair stand: pair (i, j) of the sentence s.
struct PlaceOfPair {
  PlaceOfPair(std::size_t pair, const Sentences& sentences)
      : first(pair / sentences.other), second(sentences.of(first) * sentences.other + pair % sentences.other) {}
  std::size_t first, second;
};

// The rows of both matrices that pairs of one sentence consist of.
struct PlacesOfPairs {
  PlacesOfPairs(RowsToMake pairs, std::size_t n) {
    for (std::size_t pair = pairs.first; pair < pairs.end(); ++pair) {
      first.push_back(pair / n);
      second.push_back(pair % n);
    }
  }
  std::vector<std::size_t> first, second;
};

}  // namespace

// A kernel: the definition holds all m·n·d differences at once.
const Op op::minus_half_squared_distances = {
    .name = "minus_half_squared_distances",
    .plain = "−½‖$1!ᵢ − $2!ⱼ‖²",
    .latex = "-\\tfrac{1}{2} \\lVert {$1!}_{i} - {$2!}_{j} \\rVert^{2}",
    .binding = Binding::product,
    .cell = R"(of each a, each b:
        columns(a) = 1: '−½' · (a[i,1] − b[j,1])²;
        '−½' · sum(k = 1 to columns(a): (a[i,k] − b[j,k])²))",
    .definition = DEFINE_ROWS_2((a, b), const Numbers squares = sum_of_last(
                                            xt::square(view(beside(a, result), xt::all(), newaxis(), xt::all()) -
                                                       view(lent(b), newaxis(), xt::all(), xt::all())));
                                set(result, 0.0 - squares / 2.0);),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          sentence_by_sentence(sentences_of(use), operands[0], operands[1], result, squared_distances);
          for (double& cell : result.all()) cell = 0.0 - cell / 2.0;  // so that a distance of 0 is not −0
        },
    .frame = [](const Use& use) -> Frame {
      const Frame &a = use.frame(0), &b = use.frame(1);
      if (a.shape.columns != b.shape.columns) {
        fail("{} is {} but {} is {}: both must have the same number of columns to have a distance",
             use.operands[0]->title(), to_string(a.shape), use.operands[1]->title(), to_string(b.shape));
      }
      return frame_of_pairs(use);
    },
    .needs = Needs::all_of_second,
    // A difference for each term, and −½ for each pair.
    .cost = [](const Use& use, std::span<const Shape> operands) -> Cost {
      const std::uint64_t pairs = count_of_pairs(use, operands), terms = pairs * operands[0].columns;
      return {.multiply_adds = terms, .element_operations = terms + pairs};
    },
    .bounds = {.most = 0.0, .says = "This is minus half of a squared distance, so it is never positive."},
    // By a_i it is Σ_j d_ij (b_j − a_i), and by b_j Σ_i d_ij (a_i − b_j).
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value> operands) -> Gradients {
      const Value &a = operands[0], &b = operands[1];
      const Value by_a = attn::subtract(attn::matmul(d, b), attn::multiply(a, attn::row_sums(d)));
      if (sentences_of(use).count > 1) {
        const Value turned = attn::transpose(d);
        return {by_a, attn::subtract(attn::matmul(turned, a), attn::multiply(b, attn::row_sums(turned)))};
      }
      const Value sums = attn::transpose(attn::sum_rows(d, {}, axis("sum")));
      return {by_a, attn::subtract(attn::transposed_matmul(d, a), attn::multiply(b, sums))};
    }};

const Op op::pairwise_sum = {
    .name = "pairwise_sum",
    .plain = "$1!ᵢ + $2!ⱼ for every pair i, j",
    .latex = "{$1!}_{i} + {$2!}_{j}",
    .binding = Binding::words,
    .cell = "of each a, each b: a[block(i, rows(b)), j] + b[within(i, rows(b)), j]",
    .definition = DEFINE_ROWS_2((a, b), const PlacesOfPairs places(result, b.shape.rows);
                                set(result, gathered(a, places.first) + gathered(b, places.second));),
    // A kernel: with rows that xtensor gathers, a whole program with additive scores takes twice as long.
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          const Sentences sentences = sentences_of(use);
          for (std::size_t pair = result.first; pair < result.end(); ++pair) {
            const PlaceOfPair place(pair, sentences);
            const std::span<double> sums = result.row(pair);
            const std::span<const double> one = operands[0].row(place.first), other = operands[1].row(place.second);
            for (std::size_t c = 0; c < sums.size(); ++c) sums[c] = one[c] + other[c];
          }
        },
    .frame = [](const Use& use) -> Frame {
      const Frame &a = use.frame(0), &b = use.frame(1);
      if (a.shape.columns != b.shape.columns) {
        fail("{} is {} but {} is {}: both must have the same number of columns to be added pair by pair",
             use.operands[0]->title(), to_string(a.shape), use.operands[1]->title(), to_string(b.shape));
      }
      const std::size_t size = a.shape.columns;
      return {{a.shape.rows * sentences_of(use).other, size}, axis_of_pairs(use, size), a.columns};
    },
    .needed = rows_behind_pairs,
    .cost = [](const Use& use, std::span<const Shape> operands) -> Cost {
      return {.element_operations = count_of_pairs(use, operands) * operands[1].columns};
    },
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {to_first(use, d), to_second(use, d)};
    }};

const Op op::pairs = {
    .name = "pairs",
    .plain = "[$1!ᵢ; $2!ⱼ] for every pair i, j",
    .latex = "\\left[{$1!}_{i} ; {$2!}_{j}\\right]",
    .binding = Binding::words,
    .cell = R"(of each a, each b:
        j > columns(a): b[within(i, rows(b)), j − columns(a)];
        a[block(i, rows(b)), j])",
    .definition = DEFINE_ROWS_2(
        (a, b), const PlacesOfPairs places(result, b.shape.rows);
        set(result, xt::concatenate(xt::xtuple(gathered(a, places.first), gathered(b, places.second)), 1));),
    // A kernel, as concatenate.
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          const Sentences sentences = sentences_of(use);
          for (std::size_t pair = result.first; pair < result.end(); ++pair) {
            const PlaceOfPair place(pair, sentences);
            const auto rest = std::ranges::copy(operands[0].row(place.first), result.row(pair).begin()).out;
            std::ranges::copy(operands[1].row(place.second), rest);
          }
        },
    .frame = [](const Use& use) -> Frame {
      const Frame &a = use.frame(0), &b = use.frame(1);
      const std::size_t size = a.shape.columns + b.shape.columns;
      return {{a.shape.rows * sentences_of(use).other, size}, axis_of_pairs(use, size), axis(a.columns.name)};
    },
    .needed = rows_behind_pairs,
    .moves = true,
    .cost = [](const Use& use, std::span<const Shape> operands) -> Cost {
      return {.element_operations = count_of_pairs(use, operands) * (operands[0].columns + operands[1].columns)};
    },
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      const std::size_t of_a = use.frame(0).shape.columns, of_b = use.frame(1).shape.columns;
      return {to_first(use, attn::columns(d, 0, of_a)), to_second(use, attn::columns(d, of_a, of_b))};
    }};

const Op op::unpair = {
    .name = "unpair",
    .formula = [](const Use& use, std::span<const Formula> operands) -> Formula {
      return {within(Binding::sum, operands[0]).plain +
                  fmt::format(", as a matrix of {}", to_string(use[setting::frame].shape)),
              "\\operatorname{rows}\\left(" + operands[0].latex + "\\right)", Binding::words};
    },
    .cell = "of x: x[(i − 1) · columns(result) + j, 1]",
    .definition = DEFINE_ROWS_1(
        (x), set(result, lent({x.row(result.first * result.shape.columns).data(), result.first, result.shape}));),
    .frame = [](const Use& use) -> Frame {
      const Shape pairs = use.frame(0).shape, result = use[setting::frame].shape;
      if (pairs != Shape{result.cells(), 1}) {
        fail("{} is {}: it must have one column and a row for each of the {} pairs", use.operands[0]->title(),
             to_string(pairs), result.cells());
      }
      return use[setting::frame];
    },
    .needed = [](const Use& use, std::size_t, RowRange made) -> RowRange {
      const std::size_t columns = use[setting::frame].shape.columns;
      return {made.first * columns, made.count * columns};
    },
    .moves = true,
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {attn::pairs_of(d, use.frame(0).rows)};
    }};

const Op op::pairs_of = {
    .name = "pairs_of",
    .plain = "$1+, a row for each cell",
    .latex = "\\operatorname{pairs}\\left($1\\right)",
    .binding = Binding::words,
    .cell = "of x: x[block(i, columns(x)), within(i, columns(x))]",
    .definition = DEFINE_ROWS_1((x), const std::size_t begin = result.first - x.first * x.shape.columns;
                                set(result, lent({x.cells + begin, result.first, result.shape}));),
    .frame = [](const Use& use) -> Frame {
      return {{use.frame(0).shape.cells(), 1}, use[setting::axis], axis("pair")};
    },
    .needed = [](const Use& use, std::size_t operand, RowRange made) -> RowRange {
      const std::size_t columns = use.frame(operand).shape.columns;
      if (made.count == 0) return {0, 0};
      const std::size_t first = made.first / columns, last = (made.first + made.count - 1) / columns;
      return {first, last - first + 1};
    },
    .moves = true,
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {apply(op::unpair, {d}, {{setting::frame, use.frame(0)}})};
    }};

// --- by the distance of two positions

namespace {

// Which column of a table of distances the distance from one position to another has.
std::size_t column_of_distance(Shape table, std::size_t row, std::size_t column) {
  const auto most = static_cast<long>(table.columns / 2);
  const long distance = static_cast<long>(column) - static_cast<long>(row);
  return static_cast<std::size_t>(std::clamp(distance, -most, most) + most);
}

std::size_t sentences_given(const Use& use) { return use[setting::parts]; }

}  // namespace

const Op op::by_distance = {
    .name = "by_distance",
    .plain = "$1! at the distance j − i",
    .latex = "{$1!}_{\\operatorname{clip}(j - i)}",
    .binding = Binding::words,
    .cell = R"(of table: with p = within(i, sentence(result)), most = (columns(table) − 1) / 2, distance = j − p,
          counted = max(−most, min(most, distance)):
        distance = counted: table[min(i, rows(table)), counted + most + 1]
          because "the distance from position {p} to position {j} is {distance}";
        table[min(i, rows(table)), counted + most + 1]
          because "the distance from position {p} to position {j} is {distance}, and counts as {counted}")",
    .definition = DEFINE_ROWS_1(
        (table), const auto most = static_cast<double>(table.shape.columns / 2);
        for (std::size_t i = result.first; i < result.end(); ++i) {
          const auto distances = counted(result.shape.columns) - static_cast<double>(i);
          const xt::xtensor<std::size_t, 1> places = xt::clip(distances, -most, most) + most;
          const Rows row = table.shape.rows == 1 ? table : part(table, i, 1);
          set(part(result, i, 1), view(lent(row), xt::all(), xt::keep(places)));
        }),
    // A kernel: a look-up of each cell; the definition makes a list of places for each row.
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          const Rows& table = operands[0];
          const std::size_t sentence = use[setting::frame].shape.rows / use[setting::parts];
          for (std::size_t i = result.first; i < result.end(); ++i) {
            const std::span<const double> distances = table.beside(i);
            for (std::size_t j = 0; j < result.shape.columns; ++j)
              result.row(i)[j] = distances[column_of_distance(table.shape, i % sentence, j)];
          }
        },
    .frame = [](const Use& use) -> Frame {
      const Shape table = use.frame(0).shape, result = use[setting::frame].shape;
      const bool rows_fit = table.rows == 1 || table.rows == result.rows;
      if (!rows_fit || table.columns % 2 == 0) {
        fail("{} is {}: it must have an odd number of columns, one for each distance from −c to c, and one row or {}",
             use.operands[0]->title(), to_string(table), result.rows);
      }
      return use[setting::frame];
    },
    .sentences = sentences_given,
    .moves = true,
    .cost = [](const Use& use, std::span<const Shape>) -> Cost {
      return {.element_operations = use[setting::frame].shape.cells()};
    },
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {apply(op::sum_by_distance, {d}, {{setting::frame, use.frame(0)}, {setting::parts, use[setting::parts]}})};
    }};

// Every row of a table of one row, or of a table that has as many rows as there are, gets what is at each distance.
const Op op::sum_by_distance = {
    .name = "sum_by_distance",
    .plain = "$1! added up by the distance j − i",
    .latex = "\\sum_{\\operatorname{clip}(j - i) = c} {$1!}_{ij}",
    .binding = Binding::words,
    .cell = R"(of d: with most = (columns(result) − 1) / 2, distance = j − most − 1,
          first = (rows(result) = 1: 1; i), last = (rows(result) = 1: rows(d); i),
          those stands for sum(r = first to last, k = 1 to columns(d)
            where max(−most, min(most, k − within(r, sentence(d)))) = distance: d[r,k]):
        all(r = first to last, k = 1 to columns(d): max(−most, min(most, k − within(r, sentence(d)))) ≠ distance): 0
          because "nothing has the distance {distance}";
        abs(distance) = most: those because "these have the distance {distance}, or a longer one";
        those because "these have the distance {distance}")",
    .definition = DEFINE_ROWS_1(
        (d), const auto most = static_cast<double>(result.shape.columns / 2); set(result, everywhere(0.0, result));
        const bool for_all = use[setting::frame].shape.rows == 1;
        for (std::size_t i = for_all ? 0 : result.first; i < (for_all ? d.end() : result.end()); ++i) {
          const auto distances = counted(d.shape.columns) - static_cast<double>(i);
          const Numbers places = view(xt::clip(distances, -most, most) + most, newaxis(), xt::all());
          const Numbers columns = view(counted(result.shape.columns), xt::all(), newaxis());
          const Numbers there = xt::cast<double>(xt::equal(places, columns));
          const RowsToMake row = part(result, for_all ? 0 : i, 1);
          set(row, lent(row) + xt::transpose(sum_of_rows(there * lent(part(d, i, 1)))));
        }),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          const Rows& d = operands[0];
          const Shape table = use[setting::frame].shape;
          const std::size_t sentence = use.frame(0).shape.rows / use[setting::parts];
          std::ranges::fill(result.all(), 0.0);
          const bool for_all = table.rows == 1;
          for (std::size_t i = for_all ? 0 : result.first; i < (for_all ? d.end() : result.end()); ++i) {
            const std::span<double> sums = result.row(for_all ? 0 : i);
            for (std::size_t j = 0; j < d.shape.columns; ++j)
              sums[column_of_distance(table, i % sentence, j)] += d(i, j);
          }
        },
    .frame = [](const Use& use) -> Frame {
      const Shape table = use[setting::frame].shape, d = use.frame(0).shape;
      if (table.columns % 2 == 0 || (table.rows != 1 && table.rows != d.rows)) {
        fail("{} is {}: it cannot be added up by distance into a {} table", use.operands[0]->title(), to_string(d),
             to_string(table));
      }
      return use[setting::frame];
    },
    .needed = [](const Use& use, std::size_t operand, RowRange made) -> RowRange {
      return use[setting::frame].shape.rows == 1 ? RowRange{0, use.frame(operand).shape.rows} : made;
    },
    .sentences = sentences_given,
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {apply(op::by_distance, {d}, {{setting::frame, use.frame(0)}, {setting::parts, use[setting::parts]}})};
    }};

// --- what applies them

namespace {

Frame frame_of_pairs(const Value& a, const Value& b) {
  return frame_of_pairs(a.node().frame, b.node().frame, sentences_of(a, b).count);
}

}  // namespace

Value minus_half_squared_distances(const Value& a, const Value& b) {
  return apply(op::minus_half_squared_distances, {a, b});
}
Value pairwise_sum(const Value& a, const Value& b) { return apply(op::pairwise_sum, {a, b}); }
Value pairs(const Value& a, const Value& b) { return apply(op::pairs, {a, b}); }
Value unpair(const Value& pairs, const Value& a, const Value& b) {
  return apply(op::unpair, {pairs}, {{setting::frame, frame_of_pairs(a, b)}});
}
Value pairs_of(const Value& x, Axis rows) { return apply(op::pairs_of, {x}, {{setting::axis, std::move(rows)}}); }
Value by_distance(const Value& table, const Value& a, const Value& b) {
  return apply(op::by_distance, {table},
               {{setting::frame, frame_of_pairs(a, b)}, {setting::parts, sentences_of(a, b).count}});
}
Value sum_by_distance(const Value& d, const Value& table) {
  return apply(op::sum_by_distance, {d},
               {{setting::frame, table.node().frame}, {setting::parts, d.node().frame.rows.batch}});
}

}  // namespace attn
