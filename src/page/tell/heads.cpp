#include "page/tell/heads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

// --- attentions

// All steps of a recurrent decoder at once.
bool is_alignment_of_steps(const Node& node) {
  return node.is(role::alignment) && node.op && node.op != &op::transpose;
}

// What queries or keys are made of: behind those of a head and those that are turned; null where they were given.
const Node* source_of_vectors(const Node& weights, const Role& role) {
  const Node* node = weights.beside(role);
  while (node && node->op) {
    const std::vector<const Node*> mentioned = node->named_operands();
    if (mentioned.empty()) return nullptr;
    if (!mentioned.front()->is(role)) return &mentioned.front()->original();
    node = mentioned.front();
  }
  return nullptr;
}

bool have_one_source(const Node& weights) {
  const Node* const of_queries = source_of_vectors(weights, role::q);
  return of_queries && of_queries == source_of_vectors(weights, role::k);
}

// --- head measures

// The rules. Clark et al. 2019 (What Does BERT Look At?) count a head by a position that has more than half
// of its weight on average.
constexpr double least_share = 0.5;     // of the weights, for a label
constexpr double even_entropy = 0.95;   // of the largest entropy that there could be
constexpr double least_queries = 0.5;   // of those counted, that must have such a key
constexpr std::size_t pairs_found = 3;  // of each head
constexpr double least_pair = 0.005;    // which is 0.01 where it is written
constexpr double rounding = 1e-6;       // of the sum of a query's weights

// Queries and keys of a head, by their places.
struct PlacesOfWords {
  const Frame& frame;
  bool are_same_words;

  bool have_same_label(std::size_t query, std::size_t key) const {
    return frame.rows.labels && frame.columns.labels && frame.rows.label(query) == frame.columns.label(key);
  }
};

// A kind of key that a head may attend to. Where two have the same share, the first one in the table counts.
struct Target {
  std::string_view name;
  std::string_view rule;
  bool (*is)(const PlacesOfWords& places, std::size_t query, std::size_t key);
};

constexpr std::array targets = {
    Target{"previous word", "the key before the query",
           [](const PlacesOfWords& at, std::size_t i, std::size_t j) { return at.are_same_words && j + 1 == i; }},
    Target{"itself", "the query's own word",
           [](const PlacesOfWords& at, std::size_t i, std::size_t j) { return at.are_same_words && j == i; }},
    Target{"next word", "the key after the query",
           [](const PlacesOfWords& at, std::size_t i, std::size_t j) { return at.are_same_words && j == i + 1; }},
    Target{"same position", "the key at the query's position",
           [](const PlacesOfWords& at, std::size_t i, std::size_t j) { return !at.are_same_words && j == i; }},
    Target{"first word", "the first key", [](const PlacesOfWords&, std::size_t, std::size_t j) { return j == 0; }},
    Target{"same word", "keys elsewhere with the query's word",
           [](const PlacesOfWords& at, std::size_t i, std::size_t j) {
             return !(at.are_same_words && j == i) && at.have_same_label(i, j);
           }},
    // What completes a pattern: after A B … A comes B.  (Olsson et al. 2022, In-context Learning and
    // Induction Heads)
    Target{"after same word", "keys that follow the query's word where it stands elsewhere",
           [](const PlacesOfWords& at, std::size_t i, std::size_t j) {
             return at.are_same_words && j > 0 && j - 1 != i && at.have_same_label(i, j - 1);
           }},
    Target{"mirrored position", "the key as far from the end as the query is from the beginning",
           [](const PlacesOfWords& at, std::size_t i, std::size_t j) {
             return at.are_same_words && i + j + 1 == at.frame.shape.columns;
           }},
};

// What a head does where no target has enough of its weights.
constexpr std::string_view evenly = "evenly", right_word = "right word", by_content = "by content",
                           not_counted = "no query counted";

static_assert(targets.size() == key_kind_count);

}  // namespace

// --- attentions

std::vector<const Node*> attention_weights(const Graph& graph, const std::optional<std::string>& pattern) {
  const bool has_steps = std::ranges::any_of(graph.nodes(), is_alignment_of_steps);
  std::vector<const Node*> found;
  for (const Node* node : pattern ? graph.matching(*pattern) : graph.named()) {
    const bool is_shown = has_steps ? is_alignment_of_steps(*node) : node->is(role::weights);
    if (is_shown) found.push_back(node);
  }
  if (!found.empty()) return found;
  if (pattern) fail("--only {}: none of these matrices are attention weights. Leave out --only", *pattern);
  fail("there are no attention weights here: give ‹q› and ‹k›, or ‹scores›, or ‹weights›");
}

std::vector<Attention> attentions_of(const Graph& graph, const std::optional<std::string>& pattern) {
  std::vector<Attention> attentions;
  for (const Node* node : attention_weights(graph, pattern)) {
    const NamedScope* const place = around(node->place, scope::head);
    if (attentions.empty() || attentions.back().place != place) attentions.push_back({place, {}});
    attentions.back().heads.push_back(node);
  }
  return attentions;
}

std::string head_title(const Node& weights) {
  const NamedScope* const head = weights.within(scope::head);
  return head && head->number ? "head " + std::to_string(*head->number) : std::string(weights.leaf());
}

std::shared_ptr<const Matrix> masks_behind(const Node& weights) {
  const Node* const scores = scores_behind(weights);
  return scores ? scores->cells() : nullptr;
}

bool is_of_same_words(const Node& weights) {
  const Frame& frame = weights.frame;
  const bool is_cross = weights.is(role::alignment) || weights.within(scope::cross_attention) ||
                        weights.graph->find(around(weights.place, scope::head), role::memory);
  if (is_cross || frame.shape.rows != frame.shape.columns) return false;
  if (!frame.rows.labels || !frame.columns.labels) return have_one_source(weights);
  return *frame.rows.labels == *frame.columns.labels;
}

// --- head measures

// The weights of a head on one sentence.
class HeadMeter::Sentence {
 public:
  Sentence(HeadMeter& meter, const Node& weights, const QueryFacts& known)
      : meter_(meter),
        measured_(meter.sums_),
        weights_(weights.matrix()),
        scores_(masks_behind(weights)),
        places_{weights.frame, is_of_same_words(weights)},
        known_(known) {}

  void add() {
    for (std::size_t i = 0; i < weights_.shape().rows; ++i) {
      if (known_.counts.empty() || known_.counts[i]) add_query(i);
    }
  }

 private:
  bool is_permitted(std::size_t i, std::size_t j) const {
    return !scores_ || (*scores_)(i, j) != -std::numeric_limits<double>::infinity();
  }

  // Weights that are given may be any numbers.
  bool are_shares(std::size_t i) const {
    double sum = 0.0;
    for (std::size_t j = 0; j < weights_.shape().columns; ++j) {
      if (!(weights_(i, j) >= 0.0)) return false;
      sum += weights_(i, j);
    }
    return std::fabs(sum - 1.0) <= rounding;
  }

  void add_query(std::size_t i) {
    std::vector<std::size_t> permitted;
    for (std::size_t j = 0; j < weights_.shape().columns; ++j) {
      if (is_permitted(i, j)) permitted.push_back(j);
    }
    if (permitted.empty()) ++measured_.without_keys;
    if (permitted.size() == 1) ++measured_.with_one_key;
    if (permitted.size() < 2) return;
    if (!are_shares(i)) {
      ++measured_.without_shares;
      return;
    }
    ++measured_.queries;
    measured_.most_entropy += std::log2(static_cast<double>(permitted.size()));
    std::array<bool, key_kind_count> has{};
    for (const std::size_t j : permitted) {
      const double weight = weights_(i, j);
      if (weight > 0.0) measured_.entropy -= weight * std::log2(weight);
      add_pair({i, j, weight});
      for (std::size_t t = 0; t < key_kind_count; ++t) {
        if (!targets[t].is(places_, i, j)) continue;
        has[t] = true;
        measured_.shares[t] += weight;
      }
    }
    for (std::size_t t = 0; t < key_kind_count; ++t) meter_.queries_with_[t] += std::size_t{has[t]};
    add_expected(i, permitted);
  }

  void add_expected(std::size_t i, const std::vector<std::size_t>& permitted) {
    if (known_.expected.empty() || known_.expected[i].empty() || !places_.frame.columns.labels) return;
    double weight = 0.0;
    bool has = false;
    for (const std::size_t j : permitted) {
      if (places_.frame.columns.label(j) != known_.expected[i]) continue;
      has = true;
      weight += weights_(i, j);
    }
    if (!has) return;
    ++meter_.queries_with_expected_;
    meter_.share_of_expected_ += weight;
  }

  // Of equal ones the earlier query, and its earlier key.
  void add_pair(const HeadPair& pair) {
    std::vector<HeadPair>& pairs = measured_.strongest;
    const auto behind = std::ranges::upper_bound(pairs, pair.weight, std::greater(), &HeadPair::weight);
    if (pair.weight >= least_pair) ++measured_.pairs_of[hundredths(pair.weight)];
    if (!(pair.weight >= least_pair) || (behind == pairs.end() && pairs.size() == pairs_found)) return;
    pairs.insert(behind, pair);
    if (pairs.size() > pairs_found) pairs.pop_back();
  }

  HeadMeter& meter_;
  HeadMeasure& measured_;
  const Matrix& weights_;
  std::shared_ptr<const Matrix> scores_;
  PlacesOfWords places_;
  const QueryFacts& known_;
};

void HeadMeter::add(const Node& weights, const QueryFacts& known) {
  sums_.strongest.clear();
  sums_.pairs_of.fill(0);
  Sentence(*this, weights, known).add();
}

HeadMeasure HeadMeter::measure() const {
  HeadMeasure head = sums_;
  if (queries_with_expected_ > 0) head.of_expected = share_of_expected_ / static_cast<double>(queries_with_expected_);
  const auto queries = static_cast<double>(head.queries);
  if (head.queries == 0) return head;
  head.expected_is_common = static_cast<double>(queries_with_expected_) >= least_queries * queries;
  head.entropy /= queries;
  head.most_entropy /= queries;
  for (std::size_t t = 0; t < key_kind_count; ++t) {
    const auto with = static_cast<double>(queries_with_[t]);
    head.are_common[t] = queries_with_[t] > 0 && with >= least_queries * queries;
    if (queries_with_[t] > 0) head.shares[t] /= with;
  }
  return head;
}

HeadLabel label_of(const HeadMeasure& head) {
  if (head.queries == 0) return {not_counted};
  if (head.entropy >= even_entropy * head.most_entropy) return {evenly};
  std::size_t best = key_kind_count;
  for (std::size_t t = 0; t < key_kind_count; ++t) {
    const bool is_larger = best == key_kind_count || head.shares[t] > head.shares[best];
    if (head.are_common[t] && head.shares[t] >= least_share && is_larger) best = t;
  }
  const bool finds_word = head.of_expected && head.expected_is_common && *head.of_expected >= least_share;
  if (best == key_kind_count && finds_word) return {right_word, head.of_expected};
  if (best == key_kind_count) return {by_content};
  return {targets[best].name, head.shares[best]};
}

std::size_t hundredths(double weight) {
  return static_cast<std::size_t>(std::lround(100.0 * *parse_number<double>(written_fixed(std::min(weight, 1.0), 2))));
}

std::span<const std::string_view> key_kind_names() {
  static const std::array<std::string_view, key_kind_count> names = [] {
    std::array<std::string_view, key_kind_count> all;
    std::ranges::transform(targets, all.begin(), &Target::name);
    return all;
  }();
  return names;
}

std::vector<std::string_view> label_names() {
  std::vector<std::string_view> all(key_kind_names().begin(), key_kind_names().end());
  all.insert(all.end(), {evenly, right_word, by_content, not_counted});
  return all;
}

void add_label_rules(Page& page, std::span<const HeadMeasure> heads) {
  ParagraphsWithMargins list;
  const auto rule = [&](std::string_view name, const std::string& words) {
    list.lines.push_back({"- ", "  ", text(strong(std::string(name)), ": " + words)});
  };
  rule(
      evenly,
      fmt::format(
          "the entropy is at least {} of the most that it could be, when all permitted keys of a query have equal weights.",
          percent_of(even_entropy)));
  for (std::size_t t = 0; t < key_kind_count; ++t) {
    const bool is_possible = std::ranges::any_of(heads, [&](const HeadMeasure& head) { return head.are_common[t]; });
    if (is_possible) rule(targets[t].name, std::string(targets[t].rule) + ".");
  }
  if (std::ranges::any_of(heads, [](const HeadMeasure& head) { return head.of_expected.has_value(); }))
    rule(right_word, "no label above, and keys that hold the word to predict have the share that is asked for.");
  rule(by_content, "none of these.");
  page.say(
      fmt::format("The rules are tried in this order. "
                  "Of the kinds of keys, the one with the largest share counts, and of equal ones the first. "
                  "The share is the mean weight of such keys, and must be at least {}. "
                  "At least {} of the queries must have such a key; the others are left out of the mean.",
                  percent_of(least_share), percent_of(least_queries)));
  page.say(std::move(list));
}

std::string percent_of(double share) { return fmt::format("{:.0f} %", 100.0 * share); }

}  // namespace attn
