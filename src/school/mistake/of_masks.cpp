#include <algorithm>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>

#include "core/math/rows.hpp"
#include "school/mistake/amounts.hpp"
#include "school/mistake/mask_reasons.hpp"
#include "school/mistake/numbers.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// Mistakes with masks: what they hide, and what takes the place of a masked score.

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// What libraries take for −∞: a row of it alone has equal weights.
constexpr double very_low = -1e9;

// --- what a mask hides

bool is_mask_input(const Node& node) {
  return has_role<role::mask, role::local_mask, role::cross_mask>(node) && !node.op;
}

using Allows = std::function<bool(const MaskReasons& mask, std::size_t row, std::size_t key)>;

// The same mask with other cells; nothing where the cells are the same.
Made mask_that(RewriteSite at, const MaskReasons& mask, const Allows& allows) {
  Matrix cells(at.node.frame.shape);
  bool is_changed = false;
  for (std::size_t i = 0; i < mask.rows(); ++i) {
    for (std::size_t j = 0; j < mask.keys(); ++j) {
      const bool now = allows(mask, i, j);
      is_changed = is_changed || now != mask.allows(i, j);
      cells(i, j) = now ? 1.0 : 0.0;
    }
  }
  return is_changed ? Made(at.like(std::move(cells))) : std::nullopt;
}

// A row whose mistake is a function of one cell of the mask.
template <bool (*allows)(const MaskReasons& mask, std::size_t row, std::size_t key)>
Made masked_otherwise(RewriteSite at) {
  return mask_that(at, MaskReasons(at.node), allows);
}

bool reversed(const MaskReasons& mask, std::size_t row, std::size_t key) { return !mask.allows(row, key); }

bool without_order(const MaskReasons& mask, std::size_t row, std::size_t key) {
  if (mask.allows(row, key) || mask.is_padding(row, key)) return mask.allows(row, key);
  const std::optional<std::size_t> before = mask.before_later();
  return before && key > mask.query(row) + *before;
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

// The keys before those that a window shows.
bool before_window(const MaskReasons& mask, std::size_t row, std::size_t key) {
  if (mask.allows(row, key) || mask.is_padding(row, key)) return mask.allows(row, key);
  for (std::size_t later = key + 1; later < mask.keys(); ++later) {
    if (mask.allows(row, later)) return true;
  }
  return false;
}

// A window shows each query so many keys, the last of which is the one that stands where the query does.
struct Window {
  std::size_t size, before;  // before: how many keys stand before the one of the first query

  /// The keys that are no longer seen by a query.
  std::size_t gone(std::size_t query) const { return query + before + 1 - std::min(size, query + before + 1); }
};
// Of a mask that shows no later key, and all rows of which have the same window.
std::optional<Window> window_of(const MaskReasons& mask) {
  const std::optional<std::size_t> before = mask.before_later();
  std::optional<Window> window;
  for (std::size_t i = 0; before && i < mask.rows() && !window; ++i) {
    const std::size_t own = std::min(mask.query(i) + *before, mask.keys() - 1);
    std::size_t first = 0;
    while (first < own && !mask.allows(i, first)) ++first;
    while (first > 0 && mask.is_padding(i, first - 1)) --first;
    if (first > 0) window = {mask.query(i) + *before + 1 - first, *before};
  }
  for (std::size_t i = 0; window && i < mask.rows(); ++i) {
    for (std::size_t j = 0; j < mask.keys() && window; ++j) {
      const bool is_shown = j >= window->gone(mask.query(i)) && j <= mask.query(i) + *before;
      if (!mask.is_padding(i, j) && mask.allows(i, j) != is_shown) window.reset();
    }
  }
  return window;
}
// The window as it is with other ends: which key more, or less, it shows first and last.
Made with_window(RewriteSite at, std::ptrdiff_t more_first, std::ptrdiff_t more_last) {
  const MaskReasons mask(at.node);
  std::optional<Window> window = window_of(mask);
  if (!window || (more_first < 0 && window->size == 1)) return std::nullopt;
  window->size = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(window->size) + more_first);
  return mask_that(at, mask, [&](const MaskReasons& of, std::size_t row, std::size_t key) {
    const std::size_t query = of.query(row);
    const auto last = static_cast<std::ptrdiff_t>(query + window->before) + more_last;
    return !of.is_padding(row, key) && key >= window->gone(query) && static_cast<std::ptrdiff_t>(key) <= last;
  });
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

template <std::ptrdiff_t more, bool (*allows)(const MaskReasons& mask, std::size_t row, std::size_t key)>
Made other_last_key(RewriteSite at) {
  return window_of(MaskReasons(at.node)) ? with_window(at, 0, more) : masked_otherwise<allows>(at);
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

Made transposed_mask(RewriteSite at) {
  const MaskReasons mask(at.node);
  if (mask.queries() != mask.keys()) return std::nullopt;
  return mask_that(at, mask, [](const MaskReasons& of, std::size_t row, std::size_t key) {
    return of.allows(row - of.query(row) + key, of.query(row));
  });
}

// Aligned at the top left, or at the bottom right, where the lengths differ.
Made at_other_corner(RewriteSite at, const MaskReasons& mask, std::size_t before) {
  return mask_that(at, mask, [before](const MaskReasons& of, std::size_t row, std::size_t key) {
    const bool is_hidden = key < of.queries() && of.is_padding(row, key);  // beyond, order hides keys from all
    return !is_hidden && key <= of.query(row) + before;
  });
}
// Where nobody says how many keys are older than the queries, it can be either.
Made at_bottom_right(RewriteSite at) {
  const MaskReasons mask(at.node);
  if (mask.before() != std::size_t{0} || mask.keys() <= mask.queries()) return std::nullopt;
  return at_other_corner(at, mask, mask.keys() - mask.queries());
}
Made at_top_left(RewriteSite at) {
  const MaskReasons mask(at.node);
  if (mask.before().value_or(0) == 0 || mask.keys() <= mask.queries()) return std::nullopt;
  return at_other_corner(at, mask, 0);
}

// A query that is padding attends to nothing, and what others attend to is not masked.
bool queries_hidden(const MaskReasons& mask, std::size_t row, std::size_t key) {
  if (mask.queries() != mask.keys()) return mask.allows(row, key);
  return without_padding(mask, row, key) && !mask.is_padding(row, mask.query(row));
}

bool queries_hidden_as_well(const MaskReasons& mask, std::size_t row, std::size_t key) {
  if (mask.queries() != mask.keys()) return mask.allows(row, key);
  return mask.allows(row, key) && !mask.is_padding(row, mask.query(row));
}

// Rows in which everything is masked have equal weights then.
Made queries_hidden_instead_of_keys(RewriteSite at) {
  if (is_mask_input(at.node)) return masked_otherwise<queries_hidden>(at);
  if (!at.rewriting.changes(*at.node.operands[1])) return std::nullopt;
  return replace(at[0], at[1], very_low);
}

// --- whose mask it is

// Of several sentences of several heads one below the other: the masks repeated sentence by sentence, where
// the heads stand head by head. Null where it is the right one, or there are none.
const Node* mask_of_other_sentence(const Node& node) {
  const std::optional<std::size_t> head = head_of(node);
  const NamedScope* const sentence = node.within(scope::sentence);
  if (!masks_scores(node) || !head || !sentence || !sentence->number) return nullptr;
  const auto mask_of = [&](std::size_t number) {
    return node.graph->find(sentence->outer, Name({{scope::sentence, number}}, role::mask));
  };
  std::size_t sentences = 0;
  while (mask_of(sentences + 1)) ++sentences;
  if (*sentence->number > sentences) return nullptr;
  const std::size_t heads = of_all_heads(node, role::masked).size();
  const Node* const other = mask_of((*head * sentences + *sentence->number - 1) / heads + 1);
  return other == node.operands[1] ? nullptr : other;
}

// The mask of the decoder's own words, in its cross-attention; null: there is none.
const Node* mask_of_target(const Node& node) {
  const NamedScope* const layer = around(node.place, scope::cross_attention);
  const Node* own = node.graph->find(layer, Name({{scope::self_attention}, {scope::head, 1}}, role::masked));
  if (!own) own = node.graph->find(layer, Name({{scope::self_attention}}, role::masked));
  return own && is_mask(*own) ? own : nullptr;
}
bool can_have_mask_of_target(const Node& node) {
  if (!node.within(scope::cross_attention)) return false;
  return node.is(role::masked) ? mask_of_target(node) != nullptr : is_made_of_named(node, role::masked);
}
Made target_mask_in_cross_attention(RewriteSite at) {
  if (!at.node.is(role::masked)) return on_named(at, role::masked);
  const Node &scores = at.node.original(), &own = *mask_of_target(at.node);
  return at.redo(own, {at.of(is_mask(scores) ? *scores.operands[0] : scores), at.of(*own.operands[1])});
}

// --- what takes the place of a masked score

// Whether some row of a mask hides everything.
bool hides_a_row(const Node& mask) {
  const std::shared_ptr<const Matrix> cells = mask.cells();
  for (std::size_t i = 0; i < cells->shape().rows; ++i) {
    if (std::ranges::all_of(row(*cells, i), [](double cell) { return cell == 0.0; })) return true;
  }
  return false;
}

template <const double& fill>
Made filled_where_all_masked(RewriteSite at) {
  const Value allowed = at[1];
  if (!hides_a_row(allowed.node())) return std::nullopt;
  const Value shown = repeat_columns(row_sums(allowed), allowed.shape().columns, axis("keys"));
  return replace(at.itself(), shown, fill);
}

// A row in which every score is −∞.
Made no_number_where_all_masked(RewriteSite at) {
  const Value operand = at[0];
  const Matrix& scores = operand.matrix();
  std::optional<Matrix> weights;
  for (std::size_t i = 0; i < scores.shape().rows; ++i) {
    if (!std::ranges::all_of(row(scores, i), is_masked)) continue;
    if (!weights) weights = at.itself().matrix();
    std::ranges::fill(row(*weights, i), std::numeric_limits<double>::quiet_NaN());
  }
  return weights ? Made(at.like(std::move(*weights))) : std::nullopt;
}

// Where nothing is hidden by order, all keys behind the query.
bool sees_all_words(const Node& node) {
  const NamedScope* const side = outermost(node.place);
  return is_softmax_of_attention(node) && side && side->is(scope::encoder) && node.frame.shape.rows > 1;
}
Made later_keys_hidden(RewriteSite at) {
  Matrix scores = at[0].matrix();
  const std::size_t queries = std::max<std::size_t>(1, scores.shape().rows / at.node.frame.rows.batch);
  bool hides_more = false;
  for (std::size_t i = 0; i < scores.shape().rows; ++i) {
    for (std::size_t j = i % queries + 1; j < scores.shape().columns; ++j) {
      hides_more = hides_more || !is_masked(scores(i, j));
      scores(i, j) = -infinity;
    }
  }
  if (!hides_more) return std::nullopt;
  for (std::size_t i = 0; i < scores.shape().rows; ++i) softmax_row(row(scores, i));
  return at.like(std::move(scores));
}

// The last key as well, which is the newest one.
Made last_key_hidden(RewriteSite at) {
  Matrix scores = at.itself().matrix();
  for (std::size_t i = 0; i < scores.shape().rows; ++i) scores(i, scores.shape().columns - 1) = -infinity;
  return at.like(std::move(scores));
}
bool has_cached_keys(const Node& node) {
  const Node* const q = node.beside(role::q);
  return node.is(role::masked) && node.frame.shape.columns > node.frame.shape.rows && q && !node.is_alias();
}

// --- new keys before the cached ones

bool has_keys_of_earlier_words(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.is(role::keys); });
}

bool are_turned_with_cached(const Node& node) {
  return makes<role::rotated_k>(node) && words_at_a_time(*node.operands[0]).size() > 1;
}

// Keys that are turned are cached as they are turned.
bool are_joined_keys(const Node& node) {
  if (!makes<role::keys>(node) || node.operands.size() != 2 || !node.beside(role::values)) return false;
  const NamedScope* const place = node.place;
  const Node* const turned = node.beside(role::rotated_k);
  return !turned && !node.graph->find(place, Name({{scope::head, 1}}, role::rotated_k));
}

// Behind a mask in a computation that caches nothing, as the weights are that come out with a cache.
bool is_masked_without_cache(const Node& node) {
  return is_softmax_of_attention(node) && is_mask(*node.operands[0]) && !has_keys_of_earlier_words(*node.graph);
}
bool can_have_new_keys_first(const Node& node) {
  return are_joined_keys(node) || are_turned_with_cached(node) || is_masked_without_cache(node);
}

Made visible_in_opposite_order(RewriteSite at) {
  const MaskReasons mask(*at.node.operands[0]->operands[1]);
  if (!mask.before() || *mask.before() != 0) return std::nullopt;
  Matrix weights = at.itself().matrix();
  for (std::size_t i = 0; i < mask.rows(); ++i) {
    std::vector<double> visible;
    for (std::size_t j = 0; j < mask.keys(); ++j) {
      if (mask.allows(i, j)) visible.push_back(weights(i, j));
    }
    for (std::size_t j = 0; j < mask.keys(); ++j) {
      if (!mask.allows(i, j)) continue;
      weights(i, j) = visible.back();
      visible.pop_back();
    }
  }
  return at.like(std::move(weights));
}

Made new_keys_first(RewriteSite at) {
  if (is_softmax_of_attention(at.node)) return visible_in_opposite_order(at);
  if (!at.node.is(role::rotated_k)) return stack({at[1], at[0]});
  const Value turned = at.itself();
  std::vector<Value> parts;
  std::size_t before = 0;
  for (const std::size_t count : words_at_a_time(*at.node.operands[0])) {
    parts.insert(parts.begin(), rows(turned, before, count));
    before += count;
  }
  return stack(parts);
}

constexpr Mistake mistakes_in_masks[] = {
    {"masked-score-is-zero", error, "0 in place of a masked score",
     "This is what a masked score of 0 gives: e⁰ is 1, so the key still gets weight. "
     "Put −∞ or a large negative number in its place.",
     masks_scores, [](RewriteSite at) -> Made { return replace(at[0], at[1], 0.0); }},
    {"masked-after-softmax", error, "weights masked after the softmax",
     "This is what weights give that are masked after the softmax: rows no longer sum to 1. "
     "Mask the scores before it.",
     [](const Node& node) { return is_softmax_of_attention(node) && is_mask(*node.operands[0]); },
     [](RewriteSite at) -> Made { return zero_where_masked(at, softmax(scores_before_mask(at))); }},
    {"mask-added", error, "mask of 0 and 1 added to the scores",
     "This is what the mask of zeros and ones gives when it is added to the scores. "
     "Where it is 0, put −∞ or a large negative number in place of the score.",
     masks_scores, [](RewriteSite at) -> Made { return add(at[0], at[1]); }},
    {"mask-reversed", error, "mask with 0 and 1 exchanged",
     "This is what the mask gives with its zeros and ones exchanged: what is to be hidden is seen. "
     "Here 1 means that a query may attend to a key.",
     is_mask_input, masked_otherwise<reversed>},
    {"order-masked", error, "a causal mask in an encoder",
     "This is what attention gives when a query does not see the keys behind it. Here it may see some of them.",
     sees_all_words, later_keys_hidden},
    {"order-not-masked", error, "no causal mask",
     "This is what attention gives when later keys are not masked. Mask them.", is_mask_input,
     masked_otherwise<without_order>},
    {"window-forgotten", error, "no window",
     "This is what attention gives when a query sees all keys before it. Mask those that stand before its window.",
     is_mask_input, masked_otherwise<before_window>},
    {"padding-not-masked", error, "padding that is not masked",
     "This is what attention gives when keys are not masked to which no query may attend, such as padding. "
     "Mask them.",
     is_mask_input, masked_otherwise<without_padding>},
    {"not-masked", error, "no mask",
     "This is what attention gives without any mask. Mask what the query may not attend to.", is_mask_input,
     masked_otherwise<without_any>},
    {"one-key-too-many", error, "a mask that is off by one and shows a key too many",
     "This is what a mask gives that is off by one: a query also attends to the next key after those that it may attend to.",
     is_mask_input, other_last_key<1, one_more>},
    {"one-key-too-few", error, "a mask that is off by one and hides a key too many",
     "This is what a mask gives that is off by one: the last key is masked that a query may attend to.", is_mask_input,
     other_last_key<-1, one_less>},
    {"window-one-too-large", error, "a window that is one key too large",
     "This is what a window gives that is one key too large: a query also attends to the key before those of its window.",
     is_mask_input, [](RewriteSite at) { return with_window(at, 1, 0); }},
    {"window-one-too-small", error, "a window that is one key too small",
     "This is what a window gives that is one key too small: the first key of the window is masked.", is_mask_input,
     [](RewriteSite at) { return with_window(at, -1, 0); }},
    {"first-padding-seen", error, "valid length one too large",
     "This is what attention gives when the first of the masked keys at the end is not masked, as with a valid length that is one too large.",
     is_mask_input, masked_otherwise<first_padding_shown>},
    {"last-word-masked", error, "valid length one too small",
     "This is what attention gives when one more key is masked, the last one before those at the end, as with a valid length that is one too small.",
     is_mask_input, masked_otherwise<last_word_hidden>},
    {"mask-transposed", error, "mask transposed",
     "This is what the transposed mask gives: each query attends to the keys whose queries may attend to it. "
     "Rows of the mask are queries.",
     is_mask_input, transposed_mask},
    {"mask-aligned-otherwise", convention, "causal mask aligned at another corner",
     "This is what a causal mask gives that is aligned at the bottom right. "
     "Where there are more keys than queries, some align it at the top left, as here, and others at the bottom right.",
     is_mask_input, at_bottom_right},
    {"mask-aligned-with-first-key", error, "causal mask aligned with the first key, though there are earlier ones",
     "This is what a causal mask gives that is aligned at the top left, as if the first query stood beside the first key. "
     "There are keys of earlier words: begin with the first query's own key.",
     is_mask_input, at_top_left},
    {"queries-masked", error, "masked queries instead of keys",
     "This is what the mask of the padding gives when it is applied to queries. "
     "Mask the keys: the columns of the scores.",
     [](const Node& node) { return is_mask_input(node) || masks_scores(node); }, queries_hidden_instead_of_keys},
    {"queries-masked-as-well", error, "masked queries as well as keys",
     "This is what the mask of the padding gives when it is applied to queries too, so that padding attends to nothing. "
     "Mask the keys alone: the columns of the scores.",
     is_mask_input, masked_otherwise<queries_hidden_as_well>},
    {"newest-key-missing", error, "the newest key missing",
     "This is what attention gives without the last key, as when new keys are appended only after the step. "
     "A word attends to itself as well.",
     has_cached_keys, last_key_hidden},
    {"new-keys-first", error, "new keys before the cached ones and new values behind, or the other way round",
     "This is what comes out when each new key is put before the cached keys, but its value behind the cached values, or the other way round: the weights are in another order than the values. "
     "Put both behind those that are cached.",
     can_have_new_keys_first, new_keys_first},
    {"mask-of-other-sentence", error, "masks of a batch in another order than its heads",
     "This is what masks give that are repeated sentence by sentence, where the heads stand head by head. "
     "Repeat the masks in the order of the heads.",
     has<mask_of_other_sentence>,
     [](RewriteSite at) -> Made {
       return at.redo(at.node, {at[0], at.of(*mask_of_other_sentence(at.node))});
     }},
    {"target-mask-in-cross-attention", error, "mask of the target in the cross-attention",
     "This is what the mask of the target gives in the cross-attention. "
     "Use the mask of the source there, if it has one.",
     can_have_mask_of_target, target_mask_in_cross_attention},
    {"masked-score-is-infinite",
     error,
     "+∞ in place of a masked score",
     "This is what +∞ gives in place of a masked score: no number. "
     "Put −∞ or a large negative number in its place.",
     masks_scores,
     [](RewriteSite at) -> Made { return replace(at[0], at[1], infinity); },
     {},
     true},
    {"large-positive-mask-value", error, "10⁹ in place of a masked score",
     "This is what 10⁹ gives in place of masked scores: where a query has masked keys, they alone get weight. "
     "Put −∞ or a large negative number in their place.",
     masks_scores, [](RewriteSite at) -> Made { return replace(at[0], at[1], -very_low); }},
    {"mask-times-infinity",
     error,
     "a mask of 0 and 1 multiplied by −∞",
     "This is what 1 less the mask gives when it is multiplied by −∞ and added: 0 times −∞ is no number. "
     "Put −∞ in place of masked scores (np.where, masked_fill), and multiply nothing by it.",
     masks_scores,
     [](RewriteSite at) -> Made {
       return replace(constant_like(at[0], std::numeric_limits<double>::quiet_NaN()), at[1], -infinity);
     },
     {},
     true},
    {"equal-where-all-masked", convention, "equal weights where all keys are masked",
     "This is what equal weights give for a query whose keys are all masked, as a large negative mask value makes them. "
     "Here the weights of such a query are 0.",
     masks_scores, filled_where_all_masked<very_low>},
    {"large-negative-mask-value", convention, "−10⁹ in place of −∞",
     "This is what a masked score of −10⁹ gives, as many programs have it. Here it is −∞.", masks_scores,
     [](RewriteSite at) -> Made { return replace(at[0], at[1], very_low); }},
    {"no-number-where-all-masked",
     convention,
     "no number where all keys are masked",
     "This is what softmax gives where all keys are masked and it divides 0 by 0: no number. "
     "Here the weights of such a query are 0.",
     is_softmax_of_attention,
     no_number_where_all_masked,
     {},
     true},
};

Made added_to_masked(RewriteSite at, double number) {
  const Value masked = subtract(constant_like(at[1], 1.0), at[1]);
  return add(at[0], times(masked, plain_number(number)));
}
constexpr MistakeWithNumber numbers_of_masks[] = {
    {{"another-mask-value", error, "a number in place of masked scores that is not low enough",
      "This is what a finite number gives in place of masked scores, so that masked keys still get weight. Put −∞ or a large negative number there.",
      masks_scores, nullptr},
     [](RewriteSite at, double number) -> Made { return replace(at[0], at[1], number); },
     amount_itself,
     MistakeWithNumber::Scale::linear,
     {-1.0, -10.0, -100.0, -1e3, -1e4, 1.0, 1e9}},
    {{"number-added-to-masked", error, "a number added to masked scores",
      "This is what comes out when a number is added to the masked scores, so that they keep their differences. Put −∞ in their place.",
      masks_scores, nullptr},
     added_to_masked,
     amount_itself,
     MistakeWithNumber::Scale::linear,
     {-1.0, -10.0, -100.0, -1e4, -1e9, 1.0, 2.0}},
    {{"number-added-to-visible", error, "a number added to the scores that are not masked",
      "This is what comes out when a number is added to the scores of the keys that a query may attend to. Put −∞ in place of the masked ones.",
      masks_scores, nullptr},
     [](RewriteSite at, double number) -> Made { return add(at[0], times(at[1], plain_number(number))); },
     amount_itself,
     MistakeWithNumber::Scale::linear,
     {-1.0, -10.0, -1e4, -1e9, 1e9, 2.0}},
};

}  // namespace

std::span<const Mistake> mistakes_of_masks() { return mistakes_in_masks; }

std::span<const MistakeWithNumber> numbers_in_masks() { return numbers_of_masks; }

}  // namespace attn
