#include "tell/attention_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>

#include "support/number.hpp"
#include "support/text.hpp"
#include "tell/attentions.hpp"
#include "tell/describe.hpp"
#include "tell/head_measures.hpp"

namespace attn {
namespace {

constexpr std::size_t most_pictured = 16;  // heads; of more, one line tells each

// Labels alone do not tell which words are meant where words come twice, or look like positions.
bool needs_positions(const Axis& axis) {
  if (!axis.labels) return false;
  const std::set<std::string> different(axis.labels->begin(), axis.labels->end());
  return different.size() < axis.labels->size() ||
         std::ranges::any_of(different,
                             [](const std::string& word) { return parsed<double>(word).has_value(); });
}

bool needs_positions(const Frame& frame) {
  return needs_positions(frame.rows) || needs_positions(frame.columns);
}

std::string written(const HeadPair& pair, const Frame& frame) {
  const bool positions = needs_positions(frame);
  const auto word = [&](const Axis& axis, std::size_t i) {
    return positions && axis.labels ? fmt::format("{} ({})", axis.label(i), i + 1) : axis.label(i);
  };
  return fmt::format("{} → {} {}", word(frame.rows, pair.query), word(frame.columns, pair.key),
                     written_fixed(pair.weight, 2));
}

class AttentionMap {
 public:
  AttentionMap(Page& page, std::vector<Attention> attentions)
      : page_(page), attentions_(std::move(attentions)) {
    for (const Attention& attention : attentions_) {
      for (const Node* head : attention.heads) {
        HeadMeter meter;
        meter.add(*head);
        measured_.push_back(meter.measure());
      }
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
    if (std::ranges::any_of(attentions_, [](const Attention& attention) {
          return std::ranges::any_of(attention.heads,
                                     [](const Node* head) { return needs_positions(head->frame); });
        }))
      page_.say("A number in parentheses after a word is its position.");
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

  void say_counts() {
    std::vector<std::string> counts;
    for (const std::string_view name : label_names()) {
      const auto count = static_cast<std::size_t>(std::ranges::count_if(
          measured_, [&](const HeadMeasure& head) { return label_of(head).name == name; }));
      if (count > 0) counts.push_back(fmt::format("{} ({})", name, count));
    }
    page_.say(fmt::format("{}, by what they attend to: {}.", count_of(measured_.size(), "head"),
                          fmt::join(counts, ", ")));
  }

  Listing listing(const Attention& attention, std::size_t first) const {
    Listing listing{.columns = {"head", "attends to", "share", "entropy",
                                is_pictured() ? "strongest pairs" : "strongest pair", "weights"},
                    .rows = {},
                    .headed = true,
                    .shown = 5};
    for (std::size_t h = 0; h < attention.heads.size(); ++h) {
      const Node& weights = *attention.heads[h];
      const HeadMeasure& head = measured_[first + h];
      const HeadLabel label = label_of(head);
      std::vector<std::string> pairs;
      const std::size_t shown = is_pictured() ? head.strongest.size() : 1;
      for (const HeadPair& pair : head.strongest) {
        if (pairs.size() < shown) pairs.push_back(written(pair, weights.frame));
      }
      const std::string entropy = head.queries == 0 ? ""
                                                    : fmt::format("{} of {}", written_fixed(head.entropy, 2),
                                                                  written_fixed(head.most_entropy, 2));
      listing.rows.push_back({head_title(weights), std::string(label.name),
                              label.share ? percent_of(*label.share) : "", entropy,
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

  std::size_t total(std::size_t HeadMeasure::*count) const {
    std::size_t sum = 0;
    for (const HeadMeasure& head : measured_) sum += head.*count;
    return sum;
  }

  void say_rules() {
    page_.head(2, "How a head gets its label");
    add_label_rules(page_, measured_);
  }

  void say_left_out() {
    if (total(&HeadMeasure::with_one_key) > 0) {
      page_.say(
          "A query with one permitted key has no choice: its weight is always 1. Such queries are not "
          "counted, "
          "and their pairs are not shown.");
    }
    if (total(&HeadMeasure::without_keys) > 0) {
      page_.say("Queries whose keys are all masked have no weights. They are not counted.");
    }
    if (total(&HeadMeasure::without_shares) > 0) {
      page_.say("Queries whose weights are negative, or do not sum to 1, are not counted.");
    }
  }

  // A row for each head.
  void add_numbers() {
    std::vector<std::string> columns = {"queries", "entropy", "most_entropy"}, rows;
    for (const std::string_view target : target_names()) columns.emplace_back(target);
    Matrix numbers({measured_.size(), columns.size()});
    for (std::size_t h = 0; h < measured_.size(); ++h) {
      const HeadMeasure& head = measured_[h];
      numbers(h, 0) = static_cast<double>(head.queries);
      numbers(h, 1) = head.entropy;
      numbers(h, 2) = head.most_entropy;
      for (std::size_t t = 0; t < target_count; ++t) numbers(h, 3 + t) = head.shares[t];
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
  std::vector<HeadMeasure> measured_;  // of all heads, in order
};

}  // namespace

void add_attention_map(Page& page, const Graph& graph, const std::optional<std::string>& pattern,
                       const std::string& on_random) {
  AttentionMap(page, attentions_of(graph, pattern)).add(on_random);
}

}  // namespace attn
