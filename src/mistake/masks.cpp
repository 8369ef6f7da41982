#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "mistake/attention_nodes.hpp"
#include "mistake/mask_reasons.hpp"

// Mistakes with masks: what they hide, and what takes the place of a masked score.

namespace attn {
namespace {

using enum Mistake::Kind;

constexpr double infinity = std::numeric_limits<double>::infinity();
// What libraries take for −∞: a row of it alone has equal weights.
constexpr double very_low = -1e9;

bool masks_scores(const Node& node) {
  return makes(node, role::masked) && is_mask(*node.operation);
}

// --- what a mask hides

bool is_mask_input(const Node& node) {
  return (node.is(role::mask) || node.is(role::cross_mask)) && !node.operation;
}

using Allows = std::function<bool(const MaskReasons& mask, std::size_t row, std::size_t key)>;

// The same mask with other cells; nothing where the cells are the same.
Made mask_that(const Node& node, Rewriting& again, const MaskReasons& mask, const Allows& allows) {
  Matrix cells(node.frame.shape);
  bool is_changed = false;
  for (std::size_t i = 0; i < mask.rows(); ++i) {
    for (std::size_t j = 0; j < mask.keys(); ++j) {
      const bool now = allows(mask, i, j);
      is_changed = is_changed || now != mask.allows(i, j);
      cells(i, j) = now ? 1.0 : 0.0;
    }
  }
  if (!is_changed) return std::nullopt;
  return again.input_like(node, std::move(cells));
}

// A row whose mistake is a function of one cell of the mask.
template <bool (*allows)(const MaskReasons& mask, std::size_t row, std::size_t key)>
Made masked_otherwise(const Node& node, Rewriting& again) {
  if (!is_mask_input(node)) return std::nullopt;
  return mask_that(node, again, MaskReasons(node), allows);
}

bool reversed(const MaskReasons& mask, std::size_t row, std::size_t key) {
  return !mask.allows(row, key);
}

bool without_order(const MaskReasons& mask, std::size_t row, std::size_t key) {
  return mask.allows(row, key) || (mask.before() && !mask.is_padding(row, key));
}

bool without_padding(const MaskReasons& mask, std::size_t row, std::size_t key) {
  if (!mask.is_padding(row, key)) return mask.allows(row, key);
  return !mask.before() || key <= mask.query(row) + *mask.before();
}

// Where that is neither of the two above.
bool without_any(const MaskReasons& mask, std::size_t row, std::size_t key) {
  const bool is_causal_alone = mask.before() && !mask.has_padding();
  return mask.allows(row, key) || (mask.has_order() && !is_causal_alone);
}

// One key more, or less, than each query may attend to by order.
bool one_more(const MaskReasons& mask, std::size_t row, std::size_t key) {
  if (mask.is_padding(row, key)) return false;
  if (mask.before()) return key <= mask.query(row) + *mask.before() + 1;
  const std::optional<std::size_t> shown = mask.has_order() ? mask.shown_first(row) : std::nullopt;
  return mask.allows(row, key) || (shown && key == *shown);
}
bool one_less(const MaskReasons& mask, std::size_t row, std::size_t key) {
  if (mask.before()) return mask.allows(row, key) && key < mask.query(row) + *mask.before();
  const std::optional<std::size_t> shown = mask.has_order() ? mask.shown_first(row) : std::nullopt;
  return mask.allows(row, key) && !(shown && key + 1 == *shown);
}

// The same with the end of the sentence.
bool first_padding_shown(const MaskReasons& mask, std::size_t row, std::size_t key) {
  if (key != mask.first_padding_at_end(row)) return mask.allows(row, key);
  return !mask.before() || key <= mask.query(row) + *mask.before();
}
bool last_word_hidden(const MaskReasons& mask, std::size_t row, std::size_t key) {
  const std::size_t end = mask.first_padding_at_end(row);
  return mask.allows(row, key) && !(end < mask.keys() && key + 1 == end);
}

Made transposed_mask(const Node& node, Rewriting& again) {
  if (!is_mask_input(node)) return std::nullopt;
  const MaskReasons mask(node);
  if (mask.queries() != mask.keys()) return std::nullopt;
  return mask_that(node, again, mask, [](const MaskReasons& of, std::size_t row, std::size_t key) {
    return of.allows(row - of.query(row) + key, of.query(row));
  });
}

// Aligned at the top left, or at the bottom right, where the lengths differ.
Made other_corner(const Node& node, Rewriting& again) {
  if (!is_mask_input(node)) return std::nullopt;
  const MaskReasons mask(node);
  if (!mask.before() || mask.keys() <= mask.queries()) return std::nullopt;
  const std::size_t before = *mask.before() == 0 ? mask.keys() - mask.queries() : 0;
  return mask_that(node, again, mask, [before](const MaskReasons& of, std::size_t row, std::size_t key) {
    const bool is_hidden =
        key < of.queries() && of.is_padding(row, key);  // beyond, order hides keys from all
    return !is_hidden && key <= of.query(row) + before;
  });
}

// A query that is padding attends to nothing, and what others attend to is not masked.
bool queries_hidden(const MaskReasons& mask, std::size_t row, std::size_t key) {
  if (mask.queries() != mask.keys()) return mask.allows(row, key);
  return without_padding(mask, row, key) && !mask.is_padding(row, mask.query(row));
}

// Rows in which everything is masked have equal weights then.
Made queries_hidden_instead_of_keys(const Node& node, Rewriting& again) {
  if (!masks_scores(node)) return masked_otherwise<queries_hidden>(node, again);
  if (!again.changes(*node.operands[1])) return std::nullopt;
  return replace(again.of(*node.operands[0]), again.of(*node.operands[1]), very_low);
}

// --- whose mask it is

// Of several sentences of several heads one below the other: the masks repeated sentence by sentence, where
// the heads stand head by head.
Made mask_of_other_sentence(const Node& node, Rewriting& again) {
  if (!masks_scores(node)) return std::nullopt;
  const std::optional<std::size_t> head = head_of(node);
  const NamedScope* const sentence = node.within(scope::sentence);
  const Node& mask_input = *node.operands[1];
  if (!head || !sentence || !sentence->number) return std::nullopt;
  std::size_t sentences = 0;
  const auto mask_of = [&](std::size_t number) {
    return node.graph->find(sentence->outer, Name({{scope::sentence, number}}, role::mask));
  };
  while (mask_of(sentences + 1)) ++sentences;
  if (*sentence->number > sentences) return std::nullopt;
  const std::size_t heads = of_all_heads(node, role::masked).size();
  const Node* const other = mask_of((*head * sentences + *sentence->number - 1) / heads + 1);
  if (!other || other == &mask_input) return std::nullopt;
  return again.graph().apply(node.operation, {again.of(*node.operands[0]), again.of(*other)});
}

// The mask of the decoder's own words, in its cross-attention.
Made target_mask_in_cross_attention(const Node& node, Rewriting& again) {
  if (!node.within(scope::cross_attention)) return std::nullopt;
  if (!node.is(role::masked)) return on_named(node, role::masked, again);
  const NamedScope* const layer = around(node.place, scope::cross_attention);
  const Node* own = node.graph->find(layer, Name({{scope::self_attention}, {scope::head, 1}}, role::masked));
  if (!own) own = node.graph->find(layer, Name({{scope::self_attention}}, role::masked));
  if (!own || !own->operation || !is_mask(*own->operation)) return std::nullopt;
  const Node& scores = node.original();
  const bool is_masked = scores.operation && is_mask(*scores.operation);
  return again.graph().apply(
      own->operation, {again.of(is_masked ? *scores.operands[0] : scores), again.of(*own->operands[1])});
}

// --- what takes the place of a masked score

Made filled_with(double fill, const Node& node, Rewriting& again) {
  if (!masks_scores(node)) return std::nullopt;
  return replace(again.of(*node.operands[0]), again.of(*node.operands[1]), fill);
}
Made filled_with_zero(const Node& node, Rewriting& again) {
  return filled_with(0.0, node, again);
}
Made filled_with_infinity(const Node& node, Rewriting& again) {
  return filled_with(infinity, node, again);
}

Made mask_added(const Node& node, Rewriting& again) {
  if (!masks_scores(node)) return std::nullopt;
  return add(again.of(*node.operands[0]), again.of(*node.operands[1]));
}

Made masked_after_softmax(const Node& node, Rewriting& again) {
  if (!is_softmax_of_attention(node)) return std::nullopt;
  const Node& scores = *node.operands[0];
  if (!scores.operation || !is_mask(*scores.operation)) return std::nullopt;
  return zero_where_masked(node, softmax(scores_before_mask(node, again)), again);
}

// Whether some row of a mask hides everything.
bool hides_a_row(const Node& mask) {
  const std::shared_ptr<const Matrix> cells = mask.cells();
  for (std::size_t i = 0; i < cells->shape().rows; ++i) {
    if (std::ranges::all_of(row(*cells, i), [](double cell) { return cell == 0.0; })) return true;
  }
  return false;
}

Made filled_where_all_masked(double fill, const Node& node, Rewriting& again) {
  if (!masks_scores(node)) return std::nullopt;
  const Value allowed = again.of(*node.operands[1]);
  if (!hides_a_row(allowed.node())) return std::nullopt;
  const Value shown = repeat_columns(row_sums(allowed), allowed.shape().columns, axis("keys"));
  return replace(again.unchanged(node), shown, fill);
}
Made filled_with_large_negative(const Node& node, Rewriting& again) {
  return filled_with(very_low, node, again);
}
Made equal_where_all_masked(const Node& node, Rewriting& again) {
  return filled_where_all_masked(very_low, node, again);
}
Made not_a_number_where_all_masked(const Node& node, Rewriting& again) {
  return filled_where_all_masked(infinity, node, again);
}

constexpr std::array table = {
    Mistake{"masked-score-is-zero", error, "0 in place of a masked score",
            "This is what a masked score of 0 gives: e⁰ is 1, so the key still gets weight. Put −∞ or a "
            "large negative number in its place.",
            filled_with_zero},
    Mistake{"masked-after-softmax", error, "weights masked after the softmax",
            "This is what weights give that are masked after the softmax: rows no longer sum to 1. Mask the "
            "scores before it.",
            masked_after_softmax},
    Mistake{"mask-added", error, "mask of 0 and 1 added to the scores",
            "This is what the mask of zeros and ones gives when it is added to the scores. Where it is 0, "
            "put −∞ or a large negative number in place of the score.",
            mask_added},
    Mistake{"mask-reversed", error, "mask with 0 and 1 exchanged",
            "This is what the mask gives with its zeros and ones exchanged: what is to be hidden is seen. "
            "Here 1 means that a query may attend to a key.",
            masked_otherwise<reversed>},
    Mistake{"order-not-masked", error, "no causal mask",
            "This is what attention gives when later keys are not masked. Mask them.",
            masked_otherwise<without_order>},
    Mistake{"padding-not-masked", error, "padding that is not masked",
            "This is what attention gives when keys are not masked to which no query may attend, such as "
            "padding. Mask them.",
            masked_otherwise<without_padding>},
    Mistake{"not-masked", error, "no mask",
            "This is what attention gives without any mask. Mask what the query may not attend to.",
            masked_otherwise<without_any>},
    Mistake{"one-key-too-many", error, "a mask that is off by one and shows a key too many",
            "This is what a mask gives that is off by one: a query also attends to the next key after those "
            "that it may attend to.",
            masked_otherwise<one_more>},
    Mistake{
        "one-key-too-few", error, "a mask that is off by one and hides a key too many",
        "This is what a mask gives that is off by one: the last key is masked that a query may attend to.",
        masked_otherwise<one_less>},
    Mistake{"first-padding-seen", error, "valid length one too large",
            "This is what attention gives when the first of the masked keys at the end is not masked, as "
            "with a valid length that is one too large.",
            masked_otherwise<first_padding_shown>},
    Mistake{"last-word-masked", error, "valid length one too small",
            "This is what attention gives when one more key is masked, the last one before those at the end, "
            "as with a valid length that is one too small.",
            masked_otherwise<last_word_hidden>},
    Mistake{"mask-transposed", error, "mask transposed",
            "This is what the transposed mask gives: each query attends to the keys whose queries may attend "
            "to it. Rows of the mask are queries.",
            transposed_mask},
    Mistake{"mask-aligned-otherwise", convention, "causal mask aligned at another corner",
            "This is what a causal mask gives that is aligned at another corner. Where there are more keys "
            "than queries, some align it at the top left and others at the bottom right.",
            other_corner},
    Mistake{"queries-masked", error, "masked queries instead of keys",
            "This is what the mask of the padding gives when it is applied to queries. Mask the keys: the "
            "columns of the scores.",
            queries_hidden_instead_of_keys},
    Mistake{"mask-of-other-sentence", error, "masks of a batch in another order than its heads",
            "This is what masks give that are repeated sentence by sentence, where the heads stand head by "
            "head. Repeat the masks in the order of the heads.",
            mask_of_other_sentence},
    Mistake{"target-mask-in-cross-attention", error, "mask of the target in the cross-attention",
            "This is what the mask of the target gives in the cross-attention. Use the mask of the source "
            "there, if it has one.",
            target_mask_in_cross_attention},
    Mistake{"masked-score-is-infinite", error, "+∞ in place of a masked score",
            "This is what +∞ gives in place of a masked score: no number. Put −∞ or a large negative number "
            "in its place.",
            filled_with_infinity},
    Mistake{"equal-where-all-masked", convention, "equal weights where all keys are masked",
            "This is what equal weights give for a query whose keys are all masked, as a large negative mask "
            "value makes them. Here the weights of such a query are 0.",
            equal_where_all_masked},
    Mistake{"large-negative-mask-value", convention, "−10⁹ in place of −∞",
            "This is what a masked score of −10⁹ gives, as many programs have it. Here it is −∞.",
            filled_with_large_negative},
    Mistake{"no-number-where-all-masked", convention, "no number where all keys are masked",
            "This is what softmax gives where all keys are masked and it divides 0 by 0: no number. Here the "
            "weights of such a query are 0.",
            not_a_number_where_all_masked},
};

}  // namespace

std::span<const Mistake> mistakes_of_masks() {
  return table;
}

}  // namespace attn
