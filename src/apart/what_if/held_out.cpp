#include "apart/what_if/held_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apart/change/changed_matrix.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/number_pair.hpp"
#include "core/support/text.hpp"
#include "school/training/task.hpp"

namespace attn {

double cross_entropy_of(std::span<const double> logits, std::size_t id) {
  const double largest = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (const double logit : logits) sum += std::exp(logit - largest);
  return largest + std::log(sum) - logits[id - 1];
}

std::optional<std::size_t> most_probable_id(std::span<const double> logits) {
  if (std::ranges::any_of(logits, [](double logit) { return std::isnan(logit); })) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin()) + 1;
}

double mean_cross_entropy(const Matrix& logits, const std::vector<std::size_t>& ids) {
  double sum = 0.0;
  for (std::size_t i = 0; i < ids.size(); ++i) sum += cross_entropy_of(row(logits, i), ids[i]);
  return sum / static_cast<double>(ids.size());
}

namespace {

// What a model gets right.
struct Score {
  std::size_t words = 0, sentences = 0;
  double loss = 0.0;

  void add(const Matrix& logits, const TaskExample& example) {
    bool is_right = true;
    for (std::size_t i = 0; i < example.expected.size(); ++i) {
      if (!example.counts_at(i)) continue;
      const std::span<const double> all = row(logits, i);
      const std::optional<std::size_t> most = most_probable_id(all);
      if (most == example.expected[i]) ++words;
      is_right = is_right && most == example.expected[i];
      loss += cross_entropy_of(all, example.expected[i]);
    }
    sentences += is_right ? 1 : 0;
  }
};

std::size_t words_that_count(const TaskExample& example) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < example.expected.size(); ++i) count += example.counts_at(i) ? 1u : 0u;
  return count;
}

bool is_labelled_with(const Axis& axis, const Vocabulary& words) { return axis.labels && *axis.labels == words; }

// The words that go in and those that come out are those of the task, in its order: told before anything is computed.
void require_words(const Graph& graph, const TaskSetup& setup, const TaskExample& example, const std::string& task) {
  const Node* const logits = result_of(graph);
  const Node* const source = graph.find(Name({scope::source_embedding}, role::e));
  const bool know_source =
      example.source.empty() ? !source : source && is_labelled_with(source->frame.rows, words_in(setup.model));
  const bool fits = know_source && logits && logits->is(role::logits) &&
                    is_labelled_with(logits->frame.columns, words_out(setup.model));
  if (!fits)
    fail("--held-out {}: this model does not know the words of that task. Give the task that it learned", task);
}

// What is said of too few positions is meant for the words of a command line.
std::shared_ptr<Graph> on_example(const ModelRerun& on_other_words, const TaskExample& example,
                                  const std::string& task) {
  try {
    return on_other_words.run(example.source, example.given);
  } catch (const InputError&) {
    fail(
        "--held-out {}: this model cannot compute on sentences of that task, such as one of {}. Give the task that it learned",
        task, count_of(std::max(example.source.size(), example.given.size()), "word"));
  }
}

}  // namespace

void add_held_out(Page& page, const Graph& graph, const ModelRerun* on_other_words, const std::string& name,
                  std::span<const Alteration> alterations) {
  const Task& task = look_up(tasks(), name, "task");
  if (task.needs_pairs) fail("--held-out {}: its sentences are in a file of pairs, which is not here", name);
  if (!on_other_words) fail("--held-out {}: it needs a model that knows words, as with transformer --model NAME", name);
  if (task.is_recurrent) fail("--held-out {}: its model is a recurrent one, which attn align runs", name);
  const TaskSetup setup = set_up(task, {});
  const std::vector<TaskExample> examples = held_out_examples(setup.data, setup.held_out);
  require_words(graph, setup, examples.front(), name);
  Score before, now;
  std::size_t words = 0;
  for (const TaskExample& example : examples) {
    const std::shared_ptr<Graph> other = on_example(*on_other_words, example, name);
    const Node& logits = *result_of(*other);
    Rewriting again(*other, combined_change(*other, alterations));
    before.add(logits.matrix(), example);
    now.add(again.of(logits).node().matrix(), example);
    words += words_that_count(example);
  }
  const auto line = [&](const std::string& when, const Score& score) -> std::vector<std::string> {
    return {when, fmt::format("{} of {}", score.words, words),
            fmt::format("{} of {}", score.sentences, examples.size()),
            written_value(score.loss / static_cast<double>(words))};
  };
  page.head(2, "Held-out sentences");
  page.say(fmt::format("{} of the task {} that its training never sees. The loss is the mean cross-entropy of the {}s.",
                       count_of(examples.size(), task.one_sentence), task.name, task.one_word));
  page.say(Listing{{"", fmt::format("right {}s", task.one_word), fmt::format("right {}s", task.one_sentence), "loss"},
                   {line("before", before), line("now", now)},
                   true});
  page.say(Records{
      "held_out",
      {"when", "right_words", "words", "right_sentences", "sentences", "loss"},
      {{std::string("before"), std::uint64_t{before.words}, std::uint64_t{words}, std::uint64_t{before.sentences},
        std::uint64_t{examples.size()}, before.loss / static_cast<double>(words)},
       {std::string("now"), std::uint64_t{now.words}, std::uint64_t{words}, std::uint64_t{now.sentences},
        std::uint64_t{examples.size()}, now.loss / static_cast<double>(words)}}});
}

}  // namespace attn
