#include "training/model.hpp"

#include "parameters/transformer_parameters.hpp"
#include "problem/encoder_decoder_file.hpp"

namespace attn {
namespace {

// A call for each kind of model.
template <class... Functions>
struct Either : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Either(Functions...) -> Either<Functions...>;

}  // namespace

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
  std::visit([&](auto& one) { draw_parameters(one, seed); }, model);
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

}  // namespace attn
