#include "model/generation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attention/identities.hpp"
#include "command/model/choice.hpp"
#include "page/describe.hpp"
#include "support/error.hpp"
#include "support/number.hpp"
#include "support/parsed.hpp"

namespace attn {
namespace {

constexpr std::size_t usual_steps = 8, most_steps = 4096, most_shown = 4;

double number_of(const Arguments& arguments, const std::string& option, double usual, double most) {
  const std::optional<std::string> text = arguments.text(option);
  if (!text) return usual;
  const std::optional<double> value = parsed<double>(*text);
  if (!value || !std::isfinite(*value) || *value <= 0.0 || *value > most) {
    fail("--{}: '{}' is not a number above 0 and at most {}", option, *text, most);
  }
  return *value;
}

Sampling sampling_of(const Arguments& arguments) {
  constexpr double most_temperature = 1e6;
  Sampling sampling{.temperature = number_of(arguments, "temperature", 1.0, most_temperature),
                    .top_k = arguments.count("top-k", 1, most_cells).value_or(0),
                    .top_p = number_of(arguments, "top-p", 1.0, 1.0)};
  const bool samples = arguments.has("temperature") || arguments.has("top-k") || arguments.has("top-p") ||
                       arguments.has("sample");
  if (!samples && arguments.has("sample-seed")) {
    fail("--sample-seed belongs to --sample, --temperature, --top-k or --top-p: give one of them");
  }
  if (samples) {
    sampling.generator.emplace(static_cast<std::uint32_t>(
        arguments.count("sample-seed", 0, std::numeric_limits<std::uint32_t>::max()).value_or(1)));
  }
  return sampling;
}

std::size_t id_in(const std::vector<std::string>& vocabulary, std::string_view word) {
  const auto found = std::ranges::find(vocabulary, word);
  return found == vocabulary.end() ? 0 : static_cast<std::size_t>(found - vocabulary.begin()) + 1;
}

// Where an encoder gives the words, the decoder begins with <start> alone; a decoder alone continues a text.
ModelInput prompt_of(const ModelChoice& choice, const Arguments& arguments) {
  const std::size_t start = id_in(choice.model.target_vocabulary, "<start>");
  if (arguments.has("target") || start == 0 || !choice.model.kind->encodes) return choice.target;
  return {.tokens = {"<start>"}, .ids = {start}};
}

// Learned positions end somewhere.
std::size_t steps_of(const ModelChoice& choice, const ModelInput& prompt, const Arguments& arguments,
                     std::vector<std::string>& remarks) {
  const std::size_t asked = arguments.count("steps", 1, most_steps).value_or(usual_steps);
  const std::size_t places = choice.model.sizes.places;
  if (choice.model.positions != "learned" || places == 0) return asked;
  const std::size_t room = places >= prompt.size() ? places - prompt.size() + 1 : 0;
  if (room < asked && arguments.has("steps")) {
    remarks.push_back(fmt::format("only {} steps: {} positions were learned", room, places));
  }
  return std::min(asked, room);
}

std::string percent(double share) {
  return written_fixed(100.0 * share, 1) + " %";
}

std::string most_probable(const GenerationStep& step) {
  const std::span<const double> row = attn::row(step.distribution->matrix(), 0);
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
  std::string words;
  for (std::size_t i = 0; i < std::min(order.size(), most_shown); ++i) {
    if (row[order[i]] < 0.0005) break;  // it would be shown as 0.0 %
    words += fmt::format("{}{} {}", i ? ", " : "", step.distribution->frame.columns.label(order[i]),
                         percent(row[order[i]]));
  }
  return words;
}

std::string words_of(const std::vector<std::size_t>& ids, const Axis& vocabulary) {
  std::string words;
  for (const std::size_t id : ids) words += (words.empty() ? "" : " ") + vocabulary.label(id - 1);
  return words;
}

struct Run {
  std::shared_ptr<Graph> graph;
  std::vector<GenerationStep> steps;
};

// What the page shows, and what was asked for: a long text would keep every cache of every step otherwise.
Keep keep_shown(const std::optional<std::string>& only) {
  return [only](const Node& node) {
    const std::string_view leaf = node.leaf();
    const bool aligns = leaf == "weights" && node.name.find(".cross_attention.") != std::string::npos;
    return aligns || leaf == "distribution" || leaf == "limited" || leaf == "alignment" ||
           (only && !node.name.empty() && matches(*only, node.name));
  };
}

// How many words go through the model when they all go in again at every step.
std::size_t words_without_cache(const GenerationTask& task, std::size_t steps) {
  return steps * task.prompt.size() + steps * (steps - 1) / 2;
}

// With --only, all that is remembered may be kept at every step; without the cache every step has a mask.
void require_moderate(const ModelChoice& choice, const GenerationTask& task, const Arguments& arguments) {
  const TransformerSizes& sizes = choice.model.sizes;
  const double words = static_cast<double>(words_without_cache(task, task.steps));
  const double longest = static_cast<double>(task.prompt.size() + task.steps);
  const double caches = words * static_cast<double>(4 * sizes.layers * sizes.d_model);
  const double masks = words * longest * static_cast<double>(task.cache == Cache::none);
  if (masks + (arguments.has("only") ? caches : 0.0) <= static_cast<double>(most_cells)) return;
  fail("{} steps would keep too many numbers with {}: give fewer --steps", task.steps,
       task.cache == Cache::none ? "--no-cache" : "--only");
}

Run run_of(const ModelChoice& choice, const GenerationTask& task, const Sampling& sampling,
           const std::optional<std::string>& only = std::nullopt) {
  Run run{.graph = std::make_shared<Graph>(keep_shown(only)), .steps = {}};
  RunningTransformer running(choice.model, *run.graph);
  std::optional<Value> encoded;
  if (choice.model.kind->encodes) encoded = running.encode(choice.source);
  run.steps = generate(running, *run.graph, task, encoded, sampling);
  check_overflow(*run.graph);
  return run;
}

void add_ledger(Page& page, const Run& run) {
  const Axis& vocabulary = run.steps.front().distribution->frame.columns;
  Listing listing{{"step", "goes in", "from the cache", "multiply-adds", "chosen", "most probable"}, {}};
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const GenerationStep& step = run.steps[i];
    listing.rows.push_back({fmt::format("{}.", i + 1), words_of(step.went_in, vocabulary),
                            fmt::format("{} cached", step.remembered),
                            with_commas(step.multiply_adds) + " products",
                            "→ " + vocabulary.label(step.chosen - 1), most_probable(step)});
  }
  page.blocks.emplace_back(std::move(listing));
}

// The last layer's attention to the source, a row for each word that was written; heads are averaged.
void add_alignment(Page& page, Graph& graph, const ModelChoice& choice, const Run& run) {
  const std::size_t heads = choice.model.sizes.heads;
  std::vector<Value> rows_of_steps;
  std::vector<std::string> words;
  for (std::size_t i = 1; i <= run.steps.size(); ++i) {
    const std::string scope =
        fmt::format("step.{}.decoder.{}.cross_attention.", i, choice.model.sizes.layers);
    std::optional<Value> sum;
    for (std::size_t head = 1; head <= heads; ++head) {
      const Node& node = graph.at(scope + (heads > 1 ? fmt::format("head.{}.", head) : "") + "weights");
      const Value weights = rows(graph.value(node), node.frame.shape.rows - 1, 1);
      sum = sum ? add(*sum, weights) : weights;
    }
    const std::string notation = std::to_string(heads);
    rows_of_steps.push_back(heads > 1 ? divide(*sum, {static_cast<double>(heads), {notation, notation}})
                                      : *sum);
    words.push_back(run.steps[i - 1].distribution->frame.columns.label(run.steps[i - 1].chosen - 1));
  }
  const Value stacked = rows_of_steps.size() == 1 ? rows_of_steps.front() : stack(rows_of_steps);
  const Value alignment = name("alignment", labelled(stacked, axis("outputs", words)));
  page.trace.push_back(&alignment.node());
  page.blocks.emplace_back(Heading{2, text("Alignment")});
  page.blocks.emplace_back(Prose{text("Where each written word looked in the source, in the last layer.")});
  Table table = table_of(alignment.node());
  table.heat = Heat::weights;
  page.blocks.emplace_back(std::move(table));
}

// The same with every word going in again at every step.
void add_comparison(Page& page, const ModelChoice& choice, GenerationTask task, const Sampling& sampling,
                    const Run& run) {
  constexpr double most_work = 2e10;  // some seconds
  const std::size_t steps = run.steps.size();
  const double per_word = static_cast<double>(run.steps.back().multiply_adds) /
                          static_cast<double>(run.steps.back().went_in.size());
  const double expected = per_word * static_cast<double>(words_without_cache(task, steps));
  page.blocks.emplace_back(Heading{2, text("With and without the cache")});
  if (expected > most_work) {
    page.blocks.emplace_back(Prose{text(
        fmt::format("Not compared: without the cache {} steps would take some {:.1g} multiply-adds. Fewer "
                    "--steps are compared.",
                    steps, expected))});
    return;
  }
  task.cache = task.cache == Cache::kept ? Cache::none : Cache::kept;
  const Run other = run_of(choice, task, sampling);
  double difference = 0.0;
  bool same = other.steps.size() == run.steps.size();
  std::uint64_t work = 0, other_work = 0;
  for (std::size_t i = 0; i < run.steps.size() && same; ++i) {
    same = other.steps[i].chosen == run.steps[i].chosen;
    difference = std::max(difference, largest_difference(run.steps[i].distribution->matrix(),
                                                         other.steps[i].distribution->matrix()));
    work += run.steps[i].multiply_adds;
    other_work += other.steps[i].multiply_adds;
  }
  const bool cached = task.cache == Cache::none;
  page.blocks.emplace_back(Prose{text(fmt::format(
      "{} words. With the cache {} multiply-adds, without it {}. The largest "
      "difference of a probability is {}.",
      same ? "Both write the same" : "They write different", with_commas(cached ? work : other_work),
      with_commas(cached ? other_work : work), written_difference(difference)))});
}

}  // namespace

Outcome run_generate(const Command&, const Arguments& arguments) {
  Arguments chosen = arguments;
  const bool told = arguments.has("model") || arguments.has("parameters") || arguments.has("size") ||
                    arguments.has("kind") || arguments.has("layers") || arguments.has("d-model") ||
                    arguments.has("heads") || arguments.has("d-ff") || arguments.has("norm") ||
                    arguments.has("positions") || arguments.has("seed");
  if (!told) chosen.options.emplace("model", std::string(model_examples().front().name));
  ModelChoice choice = chosen_model(chosen, "encoder-decoder");
  if (!choice.model.kind->decodes) fail("attn generate needs a decoder, and this model has none");
  if (choice.memory || choice.target.x) {
    fail("attn generate needs words: this model has no embeddings of the target, or vectors are given");
  }
  const GenerationTask task = [&] {
    GenerationTask result{.prompt = prompt_of(choice, arguments)};
    result.steps = steps_of(choice, result.prompt, arguments, choice.remarks);
    result.end = id_in(choice.model.target_vocabulary, "<end>");
    result.cache = arguments.has("no-cache") ? Cache::none : Cache::kept;
    return result;
  }();
  if (task.steps == 0) {
    fail("the text has {} words and {} positions were learned: there is no place left to write",
         task.prompt.size(), choice.model.sizes.places);
  }
  const Sampling sampling = sampling_of(arguments);
  require_moderate(choice, task, arguments);
  const std::optional<std::string> only = arguments.text("only");
  const Run run = run_of(choice, task, sampling, only);

  Page page{.graph = run.graph, .problem = nullptr, .trace = {}, .blocks = {}};
  const Axis& vocabulary = run.steps.front().distribution->frame.columns;
  if (only) {
    page.trace = run.graph->matching(*only);
    for (const Node* node : page.trace) add_results(page, {node});
    return {.page = std::move(page),
            .warnings = choice.remarks,
            .files = saved_parameters(arguments, choice.model)};
  }
  page.blocks.emplace_back(
      Heading{1, text(choice.model.title.empty() ? std::string("Generation") : choice.model.title)});
  for (const std::string& paragraph : choice.model.about) page.blocks.emplace_back(Prose{text(paragraph)});
  std::vector<std::size_t> written;
  for (const GenerationStep& step : run.steps) {
    written.push_back(step.chosen);
    page.trace.push_back(step.distribution);
  }
  if (choice.model.kind->encodes) {
    std::string source;
    for (const std::string& word : choice.source.tokens) source += (source.empty() ? "" : " ") + word;
    page.blocks.emplace_back(Prose{text("Source: ", strong(source))});
  }
  page.blocks.emplace_back(Prose{text("Given: ", strong(words_of(task.prompt.ids, vocabulary)))});
  page.blocks.emplace_back(Prose{text("Written: ", strong(words_of(written, vocabulary)))});
  page.blocks.emplace_back(Heading{2, text("Step by step")});
  page.blocks.emplace_back(Prose{text(
      "What goes in, for how many words keys and values were remembered, what was multiplied anew, what was "
      "chosen, and what the model held to be most probable.")});
  add_ledger(page, run);
  if (choice.model.kind->crosses) add_alignment(page, *run.graph, choice, run);
  add_comparison(page, choice, task, sampling, run);
  return {.page = std::move(page),
          .warnings = choice.remarks,
          .files = saved_parameters(arguments, choice.model)};
}

}  // namespace attn
