#include <algorithm>
#include <string>
#include <utility>

#include "school/mistake/amounts.hpp"
#include "school/mistake/numbers.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// Mistakes with residual connections, and where the norms of layers stand.

namespace {

constexpr std::size_t most_sublayers = 3;

/// A sub-layer with its residual connection and its norm: sum = x + found.
struct ResidualSublayer {
  const Node *x, *found, *sum, *normalized, *output;
  bool is_post;  // the norm is that of the sum; otherwise of x
};

std::optional<ResidualSublayer> sublayer_at(const Graph& graph, const NamedScope* layer, std::size_t number) {
  const Node* const sum = graph.find(layer, {role::sum, number});
  const auto in_norm = [&](const Role& role) { return graph.find(layer, {{{scope::norm, number}}, role}); };
  const Node *const normalized = in_norm(role::normalised), *const output = in_norm(role::output);
  if (!sum || !normalized || !output) return std::nullopt;
  return ResidualSublayer{sum->operands[0], sum->operands[1], sum, normalized, output, normalized->operands[0] == sum};
}

// The sub-layer whose norm a node belongs to.
std::optional<ResidualSublayer> sublayer_of_norm(const Node& node) {
  const NamedScope* const norm = node.place && node.place->is(scope::norm) ? node.place : nullptr;
  if (!norm || !norm->number || node.family != &family::forward) return std::nullopt;
  return sublayer_at(*node.graph, norm->outer, *norm->number);
}

// The one whose sum, or whose norm's output, a node is, whatever other names it has.
std::optional<ResidualSublayer> sublayer_of_output(const Node& any) {
  const Node& node = any.original();
  if (!node.is(role::output)) return std::nullopt;
  return sublayer_of_norm(node);
}
std::optional<ResidualSublayer> sublayer_of_sum(const Node& any) {
  const Node& node = any.original();
  if (!node.is(role::sum)) return std::nullopt;
  for (std::size_t number = 1; number <= most_sublayers; ++number) {
    const auto found = sublayer_at(*node.graph, node.place, number);
    if (found && found->sum == &node) return found;
  }
  return std::nullopt;
}

// The sub-layer of which a node is a projection of what goes in: q, k, v, or the inner one.
std::optional<ResidualSublayer> projected_in(const Node& node) {
  const bool projects = has_role<role::q, role::k, role::v, role::inner>(node);
  if (!projects || !node.op || !node.place) return std::nullopt;
  const std::vector<const Node*> named = node.named_operands();
  for (std::size_t number = 1; number <= most_sublayers && !named.empty(); ++number) {
    const auto found = sublayer_at(*node.graph, node.place->outer, number);
    if (found && &named.front()->original() == found->x) return found;
  }
  return std::nullopt;
}

bool is_post(const std::optional<ResidualSublayer>& sublayer) { return sublayer && sublayer->is_post; }
bool is_pre(const std::optional<ResidualSublayer>& sublayer) { return sublayer && !sublayer->is_post; }

// Whether a node is the sum of one of the sub-layers, as they are counted in a layer.
template <std::size_t number>
bool is_sum_of(const Node& node) {
  const auto own = node.is(role::sum) ? sublayer_of_sum(node) : std::nullopt;
  const auto counted = own ? sublayer_at(*node.graph, node.place, number) : std::nullopt;
  return counted && own->sum == counted->sum;
}

// The words that go into the layer, once more where the second sub-layer ends.
bool is_later_sum(const Node& node) {
  return !node.is_alias() && sublayer_of_sum(node) && !is_sum_of<1>(node) && sublayer_at(*node.graph, node.place, 1);
}
Made residual_from_the_layer(RewriteSite at) {
  return add(at.of(*sublayer_at(*at.node.graph, at.node.place, 1)->x), at[1]);
}

// γ of the first norm for γ of the second one, and the other way round; and so β. Null: there is no other one.
const Node* same_of_other_norm(const Node& node) {
  const bool is_one = has_role<role::gamma, role::beta>(node) && !node.op;
  const NamedScope* const norm = is_one && node.place && node.place->is(scope::norm) ? node.place : nullptr;
  if (!norm || !norm->number || *norm->number > 2) return nullptr;
  const Node* const other = node.graph->find(norm->outer, {{{scope::norm, 3 - *norm->number}}, *node.role});
  return other && other->frame.shape == node.frame.shape ? other : nullptr;
}

Made residual_of_norm(RewriteSite at) {
  const ResidualSublayer sublayer = *sublayer_of_sum(at.node);
  return add(at.of(*sublayer.output), at.of(*sublayer.found));
}

// x + Norm(sublayer(x))
bool is_of_norm_of_sum(const Node& node) {
  const auto sublayer = sublayer_of_norm(node);
  return is_post(sublayer) && !node.is_alias() && (&node == sublayer->output || uses(node, *sublayer->sum));
}
Made norm_of_what_was_found(RewriteSite at) {
  const ResidualSublayer sublayer = *sublayer_of_norm(at.node);
  if (&at.node == sublayer.output) return add(at.of(*sublayer.x), at.itself());
  return on_other(at, *sublayer.sum, at.of(*sublayer.found));
}

// --- norms before the sub-layers where they stand behind them

// What goes from layer to layer: the sums alone.
Made sum_in_place_of(const Node& node, Rewriting& again) {
  const auto sublayer = sublayer_of_output(node);
  return is_post(sublayer) ? Made(again.of(*sublayer->sum)) : std::nullopt;
}
Value sums_along(const Node& node, Rewriting& again) {
  const Made sum = sum_in_place_of(node, again);
  return sum ? *sum : again.of(node);
}

bool differs_with_norm_before(const Node& node) {
  if (const auto own = sublayer_of_norm(node); is_post(own)) return uses(node, *own->sum);
  if (node.is_alias()) return is_post(sublayer_of_output(node));
  const auto is_output = [](const Node* one) { return is_post(sublayer_of_output(*one)); };
  return is_post(projected_in(node)) || (std::ranges::any_of(node.operands, is_output) && !is_gradient(node));
}
Made norm_before(RewriteSite at) {
  if (const auto own = sublayer_of_norm(at.node); is_post(own))
    return on_other(at, *own->sum, sums_along(*own->x, at.rewriting));
  if (at.node.is_alias()) return sum_in_place_of(at.node, at.rewriting);
  if (const auto sublayer = projected_in(at.node); is_post(sublayer)) {
    const Value words = put(*sublayer->output, *sublayer->sum, sums_along(*sublayer->x, at.rewriting), at.rewriting);
    return put(at.node, *sublayer->x, words, at.rewriting);
  }
  return on_others(at, [&](const Node& one) { return sum_in_place_of(one, at.rewriting); });
}

// --- norms after the sub-layers where they stand before them

// What goes from layer to layer: the norms of the sums.
Made norm_in_place_of(const Node& node, Rewriting& again) {
  const auto sublayer = sublayer_of_sum(node);
  if (!is_pre(sublayer)) return std::nullopt;
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
const Node& before_last_norm(const Node& node) { return *node.beside(role::normalised)->operands[0]; }

bool differs_with_norm_behind(const Node& node) {
  if (is_gradient(node)) return false;
  if (is_last_norm(node)) return is_pre(sublayer_of_sum(before_last_norm(node)));
  if (const auto own = sublayer_of_norm(node); is_pre(own)) return uses(node, *own->x);
  if (is_pre(sublayer_of_sum(node))) return true;
  return !node.is_alias() && std::ranges::any_of(node.operands, [](const Node* one) {
    return is_pre(sublayer_of_output(*one)) || is_pre(sublayer_of_sum(*one));
  });
}
Made norm_behind(RewriteSite at) {
  if (is_last_norm(at.node)) return norms_along(before_last_norm(at.node), at.rewriting);
  if (const auto own = sublayer_of_norm(at.node); is_pre(own)) {
    const Value x = norms_along(*own->x, at.rewriting);
    return on_other(at, *own->x, add(x, put(*own->found, *own->output, x, at.rewriting)));
  }
  if (at.node.is_alias()) return norm_in_place_of(at.node, at.rewriting);
  if (const auto own = sublayer_of_sum(at.node); is_pre(own))
    return add(norms_along(*own->x, at.rewriting), at.of(*own->found));
  return on_others(at, [&](const Node& one) {
    const auto sublayer = sublayer_of_output(one);
    return is_pre(sublayer) ? Made(norms_along(*sublayer->x, at.rewriting)) : norm_in_place_of(one, at.rewriting);
  });
}

// --- other norms, other sums, another order

// γ or β of the first norm of the layer, for those of a later one; else null.
const Node* same_of_first_norm(const Node& node) {
  const bool is_one = has_role<role::gamma, role::beta>(node) && !node.op;
  const NamedScope* const norm = is_one && node.place && node.place->is(scope::norm) ? node.place : nullptr;
  if (!norm || !norm->number || *norm->number < 2) return nullptr;
  const Node* const first = node.graph->find(norm->outer, {{{scope::norm, 1}}, *node.role});
  return first && first->frame.shape == node.frame.shape ? first : nullptr;
}

// The parameter with the same name in another layer, which has its shape; null: there is none.
const Node* same_in_layer(const Node& node, std::size_t number) {
  const NamedScope* const layer = node.within(scope::number);
  if (!layer || !layer->number || node.op || node.content() != Content::numbers) return nullptr;
  const std::string outer = layer->outer ? layer->outer->prefix : std::string();
  const Node* const other =
      node.graph->find(outer + std::to_string(number) + "." + node.name.substr(layer->prefix.size()));
  return other && other != &node && other->frame.shape == node.frame.shape && !other->op ? other : nullptr;
}
const Node* same_in_first_layer(const Node& node) { return same_in_layer(node, 1); }
const Node* same_in_opposite_layer(const Node& node) {
  const NamedScope* const layer = node.within(scope::number);
  if (!layer || !layer->number) return nullptr;
  std::size_t last = *layer->number;
  while (same_in_layer(node, last + 1)) ++last;
  return same_in_layer(node, last + 1 - *layer->number);
}

// --- sub-layers in another order

// What goes into a sub-layer and its residual connection, and what comes out of its norm.
const Node& end_of(const ResidualSublayer& sublayer) {
  return (sublayer.is_post ? *sublayer.output : *sublayer.sum).original();
}

// Neighboring sub-layers of the layer of a node, the first of which has this number.
std::optional<std::pair<ResidualSublayer, ResidualSublayer>> neighbors_at(const Graph& graph, const NamedScope* layer,
                                                                          std::size_t number) {
  const auto one = sublayer_at(graph, layer, number), other = sublayer_at(graph, layer, number + 1);
  if (!one || !other || one->is_post != other->is_post || &other->x->original() != &end_of(*one)) return std::nullopt;
  return std::pair(*one, *other);
}

// The layer of a node, or for a node without a name that of what it is made of.
const NamedScope* layer_of(const Node& node) {
  if (!node.name.empty()) return within(node.place, scope::number);
  for (const Node* operand : node.operands) {
    const bool is_result = operand->op && !operand->name.empty();
    if (const NamedScope* const layer = is_result ? nullptr : layer_of(*operand)) return layer;
  }
  return nullptr;
}

// What a node takes that stands at an end of two neighbors in a layer.
enum class End { in, between, out };
struct AtEnd {
  std::pair<ResidualSublayer, ResidualSublayer> sublayers;
  End end;
  const Node* taken;
};
std::optional<AtEnd> taken_at_end(const Node& node, std::size_t number) {
  if (node.family != &family::forward) return std::nullopt;
  for (const Node* operand : node.operands) {
    const Node& taken = operand->original();
    for (const NamedScope* layer : {layer_of(node), layer_of(taken)}) {
      const auto both = layer ? neighbors_at(*node.graph, layer, number) : std::nullopt;
      if (!both) continue;
      const Node &in = both->first.x->original(), &between = end_of(both->first), &out = end_of(both->second);
      const bool is_inside = !node.is_alias() && node.index <= out.index;
      if (&taken == &in && is_inside && node.index <= between.index) return AtEnd{*both, End::in, &in};
      if (&taken == &between && is_inside) return AtEnd{*both, End::between, &between};
      if (&taken == &out) return AtEnd{*both, End::out, &out};
    }
  }
  return std::nullopt;
}
template <std::size_t number>
bool differs_exchanged(const Node& node) {
  return taken_at_end(node, number).has_value();
}

// The second sub-layer takes what goes into the first one; the first one takes what the second makes of that.
template <std::size_t number>
Made exchanged(RewriteSite at) {
  const AtEnd at_end = *taken_at_end(at.node, number);
  const ResidualSublayer &one = at_end.sublayers.first, &other = at_end.sublayers.second;
  const auto now = [&]() -> Value {
    if (at_end.end == End::between) return at.of(*one.x);
    if (at_end.end == End::out) return at.of(end_of(one));
    const Value x = at.of(*one.x), sum = add(x, put(*other.found, *other.x, x, at.rewriting));
    return other.is_post ? put(*other.output, *other.sum, sum, at.rewriting) : sum;
  }();
  if (at.node.is_alias()) return now;
  return on_others(at,
                   [&](const Node& operand) { return &operand.original() == at_end.taken ? Made(now) : std::nullopt; });
}

// The same where the norms stay: the first sum adds what the second sub-layer makes, and the other way round.
template <std::size_t number>
bool differs_exchanged_without_norms(const Node& node) {
  const std::optional<AtEnd> at_end = taken_at_end(node, number);
  return at_end && at_end->end != End::out && at_end->sublayers.first.is_post;
}
template <std::size_t number>
Made exchanged_without_norms(RewriteSite at) {
  const AtEnd at_end = *taken_at_end(at.node, number);
  const ResidualSublayer &one = at_end.sublayers.first, &other = at_end.sublayers.second;
  const Value x = at.of(*one.x);
  const auto take = [&](const Value& now) {
    return on_others(
        at, [&](const Node& operand) { return &operand.original() == at_end.taken ? Made(now) : std::nullopt; });
  };
  if (&at.node == &other.sum->original()) return add(at[0], at.of(*one.found));
  if (at_end.end == End::between) return take(x);
  const Value sum = add(x, put(*other.found, *other.x, x, at.rewriting));
  return &at.node == &one.sum->original() ? sum : take(put(*one.output, *one.sum, sum, at.rewriting));
}

constexpr Mistake mistakes_in_residuals[] = {
    {"residual-missing", error, "no residual connection",
     "This is what the sub-layer gives without the residual connection. Add what went into it.", has_role<role::sum>,
     second_alone},
    {"first-residual-missing", error, "no residual connection around the attention",
     "This is what comes out when what goes into the attention is not added to what it gives. Add it.", is_sum_of<1>,
     second_alone},
    {"second-residual-missing", error, "no residual connection around the second sub-layer",
     "This is what comes out when what goes into the second sub-layer is not added to what it gives. "
     "Add it.",
     is_sum_of<2>, second_alone},
    {"residual-from-the-layer", error, "the words that go into the layer added after each sub-layer",
     "This is what comes out when the second sum adds what goes into the layer. "
     "Add what goes into the sub-layer.",
     is_later_sum, residual_from_the_layer},
    {"norms-exchanged", error, "γ and β of the two norms exchanged",
     "This is what the two norms give with γ and β of each other. Each norm has its own.", has<same_of_other_norm>,
     [](RewriteSite at) -> Made { return at.like(same_of_other_norm(at.node)->matrix()); }},
    {"third-residual-missing", error, "no residual connection around the third sub-layer",
     "This is what comes out when what goes into the third sub-layer is not added to what it gives. Add it.",
     is_sum_of<3>, second_alone},
    {"first-norm-for-all", error, "γ and β of the first norm in every norm",
     "This is what the norms of a layer give with γ and β of the first one. Each norm has its own.",
     has<same_of_first_norm>, [](RewriteSite at) -> Made { return at.like(same_of_first_norm(at.node)->matrix()); }},
    {"second-norm-for-the-first", error, "γ and β of the second norm in the first one",
     "This is what the first norm gives with γ and β of the second one. Each norm has its own.",
     [](const Node& node) { return same_of_other_norm(node) && node.place->number == std::size_t{1}; },
     [](RewriteSite at) -> Made { return at.like(same_of_other_norm(at.node)->matrix()); }},
    {"first-layer-in-all", error, "the parameters of the first layer in every layer",
     "This is what the layers give with the parameters of the first one. Each layer has its own.",
     has<same_in_first_layer>, [](RewriteSite at) -> Made { return at.like(same_in_first_layer(at.node)->matrix()); }},
    {"layers-reversed", error, "the parameters of the layers in the opposite order",
     "This is what the layers give in the opposite order. The first layer stands first.", has<same_in_opposite_layer>,
     [](RewriteSite at) -> Made { return at.like(same_in_opposite_layer(at.node)->matrix()); }},
    {"first-sub-layers-exchanged", error, "the second sub-layer before the first one",
     "This is what comes out when the first two sub-layers of a layer are exchanged, each with its norm. "
     "Keep their order.",
     differs_exchanged<1>, exchanged<1>},
    {"last-sub-layers-exchanged", error, "the third sub-layer before the second one",
     "This is what comes out when the last two sub-layers of a layer are exchanged, each with its norm. "
     "Keep their order.",
     differs_exchanged<2>, exchanged<2>},
    {"first-sub-layers-exchanged-norms-kept", error,
     "the second sub-layer before the first one, with the norms in place",
     "This is what comes out when the first two sub-layers of a layer are exchanged, but not their norms. "
     "Keep their order.",
     differs_exchanged_without_norms<1>, exchanged_without_norms<1>},
    {"last-sub-layers-exchanged-norms-kept", error,
     "the third sub-layer before the second one, with the norms in place",
     "This is what comes out when the last two sub-layers of a layer are exchanged, but not their norms. "
     "Keep their order.",
     differs_exchanged_without_norms<2>, exchanged_without_norms<2>},
    {"residual-from-the-norm", error, "the normalized words added instead of the words themselves",
     "This is what comes out when the normalized words are added. "
     "Add the words as they are before the norm: x + sublayer(Norm(x)).",
     [](const Node& node) { return node.is(role::sum) && is_pre(sublayer_of_sum(node)); }, residual_of_norm},
    {"norm-inside-the-residual", error, "x + Norm(sublayer(x))",
     "This is what x + Norm(sublayer(x)) gives. Add first, and normalize the sum: Norm(x + sublayer(x)).",
     is_of_norm_of_sum, norm_of_what_was_found},
    {"pre-norm", convention, "norms before the sub-layers",
     "This is what x + sublayer(Norm(x)) gives, the pre-norm form of GPT-2 and Llama. "
     "Here the norm comes after, as in the first Transformer: Norm(x + sublayer(x)).",
     differs_with_norm_before, norm_before},
    {"post-norm", convention, "norms after the sub-layers",
     "This is what Norm(x + sublayer(x)) gives, as in the first Transformer. "
     "Here the norm stands before the sub-layer, as in GPT-2 and Llama: x + sublayer(Norm(x)).",
     differs_with_norm_behind, norm_behind},
};

template <std::size_t number>
bool is_plain_sum_of(const Node& node) {
  return !node.is_alias() && is_sum_of<number>(node);
}
Made residual_times(RewriteSite at, double number) { return add(times(at[0], plain_number(number)), at[1]); }
Made found_times(RewriteSite at, double number) { return add(at[0], times(at[1], plain_number(number))); }

constexpr MistakeWithNumber numbers_of_residuals[] = {
    {{"another-multiple-of-first-residual", error, "the first residual connection not added once",
      "This is what comes out when what goes into the first sub-layer is not added once. Add it once.",
      is_plain_sum_of<1>, nullptr},
     residual_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {2.0, 0.5, -1.0}},
    {{"another-multiple-of-first-sub-layer", error, "the first sub-layer not added once",
      "This is what comes out when the result of the first sub-layer is not added once. Add it once.",
      is_plain_sum_of<1>, nullptr},
     found_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {0.0, 2.0, 0.5, -1.0}},
    {{"another-multiple-of-second-residual", error, "the second residual connection not added once",
      "This is what comes out when what goes into the second sub-layer is not added once. Add it once.",
      is_plain_sum_of<2>, nullptr},
     residual_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {2.0, 0.5, -1.0}},
    {{"another-multiple-of-second-sub-layer", error, "the second sub-layer not added once",
      "This is what comes out when the result of the second sub-layer is not added once. Add it once.",
      is_plain_sum_of<2>, nullptr},
     found_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {0.0, 2.0, 0.5, -1.0}},
    {{"another-multiple-of-third-residual", error, "the third residual connection not added once",
      "This is what comes out when what goes into the third sub-layer is not added once. Add it once.",
      is_plain_sum_of<3>, nullptr},
     residual_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {2.0, 0.5, -1.0}},
    {{"another-multiple-of-third-sub-layer", error, "the third sub-layer not added once",
      "This is what comes out when the result of the third sub-layer is not added once. Add it once.",
      is_plain_sum_of<3>, nullptr},
     found_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {0.0, 2.0, 0.5, -1.0}},
    {{"another-multiple-of-residual", error, "the residual connection not added once",
      "This is what comes out when what goes into the sub-layers is not added once. Add it once.", makes<role::sum>,
      nullptr},
     residual_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {2.0, 0.5, -1.0}},
    {{"another-multiple-of-sub-layer", error, "the sub-layers not added once",
      "This is what comes out when the result of the sub-layers is not added once. Add it once.", makes<role::sum>,
      nullptr},
     found_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {0.0, 2.0, 0.5, -1.0}},
};

}  // namespace

std::span<const Mistake> mistakes_of_residuals() { return mistakes_in_residuals; }

std::span<const MistakeWithNumber> numbers_in_residuals() { return numbers_of_residuals; }

}  // namespace attn
