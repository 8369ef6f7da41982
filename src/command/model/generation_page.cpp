#include "command/model/generation_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "attention/identities.hpp"
#include "attention/scale.hpp"
#include "command/model/generation.hpp"
#include "support/number.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

constexpr std::size_t most_shown = 4;

std::string percent(double share) {
  return fmt::format("{:.1f}\u00A0%", 100.0 * share);
}

std::string most_probable(const GenerationStep& step) {
  const std::span<const double> row = attn::row(step.distribution->matrix(), 0);
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
  std::string words;
  for (std::size_t i = 0; i < std::min(order.size(), most_shown); ++i) {
    if (i > 0 && row[order[i]] < 0.0005) break;  // it would be shown as 0.0 %
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

// How words are chosen, where that is not greedy.
std::vector<std::string> sampling_in_words(const Sampling& sampling) {
  std::vector<std::string> how;
  if (sampling.generator) how.emplace_back("each word is sampled");
  if (sampling.temperature != 1.0)
    how.push_back(fmt::format("the logits are divided by {}", sampling.temperature));
  if (sampling.top_k != 0)
    how.push_back(sampling.top_k == 1
                      ? "only the most probable word is kept"
                      : fmt::format("only the {} most probable words are kept", sampling.top_k));
  if (sampling.top_p < 1.0) {
    how.push_back(
        fmt::format("only the most probable words are kept that together have a probability of {} or more",
                    sampling.top_p));
  }
  return how;
}

// Title and description of the model, and the texts that go in and come out.
void add_texts(Page& page, const ModelChoice& choice, const GenerationPlan& plan, const GenerationRun& run) {
  const Transformer& model = choice.model;
  const Axis& vocabulary = run.steps.front().distribution->frame.columns;
  page.blocks.emplace_back(Heading{1, text(model.title.empty() ? std::string("Generation") : model.title)});
  if (!model.summary.empty()) page.blocks.emplace_back(Prose{text(model.summary)});
  for (const std::string& paragraph : model.about) page.blocks.emplace_back(Prose{text(paragraph)});
  if (model.kind->encodes) {
    page.blocks.emplace_back(
        Prose{text("Source: ", strong(fmt::format("{}", fmt::join(choice.source.tokens, " "))))});
  }
  std::vector<std::size_t> written;
  for (const GenerationStep& step : run.steps) {
    written.push_back(step.chosen);
    page.trace.add(*step.distribution);
  }
  page.blocks.emplace_back(Prose{text("Given: ", strong(words_of(plan.task.prompt.ids, vocabulary)))});
  page.blocks.emplace_back(Prose{text("Written: ", strong(words_of(written, vocabulary)))});
  // What is written last does not go in.
  const std::size_t went_in = plan.task.prompt.size() + written.size() - 1;
  if (went_in == model.most_words(model.sizes.target_places) && written.back() != plan.task.end) {
    page.blocks.emplace_back(
        Prose{text(fmt::format("The model has learned {}, and none is left. It cannot write more words.",
                               count_of(went_in, "position")))});
  }
}

void add_ledger(Page& page, const GenerationRun& run, const Sampling& sampling) {
  const Axis& vocabulary = run.steps.front().distribution->frame.columns;
  Listing listing{{"step", "goes in", "from the cache", "multiply-adds", "chosen",
                   sampling.is_plain() ? "most probable" : "chosen from"},
                  {}};
  page.head(2, "Step by step");
  page.say(fmt::format(
      "Each line: the new input words, the number of cached positions, the multiply-adds (MACs) of "
      "this step, the chosen word, and the most probable words (at most {}).",
      most_shown));
  if (const std::vector<std::string> how = sampling_in_words(sampling); !how.empty())
    page.say(fmt::format("Sampling: {}.{}", fmt::join(how, "; "),
                         sampling.is_plain() ? "" : " The probabilities are those after these changes."));
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const GenerationStep& step = run.steps[i];
    listing.rows.push_back({fmt::format("{}.", i + 1), words_of(step.went_in, vocabulary),
                            fmt::format("{} cached", step.remembered),
                            with_commas(step.multiply_adds) + " MACs",
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
    const std::vector<ScopeName> attention = {{scope::step, i},
                                              scope::decoder,
                                              {scope::number, choice.model.sizes.decoder_layers},
                                              scope::cross_attention};
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
    rows_of_steps.push_back(heads > 1 ? divide(*sum, {static_cast<double>(heads), {notation, notation}})
                                      : *sum);
    words.push_back(run.steps[i - 1].distribution->frame.columns.label(run.steps[i - 1].chosen - 1));
  }
  const Value stacked = rows_of_steps.size() == 1 ? rows_of_steps.front() : stack(rows_of_steps);
  const Value alignment = name(role::alignment, labelled(stacked, axis("outputs", words)));
  page.trace.add(alignment.node());
  page.head(2, "Alignment");
  page.say(
      fmt::format("The attention weights of the last layer's cross-attention{}: a row for each written word.",
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
    most = std::max(most,
                    largest_difference(a.steps[i].distribution->matrix(), b.steps[i].distribution->matrix()));
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
void add_comparison(Page& page, const ModelChoice& choice, GenerationPlan plan, const GenerationRun& run) {
  constexpr double most_work = 2e10;  // some seconds
  const std::size_t steps = run.steps.size();
  const double per_word = static_cast<double>(run.steps.back().multiply_adds) /
                          static_cast<double>(run.steps.back().went_in.size());
  const double expected = per_word * static_cast<double>(words_without_cache(plan.task, steps));
  page.blocks.emplace_back(Heading{2, text("With and without the cache")});
  if (expected > most_work) {
    page.blocks.emplace_back(Prose{text(fmt::format(
        "Not compared: without the cache, {} steps would take about {:.1g} multiply-adds. Give fewer --steps "
        "to compare.",
        steps, expected))});
    return;
  }
  const bool cached = plan.task.cache == Cache::kept;
  plan.task.cache = cached ? Cache::none : Cache::kept;
  const GenerationRun other = run_of(choice, plan);
  const bool same =
      std::ranges::equal(run.steps, other.steps, {}, &GenerationStep::chosen, &GenerationStep::chosen);
  page.say(fmt::format(
      "{} words. With the cache, the steps take {} multiply-adds. Without it, they take {}.{} The largest "
      "difference between their probabilities{} is {}.",
      same ? "Both ways write the same" : "The two ways write different",
      with_commas(multiply_adds_of(cached ? run : other)),
      with_commas(multiply_adds_of(cached ? other : run)), cost_of_encoder(run),
      same ? "" : ", up to the first different word,", written_difference(difference_of(run, other))));
  if (!counts_keys(choice.model.recipe.scale) || choice.model.sizes.decoder_layers < 2) return;
  page.say(fmt::format(
      "With the scale {}, the two ways are different computations from the second step on. The scores are "
      "divided by the square root of the number of keys, which grows with each word. Without the cache, the "
      "earlier words are computed again with the new divisor. With the cache, their keys and values stay as "
      "they were, computed with a smaller divisor. In the first layer this makes no difference, because keys "
      "and values there do not come from attention.",
      choice.model.recipe.scale));
}

}  // namespace

void add_generation(Page& page, const ModelChoice& choice, const GenerationPlan& plan,
                    const GenerationRun& run) {
  add_texts(page, choice, plan, run);
  add_ledger(page, run, plan.sampling);
  if (choice.model.kind->crosses) add_alignment(page, choice, run);
  add_comparison(page, choice, plan, run);
}

}  // namespace attn
