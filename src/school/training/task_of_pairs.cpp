#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "core/model/encoder_decoder.hpp"
#include "core/support/error.hpp"
#include "data/problem/model_words.hpp"
#include "school/training/task.hpp"

namespace attn {

namespace {

constexpr std::string_view about_pairs[] = {
    "The pairs are the reader's own: from each first sentence the model learns to write the second one. "
    "An encoder reads the first; a decoder writes the second word by word, and attends to the words of the first (cross-attention).",
    "Every tenth pair of the file, and at least one, is held out. "
    "With few pairs a model can memorize them: "
    "then its loss in training falls, and that of the pairs held out may not.",
};

std::vector<std::string> with_end(const std::string& sentence) {
  std::vector<std::string> words = split_words(sentence);
  words.emplace_back(end_word);
  return words;
}

Transformer model_of(const std::vector<TextPair>& pairs, const SizeChanges& changes) {
  Transformer model{.kind = &both_sides(), .recipe = recipe_with("pre", "rms", "sinusoidal")};
  model.sizes =
      with_size_changes({.encoder_layers = 1, .decoder_layers = 1, .d_model = 32, .heads = 2, .d_ff = 64}, changes);
  model.target_vocabulary = {std::string(start_word), std::string(end_word)};
  std::vector<std::string> sources, targets;
  for (const TextPair& pair : pairs) {
    for (const std::string& word : with_end(pair.source)) sources.push_back(word);
    for (const std::string& word : split_words(pair.target)) targets.push_back(word);
  }
  const auto different = [](std::vector<std::string>& words) {
    std::ranges::sort(words);
    words.erase(std::unique(words.begin(), words.end()), words.end());
  };
  different(sources);
  different(targets);
  model.source_vocabulary = sources;
  model.target_vocabulary = with_new_words(std::move(model.target_vocabulary), targets);
  model.sizes.source_words = model.source_vocabulary.size();
  model.sizes.target_words = model.target_vocabulary.size();
  model.title = "Own pairs, trained";
  model.recipe.scale_embeddings = false;
  return model;
}

// The ids of words that all have one. A large vocabulary is not searched for each.
class KnownIds {
 public:
  explicit KnownIds(const Vocabulary& vocabulary) {
    for (std::size_t i = 0; i < vocabulary.size(); ++i) ids_.emplace(vocabulary[i], i + 1);
  }

  Ids of(const std::vector<std::string>& words) const {
    Ids ids;
    for (const std::string& word : words) ids.push_back(ids_.at(word));
    return ids;
  }

 private:
  std::unordered_map<std::string_view, std::size_t> ids_;
};

std::vector<TaskExample> examples_of(const std::vector<TextPair>& pairs, const Transformer& model) {
  std::vector<TaskExample> examples;
  const KnownIds sources(model.source_vocabulary), targets(model.target_vocabulary);
  for (const TextPair& pair : pairs) {
    TaskExample example{.source = sources.of(with_end(pair.source)),
                        .given = targets.of({std::string(start_word)}),
                        .expected = targets.of(with_end(pair.target))};
    example.given.insert(example.given.end(), example.expected.begin(), example.expected.end() - 1);
    examples.push_back(std::move(example));
  }
  return examples;
}

// Every tenth, or the last one of fewer; what has the same first sentence is held out with it.
std::set<Ids> held_out_of(const std::vector<TaskExample>& examples) {
  constexpr std::size_t every = 10;
  std::set<Ids> held_out;
  for (std::size_t i = every - 1; i < examples.size(); i += every) held_out.insert(examples[i].source);
  if (held_out.empty()) held_out.insert(examples.back().source);
  return held_out;
}

TaskSetup set_up_pairs(const TaskRequest& request) {
  Transformer model = model_of(request.pairs, request.sizes);
  const std::vector<TaskExample> examples = examples_of(request.pairs, model);
  const std::set<Ids> held_out = held_out_of(examples);
  std::vector<TaskExample> training, kept;
  for (const TaskExample& example : examples) (held_out.contains(example.source) ? kept : training).push_back(example);
  if (training.empty())
    fail(
        "there are only pairs with the same first sentence: give two pairs with different ones, one to train on and one to hold out");
  return {
      .model = std::move(model),
      .data = {.longest = BatchShape::of(examples, 1),
               .draw = [training](Generator& generator) { return training[uniform_index(training.size(), generator)]; },
               .held_out = std::move(kept)},
      .defaults = {.steps = 1000, .batch = 32, .rate = 3e-3}};
}

}  // namespace

const Task pairs_task{.name = "pairs",
                      .summary = "sentences of your own, from a text file of pairs",
                      .about = about_pairs,
                      .measure = "words of the second sentence, each given the right ones before it",
                      .goal = 0.0,
                      .example = "",
                      .needs_pairs = true,
                      .set_up = set_up_pairs};

}  // namespace attn
