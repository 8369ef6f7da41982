#include "school/failure/failure.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "core/graph/run.hpp"
#include "core/rewrite/rewriting.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"

namespace attn {
namespace {

constexpr Failure all_failures[] = {
    {"row-of-nan", "a row of NaN in the weights", "one-key-too-few no-number-where-all-masked", "finite(weights)",
     "weights", "walk", "--text 'the cat sat down'", "--causal", "a causal mask, or a query whose keys are all masked",
     "The mask hides a key too many, and a query has no key left. "
     "A causal mask that is off by one, for example, hides each query's own key. "
     "The scores of a query without a key are all −∞. "
     "Softmax divides 0 by 0 in this row, which is not a number (NaN). "
     "NaN spreads: every sum and every product with NaN is NaN.",
     "Leave each query a key. A causal mask hides the keys with j > i, not those with j ≥ i. "
     "Where a row may have no key at all, as with padding, set its weights to 0."},
    {"leaking-mask", "weights on masked keys", "masked-score-is-zero", "weights * (1 − mask) = 0", "weights", "walk",
     "--text 'the cat sat down'", "--causal", "a mask that hides some of the keys",
     "Masked scores are replaced by 0. "
     "The exponential of 0 is 1, so each masked key still gets a weight, and its value leaks into the output. "
     "Any mask value that is not far below all scores leaks in the same way, such as −1 or −1e-9.",
     "Put −∞ in place of masked scores, or a number as low as −1e9."},
    {"wrong-axis", "rows of weights that do not sum to 1", "softmax-over-queries", "row_sums(weights) = 1", "weights",
     "walk", "--text 'the cat sat down'", "", "a softmax over the keys of several queries",
     "The softmax is taken over the queries, down the columns, instead of over the keys, along the rows. "
     "The keys of one query no longer compete with each other.",
     "Take the softmax over the keys, the last axis of the scores: axis=-1, or dim=-1 in PyTorch."},
    {"look-into-the-future", "weights above the diagonal", "order-not-masked", "causal(weights)", "weights", "walk",
     "--text 'the cat sat down'", "--causal", "a causal mask, several words, and as many queries as keys",
     "The causal mask is left out, so a query attends to later keys. "
     "A model that predicts the next word then sees this word while it is trained. "
     "When it generates text, there is no next word to see.",
     "Mask every key that is later than its query, before the softmax."},
    {"no-scale", "scores that grow with the size of the keys", "not-scaled", "scaled = scores / √columns(k)", "weights",
     "walk", "--text 'the cat sat down' --d-model 64", "", "the scale √d_k, and scores that are not 0",
     "The scores are not divided by √d_k. "
     "A dot product of queries and keys with d_k independent numbers of mean 0 and variance 1 has the variance d_k. "
     "With large scores the softmax saturates: one weight is near 1, and the gradients of the others are near 0.",
     "Divide the scores by √d_k before the softmax."},
    {"overflow", "NaN where scores are large", "largest-not-subtracted", "finite(weights)", "weights", "walk",
     "--text 'the cat sat down'", "--multiply 1000", "a score above 88.7 before the softmax",
     "The softmax takes the exponentials in float32 without subtracting the largest score of the row. "
     "Above 88.7 an exponential is infinite in float32. "
     "Infinite divided by infinite is not a number (NaN).",
     "Subtract the largest score of each row before the exponentials. "
     "The weights stay the same, and no exponential is larger than 1."},
    {"mixed-heads", "heads that contain columns of other words", "heads-split-by-reshape", "of_heads(q) = q",
     "head.1.q", "walk", "--text 'the cat sat down'", "--heads 2", "several heads and several words",
     "The queries, keys and values are reshaped to heads × words × d_k, without a transpose. "
     "The shapes are correct, so no error is raised. "
     "But the rows of a head are no longer the words in their order.",
     "Reshape to words × heads × d_k, then exchange the first two axes."},
    {"forgotten-residual", "a layer that forgets its input", "residual-missing",
     "sum_2 = norm_1.output + feed_forward.output", "sum_2", "encoder", "--source 'the cat sat down'", "",
     "a layer of self-attention and feed-forward with residual connections and post-norm",
     "The output of each sub-layer replaces its input, and the input is not added. "
     "What the sub-layer does not pass on is lost for all later layers, and gradients have no direct path back.",
     "Add the input of each sub-layer to its output: x + sublayer(x).", "cross_attention.output"},
};

}  // namespace

std::span<const Failure> failures() { return all_failures; }

std::vector<const Mistake*> mistakes_of(const Failure& failure) {
  std::vector<const Mistake*> found;
  for (const std::string& name : parted(failure.mistakes, " ")) found.push_back(&look_up(mistakes(), name, "mistake"));
  return found;
}

const HeldLaw* MadeFailure::failing() const {
  const auto found = std::ranges::find_if(of_broken, [](const HeldLaw& held) { return held.broken.has_value(); });
  return found == of_broken.end() ? nullptr : &*found;
}

bool MadeFailure::holds_for_original() const {
  return std::ranges::none_of(of_original, [](const HeldLaw& held) { return held.broken.has_value(); });
}

namespace {

// The scopes in which mistakes are made: those of the nodes, of what these are made of, and of what is made of them.
std::set<std::string, std::less<>> scopes_of(const std::vector<const Mistake*>& mistakes, const Graph& graph) {
  std::set<std::string, std::less<>> scopes;
  for (const Mistake* mistake : mistakes) {
    const auto is_place = [&](const Node& node) { return mistake->where(node); };
    for (const Node& node : graph.nodes()) {
      const auto is_used = [&](const Node* operand) { return is_place(*operand); };
      if (is_place(node)) {
        scopes.emplace(node.scope());
        for (const Node* operand : node.operands) scopes.emplace(operand->scope());
      } else if (std::ranges::any_of(node.operands, is_used)) {
        scopes.emplace(node.scope());
      }
    }
  }
  return scopes;
}

}  // namespace

MadeFailure make_failure(const Failure& failure, const Graph& original) {
  std::vector<Change> changes;
  for (const Mistake* mistake : mistakes_of(failure)) {
    if (std::ranges::none_of(original.nodes(), mistake->where)) return {};
    changes.push_back(*mistake);
  }
  Rewriting again(original, std::move(changes));
  MadeFailure made;
  for (const Node* node : original.named()) {
    made.changes = again.changes(*node) || made.changes;
    again.of(*node);
  }
  made.broken = again.graph().shared_from_this();
  const auto is_there = [&, scopes = scopes_of(mistakes_of(failure), original)](const Node& matrix) {
    const std::string scope(matrix.scope());
    const bool is_meant = failure.not_beside.empty() || !original.find(scope + std::string(failure.not_beside));
    return is_meant && scopes.contains(scope);
  };
  // Of numbers that were rounded to float32, two are equal that differ by their rounding.
  const double tolerance = original.run().is_single() ? 1e-6 : default_tolerance_of_laws;
  try {
    made.of_original = check_law(failure.law, original, tolerance, is_there);
    made.of_broken = check_law(failure.law, *made.broken, tolerance, is_there);
  } catch (const InputError& error) {
    fail("{} needs {}, and its law cannot be held here: {}", failure.name, failure.needs, error.what());
  }
  return made;
}

}  // namespace attn
