#include <array>

#include "mistake/parts.hpp"

// Mistakes with residual connections, and where the norms of layers stand.

namespace attn {
namespace {

constexpr std::size_t most_sublayers = 3;

/// A sub-layer with its residual connection and its norm: sum = x + found.
struct Sublayer {
  const Node *x, *found, *sum, *normalised, *output;
  bool is_post;  // the norm is that of the sum; otherwise of x
};

std::optional<Sublayer> sublayer_at(const Graph& graph, const NamedScope* layer, std::size_t number) {
  const Node* const sum = graph.find(layer, {role::sum, number});
  const auto in_norm = [&](const Role& role) { return graph.find(layer, {{{scope::norm, number}}, role}); };
  const Node *const normalised = in_norm(role::normalised), *const output = in_norm(role::output);
  if (!sum || !normalised || !output) return std::nullopt;
  return Sublayer{sum->operands[0], sum->operands[1], sum,
                  normalised,       output,           normalised->operands[0] == sum};
}

// The sub-layer whose norm a node belongs to.
std::optional<Sublayer> sublayer_of_norm(const Node& node) {
  const NamedScope* const norm = node.place && node.place->is(scope::norm) ? node.place : nullptr;
  if (!norm || !norm->number || node.family != &family::forward) return std::nullopt;
  return sublayer_at(*node.graph, norm->outer, *norm->number);
}

// The one whose sum, or whose norm's output, a node is, whatever other names it has.
std::optional<Sublayer> sublayer_of_output(const Node& any) {
  const Node& node = any.original();
  if (!node.is(role::output)) return std::nullopt;
  return sublayer_of_norm(node);
}
std::optional<Sublayer> sublayer_of_sum(const Node& any) {
  const Node& node = any.original();
  if (!node.is(role::sum)) return std::nullopt;
  for (std::size_t number = 1; number <= most_sublayers; ++number) {
    const auto found = sublayer_at(*node.graph, node.place, number);
    if (found && found->sum == &node) return found;
  }
  return std::nullopt;
}

// The sub-layer of which a node is a projection of what goes in: q, k, v, or the inner one.
std::optional<Sublayer> projected_in(const Node& node) {
  const bool projects = node.is(role::q) || node.is(role::k) || node.is(role::v) || node.is(role::inner);
  if (!projects || !node.operation || !node.place) return std::nullopt;
  const std::vector<const Node*> named = node.named_operands();
  for (std::size_t number = 1; number <= most_sublayers && !named.empty(); ++number) {
    const auto found = sublayer_at(*node.graph, node.place->outer, number);
    if (found && &named.front()->original() == found->x) return found;
  }
  return std::nullopt;
}

const Node* sublayer_sum(const Node& node, std::size_t number) {
  const auto found = sublayer_at(*node.graph, node.place, number);
  return found ? found->sum : nullptr;
}

Made residual_missing(const Node& node, Rewriting& again) {
  return node.is(role::sum) ? Made(again.of(*node.operands[1])) : std::nullopt;
}

// That of one of the sub-layers alone, as they are counted in a layer.
template <std::size_t number>
Made one_residual_missing(const Node& node, Rewriting& again) {
  const auto sublayer = sublayer_of_sum(node);
  if (!sublayer || sublayer->sum != sublayer_sum(node, number)) return std::nullopt;
  return residual_missing(node, again);
}

// The words that go into the layer, once more where the second sub-layer ends.
Made residual_from_the_layer(const Node& node, Rewriting& again) {
  if (node.is_alias() || !sublayer_of_sum(node) || &node == sublayer_sum(node, 1)) return std::nullopt;
  const auto first = sublayer_at(*node.graph, node.place, 1);
  return first ? Made(add(again.of(*first->x), again.of(*node.operands[1]))) : std::nullopt;
}

// γ and β of the first norm in the second one, and the other way round.
Made norms_exchanged(const Node& node, Rewriting& again) {
  const bool is_one = (node.is(role::gamma) || node.is(role::beta)) && !node.operation;
  const NamedScope* const norm = is_one && node.place && node.place->is(scope::norm) ? node.place : nullptr;
  if (!norm || !norm->number || *norm->number > 2) return std::nullopt;
  const Node* const other = node.graph->find(norm->outer, {{{scope::norm, 3 - *norm->number}}, *node.role});
  if (!other || other->frame.shape != node.frame.shape) return std::nullopt;
  return again.input_like(node, other->matrix());
}

Made residual_of_norm(const Node& node, Rewriting& again) {
  const auto sublayer = node.is(role::sum) ? sublayer_of_sum(node) : std::nullopt;
  if (!sublayer || sublayer->is_post) return std::nullopt;
  return add(again.of(*sublayer->output), again.of(*sublayer->found));
}

// x + Norm(sublayer(x))
Made norm_of_what_was_found(const Node& node, Rewriting& again) {
  const auto sublayer = sublayer_of_norm(node);
  if (!sublayer || !sublayer->is_post || node.is_alias()) return std::nullopt;
  if (&node == sublayer->output) return add(again.of(*sublayer->x), again.unchanged(node));
  if (!uses(node, *sublayer->sum)) return std::nullopt;
  return on_others(
      node,
      [&](const Node& one) {
        return &one == sublayer->sum ? Made(again.of(*sublayer->found)) : std::nullopt;
      },
      again);
}

// --- norms before the sub-layers where they stand behind them

// What goes from layer to layer: the sums alone.
Made sum_in_place_of(const Node& node, Rewriting& again) {
  const auto sublayer = sublayer_of_output(node);
  return sublayer && sublayer->is_post ? Made(again.of(*sublayer->sum)) : std::nullopt;
}
Value sums_along(const Node& node, Rewriting& again) {
  const Made sum = sum_in_place_of(node, again);
  return sum ? *sum : again.of(node);
}

Made norm_before(const Node& node, Rewriting& again) {
  const auto own = sublayer_of_norm(node);
  if (own && own->is_post) {
    if (!uses(node, *own->sum)) return std::nullopt;
    return on_others(
        node,
        [&](const Node& one) { return &one == own->sum ? Made(sums_along(*own->x, again)) : std::nullopt; },
        again);
  }
  if (node.is_alias()) return sum_in_place_of(node, again);
  if (const auto sublayer = projected_in(node); sublayer && sublayer->is_post) {
    const Value words = put(*sublayer->output, *sublayer->sum, sums_along(*sublayer->x, again), again);
    return put(node, *sublayer->x, words, again);
  }
  for (const Node* one : node.operands) {
    const auto sublayer = sublayer_of_output(*one);
    if (!is_gradient(node) && sublayer && sublayer->is_post)
      return on_others(
          node, [&](const Node& each) { return sum_in_place_of(each, again); }, again);
  }
  return std::nullopt;
}

// --- norms behind the sub-layers where they stand before them

// What goes from layer to layer: the norms of the sums.
Made norm_in_place_of(const Node& node, Rewriting& again) {
  const auto sublayer = sublayer_of_sum(node);
  if (!sublayer || sublayer->is_post) return std::nullopt;
  return put(*sublayer->output, *sublayer->x, again.of(*sublayer->sum), again);
}
Value norms_along(const Node& node, Rewriting& again) {
  const Made norm = norm_in_place_of(node, again);
  return norm ? *norm : again.of(node);
}

bool is_last_norm(const Node& node) {
  return node.place && node.place->is(scope::norm) && !node.place->number && node.is(role::output) &&
         node.beside(role::normalised);
}

Made norm_behind(const Node& node, Rewriting& again) {
  if (is_gradient(node)) return std::nullopt;
  if (is_last_norm(node)) {
    const Node& x = *node.beside(role::normalised)->operands[0];
    const auto last = sublayer_of_sum(x);
    return last && !last->is_post ? Made(norms_along(x, again)) : std::nullopt;
  }
  if (const auto own = sublayer_of_norm(node); own && !own->is_post) {
    if (!uses(node, *own->x)) return std::nullopt;
    const Value x = norms_along(*own->x, again);
    const Value sum = add(x, put(*own->found, *own->output, x, again));
    return on_others(
        node, [&](const Node& one) { return &one == own->x ? Made(sum) : std::nullopt; }, again);
  }
  if (const auto own = node.is_alias() ? std::nullopt : sublayer_of_sum(node); own && !own->is_post)
    return add(norms_along(*own->x, again), again.of(*own->found));
  if (node.is_alias()) return norm_in_place_of(node, again);
  const auto instead = [&](const Node& one) -> Made {
    const auto sublayer = sublayer_of_output(one);
    if (sublayer && !sublayer->is_post) return norms_along(*sublayer->x, again);
    return norm_in_place_of(one, again);
  };
  for (const Node* one : node.operands) {
    const auto of_output = sublayer_of_output(*one), of_sum = sublayer_of_sum(*one);
    if ((of_output && !of_output->is_post) || (of_sum && !of_sum->is_post))
      return on_others(node, instead, again);
  }
  return std::nullopt;
}

constexpr std::array table = {
    Mistake{"residual-missing", error, "no residual connection",
            "This is what the sub-layer gives without the residual connection. Add what went into it.",
            residual_missing},
    Mistake{"first-residual-missing", error, "no residual connection around the attention",
            "This is what comes out when what goes into the attention is not added to what it gives. Add it.",
            one_residual_missing<1>},
    Mistake{"second-residual-missing", error, "no residual connection around the second sub-layer",
            "This is what comes out when what goes into the second sub-layer is not added to what it gives. "
            "Add it.",
            one_residual_missing<2>},
    Mistake{"residual-from-the-layer", error, "the words that go into the layer added after each sub-layer",
            "This is what comes out when the second sum adds what goes into the layer. Add what goes into "
            "the sub-layer.",
            residual_from_the_layer},
    Mistake{"norms-exchanged", error, "γ and β of the two norms exchanged",
            "This is what the two norms give with γ and β of each other. Each norm has its own.",
            norms_exchanged},
    Mistake{"residual-from-the-norm", error, "the normalized words added instead of the words themselves",
            "This is what comes out when the normalized words are added. Add the words as they are before "
            "the norm: x + sublayer(Norm(x)).",
            residual_of_norm},
    Mistake{
        "norm-inside-the-residual", error, "x + Norm(sublayer(x))",
        "This is what x + Norm(sublayer(x)) gives. Add first, and normalize the sum: Norm(x + sublayer(x)).",
        norm_of_what_was_found},
    Mistake{"pre-norm", convention, "norms before the sub-layers",
            "This is what x + sublayer(Norm(x)) gives, the pre-norm form of GPT-2 and Llama. Here the norm "
            "stands behind, as in the first Transformer: Norm(x + sublayer(x)).",
            norm_before},
    Mistake{"post-norm", convention, "norms behind the sub-layers",
            "This is what Norm(x + sublayer(x)) gives, as in the first Transformer. Here the norm stands "
            "before the sub-layer, as in GPT-2 and Llama: x + sublayer(Norm(x)).",
            norm_behind},
};

}  // namespace

std::span<const Mistake> mistakes_of_residuals() {
  return table;
}

}  // namespace attn
