#include <array>

#include "mistake/attention_nodes.hpp"
#include "mistake/parts.hpp"

// Mistakes with linear layers of an attention, and with what its weights sum up.

namespace attn {
namespace {

using enum Mistake::Kind;

// --- linear layers: queries, keys, values and the output

// The parameters of one of them; nothing for any other node.
std::optional<LinearNodes> projection_of_attention(const Node& node) {
  const bool has_role = makes(node, role::q) || makes(node, role::k) || makes(node, role::v) ||
                        (makes(node, role::output) && node.beside(role::concat));
  return has_role ? linear_nodes(node) : std::nullopt;
}

Value with_bias(const Value& product, const LinearNodes& map, Rewriting& again) {
  return map.b ? add(product, again.of(*map.b)) : product;
}

Made parameters_transposed(const Node& node, Rewriting& again) {
  const std::optional<LinearNodes> map = projection_of_attention(node);
  if (!map) return std::nullopt;
  return with_bias(matmul_transposed(again.of(*map->x), again.of(*map->w)), *map, again);
}

// The same of one of them alone.
template <const Role& of>
Made one_transposed(const Node& node, Rewriting& again) {
  return node.is(of) ? parameters_transposed(node, again) : std::nullopt;
}

Made biases_left_out(const Node& node, Rewriting& again) {
  const std::optional<LinearNodes> map = projection_of_attention(node);
  if (!map || !map->b) return std::nullopt;
  return matmul(again.of(*map->x), again.of(*map->w));
}

// One of two roles made with the parameters of the other one.
template <const Role& one, const Role& other>
Made exchanged(const Node& node, Rewriting& again) {
  if (!makes(node, one) && !makes(node, other)) return std::nullopt;
  const Node* const partner = node.beside(node.is(one) ? other : one);
  const std::optional<LinearNodes> own = linear_nodes(node);
  const std::optional<LinearNodes> used = partner ? linear_nodes(*partner) : std::nullopt;
  if (!own || !used) return std::nullopt;
  return with_bias(matmul(again.of(*own->x), again.of(*used->w)), *used, again);
}

Made values_not_projected(const Node& node, Rewriting& again) {
  const std::optional<LinearNodes> map = makes(node, role::v) ? linear_nodes(node) : std::nullopt;
  if (!map) return std::nullopt;
  return again.of(*map->x);
}

Made output_not_projected(const Node& node, Rewriting& again) {
  if (!makes(node, role::output)) return std::nullopt;
  const Node* const concat = node.beside(role::concat);
  if (!concat) return std::nullopt;
  return again.of(*concat);
}

// --- the weighted sum

Made weights_transposed(const Node& node, Rewriting& again) {
  if (!sums_values(node)) return std::nullopt;
  return matmul(transpose(again.of(*node.operands[0])), again.of(*node.operands[1]));
}

// Keys or queries in the place of the values, as the scores had them.
Made sum_of(std::size_t side, const Node& node, Rewriting& again) {
  const Node* const scores = sums_values(node) ? node.operands[0]->beside(role::scores) : nullptr;
  const Node* const comparison = scores ? comparison_of(*scores) : nullptr;
  if (!comparison) return std::nullopt;
  return matmul(again.of(*node.operands[0]), again.of(*comparison->operands[side]));
}
Made sum_of_queries(const Node& node, Rewriting& again) {
  return sum_of(0, node, again);
}
Made sum_of_keys(const Node& node, Rewriting& again) {
  return sum_of(1, node, again);
}

Made sum_divided(const Node& node, Rewriting& again) {
  if (!sums_values(node)) return std::nullopt;
  const std::size_t keys = node.operands[0]->frame.shape.columns;
  return divide(again.unchanged(node), plain_number(static_cast<double>(keys)));
}

constexpr std::array table = {
    Mistake{"parameters-transposed", error, "matrices of the linear layers transposed",
            "This is what the transposed matrices of parameters give, x Wᵀ. Multiply by the matrices as they "
            "are, x W. PyTorch's Linear stores the transposed matrix.",
            parameters_transposed},
    Mistake{"query-parameters-transposed", error, "w_q transposed",
            "This is what the transposed w_q gives, x w_qᵀ. Multiply by the matrix as it is.",
            one_transposed<role::q>},
    Mistake{"key-parameters-transposed", error, "w_k transposed",
            "This is what the transposed w_k gives, x w_kᵀ. Multiply by the matrix as it is.",
            one_transposed<role::k>},
    Mistake{"value-parameters-transposed", error, "w_v transposed",
            "This is what the transposed w_v gives, x w_vᵀ. Multiply by the matrix as it is.",
            one_transposed<role::v>},
    Mistake{"output-parameters-transposed", error, "w_o transposed",
            "This is what the transposed w_o gives. Multiply the concatenated heads by the matrix as it is.",
            one_transposed<role::output>},
    Mistake{"biases-left-out", error, "linear layers of attention without their biases",
            "This is what the linear layers of the attention give without their biases. Add the bias to each "
            "row.",
            biases_left_out},
    Mistake{"queries-keys-exchanged", error, "parameters of queries and keys exchanged",
            "This is what the parameters of queries and keys give when they are exchanged. Use w_q for the "
            "queries and w_k for the keys.",
            exchanged<role::q, role::k>},
    Mistake{"keys-values-exchanged", error, "parameters of keys and values exchanged",
            "This is what the parameters of keys and values give when they are exchanged. Use w_k for the "
            "keys and w_v for the values.",
            exchanged<role::k, role::v>},
    Mistake{"queries-values-exchanged", error, "parameters of queries and values exchanged",
            "This is what the parameters of queries and values give when they are exchanged. Use w_q for the "
            "queries and w_v for the values.",
            exchanged<role::q, role::v>},
    Mistake{
        "values-not-projected", error, "inputs instead of values",
        "This is what the inputs of the attention give in place of the values. Multiply them by w_v first.",
        values_not_projected},
    Mistake{"output-not-projected", error, "attention without its output projection",
            "This is what attention gives without its output projection. Multiply the concatenated heads by "
            "w_o.",
            output_not_projected},
    Mistake{"weights-transposed", error, "weights transposed in the weighted sum",
            "This is what the transposed weights give. A row of the output is a row of weights times the "
            "values.",
            weights_transposed},
    Mistake{"sum-of-queries", error, "weighted sum of the queries instead of the values",
            "This is the weighted sum of the queries. Sum up the values.", sum_of_queries},
    Mistake{"sum-of-keys", error, "weighted sum of the keys instead of the values",
            "This is the weighted sum of the keys. Sum up the values.", sum_of_keys},
    Mistake{"sum-divided", error, "weighted sum divided by the number of keys",
            "This is the weighted sum divided by the number of keys. The sum is weighted already, so nothing "
            "more is divided.",
            sum_divided},
};

}  // namespace

std::span<const Mistake> mistakes_of_values() {
  return table;
}

}  // namespace attn
