#include "command/model/options.hpp"

#include <algorithm>

#include "command/parameter_file.hpp"

namespace attn {
namespace {

// The options that decide what a model is, and those that decide what it is run on.
const std::vector<Option> options_of_models = {
    {"--model", "NAME", "a built-in model, or a JSON file with its parameters and words"},
    {"--parameters", "FILE", "safetensors, npz or JSON; state dictionaries of PyTorch's modules too"},
    {"--size", "NAME", "tiny, which fits a screen, or base, the paper's (tiny)"},
    {"--layers", "N", "layers of the encoder and of the decoder"},
    {"--heads", "N", "heads of every attention"},
    {"--d-model", "N", "numbers in a word's vector"},
    {"--d-ff", "N", "numbers inside the feed-forward layer"},
    {"--norm", "WHERE", "post: after the residual connection, pre: before the sub-layer, none (post)"},
    {"--positions", "KIND", "none, sinusoidal, concatenated or learned (sinusoidal)"},
    {"--seed", "N", "of what is drawn (1)"},
};
const std::vector<Option> options_of_words = {
    {"--source", "SENTENCE", "what is encoded; <blank> is padding"},
    {"--target", "SENTENCE", "what the decoder is given, one place later"},
    {"--x", "MATRIX", "vectors in place of the source's words"},
    {"--target-x", "MATRIX", "vectors in place of the target's words"},
    {"--memory", "MATRIX", "what was encoded, for a decoder alone"},
    {"--n", "N", "as many words on both sides, without names of their own"},
};

}  // namespace

std::vector<Option> model_options() {
  std::vector<Option> options = options_of_models;
  options.push_back(prefix_option);
  options.push_back({"--save-parameters", "FILE", "writes the parameters: .safetensors or .npz"});
  options.insert(options.end(), options_of_words.begin(), options_of_words.end());
  return options;
}

std::span<const Option> word_options() {
  return options_of_words;
}

std::string_view without_dashes(const Option& option) {
  return option.name.substr(2);
}

bool chooses_model(const Arguments& arguments) {
  return arguments.has("kind") || std::ranges::any_of(options_of_models, [&](const Option& option) {
           return arguments.has(without_dashes(option));
         });
}

}  // namespace attn
