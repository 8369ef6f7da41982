#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "command/model/all_words.hpp"
#include "command/model/asked_positions.hpp"
#include "command/model/choice.hpp"
#include "command/model/model_run.hpp"
#include "command/model/words_of_sides.hpp"
#include "core/attention/score.hpp"
#include "core/attention/watches.hpp"
#include "core/graph/plan.hpp"
#include "core/math/difference.hpp"
#include "core/math/rows.hpp"
#include "core/model/generation.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "data/parameters/transformer_parameters.hpp"
#include "data/problem/problem.hpp"
#include "page/block/page.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/lens_tables.hpp"

namespace attn {

namespace {

// --- generation

// A text that a model wrote: its steps and their graph.
struct GenerationRun {
  std::shared_ptr<Graph> graph;
  std::vector<GenerationStep> steps;
  std::uint64_t encoder_multiply_adds = 0;  // once, before the steps; 0: the model has no encoder
};

// The texts that beam search kept, and their graph.
struct BeamRun {
  std::shared_ptr<Graph> graph;
  std::vector<BeamStep> steps;
};

// How a text is to be written.
struct GenerationPlan {
  GenerationTask task;
  Sampling sampling;
};

constexpr std::size_t usual_steps = 8;

std::size_t steps_asked(const Arguments& arguments) { return arguments.count(option::steps).value_or(usual_steps); }

// There are only so many learned positions; the last word written does not go in.
std::size_t steps_of(const Transformer& model, const ModelInput& prompt, const Arguments& arguments) {
  const std::size_t asked = steps_asked(arguments);
  const std::optional<std::size_t> places = model.most_words(model.sizes.target_places);
  if (!places) return asked;
  if (next_position(prompt) > *places) {
    fail("the text needs {}, but the model has vectors for only {}: give fewer words",
         count_of(next_position(prompt), "position"), *places);
  }
  return std::min(asked, *places - next_position(prompt) + 1);
}

// How many words go through the model when they all go in again at every one of so many steps.
std::size_t words_without_cache(const GenerationTask& task, std::size_t steps) {
  return steps * task.prompt.size() + steps * (steps - 1) / 2;
}

// With --only or --against, all that is remembered may be kept at every step; without the cache every step
// has a mask.
void require_moderate(const ModelChoice& choice, const GenerationTask& task, const Arguments& arguments) {
  const TransformerSizes& sizes = choice.model.sizes;
  const double words = static_cast<double>(words_without_cache(task, task.steps));
  const double longest = static_cast<double>(task.prompt.size() + task.steps);
  const double caches = words * static_cast<double>(4 * sizes.decoder_layers * sizes.d_model);
  const double masks = words * longest * static_cast<double>(task.cache == Cache::none);
  const Option* const keeps_all = arguments.has(option::only)      ? &option::only
                                  : arguments.has(option::against) ? &option::against
                                                                   : nullptr;
  if (masks + (keeps_all ? caches : 0.0) <= static_cast<double>(most_cells)) return;
  fail("{} steps would keep too many numbers with {}: give fewer --steps", task.steps,
       keeps_all && task.cache != Cache::none ? keeps_all->name : option::no_cache.name);
}

// Every step adds its own matrices to the graph.
void require_few_matrices(const ModelChoice& choice, const GenerationTask& task, std::size_t texts) {
  Graph graph;
  RunningTransformer running(choice.model, graph);
  std::optional<Value> encoded;
  if (choice.model.kind->encodes) encoded = running.encode(choice.source);
  const std::size_t before = graph.nodes().size();
  running.logits(running.decode(task.prompt, encoded));
  const std::size_t of_step = texts * (graph.nodes().size() - before);
  if (task.steps <= (most_nodes - std::min(before, most_nodes)) / of_step) return;
  fail("{} steps of this model would take about {} matrices, more than {}: give fewer --steps", task.steps,
       before + task.steps * of_step, most_nodes);
}

// The matrices that match, and the scores behind weights that do: the tables of weights show which are
// masked.
Keep keep_shown(const std::string& pattern) {
  return [pattern](const Node& node) {
    if (node.name.empty()) return false;
    const Node* const weights = node.is(role::masked) ? node.beside(role::weights) : nullptr;
    return matches(pattern, node.name) || (weights && matches(pattern, weights->name));
  };
}

// What the page shows, and what was asked for. A long text would keep every cache of every step otherwise.
Keep keep_for_page(const std::optional<std::string>& only) {
  return [asked = only ? keep_shown(*only) : keep_nothing()](const Node& node) {
    constexpr std::array shown = {&role::distribution, &role::limited, &role::alignment};
    const bool aligns = node.is(role::weights) && node.within(scope::cross_attention);
    return aligns || std::ranges::any_of(shown, [&](const Role* role) { return node.is(*role); }) || asked(node);
  };
}

// How the words are chosen. Throws InputError for numbers that make no sense.
Sampling sampling_of(const Arguments& arguments) {
  Sampling sampling{.temperature = arguments.number(option::temperature).value_or(1.0),
                    .top_k = arguments.count(option::top_k).value_or(0),
                    .top_p = arguments.number(option::top_p).value_or(1.0)};
  const bool samples = arguments.has(option::temperature) || arguments.has(option::top_k) ||
                       arguments.has(option::top_p) || arguments.has(option::sample);
  if (samples) {
    sampling.generator.emplace(static_cast<std::uint32_t>(arguments.count(option::sample_seed).value_or(1)));
  }
  return sampling;
}

// What the options of attn generate ask a model to write, as far as its learned positions go.
// Throws InputError: no words to go on from, no place left, more than memory would hold.
GenerationTask generation_task(const ModelChoice& choice, const Arguments& arguments) {
  if (choice.memory || choice.target.x) {
    fail("attn generate needs words, but the target has no embeddings here, or is given as vectors");
  }
  if (!choice.model.recipe.causal_decoder) {
    fail("attn generate needs a causal decoder: in this model words attend to those that are not written yet");
  }
  GenerationTask task{.prompt = choice.target};
  task.steps = steps_of(choice.model, task.prompt, arguments);
  task.ends = choice.words.ends_in(choice.model.target_vocabulary);
  task.cache = arguments.has(option::no_cache) || arguments.has(option::beams) ? Cache::none : Cache::kept;
  require_moderate(choice, task, arguments);
  require_few_matrices(choice, task, arguments.count(option::beams).value_or(1));
  return task;
}

// A remark, where learned positions end before the --steps that were asked for.
std::optional<std::string> remark_on_steps(const GenerationTask& task, const Arguments& arguments) {
  if (!arguments.has(option::steps) || steps_asked(arguments) == task.steps) return std::nullopt;
  return fmt::format("only {:# step is|# steps are} possible, because the model has vectors for {}", Count{task.steps},
                     count_of(next_position(task.prompt) + task.steps - 1, "position"));
}

// A graph for what a model writes, what runs in it, and its encoded source.
struct Writing {
  Writing(const ModelChoice& choice, const std::optional<std::string>& only)
      : graph(std::make_shared<Graph>(keep_for_page(only))), running(choice.model, *graph) {
    watch(*graph);
    if (choice.model.kind->encodes) encoded = running.encode(choice.source);
  }

  std::shared_ptr<Graph> graph;
  RunningTransformer running;
  std::optional<Value> encoded;
};

// Lets the model write. Kept is what a page on it shows, and what matches `only`. Throws InputError for
// numbers that overflow.
GenerationRun run_of(const ModelChoice& choice, const GenerationPlan& plan,
                     const std::optional<std::string>& only = std::nullopt) {
  Writing writing(choice, only);
  GenerationRun run{.graph = writing.graph, .steps = {}};
  run.encoder_multiply_adds = work_of(*run.graph).cost.multiply_adds;
  run.steps = generate(writing.running, *run.graph, plan.task, writing.encoded, plan.sampling);
  compute_watched(*run.graph);
  return run;
}

// The same for beam search.
BeamRun beams_of(const ModelChoice& choice, const GenerationTask& task, std::size_t beams,
                 const std::optional<std::string>& only) {
  Writing writing(choice, only);
  BeamRun run{writing.graph, beam_search(writing.running, *writing.graph, task, writing.encoded, beams)};
  compute_watched(*run.graph);
  return run;
}

// --- generation page

constexpr std::size_t most_words_shown = 4;

std::string most_probable(const GenerationStep& step) {
  return most_probable_words(row(step.distribution->matrix(), 0), step.distribution->frame.columns, most_words_shown);
}

std::string words_in_axis(const std::vector<std::size_t>& ids, const Axis& vocabulary) {
  std::string words;
  for (const std::size_t id : ids) words += (words.empty() ? "" : " ") + vocabulary.label(id - 1);
  return words;
}

std::vector<std::size_t> words_written(const std::vector<GenerationStep>& steps) {
  std::vector<std::size_t> written;
  for (const GenerationStep& step : steps) written.push_back(step.chosen);
  return written;
}

// Of a whole text, which may be small.
std::string percent_of_text(double log_probability) {
  constexpr int digits = 3;
  return written_digits(100.0 * std::exp(log_probability), digits) + " %";
}

// How words are chosen, where that is not greedy.
std::vector<std::string> sampling_in_words(const Sampling& sampling) {
  std::vector<std::string> how;
  if (sampling.generator) how.emplace_back("each word is sampled");
  if (sampling.temperature != 1.0) how.push_back(fmt::format("the logits are divided by {}", sampling.temperature));
  if (sampling.top_k != 0)
    how.push_back(
        fmt::format("only the {:most probable word is|# most probable words are} kept", Count{sampling.top_k}));
  if (sampling.top_p < 1.0) {
    how.push_back(fmt::format("only the fewest most probable words are kept whose probabilities sum to at least {}",
                              sampling.top_p));
  }
  return how;
}

// Title and description of the model, and the texts that go in and come out.
void add_texts(Page& page, const ModelChoice& choice, const GenerationTask& task,
               const std::vector<std::size_t>& written, const Axis& vocabulary) {
  const Transformer& model = choice.model;
  page.blocks.emplace_back(Heading{1, text(model.title.empty() ? std::string("Generation") : model.title)});
  if (!model.summary.empty()) page.blocks.emplace_back(Prose{text(model.summary)});
  for (const std::string& paragraph : model.about) page.blocks.emplace_back(Prose{text(paragraph)});
  if (model.kind->encodes) {
    page.blocks.emplace_back(Prose{text("Source: ", strong(fmt::format("{}", fmt::join(choice.source.tokens, " "))))});
  }
  page.blocks.emplace_back(Prose{text("Given: ", strong(choice.words.text_of(task.prompt.ids, *vocabulary.labels)))});
  page.blocks.emplace_back(Prose{text(choice.drawn_with ? "Written with random numbers: " : "Written: ",
                                      strong(choice.words.text_of(written, *vocabulary.labels)))});
  // What is written last does not go in.
  const std::size_t taken = next_position(task.prompt) + written.size() - 1;
  if (taken == model.most_words(model.sizes.target_places) && !task.ends_with(written.back())) {
    page.blocks.emplace_back(Prose{text(fmt::format(
        "The model has vectors for {}, and none is left. It cannot write more words.", count_of(taken, "position")))});
  }
}

void add_ledger(Page& page, const GenerationRun& run, const Sampling& sampling) {
  const Axis& vocabulary = run.steps.front().distribution->frame.columns;
  Listing listing{{"step", "goes in", "from the cache", "multiply-adds", "chosen",
                   sampling.is_plain() ? "most probable" : "chosen from"},
                  {}};
  page.head(2, "Step by step");
  page.say(fmt::format(
      "Each line: the new input words, the number of cached positions, the multiply-adds (MACs) of this step, the chosen word, and the most probable words (at most {}).",
      most_words_shown));
  if (const std::vector<std::string> how = sampling_in_words(sampling); !how.empty())
    page.say(fmt::format("Sampling: {}.{}", fmt::join(how, "; "),
                         sampling.is_plain() ? "" : " The probabilities are shown after these changes."));
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const GenerationStep& step = run.steps[i];
    listing.rows.push_back({fmt::format("{}.", i + 1), words_in_axis(step.went_in, vocabulary),
                            fmt::format("{} cached", step.remembered), with_commas(step.multiply_adds) + " MACs",
                            "→ " + vocabulary.label(step.chosen - 1), most_probable(step)});
  }
  page.blocks.emplace_back(std::move(listing));
}

// The last layer's attention to the source, a row for each word that was written; heads are averaged.
void add_alignment(Page& page, const ModelChoice& choice, const GenerationRun& run) {
  Graph& graph = *run.graph;
  const std::size_t heads = choice.model.sizes.heads;
  std::vector<Value> rows_of_steps;
  Matrix scores({run.steps.size(), choice.source.size()}, 0.0);  // −∞ where a key is masked
  std::vector<std::string> words;
  for (std::size_t i = 1; i <= run.steps.size(); ++i) {
    const std::vector<ScopeName> attention = {
        {scope::step, i}, scope::decoder, {scope::number, choice.model.sizes.decoder_layers}, scope::cross_attention};
    std::optional<Value> sum;
    std::vector<const Node*> of_heads;
    for (std::size_t head = 1; head <= heads; ++head) {
      std::vector<ScopeName> scopes = attention;
      if (heads > 1) scopes.emplace_back(scope::head, head);
      of_heads.push_back(&graph.at({std::move(scopes), role::weights}));
      const Node& node = *of_heads.back();
      const Value weights = rows(Value(node), node.frame.shape.rows - 1, 1);
      sum = sum ? add(*sum, weights) : weights;
    }
    const Table last = table_of(*of_heads.front());
    for (std::size_t j = 0; last.scores && j < scores.shape().columns; ++j) {
      scores(i - 1, j) = (*last.scores)(last.scores->shape().rows - 1, j);
    }
    const std::string notation = std::to_string(heads);
    rows_of_steps.push_back(heads > 1 ? divide(*sum, {static_cast<double>(heads), {notation, notation}}) : *sum);
    words.push_back(run.steps[i - 1].distribution->frame.columns.label(run.steps[i - 1].chosen - 1));
  }
  const Value stacked = rows_of_steps.size() == 1 ? rows_of_steps.front() : stack(rows_of_steps);
  const Value alignment = name(role::alignment, labelled(stacked, axis("outputs", words)));
  page.trace.add(alignment.node());
  page.head(2, "Alignment");
  page.say(fmt::format("The attention weights of the last layer's cross-attention{}: a row for each written word.",
                       heads > 1 ? fmt::format(", averaged over {} heads", heads) : ""));
  Table table = table_of(alignment.node());
  table.scores = std::make_shared<const Matrix>(std::move(scores));
  page.blocks.emplace_back(std::move(table));
}

std::uint64_t multiply_adds_of(const GenerationRun& run) {
  std::uint64_t sum = 0;
  for (const GenerationStep& step : run.steps) sum += step.multiply_adds;
  return sum;
}

// Up to the first word in which they differ: after it their inputs differ too.
double difference_of(const GenerationRun& a, const GenerationRun& b) {
  double most = 0.0;
  for (std::size_t i = 0; i < std::min(a.steps.size(), b.steps.size()); ++i) {
    most = std::max(most, largest_difference(a.steps[i].distribution->matrix(), b.steps[i].distribution->matrix()));
    if (a.steps[i].chosen != b.steps[i].chosen) break;
  }
  return most;
}

// What counts nothing in the steps, because it is the same in both.
std::string cost_of_encoder(const GenerationRun& run) {
  if (run.encoder_multiply_adds == 0) return "";
  return fmt::format(" The encoder runs once before the steps and adds {} to both.",
                     with_commas(run.encoder_multiply_adds));
}

// The same with every word going in again at every step.
void add_whole_recomputation(Page& page, const ModelChoice& choice, GenerationPlan plan, const GenerationRun& run) {
  constexpr double most_work = 2e10;  // some seconds
  const std::size_t steps = run.steps.size();
  const double per_word =
      static_cast<double>(run.steps.back().multiply_adds) / static_cast<double>(run.steps.back().went_in.size());
  const double expected = per_word * static_cast<double>(words_without_cache(plan.task, steps));
  page.blocks.emplace_back(Heading{2, text("With and without the cache")});
  if (steps == 1) {
    page.say("Both ways write the same words. The first step is computed alike, and there is only one.");
    return;
  }
  if (expected > most_work) {
    page.blocks.emplace_back(
        Prose{text(fmt::format("Not compared: without the cache, {} steps would take about {:.1g} multiply-adds. "
                               "Give fewer --steps to compare.",
                               steps, expected))});
    return;
  }
  const bool cached = plan.task.cache == Cache::kept;
  plan.task.cache = cached ? Cache::none : Cache::kept;
  plan.task.tell = {};
  const GenerationRun other = run_of(choice, plan);
  const bool same = std::ranges::equal(run.steps, other.steps, {}, &GenerationStep::chosen, &GenerationStep::chosen);
  page.say(
      fmt::format("{} words. With the cache, the steps take {} multiply-adds. "
                  "Without it, they take {}.{} The largest difference between their probabilities{} is {}.",
                  same ? "Both ways write the same" : "The two ways write different",
                  with_commas(multiply_adds_of(cached ? run : other)),
                  with_commas(multiply_adds_of(cached ? other : run)), cost_of_encoder(run),
                  same ? "" : ", up to the first different word,", written_difference(difference_of(run, other))));
  if (!counts_keys(choice.model.recipe.scale) || choice.model.sizes.decoder_layers < 2) return;
  page.say(fmt::format(
      "With the scale {}, the two ways are different computations from the second step on. "
      "The scores are divided by the square root of the number of keys, which grows with each word. "
      "Without the cache, the earlier words are computed again with the new divisor. "
      "With the cache, their keys and values stay as they were, computed with a smaller divisor. "
      "In the first layer this makes no difference, because keys and values there do not come from attention.",
      choice.model.recipe.scale));
}

// What was given and written, a ledger of the steps, where each word looked in the source, and what the same
// takes with and without the cache.
void add_generation(Page& page, const ModelChoice& choice, const GenerationPlan& plan, const GenerationRun& run) {
  for (const GenerationStep& step : run.steps) page.trace.add(*step.distribution);
  add_texts(page, choice, plan.task, words_written(run.steps), run.steps.front().distribution->frame.columns);
  add_ledger(page, run, plan.sampling);
  if (choice.model.kind->crosses) add_alignment(page, choice, run);
  add_whole_recomputation(page, choice, plan, run);
}

void add_kept_texts(Page& page, const BeamRun& run, std::size_t beams, const Axis& vocabulary) {
  page.head(2, "Beam search");
  page.say(
      fmt::format("Each line: the {} most probable of all texts that the line before and one more word give. "
                  "The probability of a text is the product of those of its words.",
                  beams));
  Listing listing{{"step", "texts"}, {}};
  for (const BeamStep& step : run.steps) {
    std::string texts;
    for (const Beam& beam : step.kept) {
      texts += fmt::format("{}{} {}", texts.empty() ? "" : ", ", words_in_axis(beam.words, vocabulary),
                           percent_of_text(beam.log_probability));
    }
    listing.rows.push_back({fmt::format("{}.", listing.rows.size() + 1), std::move(texts)});
  }
  page.blocks.emplace_back(std::move(listing));
}

// What beam search keeps, and what greedy decoding writes in its place.
void add_beams(Page& page, const ModelChoice& choice, const GenerationPlan& plan, const BeamRun& run,
               std::size_t beams) {
  const Axis& vocabulary = run.steps.front().distributions.front()->frame.columns;
  for (const BeamStep& step : run.steps) {
    for (const Node* distribution : step.distributions) page.trace.add(*distribution);
  }
  const Beam& best = run.steps.back().kept.front();
  add_texts(page, choice, plan.task, best.words, vocabulary);
  add_kept_texts(page, run, beams, vocabulary);
  const GenerationRun greedy = run_of(choice, plan);
  double log_probability = 0.0;
  for (const GenerationStep& step : greedy.steps)
    log_probability += std::log(step.distribution->matrix()(0, step.chosen - 1));
  page.head(2, "Greedy decoding");
  page.say(text(
      "The most probable word at each step gives ", strong(words_in_axis(words_written(greedy.steps), vocabulary)),
      fmt::format(" ({}). Beam search gives ", percent_of_text(log_probability)),
      strong(words_in_axis(best.words, vocabulary)), fmt::format(" ({}).", percent_of_text(best.log_probability))));
}

// --- generate

// Options that tell of a model, its kind or its sizes. Words alone do not.
constexpr const Option* choosing_a_model[] = {
    &option::example, &option::model,    &option::parameters, &option::size,    &option::layers, &option::heads,
    &option::kind,    &option::kv_heads, &option::no_bias,    &option::d_model, &option::d_ff,   &option::seed};

// As many of the words so far as fit into a line.
std::string last_words_written(const std::vector<GenerationStep>& steps) {
  constexpr std::size_t most_bytes = 60;
  std::string words;
  for (std::size_t i = steps.size(); i-- > 0;) {
    const std::string word = steps[i].distribution->frame.columns.label(steps[i].chosen - 1);
    if (words.size() + word.size() > most_bytes) return "… " + words;
    words = word + (words.empty() ? "" : " ") + words;
  }
  return words;
}

// Queries that have no key but padding.
void warn_of_padding(const ModelChoice& choice, std::vector<std::string>& warnings) {
  const auto is_blank = [](bool blank) { return blank; };
  const std::vector<bool>&source = choice.source.blank, &target = choice.target.blank;
  if (!source.empty() && std::ranges::all_of(source, is_blank)) {
    warnings.emplace_back(
        "the source is only padding: every key of the cross-attention is masked, and its weights are set to 0");
  }
  if (!target.empty() && target.front()) {
    warnings.emplace_back(
        "the target begins with padding: every key is masked for its first query, and its weights are set to 0");
  }
}

// How it writes greedily, all words going in at every step.
WordWriter writer_of(const ModelChoice& choice, const GenerationTask& task) {
  const auto model = std::make_shared<const ModelChoice>(choice);
  return {.most = task.steps,
          .ends = [task](std::size_t id) { return task.ends_with(id); },
          .told =
              [model](const std::vector<std::size_t>& ids) {
                return model->words.text_of(ids, model->model.target_vocabulary);
              },
          .run =
              [model, prompt = task.prompt](const std::vector<std::size_t>& written) {
                ModelChoice longer = *model;
                longer.target = with_words(prompt, written, model->model.target_vocabulary);
                auto graph = std::make_shared<Graph>(keep_nothing());
                run_model(longer, *graph);
                return graph;
              }};
}

}  // namespace

// --- generate

// Without an option for the model, one that is set by hand says more than random numbers.
Answer run_generate(const Command&, const Arguments& arguments) {
  constexpr ModelUse use{
      .command = "generate", .usual_kind = "encoder-decoder", .needs = ModelUse::Needs::decoder, .writes = true};
  Arguments asked = arguments;
  if (!arguments.has_any(choosing_a_model) && !arguments.has_any(recipe_options()))
    asked.put(option::example, std::string(model_examples().front().name));
  ModelChoice choice = planned_model(asked, use);
  const bool is_random = choice.model.parameters.empty();
  if (is_random) require_drawable(choice.model);
  GenerationPlan plan{generation_task(choice, arguments), sampling_of(arguments)};
  plan.task.tell = [&](const std::vector<GenerationStep>& steps) { arguments.tell(last_words_written(steps)); };
  if (auto remark = remark_on_steps(plan.task, arguments)) choice.remarks.push_back(*std::move(remark));
  choice = with_drawn_parameters(std::move(choice), arguments, use);
  warn_of_padding(choice, choice.remarks);
  Page page;
  std::shared_ptr<Graph> graph;
  std::vector<std::size_t> written;
  if (const std::optional<std::size_t> beams = arguments.count(option::beams)) {
    const BeamRun run = beams_of(choice, plan.task, *beams, arguments.only());
    if (!arguments.narrows()) add_beams(page, choice, plan, run, *beams);
    graph = run.graph;
    written = run.steps.back().kept.front().words;
  } else {
    const GenerationRun run = run_of(choice, plan, arguments.only());
    if (!arguments.narrows()) add_generation(page, choice, plan, run);
    graph = run.graph;
    written = words_written(run.steps);
  }
  const std::uint32_t seed = model_seed(arguments);
  const std::string random = is_random ? note_on_random_parameters(use, *choice.model.kind, seed) : std::string();
  Answer answer{.page = std::move(page),
                .warnings = choice.remarks,
                .files = saved_parameters(arguments, choice.model),
                .computation = {.graph = std::move(graph), .random = random, .drawings = choice.drawings}};
  answer.attachments.put(model_rerun(choice));
  if (!plan.sampling.generator && !arguments.has(option::beams)) answer.attachments.put(writer_of(choice, plan.task));
  if (arguments.has(option::page)) show_all_words(answer, choice, plan.task, std::move(written));
  return answer;
}

}  // namespace attn
