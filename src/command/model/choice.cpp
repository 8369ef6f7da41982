#include "command/model/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "command/computed_problem.hpp"
#include "command/model/asked_positions.hpp"
#include "command/model/words_of_sides.hpp"
#include "command/recipe_options.hpp"
#include "core/attention/masks.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/parameters/parameters.hpp"
#include "data/parameters/transformer_parameters.hpp"
#include "data/problem/model_words.hpp"

namespace attn {

namespace {

// --- recipe options

using ModelNeeds = ModelUse::Needs;

// The sides of a model whose self-attention is meant.
std::vector<const RecipeField*> causal_fields(ModelNeeds part) {
  if (part == ModelNeeds::encoder) return {&recipe_field::causal_encoder};
  if (part == ModelNeeds::decoder) return {&recipe_field::causal_decoder};
  return {&recipe_field::causal_encoder, &recipe_field::causal_decoder};
}

ModelRecipe asked_model_recipe(const Arguments& arguments, const ModelUse& use) {
  return asked_recipe(arguments, causal_fields(use.needs));
}

// The same for a model that was read, with what is known of models of its layout. Throws InputError, naming
// both, where an option says something else.
ModelRecipe asked_model_recipe(const Arguments& arguments, const ModelUse& use, const ParameterFile& file,
                               const std::string& path) {
  ModelRecipe recipe = asked_model_recipe(arguments, use), theirs;
  const std::vector<AskedField> all = asked_fields(arguments, causal_fields(use.needs));
  for (const ImpliedField& brought : file.brings) {
    const RecipeField& field = *brought.field;
    field.take(theirs, brought.value, path);
    const auto asked = std::ranges::find(all, brought.field, &AskedField::field);
    if (asked != all.end() && brought.is_assumed) continue;
    if (asked != all.end() && field.told(recipe) != field.told(theirs)) {
      fail("{}: {} is {}, whose {} {}: leave out {}", asked->typed(arguments), path, file.layout, field.of_what,
           field.told(theirs), asked->option.name);
    }
    field.take(recipe, brought.value, path);
  }
  return recipe;
}

// A size that an option may say of a model that was read.
struct SaidSize {
  const Option& option;
  std::size_t (*of)(const TransformerSizes& sizes);
};

constexpr SaidSize said_sizes[] = {
    {option::heads, [](const TransformerSizes& sizes) { return sizes.heads; }},
    {option::kv_heads, [](const TransformerSizes& sizes) { return sizes.all_heads().of_keys; }},
    {option::d_model, [](const TransformerSizes& sizes) { return sizes.d_model; }},
    {option::d_ff, [](const TransformerSizes& sizes) { return sizes.d_ff; }},
};

// Throws InputError, naming both, where an option says another kind or size than a model has that was read.
void require_agreement(const Arguments& arguments, const Transformer& model, const std::string& where) {
  const auto require = [&](const Option& option, const std::string& said, const std::string& is) {
    if (said != is) fail("{} {}: {} has {}: leave out {}", option.name, said, where, is, option.name);
  };
  if (const auto kind = arguments.text(option::kind)) require(option::kind, *kind, std::string(model.kind->name));
  for (const SaidSize& row : said_sizes) {
    if (const auto size = arguments.count(row.option))
      require(row.option, std::to_string(*size), std::to_string(row.of(model.sizes)));
  }
}

// The same where an option says another recipe than such a model has.
void require_same_recipe(const Arguments& arguments, const ModelUse& use, const Transformer& model,
                         const std::string& where) {
  const ModelRecipe recipe = asked_model_recipe(arguments, use);
  for (const AskedField& asked : asked_fields(arguments, causal_fields(use.needs))) {
    const RecipeField& field = *asked.field;
    if (field.told(recipe) == field.told(model.recipe)) continue;
    fail("{}: {} is a model whose {} {}: leave out {}", asked.typed(arguments), where, field.of_what,
         field.told(model.recipe), asked.option.name);
  }
}

// What a file of parameters leaves open and no option says.
struct AssumedField {
  std::string unnamed, assumed;
  const Option& option;
};

std::vector<AssumedField> assumed_fields(const Arguments& arguments, const ModelUse& use, const ModelRecipe& recipe,
                                         std::span<const ImpliedField> brought) {
  std::vector<AssumedField> all;
  const std::vector<AskedField> asked = asked_fields(arguments, causal_fields(use.needs));
  const auto add = [&](const Option& option, std::string_view unnamed, std::string assumed) {
    const RecipeField* const field = &field_of(option);
    const auto found = std::ranges::find(brought, field, &ImpliedField::field);
    const bool is_asked = std::ranges::find(asked, field, &AskedField::field) != asked.end();
    if (!is_asked && (found == brought.end() || found->is_assumed))
      all.push_back({std::string(unnamed), std::move(assumed), option});
  };
  add(option::norm, "the placement of the norms", fmt::format("{}-norm", recipe.norm->name));
  if (recipe.norm->in_layers()) add(option::norm_kind, "the kind of the norms", std::string(recipe.norm_kind->title));
  add(option::activation, "the activation", fmt::format("{} in the feed-forward layers", recipe.activation->title));
  if (recipe.norm->in_layers()) add(option::epsilon, "ε", fmt::format("ε = {} in the norms", recipe.epsilon));
  return all;
}

std::string told_on_page(const std::vector<AssumedField>& fields) {
  std::vector<std::string> unnamed, assumed;
  for (const AssumedField& field : fields) {
    unnamed.push_back(field.unnamed);
    assumed.push_back(field.assumed);
  }
  return fmt::format("The file does not name {}. Assumed here: {}.", list_in_words(unnamed), list_in_words(assumed));
}

void tell_inputs(const std::vector<AssumedField>& fields, const std::string& path, std::size_t matrices) {
  InputReport told{"parameters", path, count_of(matrices, "matrix", "matrices")};
  for (const AssumedField& field : fields) {
    told.assumed.push_back({&assumed::model, fmt::format("{}: the file does not name {}", field.assumed, field.unnamed),
                            fmt::format("{} gives another", field.option.name)});
  }
  InputReports::tell(std::move(told));
}

// --- masks

// The words whose keys a mask is for, and its options.
struct MaskedKeys {
  const Option &mask, &keys, &length;
  ModelInput ModelChoice::*words;  // whose queries attend
  WordMask ModelInput::*of_words;
};

constexpr MaskedKeys own_of_encoder{option::mask, option::key_mask, option::valid_length, &ModelChoice::source,
                                    &ModelInput::mask},
    own_of_decoder{option::mask, option::key_mask, option::valid_length, &ModelChoice::target, &ModelInput::mask},
    of_target{option::target_mask, option::target_key_mask, option::target_valid_length, &ModelChoice::target,
              &ModelInput::mask},
    of_memory{option::memory_mask, option::memory_key_mask, option::memory_valid_length, &ModelChoice::target,
              &ModelInput::memory_mask};

std::vector<MaskedKeys> masked_keys(ModelNeeds part) {
  if (part == ModelNeeds::encoder) return {own_of_encoder};
  if (part == ModelNeeds::decoder) return {own_of_decoder, of_memory};
  return {own_of_encoder, of_target, of_memory};
}

void take_matrix(WordMask& mask, const Option& option, const MatrixFile& file, Shape shape) {
  const Shape given = file.matrix.shape();
  if (given.columns != shape.columns || (given.rows != shape.rows && given.rows != 1)) {
    fail("{} is {}, and must be {} or 1×{}: a column for each key, and a row for each query or one for all",
         option.name, to_string(given), to_string(shape), shape.columns);
  }
  for (const double cell : cells(file.matrix)) {
    if (std::isnan(cell) || cell == INFINITY) fail("{}: every number must be finite, or -inf", option.name);
  }
  (reading_of_mask(file).is_added ? mask.bias : mask.allowed) = file.matrix;
}

// One row for all queries.
void take_keys(WordMask& mask, const Option& option, const MatrixFile& file, Shape shape) {
  require_key_mask(option, file, 1);
  const std::size_t columns = file.matrix.shape().columns;
  if (columns != shape.columns)
    fail("{} has {}, and there are {} keys: give a column for each", option.name, count_of(columns, "column"),
         shape.columns);
  mask.keys = file.matrix;
}

void take_lengths(WordMask& mask, const Option& option, const std::vector<std::size_t>& lengths, Shape shape) {
  if (lengths.size() != 1 && lengths.size() != shape.rows) {
    fail("{}: {} are given for {}: give one for all, or one for each query", option.name,
         count_of(lengths.size(), "length"), count_of(shape.rows, "query", "queries"));
  }
  mask.valid_lengths = lengths;
}

// Gives the words of a choice the masks that the options ask for. Throws InputError for one that does not
// fit.
void take_masks(ModelChoice& choice, const Arguments& arguments, const ModelUse& use) {
  for (const MaskedKeys& row : masked_keys(use.needs)) {
    ModelInput& words = choice.*row.words;
    const bool crosses = row.of_words == &ModelInput::memory_mask;
    const std::size_t encoded = choice.memory ? choice.memory->shape().rows : choice.source.size();
    const Shape shape{words.size(), crosses ? encoded : words.size()};
    for (const Option* option : {&row.mask, &row.keys, &row.length}) {
      if (arguments.has(*option) && shape.cells() == 0)
        fail("{} has no effect: the model has no such words", option->name);
    }
    WordMask& mask = words.*row.of_words;
    if (arguments.matrices(row.mask).size() > 1)
      fail("{}: {} are given: give one for all heads", row.mask.name,
           count_of(arguments.matrices(row.mask).size(), "mask"));
    if (arguments.has(row.mask)) take_matrix(mask, row.mask, arguments.matrix(row.mask), shape);
    if (arguments.has(row.keys)) take_keys(mask, row.keys, arguments.matrix(row.keys), shape);
    if (!arguments.has(row.length)) continue;
    const std::vector<std::size_t>& lengths = arguments.counts(row.length);
    take_lengths(mask, row.length, lengths, shape);
    if (std::optional<std::string> remark = remark_on_lengths(row.length, lengths, shape.columns))
      choice.remarks.push_back(std::move(*remark));
  }
}

// --- choice

struct NamedSize {
  std::string_view name;
  TransformerSizes sizes;
};

constexpr NamedSize named_sizes[] = {
    {"tiny", {.encoder_layers = 2, .decoder_layers = 2, .d_model = 4, .heads = 2, .d_ff = 8}},
    // Vaswani et al. 2017
    {"base", {.encoder_layers = 6, .decoder_layers = 6, .d_model = 512, .heads = 8, .d_ff = 2048}},
};

class Chooser {
 public:
  Chooser(const Arguments& arguments, const ModelUse& use) : arguments_(arguments), use_(use) {}

  ModelChoice with_words() {
    take_model();
    require_side();
    take_words(choice_, {arguments_, told_, choice_.words}, use_);
    take_pair();
    remark_on_left_out();
    take_masks(choice_, arguments_, use_);
    take_positions(choice_, own_side(), arguments_);
    const bool is_described = arguments_.has(option::model) || arguments_.has(option::example);
    if (is_described && any(choice_.source.blank)) leave_out_description();
    remark_on_idle_options();
    return std::move(choice_);
  }

  // A random model knows the words that it is run on.
  ModelChoice alone() {
    heads_matter_ = false;
    take_model();
    if (is_drawn()) {
      take_words(choice_, {arguments_, told_, choice_.words}, use_);
      return std::move(choice_);
    }
    for (const Option* option : {&option::source, &option::target, &option::x, &option::target_x, &option::memory,
                                 &option::n, &option::first_position, &option::position_ids}) {
      remark_on_idle(*option, "words do not change parameters");
    }
    remark_on_idle(option::tokenizer, "words do not change parameters");
    remark_on_idle(option::seed, "no parameter is drawn");
    return std::move(choice_);
  }

 private:
  // What a file says of its model is true of words, and need not be of padding.
  void leave_out_description() {
    choice_.model.summary.clear();
    choice_.model.about.clear();
  }

  bool is_drawn() const { return choice_.model.parameters.empty(); }

  void take_model() {
    if (const auto example = arguments_.text(option::example)) {
      const ModelExample& row = look_up(model_examples(), *example, "example");
      take_file(read_transformer(row.bytes, std::string(row.name)), std::string(row.name));
    } else if (const auto file = arguments_.text(option::model)) {
      take_file(read_model(*file, arguments_.text(option::tokenizer)), *file);
    } else if (arguments_.has(option::parameters)) {
      choice_.model.recipe = asked_model_recipe(arguments_, use_);
      take_parameter_file(*arguments_.text(option::parameters));
    } else {
      plan();
    }
    choice_.model.recipe.single = arguments_.has(option::single);
    tell_token_ids();
    name_sides();
  }

  void tell_token_ids() {
    Transformer& model = choice_.model;
    constexpr std::string_view from_one = "The matrices of ids count them from 1, as rows of the embeddings.";
    if (model.recipe.first_output && are_token_ids(model.target_vocabulary)) {
      model.about.push_back(
          fmt::format("Its output layer names one of {} classes, which count from 0.", model.target_vocabulary.size()));
      return;
    }
    if (choice_.words.tokenizer) {
      model.about.push_back(fmt::format("Its words are the pieces of a tokenizer ({}), whose ids begin with 0. {}",
                                        choice_.words.tokenizer->kind(), from_one));
      return;
    }
    for (const Vocabulary* vocabulary : {&model.source_vocabulary, &model.target_vocabulary}) {
      if (!are_token_ids(*vocabulary)) continue;
      model.about.push_back(fmt::format("Its words are token ids, from 0 to {}. {}", vocabulary->size() - 1, from_one));
      if (!choice_.words.unread.empty())
        model.about.push_back(fmt::format("The model has {}. {} gives it another tokenizer.", choice_.words.unread,
                                          option::tokenizer.name));
      return;
    }
  }

  // --text and --x give the words and the vectors that come first: of the target, where a decoder is shown
  // or there is no encoder.
  void name_sides() {
    rename(option::text, own_side() == OwnSide::source ? option::source : option::target);
    if (!choice_.model.has_encoder()) rename(option::x, option::target_x);
  }

  OwnSide own_side() const {
    const bool is_of_target = use_.begins_with_target && choice_.model.kind->decodes;
    return choice_.model.has_encoder() && !is_of_target ? OwnSide::source : OwnSide::target;
  }

  void rename(const Option& from, const Option& to) {
    if (!arguments_.has(from)) return;
    if (arguments_.has(to)) fail("{} and {} are both given: give one of them", from.name, to.name);
    if (from.kind == Kind::texts) {
      const std::vector<std::string>& texts = arguments_.texts(from);
      const bool may_be_pair = &to == &option::source && may_have_pair(choice_.model, choice_.words);
      if (may_be_pair && texts.size() == 2) {
        pair_ = input_of_pair(texts[0], texts[1], choice_.model, choice_.words);
        arguments_.put(to, std::string(texts.front()));
        arguments_.leave_out(std::array{&from});
        return;
      }
      if (texts.size() > 1)
        fail("{} is given {} times: give it once{}", from.name, texts.size(),
             may_be_pair ? ", or twice for a pair" : "");
      arguments_.put(to, std::string(texts.front()));
    } else {
      arguments_.put(to, std::vector<MatrixFile>(arguments_.matrices(from)));
    }
    arguments_.leave_out(std::array{&from});
  }

  // Of a text that was given, characters for which the tokenizer has no piece.
  void remark_on_left_out() {
    for (const Option* option : {&option::source, &option::target}) {
      const std::optional<std::string> text = arguments_.text(*option);
      const std::size_t count = text ? choice_.words.left_out_of(*text) : 0;
      if (count == 0) continue;
      choice_.remarks.push_back(fmt::format(
          "{0:# character|# characters} of the text {0:is|are} left out: the tokenizer has no piece for {0:it|them}",
          Count{count}));
    }
  }

  void take_pair() {
    if (pair_) choice_.source = *pair_;
  }

  void require_side() const {
    const Transformer& model = choice_.model;
    if (use_.needs == ModelUse::Needs::encoder && !model.has_encoder()) {
      fail("attn {} needs an encoder, and this model has none: use attn decoder", use_.command);
    }
    if (use_.needs == ModelUse::Needs::decoder && !model.kind->decodes) {
      fail("attn {} needs a decoder, and this model has none: use attn encoder", use_.command);
    }
  }

  void remark_on_idle(const Option& option, std::string_view reason) {
    if (!arguments_.has(option)) return;
    choice_.remarks.push_back(fmt::format("{} has no effect here: {}", option.name, reason));
  }

  void remark_on_idle_options() {
    const ModelChoice& choice = choice_;
    const bool draws_vectors = (choice.source.x && !arguments_.has(option::x)) ||
                               (choice.target.x && !arguments_.has(option::target_x)) ||
                               (choice.memory && !arguments_.has(option::memory));
    if (!is_drawn() && !draws_vectors) remark_on_idle(option::seed, "no parameter and no vector is drawn");
    const bool embeds = !choice.source.ids.empty() || !choice.target.ids.empty();
    const ModelRecipe& recipe = choice.model.recipe;
    if (!embeds && !recipe.positions->of_queries_and_keys) {
      for (const Option* option : {&option::positions, &option::base})
        remark_on_idle(*option, "positions are added to embeddings, and vectors are given");
    } else if (!recipe.positions->has_waves) {
      remark_on_idle(option::base, fmt::format("the positions are {}", recipe.positions->name));
    }
    if (!choice.model.kind->decodes) remark_on_idle(option::tied_output, "there is no decoder");
    const bool normalizes = recipe.norm->in_layers() || recipe.norm->at_the_end;
    for (const Option* option : {&option::norm_kind, &option::epsilon}) {
      if (!normalizes) remark_on_idle(*option, "there is no normalization");
    }
  }

  void take_file(TransformerFile file, const std::string& where) {
    choice_.model = std::move(file.model);
    choice_.words = std::move(file.words);
    require_agreement(arguments_, choice_.model, where);
    require_same_recipe(arguments_, use_, choice_.model, where);
    told_ = {std::move(file.source), std::move(file.target)};
  }

  void take_parameter_file(const std::string& path) {
    Transformer& model = choice_.model;
    const std::optional<std::size_t> heads = arguments_.count(option::heads);
    if (!heads && heads_matter_) fail_without_heads(path);
    model.sizes.heads = heads.value_or(1);
    arguments_.tell("reading parameters");
    ParameterFile file = parameters_asked_for(arguments_, path);
    model.recipe = asked_model_recipe(arguments_, use_, file, path);
    const std::size_t matrices = file.parameters.size();
    take_parameters(model, std::move(file.parameters), path);
    if (arguments_.has(option::gated) && !model.recipe.gated)
      fail("{}: the feed-forward layers of {} have no gate: leave out {}", option::gated.name, path,
           option::gated.name);
    require_agreement(arguments_, model, path);
    const std::vector<AssumedField> assumed = assumed_fields(arguments_, use_, model.recipe, file.brings);
    if (!assumed.empty()) {
      model.about.push_back(told_on_page(assumed));
      tell_inputs(assumed, path, matrices);
    }
    const bool learned = model.sizes.source_places > 0 || model.sizes.target_places > 0;
    if (learned && !arguments_.has(option::positions) && !arguments_.has(option::recipe))
      model.recipe.positions = find_row(position_kinds(), "learned");
    model.title = fmt::format("{} of {}", file.layout, path);
  }

  // Kind and sizes of a model that is drawn, and the words that it knows.
  void plan() {
    Transformer& model = choice_.model;
    model.kind =
        &look_up(model_kinds(), arguments_.text(option::kind).value_or(std::string(use_.usual_kind)), "kind of model");
    plan_sizes();
    name_sides();
    model.recipe = asked_model_recipe(arguments_, use_);
    const AskedWords asked{arguments_, told_, choice_.words};
    const std::vector<std::string> source = sentence(asked, source_side), target = sentence(asked, target_side);
    if (!arguments_.has(option::x)) model.source_vocabulary = with_new_words({}, source);
    if (model.kind->decodes && !arguments_.has(option::target_x)) {
      model.target_vocabulary = with_new_words({std::string(start_word), std::string(end_word)}, target);
    }
    model.sizes.source_words = model.source_vocabulary.size();
    model.sizes.target_words = model.target_vocabulary.size();
    if (model.recipe.positions->table_shape) {
      model.sizes.source_places = model.sizes.target_places =
          positions_needed(arguments_, own_side(), source.size(), target.size() + 1);
    }
  }

  void plan_sizes() {
    TransformerSizes& sizes = choice_.model.sizes;
    sizes =
        look_up(std::span<const NamedSize>(named_sizes), arguments_.text(option::size).value_or("tiny"), "size").sizes;
    sizes.encoder_layers = sizes.decoder_layers = arguments_.count(option::layers).value_or(sizes.encoder_layers);
    sizes.d_model = arguments_.count(option::d_model).value_or(sizes.d_model);
    sizes.heads = arguments_.count(option::heads).value_or(sizes.heads);
    sizes.d_ff = arguments_.count(option::d_ff).value_or(sizes.d_ff);
    if (sizes.d_model % sizes.heads != 0)
      fail("--heads: d_model ({}) is not divisible by the number of heads ({})", sizes.d_model, sizes.heads);
    const NamedRecipe* const named = named_recipe(arguments_);
    sizes.key_heads = arguments_.count(option::kv_heads).value_or(named ? named->key_heads(sizes.heads) : sizes.heads);
    require_groups(sizes.all_heads());
  }

  Arguments arguments_;
  const ModelUse& use_;
  ModelChoice choice_;
  GivenSentences told_;
  bool heads_matter_ = true;
  std::optional<ModelInput> pair_;  // two texts, which go in as one
};

}  // namespace

// --- choice

std::vector<OptionChoice> choices::sizes() {
  std::vector<OptionChoice> names;
  for (const NamedSize& size : named_sizes) names.push_back({size.name, ""});
  return names;
}

ModelChoice planned_model(const Arguments& arguments, const ModelUse& use) {
  return Chooser(arguments, use).with_words();
}

ModelChoice planned_model_alone(const Arguments& arguments, const ModelUse& use) {
  return Chooser(arguments, use).alone();
}

std::string note_on_random_parameters(const ModelUse& use, const ModelKind& kind, std::uint32_t seed) {
  const auto pointer = [&] {
    if (use.needs == ModelUse::Needs::encoder)
      return pointer_to_trained(use.command, [](const Transformer& model) { return model.has_encoder(); });
    if (use.needs == ModelUse::Needs::decoder || use.writes)
      return pointer_to_trained(use.command, [](const Transformer& model) { return model.kind->decodes; });
    return pointer_to_trained(use.command, [&](const Transformer& model) { return model.kind == &kind; });
  };
  return fmt::format("The parameters are random (seed {}), not trained. The results have no meaning for language.{}",
                     seed, pointer());
}

ModelChoice with_drawn_parameters(ModelChoice choice, const Arguments& arguments, const ModelUse& use) {
  if (!choice.model.parameters.empty()) return choice;
  require_drawable(choice.model);
  arguments.tell("drawing parameters");
  const std::uint32_t seed = model_seed(arguments);
  RandomSource random(random_kind::by_name, seed);
  draw_parameters(choice.model, random);
  choice.drawings.add(random.drawings());
  choice.drawn_with = seed;
  choice.model.about.push_back(note_on_random_parameters(use, *choice.model.kind, seed));
  return choice;
}

}  // namespace attn
