#include "apart/failure/failure.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "core/graph/run.hpp"
#include "core/rewrite/rewriting.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "school/mistake/parts.hpp"
#include "school/mistake/single_exponentials.hpp"

namespace attn {

namespace {

// --- what failures require

bool any_node(const Graph& graph, bool (*is)(const Node& node)) { return std::ranges::any_of(graph.nodes(), is); }

bool any_number(const Node& node, bool (*is)(double number)) { return std::ranges::any_of(cells(*node.cells()), is); }

// The mask of masked scores, of which a cell is 0 where a key is masked.
const Node& mask_of(const Node& masked) { return *masked.operands[1]; }

bool is_zero(double number) { return number == 0.0; }
bool is_not_zero(double number) { return number != 0.0; }

bool masks_a_key(const Graph& graph) {
  return any_node(graph, [](const Node& node) { return masks_scores(node) && any_number(mask_of(node), is_zero); });
}

// Whether a mask tells queries apart, or leaves one without any key.
bool masks_by_query(const Node& node) {
  if (!masks_scores(node)) return false;
  const std::shared_ptr<const Matrix> mask = mask_of(node).cells();
  for (std::size_t i = 0; i < mask->shape().rows; ++i) {
    if (!std::ranges::equal(row(*mask, i), row(*mask, 0)) || std::ranges::all_of(row(*mask, i), is_zero)) return true;
  }
  return false;
}

bool hides_a_later_key(const Node& node) {
  if (!masks_scores(node)) return false;
  const std::shared_ptr<const Matrix> mask = mask_of(node).cells();
  for (std::size_t i = 0; i < mask->shape().rows; ++i) {
    if (std::ranges::any_of(row(*mask, i).subspan(std::min(i + 1, mask->shape().columns)), is_zero)) return true;
  }
  return false;
}

bool has_square_weights(const Graph& graph) {
  return any_node(graph, [](const Node& node) {
    return is_softmax_of_attention(node) && node.frame.shape.rows == node.frame.shape.columns;
  });
}

// With equal rows, a softmax over as many queries as keys gives each cell the same part of both.
bool has_rows_apart(const Node& node) {
  if (!is_softmax_of_attention(node)) return false;
  const std::shared_ptr<const Matrix> scores = node.operands.front()->cells();
  const Shape shape = scores->shape();
  if (shape.rows != shape.columns) return true;
  for (std::size_t i = 1; i < shape.rows; ++i) {
    if (!std::ranges::equal(row(*scores, i), row(*scores, 0))) return true;
  }
  return false;
}

// The size of the keys whose scores are scaled here; 0: there are no keys.
std::size_t size_of_keys(const Node& scaled) {
  const Node* const keys = scaled.beside(role::k);
  return keys ? keys->frame.shape.columns : 0;
}

bool is_divided_by_root_of_keys(const Node& node) {
  if (!node.is(role::scaled) || node.is_alias() || node.op != &op::divide) return false;
  const double root = std::sqrt(static_cast<double>(size_of_keys(node)));
  return root > 0.0 && std::fabs(node.find(setting::number)->value - root) <= default_tolerance_of_laws * root;
}

bool has_several_queries(const Node& node) { return node.is(role::q) && node.frame.shape.rows > 1; }

// The largest score whose exponential is a number in float32.
constexpr double largest_exponent = 88.7;

// What the law of the residual connections names.
bool is_second_sum_after_norm(const Node& node) {
  if (!node.is(role::sum) || !node.op) return false;
  const std::string scope(node.scope());
  const Node* const normalized = node.graph->find(scope + "norm_1.output");
  const Node* const fed_forward = node.graph->find(scope + "feed_forward.output");
  return normalized && fed_forward && !node.graph->find(scope + "cross_attention.output") && uses(node, *normalized) &&
         uses(node, *fed_forward);
}

constexpr FailureNeed of_row_of_nan[] = {
    {[](const Graph& graph) { return any_node(graph, masks_by_query); },
     "a mask of 0 and 1 (such as a causal one) that hides a key from some of the queries alone, or all keys from one"}};

constexpr FailureNeed of_leaking_mask[] = {{masks_a_key, "a mask of 0 and 1 that hides a key"}};

constexpr FailureNeed of_wrong_axis[] = {
    {[](const Graph& graph) { return any_node(graph, is_softmax_of_attention); }, "a softmax over the keys"},
    {[](const Graph& graph) { return any_node(graph, has_rows_apart); },
     "queries whose scores differ, or not as many queries as keys"}};

constexpr FailureNeed of_look_into_the_future[] = {
    {[](const Graph& graph) { return any_node(graph, hides_a_later_key); },
     "a mask of 0 and 1 (such as a causal one) that hides a later key"},
    {has_square_weights, "as many queries as keys"}};

constexpr FailureNeed of_no_scale[] = {
    {[](const Graph& graph) { return any_node(graph, is_divided_by_root_of_keys); }, "the scale √d_k"},
    {[](const Graph& graph) {
       return any_node(graph, [](const Node& node) { return node.is(role::k) && node.frame.shape.columns > 1; });
     },
     "a d_k above 1"},
    {[](const Graph& graph) {
       return any_node(graph, [](const Node& node) { return node.is(role::scores) && any_number(node, is_not_zero); });
     },
     "scores that are not 0"}};

bool has_no_sum_in_float32(const Node& node) {
  if (!is_softmax_of_attention(node)) return false;
  const std::shared_ptr<const Matrix> scores = node.operands.front()->cells();
  for (std::size_t i = 0; i < scores->shape().rows; ++i) {
    const auto is_large = [](double score) { return score > largest_exponent; };
    if (std::ranges::any_of(row(*scores, i), is_large) || all_vanish_in_single(row(*scores, i))) return true;
  }
  return false;
}

constexpr FailureNeed of_overflow[] = {
    {[](const Graph& graph) { return any_node(graph, has_no_sum_in_float32); },
     "a score above 88.7 before the softmax, or a query whose scores are all below about −104"}};

constexpr FailureNeed of_mixed_heads[] = {
    {[](const Graph& graph) {
       return any_node(graph, [](const Node& node) { return node.is(role::q) && head_of(node).has_value(); });
     },
     "several heads"},
    {[](const Graph& graph) { return any_node(graph, has_several_queries); }, "several words"}};

constexpr FailureNeed of_forgotten_residual[] = {
    {[](const Graph& graph) { return any_node(graph, is_second_sum_after_norm); },
     "a layer of self-attention and feed-forward with residual connections and post-norm"}};

// --- the failures

constexpr Failure all_failures[] = {
    {"row-of-nan", "a row of NaN in the weights", "one-key-too-few no-number-where-all-masked", "finite(weights)",
     "weights", "walk", "--text 'the cat sat down'", "--causal", of_row_of_nan,
     "The mask hides a key too many, and a query has no key left. "
     "A causal mask that is off by one, for example, hides each query's own key. "
     "The scores of a query without a key are all −∞. "
     "Softmax divides 0 by 0 in this row, which is not a number (NaN). "
     "NaN spreads: every sum and every product with NaN is NaN.",
     "Leave each query a key. A causal mask hides the keys with j > i, not those with j ≥ i. "
     "Where a row may have no key at all, as with padding, set its weights to 0."},
    {"leaking-mask", "weights on masked keys", "masked-score-is-zero", "weights * (1 − mask) = 0", "weights", "walk",
     "--text 'the cat sat down'", "--causal", of_leaking_mask,
     "Masked scores are replaced by 0. "
     "The exponential of 0 is 1, so each masked key still gets a weight, and its value leaks into the output. "
     "Any mask value that is not far below all scores leaks in the same way, such as −1 or −1e-9.",
     "Put −∞ in place of masked scores, or a number far below all scores, such as −1e9 where scores are small."},
    {"wrong-axis", "rows of weights that do not sum to 1", "softmax-over-queries", "row_sums(weights) = 1", "weights",
     "walk", "--text 'the cat sat down'", "", of_wrong_axis,
     "The softmax is taken over the queries, down the columns, instead of over the keys, along the rows. "
     "The keys of one query no longer compete with each other.",
     "Take the softmax over the keys, the last axis of the scores: axis=-1, or dim=-1 in PyTorch."},
    {"look-into-the-future", "weights above the diagonal", "order-not-masked", "causal(weights)", "weights", "walk",
     "--text 'the cat sat down'", "--causal", of_look_into_the_future,
     "The causal mask is left out, so a query attends to later keys. "
     "A model that predicts the next word then sees this word while it is trained. "
     "When it generates text, there is no next word to see.",
     "Mask every key that is later than its query, before the softmax."},
    {"no-scale", "scores that grow with the size of the keys", "not-scaled", "scaled = scores / √columns(k)", "weights",
     "walk", "--text 'the cat sat down' --d-model 64", "", of_no_scale,
     "The scores are not divided by √d_k. "
     "A dot product of queries and keys with d_k independent numbers of mean 0 and variance 1 has the variance d_k. "
     "Where one score is far above the others, the softmax saturates: its weight is near 1, and all gradients of the scores are near 0.",
     "Divide the scores by √d_k before the softmax."},
    {"overflow", "NaN where scores are large", "largest-not-subtracted", "finite(weights)", "weights", "walk",
     "--text 'the cat sat down'", "--multiply 1000", of_overflow,
     "The softmax takes the exponentials in float32 without subtracting the largest score of the row. "
     "Above 88.7 an exponential is infinite in float32. "
     "Infinite divided by infinite is not a number (NaN). "
     "Below about −104 an exponential is 0, and where all of a row are, 0 is divided by 0: NaN as well.",
     "Subtract the largest score of each row before the exponentials. "
     "The weights stay the same, and no exponential is larger than 1."},
    {"mixed-heads", "heads that contain columns of other words", "heads-split-by-reshape", "of_heads(q) = q",
     "head.1.q", "walk", "--text 'the cat sat down'", "--heads 2", of_mixed_heads,
     "The queries, keys and values are reshaped to heads × words × d_k, without a transpose. "
     "The shapes are correct, so no error is raised. "
     "But the rows of a head are no longer the words in their order.",
     "Reshape to words × heads × d_k, then exchange the first two axes."},
    {"forgotten-residual", "a layer that forgets its input", "residual-missing",
     "sum_2 = norm_1.output + feed_forward.output", "sum_2", "encoder", "--source 'the cat sat down'", "",
     of_forgotten_residual,
     "The output of each sub-layer replaces its input, and the input is not added. "
     "What the sub-layer does not pass on is lost for all later layers, and gradients have no direct path back.",
     "Add the input of each sub-layer to its output: x + sublayer(x).", "cross_attention.output"},
};

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

std::span<const Failure> failures() { return all_failures; }

std::string missing_for(const Failure& failure, const Graph& computation) {
  std::vector<std::string> missing;
  for (const FailureNeed& requirement : failure.requirements) {
    if (!requirement.is_met(computation)) missing.emplace_back(requirement.needs);
  }
  return missing.empty() ? "" : list_in_words(missing);
}

std::vector<const Mistake*> mistakes_of(const Failure& failure) {
  std::vector<const Mistake*> found;
  for (const std::string& name : split_at_any(failure.mistakes, " "))
    found.push_back(&look_up(mistakes(), name, "mistake"));
  return found;
}

const LawCheck* MadeFailure::failing() const {
  const auto found = std::ranges::find_if(of_broken, [](const LawCheck& held) { return held.broken.has_value(); });
  return found == of_broken.end() ? nullptr : &*found;
}

bool MadeFailure::holds_for_original() const {
  return std::ranges::none_of(of_original, [](const LawCheck& held) { return held.broken.has_value(); });
}

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
    const std::string missing = missing_for(failure, original);
    fail("the law of {} cannot be held here: {}{}", failure.name, error.what(),
         missing.empty() ? "" : fmt::format(". The failure needs {}", missing));
  }
  return made;
}

}  // namespace attn
