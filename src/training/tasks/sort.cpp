#include <algorithm>

#include "training/tasks.hpp"

namespace attn {
namespace {

constexpr std::string_view about[] = {
    "The letters must come in the order of the alphabet. Which letter belongs at position i depends on all "
    "letters of the input: how many there are of each.",
    "Attention can bring this together, because its weighted sum is over all positions. Positions of the "
    "output "
    "differ in their query, so that they can look for different letters.",
};

constexpr std::size_t length = 6;
const Vocabulary letters = {"a", "b", "c", "d"};

TaskExample draw(Generator& generator) {
  TaskExample example;
  for (std::size_t i = 0; i < length; ++i) example.source.push_back(any_of(letters.size(), generator) + 1);
  example.expected = example.source;
  std::ranges::sort(example.expected);
  return example;
}

TaskSetup set_up(const TaskRequest& request) {
  const TransformerSizes sizes =
      changed({.encoder_layers = 2, .d_model = 32, .heads = 2, .d_ff = 64}, request.sizes);
  Transformer model = one_sided(encoder_only(), letters, sizes, recipe_with("pre", "rms", "sinusoidal"));
  model.title = "Sort, trained";
  model.summary = "An encoder that puts letters into the order of the alphabet.";
  model.recipe.scale_embeddings = false;
  return {.model = std::move(model),
          .data = {.longest = {.source = length, .expected = length}, .draw = draw},
          .defaults = {
              .steps = 400, .batch = 32, .schedule = &falling_rate(), .rate = 3e-3, .evaluate_every = 50}};
}

}  // namespace

const Task sort_task{.name = "sort",
                     .summary = "six letters in the order of the alphabet",
                     .about = about,
                     .measure = "letters of the sorted sequence",
                     .goal = 0.98,
                     .example = "c a d b a c",
                     .set_up = set_up};

}  // namespace attn
