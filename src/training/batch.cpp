#include "training/batch.hpp"

#include <algorithm>

namespace attn {
namespace {

void append(ModelInput& input, const Ids& words, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) {
    input.ids.push_back(i < words.size() ? words[i] : 1);
    input.blank.push_back(i >= words.size());
  }
}

}  // namespace

Batch batch_of(std::span<const TaskExample> examples, const BatchShape& shape) {
  Batch batch;
  std::size_t count = 0;
  for (std::size_t s = 0; s < shape.sentences; ++s) {
    const TaskExample& example = examples[std::min(s, examples.size() - 1)];
    append(batch.source, example.source, shape.source);
    append(batch.given, example.given, shape.given);
    for (std::size_t i = 0; i < shape.expected; ++i) {
      const bool is_word = i < example.expected.size();
      const bool counts = is_word && s < examples.size() && example.counts_at(i);
      batch.expected.push_back(is_word ? example.expected[i] : 1);
      batch.counts.push_back(counts ? 1.0 : 0.0);
      count += counts;
    }
  }
  for (double& one : batch.counts) one = count == 0 ? 0.0 : one / static_cast<double>(count);
  batch.source.sentences = batch.given.sentences = shape.sentences;
  // Without padding there is no mask for it.
  if (!shape.has_padding) {
    batch.source.blank.clear();
    batch.given.blank.clear();
  }
  return batch;
}

}  // namespace attn
