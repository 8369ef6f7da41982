#include "school/training/architecture.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "school/training/task.hpp"

namespace attn {

namespace {

bool is_recurrent(const TrainedModel& model) { return std::holds_alternative<EncoderDecoder>(model); }

bool is_transformer(const TrainedModel& model) {
  const auto* const transformer = std::get_if<Transformer>(&model);
  return transformer && transformer->kind->crosses;
}

// Of the models of growing sizes 1, 2, 3 …, the one whose number of parameters is nearest.
template <class Make>
TrainedModel nearest_in_size(const TrainedModel& other, const Make& make) {
  const auto wanted = static_cast<double>(count_parameters(other));
  const auto distance = [&](const TrainedModel& model) {
    return std::fabs(static_cast<double>(count_parameters(model)) - wanted);
  };
  TrainedModel nearest = make(1);
  for (std::size_t size = 2;; ++size) {
    TrainedModel next = make(size);
    if (distance(next) >= distance(nearest)) return nearest;
    nearest = std::move(next);
  }
}

// Embeddings are half as large as states.
TrainedModel recurrent_like(const TrainedModel& other) {
  return nearest_in_size(other, [&](std::size_t size) {
    return EncoderDecoder{.cell = &look_up(recurrences(), "gru", "cell"),
                          .variant = &look_up(alignment_variants(), "bahdanau", "variant"),
                          .source_words = words_in(other),
                          .target_words = words_out(other),
                          .source_size = size,
                          .target_size = size,
                          .state_size = 2 * size};
  });
}

// One layer on each side with two heads, each of which has an even number of columns, as sinusoidal positions need.
TrainedModel transformer_like(const TrainedModel& other) {
  return nearest_in_size(other, [&](std::size_t size) {
    const std::size_t d_model = 4 * size;
    Transformer model{.kind = &both_sides(),
                      .recipe = recipe_with("pre", "rms", "sinusoidal"),
                      .sizes = {.encoder_layers = 1,
                                .decoder_layers = 1,
                                .d_model = d_model,
                                .heads = 2,
                                .d_ff = 2 * d_model,
                                .source_words = words_in(other).size(),
                                .target_words = words_out(other).size()},
                      .source_vocabulary = words_in(other),
                      .target_vocabulary = words_out(other)};
    model.recipe.scale_embeddings = false;
    return model;
  });
}

constexpr std::array table = {
    Architecture{"recurrent", "a recurrent encoder-decoder (GRU) with Bahdanau's attention", is_recurrent,
                 recurrent_like},
    Architecture{"transformer", "a Transformer of one encoder layer and one decoder layer", is_transformer,
                 transformer_like},
};

}  // namespace

std::span<const Architecture> architectures() { return table; }

const Architecture* architecture_of(const TrainedModel& model) {
  const auto found = std::ranges::find_if(table, [&](const Architecture& row) { return row.is_of(model); });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace attn
