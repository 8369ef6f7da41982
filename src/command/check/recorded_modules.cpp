#include "command/check/recorded_modules.hpp"

#include <algorithm>

namespace attn {

namespace {

constexpr RecordedLayout commands_by_layout[] = {
    {"nn.TransformerEncoderLayer", "encoder"},
    {"nn.TransformerEncoder", "encoder"},
    {"nn.TransformerDecoderLayer", "decoder"},
    {"nn.TransformerDecoder", "decoder"},
    {"nn.Transformer", "transformer"},
    {"a block of GPT-2", "encoder"},
    {"GPT-2", "decoder"},
    {"minGPT", "decoder"},
};

constexpr RecordedType commands_by_type[] = {
    {"LayerNorm", "layer-norm"}, {"RMSNorm", "layer-norm"}, {"Embedding", "embed"}};

constexpr AroundLinear linear_layers[] = {
    {&role::w_q, nullptr, &role::q},       {&role::w_k, nullptr, &role::k},
    {&role::w_v, nullptr, &role::v},       {&role::w_o, &role::concat, &role::output},
    {&role::w_1, nullptr, &role::inner},   {&role::w_2, nullptr, &role::feed_forward},
    {&role::w_gate, nullptr, &role::gate},
};

constexpr RecordedActivation recorded_activations[] = {
    {"relu", "relu"},
    {"ReLU", "relu"},
    {"gelu", "gelu"},
    {"GELU", "gelu", "gelu-tanh"},
    {"GELUActivation", "gelu"},
    {"NewGELU", "gelu-tanh"},
    {"NewGELUActivation", "gelu-tanh"},
    {"new_gelu", "gelu-tanh"},
    {"PytorchGELUTanh", "gelu-tanh"},
    {"silu", "silu"},
    {"SiLU", "silu"},
    {"SiLUActivation", "silu"},
    {"tanh", "tanh"},
    {"Tanh", "tanh"},
};

}  // namespace

const RecordedLayout* layout_recorded_as(std::string_view layout) {
  const auto found = std::ranges::find(commands_by_layout, layout, &RecordedLayout::layout);
  return found == std::end(commands_by_layout) ? nullptr : &*found;
}

std::span<const RecordedType> recorded_types() { return commands_by_type; }

const RecordedInputs* inputs_recorded_for(std::string_view command) {
  static const std::vector<RecordedInputs> table = {
      {"walk",
       {&option::x, &option::memory, &option::value_memory},
       {{"key_padding_mask", &option::key_mask}, {"mask", &option::mask}}},
      {"encoder", {&option::x}, {{"key_padding_mask", &option::key_mask}, {"mask", &option::mask}}, {&option::source}},
      {"decoder",
       {&option::target_x, &option::memory},
       {{"memory_key_padding_mask", &option::memory_key_mask},
        {"memory_mask", &option::memory_mask},
        {"key_padding_mask", &option::key_mask},
        {"mask", &option::mask}},
       {&option::target}},
      {"transformer",
       {&option::x, &option::target_x},
       {{"memory_key_padding_mask", &option::memory_key_mask},
        {"tgt_key_padding_mask", &option::target_key_mask},
        {"key_padding_mask", &option::key_mask},
        {"memory_mask", &option::memory_mask},
        {"tgt_mask", &option::target_mask},
        {"mask", &option::mask}},
       {&option::source, &option::target}},
      {"layer-norm", {&option::x}, {}},
  };
  const auto found = std::ranges::find(table, command, &RecordedInputs::command);
  return found == table.end() ? nullptr : &*found;
}

std::span<const AroundLinear> around_linear() { return linear_layers; }

const RecordedActivation* activation_called(std::string_view theirs) {
  const auto found = std::ranges::find(recorded_activations, theirs, &RecordedActivation::theirs);
  return found == std::end(recorded_activations) ? nullptr : &*found;
}

}  // namespace attn
