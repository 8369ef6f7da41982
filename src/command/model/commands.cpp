#include "command/command_lists.hpp"
#include "command/model/options.hpp"

namespace attn {
namespace {

std::vector<Option> with_model_options(std::vector<Option> own) {
  const std::vector<Option> options = model_options();
  own.insert(own.end(), options.begin(), options.end());
  return own;
}

}  // namespace

std::vector<Command> model_commands() {
  std::vector<Command> commands;
  commands.push_back(
      {.name = "align",
       .summary = "follow a recurrent encoder-decoder with attention, word by word",
       .options = {{"--variant", "NAME",
                    "kind of attention: bahdanau, luong, scaled-dot or none (default bahdanau)"},
                   {"--cell", "NAME", "recurrent cell: tanh or gru (default tanh)"},
                   {"--source", "SENTENCE", "sentence to translate (default 'la maison blanche est petite')"},
                   {"--target", "SENTENCE",
                    "translation to follow instead of the model's own (teacher forcing)"},
                   {"--steps", "N", "maximum number of output words (default: number of inputs + 2)"},
                   {"--parameters", "FILE",
                    "JSON file with words and matrices, such as lessons/align/white-house.json"},
                   {"--seed", "N", "seed of random matrices, which accept any words (default 1)"},
                   {"--hidden", "N", "hidden size and embedding size of random matrices (default 4)"},
                   {"--transpose", "", "show the alignment with inputs as rows and outputs as columns"},
                   only_option(),
                   {"--explain", "CELL", "explain one number, such as 'decoder.2.weights[1,3]'"},
                   depth_option()},
       .examples = {"attn align", "attn align --variant none",
                    "attn align --variant luong --source 'la fleur petite est blanche' --transpose",
                    "attn align --target 'the small house is white'",
                    "attn align --explain 'decoder.2.weights[1,3]' --depth 3",
                    "attn align --seed 7 --hidden 8 --cell gru --source 'one two three'"},
       .run = run_align});
  commands.push_back(
      {.name = "layer-norm",
       .summary = "compute layer normalization: mean, variance, normalized rows, γ and β",
       .takes_problem = true,
       .heeds = fields_of_embeddings(),
       .options = {{"--gamma", "MATRIX", "scale γ, one row (default ones)"},
                   {"--beta", "MATRIX", "shift β, one row (default zeros)"},
                   {"--epsilon", "NUMBER", "ε, a small number that avoids division by 0 (default 1e-5)"}},
       .examples = {"attn layer-norm", "attn layer-norm --x '1 2 3; 10 20 30' --gamma '1 1 2'"},
       .run = run_layer_norm});
  const std::vector<Option> of_parts = with_model_options(
      {only_option(),
       {"--outline", "", "show the tree of matrices with shapes and multiply-adds, without numbers"},
       {"--explain", "CELL", "explain one number, such as 'encoder.1.norm_1.output[1,2]'"},
       depth_option()});
  commands.push_back(
      {.name = "encoder",
       .summary = "run a Transformer's encoder: self-attention and feed-forward, layer by layer",
       .options = of_parts,
       .examples = {"attn encoder", "attn encoder --size base --outline",
                    "attn encoder --parameters encoder.safetensors --heads 4 --x x.npy"},
       .run = run_transformer});
  std::vector<Option> of_decoders = of_parts;
  of_decoders.push_back(
      {"--kind", "NAME", "kind of model: encoder-decoder or decoder-only (default encoder-decoder)"});
  of_decoders.push_back(
      {"--check-causal", "", "check the causal mask: change later words and compare earlier outputs"});
  commands.push_back({.name = "decoder",
                      .summary = "run a decoder: masked self-attention, cross-attention, feed-forward",
                      .options = of_decoders,
                      .examples = {"attn decoder", "attn decoder --kind decoder-only --check-causal"},
                      .run = run_transformer});
  commands.push_back({.name = "transformer",
                      .summary = "run a whole Transformer, from words to the probabilities of the next word",
                      .options = of_decoders,
                      .examples = {"attn transformer --outline", "attn transformer --check-causal",
                                   "attn transformer --size base --only 'encoder.2.*.weights'"},
                      .run = run_transformer});
  std::vector<Option> of_parameters = with_model_options({});
  of_parameters.push_back(
      {"--kind", "NAME",
       "kind of model: encoder-decoder, encoder-only or decoder-only (default encoder-decoder)"});
  commands.push_back(
      {.name = "parameters",
       .summary = "list the parameters of a model with their shapes and counts",
       .options = of_parameters,
       .examples = {"attn parameters --size base", "attn parameters --save-parameters tiny.safetensors"},
       .run = run_parameters});
  std::vector<Option> of_generation = with_model_options(
      {only_option(),
       {"--kind", "NAME", "kind of model: encoder-decoder or decoder-only (default encoder-decoder)"},
       {"--steps", "N", "maximum number of words (default 8)"},
       {"--no-cache", "", "recompute the keys and values of all target words at every step"},
       {"--sample", "", "sample each word from the distribution instead of taking the most probable"},
       {"--temperature", "T", "divide the logits by T before the softmax, and sample"},
       {"--top-k", "K", "sample from the K most probable words"},
       {"--top-p", "P",
        "sample from the smallest set of most probable words with total probability P or more"},
       {"--sample-seed", "N", "seed for sampling words (default 1)"}});
  commands.push_back({.name = "generate",
                      .summary = "generate words one by one, and count the multiply-adds",
                      .options = of_generation,
                      .examples = {"attn generate", "attn generate --model copy --source 'c a b'",
                                   "attn generate --temperature 1.5 --sample-seed 3"},
                      .run = run_generate});
  return commands;
}

}  // namespace attn
