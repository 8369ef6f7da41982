#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "training/tasks.hpp"

namespace attn {
namespace {

constexpr std::string_view about[] = {
    "\"The animal didn't cross the street because it was too tired\": what is tired is the animal. With "
    "\"wide\" it "
    "is the street. At the position of \"it\" the model must name the noun that is meant; no other position "
    "counts.",
    "The noun depends on the adjective, which stands behind \"it\", and on which nouns the sentence has. So "
    "\"it\" "
    "must bring together words of three positions. Some pairs of words, such as a noun with an adjective, "
    "never "
    "stand in one sentence of training: only sentences with such a pair are held out.",
};

// The words of a kind, of which some pairs with those of another kind are held out.
using Kind = std::array<std::string_view, 8>;
constexpr std::array<std::string_view, 16> animals = {"animal", "dog",   "cat",    "horse", "cow",  "sheep",
                                                      "bird",   "duck",  "rabbit", "fox",   "goat", "pig",
                                                      "donkey", "mouse", "bear",   "wolf"};
constexpr std::array<std::string_view, 12> things = {"street", "road",  "river",  "bridge",
                                                     "field",  "lake",  "hill",   "stream",
                                                     "path",   "canal", "tunnel", "garden"};
constexpr Kind of_animals = {"cross", "enter", "leave", "pass", "use", "like", "reach", "visit"};
constexpr Kind of_things = {"stop", "scare", "tempt", "please", "attract", "hide", "hurt", "help"};
constexpr Kind states_of_animals = {"tired", "hungry", "scared", "old", "young", "sleepy", "weak", "lazy"};
constexpr Kind states_of_things = {"wide", "deep", "long", "steep", "narrow", "muddy", "dark", "icy"};
constexpr std::array<std::string_view, 3> negations = {"didn't", "couldn't", "wouldn't"};

using Words = std::span<const std::string_view>;

// The <first> didn't <verb> the <second> because it was too <state>.
constexpr std::size_t place_of_first = 1, place_of_verb = 3, place_of_second = 5, place_of_it = 7,
                      place_of_state = 10, length = 11;

Vocabulary all_words() {
  Vocabulary words = {"The", "the", "because", "it", "was", "too"};
  for (const Words kind : {Words(negations), Words(animals), Words(things), Words(of_animals),
                           Words(of_things), Words(states_of_animals), Words(states_of_things)})
    words.insert(words.end(), kind.begin(), kind.end());
  return words;
}

// Where a word stands in its kind, or nothing.
std::optional<std::size_t> place_in(Words kind, std::string_view word) {
  const auto found = std::ranges::find(kind, word);
  if (found == kind.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kind.begin());
}

// A quarter of all pairs of words of two kinds is never trained on.
bool are_apart(Words kind, std::string_view word, Words other_kind, std::string_view other) {
  const std::optional<std::size_t> place = place_in(kind, word), other_place = place_in(other_kind, other);
  return place && other_place && (*place + *other_place) % 4 == 0;
}

bool is_held_out(const TaskExample& example, const Vocabulary& vocabulary) {
  const auto word = [&](std::size_t place) -> std::string_view {
    return vocabulary[example.source[place] - 1];
  };
  const bool animal_first = place_in(animals, word(place_of_first)).has_value();
  const std::string_view animal = word(animal_first ? place_of_first : place_of_second),
                         thing = word(animal_first ? place_of_second : place_of_first),
                         verb = word(place_of_verb), state = word(place_of_state);
  return are_apart(animals, animal, things, thing) || are_apart(animals, animal, states_of_animals, state) ||
         are_apart(things, thing, states_of_things, state) || are_apart(animals, animal, of_animals, verb) ||
         are_apart(things, thing, of_things, verb);
}

TaskExample draw(Generator& generator, const Vocabulary& vocabulary) {
  const auto any = [&](Words kind) { return kind[any_of(kind.size(), generator)]; };
  const std::string_view animal = any(animals), thing = any(things);
  const bool animal_first = any_of(2, generator) == 0, of_animal = any_of(2, generator) == 0;
  const std::string_view verb = any(animal_first ? of_animals : of_things),
                         state = any(of_animal ? states_of_animals : states_of_things);
  TaskExample example;
  for (const std::string_view word :
       {std::string_view("The"), animal_first ? animal : thing, any(negations), verb, std::string_view("the"),
        animal_first ? thing : animal, std::string_view("because"), std::string_view("it"),
        std::string_view("was"), std::string_view("too"), state})
    example.source.push_back(id_in(vocabulary, word));
  example.expected = Ids(length, 1);
  example.expected[place_of_it] = id_in(vocabulary, of_animal ? animal : thing);
  example.counts = std::vector<bool>(length, false);
  example.counts[place_of_it] = true;
  return example;
}

// Every seed learns the task. The usual one is that of ten seeds whose heads link "it" to the noun most.
TaskSetup set_up(const TaskRequest& request) {
  const Vocabulary words = all_words();
  const TransformerSizes sizes =
      changed({.encoder_layers = 2, .d_model = 32, .heads = 2, .d_ff = 64}, request.sizes);
  Transformer model = one_sided(encoder_only(), words, sizes, recipe_with("pre", "rms", "learned"));
  model.sizes.source_places = length;
  model.title = "Coreference, trained";
  model.summary = "An encoder that names, at \"it\", the noun that is meant.";
  model.recipe.scale_embeddings = false;
  return {
      .model = std::move(model),
      .data = {.longest = {.source = length, .expected = length},
               .draw = [words](Generator& generator) { return draw(generator, words); },
               .is_held_out = [words](const TaskExample& example) { return is_held_out(example, words); }},
      .defaults = {.steps = 1000,
                   .batch = 32,
                   .seed = 10,
                   .schedule = &falling_rate(),
                   .rate = 1e-2,
                   .evaluate_every = 50}};
}

}  // namespace

const Task coreference_task{.name = "coreference",
                            .summary = "the noun that \"it\" stands for",
                            .about = about,
                            .measure = "sentences in which the noun that \"it\" stands for is named",
                            .goal = 0.95,
                            .example = "The animal didn't cross the street because it was too tired",
                            .set_up = set_up};

}  // namespace attn
