#include "school/training/learned_heads.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "page/tell/describe.hpp"
#include "school/training/trained_run.hpp"

namespace attn {

namespace {

constexpr std::size_t most_measured_sentences = 50;
constexpr std::size_t most_pictured = 16;

std::shared_ptr<const Matrix> numbers_of_heads(const LearnedHeads& learned) {
  constexpr std::size_t before = 3;
  Matrix numbers({learned.heads.size(), before + key_kind_count + 1});
  for (std::size_t h = 0; h < learned.heads.size(); ++h) {
    const HeadMeasure& head = learned.heads[h];
    numbers(h, 0) = static_cast<double>(head.queries);
    numbers(h, 1) = head.entropy;
    numbers(h, 2) = head.most_entropy;
    for (std::size_t t = 0; t < key_kind_count; ++t) numbers(h, before + t) = head.shares[t];
    numbers(h, before + key_kind_count) = head.of_expected.value_or(0.0);
  }
  return std::make_shared<const Matrix>(std::move(numbers));
}

TracedMatrix traced(const LearnedHeads& learned) {
  std::vector<std::string> columns = {"queries", "entropy", "most_entropy"};
  for (const std::string_view target : key_kind_names()) columns.emplace_back(target);
  columns.emplace_back("word that should come out");
  const auto cells = numbers_of_heads(learned);
  return {.name = "heads",
          .formula = {"heads", "\\mathrm{heads}"},
          .frame = {cells->shape(), axis("heads", learned.names), axis("measures", std::move(columns))},
          .cells = [cells] { return cells; }};
}

// The queries of some heads that have an effect on the words that count. In the last layer these are the
// queries of these words. In a layer before, they are the keys that have the largest weight of such a query
// in the next layer. Empty where all count.
std::vector<std::vector<bool>> counted_queries(const std::vector<const Node*>& heads, const TrainedModel& model,
                                               const TaskExample& sentence) {
  std::vector<std::vector<bool>> counted(heads.size());
  std::vector<bool> read;  // by the heads of the layer behind
  for (std::size_t end = heads.size(); end > 0;) {
    const NamedScope* const place = around(heads[end - 1]->place, scope::head);
    std::size_t begin = end - 1;
    while (begin > 0 && around(heads[begin - 1]->place, scope::head) == place) --begin;
    const std::vector<std::string> expected = expected_at(*heads[begin], model, sentence);
    std::vector<bool> counts;
    if (std::ranges::find(expected, "") != expected.end()) {
      counts = read;
      for (const std::string& word : expected) {
        if (read.empty()) counts.push_back(!word.empty());
      }
      read.assign(expected.size(), false);
    }
    for (std::size_t h = begin; h < end; ++h) {
      counted[h] = counts;
      for (std::size_t i = 0; i < counts.size(); ++i) {
        if (!counts[i] || !is_of_same_words(*heads[h])) continue;
        const std::span<const double> weights = row(heads[h]->matrix(), i);
        read[static_cast<std::size_t>(std::ranges::max_element(weights) - weights.begin())] = true;
      }
    }
    end = begin;
  }
  return counted;
}

}  // namespace

std::string head_in_place(const Node& weights) {
  const NamedScope* const place = around(weights.place, scope::head);
  const NamedScope* const head = weights.within(scope::head);
  const std::string where = place ? place->title() : std::string(weights.leaf());
  return head && head->number ? fmt::format("{}, head {}", where, *head->number) : where;
}

LearnedHeads heads_of(const TrainedModel& model, const std::vector<TaskExample>& sentences) {
  LearnedHeads learned;
  std::vector<HeadMeter> meters;
  for (const TaskExample& sentence : sentences) {
    if (learned.sentences == most_measured_sentences) break;
    const TrainedRun run = run_on(model, sentence);
    const std::vector<const Node*> heads = attention_weights(*run.graph, std::nullopt);
    const std::vector<std::vector<bool>> counted = counted_queries(heads, model, sentence);
    meters.resize(heads.size());
    for (std::size_t h = 0; h < heads.size(); ++h) {
      const std::vector<bool>& counts = counted[h];
      learned.leaves_out = learned.leaves_out || std::ranges::find(counts, false) != counts.end();
      meters[h].add(*heads[h], {.counts = counts, .expected = expected_at(*heads[h], model, sentence)});
      if (learned.sentences > 0) continue;
      learned.names.push_back(heads[h]->name);
      learned.titles.push_back(head_in_place(*heads[h]));
    }
    ++learned.sentences;
  }
  for (const HeadMeter& meter : meters) learned.heads.push_back(meter.measure());
  return learned;
}

void add_heads(Page& page, const LearnedHeads& learned) {
  if (learned.heads.empty()) return;
  const bool has_expected =
      std::ranges::any_of(learned.heads, [](const HeadMeasure& head) { return head.of_expected.has_value(); });
  page.say(fmt::format(
      "For each head, over {:# sentence that was|# sentences that were} held out from training: which keys have most of its weights, and how evenly it spreads them (its entropy in bits, and the most that it could be).",
      Count{learned.sentences}));
  if (learned.leaves_out) page.say("Only queries that count in the measure are included.");
  if (has_expected) {
    page.say(
        "The column \"right word\" is the mean weight of keys that have the word that should come out at the query, where there is such a key.");
  }
  Listing listing{.columns = {"head", "attends to", "share", "entropy"}, .rows = {}, .headed = true};
  if (has_expected) listing.columns.emplace_back("right word");
  for (std::size_t h = 0; h < learned.heads.size(); ++h) {
    const HeadMeasure& head = learned.heads[h];
    const HeadLabel label = label_of(head);
    std::vector<std::string> line = {
        learned.titles[h], std::string(label.name), label.share ? percent_of(*label.share) : "",
        head.queries == 0
            ? ""
            : fmt::format("{} of {}", written_fixed(head.entropy, 2), written_fixed(head.most_entropy, 2))};
    if (has_expected) line.push_back(head.of_expected ? percent_of(*head.of_expected) : "");
    listing.rows.push_back(std::move(line));
  }
  page.say(std::move(listing));
  add_label_rules(page, learned.heads);
  page.trace = Trace([&] {
    std::vector<TracedMatrix> all = page.trace.matrices();
    all.push_back(traced(learned));
    return all;
  }());
}

void add_pictures(Page& page, const Graph& graph) {
  const std::vector<const Node*> heads = attention_weights(graph, std::nullopt);
  if (heads.size() > most_pictured) return;
  HeatMaps maps;
  for (const Node* head : heads) {
    maps.tables.push_back(table_of(*head));
    maps.tables.back().title = head_in_place(*head);
  }
  page.say("The weights of each head on this sentence: rows are queries, columns are keys.");
  page.say(std::move(maps));
}

}  // namespace attn
