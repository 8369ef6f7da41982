#include "school/training/training_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/math/elementary_functions.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/model_words.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/heads.hpp"
#include "school/training/learned_heads.hpp"
#include "school/training/loss_graph.hpp"
#include "school/training/trained_run.hpp"

namespace attn {

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
  for (const RecipeField* field : recipe_fields()) {
    if (field->is_rare && field->value(recipe) == field->value(ModelRecipe())) continue;
    fields.push_back(fmt::format("{} {}", field->of_what, field->told(recipe)));
  }
  return fmt::format("Its recipe: {}; {}.", fmt::join(fields, "; "), recipe.biases ? "with biases" : "without biases");
}

// Where they stand, and their kind where it is not the usual one.
std::string norms_in_words(const ModelRecipe& recipe) {
  const bool is_usual = recipe.norm_kind == ModelRecipe().norm_kind;
  return is_usual ? std::string(recipe.norm->name) : fmt::format("{}, {}", recipe.norm->name, recipe.norm_kind->title);
}

std::string sentence_on(const Transformer& model) {
  const TransformerSizes& sizes = model.sizes;
  const ModelRecipe& recipe = model.recipe;
  const std::size_t layers = model.has_encoder() ? sizes.encoder_layers : sizes.decoder_layers;
  return fmt::format("A Transformer ({}): {}, {}, d_model = {}, {}; norms: {}; positions: {}.", model.kind->name,
                     count_of(layers, "layer"), count_of(sizes.heads, "head"), sizes.d_model,
                     sizes.d_ff == 0 ? std::string("attention alone") : fmt::format("d_ff = {}", sizes.d_ff),
                     norms_in_words(recipe), recipe.positions->name);
}

std::string sentence_on(const EncoderDecoder& model) {
  return fmt::format("A recurrent encoder-decoder: cell {}, attention {}, states of size {}.", model.cell->name,
                     model.variant->name, model.state_size);
}

void add_model(Page& page, const Trainer& trainer, const TrainedModel& model) {
  page.head(2, "The model");
  page.say(kind_in_words(model));
  page.say(fmt::format("It has {} parameters, {} words that go in and {} that come out.",
                       with_commas(count_parameters(model)), words_in(model).size(), words_out(model).size()));
  if (const auto* const transformer = std::get_if<Transformer>(&model); transformer && trainer.task().learns_text)
    page.say(recipe_in_words(transformer->recipe));
  Listing listing{.columns = {"option", "value", "what it is"}, .rows = {}};
  for (const TrainingField& field : training_fields())
    listing.rows.push_back({std::string(field.name), field.told(trainer.options()), std::string(field.summary)});
  page.say(std::move(listing));
}

Series series_of_curve(std::string name, const std::vector<CurvePoint>& curve, double (*value)(const CurvePoint&)) {
  Series points{std::move(name), {}, {}};
  for (const CurvePoint& point : curve) {
    points.x.push_back(static_cast<double>(point.step));
    points.y.push_back(value(point));
  }
  return points;
}

Plot accuracy_curve(const Trainer& trainer) {
  Plot plot{.title = "Share that is right, of what was held out",
            .x_name = "step",
            .series = {series_of_curve("words", trainer.curve(),
                                       [](const CurvePoint& point) { return point.held_out.accuracy(); })}};
  if (trainer.task().has_right_sentences)
    plot.series.push_back(series_of_curve("whole sentences", trainer.curve(),
                                          [](const CurvePoint& point) { return point.held_out.sentence_accuracy(); }));
  return plot;
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
void add_weights_by_step(Page& page, const Trainer& trainer, const TrainingReport& told) {
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

std::string kind_in_words(const TrainedModel& model) {
  return std::visit([](const auto& any) { return sentence_on(any); }, model);
}

void add_numbers(Page& page, const std::string& name, std::shared_ptr<const Matrix> cells, const Axis& rows,
                 const Axis& columns) {
  const Frame frame{cells->shape(), rows, columns};
  std::vector<TracedMatrix> all = page.trace.matrices();
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
      .series = {
          series_of_curve("in training", trainer.curve(), [](const CurvePoint& point) { return point.loss; }),
          series_of_curve("held out", trainer.curve(), [](const CurvePoint& point) { return point.held_out.loss; })}};
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

void add_training(Page& page, const Trainer& trainer, const TrainingReport& told) {
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
  if (!told.compared.empty()) add_weights_by_step(page, trainer, told);
  if (told.beside) told.beside->add_to(page);
  if (told.next.empty()) return;
  page.head(2, "What to try next");
  ParagraphsWithMargins list;
  for (const Text& line : told.next) list.lines.push_back({"- ", "  ", line});
  page.say(std::move(list));
}

}  // namespace attn
