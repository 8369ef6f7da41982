#include "page/tell/attention_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/attention/masks.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/heads.hpp"

namespace attn {

namespace {

constexpr std::size_t most_pictured = 16;  // heads; of more, one line tells each

// Labels alone do not tell which words are meant where words come twice, or read as positions.
bool needs_positions(const Axis& axis) {
  for (std::size_t i = 0; axis.labels && i < axis.labels->size(); ++i) {
    if (place_in_lists(axis, i) != axis.label(i)) return true;
  }
  return false;
}

std::string written_pair(const HeadPair& pair, const Frame& frame) {
  return fmt::format("{} → {} {}", place_in_lists(frame.rows, pair.query), place_in_lists(frame.columns, pair.key),
                     written_fixed(pair.weight, 2));
}

// How many pairs are not among the first ones that are shown, and have the same weight as the last of these.
std::size_t left_out_beside(const HeadMeasure& head, std::size_t shown) {
  if (shown == 0) return 0;
  const std::size_t last = hundredths(head.strongest[shown - 1].weight);
  const auto has_it = [&](const HeadPair& pair) { return hundredths(pair.weight) == last; };
  const auto begin = head.strongest.begin();
  const auto among_shown = std::count_if(begin, begin + static_cast<std::ptrdiff_t>(shown), has_it);
  return head.pairs_of[last] - static_cast<std::size_t>(among_shown);
}

// Of padding there is no word that could attend to anything.
std::vector<bool> queries_with_words(const Axis& queries) {
  if (!queries.labels) return {};
  std::vector<bool> counts = blanks_among(*queries.labels);
  counts.flip();
  return counts;
}

bool has_padding(const Node& head) {
  return head.frame.rows.labels && std::ranges::find(*head.frame.rows.labels, blank) != head.frame.rows.labels->end();
}

class AttentionMap {
 public:
  AttentionMap(Page& page, std::vector<Attention> attentions) : page_(page), attentions_(std::move(attentions)) {
    for (const Attention& attention : attentions_) {
      for (const Node* head : attention.heads) {
        HeadMeter meter;
        meter.add(*head, {.counts = queries_with_words(head->frame.rows)});
        measured_.push_back(meter.measure());
      }
    }
  }

  void add(const std::string& on_random) {
    page_.head(1, "Attention map");
    page_.say(
        "For each head: which keys have most of its weights, how evenly it spreads them (its entropy in bits, and the most that it could be), and the query and key of its largest weights.");
    if (!on_random.empty()) page_.say(on_random);
    say_counts();
    say_left_out();
    if (std::ranges::any_of(attentions_, [](const Attention& attention) {
          return std::ranges::any_of(attention.heads, [](const Node* head) {
            return needs_positions(head->frame.rows) || needs_positions(head->frame.columns);
          });
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
      page_.say(fmt::format("Pictures are shown of at most {} heads: choose heads with ‹--only›.", most_pictured));
    }
    say_rules();
    add_numbers();
  }

 private:
  bool is_pictured() const { return measured_.size() <= most_pictured; }

  void say_counts() {
    std::vector<std::string> counts;
    for (const std::string_view name : label_names()) {
      const auto count = static_cast<std::size_t>(
          std::ranges::count_if(measured_, [&](const HeadMeasure& head) { return label_of(head).name == name; }));
      if (count > 0) counts.push_back(fmt::format("{} ({})", name, count));
    }
    const Node& first = *attentions_.front().heads.front();
    if (measured_.size() == 1)
      return page_.say(
          with_note_on_random(first, fmt::format("1 head, with the label \"{}\".", label_of(measured_[0]).name)));
    std::set<const NamedScope*> sentences;
    for (const Attention& attention : attentions_) sentences.insert(attention.heads.front()->within(scope::sentence));
    page_.say(with_note_on_random(first, fmt::format("{:# head|# heads}{:| in # sentences}, with the labels {}.",
                                                     Count{measured_.size() / sentences.size()},
                                                     Count{sentences.size()}, fmt::join(counts, ", "))));
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
      for (std::size_t i = 0; i < shown && i < head.strongest.size(); ++i)
        pairs.push_back(written_pair(head.strongest[i], weights.frame));
      if (const std::size_t more = left_out_beside(head, pairs.size()); more > 0)
        pairs.push_back(fmt::format("{} more of {}", more, written_fixed(head.strongest[pairs.size() - 1].weight, 2)));
      const std::string entropy = head.queries == 0 ? ""
                                                    : fmt::format("{} of {}", written_fixed(head.entropy, 2),
                                                                  written_fixed(head.most_entropy, 2));
      listing.rows.push_back({head_title(weights), std::string(label.name), label.share ? percent_of(*label.share) : "",
                              entropy, fmt::format("{}", fmt::join(pairs, ", ")), weights.name});
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
    if (std::ranges::any_of(attentions_, [](const Attention& attention) {
          return std::ranges::any_of(attention.heads, [](const Node* head) { return has_padding(*head); });
        })) {
      page_.say(fmt::format("Queries that are padding ({}) are not counted, and their pairs are not shown.", blank));
    }
    if (total(&HeadMeasure::with_one_key) > 0) {
      page_.say(
          "A query with one permitted key has no choice: its weight is always 1. "
          "Such queries are not counted, and their pairs are not shown.");
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
    for (const std::string_view target : key_kind_names()) columns.emplace_back(target);
    Matrix numbers({measured_.size(), columns.size()});
    for (std::size_t h = 0; h < measured_.size(); ++h) {
      const HeadMeasure& head = measured_[h];
      numbers(h, 0) = static_cast<double>(head.queries);
      numbers(h, 1) = head.entropy;
      numbers(h, 2) = head.most_entropy;
      for (std::size_t t = 0; t < key_kind_count; ++t) numbers(h, 3 + t) = head.shares[t];
    }
    for (const Attention& attention : attentions_) {
      for (const Node* head : attention.heads) rows.push_back(head->name);
    }
    const auto cells = std::make_shared<const Matrix>(std::move(numbers));
    page_.trace = Trace(
        {TracedMatrix{.name = "map",
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
