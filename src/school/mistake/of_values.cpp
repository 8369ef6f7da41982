#include "school/mistake/amounts.hpp"
#include "school/mistake/numbers.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// Mistakes with linear layers of an attention, and with what its weights sum up.

namespace {

// --- linear layers: queries, keys, values and the output

bool has_role_of_projection(const Node& node) {
  return makes<role::q, role::k, role::v>(node) || (makes(node, role::output) && node.beside(role::concat));
}
bool is_projection(const Node& node) { return has_role_of_projection(node) && linear_nodes(node); }
bool is_projection_with_bias(const Node& node) { return is_projection(node) && linear_nodes(node)->b; }
template <const Role& role>
bool is_projection_with(const Node& node) {
  return node.is(role) && is_projection_with_bias(node);
}
template <const Role& role>
bool is_projection_to(const Node& node) {
  return node.is(role) && is_projection(node);
}

Value with_bias(const Value& product, const LinearNodes& map, RewriteSite at) {
  return map.b ? add(product, at.of(*map.b)) : product;
}

Made parameters_transposed(RewriteSite at) {
  const LinearNodes map = *linear_nodes(at.node);
  return with_bias(matmul_transposed(at.of(*map.x), at.of(*map.w)), map, at);
}

// The other one of two linear layers; null where one of the two is none.
template <const Role& one, const Role& other>
const Node* partner(const Node& node) {
  const Node* const beside = makes<one, other>(node) ? node.beside(node.is(one) ? other : one) : nullptr;
  return beside && linear_nodes(node) && linear_nodes(*beside) ? beside : nullptr;
}
template <const Role& one, const Role& other>
Made with_parameters_of_partner(RewriteSite at) {
  const LinearNodes used = *linear_nodes(*partner<one, other>(at.node));
  return with_bias(matmul(at.of(*linear_nodes(at.node)->x), at.of(*used.w)), used, at);
}

// --- the weighted sum

// What was compared for the weights of a sum; null where they were made otherwise.
const Node* comparison_for(const Node& node) {
  const Node* const scores = sums_values(node) ? node.operands[0]->beside(role::scores) : nullptr;
  return scores ? comparison_of(*scores) : nullptr;
}

bool sums_values_like_weights(const Node& node) {
  return sums_values(node) && node.operands[0]->frame.shape == node.operands[1]->frame.shape;
}

constexpr Mistake mistakes_in_values[] = {
    {"parameters-transposed", error, "matrices of the linear layers transposed",
     "This is what the transposed matrices of parameters give, x Wᵀ. Multiply by the matrices as they are, x W. PyTorch's Linear stores the transposed matrix.",
     is_projection, parameters_transposed},
    {"input-parameters-transposed", error, "w_q, w_k and w_v transposed",
     "This is what the transposed w_q, w_k and w_v give, x Wᵀ. Multiply by the matrices as they are, x W. PyTorch's Linear stores the transposed matrix.",
     [](const Node& node) { return has_role<role::q, role::k, role::v>(node) && is_projection(node); },
     parameters_transposed},
    {"query-parameters-transposed", error, "w_q transposed",
     "This is what the transposed w_q gives, x w_qᵀ. Multiply by the matrix as it is.", is_projection_to<role::q>,
     parameters_transposed},
    {"key-parameters-transposed", error, "w_k transposed",
     "This is what the transposed w_k gives, x w_kᵀ. Multiply by the matrix as it is.", is_projection_to<role::k>,
     parameters_transposed},
    {"value-parameters-transposed", error, "w_v transposed",
     "This is what the transposed w_v gives, x w_vᵀ. Multiply by the matrix as it is.", is_projection_to<role::v>,
     parameters_transposed},
    {"output-parameters-transposed", error, "w_o transposed",
     "This is what the transposed w_o gives. Multiply the concatenated heads by the matrix as it is.",
     is_projection_to<role::output>, parameters_transposed},
    {"biases-left-out", error, "linear layers of attention without their biases",
     "This is what the linear layers of the attention give without their biases. Add the bias to each row.",
     is_projection_with_bias, left_out},
    {"query-bias-missing", error, "no b_q", "This is what the queries give without b_q. Add the bias to each query.",
     is_projection_with<role::q>, left_out},
    {"key-bias-missing", error, "no b_k", "This is what the keys give without b_k. Add the bias to each key.",
     is_projection_with<role::k>, left_out},
    {"value-bias-missing", error, "no b_v", "This is what the values give without b_v. Add the bias to each value.",
     is_projection_with<role::v>, left_out},
    {"output-bias-missing", error, "no b_o",
     "This is what the output projection gives without b_o. Add the bias to each row.",
     is_projection_with<role::output>, left_out},
    {"queries-keys-exchanged", error, "parameters of queries and keys exchanged",
     "This is what the parameters of queries and keys give when they are exchanged. "
     "Use w_q for the queries and w_k for the keys.",
     has<partner<role::q, role::k>>, with_parameters_of_partner<role::q, role::k>},
    {"keys-values-exchanged", error, "parameters of keys and values exchanged",
     "This is what the parameters of keys and values give when they are exchanged. "
     "Use w_k for the keys and w_v for the values.",
     has<partner<role::k, role::v>>, with_parameters_of_partner<role::k, role::v>},
    {"queries-values-exchanged", error, "parameters of queries and values exchanged",
     "This is what the parameters of queries and values give when they are exchanged. "
     "Use w_q for the queries and w_v for the values.",
     has<partner<role::q, role::v>>, with_parameters_of_partner<role::q, role::v>},
    {"values-not-projected", error, "inputs instead of values",
     "This is what the inputs of the attention give in place of the values. Multiply them by w_v first.",
     [](const Node& node) { return makes(node, role::v) && linear_nodes(node); },
     [](RewriteSite at) -> Made { return at.of(*linear_nodes(at.node)->x); }},
    {"output-not-projected", error, "attention without its output projection",
     "This is what attention gives without its output projection. Multiply the concatenated heads by w_o.",
     [](const Node& node) { return makes(node, role::output) && node.beside(role::concat); },
     [](RewriteSite at) -> Made { return at.beside(role::concat); }},
    {"weights-transposed", error, "weights transposed in the weighted sum",
     "This is what the transposed weights give. A row of the output is a row of weights times the values.", sums_values,
     [](RewriteSite at) -> Made { return matmul(transpose(at[0]), at[1]); }},
    {"weights-times-values", error, "weights multiplied by the values number by number",
     "This is what weights and values give when they are multiplied number by number, as by * in NumPy. "
     "Take the matrix product (@): a row of the output is a row of weights times the values.",
     sums_values_like_weights, [](RewriteSite at) -> Made { return multiply(at[0], at[1]); }},
    {"values-alone", error, "values without the weights",
     "These are the values as they are. Multiply them by the weights.",
     [](const Node& node) {
       return sums_values(node) && node.operands[0]->frame.shape.rows == node.operands[1]->frame.shape.rows;
     },
     second_alone},
    {"sum-of-queries", error, "weighted sum of the queries instead of the values",
     "This is the weighted sum of the queries. Sum up the values.", has<comparison_for>,
     [](RewriteSite at) -> Made { return matmul(at[0], at.of(*comparison_for(at.node)->operands[0])); }},
    {"sum-of-keys", error, "weighted sum of the keys instead of the values",
     "This is the weighted sum of the keys. Sum up the values.", has<comparison_for>,
     [](RewriteSite at) -> Made { return matmul(at[0], at.of(*comparison_for(at.node)->operands[1])); }},
    {"sum-divided", error, "weighted sum divided by the number of keys",
     "This is the weighted sum divided by the number of keys. "
     "The sum is weighted already, so nothing more is divided.",
     sums_values,
     [](RewriteSite at) -> Made {
       return divide(at.itself(), plain_number(at.node.operands[0]->frame.shape.columns));
     }},
};

Made bias_times(RewriteSite at, double number) {
  const LinearNodes map = *linear_nodes(at.node);
  const Value product = matmul(at.of(*map.x), at.of(*map.w));
  return number == 0.0 ? product : add(product, times(at.of(*map.b), plain_number(number)));
}

constexpr MistakeWithNumber numbers_of_values[] = {
    {{"another-multiple-of-query-bias", error, "b_q not added once",
      "This is what another multiple of b_q gives. Add it once.", is_projection_with<role::q>, nullptr},
     bias_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {0.0, 2.0, -1.0}},
    {{"another-multiple-of-key-bias", error, "b_k not added once",
      "This is what another multiple of b_k gives. Add it once.", is_projection_with<role::k>, nullptr},
     bias_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {0.0, 2.0, -1.0}},
    {{"another-multiple-of-value-bias", error, "b_v not added once",
      "This is what another multiple of b_v gives. Add it once.", is_projection_with<role::v>, nullptr},
     bias_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {0.0, 2.0, -1.0}},
    {{"another-multiple-of-output-bias", error, "b_o not added once",
      "This is what another multiple of b_o gives. Add it once.", is_projection_with<role::output>, nullptr},
     bias_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {0.0, 2.0, -1.0}},
    {{"another-sum-of-values", error, "weighted sum of the values multiplied",
      "This is a multiple of the weighted sum. The weights of a row sum to 1, so that nothing more is multiplied.",
      sums_values, nullptr},
     [](RewriteSite at, double number) -> Made { return multiplied(at, number); },
     amount_as_factor,
     MistakeWithNumber::Scale::linear,
     {0.5, 2.0}},
};

}  // namespace

std::span<const Mistake> mistakes_of_values() { return mistakes_in_values; }

std::span<const MistakeWithNumber> numbers_in_values() { return numbers_of_values; }

}  // namespace attn
