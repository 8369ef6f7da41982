#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>

#include "core/graph/graph.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// --- mask reasons

namespace {

// Why keys are masked, as the cells of a mask tell it. A key that is hidden from all queries of its sentence
// is padding, or stands behind a valid length. What else is hidden is hidden by order: a causal mask shows
// query i the keys up to i, or up to a key that is so many places later.
class MaskReasons {
 public:
  explicit MaskReasons(const Node& mask);

  bool has_padding() const { return has_padding_; }
  bool has_order() const { return has_order_; }
  /// Whether every key is hidden from some query.
  bool is_padding(std::size_t row, std::size_t key) const;
  /// Of a causal mask, how many keys stand before the one of the first query; nothing for any other mask.
  std::optional<std::size_t> before() const { return before_; }
  /// The query of a row, counted from 0 in its sentence.
  std::size_t query(std::size_t row) const { return row % queries_; }
  std::size_t queries() const { return queries_; }
  std::size_t keys() const { return cells_->shape().columns; }
  std::size_t rows() const { return cells_->shape().rows; }
  bool allows(std::size_t row, std::size_t key) const { return (*cells_)(row, key) != 0.0; }

  /// How many keys a row shows, where these are its first ones but for padding; nothing otherwise.
  std::optional<std::size_t> shown_first(std::size_t row) const;
  /// The first key of the padding that ends the sentence of a row; the number of keys where there is none.
  std::size_t first_padding_at_end(std::size_t row) const;

 private:
  std::optional<std::size_t> find_before() const;

  std::shared_ptr<const Matrix> cells_;
  std::size_t queries_;
  Matrix shown_;  // for each sentence, 1 for a key that some query may attend to
  bool has_padding_ = false, has_order_ = false;
  std::optional<std::size_t> before_;
};

MaskReasons::MaskReasons(const Node& mask)
    : cells_(mask.cells()),
      queries_(std::max<std::size_t>(1, mask.frame.shape.rows / mask.frame.rows.batch)),
      shown_({mask.frame.rows.batch, mask.frame.shape.columns}, 0.0) {
  for (std::size_t i = 0; i < rows(); ++i) {
    for (std::size_t j = 0; j < keys(); ++j) {
      if (allows(i, j)) shown_(i / queries_, j) = 1.0;
    }
  }
  has_padding_ = std::ranges::find(cells(shown_), 0.0) != cells(shown_).end();
  for (std::size_t i = 0; i < rows(); ++i) {
    for (std::size_t j = 0; j < keys(); ++j) has_order_ = has_order_ || (!allows(i, j) && !is_padding(i, j));
  }
  before_ = find_before();
}

bool MaskReasons::is_padding(std::size_t row, std::size_t key) const {
  const Matrix& shown = shown_;
  return shown(row / queries_, key) == 0.0;
}

// The first key that order hides from some query says what it would have to be; all rows have to agree.
std::optional<std::size_t> MaskReasons::find_before() const {
  std::optional<std::size_t> before;
  for (std::size_t i = 0; i < rows() && !before; ++i) {
    for (std::size_t j = 0; j < keys() && !before; ++j) {
      if (allows(i, j) || is_padding(i, j)) continue;
      if (j < query(i) + 1) return std::nullopt;
      before = j - query(i) - 1;
    }
  }
  if (!before) return std::nullopt;
  for (std::size_t i = 0; i < rows(); ++i) {
    for (std::size_t j = 0; j < keys(); ++j) {
      if (!is_padding(i, j) && allows(i, j) != (j <= query(i) + *before)) return std::nullopt;
    }
  }
  return before;
}

std::optional<std::size_t> MaskReasons::shown_first(std::size_t row) const {
  std::size_t end = keys();
  while (end > 0 && !allows(row, end - 1)) --end;
  for (std::size_t j = 0; j < end; ++j) {
    if (!allows(row, j) && !is_padding(row, j)) return std::nullopt;
  }
  return end;
}

std::size_t MaskReasons::first_padding_at_end(std::size_t row) const {
  std::size_t end = keys();
  while (end > 0 && is_padding(row, end - 1)) --end;
  return end;
}

}  // namespace

// --- masks
// Mistakes with masks: what they hide, and what takes the place of a masked score.

namespace {

using enum Mistake::Kind;

constexpr double infinity = std::numeric_limits<double>::infinity();
// What libraries take for −∞: a row of it alone has equal weights.
constexpr double very_low = -1e9;

bool masks_scores(const Node& node) { return makes(node, role::masked) && node.operation->is(op::mask); }

// --- what a mask hides

bool is_mask_input(const Node& node) { return (node.is(role::mask) || node.is(role::cross_mask)) && !node.operation; }

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

bool reversed(const MaskReasons& mask, std::size_t row, std::size_t key) { return !mask.allows(row, key); }

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
    const bool is_hidden = key < of.queries() && of.is_padding(row, key);  // beyond, order hides keys from all
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
  if (!own || !own->operation || !own->operation->is(op::mask)) return std::nullopt;
  const Node& scores = node.original();
  const bool is_masked = scores.operation && scores.operation->is(op::mask);
  return again.graph().apply(own->operation,
                             {again.of(is_masked ? *scores.operands[0] : scores), again.of(*own->operands[1])});
}

// --- what takes the place of a masked score

Made filled_with(double fill, const Node& node, Rewriting& again) {
  if (!masks_scores(node)) return std::nullopt;
  return replace(again.of(*node.operands[0]), again.of(*node.operands[1]), fill);
}
Made filled_with_zero(const Node& node, Rewriting& again) { return filled_with(0.0, node, again); }
Made filled_with_infinity(const Node& node, Rewriting& again) { return filled_with(infinity, node, again); }

Made mask_added(const Node& node, Rewriting& again) {
  if (!masks_scores(node)) return std::nullopt;
  return add(again.of(*node.operands[0]), again.of(*node.operands[1]));
}

Made masked_after_softmax(const Node& node, Rewriting& again) {
  if (!is_softmax_of_attention(node)) return std::nullopt;
  const Node& scores = *node.operands[0];
  if (!scores.operation || !scores.operation->is(op::mask)) return std::nullopt;
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
Made filled_with_large_negative(const Node& node, Rewriting& again) { return filled_with(very_low, node, again); }
Made equal_where_all_masked(const Node& node, Rewriting& again) {
  return filled_where_all_masked(very_low, node, again);
}
Made not_a_number_where_all_masked(const Node& node, Rewriting& again) {
  return filled_where_all_masked(infinity, node, again);
}

constexpr std::array mistakes_in_masks = {
    Mistake{"masked-score-is-zero", error, "0 in place of a masked score",
            "This is what a masked score of 0 gives: e⁰ is 1, so the key still gets weight. "
            "Put −∞ or a large negative number in its place.",
            filled_with_zero},
    Mistake{"masked-after-softmax", error, "weights masked after the softmax",
            "This is what weights give that are masked after the softmax: rows no longer sum to 1. "
            "Mask the scores before it.",
            masked_after_softmax},
    Mistake{"mask-added", error, "mask of 0 and 1 added to the scores",
            "This is what the mask of zeros and ones gives when it is added to the scores. "
            "Where it is 0, put −∞ or a large negative number in place of the score.",
            mask_added},
    Mistake{"mask-reversed", error, "mask with 0 and 1 exchanged",
            "This is what the mask gives with its zeros and ones exchanged: what is to be hidden is seen. "
            "Here 1 means that a query may attend to a key.",
            masked_otherwise<reversed>},
    Mistake{"order-not-masked", error, "no causal mask",
            "This is what attention gives when later keys are not masked. Mask them.", masked_otherwise<without_order>},
    Mistake{"padding-not-masked", error, "padding that is not masked",
            "This is what attention gives when keys are not masked to which no query may attend, such as padding. "
            "Mask them.",
            masked_otherwise<without_padding>},
    Mistake{"not-masked", error, "no mask",
            "This is what attention gives without any mask. Mask what the query may not attend to.",
            masked_otherwise<without_any>},
    Mistake{
        "one-key-too-many", error, "a mask that is off by one and shows a key too many",
        "This is what a mask gives that is off by one: a query also attends to the next key after those that it may attend to.",
        masked_otherwise<one_more>},
    Mistake{"one-key-too-few", error, "a mask that is off by one and hides a key too many",
            "This is what a mask gives that is off by one: the last key is masked that a query may attend to.",
            masked_otherwise<one_less>},
    Mistake{
        "first-padding-seen", error, "valid length one too large",
        "This is what attention gives when the first of the masked keys at the end is not masked, as with a valid length that is one too large.",
        masked_otherwise<first_padding_shown>},
    Mistake{
        "last-word-masked", error, "valid length one too small",
        "This is what attention gives when one more key is masked, the last one before those at the end, as with a valid length that is one too small.",
        masked_otherwise<last_word_hidden>},
    Mistake{"mask-transposed", error, "mask transposed",
            "This is what the transposed mask gives: each query attends to the keys whose queries may attend to it. "
            "Rows of the mask are queries.",
            transposed_mask},
    Mistake{"mask-aligned-otherwise", convention, "causal mask aligned at another corner",
            "This is what a causal mask gives that is aligned at another corner. "
            "Where there are more keys than queries, some align it at the top left and others at the bottom right.",
            other_corner},
    Mistake{"queries-masked", error, "masked queries instead of keys",
            "This is what the mask of the padding gives when it is applied to queries. "
            "Mask the keys: the columns of the scores.",
            queries_hidden_instead_of_keys},
    Mistake{"mask-of-other-sentence", error, "masks of a batch in another order than its heads",
            "This is what masks give that are repeated sentence by sentence, where the heads stand head by head. "
            "Repeat the masks in the order of the heads.",
            mask_of_other_sentence},
    Mistake{"target-mask-in-cross-attention", error, "mask of the target in the cross-attention",
            "This is what the mask of the target gives in the cross-attention. "
            "Use the mask of the source there, if it has one.",
            target_mask_in_cross_attention},
    Mistake{"masked-score-is-infinite", error, "+∞ in place of a masked score",
            "This is what +∞ gives in place of a masked score: no number. "
            "Put −∞ or a large negative number in its place.",
            filled_with_infinity},
    Mistake{
        "equal-where-all-masked", convention, "equal weights where all keys are masked",
        "This is what equal weights give for a query whose keys are all masked, as a large negative mask value makes them. "
        "Here the weights of such a query are 0.",
        equal_where_all_masked},
    Mistake{"large-negative-mask-value", convention, "−10⁹ in place of −∞",
            "This is what a masked score of −10⁹ gives, as many programs have it. Here it is −∞.",
            filled_with_large_negative},
    Mistake{"no-number-where-all-masked", convention, "no number where all keys are masked",
            "This is what softmax gives where all keys are masked and it divides 0 by 0: no number. "
            "Here the weights of such a query are 0.",
            not_a_number_where_all_masked},
};

}  // namespace

std::span<const Mistake> mistakes_of_masks() { return mistakes_in_masks; }

// --- softmax
// Mistakes with the softmax: over what it is taken, and how.

namespace {

using enum Mistake::Kind;

// --- over what it is taken

Made over_queries(const Node& node, Rewriting& again) {
  if (!is_softmax_of_attention(node)) return std::nullopt;
  return transpose(softmax(transpose(again.of(*node.operands[0]))));
}

Made over_all_cells(const Node& node, Rewriting& again) {
  if (!is_softmax_of_attention(node)) return std::nullopt;
  const Value scores = again.of(*node.operands[0]);
  const std::size_t keys = scores.shape().columns, sentences = scores.node().frame.rows.batch;
  return reshape(softmax(reshape(scores, scores.shape().cells() / sentences)), keys);
}

Made over_heads(const Node& node, Rewriting& again) {
  const std::optional<std::size_t> head = head_of(node);
  if (!head || !is_softmax_of_attention(node)) return std::nullopt;
  std::vector<Value> scores;
  for (const Node* weights : of_all_heads(node, role::weights)) scores.push_back(again.of(*weights->operands[0]));
  const std::size_t keys = node.frame.shape.columns;
  return columns(softmax(concatenate(scores)), *head * keys, keys);
}

Made over_all_cells_of_all_heads(const Node& node, Rewriting& again) {
  const std::optional<std::size_t> head = head_of(node);
  if (!head || !is_softmax_of_attention(node)) return std::nullopt;
  std::vector<Value> scores;
  for (const Node* weights : of_all_heads(node, role::weights)) scores.push_back(again.of(*weights->operands[0]));
  const Value all = concatenate(scores);
  const std::size_t keys = node.frame.shape.columns, sentences = node.frame.rows.batch;
  const Value together = softmax(reshape(all, all.shape().cells() / sentences));
  return columns(reshape(together, all.shape().columns), *head * keys, keys);
}

// What a softmax over one number at a time gives: over the batch, or over an axis of length 1.
Made over_one_number(const Node& node, Rewriting& again) {
  if (!is_softmax_of_attention(node)) return std::nullopt;
  const Value scores = again.of(*node.operands[0]);
  return times(uniform(scores), plain_number(static_cast<double>(scores.shape().columns)));
}

// --- how it is taken

Made shares_of_scores(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  return normalize(scores_with(0.0, node, again));
}

Made no_softmax(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  return scores_with(0.0, node, again);
}

Made weights_not_divided(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  return attn::exp(again.of(*node.operands[0]));
}

// exp(x − max x): what a softmax divides, where the largest score is subtracted first.
Made subtracted_and_not_divided(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  const Value scores = again.of(*node.operands[0]);
  const Value largest_of_row = row_sums(replace(scores, largest(scores), 0.0));
  return attn::exp(subtract(scores, largest_of_row));
}

// The largest of the row, but the sum of the column: two axes in one softmax.
Made divided_by_columns(const Node& node, Rewriting& again) {
  if (!is_softmax_of_attention(node)) return std::nullopt;
  const Made exponentials = subtracted_and_not_divided(node, again);
  return transpose(normalize(transpose(*exponentials)));
}

// 1 where the score is not the largest of its row.
Value others_than_largest(const Value& scores) {
  const Value ones = times(uniform(scores), plain_number(static_cast<double>(scores.shape().columns)));
  return subtract(ones, largest(scores));
}

Made largest_left_out(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  const Value scores = again.of(*node.operands[0]);
  return softmax(mask(scores, others_than_largest(scores), -std::numeric_limits<double>::infinity()));
}

Made powers_of_two(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  return softmax(times(again.of(*node.operands[0]), {std::numbers::ln2, {"ln 2", "\\ln 2"}}));
}

Made largest_alone(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  return zero_where_masked(node, largest(again.of(*node.operands[0])), again);
}

Made negated(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  const Value scores = times(scores_before_mask(node, again), plain_number(-1.0));
  return softmax(masked_like(node, scores, again));
}

// Weights may be given.
bool are_given_weights(const Node& node) { return node.is(role::weights) && !node.operation; }

Made taken_twice(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node) && !are_given_weights(node)) return std::nullopt;
  return softmax(again.unchanged(node));
}

Made sigmoids(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  return sigmoid(again.of(*node.operands[0]));
}

Made equal_weights(const Node& node, Rewriting& again) {
  if (are_given_weights(node)) return uniform(again.unchanged(node));
  if (!is_softmax_of_attention(node)) return std::nullopt;
  return normalize(zero_where_masked(node, uniform(again.of(*node.operands[0])), again));
}

constexpr std::array mistakes_in_softmax = {
    Mistake{"shares-of-scores", error, "division by the sum without the exponential",
            "This is what division by the sum of the row gives, without the exponential. "
            "Take e to the power of each number first.",
            shares_of_scores},
    Mistake{"softmax-not-divided", error, "exponentials that are not divided by their sum",
            "This is what the exponentials give when they are not divided. Divide each by the sum of its row.",
            weights_not_divided},
    Mistake{"no-softmax", error, "no softmax",
            "This is what the numbers give without a softmax. "
            "Take e to the power of each, and divide by the sum of the row.",
            no_softmax},
    Mistake{"powers-of-two", error, "powers of 2 instead of e",
            "This is what powers of 2 give. Softmax takes powers of e ≈ 2.718.", powers_of_two},
    Mistake{"softmax-over-queries", error, "softmax over the queries instead of the keys",
            "This is what softmax over the queries gives: each column sums to 1. "
            "Take it over the keys, so that each row does.",
            over_queries},
    Mistake{"equal-weights", error, "equal weights for all keys",
            "This is what equal weights give, a plain mean over the keys. Give each key its own weight.",
            equal_weights},
    Mistake{"largest-alone", error, "all weight on the largest number",
            "This is what the maximum gives: the largest number of a row gets the weight 1, and all others 0. "
            "Softmax gives others a part as well.",
            largest_alone},
    Mistake{"softmax-over-all", error, "softmax over the whole matrix",
            "This is what softmax over the whole matrix gives: all weights together sum to 1. "
            "Take it row by row, over the keys of each query.",
            over_all_cells},
    Mistake{"softmax-over-heads", error, "softmax over the keys of all heads together",
            "This is what softmax over the keys of all heads together gives. "
            "Take it in each head by itself, so that each row sums to 1 there.",
            over_heads},
    Mistake{"softmax-over-all-heads", error, "softmax over all numbers of all heads together",
            "This is what softmax over all numbers of all heads gives: the weights of all heads together sum to 1. "
            "Take it row by row, over the keys of each query.",
            over_all_cells_of_all_heads},
    Mistake{"softmax-over-one", error, "weights that are all 1",
            "This is what a softmax over single numbers gives, as along an axis of length 1: every weight is 1. "
            "Take it over the keys.",
            over_one_number},
    Mistake{
        "largest-subtracted-not-divided", error,
        "exponentials of the distances from the largest number that are not divided by their sum",
        "This is what the exponentials give after the largest number of the row is subtracted, and before they are divided. "
        "Divide each by the sum of its row.",
        subtracted_and_not_divided},
    Mistake{
        "divided-by-column-sums", error,
        "exponentials of the distances from the largest number of a row that are divided by the sums of the columns",
        "This is what the exponentials give when the largest number of each row is subtracted, but each is divided by the sum of its column. "
        "Divide by the sum of the row.",
        divided_by_columns},
    Mistake{"softmax-without-largest", error, "softmax in which the largest number does not count",
            "This is what softmax gives when the largest number of each row does not count. "
            "After the largest is subtracted, its exponential is e⁰ = 1, not 0.",
            largest_left_out},
    Mistake{"softmax-of-negated", error, "softmax with the sign reversed",
            "This is what softmax gives with the sign of every number reversed. "
            "The largest number gets the largest weight.",
            negated},
    Mistake{"softmax-twice", error, "softmax taken twice",
            "This is what softmax gives when it is taken twice. Take it once: its result is weights, not scores.",
            taken_twice},
    Mistake{"sigmoid", error, "sigmoid instead of softmax",
            "This is what the sigmoid gives, number by number. "
            "Softmax divides by the sum of the row, so that each row sums to 1.",
            sigmoids},
};

}  // namespace

std::span<const Mistake> mistakes_of_softmax() { return mistakes_in_softmax; }

}  // namespace attn
