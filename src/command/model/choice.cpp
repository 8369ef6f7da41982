#include "command/model/choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attention/masks.hpp"
#include "command/model/words.hpp"
#include "command/parameter_file.hpp"
#include "parameters/transformer_parameters.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

struct Size {
  std::string_view name;
  TransformerSizes sizes;
};

constexpr Size named_sizes[] = {
    {"tiny", {.encoder_layers = 2, .decoder_layers = 2, .d_model = 4, .heads = 2, .d_ff = 8}},
    // Vaswani et al. 2017
    {"base", {.encoder_layers = 6, .decoder_layers = 6, .d_model = 512, .heads = 8, .d_ff = 2048}},
};

// What a file of parameters leaves open.
std::string assumptions_in_words(const NormPlacement& norm) {
  if (!norm.in_layers)
    return "The file does not name the activation. Assumed here: ReLU in the feed-forward layers.";
  return fmt::format(
      "The file does not name the activation and ε. Assumed here: ReLU in the feed-forward layers, and ε = "
      "{} in layer normalization.",
      LayerNorm::usual_epsilon);
}

class Chooser {
 public:
  Chooser(const Arguments& arguments, const ModelUse& use) : arguments_(arguments), use_(use) {}

  ModelChoice with_words() {
    take_model();
    require_side();
    take_words(choice_, {arguments_, told_}, use_);
    if (arguments_.has(option::model) && any(choice_.source.blank)) leave_out_description();
    remark_on_idle_options();
    return std::move(choice_);
  }

  // A random model knows the words that it is run on.
  ModelChoice alone() {
    heads_matter_ = false;
    take_model();
    if (is_drawn()) {
      take_words(choice_, {arguments_, told_}, use_);
      return std::move(choice_);
    }
    for (const Option* option :
         {&option::source, &option::target, &option::x, &option::target_x, &option::memory, &option::n}) {
      remark_on_idle(*option, "words do not change parameters");
    }
    remark_on_idle(option::seed, "nothing is random");
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
    choice_.model.norm = &norm_placements().front();
    if (arguments_.has(option::model)) {
      take_file(read_model_file(*arguments_.text(option::model)));
    } else if (arguments_.has(option::parameters)) {
      take_recipe();
      take_parameter_file(*arguments_.text(option::parameters));
    } else {
      plan();
    }
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
    if (!is_drawn() && !draws_vectors) remark_on_idle(option::seed, "nothing is random");
    const bool embeds = !choice.source.ids.empty() || !choice.target.ids.empty();
    if (!embeds)
      remark_on_idle(option::positions, "positions are added to embeddings, and vectors are given");
  }

  static TransformerFile read_model_file(const std::string& name) {
    if (const ModelExample* example = find_row(model_examples(), name)) {
      return read_transformer(example->json, std::string(example->name));
    }
    if (name.find_first_of("./") == std::string::npos && name != "-") {
      fail_unknown("model", name, names_of(model_examples()));
    }
    return read_transformer(read_bytes(name), name);
  }

  void take_file(TransformerFile file) {
    choice_.model = std::move(file.model);
    told_ = {std::move(file.source), std::move(file.target)};
  }

  void take_recipe() {
    Transformer& model = choice_.model;
    if (const auto norm = arguments_.text(option::norm)) {
      model.norm = &look_up(norm_placements(), *norm, "placement of norms");
    }
    if (const auto positions = arguments_.text(option::positions)) {
      const PositionKind& kind = look_up(position_kinds(), *positions, "kind of positions");
      if (!kind.of_embeddings && kind.name != "none") {
        fail(
            "--positions {}: this model adds positions to its embeddings. Choose one of: none, sinusoidal, "
            "concatenated, learned",
            kind.name);
      }
      model.positions = kind.name;
    }
  }

  void take_parameter_file(const std::string& path) {
    Transformer& model = choice_.model;
    const std::optional<std::size_t> heads = arguments_.count(option::heads);
    if (!heads && heads_matter_) fail_without_heads(path);
    model.sizes.heads = heads.value_or(1);
    arguments_.tell("reading parameters");
    ParameterFile file = parameters_asked_for(arguments_, path);
    take_parameters(model, std::move(file.parameters), path);
    model.about.push_back(assumptions_in_words(*model.norm));
    const bool learned = model.sizes.source_places > 0 || model.sizes.target_places > 0;
    if (learned && !arguments_.has(option::positions)) model.positions = "learned";
    model.title = fmt::format("{} of {}", file.layout, path);
  }

  // Kind and sizes of a model that is drawn, and the words that it knows.
  void plan() {
    Transformer& model = choice_.model;
    model.kind = &look_up(model_kinds(), arguments_.text(option::kind).value_or(std::string(use_.usual_kind)),
                          "kind of model");
    plan_sizes();
    take_recipe();
    const AskedWords asked{arguments_, told_};
    const std::vector<std::string> source = sentence(asked, source_side),
                                   target = sentence(asked, target_side);
    if (!arguments_.has(option::x)) model.source_vocabulary = with_new_words({}, source);
    if (!arguments_.has(option::target_x)) {
      model.target_vocabulary = with_new_words({std::string(start_word), std::string(end_word)}, target);
    }
    model.sizes.source_words = model.source_vocabulary.size();
    model.sizes.target_words = model.target_vocabulary.size();
    if (model.positions == "learned") {
      model.sizes.source_places = model.sizes.target_places = std::max(source.size(), target.size() + 1);
    }
  }

  void plan_sizes() {
    TransformerSizes& sizes = choice_.model.sizes;
    sizes =
        look_up(std::span<const Size>(named_sizes), arguments_.text(option::size).value_or("tiny"), "size")
            .sizes;
    sizes.encoder_layers = sizes.decoder_layers =
        arguments_.count(option::layers).value_or(sizes.encoder_layers);
    sizes.d_model = arguments_.count(option::d_model).value_or(sizes.d_model);
    sizes.heads = arguments_.count(option::heads).value_or(sizes.heads);
    sizes.d_ff = arguments_.count(option::d_ff).value_or(sizes.d_ff);
    if (sizes.d_model % sizes.heads == 0) return;
    fail("--heads: d_model ({}) is not divisible by the number of heads ({})", sizes.d_model, sizes.heads);
  }

  const Arguments& arguments_;
  const ModelUse& use_;
  ModelChoice choice_;
  ToldSentences told_;
  bool heads_matter_ = true;
};

}  // namespace

ModelChoice planned_model(const Arguments& arguments, const ModelUse& use) {
  return Chooser(arguments, use).with_words();
}

ModelChoice planned_model_alone(const Arguments& arguments, const ModelUse& use) {
  return Chooser(arguments, use).alone();
}

ModelChoice drawn(ModelChoice choice, const Arguments& arguments) {
  if (!choice.model.parameters.empty()) return choice;
  require_drawable(choice.model);
  arguments.tell("drawing parameters");
  const std::uint32_t seed = model_seed(arguments);
  draw_parameters(choice.model, seed);
  choice.model.about.push_back(fmt::format(
      "The parameters are random (seed {}), not trained. The results have no meaning for language.", seed));
  return choice;
}

}  // namespace attn
