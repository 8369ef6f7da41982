#include "attention/feed_forward.hpp"

#include <array>

#include "mistake/parts.hpp"
#include "support/lookup.hpp"

// Mistakes with feed-forward layers and their activation.

namespace attn {
namespace {

// The activation that makes a node of a feed-forward layer.
const Activation* activation_here(const Node& node) {
  return node.operation && !node.is_alias() && node.family == &family::forward ? activation_of(node)
                                                                               : nullptr;
}

// The activation of the layer whose result a node is.
const Activation* activation_before(const Node& node) {
  if (node.name.empty() || !node.operation || node.is_alias() || node.family != &family::forward)
    return nullptr;
  const std::vector<const Node*> named = node.named_operands();
  return named.empty() ? nullptr : activation_here(named.front()->original());
}

Made activation_missing(const Node& node, Rewriting& again) {
  return activation_here(node) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

Made activation_last(const Node& node, Rewriting& again) {
  if (activation_here(node)) return again.of(*node.operands[0]);
  const Activation* const activation = activation_before(node);
  return activation ? Made(activation->apply(again.unchanged(node))) : std::nullopt;
}

Made activation_twice(const Node& node, Rewriting& again) {
  const Activation* const activation = activation_before(node);
  return activation ? Made(activation->apply(again.unchanged(node))) : std::nullopt;
}

// The result of an activation, by another function than this one.
Made otherwise(const Node& node, Rewriting& again, const Function& from, Value (*to)(const Value& x)) {
  const Activation* const activation = activation_here(node);
  return activation && &activation->function == &from ? Made(to(again.of(*node.operands[0]))) : std::nullopt;
}

Made gelu_for_relu(const Node& node, Rewriting& again) {
  return otherwise(node, again, rectifier, gelu);
}
Made gelu_by_tanh_for_relu(const Node& node, Rewriting& again) {
  return otherwise(node, again, rectifier, gelu_by_tanh);
}
Made silu_for_relu(const Node& node, Rewriting& again) {
  return otherwise(node, again, rectifier, silu);
}
Made sigmoid_for_relu(const Node& node, Rewriting& again) {
  return otherwise(node, again, rectifier, sigmoid);
}
Made negative_kept(const Node& node, Rewriting& again) {
  return otherwise(node, again, rectifier, [](const Value& x) { return subtract(x, relu(x)); });
}
Made size_kept(const Node& node, Rewriting& again) {
  return otherwise(node, again, rectifier, [](const Value& x) { return subtract(add(relu(x), relu(x)), x); });
}
Made relu_for_gelu(const Node& node, Rewriting& again) {
  if (const Made exact = otherwise(node, again, gelu_function, relu)) return exact;
  return otherwise(node, again, gelu_by_tanh_function, relu);
}
Made by_tanh(const Node& node, Rewriting& again) {
  return otherwise(node, again, gelu_function, gelu_by_tanh);
}
Made by_error_function(const Node& node, Rewriting& again) {
  return otherwise(node, again, gelu_by_tanh_function, gelu);
}
// x σ(1.702 x)  (Hendrycks and Gimpel 2016, section 2)
Made by_sigmoid(const Node& node, Rewriting& again) {
  constexpr auto quick = [](const Value& x) { return multiply(x, sigmoid(times(x, plain_number(1.702)))); };
  if (const Made exact = otherwise(node, again, gelu_function, quick)) return exact;
  return otherwise(node, again, gelu_by_tanh_function, quick);
}
Made sigmoid_for_silu(const Node& node, Rewriting& again) {
  return otherwise(node, again, silu_function, sigmoid);
}
Made sigmoid_for_tanh(const Node& node, Rewriting& again) {
  return otherwise(node, again, hyperbolic_tangent, sigmoid);
}

// The sum with a bias, and that bias.
const Node* sum_with(const Node& node, const Role& bias) {
  const Node* const added = operand(node, 1);
  return added && added->is(bias) && node.operands.size() == 2 ? &node : nullptr;
}

Made bias_after_activation(const Node& node, Rewriting& again) {
  if (!activation_here(node)) return std::nullopt;
  const Node* const sum = sum_with(node.operands[0]->original(), role::b_1);
  if (!sum) return std::nullopt;
  const Value without = again.of(*sum->operands[0]);
  return add(again.graph().apply(node.operation, {without}), again.of(*sum->operands[1]));
}

Made first_bias_missing(const Node& node, Rewriting& again) {
  return sum_with(node, role::b_1) ? Made(again.of(*node.operands[0])) : std::nullopt;
}
Made second_bias_missing(const Node& node, Rewriting& again) {
  return sum_with(node, role::b_2) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

constexpr std::array table = {
    Mistake{"activation-missing", error, "no activation between the two maps",
            "This is what the two maps give with nothing between them. Apply the activation to the result of "
            "the first.",
            activation_missing},
    Mistake{"activation-last", error, "the activation behind the second map instead of between the two",
            "This is what the activation gives behind the second map. It stands between the two maps.",
            activation_last},
    Mistake{"activation-twice", error, "the activation behind the second map as well",
            "This is what the activation gives when it is applied once more behind the second map. It stands "
            "only between the two.",
            activation_twice},
    Mistake{"gelu-for-relu", error, "GELU instead of ReLU",
            "This is what GELU gives. This layer has ReLU: max(x, 0).", gelu_for_relu},
    Mistake{"gelu-by-tanh-for-relu", error, "GELU with a tanh instead of ReLU",
            "This is what GELU gives with a tanh in place of Φ, as in GPT-2. This layer has ReLU: max(x, 0).",
            gelu_by_tanh_for_relu},
    Mistake{"silu-for-relu", error, "SiLU instead of ReLU",
            "This is what SiLU gives, x σ(x). This layer has ReLU: max(x, 0).", silu_for_relu},
    Mistake{"sigmoid-for-relu", error, "1 / (1 + exp(−x)) instead of ReLU",
            "This is what 1 / (1 + exp(−x)) gives. This layer has ReLU: max(x, 0).", sigmoid_for_relu},
    Mistake{"relu-keeps-negative-numbers", error, "min(x, 0) instead of max(x, 0)",
            "This is what min(x, 0) gives, which keeps the negative numbers. ReLU keeps the positive ones: "
            "max(x, 0).",
            negative_kept},
    Mistake{"relu-drops-the-sign", error, "|x| instead of max(x, 0)",
            "This is what |x| gives. With ReLU negative numbers become 0: max(x, 0).", size_kept},
    Mistake{"relu-for-gelu", error, "ReLU instead of GELU",
            "This is what ReLU gives. This layer has GELU: x Φ(x).", relu_for_gelu},
    Mistake{"gelu-by-tanh", convention, "GELU with a tanh in place of Φ",
            "This is what GELU gives with a tanh in place of Φ, as in GPT-2. This layer has x Φ(x) itself.",
            by_tanh},
    Mistake{"gelu-by-erf", convention, "GELU with Φ itself instead of a tanh",
            "This is what x Φ(x) gives, as PyTorch computes GELU unless told otherwise. This layer has the "
            "approximation by tanh, as in GPT-2.",
            by_error_function},
    Mistake{"gelu-by-sigmoid", convention, "GELU as x σ(1.702 x)",
            "This is what x σ(1.702 x) gives, as CLIP computes GELU. This layer computes it otherwise.",
            by_sigmoid},
    Mistake{"sigmoid-for-silu", error, "σ(x) instead of x σ(x)",
            "This is what σ(x) gives. SiLU multiplies it by x.", sigmoid_for_silu},
    Mistake{"sigmoid-for-tanh", error, "1 / (1 + exp(−x)) instead of tanh",
            "This is what 1 / (1 + exp(−x)) gives. This layer has tanh, which lies between −1 and 1.",
            sigmoid_for_tanh},
    Mistake{"bias-after-activation", error, "b_1 added behind the activation",
            "This is what comes out when b_1 is added behind the activation. Add it before.",
            bias_after_activation},
    Mistake{"first-bias-missing", error, "no b_1",
            "This is what comes out without b_1. Add it before the activation.", first_bias_missing},
    Mistake{"second-bias-missing", error, "no b_2", "This is what comes out without b_2. Add it at the end.",
            second_bias_missing},
};

}  // namespace

std::span<const Mistake> mistakes_of_feed_forward() {
  return table;
}

}  // namespace attn
