#include "command/model/length_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command/model/translation.hpp"
#include "command/quantity_page.hpp"
#include "model/by_length.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

// The variants that the file has matrices for: all of its own, or the one that it is for.
std::vector<EncoderDecoder> all_models(const EncoderDecoderFile& file) {
  const Recurrence& cell =
      file.cell.empty() ? recurrences().front() : look_up(recurrences(), file.cell, "cell");
  std::vector<EncoderDecoder> models;
  for (const AlignmentVariant& variant : alignment_variants()) {
    const bool is_usual =
        file.variant.empty() ? &variant == &alignment_variants().front() : variant.name == file.variant;
    if (file.variants.empty() ? is_usual : file.variants.contains(variant.name))
      models.push_back(encoder_decoder_of(file, variant, cell));
  }
  return models;
}

bool attends(const EncoderDecoder& model) {
  return !model.variant->score.empty();
}

// <end> is left out.
std::string sentence_of(const Ids& ids, const Vocabulary& vocabulary) {
  std::vector<std::string> words;
  for (const std::size_t id : ids) {
    if (vocabulary[id - 1] != end_word) words.push_back(vocabulary[id - 1]);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

void add_shares(QuantityPage& page, const std::vector<EncoderDecoder>& models,
                const std::vector<LengthScore>& scores) {
  page.head(2, "Correct translations by length");
  page.say(text("A row for each number of source words, without ", code("<end>"),
                ". A column for each variant has the share of sentences whose translation is correct as a "
                "whole; the column \"words\" beside it has the average share of words that stand at the "
                "right position."));
  std::vector<std::string> columns = {"sentences"};
  for (const EncoderDecoder& model : models) {
    columns.emplace_back(model.variant->name);
    columns.emplace_back("words");
  }
  QuantityRows rows;
  for (const LengthScore& score : scores) {
    std::vector<double> row = {static_cast<double>(score.sentences)};
    for (std::size_t m = 0; m < models.size(); ++m) {
      row.push_back(static_cast<double>(score.correct[m]) / static_cast<double>(score.sentences));
      row.push_back(score.right_words[m]);
    }
    rows.emplace_back(fmt::format("{}", count_of(score.words, "word")), std::move(row));
  }
  page.table("by_length", columns, rows);
  page.head(2, "The shares as curves");
  Plot plot{.title = "Share of correct translations", .x_name = "words", .series = {}};
  for (std::size_t m = 0; m < models.size(); ++m) {
    Series series{std::string(models[m].variant->name), {}, {}};
    for (std::size_t i = 0; i < scores.size(); ++i) {
      series.x.push_back(static_cast<double>(scores[i].words));
      series.y.push_back(rows[i].second[1 + 2 * m]);
    }
    plot.series.push_back(std::move(series));
  }
  page.say(std::move(plot));
}

void add_first_errors(QuantityPage& page, const std::vector<EncoderDecoder>& models,
                      const std::vector<LengthScore>& scores) {
  page.head(2, "The shortest sentences with a wrong translation");
  for (std::size_t m = 0; m < models.size(); ++m) {
    const EncoderDecoder& model = models[m];
    const std::string variant(model.variant->name);
    const WrongTranslation wrong = shortest_wrong(scores, m);
    if (!wrong.sentence) {
      page.say(text("Variant ", code(variant), ": all translations are correct."));
      continue;
    }
    page.say(text("Variant ", code(variant), ": ",
                  strong(sentence_of(wrong.sentence->source, model.source_words)), " → ",
                  strong(sentence_of(wrong.written, model.target_words)),
                  ". Correct: ", strong(sentence_of(wrong.sentence->target, model.target_words)), "."));
  }
}

void add_last_states(QuantityPage& page, const EncoderDecoder& model,
                     const std::vector<KnownTranslation>& known, const std::vector<LengthScore>& scores) {
  page.head(2, "Last states of different sentences");
  page.say(fmt::format(
      "Without attention, the decoder gets the encoder's last state alone: {} numbers. Each row compares the "
      "last states of all pairs of sentences of one length with different translations. It has the largest "
      "difference of a number between the two states, for the pair where it is least. Where it is near 0, "
      "two sentences that need different translations look almost the same to the decoder.",
      model.state_size));
  QuantityRows rows;
  for (const LengthScore& score : scores) {
    const double nearest = nearest_last_states(model, known, score.words);
    if (std::isfinite(nearest)) rows.push_back({count_of(score.words, "word"), {nearest}});
  }
  page.table("last_states", {"difference"}, rows);
}

}  // namespace

Outcome translations_by_length(const Arguments& arguments) {
  const EncoderDecoderFile file = encoder_decoder_file_of(arguments);
  const std::vector<KnownTranslation> known = known_translations(file);
  if (known.empty()) {
    fail("--by-length: {} has no \"sentences\": give it a list of pairs, each a sentence and its translation",
         file.where);
  }
  const std::vector<EncoderDecoder> models = all_models(file);
  const std::vector<LengthScore> scores = by_length(models, known);
  QuantityPage page;
  page.head(1, "Short and long sentences");
  for (const std::string& paragraph : file.about) page.say(paragraph);
  page.say(
      fmt::format("The translator comes with {}. Each sentence is translated by greedy decoding, with "
                  "each variant that the translator has matrices for.",
                  count_of(known.size(), "correct translation")));
  add_shares(page, models, scores);
  add_first_errors(page, models, scores);
  for (const EncoderDecoder& model : models) {
    if (!attends(model)) add_last_states(page, model, known, scores);
  }
  if (!file.numbers.empty()) page.head(2, "How the numbers were chosen");
  for (const std::string& paragraph : file.numbers) page.say(paragraph);
  return std::move(page).outcome({});
}

}  // namespace attn
