#include <cmath>
#include <limits>

#include "school/mistake/parts.hpp"

namespace attn {

// Mistakes with the words that should come out, with the loss, and with choosing the next word.

namespace {

// --- the loss

// The cross-entropies of words, as they are computed: of logits, and of the words that are expected.
bool is_cross_entropy(const Node& node) { return node.op == &op::cross_entropy; }
bool is_smoothed(const Node& node) { return is_cross_entropy(node) && *node.find(setting::smoothing) != 0.0; }

Made probability_alone(RewriteSite at) {
  const Value of_words = softmax(at[0]);
  // Of each row the number at the expected word. A matrix with a row for each word says how many there are.
  return row_sums(multiply(of_words, one_hot(at[1], transposed_matmul(of_words, of_words))));
}

// Every word that counts, counts as 1.
Made counted_as_1(RewriteSite at) {
  Matrix counts = at.node.matrix();
  for (double& count : cells(counts)) count = count == 0.0 ? 0.0 : 1.0;
  return at.like(std::move(counts));
}

Made all_counted(RewriteSite at) {
  Matrix counts = at.node.matrix();
  for (double& count : cells(counts)) count = 1.0 / static_cast<double>(counts.size());
  return at.like(std::move(counts));
}

// --- words that go in, and words that should come out

using IsInput = bool (*)(const Node& node);
bool is_expected(const Node& node) { return node.is(role::expected) && !node.op; }
bool goes_in(const Node& node) { return node.is(role::ids) && !node.op && node.within(scope::target); }

// The only input of this kind in a computation, or null.
const Node* only(const Graph& graph, IsInput is_it) {
  const Node* found = nullptr;
  for (const Node& node : graph.nodes()) {
    if (!is_it(node)) continue;
    if (found) return nullptr;
    found = &node;
  }
  return found;
}

// The ids of the one in the place of those of the other, where these are as many.
template <IsInput replaced, IsInput by>
bool can_be_replaced(const Node& node) {
  const Node* const other = replaced(node) ? only(*node.graph, by) : nullptr;
  return other && other->frame.shape == node.frame.shape;
}
template <IsInput by>
Made with_ids_of(RewriteSite at) {
  return at.like(only(*at.node.graph, by)->matrix());
}

// The word after the next one. The last of each sentence has none, and does not count.
bool can_be_shifted(const Node& node) {
  const bool is_counted = node.is(role::counted);
  const Node* const expected = is_counted || is_expected(node) ? only(*node.graph, is_expected) : nullptr;
  if (!expected || expected->frame.shape.rows < 2 * expected->frame.rows.batch) return false;
  return &node == expected || (is_counted && node.frame.shape.columns == expected->frame.shape.rows);
}
Made shifted_twice(RewriteSite at) {
  const Node& expected = *only(*at.node.graph, is_expected);
  const std::size_t all = expected.frame.shape.rows, words = all / expected.frame.rows.batch;
  const auto is_last = [&](std::size_t i) { return i % words == words - 1; };
  Matrix shifted = at.node.matrix();
  if (&at.node == &expected) {
    for (std::size_t i = 0; i < all; ++i) {
      if (!is_last(i)) shifted(i, 0) = shifted(i + 1, 0);
    }
    return at.like(std::move(shifted));
  }
  double before = 0.0, left = 0.0;
  for (std::size_t i = 0; i < all; ++i) {
    before += shifted(0, i);
    if (is_last(i) || shifted(0, i + 1) == 0.0) shifted(0, i) = 0.0;
    left += shifted(0, i);
  }
  if (left == 0.0) return std::nullopt;
  for (double& count : cells(shifted)) count *= before / left;
  return at.like(std::move(shifted));
}

// The word before each, as what should come out. The first of each sentence has none, and does not count; or it gets
// the last one, as by torch.roll.
template <bool in_a_circle>
Made shifted_back(RewriteSite at) {
  const Node& expected = *only(*at.node.graph, is_expected);
  const std::size_t all = expected.frame.shape.rows, words = all / expected.frame.rows.batch;
  Matrix shifted = at.node.matrix();
  if (&at.node == &expected) {
    for (std::size_t i = all; i-- > 0;) {
      const bool is_first = i % words == 0;
      if (!is_first || in_a_circle) shifted(i, 0) = at.node.matrix()(is_first ? i + words - 1 : i - 1, 0);
    }
    return at.like(std::move(shifted));
  }
  if (in_a_circle) return std::nullopt;
  double before = 0.0, left = 0.0;
  for (std::size_t i = 0; i < all; ++i) {
    before += shifted(0, i);
    if (i % words == 0) shifted(0, i) = 0.0;
    left += shifted(0, i);
  }
  if (left == 0.0) return std::nullopt;
  for (double& count : cells(shifted)) count *= before / left;
  return at.like(std::move(shifted));
}

// Where the last one gets the first.
Made rolled_to_the_next(RewriteSite at) {
  const Node& expected = *only(*at.node.graph, is_expected);
  if (&at.node != &expected) return std::nullopt;
  const std::size_t all = expected.frame.shape.rows, words = all / expected.frame.rows.batch;
  const std::shared_ptr<const Matrix> own = at.node.cells();
  Matrix shifted = *own;
  for (std::size_t i = 0; i < all; ++i) shifted(i, 0) = (*own)(i % words == words - 1 ? i + 1 - words : i + 1, 0);
  return at.like(std::move(shifted));
}

// --- the next word

bool divides_by_temperature(const Node& node) {
  return node.is(role::tempered) && node.op && node.find(setting::number);
}

// The logits that a distribution is made of, where they are divided; else null.
const Node* tempered_for(const Node& node) {
  const Node* const tempered = node.is(role::distribution) ? node.beside(role::tempered) : nullptr;
  return tempered && divides_by_temperature(*tempered) ? tempered : nullptr;
}
Made temperature_after_softmax(RewriteSite at) {
  const Node& tempered = *tempered_for(at.node);
  return divide(softmax(at.of(*tempered.operands[0])), *tempered.find(setting::number));
}

bool is_limited(const Node& node) {
  return node.is(role::limited) && node.beside(role::distribution) && node.beside(role::allowed);
}
Made softmax_again(RewriteSite at) {
  const Value all = at.beside(role::distribution), allowed = at.beside(role::allowed);
  return softmax(mask(all, allowed, -std::numeric_limits<double>::infinity()));
}

constexpr Mistake mistakes_in_losses[] = {
    {"softmax-before-cross-entropy", error, "softmax before the cross-entropy, which has one itself",
     "This is what the cross-entropy gives when probabilities go into it, to which it applies softmax once more. "
     "Give it the logits.",
     is_cross_entropy,
     [](RewriteSite at) -> Made { return cross_entropy(softmax(at[0]), at[1], *at.node.find(setting::smoothing)); }},
    {"smoothing-missing", error, "cross-entropy without label smoothing",
     "This is what the cross-entropy gives without label smoothing. "
     "The target is not the right word alone: each word gets a small share.",
     is_smoothed, [](RewriteSite at) -> Made { return cross_entropy(at[0], at[1], 0.0); }},
    {"loss-in-bits", convention, "the logarithm to the base 2",
     "This is what the logarithm to the base 2 gives: bits, as in information theory. "
     "Here it is the natural logarithm, ln.",
     is_cross_entropy, [](RewriteSite at) -> Made { return multiplied(at, 1.0 / std::log(2.0)); }},
    {"logarithm-to-base-10", error, "the logarithm to the base 10",
     "This is what the logarithm to the base 10 gives. Take the natural logarithm, ln.", is_cross_entropy,
     [](RewriteSite at) -> Made { return multiplied(at, 1.0 / std::log(10.0)); }},
    {"probability-without-logarithm", error, "the probability of the right word, without −ln",
     "This is the probability of the right word. The loss is −ln of it.", is_cross_entropy, probability_alone},
    {"loss-summed", error, "the sum of the losses instead of their mean",
     "This is the sum of the losses of all words. Divide it by the number of words.", has_role<role::counted>,
     counted_as_1},
    {"padding-in-the-loss", error, "words counted that should not count",
     "This is what comes out when all words count. Leave out those that do not count, such as padding.",
     has_role<role::counted>, all_counted},
    {"target-not-shifted", error, "the right words as what goes into the decoder",
     "This is what comes out when the words that should come out go into the decoder. "
     "Shift them by one: it gets the words before each.",
     can_be_replaced<goes_in, is_expected>, with_ids_of<is_expected>},
    {"labels-not-shifted", error, "the words that go in as those that should come out",
     "This is what comes out when each prediction is compared with the word that went in. "
     "Compare it with the word after that.",
     can_be_replaced<is_expected, goes_in>, with_ids_of<goes_in>},
    {"shifted-twice",
     error,
     "the word after the next one as what should come out",
     "This is what comes out when the words that should come out are shifted once more: a prediction is compared with the word after the next one. "
     "Shift the words once.",
     can_be_shifted,
     shifted_twice,
     {rolled_to_the_next}},
    {"shifted-back",
     error,
     "the word before as what should come out",
     "This is what comes out when the words that should come out are shifted back by one: a prediction is compared with the word before its own. "
     "Compare each row of logits with the word that should come out there.",
     can_be_shifted,
     shifted_back<false>,
     {shifted_back<true>}},
    {"temperature-multiplied", error, "logits multiplied by the temperature",
     "This is what logits multiplied by the temperature give. Divide them by it.", divides_by_temperature,
     [](RewriteSite at) -> Made { return times(at[0], *at.node.find(setting::number)); }},
    {"temperature-missing", error, "no temperature",
     "This is what comes out without the temperature. Divide the logits by it before softmax.", divides_by_temperature,
     left_out},
    {"temperature-after-softmax", error, "probabilities divided by the temperature",
     "This is what probabilities divided by the temperature give. Divide the logits, before softmax.",
     has<tempered_for>, temperature_after_softmax},
    {"choice-not-normalized", error, "the probabilities that are left do not sum to 1",
     "These are the probabilities of the words that are left, as they were. Divide them by their sum.",
     [](const Node& node) { return node.is(role::limited) && node.op; }, left_out},
    {"softmax-of-probabilities", error, "softmax of the probabilities that are left",
     "This is what softmax of the probabilities that are left gives. Divide them by their sum.", is_limited,
     softmax_again},
};

}  // namespace

std::span<const Mistake> mistakes_of_losses() { return mistakes_in_losses; }

}  // namespace attn
