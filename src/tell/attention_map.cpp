#include "tell/attention_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "support/number.hpp"
#include "tell/attentions.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

// The rules. Clark et al. 2019 (What Does BERT Look At?) count a head by a position that has more than half
// of its weight on average.
constexpr double least_share = 0.5;        // of the weights, for a label
constexpr double even_entropy = 0.95;      // of the largest entropy that there could be
constexpr double least_queries = 0.5;      // of those counted, that must have such a key
constexpr std::size_t pairs_found = 3;     // of each head
constexpr double least_pair = 0.005;       // which is 0.01 where it is written
constexpr double rounding = 1e-6;          // of the sum of a query's weights
constexpr std::size_t most_pictured = 16;  // heads; of more, one line tells each

// Queries and keys of a head, by their places.
struct Places {
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
  bool (*is)(const Places& places, std::size_t query, std::size_t key);
};

constexpr std::array targets = {
    Target{"previous word", "the key before the query",
           [](const Places& at, std::size_t i, std::size_t j) { return at.are_same_words && j + 1 == i; }},
    Target{"itself", "the query's own word",
           [](const Places& at, std::size_t i, std::size_t j) { return at.are_same_words && j == i; }},
    Target{"next word", "the key after the query",
           [](const Places& at, std::size_t i, std::size_t j) { return at.are_same_words && j == i + 1; }},
    Target{"same position", "the key at the query's position in the other sentence",
           [](const Places& at, std::size_t i, std::size_t j) { return !at.are_same_words && j == i; }},
    Target{"first word", "the first key", [](const Places&, std::size_t, std::size_t j) { return j == 0; }},
    Target{"same word", "keys elsewhere with the query's word",
           [](const Places& at, std::size_t i, std::size_t j) {
             return !(at.are_same_words && j == i) && at.have_same_label(i, j);
           }},
};

// What a head does where no target has enough of its weights.
constexpr std::string_view evenly = "evenly", by_content = "by content", not_counted = "no query counted";

struct Pair {
  std::size_t query, key;
  double weight;
};

// What is measured of one head, over the queries that have a choice.
struct Measured {
  std::size_t queries = 0;  // that have at least two permitted keys
  std::size_t with_one_key = 0, without_keys = 0, without_shares = 0;
  double entropy = 0.0, most_entropy = 0.0;     // in bits, means over the queries
  std::array<double, targets.size()> shares{};  // means over the queries that have such a key; 0 without any
  std::array<bool, targets.size()> are_common{};  // whether enough queries have one
  std::vector<Pair> strongest;
};

class HeadMeasures {
 public:
  explicit HeadMeasures(const Node& weights)
      : weights_(weights.matrix()),
        scores_(masks_behind(weights)),
        places_{weights.frame, is_of_same_words(weights)} {}

  Measured measure() {
    for (std::size_t i = 0; i < weights_.shape().rows; ++i) add_query(i);
    finish();
    return std::move(measured_);
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
    std::array<bool, targets.size()> has{};
    for (const std::size_t j : permitted) {
      const double weight = weights_(i, j);
      if (weight > 0.0) measured_.entropy -= weight * std::log2(weight);
      add_pair({i, j, weight});
      for (std::size_t t = 0; t < targets.size(); ++t) {
        if (!targets[t].is(places_, i, j)) continue;
        has[t] = true;
        measured_.shares[t] += weight;
      }
    }
    for (std::size_t t = 0; t < targets.size(); ++t) queries_with_[t] += std::size_t{has[t]};
  }

  // Of equal ones the earlier query, and its earlier key.
  void add_pair(const Pair& pair) {
    std::vector<Pair>& pairs = measured_.strongest;
    const auto behind = std::ranges::upper_bound(pairs, pair.weight, std::greater(), &Pair::weight);
    if (!(pair.weight >= least_pair) || (behind == pairs.end() && pairs.size() == pairs_found)) return;
    pairs.insert(behind, pair);
    if (pairs.size() > pairs_found) pairs.pop_back();
  }

  void finish() {
    const auto queries = static_cast<double>(measured_.queries);
    if (measured_.queries == 0) return;
    measured_.entropy /= queries;
    measured_.most_entropy /= queries;
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const auto with = static_cast<double>(queries_with_[t]);
      measured_.are_common[t] = queries_with_[t] > 0 && with >= least_queries * queries;
      if (queries_with_[t] > 0) measured_.shares[t] /= with;
    }
  }

  const Matrix& weights_;
  std::shared_ptr<const Matrix> scores_;
  Places places_;
  Measured measured_;
  std::array<std::size_t, targets.size()> queries_with_{};
};

// What a head attends to, and the share that decided it.
struct Label {
  std::string_view name;
  std::optional<double> share = {};  // nothing where none did
};

Label label_of(const Measured& head) {
  if (head.queries == 0) return {not_counted};
  if (head.entropy >= even_entropy * head.most_entropy) return {evenly};
  std::size_t best = targets.size();
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const bool is_larger = best == targets.size() || head.shares[t] > head.shares[best];
    if (head.are_common[t] && head.shares[t] >= least_share && is_larger) best = t;
  }
  if (best == targets.size()) return {by_content};
  return {targets[best].name, head.shares[best]};
}

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100.0 * share);
}

std::string written(const Pair& pair, const Frame& frame) {
  return fmt::format("{} → {} {}", frame.rows.label(pair.query), frame.columns.label(pair.key),
                     written_fixed(pair.weight, 2));
}

class AttentionMap {
 public:
  AttentionMap(Page& page, std::vector<Attention> attentions)
      : page_(page), attentions_(std::move(attentions)) {
    for (const Attention& attention : attentions_) {
      for (const Node* head : attention.heads) measured_.push_back(HeadMeasures(*head).measure());
    }
  }

  void add(const std::string& on_random) {
    page_.head(1, "Attention map");
    page_.say(
        "For each head: which keys have most of its weights, how evenly it spreads them (its entropy in "
        "bits, "
        "and the most that it could be), and the query and key of its largest weights.");
    if (!on_random.empty()) page_.say(on_random);
    say_counts();
    say_left_out();
    const bool pictures = is_pictured();
    std::size_t first = 0;
    for (const Attention& attention : attentions_) {
      if (attention.place) page_.head(2, attention.place->title());
      page_.say(listing(attention, first));
      first += attention.heads.size();
      if (pictures) say_pictures(attention);
    }
    if (pictures) {
      page_.say("In the pictures, rows are queries and columns are keys.");
    } else {
      page_.say(
          fmt::format("Pictures are shown of at most {} heads: choose heads with ‹--only›.", most_pictured));
    }
    say_rules();
    add_numbers();
  }

 private:
  bool is_pictured() const { return measured_.size() <= most_pictured; }

  std::vector<std::string_view> names() const {
    std::vector<std::string_view> all;
    for (const Target& target : targets) all.push_back(target.name);
    all.insert(all.end(), {evenly, by_content, not_counted});
    return all;
  }

  void say_counts() {
    std::vector<std::string> counts;
    for (const std::string_view name : names()) {
      const auto count = static_cast<std::size_t>(std::ranges::count_if(
          measured_, [&](const Measured& head) { return label_of(head).name == name; }));
      if (count > 0) counts.push_back(fmt::format("{} {}", name, count));
    }
    page_.say(fmt::format("{}: {}.", count_of(measured_.size(), "head"), fmt::join(counts, ", ")));
  }

  Listing listing(const Attention& attention, std::size_t first) const {
    Listing listing{.columns = {"head", "attends to", "share", "entropy",
                                is_pictured() ? "strongest pairs" : "strongest pair", "weights"},
                    .rows = {},
                    .headed = true,
                    .shown = 5};
    for (std::size_t h = 0; h < attention.heads.size(); ++h) {
      const Node& weights = *attention.heads[h];
      const Measured& head = measured_[first + h];
      const Label label = label_of(head);
      std::vector<std::string> pairs;
      const std::size_t shown = is_pictured() ? pairs_found : 1;
      for (const Pair& pair : head.strongest) {
        if (pairs.size() < shown) pairs.push_back(written(pair, weights.frame));
      }
      const std::string entropy = head.queries == 0 ? ""
                                                    : fmt::format("{} of {}", written_fixed(head.entropy, 2),
                                                                  written_fixed(head.most_entropy, 2));
      listing.rows.push_back({head_title(weights), std::string(label.name),
                              label.share ? percent(*label.share) : "", entropy,
                              fmt::format("{}", fmt::join(pairs, ", ")), weights.name});
    }
    return listing;
  }

  void say_pictures(const Attention& attention) {
    HeatMaps maps;
    for (const Node* head : attention.heads) {
      maps.tables.push_back(table_of(*head));
      maps.tables.back().title = head_title(*head);
    }
    page_.say(std::move(maps));
  }

  std::size_t total(std::size_t Measured::*count) const {
    std::size_t sum = 0;
    for (const Measured& head : measured_) sum += head.*count;
    return sum;
  }

  void say_rules() {
    page_.head(2, "How a head gets its label");
    Margined list;
    const auto rule = [&](std::string_view name, const std::string& words) {
      list.lines.push_back({"- ", "  ", text(strong(std::string(name)), ": " + words)});
    };
    rule(evenly,
         fmt::format("the entropy is at least {} of the most that it could be, when all permitted keys "
                     "of a query have equal weights.",
                     percent(even_entropy)));
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const bool is_possible =
          std::ranges::any_of(measured_, [&](const Measured& head) { return head.are_common[t]; });
      if (is_possible) rule(targets[t].name, std::string(targets[t].rule) + ".");
    }
    rule(by_content, "none of these.");
    page_.say(fmt::format(
        "The rules are tried in this order. Of the kinds of keys, the one with the largest share counts, and "
        "of equal ones the first. The share is the mean weight of such keys, and must be at least {}. At "
        "least "
        "{} of the queries must have such a key; the others are left out of the mean.",
        percent(least_share), percent(least_queries)));
    page_.say(std::move(list));
  }

  void say_left_out() {
    if (total(&Measured::with_one_key) > 0) {
      page_.say(
          "A query with one permitted key has no choice: its weight is always 1. Such queries are not "
          "counted, "
          "and their pairs are not shown.");
    }
    if (total(&Measured::without_keys) > 0) {
      page_.say("Queries whose keys are all masked have no weights. They are not counted.");
    }
    if (total(&Measured::without_shares) > 0) {
      page_.say("Queries whose weights are negative, or do not sum to 1, are not counted.");
    }
  }

  // A row for each head.
  void add_numbers() {
    std::vector<std::string> columns = {"queries", "entropy", "most_entropy"}, rows;
    for (const Target& target : targets) columns.emplace_back(target.name);
    Matrix numbers({measured_.size(), columns.size()});
    for (std::size_t h = 0; h < measured_.size(); ++h) {
      const Measured& head = measured_[h];
      numbers(h, 0) = static_cast<double>(head.queries);
      numbers(h, 1) = head.entropy;
      numbers(h, 2) = head.most_entropy;
      for (std::size_t t = 0; t < targets.size(); ++t) numbers(h, 3 + t) = head.shares[t];
    }
    for (const Attention& attention : attentions_) {
      for (const Node* head : attention.heads) rows.push_back(head->name);
    }
    const auto cells = std::make_shared<const Matrix>(std::move(numbers));
    page_.trace = Trace({Traced{
        .name = "map",
        .formula = {"map", "\\mathrm{map}"},
        .frame = {cells->shape(), axis("heads", std::move(rows)), axis("measures", std::move(columns))},
        .cells = [cells] { return cells; }}});
  }

  Page& page_;
  std::vector<Attention> attentions_;
  std::vector<Measured> measured_;  // of all heads, in order
};

}  // namespace

void add_attention_map(Page& page, const Graph& graph, const std::optional<std::string>& pattern,
                       const std::string& on_random) {
  AttentionMap(page, attentions_of(graph, pattern)).add(on_random);
}

}  // namespace attn
