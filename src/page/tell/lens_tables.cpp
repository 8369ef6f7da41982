#include "page/tell/lens_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/graph/find.hpp"
#include "core/support/largest.hpp"
#include "core/support/number.hpp"
#include "page/tell/claims.hpp"
#include "page/tell/describe.hpp"

namespace attn {

std::string most_probable_words(std::span<const double> probabilities, const Axis& words, std::size_t most) {
  constexpr double least_shown = 0.0005;  // less would be shown as 0.0 %
  const bool is_flat = std::ranges::none_of(probabilities, [](double one) { return one >= least_shown; });
  const auto written = [&](double probability) {
    return is_flat ? written_digits(100.0 * probability, 2) + "\u00A0%" : percent(probability);
  };
  const auto is_told = [&](std::size_t i) { return is_flat || probabilities[i] >= least_shown; };
  const LargestNumbers largest = largest_numbers(probabilities, most);
  std::vector<std::string> told;
  for (const std::size_t i : largest.named) {
    if (is_told(i)) told.push_back(words.label(i) + " " + written(probabilities[i]));
  }
  if (!largest.alike.empty() && is_told(largest.alike.front()))
    told.push_back(fmt::format("{} words with {} each", with_commas(largest.alike.size()),
                               written(probabilities[largest.alike.front()])));
  return fmt::format("{}", fmt::join(told, ", "));
}

namespace {

// --- the claims

constexpr bool (*normalizes_at_end)(const ResidualStream&) = [](const ResidualStream& stream) {
  return stream.is_normalized_at_end;
};
constexpr bool (*normalizes_in_layers)(const ResidualStream&) = [](const ResidualStream& stream) {
  return stream.layers_normalize;
};
constexpr bool (*is_only_added_to)(const ResidualStream&) = [](const ResidualStream& stream) {
  return !stream.layers_normalize;
};
constexpr bool (*adds_heads)(const ResidualStream&) = [](const ResidualStream& stream) {
  return !stream.layers_normalize && !stream.additions_are_normalized;
};
constexpr bool (*adds_attentions)(const ResidualStream&) = [](const ResidualStream& stream) {
  return !stream.layers_normalize && stream.additions_are_normalized;
};
constexpr bool (*only_output_layer_reads)(const ResidualStream&) = [](const ResidualStream& stream) {
  return !stream.is_normalized_at_end;
};

constexpr bool (*caps_logits)(const ResidualStream&) = [](const ResidualStream& stream) {
  return &stream.logits->original() != stream.summed;
};

constexpr Claim<ResidualStream> claims_of_lens[] = {
    {is_only_added_to, "The residual stream of a word is the vector that goes in, to which each layer adds."},
    {normalizes_in_layers,
     "The residual stream of a word is the vector that goes in. Each layer adds to it and normalizes the sum."},
    {normalizes_at_end,
     "After each layer it is read as after the last one: by the final normalization and the output layer."},
    {only_output_layer_reads, "After each layer it is read as after the last one: by the output layer."},
    {of_any<ResidualStream>,
     "So the words are those that the model would name without the layers behind it. "
     "A layer may hold more than this shows: later layers go on from all its numbers, and not from these words."},
};

constexpr Claim<ResidualStream> claims_of_attribution[] = {
    {only_output_layer_reads,
     "A logit is the dot product of the vector that comes last with the word's row of the output layer."},
    {normalizes_at_end,
     "A logit is the dot product of the normalized vector that comes last with the word's row of the output layer. "
     "The final normalization divides the whole vector by one number, which is taken as it is here."},
    {adds_heads,
     "The vector is a sum: of what goes in, and of what each head and each feed-forward layer adds. "
     "So the logit is a sum as well, and each line is a term of it."},
    {adds_attentions,
     "The vector is a sum: of what goes in, and of what each attention and each feed-forward layer adds, after a norm of "
     "its own. So the logit is a sum as well, and each line is a term of it. "
     "The heads of an attention go through its norm together."},
    {normalizes_in_layers,
     "Each layer normalizes its sums, so that only the sum of the last sub-layer can be taken apart: "
     "what it adds is one term, and all that was before it is another. "
     "The last normalization divides this sum by one number, which is taken as it is here."},
    {caps_logits, "Here this holds before the soft cap, which makes the logit of the sum."},
    {of_any<ResidualStream>,
     "A term is what a part adds to this logit directly. "
     "What later layers make of it counts among theirs."},
    {adds_heads, "A head that only a later layer reads has the term 0."},
};

std::string word_in_words(const Node& logits, std::size_t word) {
  return place_in_words(logits.frame.columns, word, "word");
}

std::string layer_in_words(std::size_t i) { return i == 0 ? "what goes in" : fmt::format("layer {}", i); }

// --- terms

constexpr std::size_t most_in_one_table = 24, largest_told = 10;
constexpr int digits_of_terms = 4;

// "head.3" of "2.head.3".
std::string_view part_in_layer(const ResidualContribution& one) {
  return std::string_view(one.name).substr(one.name.find('.') + 1);
}

// The terms of layers as a table: a row for each layer, a column for each of its parts.
Table by_layer(const Attribution& attribution, std::string title) {
  std::vector<std::string> columns, rows;
  std::vector<std::size_t> layers;
  for (const ResidualContribution& one : attribution.additions) {
    if (one.layer == 0) continue;
    if (std::ranges::find(columns, part_in_layer(one)) == columns.end()) columns.emplace_back(part_in_layer(one));
    if (layers.empty() || layers.back() != one.layer) {
      layers.push_back(one.layer);
      rows.push_back(fmt::format("{}", one.layer));
    }
  }
  Matrix cells({rows.size(), columns.size()}, 0.0);
  for (std::size_t i = 0; i < attribution.additions.size(); ++i) {
    const ResidualContribution& one = attribution.additions[i];
    if (one.layer == 0) continue;
    const auto row = std::ranges::find(layers, one.layer) - layers.begin();
    const auto column = std::ranges::find(columns, part_in_layer(one)) - columns.begin();
    cells(static_cast<std::size_t>(row), static_cast<std::size_t>(column)) =
        attribution.contributions.node().cell(i, 0);
  }
  return {.title = std::move(title),
          .rows = axis("layers", std::move(rows)),
          .columns = axis("parts", std::move(columns)),
          .cells = std::make_shared<const Matrix>(std::move(cells)),
          .heat = Heat::around_zero};
}

Listing listed_terms(const Attribution& attribution, const std::vector<std::size_t>& places) {
  Listing listing{{"part", "at", "adds"}, {}, true};
  const Node& contributions = attribution.contributions.node();
  for (const std::size_t i : places)
    listing.rows.push_back({attribution.additions[i].name, fmt::format("{}[{},1]", contributions.name, i + 1),
                            written_digits(contributions.cell(i, 0), digits_of_terms)});
  return listing;
}

void add_many_terms(Page& page, const Attribution& attribution) {
  const Node& contributions = attribution.contributions.node();
  page.say(by_layer(attribution, contributions.name));
  std::vector<std::size_t> beside;
  std::vector<double> magnitudes;
  for (std::size_t i = 0; i < attribution.additions.size(); ++i) {
    magnitudes.push_back(std::fabs(contributions.cell(i, 0)));
    if (attribution.additions[i].layer == 0) beside.push_back(i);
  }
  page.say("Beside the layers:");
  page.say(listed_terms(attribution, beside));
  const LargestNumbers largest = largest_numbers(magnitudes, largest_told);
  if (!largest.named.empty()) {
    page.say(fmt::format("The {:largest term|# largest terms}, by magnitude:", Count{largest.named.size()}));
    page.say(listed_terms(attribution, largest.named));
  }
  if (!largest.alike.empty())
    page.say(fmt::format("{} terms {} the magnitude {} each.", largest.alike.size(),
                         largest.named.empty() ? "are the largest, with" : "follow, with",
                         written_digits(magnitudes[largest.alike.front()], digits_of_terms)));
}

}  // namespace

void add_logit_lens(Page& page, const ResidualStream& stream, const Node& distribution, std::optional<std::size_t> word,
                    std::size_t most) {
  const Node& logits = *stream.logits;
  page.head(1, "Logit lens");
  page.say(text("Position: ", strong(place_in_words(logits.frame.rows, stream.row, "position")), "."));
  page.say(claims_in_words(std::span<const Claim<ResidualStream>>(claims_of_lens), stream));
  Listing listing{{"after"}, {}, true};
  if (word) listing.columns.insert(listing.columns.end(), {word_in_words(logits, *word), "place"});
  listing.columns.emplace_back(with_note_on_random(distribution, "most probable words"));
  for (std::size_t i = 0; i < distribution.frame.shape.rows; ++i) {
    const std::vector<double> row = distribution.row(i);
    auto& cells = listing.rows.emplace_back();
    cells.push_back(layer_in_words(i));
    if (word) {
      const double probability = row[*word];
      const auto before = std::ranges::count_if(row, [&](double other) { return other > probability; });
      cells.push_back(written_digits(100.0 * probability, 3) + "\u00A0%");
      cells.push_back(
          fmt::format("{} of {}", with_commas(static_cast<std::size_t>(before) + 1), with_commas(row.size())));
    }
    cells.push_back(most_probable_words(row, distribution.frame.columns, most));
  }
  page.say(std::move(listing));
}

void add_attribution(Page& page, const ResidualStream& stream, const Attribution& attribution, std::size_t word) {
  const Node& logits = *stream.logits;
  page.head(2, fmt::format("The logit of {} as a sum", word_in_words(logits, word)));
  page.say(claims_in_words(std::span<const Claim<ResidualStream>>(claims_of_attribution), stream));
  if (attribution.additions.size() <= most_in_one_table) {
    page.say(table_of(attribution.contributions.node()));
  } else {
    add_many_terms(page, attribution);
  }
  constexpr int digits = 8;
  page.say(text("The terms add up to ", strong(written_digits(attribution.logit.node().cell(0, 0), digits)), "; ",
                code(cell_name({stream.summed, stream.row, word})), " is ",
                strong(written_digits(stream.summed->cell(stream.row, word), digits)), "."));
  page.say(text("To see where a term comes from: ",
                code(fmt::format("--explain '{}[1,1]' --depth 1", attribution.contributions.node().name)), "."));
}

}  // namespace attn
