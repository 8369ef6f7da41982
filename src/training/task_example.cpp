#include "training/task_example.hpp"

#include <algorithm>
#include <set>

namespace attn {
namespace {

bool is_held_out(const ExampleSource& source, const TaskExample& example) {
  return source.is_held_out ? source.is_held_out(example) : is_one_in_ten(example);
}

// What makes two sentences the same.
const Ids& key_of(const TaskExample& example) {
  return example.source.empty() ? example.given : example.source;
}

// Of data of which nearly all or nothing is held out, drawing must end.
constexpr int most_tries = 100'000;

}  // namespace

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

std::vector<TaskExample> held_out_examples(const ExampleSource& source, std::size_t most) {
  constexpr std::uint32_t seed = 20170612;  // the same for every training
  std::vector<TaskExample> held_out;
  std::set<Ids> seen;
  const auto take = [&](TaskExample example) {
    if (held_out.size() < most && is_held_out(source, example) && seen.insert(key_of(example)).second)
      held_out.push_back(std::move(example));
  };
  for (const TaskExample& example : source.all) take(example);
  if (!source.all.empty()) return held_out;
  Generator generator(seed);
  for (int i = 0; i < most_tries && held_out.size() < most; ++i) take(source.draw(generator));
  return held_out;
}

}  // namespace attn
