#include <fmt/format.h>

#include <cmath>

#include "command/command.hpp"
#include "command/forms.hpp"
#include "core/attention/watches.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "page/tell/describe.hpp"

namespace attn {
namespace {

const MatrixFile& usual_logits() {
  static const MatrixFile logits = read_literal("2 1 0; 0 1 3", "the logits");
  return logits;
}
const std::vector<std::size_t> usual_targets = {1, 2};

// The right word of each row, as a column of ids.  [n, 1]
Matrix column_of_targets(const std::vector<std::size_t>& targets, Shape logits) {
  if (targets.size() != logits.rows) {
    fail("--targets has {} for {} of --logits: give one for each", count_of(targets.size(), "word"),
         count_of(logits.rows, "row"));
  }
  Matrix ids({logits.rows, 1});
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] > logits.columns) {
      fail("--targets: {} is no column of --logits. The columns are numbered 1 to {}", targets[i], logits.columns);
    }
    ids(i, 0) = static_cast<double>(targets[i]);
  }
  return ids;
}

}  // namespace

Answer run_cross_entropy(const Command&, const Arguments& arguments) {
  const bool is_given = arguments.has(option::logits);
  const MatrixFile& file = is_given ? arguments.matrix(option::logits) : usual_logits();
  const double smoothing = arguments.number(option::smoothing).value_or(0.0);
  const Shape shape = file.matrix.shape();
  for (const double cell : cells(file.matrix)) {
    if (!std::isfinite(cell)) fail("--logits: every number must be finite");
  }
  Matrix ids = column_of_targets(is_given ? arguments.counts(option::targets) : usual_targets, shape);
  const auto graph = std::make_shared<Graph>(keep_nothing());
  watch(*graph);
  const Axis rows = axis("rows", file.row_labels);
  const Value logits = graph->input(role::logits, file.matrix, rows, axis("vocabulary", file.column_labels));
  const Value expected = graph->input(role::expected, std::move(ids), rows, axis("id"));
  const Value losses = name(role::losses, labelled(cross_entropy(logits, expected, smoothing), rows));
  const Value counted =
      graph->input(role::counted, Matrix({1, shape.rows}, 1.0 / static_cast<double>(shape.rows)), axis("loss"), rows);
  graph->tell_origin(counted.node(), "follows from the number of rows");
  const Value loss = name(role::loss, matmul(counted, losses));
  if (asks_for_gradients(arguments))
    return gradients_of({.computation = {graph}, .title = "cross-entropy", .results = {&loss.node()}}, arguments);
  const Value distribution = name(role::distribution, softmax(logits));
  compute_watched(*graph);

  Page page{.trace = graph->named()};
  page.head(1, "Cross-entropy");
  page.say(SideBySide{{table_of(logits.node()), table_of(expected.node())}});
  page.head(2, "Probabilities");
  page.say("Softmax turns each row of logits into a probability distribution over the words, one for each column.");
  add_results(page, {&distribution.node()});
  page.head(2, "Losses");
  if (smoothing == 0.0) {
    page.say("The loss of a row is −ln of the probability of its right word.");
  } else {
    page.say(fmt::format(
        "The target of a row has the probability 1 − ε + ε / {0} at the right word and ε / {0} at the others, with ε = {1}. "
        "The loss of a row is the sum of −ln of all probabilities, each multiplied by its target.",
        shape.columns, written_digits(smoothing, 6)));
  }
  add_results(page, {&losses.node()});
  page.head(2, "Loss");
  page.say("The loss is the average over the rows.");
  add_results(page, {&loss.node()});
  return {.page = std::move(page), .computation = {graph}};
}

}  // namespace attn
