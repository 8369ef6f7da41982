#pragma once

#include <variant>

#include "model/encoder_decoder.hpp"
#include "model/transformer.hpp"

namespace attn {

/// A model that can be trained: both kinds have matrices by name.
using TrainedModel = std::variant<Transformer, EncoderDecoder>;

/// The names and shapes of all parameters of a model, in the order in which they are drawn.
struct ParameterShape {
  std::string name;
  Shape shape;
};
std::vector<ParameterShape> parameters_of(const TrainedModel& model);
std::size_t count_parameters(const TrainedModel& model);

/// The matrices that a model has learned, shared with it.
const ModelParameters& matrices_of(const TrainedModel& model);
ModelParameters& matrices_of(TrainedModel& model);

/// Draws every parameter. Throws InputError for more than may be drawn.
void draw_parameters(TrainedModel& model, std::uint32_t seed);

/// The words that go in and those that come out; of an encoder alone and of a decoder alone both are the
/// same side's.
const Vocabulary& words_in(const TrainedModel& model);
const Vocabulary& words_out(const TrainedModel& model);

}  // namespace attn
