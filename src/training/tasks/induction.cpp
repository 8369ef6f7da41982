#include <algorithm>
#include <numeric>

#include "training/tasks.hpp"

namespace attn {
namespace {

constexpr std::size_t length = 24, shortest = 5, longest = 12, period = 8;

constexpr std::string_view about[] = {
    "A block of letters, 5 to 12, comes again somewhere later; no other letter comes twice. Within the "
    "second "
    "copy the next letter is the one that followed the same letter before. The model is a decoder, and only "
    "the letters of the second copy behind its first one count.",
    "The usual solution takes two steps, in two layers. A position must learn which letter stands before it: "
    "attention to "
    "the "
    "previous position does that (a previous-token head). Then a letter can look for the position that has "
    "the "
    "same letter before it, and copy what stands there (an induction head).",
};
constexpr std::string_view about_fixed[] = {
    "A block of 8 random letters comes three times. So the next letter is always the one 8 positions before.",
    "The model of the task induction learns this quickly, but it need not compare any letters: it can attend "
    "by "
    "position alone. On a text whose block has another length it then fails. The task shows what the data of "
    "the "
    "task induction are for.",
};

Vocabulary alphabet() {
  Vocabulary letters;
  for (char letter = 'a'; letter < 'a' + static_cast<char>(length); ++letter) letters.emplace_back(1, letter);
  return letters;
}

// A text as what goes in and what should come next, of which some places count.
TaskExample of_text(const Ids& text, const std::vector<bool>& counts) {
  return {.given = Ids(text.begin(), text.end() - 1),
          .expected = Ids(text.begin() + 1, text.end()),
          .counts = std::vector<bool>(counts.begin() + 1, counts.end())};
}

// The first letters of a random order of all.
Ids different_letters(std::size_t count, Generator& generator) {
  Ids all(length);
  std::iota(all.begin(), all.end(), std::size_t{1});
  for (std::size_t i = 0; i < count; ++i) std::swap(all[i], all[i + any_of(length - i, generator)]);
  all.resize(count);
  return all;
}

TaskExample draw(Generator& generator) {
  const std::size_t block = shortest + any_of(longest - shortest + 1, generator);
  const Ids letters = different_letters(length - block, generator);
  // The block, and behind it or later its copy.
  const std::size_t first = any_of(length - 2 * block + 1, generator);
  const std::size_t second = first + block + any_of(length - 2 * block - first + 1, generator);
  Ids text(letters.begin(), letters.begin() + static_cast<std::ptrdiff_t>(second));
  for (std::size_t i = 0; i < block; ++i) text.push_back(letters[first + i]);
  text.insert(text.end(), letters.begin() + static_cast<std::ptrdiff_t>(second), letters.end());
  std::vector<bool> counts(length, false);
  for (std::size_t i = 1; i < block; ++i) counts[second + i] = true;
  return of_text(text, counts);
}

TaskExample draw_fixed(Generator& generator) {
  Ids text;
  std::vector<bool> counts;
  for (std::size_t i = 0; i < length; ++i) {
    text.push_back(i < period ? any_of(length, generator) + 1 : text[i - period]);
    counts.push_back(i >= period);
  }
  return of_text(text, counts);
}

TaskSetup set_up_with(const TaskRequest& request, TaskExample (*draw_text)(Generator&)) {
  const TransformerSizes sizes = changed(
      {.encoder_layers = 2, .decoder_layers = 2, .d_model = 32, .heads = 2, .d_ff = 0}, request.sizes);
  Transformer model = one_sided(decoder_only(), alphabet(), sizes, recipe_with("none", "layer", "learned"));
  model.summary =
      "A decoder of attention alone that continues a text in which a block of letters comes again.";
  model.recipe.scale_embeddings = false;
  model.recipe.biases = false;
  model.sizes.target_places = length;
  return {.model = std::move(model),
          .data = {.longest = {.given = length - 1, .expected = length - 1}, .draw = draw_text},
          .defaults = {
              .steps = 500, .batch = 32, .schedule = &falling_rate(), .rate = 1e-2, .evaluate_every = 50}};
}

TaskSetup set_up(const TaskRequest& request) {
  TaskSetup setup = set_up_with(request, draw);
  std::get<Transformer>(setup.model).title = "Induction, trained";
  return setup;
}

TaskSetup set_up_fixed(const TaskRequest& request) {
  TaskSetup setup = set_up_with(request, draw_fixed);
  std::get<Transformer>(setup.model).title = "Induction with a fixed period, trained";
  setup.defaults.rate = 3e-3;
  setup.defaults.steps = 300;
  return setup;
}

}  // namespace

const Task induction_task{.name = "induction",
                          .summary = "the next letter of a block that comes again",
                          .about = about,
                          .measure = "letters of the second copy behind its first one",
                          .goal = 0.95,
                          .example = "q f a m t c k w h a m t c k w",
                          .set_up = set_up};

const Task fixed_induction_task{.name = "induction-fixed",
                                .summary = "the same with a block that comes again after exactly 8 letters",
                                .about = about_fixed,
                                .measure = "letters of the second and third copy",
                                .goal = 0.99,
                                .example = "q f a m t c k w q f a m t c k w q f a m t c k",
                                .set_up = set_up_fixed};

}  // namespace attn
