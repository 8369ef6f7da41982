#include <algorithm>

#include "training/tasks.hpp"

namespace attn {
namespace {

constexpr std::string_view about[] = {
    "The last number must come first, and the first one last. The word at position i of the output is that "
    "at "
    "position n + 1 − i of the input, so each position needs the word at another position, and nothing else "
    "of "
    "the sentence.",
    "Without attention each position sees only its own word. The position of the word that it needs depends "
    "on "
    "its own position alone, not on the words: queries and keys can tell it from the positional encoding.",
};

constexpr std::size_t length = 16, digits = 10;

TaskExample draw(Generator& generator) {
  TaskExample example;
  for (std::size_t i = 0; i < length; ++i) example.source.push_back(any_of(digits, generator) + 1);
  example.expected.assign(example.source.rbegin(), example.source.rend());
  return example;
}

TaskSetup set_up(const TaskRequest& request) {
  Vocabulary words;
  for (std::size_t i = 0; i < digits; ++i) words.push_back(std::to_string(i));
  const TransformerSizes sizes =
      changed({.encoder_layers = 1, .d_model = 32, .heads = 1, .d_ff = 64}, request.sizes);
  Transformer model = one_sided(encoder_only(), words, sizes, recipe_with("pre", "rms", "sinusoidal"));
  model.title = "Reverse, trained";
  model.summary = "An encoder that writes a sequence of digits backwards.";
  model.recipe.scale_embeddings = false;
  return {.model = std::move(model),
          .data = {.longest = {.source = length, .expected = length}, .draw = draw},
          .defaults = {.steps = 400, .batch = 128, .rate = 3e-3, .evaluate_every = 50}};
}

}  // namespace

const Task reverse_task{.name = "reverse",
                        .summary = "a sequence of 16 digits backwards",
                        .about = about,
                        .measure = "digits of the reversed sequence",
                        .goal = 0.98,
                        .example = "3 1 4 1 5 9 2 6 5 3 5 8 9 7 9 3",
                        .set_up = set_up};

}  // namespace attn
