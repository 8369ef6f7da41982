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
       .summary = "a recurrent encoder-decoder with attention, word by word",
       .options = {{"--variant", "NAME", "bahdanau, luong, scaled-dot, or none: the bottleneck (bahdanau)"},
                   {"--cell", "NAME", "tanh or gru (tanh)"},
                   {"--source", "SENTENCE", "what is translated (la maison blanche est petite)"},
                   {"--target", "SENTENCE",
                    "teacher forcing: follow these words, not the most probable ones"},
                   {"--steps", "N", "at most so many outputs (two more than inputs)"},
                   {"--parameters", "FILE",
                    "words and matrices in JSON, as in lessons/align/white-house.json"},
                   {"--seed", "N", "draw all matrices, for any words (1)"},
                   {"--hidden", "N", "numbers in a state and in a vector that are drawn (4)"},
                   {"--transpose", "", "the alignment with inputs as rows and outputs as columns"},
                   only_option(),
                   {"--explain", "CELL", "one number, such as 'decoder.2.weights[1,3]'"},
                   depth_option()},
       .examples = {"attn align", "attn align --variant none",
                    "attn align --variant luong --source 'la fleur petite est blanche' --transpose",
                    "attn align --target 'the small house is white'",
                    "attn align --explain 'decoder.2.weights[1,3]' --depth 3",
                    "attn align --seed 7 --hidden 8 --cell gru --source 'one two three'"},
       .run = run_align});
  commands.push_back(
      {.name = "layer-norm",
       .summary = "mean, variance, normalised rows, γ and β",
       .takes_problem = true,
       .heeds = fields_of_embeddings(),
       .options = {{"--gamma", "MATRIX", "one row of factors (ones)"},
                   {"--beta", "MATRIX", "one row of summands (zeros)"},
                   {"--epsilon", "NUMBER", "keeps the divisor from being 0 (1e-5)"}},
       .examples = {"attn layer-norm", "attn layer-norm --x '1 2 3; 10 20 30' --gamma '1 1 2'"},
       .run = run_layer_norm});
  const std::vector<Option> of_parts =
      with_model_options({only_option(),
                          outline_option(),
                          {"--explain", "CELL", "one number, such as 'encoder.1.norm_1.output[1,2]'"},
                          depth_option()});
  commands.push_back({.name = "encoder",
                      .summary = "self-attention and feed-forward, layer by layer",
                      .options = of_parts,
                      .examples = {"attn encoder", "attn encoder --size base --outline",
                                   "attn encoder --parameters encoder.safetensors --heads 4 --x x.npy"},
                      .run = run_transformer});
  std::vector<Option> of_decoders = of_parts;
  of_decoders.push_back({"--kind", "NAME", "encoder-decoder or decoder-only (encoder-decoder)"});
  of_decoders.push_back({"--check-causal", "", "change later words: does an earlier output move?"});
  commands.push_back({.name = "decoder",
                      .summary = "masked self-attention, attention to what was encoded, feed-forward",
                      .options = of_decoders,
                      .examples = {"attn decoder", "attn decoder --kind decoder-only --check-causal"},
                      .run = run_transformer});
  commands.push_back({.name = "transformer",
                      .summary = "encoder and decoder, from words to the distribution of the next word",
                      .options = of_decoders,
                      .examples = {"attn transformer --outline", "attn transformer --check-causal",
                                   "attn transformer --size base --only 'encoder.2.*.weights'"},
                      .run = run_transformer});
  std::vector<Option> of_parameters = with_model_options({});
  of_parameters.push_back({"--kind", "NAME", "encoder-decoder, encoder-only or decoder-only"});
  commands.push_back(
      {.name = "parameters",
       .summary = "every learned matrix of a model with its shape and count",
       .options = of_parameters,
       .examples = {"attn parameters --size base", "attn parameters --save-parameters tiny.safetensors"},
       .run = run_parameters});
  std::vector<Option> of_generation =
      with_model_options({only_option(),
                          {"--kind", "NAME", "encoder-decoder or decoder-only (encoder-decoder)"},
                          {"--steps", "N", "at most so many words (8)"},
                          {"--no-cache", "", "let all words go in again at every step"},
                          {"--sample", "", "draw words from the distribution, instead of the most probable"},
                          {"--temperature", "T", "divide the logits by T before the softmax, and draw"},
                          {"--top-k", "K", "draw from the K most probable words"},
                          {"--top-p", "P", "draw from the most probable words that together have P"},
                          {"--sample-seed", "N", "of the words that are drawn (1)"}});
  commands.push_back({.name = "generate",
                      .summary = "one word after another, with a ledger of what was computed",
                      .options = of_generation,
                      .examples = {"attn generate", "attn generate --model copy --source 'c a b'",
                                   "attn generate --temperature 1.5 --sample-seed 3"},
                      .run = run_generate});
  return commands;
}

}  // namespace attn
