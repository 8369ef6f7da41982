#include "command/command.hpp"
#include "data/problem/encoder_decoder_file.hpp"

namespace attn {
namespace {

// What of a model is shown.
OptionGroup shown_options(std::vector<Offered> more) {
  OptionGroup group{
      .options = {{option::outline, "show the tree of matrices with shapes and multiply-adds, without numbers"}},
      .exclusions = {{&option::from, &option::outline}, {&option::causal, &option::not_causal}}};
  group.options.insert(group.options.end(), more.begin(), more.end());
  return group;
}

}  // namespace

std::vector<Command> model_commands() {
  constexpr std::string_view
      kinds_of_models = "kind of model: encoder-decoder, encoder-only or decoder-only",
      mask_of_words =
          "mask of the words, a row for each query, or one for all: true or 1 attends, false or 0 is masked; a mask of floats, such as 0.0, is added to the scores",
      mask_of_keys =
          "mask of the keys for all queries, one row, beside --mask: true or 1 for a word that may be attended to, false or 0 for padding",
      mask_of_source_keys =
          "mask of the source words as keys, one row, beside --mask: true or 1 for a word that may be attended to, false or 0 for padding",
      length_of_words = "words attend only to the first N; one number for all, or one for each query",
      mask_of_source =
          "mask of the source words, a row for each query, or one for all: true or 1 attends, false or 0 is masked; a mask of floats, such as 0.0, is added to the scores",
      length_of_source = "source words attend only to the first N; one number for all, or one for each query";
  constexpr std::string_view matrices_twice =
      "--parameters gives the matrices, and --seed and --hidden make them random: leave one of them out";
  std::vector<Command> commands;
  commands.push_back(
      {.name = "align",
       .subject = &subject::models,
       .summary = "follow a recurrent encoder-decoder with attention, word by word",
       .own = {.options = {{option::example, "name of a built-in example", alignment_examples().front().name, 0,
                            choices::alignments},
                           {option::model, "name of a built-in model, or a file of one: JSON, or what attn train saved",
                            no_default, 0, choices::alignments},
                           {option::problem, "output of --format json: the same options again"},
                           option::variant,
                           option::cell,
                           {option::text, "sentence to translate; the same as --source"},
                           {option::source, "sentence to translate", "'la maison blanche est petite'"},
                           {option::target, "translation to follow instead of the model's own (teacher forcing)"},
                           {option::steps, "maximum number of output words",
                            ": twice the number of inputs + 2; with random matrices their number + 2", 10000},
                           {option::parameters,
                            "JSON file with words and matrices, such as lessons/align/01-white-house.json"},
                           {option::seed, "seed of random matrices, which accept any words"},
                           option::hidden,
                           {option::transpose, "show the alignment with inputs as rows and outputs as columns"},
                           option::by_length,
                           {option::outline,
                            "show a diagram of the states along the words, and the context of one output (--from)"}},
               .exclusions = {{&option::by_length, &option::variant},
                              {&option::by_length, &option::cell},
                              {&option::by_length, &option::text},
                              {&option::by_length, &option::source},
                              {&option::by_length, &option::target},
                              {&option::by_length, &option::steps},
                              {&option::by_length, &option::seed},
                              {&option::by_length, &option::hidden},
                              {&option::text, &option::source},
                              {&option::example, &option::parameters},
                              {&option::example, &option::model},
                              {&option::example, &option::seed},
                              {&option::example, &option::hidden},
                              {&option::model, &option::parameters},
                              {&option::model, &option::seed},
                              {&option::model, &option::hidden},
                              {&option::parameters, &option::seed, matrices_twice},
                              {&option::parameters, &option::hidden, matrices_twice},
                              {&option::target, &option::steps,
                               "--steps limits the model's own words, and --target gives the words: give one of them"},
                              {&option::outline, &option::only}}},
       .groups = {&matrix_options(), &weight_options(), &gradient_options(), &comparison_options()},
       .examples = {"attn align", "attn align --outline --from white", "attn align --variant none",
                    "attn align --variant luong --source 'la fleur petite est blanche' --transpose",
                    "attn align --target 'the small house is white'", "attn align --example clauses --by-length",
                    "attn align --explain 'decoder.2.weights[1,3]' --depth 3",
                    "attn align --seed 7 --hidden 8 --cell gru --source 'one two three'"},
       .run = run_align});
  commands.push_back(
      {.name = "layer-norm",
       .subject = &subject::steps,
       .summary = "compute layer or root mean square normalization: normalized rows, γ and β",
       .own = {{option::gamma,
                option::beta,
                option::norm_kind,
                option::epsilon,
                {option::parameters, "file with weight and bias of an nn.LayerNorm, or with gamma and beta"},
                option::prefix}},
       .groups = {&matrix_options(), &gradient_options(), &comparison_options(), &problem_options()},
       .shows = on_embeddings,
       .examples = {"attn layer-norm", "attn layer-norm --x '1 2 3; 10 20 30' --gamma '1 1 2'",
                    "attn layer-norm --norm-kind rms", "attn backward layer-norm --check"},
       .run = run_layer_norm});
  commands.push_back(
      {.name = "cross-entropy",
       .subject = &subject::training,
       .summary = "compute the cross-entropy of logits and right words: the loss of a model",
       .own =
           {{option::logits,
             option::targets,
             {option::smoothing, "label smoothing: probability that is spread over all words", "0"}},
            {},
            {{&option::logits, {&option::targets}, "--logits needs --targets, the right word of each row: give both"},
             {&option::targets, {&option::logits}, "--targets belongs to --logits MATRIX: give both"}}},
       .groups = {&matrix_options(), &gradient_options(), &comparison_options()},
       .examples = {"attn cross-entropy --logits '2 1 0; 0 1 3' --targets 1,2", "attn cross-entropy --smoothing 0.1",
                    "attn backward cross-entropy --check"},
       .run = run_cross_entropy});
  commands.push_back(
      {.name = "encoder",
       .subject = &subject::models,
       .summary = "run a Transformer's encoder: self-attention and feed-forward, layer by layer",
       .own = shown_options({{option::causal, "causal mask: no word attends to later words"},
                             option::not_causal,
                             {option::mask, mask_of_words},
                             {option::key_mask, mask_of_keys},
                             {option::valid_length, length_of_words}}),
       .groups = {&matrix_options(), &weight_options(), &gradient_options(), &comparison_options(), &model_options()},
       .examples = {"attn encoder", "attn encoder --size base --outline",
                    "attn encoder --parameters encoder.safetensors --heads 4 --x x.npy"},
       .run = run_transformer});
  commands.push_back(
      {.name = "decoder",
       .subject = &subject::models,
       .summary = "run a decoder: masked self-attention, cross-attention, feed-forward",
       .own = shown_options({option::kind,
                             option::check_causal,
                             {option::causal, "causal mask: no word attends to later words, the default"},
                             option::not_causal,
                             {option::mask, mask_of_words},
                             {option::key_mask, mask_of_keys},
                             {option::valid_length, length_of_words},
                             option::memory_mask,
                             option::memory_key_mask,
                             option::memory_valid_length}),
       .groups = {&matrix_options(), &weight_options(), &gradient_options(), &comparison_options(), &model_options()},
       .examples = {"attn decoder", "attn decoder --kind decoder-only --check-causal"},
       .run = run_transformer});
  commands.push_back(
      {.name = "transformer",
       .subject = &subject::models,
       .summary = "run a whole Transformer, from words to the probabilities of the next word",
       .own = shown_options({{option::kind, kinds_of_models, {}, 0, choices::kinds},
                             option::check_causal,
                             {option::causal, "causal mask for the source words as well"},
                             option::not_causal,
                             {option::mask, mask_of_source},
                             {option::key_mask, mask_of_source_keys},
                             {option::valid_length, length_of_source},
                             option::target_mask,
                             option::target_key_mask,
                             option::target_valid_length,
                             option::target_first_position,
                             option::target_position_ids,
                             option::memory_mask,
                             option::memory_key_mask,
                             option::memory_valid_length}),
       .groups = {&matrix_options(), &weight_options(), &gradient_options(), &comparison_options(), &model_options()},
       .examples = {"attn transformer --outline", "attn transformer --check-causal",
                    "attn transformer --size base --only 'encoder.2.*.weights'"},
       .run = run_transformer});
  commands.push_back({.name = "parameters",
                      .subject = &subject::models,
                      .summary = "list the parameters of a model with their shapes and counts",
                      .own = {{{option::kind, kinds_of_models, {}, 0, choices::kinds}}},
                      .groups = {&model_options()},
                      .examples = {"attn parameters --size base", "attn parameters --save-parameters tiny.safetensors"},
                      .run = run_parameters});
  commands.push_back(
      {.name = "generate",
       .subject = &subject::models,
       .summary = "generate words one by one, and count the multiply-adds",
       .own = {{option::kind, option::target_first_position, option::target_position_ids, option::steps,
                option::no_cache, option::sample, option::temperature, option::top_k, option::top_p,
                option::sample_seed, option::beams},
               {{&option::beams, &option::sample},
                {&option::beams, &option::temperature},
                {&option::beams, &option::top_k},
                {&option::beams, &option::top_p},
                {&option::beams, &option::no_cache}},
               {{&option::sample_seed,
                 {&option::sample, &option::temperature, &option::top_k, &option::top_p},
                 "--sample-seed belongs to --sample, --temperature, --top-k or --top-p: give one of them"}}},
       .groups = {&matrix_options(), &comparison_options(), &model_options()},
       .examples = {"attn generate", "attn generate --model copy --source 'c a b'",
                    "attn generate --temperature 1.5 --sample-seed 3",
                    "attn generate --model names --target 'm' --beams 3"},
       .run = run_generate});
  commands.push_back({.name = "tokenize",
                      .subject = &subject::models,
                      .summary = "how a text falls apart into pieces with ids: BPE, unigram or WordPiece, step by step",
                      .words = {{"TEXT", Word::Count::any}},
                      .own = {.options = {option::tokenizer,
                                          option::text_file,
                                          option::texts_file,
                                          {option::learn, {}, ": 266 where no tokenizer is given"},
                                          option::save_tokenizer,
                                          {option::by_word, "show how this word is cut, step by step",
                                           ": the longest word of up to 100 bytes"},
                                          option::no_special},
                              .exclusions = {{&option::tokenizer, &option::learn},
                                             {&option::tokenizer, &option::save_tokenizer},
                                             {&option::text_file, &option::texts_file},
                                             {&option::texts_file, &option::by_word},
                                             {&option::texts_file, &option::learn}},
                              .needs = {{&option::texts_file,
                                         {&option::tokenizer},
                                         "--texts needs a tokenizer: give one with --tokenizer"}}},
                      .examples = {"attn tokenize", "attn tokenize 'The dog ran because it was late' --learn 270",
                                   "attn tokenize 'The dog ran' --tokenizer tokenizer.json --by-word dog"},
                      .run = run_tokenize});
  commands.push_back({.name = "lens",
                      .subject = &subject::models,
                      .summary = "which words each layer would name, and what each head adds to a logit",
                      .own = {{option::kind,
                               option::at,
                               option::logit_word,
                               {option::of, "the logit of --word and --at as one number, such as 'logits[4,301]'"},
                               {option::top_k, "number of words that are named after each layer", "5", 100}},
                              {{&option::of, &option::at}, {&option::of, &option::logit_word}}},
                      .groups = {&matrix_options(), &comparison_options(), &model_options()},
                      .examples = {"attn lens --model pattern --word b", "attn lens --model induction --at 5",
                                   "attn lens --model pattern --word b --explain 'lens.contributions[4,1]' --depth 1"},
                      .run = run_lens});
  return commands;
}

}  // namespace attn
