#include "command/model/causal.hpp"
#include "attention/watches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "command/model/run.hpp"
#include "support/error.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

Matrix decoded(const ModelChoice& choice) {
  Graph graph(keep_nothing());
  run_model(choice, graph);
  compute(graph, compared(graph));
  return compared(graph).front()->matrix();
}

// The model on other words: another one at position t, counted from 0.
ModelChoice with_another_word(ModelChoice choice, std::size_t t) {
  if (choice.target.x) {
    for (double& cell : row(*choice.target.x, t)) cell += 1.0;
    return choice;
  }
  const std::size_t words = choice.model.sizes.target_words;
  if (words < 2) fail("--check-causal replaces words, and the vocabulary has only one: give --target-x");
  choice.target.ids[t] = choice.target.ids[t] % words + 1;
  return choice;
}

// How far the rows of [from, to) moved at most.
double moved(const Matrix& before, const Matrix& after, std::size_t from, std::size_t to) {
  double most = 0.0;
  for (std::size_t i = from; i < to; ++i) {
    for (std::size_t j = 0; j < before.shape().columns; ++j) {
      most = std::max(most, std::fabs(after(i, j) - before(i, j)));
    }
  }
  return most;
}

}  // namespace

std::vector<const Node*> compared(const Graph& graph) {
  const Node* const output = graph.find(Name{{scope::decoder}, role::output}.text());
  return output ? std::vector{output} : std::vector<const Node*>();
}

Outcome check_causal(const ModelChoice& choice) {
  if (choice.target.size() == 0) fail("--check-causal needs a decoder, and this model has none");
  const std::size_t n = choice.target.size();
  if (n < 2) fail("--check-causal replaces a later word, and there is only one: give a longer --target");
  const Matrix original = decoded(choice);
  Matrix numbers({n - 1, 2}, 0.0);
  std::vector<std::string> labels;
  bool holds = true;
  for (std::size_t t = 1; t < n; ++t) {
    const Matrix changed = decoded(with_another_word(choice, t));
    numbers(t - 1, 0) = moved(original, changed, 0, t);
    numbers(t - 1, 1) = moved(original, changed, t, n);
    holds = holds && numbers(t - 1, 0) == 0.0;
    labels.push_back(choice.target.tokens.empty() ? fmt::format("word {}", t + 1)
                                                  : fmt::format("{} {}", t + 1, choice.target.tokens[t]));
  }
  Page page;
  page.blocks.emplace_back(Heading{1, text("Causal mask check")});
  page.blocks.emplace_back(Prose{
      text("Each target word except the first is changed in turn. The table shows the largest change in the "
           "decoder's output: at the earlier positions, and from the changed position on.")});
  page.blocks.emplace_back(quantities("changed", axis("words", std::move(labels)),
                                      {"earlier", "this and later"}, std::move(numbers)));
  page.blocks.emplace_back(
      Prose{text(holds ? "No earlier output changed."
                       : "An earlier output changed: the model attends to later words.")});
  return {.page = std::move(page),
          .warnings = choice.remarks,
          .verdict = holds ? Verdict::passed : Verdict::failed};
}

}  // namespace attn
