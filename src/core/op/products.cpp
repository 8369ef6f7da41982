#include "core/math/product.hpp"
#include "core/op/definition.hpp"

// Matrix products, and sums along rows and columns. Kernels: a definition in xtensor holds all products at once, and
// adds in another order.

namespace attn {

namespace {

// --- products: every row of the result needs one row of the first matrix and all of the second

// Of a batch, every sentence of the first matrix meets its own of the second, or all of them the whole second.
std::size_t sentences_of_product(const Use& use) {
  const Frame &a = use.frame(0), &b = use.frame(1);
  return a.shape.columns == b.shape.rows || a.rows.batch != b.rows.batch ? 1 : b.rows.batch;
}

std::uint64_t rows_times_columns(std::span<const Shape> operands) {
  return operands[0].rows * operands[0].columns * operands[1].columns;
}

// The row that stands for row i, of all rows, in a matrix of one row for each group.
std::size_t row_of_group(const Use& use, std::size_t i, std::size_t all_rows) {
  const std::size_t parts = use[setting::parts], apart = use[setting::apart];
  return i / (all_rows / parts) * apart + i % apart;
}

// The first row of the group that row r of the sums stands for, and the end of its part.
RowRange rows_of_group(const Use& use, std::size_t r, std::size_t all_rows) {
  const std::size_t rows_of_part = all_rows / use[setting::parts], apart = use[setting::apart];
  const std::size_t part = r / apart * rows_of_part;
  return {part + r % apart, rows_of_part - r % apart};
}

}  // namespace

// --- products: every row of the result needs one row of the first matrix and all of the second

const Op op::matmul = {
    .name = "matmul",
    .plain = "$1* ⋅ $2!",
    .latex = "$1* \\, $2!",
    .binding = Binding::product,
    .cell = "of each a, each b: sum(k = 1 to rows(b): a[i,k] · b[k,j])",
    .definition = CHECKED_ROWS_2(
        (a, b), set(result, sum_of_last(view(beside(a, result), xt::all(), newaxis(), xt::all()) *
                                        view(xt::transpose(array_view(b)), newaxis(), xt::all(), xt::all())));),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          sentence_by_sentence(sentences_of(use, sentences_of_product(use)), operands[0], operands[1], result,
                               [](Rows a, Rows b, RowsToMake made) { product(a, b, made); });
        },
    .frame = [](const Use& use) -> Frame {
      const Frame &a = use.frame(0), &b = use.frame(1);
      if (a.shape.columns != b.shape.rows / sentences_of_product(use)) {
        fail("{} is {} but {} is {}: the first must have as many columns as the second has rows",
             use.operands[0]->title(), to_string(a.shape), use.operands[1]->title(), to_string(b.shape));
      }
      return {{a.shape.rows, b.shape.columns}, a.rows, b.columns};
    },
    .needs = Needs::all_of_second,
    .sentences = sentences_of_product,
    .stored_operand = 1,
    .cost = [](const Use&, std::span<const Shape> operands) -> Cost {
      return {.multiply_adds = rows_times_columns(operands)};
    },
    // C = A B: ∂L/∂A = (∂L/∂C) Bᵀ and ∂L/∂B = Aᵀ (∂L/∂C).
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value> operands) -> Gradients {
      const Value &a = operands[0], &b = operands[1];
      const bool is_one = sentences_of_product(use) == 1;
      return {attn::matmul_transposed(d, b),
              is_one ? attn::transposed_matmul(a, d) : attn::matmul(attn::transpose(a), d)};
    }};

const Op op::matmul_transposed = {
    .name = "matmul_transposed",
    .plain = "$1* ⋅ $2!ᵀ",
    .latex = "$1* \\, {$2!}^{\\top}",
    .binding = Binding::product,
    .cell = "of each a, each b: sum(k = 1 to columns(a): a[i,k] · b[j,k])",
    .definition =
        CHECKED_ROWS_2((a, b), set(result, sum_of_last(view(beside(a, result), xt::all(), newaxis(), xt::all()) *
                                                       view(array_view(b), newaxis(), xt::all(), xt::all())));),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          sentence_by_sentence(sentences_of(use), operands[0], operands[1], result, product_transposed);
        },
    .frame = [](const Use& use) -> Frame {
      const Frame &a = use.frame(0), &b = use.frame(1);
      if (a.shape.columns != b.shape.columns) {
        fail("{} is {} but {} is {}: both must have the same number of columns", use.operands[0]->title(),
             to_string(a.shape), use.operands[1]->title(), to_string(b.shape));
      }
      return frame_of_pairs(use);
    },
    .needs = Needs::all_of_second,
    .stored_operand = 1,
    .cost = [](const Use& use, std::span<const Shape> operands) -> Cost {
      return {.multiply_adds = operands[0].rows * operands[0].columns * operands[1].rows / sentences_of(use).count};
    },
    // C = A Bᵀ: ∂L/∂A = (∂L/∂C) B and ∂L/∂B = (∂L/∂C)ᵀ A.
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value> operands) -> Gradients {
      const Value &a = operands[0], &b = operands[1];
      return {attn::matmul(d, b),
              sentences_of(use).count == 1 ? attn::transposed_matmul(d, a) : attn::matmul(attn::transpose(d), a)};
    }};

// Sums over all rows of both: of a batch, over all of its sentences.
const Op op::transposed_matmul = {
    .name = "transposed_matmul",
    .plain = "$1!ᵀ ⋅ $2*",
    .latex = "{$1!}^{\\top} \\, $2*",
    .binding = Binding::product,
    .cell = "of a, b: sum(k = 1 to rows(a): a[k,i] · b[k,j])",
    .definition = CHECKED_ROWS_2(
        (a, b), set(result, sum_of_last(view(xt::transpose(array_view(a)), range(result.first, result.end()), newaxis(),
                                             xt::all()) *
                                        view(xt::transpose(array_view(b)), newaxis(), xt::all(), xt::all())));),
    .compute = [](const Use&, Operands operands,
                  RowsToMake result) { product_of_transposed(operands[0], operands[1], result); },
    .frame = [](const Use& use) -> Frame {
      const Frame &a = use.frame(0), &b = use.frame(1);
      if (a.shape.rows != b.shape.rows) {
        fail("{} is {} but {} is {}: both must have the same number of rows", use.operands[0]->title(),
             to_string(a.shape), use.operands[1]->title(), to_string(b.shape));
      }
      return {{a.shape.columns, b.shape.columns}, a.columns, b.columns};
    },
    .needs = Needs::all,
    .cost = [](const Use&, std::span<const Shape> operands) -> Cost {
      return {.multiply_adds = rows_times_columns(operands)};
    },
    // C = Aᵀ B: ∂L/∂A = B (∂L/∂C)ᵀ and ∂L/∂B = A (∂L/∂C).
    .gradients = [](const Use&, const Value&, const Value& d, std::span<const Value> operands) -> Gradients {
      return {attn::matmul_transposed(operands[1], d), attn::matmul(operands[0], d)};
    }};

// --- rows and columns added up, and the same ones repeated

const Op op::row_sums = {
    .name = "row_sums",
    .plain = "row sums of $1!",
    .latex = "\\sum_{j} {$1!}_{ij}",
    .binding = Binding::words,
    .cell = "of x: sum(k = 1 to columns(x): x[i,k])",
    .definition = CHECKED_1((x), set(result, sum_of_rows(x));),
    .compute =
        [](const Use&, Operands operands, RowsToMake result) {
          for (std::size_t i = result.first; i < result.end(); ++i) result.row(i)[0] = sum_of_cells(operands[0].row(i));
        },
    .frame = [](const Use& use) -> Frame {
      const Frame& x = use.frame(0);
      return {{x.shape.rows, 1}, x.rows, axis("sum")};
    },
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {attn::repeat_columns(d, use.frame(0).shape.columns, use.frame(0).columns)};
    }};

const Op op::repeat_columns = {
    .name = "repeat_columns",
    .formula = [](const Use& use, std::span<const Formula> operands) -> Formula {
      const Formula x = within(Binding::whole, operands[0]);
      return {x.plain + fmt::format(" in each of {} columns", use[setting::count]), "{" + x.latex + "}_{i}",
              Binding::words};
    },
    .cell = "of x: x[i,1]",
    .definition = CHECKED_1((x), set(result, xt::broadcast(x, {result.shape.rows, result.shape.columns}));),
    .compute =
        [](const Use&, Operands operands, RowsToMake result) {
          for (std::size_t i = result.first; i < result.end(); ++i) std::ranges::fill(result.row(i), operands[0](i, 0));
        },
    .frame = [](const Use& use) -> Frame {
      const Frame& x = use.frame(0);
      if (x.shape.columns != 1)
        fail("{} is {}: only one column can be repeated", use.operands[0]->title(), to_string(x.shape));
      return {{x.shape.rows, use[setting::count]}, x.rows, use[setting::axis]};
    },
    .moves = true,
    .cost = [](const Use& use, std::span<const Shape> operands) -> Cost {
      return {.element_operations = operands[0].rows * use[setting::count]};
    },
    .gradients = [](const Use&, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {attn::row_sums(d)};
    }};

const Op op::sum_rows = {
    .name = "sum_rows",
    .formula = [](const Use& use, std::span<const Formula> operands) -> Formula {
      const Formula x = within(Binding::whole, operands[0]);
      const std::size_t parts = use[setting::parts], apart = use[setting::apart];
      const auto of = [&](const std::string& index) { return "\\sum_{k} {" + x.latex + "}_{" + index + "}"; };
      if (apart == 1 && parts == 1) return {"column sums of " + x.plain, of("kj"), Binding::words};
      if (apart == 1)
        return {"rows of " + x.plain + ", added up neighbor by neighbor to " + fmt::format("{}", parts), of("i, k"),
                Binding::words};
      return {"rows of " + x.plain + fmt::format(", added up where they lie {} apart", apart),
              of(fmt::format("i + {} k", apart)), Binding::words};
    },
    .cell = R"(of x: with n = rows(x) / parts:
        sum(k = 1 to rows(x) where block(k, n) = block(i, apart) and within(k, apart) = within(i, apart): x[k,j]))",
    .definition = CHECKED_ROWS_1((x),
                                 for (std::size_t r = result.first; r < result.end(); ++r) {
                                   const RowRange those = rows_of_group(use, r, x.shape.rows);
                                   const Numbers rows = view(
                                       array_view(x),
                                       range(those.first, those.first + those.count, use[setting::apart]), xt::all());
                                   set(attn::part(result, r, 1), xt::transpose(sum_of_rows(xt::transpose(rows))));
                                 }),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          const Rows& x = operands[0];
          const std::size_t apart = use[setting::apart];
          for (std::size_t r = result.first; r < result.end(); ++r) {
            const std::span<double> sums = result.row(r);
            const RowRange those = rows_of_group(use, r, x.shape.rows);
            if (apart == 1) {
              sum_columns(part(x, those.first, those.count), sums);
              continue;
            }
            std::ranges::fill(sums, 0.0);
            for (std::size_t i = those.first; i < those.first + those.count; i += apart) attn::add(sums, x.row(i));
          }
        },
    .frame = [](const Use& use) -> Frame {
      const Frame& x = use.frame(0);
      const std::size_t groups = use[setting::parts] * use[setting::apart];
      if (groups == 0 || x.shape.rows % groups != 0)
        fail("{} has {} rows, which is not divisible by {}", use.operands[0]->title(), x.shape.rows, groups);
      return {{groups, x.shape.columns}, use[setting::axis], x.columns};
    },
    .needs = Needs::all,
    .gradients = [](const Use& use, const Value& result, const Value& d, std::span<const Value>) -> Gradients {
      const Frame& x = use.frame(0);
      const RowGroups groups{use[setting::parts], use[setting::apart]};
      return {attn::repeat_rows(d, groups, x.shape.rows / result.shape().rows, x.rows)};
    }};

// A kernel: gathering rows through xtensor takes several times as long as copying them.
const Op op::repeat_rows = {
    .name = "repeat_rows",
    .formula = [](const Use& use, std::span<const Formula> operands) -> Formula {
      const Formula x = within(Binding::whole, operands[0]);
      return {"rows of " + x.plain + fmt::format(", each {} times", use[setting::count]), "{" + x.latex + "}_{j}",
              Binding::words};
    },
    .cell = "of x: with n = rows(result) / parts: x[(block(i, n) − 1) · apart + within(i, apart), j]",
    .definition = CHECKED_ROWS_1((x), std::vector<std::size_t> places;
                                 for (std::size_t i = result.first; i < result.end(); ++i)
                                     places.push_back(row_of_group(use, i, x.shape.rows* use[setting::count]));
                                 set(result, gathered(x, places));),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          const std::size_t all = operands[0].shape.rows * use[setting::count];
          for (std::size_t i = result.first; i < result.end(); ++i)
            std::ranges::copy(operands[0].row(row_of_group(use, i, all)), result.row(i).begin());
        },
    .frame = [](const Use& use) -> Frame {
      const Frame& x = use.frame(0);
      const std::size_t groups = use[setting::parts] * use[setting::apart];
      if (x.shape.rows != groups)
        fail("{} has {} rows: {} groups of rows need one each", use.operands[0]->title(), x.shape.rows, groups);
      return {{x.shape.rows * use[setting::count], x.shape.columns}, use[setting::axis], x.columns};
    },
    .needs = Needs::all,
    .moves = true,
    .cost = [](const Use& use, std::span<const Shape> operands) -> Cost {
      return {.element_operations = operands[0].cells() * use[setting::count]};
    },
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value>) -> Gradients {
      return {attn::sum_rows(d, {use[setting::parts], use[setting::apart]}, use.frame(0).rows)};
    }};

// --- what applies them

Value matmul(const Value& a, const Value& b) { return apply(op::matmul, {a, b}); }
Value matmul_transposed(const Value& a, const Value& b) { return apply(op::matmul_transposed, {a, b}); }
Value transposed_matmul(const Value& a, const Value& b) { return apply(op::transposed_matmul, {a, b}); }
Value row_sums(const Value& x) { return apply(op::row_sums, {x}); }
Value sum_rows(const Value& x, RowGroups groups, Axis rows) {
  return apply(op::sum_rows, {x},
               {{setting::parts, groups.parts}, {setting::apart, groups.apart}, {setting::axis, std::move(rows)}});
}
Value repeat_rows(const Value& x, RowGroups groups, std::size_t k, Axis rows) {
  return apply(op::repeat_rows, {x},
               {{setting::parts, groups.parts},
                {setting::apart, groups.apart},
                {setting::count, k},
                {setting::axis, std::move(rows)}});
}
Value repeat_columns(const Value& x, std::size_t n, Axis columns) {
  return apply(op::repeat_columns, {x}, {{setting::count, n}, {setting::axis, std::move(columns)}});
}

Scalar minus_one() { return {-1.0, {"(−1)", "\\left(-1\\right)"}}; }

Value unbroadcast(const Value& d, const Value& operand) {
  const Shape whole = d.shape(), part = operand.shape();
  const Value columns = part.columns == whole.columns ? d : row_sums(d);
  if (part.rows == whole.rows) return columns;
  return sum_rows(columns, {.parts = 1, .apart = part.rows}, operand.node().frame.rows);
}

}  // namespace attn
