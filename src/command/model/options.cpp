#include "command/model/options.hpp"

#include <algorithm>

#include "command/parameter_file.hpp"

namespace attn {
namespace {

// The options that decide what a model is, and those that decide what it is run on.
const std::vector<Option> options_of_models = {
    {"--model", "NAME", "name of a built-in model, or a JSON file with parameters and words"},
    {"--parameters", "FILE", "file of parameters: safetensors, npz, JSON, or a state dictionary of PyTorch"},
    {"--size", "NAME", "size of a random model: tiny, or base as in the paper (default tiny)"},
    {"--layers", "N", "number of layers in the encoder and in the decoder"},
    {"--heads", "N", "number of heads of each attention"},
    {"--d-model", "N", "size of the vectors (embedding size)"},
    {"--d-ff", "N", "inner size of the feed-forward layers"},
    {"--norm", "WHERE",
     "layer normalization: post (after the residual connection), pre (before the sub-layer) or none (default "
     "post)"},
    {"--positions", "KIND",
     "positional encoding: none, sinusoidal, concatenated or learned (default sinusoidal)"},
    {"--seed", "N", "seed of the random numbers (default 1)"},
};
const std::vector<Option> options_of_words = {
    {"--source", "SENTENCE", "source words, for the encoder; <blank> is padding"},
    {"--target", "SENTENCE", "target words; the decoder receives them shifted right by one"},
    {"--x", "MATRIX", "vectors to use instead of source words"},
    {"--target-x", "MATRIX", "vectors to use instead of target words"},
    {"--memory", "MATRIX", "encoder output, for a decoder without an encoder"},
    {"--n", "N", "use N unnamed words as source and as target"},
};

}  // namespace

std::vector<Option> model_options() {
  std::vector<Option> options = options_of_models;
  options.push_back(prefix_option);
  options.push_back({"--save-parameters", "FILE", "save the parameters to a .safetensors or .npz file"});
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
