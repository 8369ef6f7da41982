#include "core/op/definition.hpp"
#include "core/support/number.hpp"

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

// --- by the distance of two positions

// Which column of a table of distances the distance from the position of a row to that of a column has.
struct DistanceColumns {
  DistanceColumns(const Use& use, Shape table)
      : rows(use[setting::positions]),
        columns(use[setting::key_positions]),
        distance(use[setting::distance]),
        zero(static_cast<std::ptrdiff_t>(use[setting::before_zero])),
        most(static_cast<std::ptrdiff_t>(table.columns) - 1 - zero) {}

  // Those of one row follow.
  void begin(std::size_t row) {
    from = rows[row];
    if (distance.is_in_tree()) edges = distance.edges_from(from);
  }

  std::size_t of(std::size_t column) const {
    const std::size_t to = columns[column];
    const std::ptrdiff_t apart = distance.is_in_tree() ? edges[to] : distance.between(from, to);
    return static_cast<std::size_t>(std::clamp(apart, -zero, most) + zero);
  }

  const RowPositions &rows, &columns;
  const Distance& distance;
  std::ptrdiff_t zero, most;
  std::size_t from = 0;
  std::vector<std::ptrdiff_t> edges = {};  // from there to each word of the tree
};

#ifdef ATTN_WITH_DEFINITIONS
// The distances from one row of a sentence to all columns.
xt::xtensor<double, 1> distances_of_row(const Use& use, std::size_t row, std::size_t columns) {
  xt::xtensor<double, 1> distances = index_row(columns);
  for (double& distance : distances) {
    const std::size_t to = use[setting::key_positions][static_cast<std::size_t>(distance)];
    distance = static_cast<double>(use[setting::distance].between(use[setting::positions][row], to));
  }
  return distances;
}
#endif

std::size_t sentences_given(const Use& use) { return use[setting::parts]; }

// As formulas write it, with i and j for a row and a column.
Formula formula_of_distance(const Use& use) {
  const RowPositions &rows = use[setting::positions], &columns = use[setting::key_positions];
  if (use[setting::distance].is_in_tree()) return {"of i and j in the tree", "\\operatorname{edges}(i, j)"};
  if (!rows.follow_each_other() || !columns.follow_each_other()) return {"p_j − p_i", "p_j - p_i"};
  const std::size_t from = rows.first(), to = columns.first();
  if (from == to) return {"j − i", "j - i"};
  const std::size_t apart = from > to ? from - to : to - from;
  return {fmt::format("j − i {} {}", from > to ? "−" : "+", apart),
          fmt::format("j - i {} {}", from > to ? "-" : "+", apart)};
}

// Columns before the one of distance 0, and behind it.
std::size_t columns_before_zero(const Distance& distance, std::size_t columns) {
  return distance.is_in_tree() ? 0 : columns / 2;
}

// Throws InputError unless a table of so many columns has one for each distance.
void require_distances(const Use& use, std::string_view title, Shape table, std::size_t rows) {
  const bool rows_fit = table.rows == 1 || table.rows == rows, in_tree = use[setting::distance].is_in_tree();
  if (rows_fit && (in_tree || table.columns % 2 == 1)) return;
  fail("{} is {}: it must have {}, and one row or {}", title, to_string(table),
       in_tree ? "one column for each distance from 0 to c"
               : "an odd number of columns, one for each distance from −c to c",
       rows);
}

OpSettings settings_of_distance(const Use& use, Frame frame) {
  return {{setting::frame, std::move(frame)},
          {setting::parts, use[setting::parts]},
          {setting::positions, use[setting::positions]},
          {setting::key_positions, use[setting::key_positions]},
          {setting::distance, use[setting::distance]},
          {setting::before_zero, use[setting::before_zero]},
          {setting::measured_in, use[setting::measured_in]}};
}

// --- what applies them

Frame frame_of_all_pairs(const Value& a, const Value& b) {
  return frame_of_pairs(a.node().frame, b.node().frame, sentences_of(a, b).count);
}

OpSettings settings_of(Frame frame, Sentences sentences, std::size_t columns, const QueryKeyPositions& apart) {
  const auto require_words = [&](const RowPositions& positions, std::size_t rows) {
    const std::size_t words = apart.distance.words(), largest = positions.largest(rows);
    if (!apart.distance.is_in_tree() || largest < words) return;
    fail("position {} is not in the tree, which has {}: give ‹parents› a number for each word", largest,
         count_of(words, "word"));
  };
  require_words(apart.queries, sentences.rows);
  require_words(apart.keys, sentences.other);
  return {{setting::frame, std::move(frame)},
          {setting::parts, sentences.count},
          {setting::positions, apart.queries.of_rows(sentences.rows)},
          {setting::key_positions, apart.keys.of_rows(sentences.other)},
          {setting::distance, apart.distance},
          {setting::before_zero, columns_before_zero(apart.distance, columns)},
          {setting::measured_in, std::string(apart.distance.is_in_tree() ? "tree" : "text")}};
}

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
    .definition = CHECKED_ROWS_2((a, b), const Numbers squares = sum_of_last(
                                             xt::square(view(beside(a, result), xt::all(), newaxis(), xt::all()) -
                                                        view(array_view(b), newaxis(), xt::all(), xt::all())));
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
    .definition = CHECKED_ROWS_2((a, b), const PlacesOfPairs places(result, b.shape.rows);
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
    .definition = CHECKED_ROWS_2(
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
        (x), set(result, array_view({x.row(result.first * result.shape.columns).data(), result.first, result.shape}));),
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
                                set(result, array_view({x.cells + begin, result.first, result.shape}));),
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

const Op op::by_distance = {
    .name = "by_distance",
    .formula = [](const Use& use, std::span<const Formula> operands) -> Formula {
      const Formula table = within(Binding::whole, operands[0]), distance = formula_of_distance(use);
      return {fmt::format("{} at the distance {}", table.plain, distance.plain),
              fmt::format("{{{}}}_{{\\operatorname{{clip}}({})}}", table.latex, distance.latex), Binding::words};
    },
    .cell = R"(of table: with p = within(i, sentence(result)), start = positions[p], end = key_positions[j],
          apart = distance(start, end),
          counted = max(−before_zero, min(columns(table) − 1 − before_zero, apart)):
        apart = counted: table[min(i, rows(table)), counted + before_zero + 1]
          because "the distance in the {measured_in} from position {start} to position {end} is {apart}, where the first position is 0";
        table[min(i, rows(table)), counted + before_zero + 1]
          because "the distance in the {measured_in} from position {start} to position {end} is {apart}, where the first position is 0, and counts as {counted}")",
    .definition = CHECKED_ROWS_1(
        (table), const auto zero = static_cast<double>(use[setting::before_zero]);
        const double most = static_cast<double>(table.shape.columns) - 1.0 - zero;
        const std::size_t sentence = use[setting::frame].shape.rows / use[setting::parts];
        for (std::size_t i = result.first; i < result.end(); ++i) {
          const xt::xtensor<double, 1> distances = distances_of_row(use, i % sentence, result.shape.columns);
          const xt::xtensor<std::size_t, 1> places = xt::clip(distances, -zero, most) + zero;
          const Rows row = table.shape.rows == 1 ? table : part(table, i, 1);
          set(part(result, i, 1), view(array_view(row), xt::all(), xt::keep(places)));
        }),
    // A kernel: a look-up of each cell; the definition makes a list of places for each row.
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          const Rows& table = operands[0];
          DistanceColumns columns(use, table.shape);
          const std::size_t sentence = use[setting::frame].shape.rows / use[setting::parts];
          for (std::size_t i = result.first; i < result.end(); ++i) {
            const std::span<const double> distances = table.beside(i);
            const std::span<double> cells = result.row(i);
            columns.begin(i % sentence);
            for (std::size_t j = 0; j < cells.size(); ++j) cells[j] = distances[columns.of(j)];
          }
        },
    .frame = [](const Use& use) -> Frame {
      require_distances(use, use.operands[0]->title(), use.frame(0).shape, use[setting::frame].shape.rows);
      return use[setting::frame];
    },
    .sentences = sentences_given,
    .moves = true,
    .cost = [](const Use& use, std::span<const Shape>) -> Cost {
      return {.element_operations = use[setting::frame].shape.cells()};
    },
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {apply(op::sum_by_distance, {d}, settings_of_distance(use, use.frame(0)))};
    }};

// Every row of a table of one row, or of a table that has as many rows as there are, gets what is at each distance.
const Op op::sum_by_distance = {
    .name = "sum_by_distance",
    .formula = [](const Use& use, std::span<const Formula> operands) -> Formula {
      const Formula d = within(Binding::whole, operands[0]), distance = formula_of_distance(use);
      return {fmt::format("{} added up by the distance {}", d.plain, distance.plain),
              fmt::format("\\sum_{{\\operatorname{{clip}}({}) = c}} {{{}}}_{{ij}}", distance.latex, d.latex),
              Binding::words};
    },
    .cell = R"(of d: with most = columns(result) − 1 − before_zero, apart = j − before_zero − 1,
          first = (rows(result) = 1: 1; i), last = (rows(result) = 1: rows(d); i),
          those stands for sum(r = first to last, k = 1 to columns(d)
            where max(−before_zero, min(most, distance(positions[within(r, sentence(d))], key_positions[k]))) = apart:
            d[r,k]):
        all(r = first to last, k = 1 to columns(d):
          max(−before_zero, min(most, distance(positions[within(r, sentence(d))], key_positions[k]))) ≠ apart): 0
          because "nothing has the distance {apart}";
        apart = most: those because "these have the distance {apart}, or a longer one";
        0 < before_zero and apart = −before_zero: those because "these have the distance {apart}, or a longer one";
        those because "these have the distance {apart}")",
    .definition = CHECKED_ROWS_1(
        (d), const auto zero = static_cast<double>(use[setting::before_zero]);
        const double most = static_cast<double>(result.shape.columns) - 1.0 - zero;
        const std::size_t sentence = use.frame(0).shape.rows / use[setting::parts];
        set(result, everywhere(0.0, result)); const bool for_all = use[setting::frame].shape.rows == 1;
        for (std::size_t i = for_all ? 0 : result.first; i < (for_all ? d.end() : result.end()); ++i) {
          const xt::xtensor<double, 1> distances = distances_of_row(use, i % sentence, d.shape.columns);
          const Numbers places = view(xt::clip(distances, -zero, most) + zero, newaxis(), xt::all());
          const Numbers columns = view(index_row(result.shape.columns), xt::all(), newaxis());
          const Numbers there = xt::cast<double>(xt::equal(places, columns));
          const RowsToMake row = part(result, for_all ? 0 : i, 1);
          set(row, array_view(row) + xt::transpose(sum_of_rows(there * array_view(part(d, i, 1)))));
        }),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          const Rows& d = operands[0];
          const Shape table = use[setting::frame].shape;
          DistanceColumns columns(use, table);
          const std::size_t sentence = use.frame(0).shape.rows / use[setting::parts];
          std::ranges::fill(result.all(), 0.0);
          const bool for_all = table.rows == 1;
          for (std::size_t i = for_all ? 0 : result.first; i < (for_all ? d.end() : result.end()); ++i) {
            const std::span<double> sums = result.row(for_all ? 0 : i);
            columns.begin(i % sentence);
            for (std::size_t j = 0; j < d.shape.columns; ++j) sums[columns.of(j)] += d(i, j);
          }
        },
    .frame = [](const Use& use) -> Frame {
      require_distances(use, "the table", use[setting::frame].shape, use.frame(0).shape.rows);
      return use[setting::frame];
    },
    .needed = [](const Use& use, std::size_t operand, RowRange made) -> RowRange {
      return use[setting::frame].shape.rows == 1 ? RowRange{0, use.frame(operand).shape.rows} : made;
    },
    .sentences = sentences_given,
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {apply(op::by_distance, {d}, settings_of_distance(use, use.frame(0)))};
    }};

// --- what applies them

Value minus_half_squared_distances(const Value& a, const Value& b) {
  return apply(op::minus_half_squared_distances, {a, b});
}
Value pairwise_sum(const Value& a, const Value& b) { return apply(op::pairwise_sum, {a, b}); }
Value pairs(const Value& a, const Value& b) { return apply(op::pairs, {a, b}); }
Value unpair(const Value& pairs, const Value& a, const Value& b) {
  return apply(op::unpair, {pairs}, {{setting::frame, frame_of_all_pairs(a, b)}});
}
Value pairs_of(const Value& x, Axis rows) { return apply(op::pairs_of, {x}, {{setting::axis, std::move(rows)}}); }

Value by_distance(const Value& table, const Value& a, const Value& b, const QueryKeyPositions& apart) {
  return apply(op::by_distance, {table},
               settings_of(frame_of_all_pairs(a, b), sentences_of(a, b), table.shape().columns, apart));
}
Value by_distance(const Value& table, const Frame& frame, const QueryKeyPositions& apart) {
  const std::size_t sentences = frame.rows.batch;
  return apply(
      op::by_distance, {table},
      settings_of(frame, {sentences, frame.shape.rows / sentences, frame.shape.columns}, table.shape().columns, apart));
}
Value sum_by_distance(const Value& d, const Value& table, const QueryKeyPositions& apart) {
  const std::size_t sentences = d.node().frame.rows.batch;
  return apply(op::sum_by_distance, {d},
               settings_of(table.node().frame, {sentences, d.shape().rows / sentences, d.shape().columns},
                           table.shape().columns, apart));
}

}  // namespace attn
