#include "school/training/told.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/attention/watches.hpp"
#include "core/math/functions.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/words.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/heads.hpp"
#include "school/training/loss.hpp"

namespace attn {

// --- trained run

namespace {

constexpr std::string_view not_counted = "·";

Words words_of(const Ids& ids, const Vocabulary& vocabulary) {
  Words words;
  for (const std::size_t id : ids) words.push_back(vocabulary[id - 1]);
  return words;
}

ModelInput input_of(const Ids& ids, const Vocabulary& vocabulary) {
  const Words words = words_of(ids, vocabulary);
  return {.tokens = words, .ids = ids, .blank = blanks_among(words)};
}

void build(const Transformer& model, const TaskExample& sentence, Graph& graph) {
  RunningTransformer running(model, graph);
  std::optional<Value> encoded;
  if (model.kind->encodes) encoded = running.encode(input_of(sentence.source, model.source_vocabulary));
  const Value last =
      model.kind->decodes ? running.decode(input_of(sentence.given, model.target_vocabulary), encoded) : *encoded;
  name(role::distribution, softmax(running.logits(last)));
}

// Every step of its decoder is given the word before.
void build(const EncoderDecoder& model, const TaskExample& sentence, Graph& graph) {
  evaluate(model, sentence.source, sentence.expected, graph);
}

// Of a row for each word, or of one matrix for each step.
Words most_probable_word(const Graph& graph) {
  Words words;
  for (const Node& node : graph.nodes()) {
    if (!node.is(role::distribution) || node.is_alias()) continue;
    for (std::size_t i = 0; i < node.frame.shape.rows; ++i) {
      const std::span<const double> shares = row(node.matrix(), i);
      const auto best = static_cast<std::size_t>(std::ranges::max_element(shares) - shares.begin());
      words.push_back(node.frame.columns.label(best));
    }
  }
  return words;
}

bool is_decoder_alone(const TrainedModel& model) {
  const Transformer* const transformer = std::get_if<Transformer>(&model);
  return transformer && !transformer->kind->encodes;
}

bool has_decoder(const TrainedModel& model) {
  const Transformer* const transformer = std::get_if<Transformer>(&model);
  return !transformer || transformer->kind->decodes;
}

Ids ids_in(const Words& words, const Vocabulary& vocabulary) { return attn::input_of(words, vocabulary).ids; }

}  // namespace

bool TrainedRun::is_right() const {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] != not_counted && (i >= comes_out.size() || comes_out[i] != expected[i])) return false;
  }
  return true;
}

TrainedRun run_on(const TrainedModel& model, const TaskExample& sentence) {
  TrainedRun run{.graph = std::make_shared<Graph>()};
  std::visit([&](const auto& any) { build(any, sentence, *run.graph); }, model);
  compute(*run.graph);
  run.goes_in =
      is_decoder_alone(model) ? words_of(sentence.given, words_out(model)) : words_of(sentence.source, words_in(model));
  run.expected = words_of(sentence.expected, words_out(model));
  for (std::size_t i = 0; i < run.expected.size(); ++i) {
    if (!sentence.counts_at(i)) run.expected[i] = not_counted;
  }
  if (std::ranges::all_of(run.expected, [](const std::string& word) { return word == not_counted; }))
    run.expected.clear();
  run.comes_out = most_probable_word(*run.graph);
  return run;
}

TaskExample sentence_of(const TrainedModel& model, const ModelWords& own, const std::string& text) {
  const Words words = own.of(text, false);
  if (words.empty()) fail("--text has no word: give a sentence");
  constexpr std::size_t most = 1000;
  if (words.size() > most) fail("--text has {} words: give at most {}", words.size(), most);
  const Vocabulary &in = words_in(model), &out = words_out(model);
  TaskExample sentence;
  const std::size_t start = id_in(out, start_word);
  if (is_decoder_alone(model)) {
    sentence.given = ids_in(words, out);
    if (start != 0 && sentence.given.front() != start) sentence.given.insert(sentence.given.begin(), start);
    return sentence;
  }
  sentence.source = ids_in(words, in);
  const std::size_t end = id_in(in, end_word);
  if (end != 0 && sentence.source.back() != end) sentence.source.push_back(end);
  if (!has_decoder(model)) return sentence;
  constexpr std::size_t more = 5;
  sentence.given.assign(sentence.source.size() + more, start);
  sentence.expected = sentence.given;
  sentence.expected = written(model, sentence);
  sentence.given = {start};
  sentence.given.insert(sentence.given.end(), sentence.expected.begin(), sentence.expected.end() - 1);
  sentence.counts.assign(sentence.expected.size(), false);  // the model wrote them itself
  return sentence;
}

std::vector<std::string> expected_at(const Node& weights, const TrainedModel& model, const TaskExample& sentence) {
  const NamedScope* const side = outermost(weights.place);
  const bool writes = has_decoder(model) ? !side || side->is(scope::decoder) : true;
  Words expected;
  if (!writes || weights.frame.shape.rows != sentence.expected.size()) return expected;
  for (std::size_t i = 0; i < sentence.expected.size(); ++i)
    expected.push_back(sentence.counts_at(i) ? words_out(model)[sentence.expected[i] - 1] : std::string());
  return expected;
}

// --- training heads

namespace {

constexpr std::size_t most_measured_sentences = 50;
constexpr std::size_t most_pictured = 16;

std::shared_ptr<const Matrix> numbers_of(const LearnedHeads& learned) {
  constexpr std::size_t before = 3;
  Matrix numbers({learned.heads.size(), before + target_count + 1});
  for (std::size_t h = 0; h < learned.heads.size(); ++h) {
    const HeadMeasure& head = learned.heads[h];
    numbers(h, 0) = static_cast<double>(head.queries);
    numbers(h, 1) = head.entropy;
    numbers(h, 2) = head.most_entropy;
    for (std::size_t t = 0; t < target_count; ++t) numbers(h, before + t) = head.shares[t];
    numbers(h, before + target_count) = head.of_expected.value_or(0.0);
  }
  return std::make_shared<const Matrix>(std::move(numbers));
}

Traced traced(const LearnedHeads& learned) {
  std::vector<std::string> columns = {"queries", "entropy", "most_entropy"};
  for (const std::string_view target : target_names()) columns.emplace_back(target);
  columns.emplace_back("word that should come out");
  const auto cells = numbers_of(learned);
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
      "For each head, over {} that {} held out from training: which keys have most of its weights, and how evenly it spreads them (its entropy in bits, and the most that it could be).",
      count_of(learned.sentences, "sentence"), learned.sentences == 1 ? "was" : "were"));
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
    std::vector<Traced> all = page.trace.matrices();
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

// --- training page

namespace {

constexpr int loss_digits = 4;

// Losses that are no longer of any use are written short.
std::string loss_in_words(double loss) {
  constexpr double largest = 1e5;
  if (std::isnan(loss)) return "NaN";
  return std::fabs(loss) < largest ? written_fixed(loss, loss_digits) : written_digits(loss, loss_digits);
}

// All that --recipe can choose.
std::string recipe_in_words(const ModelRecipe& recipe) {
  Words fields;
  for (const RecipeField& field : recipe_fields()) {
    if (field.is_rare && field.value(recipe) == field.value(ModelRecipe())) continue;
    fields.push_back(fmt::format("{} {}", field.of_what, field.told(recipe)));
  }
  return fmt::format("Its recipe: {}; {}.", fmt::join(fields, "; "), recipe.biases ? "with biases" : "without biases");
}

std::string kind_in_words(const Transformer& model) {
  const TransformerSizes& sizes = model.sizes;
  const ModelRecipe& recipe = model.recipe;
  const std::size_t layers = model.has_encoder() ? sizes.encoder_layers : sizes.decoder_layers;
  return fmt::format("A Transformer ({}): {}, {}, d_model = {}, {}; norms: {}; positions: {}.", model.kind->name,
                     count_of(layers, "layer"), count_of(sizes.heads, "head"), sizes.d_model,
                     sizes.d_ff == 0 ? std::string("attention alone") : fmt::format("d_ff = {}", sizes.d_ff),
                     recipe.norm->name, recipe.positions->name);
}

std::string kind_in_words(const EncoderDecoder& model) {
  return fmt::format("A recurrent encoder-decoder: cell {}, attention {}, states of size {}.", model.cell->name,
                     model.variant->name, model.state_size);
}

void add_model(Page& page, const Trainer& trainer, const TrainedModel& model) {
  page.head(2, "The model");
  page.say(std::visit([](const auto& any) { return kind_in_words(any); }, model));
  page.say(fmt::format("It has {} parameters, {} words that go in and {} that come out.",
                       with_commas(count_parameters(model)), words_in(model).size(), words_out(model).size()));
  if (const auto* const transformer = std::get_if<Transformer>(&model); transformer && trainer.task().learns_text)
    page.say(recipe_in_words(transformer->recipe));
  Listing listing{.columns = {"option", "value", "what it is"}, .rows = {}};
  for (const TrainingField& field : training_fields())
    listing.rows.push_back({std::string(field.name), field.told(trainer.options()), std::string(field.summary)});
  page.say(std::move(listing));
}

Series series(std::string name, const std::vector<CurvePoint>& curve, double (*value)(const CurvePoint&)) {
  Series points{std::move(name), {}, {}};
  for (const CurvePoint& point : curve) {
    points.x.push_back(static_cast<double>(point.step));
    points.y.push_back(value(point));
  }
  return points;
}

Plot accuracy_curve(const Trainer& trainer) {
  Plot plot{
      .title = "Share that is right, of what was held out",
      .x_name = "step",
      .series = {series("words", trainer.curve(), [](const CurvePoint& point) { return point.held_out.accuracy(); })}};
  if (trainer.task().has_right_sentences)
    plot.series.push_back(series("whole sentences", trainer.curve(),
                                 [](const CurvePoint& point) { return point.held_out.sentence_accuracy(); }));
  return plot;
}

// A table whose numbers are a matrix of the page.
void add_numbers(Page& page, const std::string& name, std::shared_ptr<const Matrix> cells, const Axis& rows,
                 const Axis& columns) {
  const Frame frame{cells->shape(), rows, columns};
  std::vector<Traced> all = page.trace.matrices();
  all.push_back(
      {.name = name, .formula = {name, "\\mathrm{" + name + "}"}, .frame = frame, .cells = [cells] { return cells; }});
  page.trace = Trace(std::move(all));
  page.say(Table{.title = name,
                 .array = name,
                 .rows = frame.rows,
                 .columns = frame.columns,
                 .cells = std::move(cells),
                 .columns_differ = true});
}

void add_table(Page& page, const Trainer& trainer) {
  const std::vector<CurvePoint>& curve = trainer.curve();
  const double guessing = loss_of_guessing(trainer.setup());
  const bool has_sentences = trainer.task().has_right_sentences;
  Words columns = {"loss", "held out", "guessing", "words", "rate", "gradient"};
  if (has_sentences) columns.insert(columns.end() - 2, "sentences");
  auto numbers = std::make_shared<Matrix>(Shape{curve.size(), columns.size()});
  Words steps;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const CurvePoint& point = curve[i];
    std::vector<double> row = {point.loss, point.held_out.loss, guessing, point.held_out.accuracy(),
                               point.rate, point.gradient_norm};
    if (has_sentences) row.insert(row.end() - 2, point.held_out.sentence_accuracy());
    std::ranges::copy(row, attn::row(*numbers, i).begin());
    steps.push_back(fmt::format("step {}", point.step));
  }
  add_numbers(page, "curve", std::move(numbers), axis("steps", steps), axis("measures", columns));
}

void add_goal(Page& page, const Task& task, const CurvePoint& last) {
  if (task.goal == 0.0) return page.say("The task states no goal.");
  if (last.held_out.words == 0) return;
  const Evaluation& held_out = last.held_out;
  page.say(fmt::format(
      "The goal of the task: at least {} of the held-out words that count are right. At step {}, {} of {} are: {}.",
      percent_of(task.goal), last.step, with_commas(held_out.right_words), with_commas(held_out.words),
      reaches_goal(task, held_out) ? "the goal is reached" : "the goal is not reached"));
}

// In bits, which do not depend on what the pieces of a text are.
double bits_of_character(const TaskSetup& setup, double loss) {
  return loss / elementary::log(2.0) / *setup.characters_of_word;
}

void add_references(Page& page, const Trainer& trainer, const CurvePoint& last) {
  const TaskSetup& setup = trainer.setup();
  if (setup.references.empty()) return;
  for (const ReferenceLoss& each : setup.references)
    page.say(fmt::format("\"{}\" means {}: its loss is {}.", each.name, each.what, loss_in_words(each.loss)));
  Words names = {"guessing"}, columns = {"loss"};
  std::vector<double> losses = {loss_of_guessing(setup)};
  for (const ReferenceLoss& each : setup.references) {
    names.push_back(each.name);
    losses.push_back(each.loss);
  }
  names.push_back(fmt::format("model, step {}", last.step));
  losses.push_back(last.held_out.loss);
  if (setup.characters_of_word) columns.emplace_back("bits");
  auto numbers = std::make_shared<Matrix>(Shape{losses.size(), columns.size()});
  for (std::size_t i = 0; i < losses.size(); ++i) {
    (*numbers)(i, 0) = losses[i];
    if (setup.characters_of_word) (*numbers)(i, 1) = bits_of_character(setup, losses[i]);
  }
  page.say(fmt::format("The loss on what was held out, by what is known of the text{}:",
                       setup.characters_of_word ? ", and the same in bits for each character" : ""));
  add_numbers(page, "compared", std::move(numbers), axis("what is known", names), axis("measures", columns));
}

void add_curve(Page& page, const Trainer& trainer, bool was_stopped) {
  const std::vector<CurvePoint>& curve = trainer.curve();
  page.head(2, "The curve");
  if (curve.empty()) return page.say("No step was made.");
  const CurvePoint& last = curve.back();
  page.say(fmt::format("{} {} of {}. At step {}: {}.", was_stopped ? "Stopped after step" : "Trained to step",
                       trainer.steps_done(), trainer.options().steps, last.step, standing_of(trainer, last.held_out)));
  page.say(fmt::format(
      "Guessing means to give each of {} words the same probability: its loss is ln {} = {}. "
      "The loss is the cross-entropy of a word, in natural units. "
      "\"held out\" is measured on {} that the model was never trained on.",
      trainer.setup().choices, trainer.setup().choices, written_fixed(loss_of_guessing(trainer.setup()), loss_digits),
      count_of(trainer.held_out().size(), "sentence")));
  add_references(page, trainer, last);
  page.say(fmt::format("What is counted: {}.", trainer.task().measure));
  add_goal(page, trainer.task(), last);
  page.say(loss_curve(trainer));
  page.say(accuracy_curve(trainer));
  page.say(
      "In the table, loss is the mean of the steps since the row before, and held out is the held-out loss at this step. "
      "Rate is the learning rate of the last step. "
      "Gradient is the norm of the gradient before clipping, the mean of the same steps.");
  add_table(page, trainer);
}

// What it continues at each point of the curve.
void add_samples(Page& page, const Trainer& trainer, const TrainedModel& model) {
  const std::vector<CurvePoint>& curve = trainer.curve();
  if (trainer.setup().prompt.empty() || curve.empty()) return;
  page.head(2, "What it writes");
  page.say(text("It continues ",
                strong(line_of(trainer.setup().words, words_of(trainer.setup().prompt, words_out(model)))),
                fmt::format(", each word sampled at temperature {}:", temperature_of_samples)));
  Listing listing{.columns = {"step", "it writes"}, .rows = {}, .headed = true};
  for (const CurvePoint& point : curve) listing.rows.push_back({fmt::format("{}", point.step), point.sample});
  page.say(std::move(listing));
}

void add_sentence(Page& page, const Trainer& trainer, const TrainedRun& run) {
  Listing listing{.columns = {"what", "words"}, .rows = {{"goes in", line_of(trainer.setup().words, run.goes_in)}}};
  if (!run.expected.empty()) listing.rows.push_back({"should come out", line_of(trainer.setup().words, run.expected)});
  listing.rows.push_back({"comes out", line_of(trainer.setup().words, run.comes_out)});
  page.say(std::move(listing));
}

void add_example(Page& page, const Trainer& trainer, const TrainedModel& model, const TaskExample& sentence) {
  page.head(2, "One sentence");
  const TrainedRun run = run_on(model, sentence);
  add_sentence(page, trainer, run);
  add_pictures(page, *run.graph);
}

// The same weights at each of the steps, head by head.
void add_comparison(Page& page, const Trainer& trainer, const TrainingTold& told) {
  page.head(2, "The same sentence at several steps");
  Listing listing{.columns = {"step", "held-out loss", "right", "comes out"}, .rows = {}, .headed = true};
  std::vector<TrainedRun> runs;
  std::vector<LearnedHeads> learned;
  for (const ModelAtStep& at : told.compared) {
    runs.push_back(run_on(at.model, told.sentence));
    learned.push_back(heads_of(at.model, trainer.held_out()));
    listing.rows.push_back({fmt::format("{}", at.step), loss_in_words(at.loss), percent(at.accuracy),
                            line_of(trainer.setup().words, runs.back().comes_out)});
  }
  page.say(fmt::format("Goes in: {}", line_of(trainer.setup().words, runs.front().goes_in)));
  if (!runs.front().expected.empty())
    page.say(fmt::format("Should come out: {}", line_of(trainer.setup().words, runs.front().expected)));
  page.say(std::move(listing));
  page.head(2, "The heads at several steps");
  const std::size_t heads = learned.front().heads.size();
  for (std::size_t h = 0; h < heads; ++h) {
    page.say(text(strong(learned.front().titles[h])));
    HeatMaps maps;
    Words labels;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Node& weights = *attention_weights(*runs[i].graph, std::nullopt)[h];
      maps.tables.push_back(table_of(weights));
      maps.tables.back().title = fmt::format("step {}", told.compared[i].step);
      const HeadLabel label = label_of(learned[i].heads[h]);
      labels.push_back(fmt::format("step {}: {}{}", told.compared[i].step, label.name,
                                   label.share ? " (" + percent_of(*label.share) + ")" : ""));
    }
    page.say(fmt::format("Attends to, over {}: {}.", count_of(learned.front().sentences, "held-out sentence"),
                         fmt::join(labels, "; ")));
    page.say(std::move(maps));
  }
}

}  // namespace

bool reaches_goal(const Task& task, const Evaluation& evaluation) {
  return task.goal > 0.0 && evaluation.words > 0 && evaluation.accuracy() >= task.goal;
}

std::string standing_of(const Trainer& trainer, const Evaluation& evaluation) {
  std::string standing =
      fmt::format("held-out loss {} (guessing: {}), {} of words right", loss_in_words(evaluation.loss),
                  loss_in_words(loss_of_guessing(trainer.setup())), percent(evaluation.accuracy()));
  if (trainer.task().has_right_sentences)
    standing += fmt::format(", {} of sentences right as a whole", percent(evaluation.sentence_accuracy()));
  return standing;
}

Text sample_of(const Trainer& trainer, const CurvePoint& point) {
  const TrainedModel model = trainer.model();
  return text(fmt::format("After {} it writes: ", count_of(point.step, "step")),
              strong(line_of(trainer.setup().words, words_of(trainer.setup().prompt, words_out(model)))), point.sample);
}

Plot loss_curve(const Trainer& trainer) {
  Plot plot{
      .title = "Loss of a word",
      .x_name = "step",
      .series = {series("in training", trainer.curve(), [](const CurvePoint& point) { return point.loss; }),
                 series("held out", trainer.curve(), [](const CurvePoint& point) { return point.held_out.loss; })}};
  Series guessing{"guessing", {}, {}};
  for (const CurvePoint& point : trainer.curve()) {
    guessing.x.push_back(static_cast<double>(point.step));
    guessing.y.push_back(loss_of_guessing(trainer.setup()));
  }
  plot.series.push_back(std::move(guessing));
  for (const ReferenceLoss& each : trainer.setup().references)
    plot.series.push_back(
        Series{each.name, plot.series.back().x, std::vector<double>(trainer.curve().size(), each.loss)});
  return plot;
}

void add_training(Page& page, const Trainer& trainer, const TrainingTold& told) {
  const Task& task = trainer.task();
  const TrainedModel model = trainer.model();
  page.head(1, fmt::format("Training: {}", task.name));
  page.say(std::string(task.summary));
  for (const std::string_view paragraph : task.about) page.say(std::string(paragraph));
  for (const std::string& paragraph : trainer.setup().about) page.say(paragraph);
  add_model(page, trainer, model);
  add_curve(page, trainer, told.was_stopped);
  add_samples(page, trainer, model);
  page.head(2, "What the heads do");
  add_heads(page, heads_of(model, trainer.held_out()));
  add_example(page, trainer, model, told.sentence);
  if (!told.compared.empty()) add_comparison(page, trainer, told);
  if (told.next.empty()) return;
  page.head(2, "What to try next");
  Margined list;
  for (const Text& line : told.next) list.lines.push_back({"- ", "  ", line});
  page.say(std::move(list));
}

}  // namespace attn
