#include <array>
#include <cmath>

#include "core/attention/score.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// --- kernels
// Mistakes with the Gaussian kernel, by which values near a query are pooled.

namespace {

/// The scores of a kernel: their width σ², and the queries and keys they were made of.
struct Kernel {
  const Node &q, &k;
  double squared_width;
};

std::optional<Kernel> kernel_of(const Node& node) {
  if (!node.scored_by || !node.scored_by->is_made_by(gaussian) || node.is_alias()) return std::nullopt;
  const Scalar* const width = number_of(*node.operation);
  const Node& distances = width ? *node.operands[0] : node;
  return Kernel{*distances.operands[0], *distances.operands[1], width ? width->value : 1.0};
}

Made by_factor(const Node& node, Rewriting& again, double factor) {
  return times(again.unchanged(node), plain_number(factor));
}

Made width_missing(const Node& node, Rewriting& again) {
  const auto kernel = kernel_of(node);
  if (!kernel || kernel->squared_width == 1.0) return std::nullopt;
  return by_factor(node, again, kernel->squared_width);
}

Made width_multiplied(const Node& node, Rewriting& again) {
  const auto kernel = kernel_of(node);
  if (!kernel || kernel->squared_width == 1.0) return std::nullopt;
  return by_factor(node, again, kernel->squared_width * kernel->squared_width);
}

// −½‖q − k‖: the length is its square over the unit vector.
Made distance_not_squared(const Node& node, Rewriting& again) {
  const auto kernel = kernel_of(node);
  if (!kernel) return std::nullopt;
  const Value q = again.of(kernel->q), k = again.of(kernel->k);
  const Value differences = pairwise_sum(q, times(k, plain_number(-1.0)));
  const Value lengths = row_sums(multiply(differences, unit_rows(differences)));
  return times(unpair(lengths, q, k), plain_number(-0.5 / kernel->squared_width));
}

constexpr std::array mistakes_in_kernels = {
    Mistake{"kernel-width-missing", error, "a kernel without its width σ",
            "This is what the kernel gives without its width. Divide by σ².", width_missing},
    Mistake{"kernel-width-multiplied", error, "multiplication by σ² instead of division",
            "This is what multiplication by σ² gives. Divide by σ²: with a wide kernel far keys count more.",
            width_multiplied},
    Mistake{"kernel-distance-not-squared", error, "the distance instead of its square",
            "This is what the distance gives when it is not squared. The score is −½‖q − k‖²/σ².",
            distance_not_squared},
};

}  // namespace

std::span<const Mistake> mistakes_of_kernels() { return mistakes_in_kernels; }

// --- scores
// Mistakes with scores: what is compared, by what they are divided, what is added to them.

namespace {

using enum Mistake::Kind;

// --- what is compared

Made keys_not_transposed(const Node& node, Rewriting& again) {
  if (!compares(node)) return std::nullopt;
  return matmul(again.of(*node.operands[0]), again.of(*node.operands[1]));
}

Made scores_transposed(const Node& node, Rewriting& again) {
  if (!compares(node)) return std::nullopt;
  return matmul_transposed(again.of(*node.operands[1]), again.of(*node.operands[0]));
}

Made queries_with_queries(const Node& node, Rewriting& again) {
  if (!compares(node)) return std::nullopt;
  const Value q = again.of(*node.operands[0]);
  return matmul_transposed(q, q);
}

Made keys_with_keys(const Node& node, Rewriting& again) {
  if (!compares(node)) return std::nullopt;
  const Value k = again.of(*node.operands[1]);
  return matmul_transposed(k, k);
}

// Values stand beside the scores, or with one head around them.
Made queries_with_values(const Node& node, Rewriting& again) {
  const Node* const v = compares(node) ? node.beside(role::v) : nullptr;
  if (!v) return std::nullopt;
  return matmul_transposed(again.of(*node.operands[0]), again.of(*v));
}

// What q or k was projected from.
const Node* input_words(const Node& node, const Role& role) {
  const Node* const whole = shared_by_heads(node, role);
  const std::optional<LinearNodes> map = whole ? linear_nodes(*whole) : std::nullopt;
  return map ? map->x : nullptr;
}

Made words_with_words(const Node& node, Rewriting& again) {
  if (!compares(node)) return std::nullopt;
  const Node *const of_queries = input_words(node, role::q), *const of_keys = input_words(node, role::k);
  if (!of_queries || !of_keys) return std::nullopt;
  return matmul_transposed(again.of(*of_queries), again.of(*of_keys));
}

Made cosines(const Node& node, Rewriting& again) {
  if (!compares(node)) return std::nullopt;
  return matmul_transposed(unit_rows(again.of(*node.operands[0])), unit_rows(again.of(*node.operands[1])));
}

Made not_divided_by_lengths(const Node& node, Rewriting& again) {
  if (!makes(node, role::unit_q) && !makes(node, role::unit_k)) return std::nullopt;
  return again.of(*node.operands[0]);
}

bool is_gaussian(const Node& node) {
  return makes(node, role::scores) && node.scored_by && node.scored_by->is_made_by(gaussian);
}

Made distances_not_halved(const Node& node, Rewriting& again) {
  if (!is_gaussian(node)) return std::nullopt;
  return times(again.unchanged(node), plain_number(2.0));
}

Made distances_positive(const Node& node, Rewriting& again) {
  if (!is_gaussian(node)) return std::nullopt;
  return times(again.unchanged(node), plain_number(-1.0));
}

Made width_not_squared(const Node& node, Rewriting& again) {
  if (!is_gaussian(node) || !is_division(*node.operation)) return std::nullopt;
  return divide(again.of(*node.operands[0]), plain_number(std::sqrt(number_of(*node.operation)->value)));
}

Made without_tanh(const Node& node, Rewriting& again) {
  if (!makes(node, role::activated) || !node.beside(role::hidden_q)) return std::nullopt;
  return again.of(*node.operands[0]);
}

Made score_matrix_transposed(const Node& node, Rewriting& again) {
  if (!makes(node, role::projected_q)) return std::nullopt;
  return matmul_transposed(again.of(*node.operands[0]), again.of(*node.operands[1]));
}

// --- the scale

// The scores before the scale; null where they are not scaled.
const Scalar* scale_of(const Node& node) { return makes(node, role::scaled) ? number_of(*node.operation) : nullptr; }

Made scores_not_scaled(const Node& node, Rewriting& again) {
  if (!scale_of(node)) return std::nullopt;
  return again.of(*node.operands[0]);
}

Made scale_squared(const Node& node, Rewriting& again) {
  if (!scale_of(node)) return std::nullopt;
  return again.graph().apply(node.operation, {again.unchanged(node)});
}

Made multiplied_by_scale(const Node& node, Rewriting& again) {
  const Scalar* const scale = scale_of(node);
  if (!scale || !is_division(*node.operation)) return std::nullopt;
  return times(again.of(*node.operands[0]), *scale);
}

// How many numbers a key has, where queries and keys are compared number by number.
std::optional<std::size_t> size_of_key(const Node& node) {
  const Node* const scores = node.beside(role::scores);
  const Node* const comparison = scores ? comparison_of(*scores) : nullptr;
  if (!comparison) return std::nullopt;
  return comparison->operands[1]->frame.shape.columns;
}

// Whether the scores are divided by √d_k, and not by a number of somebody's choice.
bool is_divided_by_root_of_key(const Node& node) {
  const Scalar* const scale = scale_of(node);
  const std::optional<std::size_t> d_k = scale ? size_of_key(node) : std::nullopt;
  return d_k && is_division(*node.operation) && scale->value == root_of(*d_k).value;
}

// √d_model, of the inputs or else of the queries of all heads.
Made divided_by_root_of_model(const Node& node, Rewriting& again) {
  const Node* const q = is_divided_by_root_of_key(node) ? shared_by_heads(node, role::q) : nullptr;
  if (!q) return std::nullopt;
  const Node* const x = input_words(node, role::q);
  return divide(again.of(*node.operands[0]), root_of((x ? x : q)->frame.shape.columns));
}

Made divided_by_keys(const Node& node, Rewriting& again) {
  if (!scale_of(node)) return std::nullopt;
  return divide(again.of(*node.operands[0]), plain_number(static_cast<double>(node.frame.shape.columns)));
}

Made divided_by_root_of_keys(const Node& node, Rewriting& again) {
  if (!scale_of(node)) return std::nullopt;
  return divide(again.of(*node.operands[0]), root_of(node.frame.shape.columns));
}

// Where the scores are not scaled, they have the name of the scaled ones as well.
Made divided_by_root_of_key(const Node& node, Rewriting& again) {
  if (!node.is(role::scaled)) return on_named(node, role::scaled, again);
  const std::optional<std::size_t> d_k = size_of_key(node);
  if (!d_k || is_divided_by_root_of_key(node)) return std::nullopt;
  return divide(again.of(scale_of(node) ? *node.operands[0] : node.original()), root_of(*d_k));
}

Made scaled_after_softmax(const Node& node, Rewriting& again) {
  if (scale_of(node)) return again.of(*node.operands[0]);
  const Node* const scaled = is_softmax_of_attention(node) ? node.beside(role::scaled) : nullptr;
  if (!scaled || !scale_of(*scaled)) return std::nullopt;
  return again.graph().apply(scaled->operation, {again.unchanged(node)});
}

// Dot products grow with q as the scores do, so that either may be scaled.
Made queries_scaled(const Node& node, Rewriting& again) {
  const Node* scaled = nullptr;
  if (scale_of(node)) scaled = &node;
  if (node.is(role::q) && !node.within(scope::head)) {
    const std::vector<const Node*> heads = of_all_heads(node, role::scaled);
    scaled = heads.empty() ? node.beside(role::scaled) : heads.front();
  }
  if (!scaled || !scale_of(*scaled)) return std::nullopt;
  const Node* const scores = scaled->beside(role::scores);
  if (!scores || !scores->scored_by || !scores->scored_by->is_made_by(dot_product)) return std::nullopt;
  if (&node == scaled) return again.of(*node.operands[0]);
  return again.graph().apply(scaled->operation, {again.unchanged(node)});
}

// The mask on scores that are scaled behind it: where it stands makes no difference to the weights.
Made masked_before_scaled(const Node& node, Rewriting& again) {
  const Node* const masked = is_softmax_of_attention(node) ? node.operands[0] : &node;
  if (!makes(*masked, role::masked) || !masked->operation->is(op::mask)) return std::nullopt;
  const Node& scaled = *masked->operands[0];
  if (!scale_of(scaled)) return std::nullopt;
  if (masked == &node)
    return again.graph().apply(node.operation, {again.of(*scaled.operands[0]), again.of(*node.operands[1])});
  return again.graph().apply(node.operation, {again.graph().apply(scaled.operation, {again.of(*masked)})});
}

// --- the cap, and what is added

Made not_capped(const Node& node, Rewriting& again) {
  if (!makes(node, role::capped)) return std::nullopt;
  const Node* const scaled = node.beside(role::scaled);
  if (!scaled) return std::nullopt;
  return again.of(*scaled);
}

Made not_divided_by_cap(const Node& node, Rewriting& again) {
  if (!makes(node, role::capped)) return std::nullopt;
  const Node* const scaled = node.beside(role::scaled);
  if (!scaled) return std::nullopt;
  return again.graph().apply(node.operation, {attn::tanh(again.of(*scaled))});
}

// Whether something is added to the scaled scores: a mask of numbers, or what distances add.
bool adds_to_scaled(const Node& node) {
  if (!node.operation || node.is_alias() || node.operands.size() != 2) return false;
  const Node& scores = *node.operands[0];
  const bool is_scaled = scores.is(role::scaled) || scores.is(role::capped) || scores.is(role::scores);
  return is_scaled && is_addition(*node.operation) && !node.is(role::scores);
}

Made nothing_added(const Node& node, Rewriting& again) {
  if (!adds_to_scaled(node)) return std::nullopt;
  return again.of(*node.operands[0]);
}

Made added_before_scale(const Node& node, Rewriting& again) {
  if (!adds_to_scaled(node) || !scale_of(*node.operands[0])) return std::nullopt;
  const Node& scaled = *node.operands[0];
  const Value sum = add(again.of(*scaled.operands[0]), again.of(*node.operands[1]));
  return again.graph().apply(scaled.operation, {sum});
}

constexpr std::array mistakes_in_scores = {
    Mistake{"not-scaled", error, "scores that are not scaled",
            "This is what scores give that are not scaled. Scale them before the softmax.", scores_not_scaled},
    Mistake{"scale-squared", error, "the square of the scale, such as d_k instead of √d_k",
            "This is what scores give that are scaled twice, as by d_k in place of √d_k. Scale them once.",
            scale_squared},
    Mistake{"multiplied-by-scale", error, "scores multiplied instead of divided",
            "This is what multiplication gives, where the scores are to be divided. Divide by the same number.",
            multiplied_by_scale},
    Mistake{"divided-by-root-of-model", error, "division by √d_model instead of √d_k",
            "This is what division by √d_model gives. Divide by √d_k, where d_k is the size of a key of one head.",
            divided_by_root_of_model},
    Mistake{"divided-by-root-of-key", error, "division by √d_k where the scale is another",
            "This is what division by √d_k gives. "
            "Here the formula of the scaled scores has another scale, or none.",
            divided_by_root_of_key},
    Mistake{"divided-by-keys", error, "division by the number of keys",
            "This is what division by the number of keys gives. "
            "Divide by the number in the formula of the scaled scores.",
            divided_by_keys},
    Mistake{"divided-by-root-of-keys", error, "division by the square root of the number of keys",
            "This is what division by the square root of the number of keys gives. "
            "Divide by the number in the formula of the scaled scores.",
            divided_by_root_of_keys},
    Mistake{"scaled-after-softmax", error, "weights scaled instead of scores",
            "This is what scaling after the softmax gives: the weights of a row no longer sum to 1. "
            "Scale the scores, before the softmax.",
            scaled_after_softmax},
    Mistake{"queries-scaled", convention, "queries scaled instead of scores",
            "This is what scaling the queries gives. "
            "Fairseq and PyTorch's MultiheadAttention do that, and the scaled scores are the same. "
            "Here the scores are scaled.",
            queries_scaled},
    Mistake{"masked-before-scaled", convention, "mask before the scale",
            "This is what masking the scores before they are scaled gives. "
            "Some do that, as in Raschka's book, and the weights are the same. Here the scaled scores are masked.",
            masked_before_scaled},
    Mistake{"keys-not-transposed", error, "q k instead of q kᵀ",
            "This is what q times k gives when the keys are not transposed: each query meets a column of k. "
            "Take the dot product of each query with each key, a row of q with a row of k.",
            keys_not_transposed},
    Mistake{"scores-transposed", error, "k qᵀ instead of q kᵀ",
            "This is what k qᵀ gives, the scores transposed. Take q kᵀ: rows are queries, and columns are keys.",
            scores_transposed},
    Mistake{"queries-with-queries", error, "queries compared with queries",
            "This is what the queries compared with each other give. Compare each query with the keys.",
            queries_with_queries},
    Mistake{"keys-with-keys", error, "keys compared with keys",
            "This is what the keys compared with each other give. Compare each query with the keys.", keys_with_keys},
    Mistake{"queries-with-values", error, "queries compared with values",
            "This is what the queries compared with the values give. "
            "Compare them with the keys: values are only averaged.",
            queries_with_values},
    Mistake{"words-with-words", error, "inputs compared without their projections",
            "This is what the inputs of the attention give when they are compared with each other. "
            "Compare the queries and the keys that are projected from them.",
            words_with_words},
    Mistake{"cosine", error, "cosine of the angle instead of the dot product",
            "This is what dividing each query and each key by its length gives. "
            "The dot product is not divided by lengths.",
            cosines},
    Mistake{"lengths-kept", error, "dot product instead of the cosine",
            "This is what the dot product gives. The cosine also divides each query and each key by its length.",
            not_divided_by_lengths},
    Mistake{"distances-not-halved", error, "squared distance without the factor ½",
            "This is what the squared distance gives without the factor ½. Halve it.", distances_not_halved},
    Mistake{"distances-positive", error, "squared distance without the minus sign",
            "This is what the squared distance gives without its minus sign. "
            "Near keys need larger scores than far ones, so the sign is minus.",
            distances_positive},
    Mistake{"width-not-squared", error, "distance divided by σ instead of σ²",
            "This is what division by σ gives. Divide by σ².", width_not_squared},
    Mistake{"without-tanh", error, "additive score without the tanh",
            "This is what the additive score gives without tanh. "
            "Take tanh of each sum before it is multiplied by w_v.",
            without_tanh},
    Mistake{"score-matrix-transposed", error, "matrix of the bilinear score transposed",
            "This is what the transposed matrix of the bilinear score gives. "
            "Multiply the query by the matrix as it is.",
            score_matrix_transposed},
    Mistake{"not-capped", error, "scores without their cap",
            "This is what the scores give without their cap. Compute cap · tanh(score / cap).", not_capped},
    Mistake{"not-divided-by-cap", error, "cap times the tanh of the score",
            "This is what the cap times tanh of the score gives. Divide the score by the cap before tanh.",
            not_divided_by_cap},
    Mistake{"nothing-added", error, "scores to which nothing is added",
            "This is what the scores give when nothing is added to them. Add the bias before the softmax.",
            nothing_added},
    Mistake{"added-before-scale", error, "bias added before the scores are scaled",
            "This is what a bias gives that is added first and scaled with the scores. "
            "Scale the scores, then add the bias.",
            added_before_scale},
};

}  // namespace

std::span<const Mistake> mistakes_of_scores() { return mistakes_in_scores; }

}  // namespace attn
