#include "core/math/elementary_functions.hpp"
#include "core/op/definition.hpp"

// How far a distribution is from the word that should have come. Kernels: our own exp and ln have the same bits on
// every processor, and ids are checked as they are read.

namespace attn {
namespace {

IdsOf targets_of(const Use& use) {
  const auto title = [](const Use& of) { return of.operands[0]->title(); };
  return {*use.operands[1], use, title, "columns", use.frame(0).shape.columns};
}
double at_target(const Use& use) { return 1.0 - use[setting::smoothing]; }
double everywhere_in_row(const Use& use) {
  return use[setting::smoothing] / static_cast<double>(use.frame(0).shape.columns);
}

void require_id_for_each_row(const Use& use) {
  const Shape shape = use.frame(1).shape, logits = use.frame(0).shape;
  if (shape == Shape{logits.rows, 1}) return;
  fail("{} is {}: it must have one id for each of the {} rows of {}", use.operands[1]->title(), to_string(shape),
       logits.rows, use.operands[0]->title());
}

#ifdef ATTN_WITH_DEFINITIONS
// What the logits of each row should have come to: 1 at the id, or what smoothing leaves of it.
Numbers wanted(const Use& use, const ArrayBeside& ids) {
  const std::size_t words = use.frame(0).shape.columns;
  const Numbers at_id = xt::cast<double>(xt::equal(index_row(words) + 1.0, ids));
  return at_target(use) * at_id + everywhere_in_row(use);
}
#endif

}  // namespace

const Op op::cross_entropy = {
    .name = "cross_entropy",
    .formula = [](const Use& use, std::span<const Formula> operands) -> Formula {
      const Formula logits = within(Binding::whole, operands[0]), ids = within(Binding::whole, operands[1]);
      const std::string z = "{" + logits.latex + "}";
      const std::string plain = "ln row sums of exp(" + logits.plain + ") − ";
      const std::string latex = "\\ln \\sum_{k} \\exp " + z + "_{ik} - ";
      if (use[setting::smoothing] == 0.0)
        return {plain + logits.plain + " at " + ids.plain, latex + z + "_{i, " + ids.latex + "}", Binding::words};
      const std::string one = fmt::format("{}", at_target(use)), rest = fmt::format("{}", use[setting::smoothing]);
      return {plain + one + " ⋅ " + logits.plain + " at " + ids.plain + " − " + rest + " ⋅ mean of each row of " +
                  logits.plain,
              latex + one + " \\, " + z + "_{i, " + ids.latex + "} - \\tfrac{" + rest + "}{" +
                  fmt::format("{}", use.frame(0).shape.columns) + "} \\sum_{k} " + z + "_{ik}",
              Binding::words};
    },
    .cell = R"(of z, ids: with m = place(z[i]), id = ids[i,1], certain = 1 − smoothing,
          loss stands for ln(sum(k = 1 to columns(z) where z[i,k] ≠ −∞: exp(z[i,k] − z[i,m]))):
        (smoothing = 0: loss − (z[i,id] − z[i,m]);
          loss − certain · (z[i,id] − z[i,m]) − smoothing / columns(z) · sum(k = 1 to columns(z): z[i,k] − z[i,m]))
          because "the target is column {id}. {z[i,m]}, the largest logit of the row, is subtracted first: the loss
            stays the same, and exp cannot overflow")",
    .definition = CHECKED_2((logits, ids), const Numbers shifted = logits - largest_of_rows(logits);
                            const Numbers targets = wanted(use, ids);
                            set(result, xt::log(sum_of_rows(xt::exp(shifted))) - sum_of_rows(targets * shifted));),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          const IdsOf ids = targets_of(use);
          std::vector<double> shifted(operands[0].shape.columns);
          for (std::size_t i = result.first; i < result.end(); ++i) {
            const std::span<const double> logits = operands[0].row(i);
            const std::size_t target = ids.place(operands[1], i);
            const double largest = logits[place_of_largest(logits)];
            for (std::size_t k = 0; k < logits.size(); ++k) shifted[k] = logits[k] - largest;
            double expected = at_target(use) * shifted[target];
            if (use[setting::smoothing] > 0.0) expected += everywhere_in_row(use) * sum_of_cells(shifted);
            elementary::exp(shifted);
            result.row(i)[0] = elementary::log(sum_of_cells(shifted)) - expected;
          }
        },
    .frame = [](const Use& use) -> Frame {
      require_id_for_each_row(use);
      const Frame& logits = use.frame(0);
      return {{logits.shape.rows, 1}, logits.rows, axis("cross-entropy")};
    },
    .passes = 2,  // largest, exponential and sum
    .bounds = {.least = 0.0, .says = "A loss is never negative: it is minus the logarithm of a probability."},
    .gradients = [](const Use& use, const Value&, const Value& d, std::span<const Value> operands) -> Gradients {
      return {attn::cross_entropy_gradient(operands[0], operands[1], d, use[setting::smoothing]), std::nullopt};
    }};

// Operands: the logits, the ids and d.
const Op op::cross_entropy_gradient = {
    .name = "cross_entropy_gradient",
    .formula = [](const Use& use, std::span<const Formula> operands) -> Formula {
      const Formula &logits = operands[0], &ids = operands[1], d = within(Binding::product, operands[2]);
      const bool smooth = use[setting::smoothing] != 0.0;
      const std::string one = smooth ? fmt::format("{} ⋅ ", at_target(use)) : "",
                        one_latex = smooth ? fmt::format("{} \\, ", at_target(use)) : "",
                        rest = fmt::format("{}", use[setting::smoothing]),
                        count = fmt::format("{}", use.frame(0).shape.columns);
      return {"(softmax(" + logits.plain + ") − " + one + "one_hot(" + ids.plain + ")" +
                  (smooth ? " − " + rest + "/" + count : "") + ") ⊙ " + d.plain,
              "\\left(\\operatorname{softmax}\\left(" + logits.latex + "\\right) - " + one_latex +
                  "\\operatorname{onehot}\\left(" + ids.latex + "\\right)" +
                  (smooth ? " - \\tfrac{" + rest + "}{" + count + "}" : "") + "\\right) \\odot " + d.latex,
              Binding::product};
    },
    .cell = R"(of z, ids, d: with m = place(z[i]), id = ids[i,1],
          wanted = smoothing / columns(z) + (j = id: 1 − smoothing; 0),
          probability stands for (z[i,j] = −∞: 0;
            exp(z[i,j] − z[i,m]) / sum(k = 1 to columns(z) where z[i,k] ≠ −∞: exp(z[i,k] − z[i,m]))):
        (wanted = 0: probability; probability − wanted) · d[i,1]
          because "the target is column {id}. {z[i,m]}, the largest logit of the row, is subtracted first: the
            probabilities stay the same, and exp cannot overflow")",
    .definition = CHECKED_3((logits, ids, d), const Numbers targets = wanted(use, ids);
                            const Numbers powers = xt::exp(logits - largest_of_rows(logits));
                            const Numbers sums = sum_of_rows(powers); set(result, (powers / sums - targets) * d);),
    .compute =
        [](const Use& use, Operands operands, RowsToMake result) {
          take_first(operands, result);
          const IdsOf ids = targets_of(use);
          for (std::size_t i = result.first; i < result.end(); ++i) {
            const std::size_t target = ids.place(operands[1], i);
            const double d = operands[2](i, 0);
            const std::span<double> row = result.row(i);
            softmax_row(row);
            row[target] -= at_target(use);
            for (double& value : row) value = (value - everywhere_in_row(use)) * d;
          }
        },
    .frame = [](const Use& use) -> Frame {
      require_id_for_each_row(use);
      return use.frame(0);
    },
    .in_place = true,
    .passes = 4,  // largest, exponential and sum, division, product
    // Of uniform(d), whose one column is 1 everywhere, it is what multiplies d.
    .gradients = [](const Use& use, const Value&, const Value& u, std::span<const Value> operands) -> Gradients {
      const Value &logits = operands[0], &ids = operands[1], &d = operands[2];
      const Value distances = attn::cross_entropy_gradient(logits, ids, attn::uniform(d), use[setting::smoothing]);
      return {attn::multiply(attn::softmax_gradient(attn::softmax(logits), u), d), std::nullopt,
              attn::row_sums(attn::multiply(distances, u))};
    }};

Value cross_entropy(const Value& logits, const Value& ids, double smoothing) {
  if (!(smoothing >= 0.0 && smoothing <= 1.0)) fail("label smoothing is {}: give a number from 0 to 1", smoothing);
  return apply(op::cross_entropy, {logits, ids}, {{setting::smoothing, smoothing}});
}

Value cross_entropy_gradient(const Value& logits, const Value& ids, const Value& d, double smoothing) {
  return apply(op::cross_entropy_gradient, {logits, ids, d}, {{setting::smoothing, smoothing}});
}

}  // namespace attn
