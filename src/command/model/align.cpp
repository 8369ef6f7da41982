#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "command/command.hpp"
#include "command/computed_problem.hpp"
#include "command/forms.hpp"
#include "core/attention/watches.hpp"
#include "core/graph/find.hpp"
#include "core/model/encoder_decoder.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/encoder_decoder_file.hpp"
#include "data/problem/model_words.hpp"
#include "page/tell/alignment.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

// --- translation

constexpr std::size_t drawn_numbers = 4;

// A sentence as words, closed by <end>.
Words closed_sentence(const std::string& text, const Option& option) {
  Words words = split_words(text);
  if (words.back() != end_word) words.emplace_back(end_word);
  if (words.size() <= most_words) return words;
  fail("{} has {} words: give at most {}", option.name, words.size(), most_words);
}

const AlignmentVariant& variant_of(const Arguments& arguments, const std::string& usual) {
  const std::string told = usual.empty() ? std::string(alignment_variants().front().name) : usual;
  return look_up(alignment_variants(), arguments.text(option::variant).value_or(told), "variant");
}

const Recurrence& cell_of(const Arguments& arguments, const std::string& usual) {
  const std::string told = usual.empty() ? std::string(recurrences().front().name) : usual;
  return look_up(recurrences(), arguments.text(option::cell).value_or(told), "cell");
}

std::uint32_t drawing_seed(const Arguments& arguments) {
  return static_cast<std::uint32_t>(arguments.count(option::seed).value_or(1));
}

// A model for any words, with random parameters, and how they were drawn.
std::pair<EncoderDecoder, DrawnMatrices> drawn_model(const Arguments& arguments, const Words& source,
                                                     const Words& target) {
  const std::size_t size = arguments.count(option::hidden).value_or(drawn_numbers);
  EncoderDecoder model{.cell = &cell_of(arguments, ""),
                       .variant = &variant_of(arguments, ""),
                       .source_words = with_new_words({}, source),
                       .target_words = with_new_words({std::string(start_word), std::string(end_word)}, target),
                       .features = {},
                       .source_size = size,
                       .target_size = size,
                       .state_size = size};
  RandomSource random(random_kind::by_name, drawing_seed(arguments));
  draw_parameters(model, random);
  return {std::move(model), random.drawings()};
}

// Every step keeps a few numbers for each word of the source, and some states.
void require_memory(const EncoderDecoder& model, std::size_t inputs, std::size_t outputs) {
  const std::size_t d = model.state_size, of_pair = model.variant->score == "additive" ? 4 * d + 4 : 4;
  const std::size_t of_output = inputs * of_pair + 2 * model.target_words.size() + 16 * d;
  if (of_output <= most_cells / outputs && inputs <= most_cells / (8 * d)) return;
  fail(
      "{} inputs, {} outputs and states of size {} need more than {} numbers: give shorter sentences, fewer --steps or a smaller --hidden",
      inputs, outputs, d, most_cells);
}

// --text is the same as --source.
std::optional<std::string> source_of(const Arguments& arguments) {
  const std::vector<std::string>& texts = arguments.texts(option::text);
  if (texts.size() > 1) fail("--text is given {} times: give it once", texts.size());
  return texts.empty() ? arguments.text(option::source) : texts.front();
}

EncoderDecoderFile read_built_in(const ModelExample& example) {
  const bool is_trained = attn::is_trained(example);
  return read_encoder_decoder(example.bytes, is_trained ? std::string(example.name) : "the built-in example");
}

// The file or the built-in example that --parameters or --example names.
EncoderDecoderFile encoder_decoder_file_of(const Arguments& arguments) {
  if (const std::optional<std::string> path = arguments.text(option::parameters))
    return read_encoder_decoder(read_bytes(*path), *path);
  if (const std::optional<std::string> model = arguments.text(option::model)) {
    if (const ModelExample* example = find_built_in(*model)) return read_built_in(*example);
    if (is_name_of_model(*model)) fail_unknown("model", *model, names_of(alignment_examples()));
    return read_encoder_decoder(read_bytes(*model), *model);
  }
  const std::string name = arguments.text(option::example).value_or(std::string(alignment_examples().front().name));
  return read_built_in(look_up(alignment_examples(), name, "example"));
}

std::string pointer_to_trained_alignment() {
  const std::span<const ModelExample> all = alignment_examples();
  const auto found = std::ranges::find_if(all, is_trained);
  return found == all.end() ? "" : fmt::format(" For trained ones: attn align --model {}.", found->name);
}

// What the options of attn align ask for: a file, the built-in example, or with --seed or --hidden random
// matrices. Throws InputError: options that exclude each other, words that the model does not know,
// sentences too long for the memory that all steps would need.
Translation translation_of(const Arguments& arguments) {
  const bool draws = arguments.has(option::seed) || arguments.has(option::hidden);
  const EncoderDecoderFile file = encoder_decoder_file_of(arguments);
  const std::optional<std::string> given = source_of(arguments);
  const std::string source = given.value_or(file.source);
  if (source.empty()) fail("there is nothing to translate: give --source SENTENCE");
  // The file's target translates the file's source.
  const bool own = !draws && !given && !arguments.has(option::steps);
  const std::string target = arguments.text(option::target).value_or(own ? file.target : "");
  const Words from = closed_sentence(source, option::source);
  const Words to = target.empty() ? Words{} : closed_sentence(target, option::target);

  Translation translation;
  if (draws) {
    translation.title = "A translation with random numbers";
    translation.about = {
        "All matrices are random, not trained. "
        "The steps are those of a real translator, but the words have no meaning." +
        pointer_to_trained_alignment()};
    translation.on_random = translation.about.front();
    std::tie(translation.model, translation.drawings) = drawn_model(arguments, from, to.empty() ? from : to);
  } else {
    translation.title = file.title;
    translation.about = file.about;
    translation.numbers = file.numbers;
    translation.known = reference_translations(file);
    translation.model = encoder_decoder_of(file, variant_of(arguments, file.variant), cell_of(arguments, file.cell));
  }
  const EncoderDecoder& model = translation.model;
  translation.source = ids_of(from, model.source_words, "source");
  translation.target = ids_of(to, model.target_words, "target");
  translation.is_forced = !to.empty();
  const std::size_t most =
      arguments.count(option::steps).value_or(std::min((draws ? 1 : 2) * from.size() + 2, most_words));
  require_memory(model, from.size(), translation.is_forced ? to.size() : most);
  if (!translation.is_forced) translation.target = translate(model, translation.source, most);
  return translation;
}

// --- length page

// The variants that the file has matrices for: all of its own, or the one that it is for.
std::vector<EncoderDecoder> models_in_file(const EncoderDecoderFile& file) {
  const Recurrence& cell = file.cell.empty() ? recurrences().front() : look_up(recurrences(), file.cell, "cell");
  std::vector<EncoderDecoder> models;
  for (const AlignmentVariant& variant : alignment_variants()) {
    const bool is_usual =
        file.variant.empty() ? &variant == &alignment_variants().front() : variant.name == file.variant;
    if (file.variants.empty() ? is_usual : file.variants.contains(variant.name))
      models.push_back(encoder_decoder_of(file, variant, cell));
  }
  return models;
}

bool attends(const EncoderDecoder& model) { return !model.variant->score.empty(); }

// <end> is left out.
std::string words_without_end(const Ids& ids, const Vocabulary& vocabulary) {
  std::vector<std::string> words;
  for (const std::size_t id : ids) {
    if (vocabulary[id - 1] != end_word) words.push_back(vocabulary[id - 1]);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

void add_shares(QuantityPage& page, const std::vector<EncoderDecoder>& models, const std::vector<LengthScore>& scores) {
  page.head(2, "Correct translations by length");
  page.say(text(
      "A row for each number of source words, without ", code("<end>"),
      ". A column for each variant has the share of sentences whose translation is correct as a whole; the column \"words\" beside it has the average share of words that stand at the right position."));
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
                  strong(words_without_end(wrong.sentence->source, model.source_words)), " → ",
                  strong(words_without_end(wrong.written, model.target_words)),
                  ". Correct: ", strong(words_without_end(wrong.sentence->target, model.target_words)), "."));
  }
}

void add_last_states(QuantityPage& page, const EncoderDecoder& model, const std::vector<ReferenceTranslation>& known,
                     const std::vector<LengthScore>& scores) {
  page.head(2, "Last states of different sentences");
  page.say(fmt::format(
      "Without attention, the decoder gets the encoder's final state alone: {} numbers. "
      "Each row compares the final states of all pairs of sentences of one length with different translations. "
      "It has the largest difference of a number between the two states, for the pair where it is least. "
      "Where it is near 0, two sentences that need different translations look almost the same to the decoder.",
      model.state_size));
  QuantityRows rows;
  for (const LengthScore& score : scores) {
    const double nearest = nearest_last_states(model, known, score.words);
    if (std::isfinite(nearest)) rows.push_back({count_of(score.words, "word"), {nearest}});
  }
  page.table("last_states", {"difference"}, rows);
}

// The sentences that come with a recurrent encoder-decoder, translated with each variant that its file has
// matrices for: the share of correct translations, by length. Throws InputError: there are none.
Answer translations_by_length(const Arguments& arguments) {
  const EncoderDecoderFile file = encoder_decoder_file_of(arguments);
  const std::vector<ReferenceTranslation> known = reference_translations(file);
  if (known.empty()) {
    fail("--by-length: {} has no \"sentences\": give it a list of pairs, each a sentence and its translation",
         file.where);
  }
  const std::vector<EncoderDecoder> models = models_in_file(file);
  const std::vector<LengthScore> scores = scores_by_length(models, known);
  QuantityPage page;
  page.head(1, "Short and long sentences");
  for (const std::string& paragraph : file.about) page.say(paragraph);
  page.say(fmt::format(
      "The translator comes with {}. "
      "Each sentence is translated by greedy decoding, with each variant that the translator has matrices for.",
      count_of(known.size(), "correct translation")));
  add_shares(page, models, scores);
  add_first_errors(page, models, scores);
  for (const EncoderDecoder& model : models) {
    if (!attends(model)) add_last_states(page, model, known, scores);
  }
  if (!file.numbers.empty()) page.head(2, "How the numbers were chosen");
  for (const std::string& paragraph : file.numbers) page.say(paragraph);
  return std::move(page).answer({});
}

// --- align

// The alignment with the outputs as columns (Stenzel 2023, Transformer Pt. 1).
void add_transposed(Graph& graph) {
  const Node* alignment = graph.find(role::alignment);
  if (!alignment) fail("--transpose: the variant none has no alignment: choose another --variant");
  graph.name(role::alignment_transposed, transpose(Value(*alignment)));
}

// The output that --from names, by its word or its number from 1.
std::size_t asked_output(const Graph& graph, const Translation& translation, const Arguments& arguments) {
  const std::optional<std::string> word = arguments.text(option::from);
  if (!word) return telling_output(graph, translation);
  std::vector<std::string> words;
  for (const std::size_t id : translation.target) words.push_back(translation.model.target_words[id - 1]);
  return find_named_place(axis("outputs", words), words.size(), *word, fmt::format("--from {}", *word)) + 1;
}

Answer outline_of_alignment(const std::shared_ptr<Graph>& graph, const Translation& translation,
                            const Arguments& arguments) {
  if (translation.target.empty()) fail("--outline draws the output words, and there are none: give --target");
  const std::size_t output = asked_output(*graph, translation, arguments);
  const bool attends = !translation.model.variant->score.empty();
  Page page;
  page.head(1, translation.title);
  page.say(fmt::format(
      "A state depends on the state before it and on one word: the encoder's on the source word above it, the decoder's on the previous output word{}.",
      translation.model.variant->contexts_in_cell > 0 ? " and on the context beside it" : ""));
  page.say(
      attends
          ? fmt::format(
                "The numbers are the attention weights of output {}, which sum to 1: the context c{} is the weighted sum of the encoder's states. --from chooses another output.",
                output, output)
          : std::string("Without attention only the final state of the encoder reaches the decoder: "
                        "this is the bottleneck."));
  page.head(2, "The states");
  page.say(alignment_diagram(*graph, translation, output));
  return {.page = std::move(page), .computation = {graph}};
}

// The outputs, and the words that they should be.
Differentiable differentiable_outputs(const std::shared_ptr<Graph>& graph, const Translation& translation) {
  Differentiable all{.computation = {.graph = graph, .random = translation.on_random, .drawings = translation.drawings},
                     .title = translation.title,
                     .results = {},
                     .names_are_long = true};
  for (std::size_t t = 1; t <= translation.target.size(); ++t) {
    const Node& logits = graph->at({{scope::decoder, {scope::number, t}}, role::logits});
    all.results = {&logits};
    all.predictions.push_back({&logits, {translation.target[t - 1]}});
  }
  all.told_words = translation.is_forced ? "The right words are those of the given translation."
                                         : "The right words are those that the model itself has chosen: "
                                           "--target gives others.";
  return all;
}

}  // namespace

// --- align

Answer run_align(const Command&, const Arguments& arguments) {
  if (arguments.has(option::by_length)) return translations_by_length(arguments);
  const Translation translation = translation_of(arguments);
  const std::shared_ptr<Graph> graph = watched_graph();
  add_computation(translation.model, translation.source, translation.target, *graph);
  if (!translation.on_random.empty()) {
    for (const auto& [name, matrix] : translation.model.parameters) {
      if (const Node* parameter = graph->find(name))
        graph->tell_random(*parameter, fmt::format("seed {}", drawing_seed(arguments)));
    }
  }
  if (asks_for_gradients(arguments)) return gradients_of(differentiable_outputs(graph, translation), arguments);
  compute_watched(*graph);
  if (arguments.has(option::outline)) return outline_of_alignment(graph, translation, arguments);
  if (arguments.has(option::transpose)) add_transposed(*graph);

  Page page;
  if (!arguments.narrows()) {
    page.trace = graph->named();
    add_alignment_walk(page, *graph, translation);
  }
  return {.page = std::move(page),
          .computation = {.graph = graph, .random = translation.on_random, .drawings = translation.drawings}};
}

}  // namespace attn
