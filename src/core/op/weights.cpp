#include <limits>

#include "core/op/definition.hpp"

// From scores to weights, and back: softmax and what takes its place, masks, and their gradients.

namespace attn {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// --- weights from scores

// A row of −∞ alone, which may look at nothing, becomes zeros. A kernel: the definition takes some ten times as long
// (docs/performance.md), because xtensor goes over the row for the largest, exp, sum and division one number at a time.
const Op op::softmax = {
    .name = "softmax",
    .plain = "softmax($1)",
    .latex = "\\operatorname{softmax}\\left($1\\right)",
    .cell = R"(of x: with m = place(x[i]):
        x[i,m] = −∞: 0 because "every number of row {row i of x} is −∞, so its weights are 0";
        x[i,j] = −∞: 0 because "its score is −∞, and exp(−∞) = 0";
        exp(x[i,j] − x[i,m]) / sum(k = 1 to columns(x) where x[i,k] ≠ −∞: exp(x[i,k] − x[i,m]))
          because "{x[i,m]}, the largest score of the row, is subtracted first: the weights stay the same, and exp
            cannot overflow")",
    .definition = CHECKED_1((x), const Numbers most = largest_of_rows(x);
                            set(result, xt::where(xt::equal(most, minus_infinity), 0.0, xt::exp(x - most)));
                            const Numbers sums = sum_of_rows(array_view(result));
                            set(result, array_view(result) / xt::where(xt::equal(sums, 0.0), 1.0, sums));),
    .compute =
        [](const Use&, Operands operands, RowsToMake result) {
          take_first(operands, result);
          for (std::size_t i = result.first; i < result.end(); ++i) softmax_row(result.row(i));
        },
    .in_place = true,
    .passes = 3,  // largest, exponential and sum, division
    .gradients = [](const Use&, const Value& result, const Value& d, std::span<const Value>) -> Gradients {
      return {attn::softmax_gradient(result, d)};
    }};

// A kernel: its sum has the same bits on every processor, and a row that only rounding has left is 0.
const Op op::normalize = {
    .name = "normalize",
    .plain = "$1! / its row's sum",
    .latex = "\\frac{{$1!}_{ij}}{\\sum_{j'} {$1!}_{ij'}}",
    .binding = Binding::words,
    .cell = R"(of x:
        total(x[i]) = 0: 0 because "the row's sum is 0, and nothing can be divided by 0";
        x[i,j] / sum(k = 1 to columns(x): x[i,k]))",
    .definition = CHECKED_1((x), const Numbers sums = sum_of_rows(x), sizes = sum_of_rows(xt::abs(x));
                            set(result, xt::where(xt::abs(sums) <= rounding_of(result) * sizes, 0.0, x / sums));),
    .compute =
        [](const Use&, Operands operands, RowsToMake result) {
          take_first(operands, result);
          for (std::size_t i = result.first; i < result.end(); ++i) {
            const double sum = sum_of(result.row(i));
            for (double& value : result.row(i)) value = sum == 0.0 ? 0.0 : value / sum;
          }
        },
    .in_place = true,
    .passes = 2,  // sum, division
    .gradients = [](const Use&, const Value& result, const Value& d, std::span<const Value> operands) -> Gradients {
      return {attn::normalize_gradient(d, result, operands[0])};
    }};

// The scores count for nothing but their number, and no small change of them changes a weight.
const Op op::uniform = {
    .name = "uniform",
    .plain = "1 / the number of columns of $1!",
    .latex = "\\frac{1}{\\operatorname{columns}\\left($1\\right)}",
    .binding = Binding::words,
    .cell = R"(of x: 1 / columns(x) because "every column counts the same, whatever the scores are")",
    .definition = DEFINE_LIST(set(result, everywhere(1.0 / static_cast<double>(result.shape.columns), result));),
    .needs = Needs::nothing,
    .gradients = [](const Use&, const Value&, const Value&, std::span<const Value>) -> Gradients {
      return {std::nullopt};
    }};

// A small change of the scores changes no weight.
const Op op::largest = {
    .name = "largest",
    .plain = "1 at the row's largest of $1!, else 0",
    .latex = "\\operatorname{onehot}\\left(\\arg\\max_{j} {$1!}_{ij}\\right)",
    .binding = Binding::words,
    .cell = R"(of x: with m = place(x[i]): (j = m: 1; 0) because "the largest of row {i} is {x[i,m]}")",
    .definition = DEFINE_1((x), const Numbers places = places_of_largest(x);
                           set(result, xt::cast<double>(xt::equal(index_row(result.shape.columns), places)));),
    .in_place = true,
    .gradients = [](const Use&, const Value&, const Value&, std::span<const Value>) -> Gradients {
      return {std::nullopt};
    }};

// --- masks: cells where a mask is 0 are replaced by a number

namespace {

Scalar fill_of(double fill) {
  if (std::isinf(fill)) return {fill, {"−∞", "-\\infty"}};
  const std::string written = fmt::format("{}", fill);
  return {fill, {written, written}};
}

Frame frame_of_masked(const Use& use) {
  const Frame &scores = use.frame(0), &allowed = use.frame(1);
  if (scores.shape != allowed.shape) {
    fail("{} is {} but {} is {}: a mask must have the shape of the matrix that it masks", use.operands[1]->title(),
         to_string(allowed.shape), use.operands[0]->title(), to_string(scores.shape));
  }
  return scores;
}

template <bool has_empty_rows>
Formula formula_of_masked(const Use& use, std::span<const Formula> operands) {
  const Formula &fill = use[setting::fill].notation, other = fill_of(minus_infinity).notation;
  const Formula scores = within(Binding::sum, operands[0]), allowed = within(Binding::sum, operands[1]);
  const bool two = has_empty_rows && use[setting::fill].value != minus_infinity;
  return {scores.plain + " where " + allowed.plain + " = 1, else " + fill.plain +
              (two ? " (" + other.plain + " in a row without any 1)" : ""),
          "\\begin{cases}" + scores.latex + " & " + allowed.latex + " = 1 \\\\ " + fill.latex + " & \\text{otherwise}" +
              (two ? " \\\\ " + other.latex + " & \\text{in a row without any 1}" : "") + "\\end{cases}",
          Binding::words};
}

OpSettings settings_of_mask(double fill, const MaskNouns& nouns) {
  return {{setting::fill, fill_of(fill)},
          {setting::row_noun, std::string(nouns.row)},
          {setting::column_noun, std::string(nouns.column)},
          {setting::cell_noun, std::string(nouns.cell)}};
}

bool is_empty(std::span<const double> allowed) {
  return std::ranges::all_of(allowed, [](double cell) { return cell == 0.0; });
}

void fill_masked(const Use& use, Operands operands, RowsToMake result) {
  take_first(operands, result);
  const double fill = use[setting::fill].value;
  for (std::size_t i = result.first; i < result.end(); ++i) {
    const std::span<double> x = result.row(i);
    const std::span<const double> allowed = operands[1].row(i);
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = allowed[j] != 0.0 ? x[j] : fill;
    if (fill != minus_infinity && is_empty(allowed)) std::ranges::fill(x, minus_infinity);
  }
}

// Where a cell was replaced, nothing flows back.
Gradients gradients_of_masked(const Use& use, const Value&, const Value& d, std::span<const Value> operands) {
  const MaskNouns nouns{.row = use[setting::row_noun], .column = use[setting::column_noun], .cell = "gradient"};
  return {apply(op::replace, {d, operands[1]}, settings_of_mask(0.0, nouns)), std::nullopt};
}

}  // namespace

// A finite fill in a whole row would come out of a softmax as equal weights for what is masked: there it is −∞. A
// kernel: the definition asks for the largest of each row of the mask first.
const Op op::mask = {
    .name = "mask",
    .formula = formula_of_masked<true>,
    .cell = R"(of x, allowed:
        allowed[i,j] ≠ 0: x[i,j]
          because "{column_noun} {column j of x} is not masked for {row_noun} {row i of x}, so the {cell_noun} stays";
        fill ≠ −∞ and all(k = 1 to columns(x): allowed[i,k] = 0): '−∞'
          because "every {column_noun} is masked for {row_noun} {row i of x}: {'−∞'} replaces the {cell_noun}s";
        fill
          because "{column_noun} {column j of x} is masked for {row_noun} {row i of x}: {fill} replaces the
            {cell_noun}")",
    .definition =
        CHECKED_2((x, allowed), const Numbers most = largest_of_rows(xt::abs(allowed));
                  set(result, xt::where(xt::not_equal(allowed, 0.0), x,
                                        xt::where(xt::equal(most, 0.0), minus_infinity, use[setting::fill].value)));),
    .compute = fill_masked,
    .frame = frame_of_masked,
    .in_place = true,
    .gradients = gradients_of_masked};

const Op op::replace = {
    .name = "replace",
    .formula = formula_of_masked<false>,
    .cell = R"(of x, allowed:
        allowed[i,j] ≠ 0: x[i,j]
          because "{column_noun} {column j of x} is not masked for {row_noun} {row i of x}, so the {cell_noun} stays";
        fill
          because "{column_noun} {column j of x} is masked for {row_noun} {row i of x}: {fill} replaces the
            {cell_noun}")",
    .definition =
        DEFINE_2((x, allowed), set(result, xt::where(xt::not_equal(allowed, 0.0), x, use[setting::fill].value));),
    .frame = frame_of_masked,
    .in_place = true,
    .gradients = gradients_of_masked};

// --- gradients: how one flows back from weights to what they were made of

// Operands: d and the weights. A row of zeros, which may look at nothing, gets zeros. A kernel: its sum has the same
// bits on every processor.
const Op op::softmax_gradient = {
    .name = "softmax_gradient",
    .plain = "$2* ⊙ ($1* − row sums of $2* ⊙ $1*)",
    .latex = "{$2!}_{ij} \\left({$1!}_{ij} - \\sum_{k} {$2!}_{ik} {$1!}_{ik}\\right)",
    .binding = Binding::product,
    .cell = R"(of d, w: w[i,j] · (d[i,j] − sum(k = 1 to columns(w): w[i,k] · d[i,k]))
        because "softmax has the Jacobian diag(α) − ααᵀ, where α is the row of weights")",
    .definition =
        CHECKED_2((d, weights), const Numbers means = sum_of_rows(weights * d); set(result, weights*(d - means));),
    .compute =
        [](const Use&, Operands operands, RowsToMake result) {
          take_first(operands, result);
          for (std::size_t i = result.first; i < result.end(); ++i)
            softmax_gradient_row(result.row(i), operands[1].row(i));
        },
    .in_place = true,
    .passes = 3,  // product and sum, distance, product
    // g = α ⊙ (d − r) with r = rowsum(α ⊙ d). By d the matrix is symmetric; by α both factors count.
    .gradients = [](const Use&, const Value&, const Value& u, std::span<const Value> operands) -> Gradients {
      const Value &d = operands[0], &weights = operands[1];
      const Value distances = attn::subtract(d, attn::row_sums(attn::multiply(weights, d)));
      const Value of_sums = attn::multiply(d, attn::row_sums(attn::multiply(weights, u)));
      return {attn::softmax_gradient(weights, u), attn::subtract(attn::multiply(u, distances), of_sums)};
    }};

// Operands: d, y and x. A kernel, as normalize is.
const Op op::normalize_gradient = {
    .name = "normalize_gradient",
    .plain = "($1* − row sums of $2* ⊙ $1*) / row sums of $3!",
    .latex = "\\frac{{$1!}_{ij} - \\sum_{k} {$2!}_{ik} {$1!}_{ik}}{\\sum_{k} {$3!}_{ik}}",
    .binding = Binding::words,
    .cell = R"(of d, y, x:
        total(x[i]) = 0: 0 because "the row's sum is 0, and nothing was divided by it";
        (d[i,j] − sum(k = 1 to columns(y): y[i,k] · d[i,k])) / sum(k = 1 to columns(x): x[i,k]))",
    .definition =
        CHECKED_3((d, y, x), const Numbers sums = sum_of_rows(x), sizes = sum_of_rows(xt::abs(x));
                  const Numbers means = sum_of_rows(y * d);
                  set(result, xt::where(xt::abs(sums) <= rounding_of(result) * sizes, 0.0, (d - means) / sums));),
    .compute =
        [](const Use&, Operands operands, RowsToMake result) {
          take_first(operands, result);
          for (std::size_t i = result.first; i < result.end(); ++i) {
            const std::span<double> d = result.row(i);
            const double mean = dot_product(operands[1].row(i), d), sum = sum_of(operands[2].row(i));
            for (double& value : d) value = sum == 0.0 ? 0.0 : (value - mean) / sum;
          }
        },
    .in_place = true,
    .passes = 4};  // product and sum, the other sum, distance, division

// --- what applies them

Value softmax(const Value& scores) { return apply(op::softmax, {scores}); }
Value normalize(const Value& x) { return apply(op::normalize, {x}); }
Value uniform(const Value& scores) { return apply(op::uniform, {scores}); }
Value largest(const Value& scores) { return apply(op::largest, {scores}); }
Value mask(const Value& scores, const Value& allowed, double fill, const MaskNouns& nouns) {
  return apply(op::mask, {scores, allowed}, settings_of_mask(fill, nouns));
}
Value replace(const Value& x, const Value& kept, double fill) {
  return apply(op::replace, {x, kept}, settings_of_mask(fill, {}));
}
double mask_fill(const Node& node) { return node.op == &op::mask ? node.find(setting::fill)->value : minus_infinity; }
Value softmax_gradient(const Value& weights, const Value& d) { return apply(op::softmax_gradient, {d, weights}); }
Value normalize_gradient(const Value& d, const Value& y, const Value& x) {
  return apply(op::normalize_gradient, {d, y, x});
}

}  // namespace attn
