#include <cmath>

#include "core/attention/score.hpp"
#include "school/mistake/amounts.hpp"
#include "school/mistake/numbers.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

namespace {

// --- kernels

// Scores by the kernel: −½‖q − k‖²/σ².
bool is_gaussian(const Node& node) {
  return makes(node, role::scores) && node.scored_by && node.scored_by->is_made_by(gaussian);
}

// σ², by which the distances are divided; 1: they are not.
double squared_width(const Node& scores) {
  const Scalar* const width = scores.find(setting::number);
  return width ? width->value : 1.0;
}
bool has_width(const Node& node) { return is_gaussian(node) && squared_width(node) != 1.0; }

// −½‖q − k‖: the length is its square over the unit vector.
Made distance_not_squared(RewriteSite at) {
  const Node& distances = at.node.find(setting::number) ? *at.node.operands[0] : at.node;
  const Value q = at.of(*distances.operands[0]), k = at.of(*distances.operands[1]);
  const Value differences = pairwise_sum(q, times(k, plain_number(-1.0)));
  const Value lengths = row_sums(multiply(differences, unit_rows(differences)));
  return times(unpair(lengths, q, k), plain_number(-0.5 / squared_width(at.node)));
}

constexpr Mistake mistakes_in_kernels[] = {
    {"kernel-width-missing", error, "a kernel without its width σ",
     "This is what the kernel gives without its width. Divide by σ².", has_width,
     [](RewriteSite at) -> Made { return multiplied(at, squared_width(at.node)); }},
    {"kernel-width-multiplied", error, "multiplication by σ² instead of division",
     "This is what multiplication by σ² gives. Divide by σ²: with a wide kernel far keys count more.", has_width,
     [](RewriteSite at) -> Made { return multiplied(at, std::pow(squared_width(at.node), 2.0)); }},
    {"kernel-distance-not-squared", error, "the distance instead of its square",
     "This is what the distance gives when it is not squared. The score is −½‖q − k‖²/σ².", is_gaussian,
     distance_not_squared},
};

// --- what is compared

// What q or k was projected from.
const Node* input_words(const Node& node, const Role& role) {
  const Node* const whole = shared_by_heads(node, role);
  const std::optional<LinearNodes> map = whole ? linear_nodes(*whole) : std::nullopt;
  return map ? map->x : nullptr;
}
bool compares_projected(const Node& node) {
  return compares(node) && input_words(node, role::q) && input_words(node, role::k);
}

// Values stand beside the scores, or with one head around them.
bool compares_beside_values(const Node& node) { return compares(node) && node.beside(role::v); }

// --- the scale

bool scales_scores(const Node& node) { return makes(node, role::scaled) && node.find(setting::number); }
bool divides(const Node& node) { return scales_scores(node) && (node.op == &op::divide); }

// How many numbers a key has, where queries and keys are compared number by number.
std::optional<std::size_t> size_of_key(const Node& node) {
  const Node* const scores = node.beside(role::scores);
  const Node* const comparison = scores ? comparison_of(*scores) : nullptr;
  if (!comparison) return std::nullopt;
  return comparison->operands[1]->frame.shape.columns;
}

// Whether the scores are divided by √d_k, and not by a number of somebody's choice.
bool is_divided_by_root_of_key(const Node& node) {
  const std::optional<std::size_t> d_k = divides(node) ? size_of_key(node) : std::nullopt;
  return d_k && node.find(setting::number)->value == root_of(*d_k).value;
}

// √d_model, of the inputs or else of the queries of all heads.
bool is_divided_in_a_model(const Node& node) {
  return is_divided_by_root_of_key(node) && shared_by_heads(node, role::q);
}
Made divided_by_root_of_model(RewriteSite at) {
  const Node *const x = input_words(at.node, role::q), *const q = shared_by_heads(at.node, role::q);
  return divide(at[0], root_of((x ? x : q)->frame.shape.columns));
}

// Where the scores are not scaled, they have the name of the scaled ones as well.
bool is_scaled_otherwise(const Node& node) {
  if (!node.is(role::scaled)) return is_made_of_named(node, role::scaled);
  return size_of_key(node) && !is_divided_by_root_of_key(node);
}
Made divided_by_root_of_key(RewriteSite at) {
  if (!at.node.is(role::scaled)) return on_named(at, role::scaled);
  return divide(at.of(scales_scores(at.node) ? *at.node.operands[0] : at.node.original()),
                root_of(*size_of_key(at.node)));
}

bool scales_or_weighs(const Node& node) {
  const Node* const scaled = is_softmax_of_attention(node) ? node.beside(role::scaled) : &node;
  return scaled && scales_scores(*scaled);
}

// The scaled dot products that a node is, or that its queries are compared for; null: none.
const Node* scaled_dot_products(const Node& node) {
  const Node* scaled = &node;
  if (node.is(role::q) && !node.within(scope::head)) {
    const std::vector<const Node*> heads = of_all_heads(node, role::scaled);
    scaled = heads.empty() ? node.beside(role::scaled) : heads.front();
  }
  if (!scaled || !scales_scores(*scaled)) return nullptr;
  const Node* const scores = scaled->beside(role::scores);
  return scores && scores->scored_by && scores->scored_by->is_made_by(dot_product) ? scaled : nullptr;
}

// The mask on scores that are scaled behind it: where it stands makes no difference to the weights.
const Node& mask_before_softmax(const Node& node) { return is_softmax_of_attention(node) ? *node.operands[0] : node; }
bool masks_scaled(const Node& node) {
  const Node& masked = mask_before_softmax(node);
  return masks_scores(masked) && scales_scores(*masked.operands[0]);
}
Made masked_before_scaled(RewriteSite at) {
  const Node &masked = mask_before_softmax(at.node), &scaled = *masked.operands[0];
  if (&masked == &at.node) return at.redo(at.node, {at.of(*scaled.operands[0]), at[1]});
  return at.redo(at.node, {at.redo(scaled, {at[0]})});
}

// --- the cap, and what is added

bool caps_scaled(const Node& node) { return makes(node, role::capped) && node.beside(role::scaled); }

// Whether something is added to the scaled scores: a mask of numbers, or what distances add.
bool adds_to_scores(const Node& node) {
  if (!node.op || node.is_alias() || node.operands.size() != 2) return false;
  const bool is_scaled = has_role<role::scaled, role::capped, role::scores>(*node.operands[0]);
  return is_scaled && (node.op == &op::add) && !node.is(role::scores);
}
bool adds_to_scaled(const Node& node) { return adds_to_scores(node) && scales_scores(*node.operands[0]); }

// --- the additive score

bool is_additive(const Node& node) { return node.beside(role::hidden_q) && node.beside(role::hidden_k); }
bool is_activated_sum(const Node& node) { return makes(node, role::activated) && is_additive(node); }
bool is_sum_of_hidden(const Node& node) { return makes(node, role::hidden) && is_additive(node); }
bool is_score_of_hidden(const Node& node) {
  return makes(node, role::scores) && is_additive(node) && node.operands[0]->op == &op::matmul;
}

// The parameter of the other side, which has its shape; else null.
const Node* parameter_of_other_side(const Node& node) {
  if (!has_role<role::score_wq, role::score_wk>(node) || node.op) return nullptr;
  const Node* const other = node.beside(node.is(role::score_wq) ? role::score_wk : role::score_wq);
  return other && other->frame.shape == node.frame.shape ? other : nullptr;
}
template <const Role& hidden>
bool is_hidden_with_square(const Node& node) {
  if (!makes(node, hidden)) return false;
  const std::optional<LinearNodes> map = linear_nodes(node);
  return map && map->w->frame.shape.rows == map->w->frame.shape.columns;
}
Made hidden_by_transposed(RewriteSite at) {
  const LinearNodes map = *linear_nodes(at.node);
  const Value product = matmul_transposed(at.of(*map.x), at.of(*map.w));
  return map.b ? add(product, at.of(*map.b)) : product;
}
Made sum_of_activated(RewriteSite at) { return at.redo(at.node, {row_sums(at.of(*at.node.operands[0]->operands[0]))}); }
bool adds_score_bias(const Node& node) {
  const Node* const added = operand(node, 1);
  return added && added->is(role::score_b);
}
Made tanh_of_each_part(RewriteSite at) {
  const Node& sum = at.node.operands[0]->original();
  return pairwise_sum(attn::tanh(at.of(*sum.operands[0])), attn::tanh(at.of(*sum.operands[1])));
}
Made tanh_of_score(RewriteSite at) { return is_activated_sum(at.node) ? at[0] : attn::tanh(at.itself()); }
Made hidden_multiplied(RewriteSite at) {
  const Matrix q = at[0].matrix(), k = at[1].matrix();
  Matrix products({q.shape().rows * k.shape().rows, q.shape().columns});
  for (std::size_t i = 0; i < products.shape().rows; ++i) {
    for (std::size_t j = 0; j < q.shape().columns; ++j)
      products(i, j) = q(i / k.shape().rows, j) * k(i % k.shape().rows, j);
  }
  return at.like(std::move(products));
}

constexpr Mistake mistakes_in_scores[] = {
    {"not-scaled", error, "scores that are not scaled",
     "This is what scores give that are not scaled. Scale them before the softmax.", scales_scores, left_out},
    {"scale-squared", error, "the square of the scale, such as d_k instead of √d_k",
     "This is what scores give that are scaled twice, as by d_k in place of √d_k. Scale them once.", scales_scores,
     [](RewriteSite at) -> Made { return at.redo(at.node, {at.itself()}); }},
    {"multiplied-by-scale", error, "scores multiplied instead of divided",
     "This is what multiplication gives, where the scores are to be divided. Divide by the same number.", divides,
     [](RewriteSite at) -> Made { return times(at[0], *at.node.find(setting::number)); }},
    {"divided-by-root-of-model", error, "division by √d_model instead of √d_k",
     "This is what division by √d_model gives. Divide by √d_k, where d_k is the size of a key of one head.",
     is_divided_in_a_model, divided_by_root_of_model},
    {"divided-by-root-of-key", error, "division by √d_k where the scale is another",
     "This is what division by √d_k gives. "
     "Here the formula of the scaled scores has another scale, or none.",
     is_scaled_otherwise, divided_by_root_of_key},
    {"divided-by-keys", error, "division by the number of keys",
     "This is what division by the number of keys gives. "
     "Divide by the number in the formula of the scaled scores.",
     scales_scores, [](RewriteSite at) -> Made { return divide(at[0], plain_number(at.node.frame.shape.columns)); }},
    {"divided-by-root-of-keys", error, "division by the square root of the number of keys",
     "This is what division by the square root of the number of keys gives. "
     "Divide by the number in the formula of the scaled scores.",
     scales_scores, [](RewriteSite at) -> Made { return divide(at[0], root_of(at.node.frame.shape.columns)); }},
    {"scaled-after-softmax", error, "weights scaled instead of scores",
     "This is what scaling after the softmax gives: the weights of a row no longer sum to 1. "
     "Scale the scores, before the softmax.",
     scales_or_weighs,
     [](RewriteSite at) -> Made {
       return scales_scores(at.node) ? at[0] : at.redo(*at.node.beside(role::scaled), {at.itself()});
     }},
    {"queries-scaled", convention, "queries scaled instead of scores",
     "This is what scaling the queries gives. "
     "Fairseq and PyTorch's MultiheadAttention do that, and the scaled scores are the same. "
     "Here the scores are scaled.",
     has<scaled_dot_products>,
     [](RewriteSite at) -> Made {
       const Node* const scaled = scaled_dot_products(at.node);
       return scaled == &at.node ? at[0] : at.redo(*scaled, {at.itself()});
     }},
    {"masked-before-scaled", convention, "mask before the scale",
     "This is what masking the scores before they are scaled gives. "
     "Some do that, as in Raschka's book, and the weights are the same. Here the scaled scores are masked.",
     masks_scaled, masked_before_scaled},
    {"keys-not-transposed", error, "q k instead of q kᵀ",
     "This is what q times k gives when the keys are not transposed: each query meets a column of k. "
     "Take the dot product of each query with each key, a row of q with a row of k.",
     compares, [](RewriteSite at) -> Made { return matmul(at[0], at[1]); }},
    {"scores-transposed", error, "k qᵀ instead of q kᵀ",
     "This is what k qᵀ gives, the scores transposed. Take q kᵀ: rows are queries, and columns are keys.", compares,
     [](RewriteSite at) -> Made { return matmul_transposed(at[1], at[0]); }},
    {"queries-with-queries", error, "queries compared with queries",
     "This is what the queries compared with each other give. Compare each query with the keys.", compares,
     [](RewriteSite at) -> Made { return matmul_transposed(at[0], at[0]); }},
    {"keys-with-keys", error, "keys compared with keys",
     "This is what the keys compared with each other give. Compare each query with the keys.", compares,
     [](RewriteSite at) -> Made { return matmul_transposed(at[1], at[1]); }},
    {"queries-with-values", error, "queries compared with values",
     "This is what the queries compared with the values give. "
     "Compare them with the keys: values are only averaged.",
     compares_beside_values, [](RewriteSite at) -> Made { return matmul_transposed(at[0], at.beside(role::v)); }},
    {"words-with-words", error, "inputs compared without their projections",
     "This is what the inputs of the attention give when they are compared with each other. "
     "Compare the queries and the keys that are projected from them.",
     compares_projected,
     [](RewriteSite at) -> Made {
       return matmul_transposed(at.of(*input_words(at.node, role::q)), at.of(*input_words(at.node, role::k)));
     }},
    {"distance-for-dot-product", error, "minus the squared distance instead of the dot product",
     "This is what −‖q − k‖² gives. Take the dot product of each query with each key.", compares,
     [](RewriteSite at) -> Made { return times(minus_half_squared_distances(at[0], at[1]), plain_number(2.0)); }},
    {"half-distance-for-dot-product", error, "minus half the squared distance instead of the dot product",
     "This is what −½‖q − k‖² gives. Take the dot product of each query with each key.", compares,
     [](RewriteSite at) -> Made { return minus_half_squared_distances(at[0], at[1]); }},
    {"cosine", error, "cosine of the angle instead of the dot product",
     "This is what dividing each query and each key by its length gives. "
     "The dot product is not divided by lengths.",
     compares, [](RewriteSite at) -> Made { return matmul_transposed(unit_rows(at[0]), unit_rows(at[1])); }},
    {"lengths-kept", error, "dot product instead of the cosine",
     "This is what the dot product gives. The cosine also divides each query and each key by its length.",
     makes<role::unit_q, role::unit_k>, left_out},
    {"distances-not-halved", error, "squared distance without the factor ½",
     "This is what the squared distance gives without the factor ½. Halve it.", is_gaussian,
     [](RewriteSite at) -> Made { return multiplied(at, 2.0); }},
    {"distances-positive", error, "squared distance without the minus sign",
     "This is what the squared distance gives without its minus sign. "
     "Near keys need larger scores than far ones, so the sign is minus.",
     is_gaussian, [](RewriteSite at) -> Made { return multiplied(at, -1.0); }},
    {"width-not-squared", error, "distance divided by σ instead of σ²",
     "This is what division by σ gives. Divide by σ².",
     [](const Node& node) { return is_gaussian(node) && (node.op == &op::divide); },
     [](RewriteSite at) -> Made { return divide(at[0], plain_number(std::sqrt(squared_width(at.node)))); }},
    {"without-tanh", error, "additive score without the tanh",
     "This is what the additive score gives without tanh. "
     "Take tanh of each sum before it is multiplied by w_v.",
     [](const Node& node) { return makes(node, role::activated) && node.beside(role::hidden_q); }, left_out},
    {"score-bias-missing", error, "additive score without its bias",
     "This is what the additive score gives without its bias. Add it before tanh.", adds_score_bias, left_out},
    {"tanh-of-each-part", error, "tanh of each part instead of their sum",
     "This is what comes out when tanh is taken of the part of the query and of that of the key. Add them first.",
     is_activated_sum, tanh_of_each_part},
    {"relu-for-tanh-in-score", error, "max(x, 0) instead of tanh in the additive score",
     "This is what the additive score gives with max(x, 0). Take tanh of each sum.", is_activated_sum,
     [](RewriteSite at) -> Made { return relu(at[0]); }},
    {"sigmoid-for-tanh-in-score", error, "1 / (1 + exp(−x)) instead of tanh in the additive score",
     "This is what the additive score gives with 1 / (1 + exp(−x)). Take tanh of each sum.", is_activated_sum,
     [](RewriteSite at) -> Made { return sigmoid(at[0]); }},
    {"tanh-of-the-score", error, "tanh after the product with w_v instead of before",
     "This is what tanh gives after the product with w_v. Take tanh of each sum, and then multiply by w_v.",
     [](const Node& node) { return is_activated_sum(node) || is_score_of_hidden(node); }, tanh_of_score},
    {"score-vector-missing", error, "additive score without w_v",
     "This is what the additive score gives when the numbers after tanh are only summed up. Multiply them by w_v.",
     is_score_of_hidden, sum_of_activated},
    {"score-parameters-exchanged", error, "parameters of queries and keys exchanged in the additive score",
     "This is what the additive score gives when the two matrices are exchanged. "
     "Multiply the queries by the one of the queries, and the keys by the one of the keys.",
     has<parameter_of_other_side>,
     [](RewriteSite at) -> Made { return at.like(parameter_of_other_side(at.node)->matrix()); }},
    {"score-parameters-transposed", error, "both matrices of the additive score transposed",
     "This is what the transposed matrices of the additive score give. Multiply by the matrices as they are.",
     [](const Node& node) {
       return is_hidden_with_square<role::hidden_q>(node) || is_hidden_with_square<role::hidden_k>(node);
     },
     hidden_by_transposed},
    {"score-query-parameters-transposed", error, "the matrix of the queries transposed in the additive score",
     "This is what the transposed matrix of the queries gives. Multiply by the matrix as it is.",
     is_hidden_with_square<role::hidden_q>, hidden_by_transposed},
    {"score-key-parameters-transposed", error, "the matrix of the keys transposed in the additive score",
     "This is what the transposed matrix of the keys gives. Multiply by the matrix as it is.",
     is_hidden_with_square<role::hidden_k>, hidden_by_transposed},
    {"score-multiplies", error, "additive score that multiplies instead of adds",
     "This is what comes out when queries and keys are multiplied before tanh. Add them.", is_sum_of_hidden,
     hidden_multiplied},
    {"score-matrix-transposed", error, "matrix of the bilinear score transposed",
     "This is what the transposed matrix of the bilinear score gives. "
     "Multiply the query by the matrix as it is.",
     makes<role::projected_q>, [](RewriteSite at) -> Made { return matmul_transposed(at[0], at[1]); }},
    {"not-capped", error, "scores without their cap",
     "This is what the scores give without their cap. Compute cap · tanh(score / cap).", caps_scaled,
     [](RewriteSite at) -> Made { return at.beside(role::scaled); }},
    {"not-divided-by-cap", error, "cap times the tanh of the score",
     "This is what the cap times tanh of the score gives. Divide the score by the cap before tanh.", caps_scaled,
     [](RewriteSite at) -> Made { return at.redo(at.node, {attn::tanh(at.beside(role::scaled))}); }},
    {"nothing-added", error, "scores to which nothing is added",
     "This is what the scores give when nothing is added to them. Add the bias before the softmax.", adds_to_scores,
     left_out},
    {"added-before-scale", error, "bias added before the scores are scaled",
     "This is what a bias gives that is added first and scaled with the scores. "
     "Scale the scores, then add the bias.",
     adds_to_scaled,
     [](RewriteSite at) -> Made {
       const Node& scaled = *at.node.operands[0];
       return at.redo(scaled, {add(at.of(*scaled.operands[0]), at[1])});
     }},
};

// Where the scores are scaled, or else where their softmax is taken.
bool scales_at_scale_or_softmax(const Node& node) {
  if (scales_scores(node)) return true;
  const Node* const scaled = node.beside(role::scaled);
  return is_softmax_of_attention(node) && !(scaled && scales_scores(scaled->original()));
}
Made scaled_by(RewriteSite at, double number) {
  if (scales_scores(at.node)) return multiplied(at, number);
  return softmax(masked_like(at, times(scores_before_mask(at), plain_number(number))));
}
Made capped_at(RewriteSite at, double number) {
  return times(attn::tanh(divide(at.beside(role::scaled), plain_number(number))), plain_number(number));
}

constexpr MistakeWithNumber numbers_of_scores[] = {
    {{"another-scale", error, "scores with another scale",
      "This is what another scale of the scores gives. Scale them as the formula of the scaled scores says.",
      scales_at_scale_or_softmax, nullptr},
     scaled_by,
     amount_as_factor,
     MistakeWithNumber::Scale::linear,
     {0.5, 2.0, 4.0, -1.0}},
    {{"another-multiple-of-score-bias", error, "the bias of the additive score not added once",
      "This is what another multiple of the bias gives. Add it once.", adds_score_bias, nullptr},
     [](RewriteSite at, double number) -> Made { return add(at[0], times(at[1], plain_number(number))); },
     amount_added,
     MistakeWithNumber::Scale::linear,
     {2.0, -1.0}},
    {{"another-cap", error, "scores with another cap",
      "This is what another cap gives. Compute cap · tanh(score / cap) with the right one.", caps_scaled, nullptr},
     capped_at,
     amount_itself,
     MistakeWithNumber::Scale::logarithmic,
     {1.0, 10.0, 30.0, 50.0}},
    {{"another-kernel-width", error, "a kernel with another width",
      "This is what a kernel of another width gives. Divide the squared distances by σ².", is_gaussian, nullptr},
     [](RewriteSite at, double number) -> Made { return multiplied(at, number); },
     amount_as_factor,
     MistakeWithNumber::Scale::logarithmic,
     {2.0, 0.5}},
};

}  // namespace

// --- kernels
// Mistakes with the Gaussian kernel, by which values near a query are pooled.

std::span<const Mistake> mistakes_of_kernels() { return mistakes_in_kernels; }

// --- scores
// Mistakes with scores: what is compared, by what they are divided, what is added to them.

std::span<const Mistake> mistakes_of_scores() { return mistakes_in_scores; }

std::span<const MistakeWithNumber> numbers_in_scores() { return numbers_of_scores; }

}  // namespace attn
