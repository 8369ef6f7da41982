#include "school/training/example.hpp"

#include <algorithm>
#include <set>

#include "data/parameters/transformer_parameters.hpp"
#include "data/problem/encoder_decoder_file.hpp"

namespace attn {

namespace {

// --- model

// A call for each kind of model.
template <class... Functions>
struct Either : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Either(Functions...) -> Either<Functions...>;

// --- task example

bool is_held_out(const ExampleSource& source, const TaskExample& example) {
  if (source.is_held_out) return source.is_held_out(example);
  return source.held_out.empty() && is_one_in_ten(example);
}

// What makes two sentences the same.
const Ids& key_of(const TaskExample& example) { return example.source.empty() ? example.given : example.source; }

// Of data of which nearly all or nothing is held out, drawing must end.
constexpr int most_tries = 100'000;

}  // namespace

// --- model

std::vector<ParameterShape> parameters_of(const TrainedModel& model) {
  std::vector<ParameterShape> shapes;
  std::visit(Either{[&](const Transformer& transformer) {
                      for (const ParameterRow& row : parameters_of(transformer))
                        shapes.push_back({row.name, row.shape});
                    },
                    [&](const EncoderDecoder& recurrent) {
                      for (const ExpectedMatrix& matrix : expected_matrices(recurrent))
                        shapes.push_back({matrix.name, matrix.frame.shape});
                    }},
             model);
  return shapes;
}

std::size_t count_parameters(const TrainedModel& model) {
  std::size_t count = 0;
  for (const ParameterShape& one : parameters_of(model)) count += one.shape.cells();
  return count;
}

const ModelParameters& matrices_of(const TrainedModel& model) {
  return std::visit([](const auto& one) -> const ModelParameters& { return one.parameters; }, model);
}

ModelParameters& matrices_of(TrainedModel& model) {
  return std::visit([](auto& one) -> ModelParameters& { return one.parameters; }, model);
}

void draw_parameters(TrainedModel& model, std::uint32_t seed) {
  RandomSource random(random_kind::first_parameters, seed);
  std::visit([&](auto& one) { draw_parameters(one, random); }, model);
}

const Vocabulary& words_in(const TrainedModel& model) {
  return std::visit(Either{[](const Transformer& one) -> const Vocabulary& {
                             return one.kind->encodes ? one.source_vocabulary : one.target_vocabulary;
                           },
                           [](const EncoderDecoder& one) -> const Vocabulary& { return one.source_words; }},
                    model);
}

const Vocabulary& words_out(const TrainedModel& model) {
  return std::visit(Either{[](const Transformer& one) -> const Vocabulary& { return one.target_vocabulary; },
                           [](const EncoderDecoder& one) -> const Vocabulary& { return one.target_words; }},
                    model);
}

Words words_of(const Ids& ids, const Vocabulary& vocabulary) {
  Words words;
  for (const std::size_t id : ids) words.push_back(vocabulary[id - 1]);
  return words;
}

// --- task example

BatchShape BatchShape::of(std::span<const TaskExample> examples, std::size_t sentences) {
  BatchShape shape{.sentences = sentences};
  for (const TaskExample& example : examples) {
    shape.source = std::max(shape.source, example.source.size());
    shape.given = std::max(shape.given, example.given.size());
    shape.expected = std::max(shape.expected, example.expected.size());
  }
  shape.has_padding = std::ranges::any_of(examples, [&](const TaskExample& example) {
    return example.source.size() < shape.source || example.given.size() < shape.given;
  });
  return shape;
}

bool is_one_in_ten(const TaskExample& example) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, of whole numbers
  for (const std::size_t id : key_of(example)) hash = (hash ^ id) * 0x100000001b3;
  return (hash >> 32) % 10 == 0;
}

TaskExample training_example(const ExampleSource& source, Generator& generator) {
  TaskExample example = source.draw(generator);
  for (int i = 0; i < most_tries && is_held_out(source, example); ++i) example = source.draw(generator);
  return example;
}

std::vector<TaskExample> few_examples(const ExampleSource& source, std::size_t most, Generator generator) {
  std::vector<TaskExample> few;
  std::set<Ids> seen;
  for (int i = 0; i < most_tries && few.size() < most; ++i) {
    TaskExample example = training_example(source, generator);
    if (seen.insert(key_of(example)).second) few.push_back(std::move(example));
  }
  return few;
}

std::vector<TaskExample> held_out_examples(const ExampleSource& source, std::size_t most) {
  constexpr std::uint32_t seed = 20170612;  // the same for every training
  std::vector<TaskExample> held_out;
  std::set<Ids> seen;
  const auto take = [&](TaskExample example) {
    if (held_out.size() < most && seen.insert(key_of(example)).second) held_out.push_back(std::move(example));
  };
  for (const TaskExample& example : source.held_out) take(example);
  if (!source.held_out.empty()) return held_out;
  Generator generator(seed);
  for (int i = 0; i < most_tries && held_out.size() < most; ++i) {
    if (TaskExample example = source.draw(generator); is_held_out(source, example)) take(std::move(example));
  }
  return held_out;
}

}  // namespace attn
