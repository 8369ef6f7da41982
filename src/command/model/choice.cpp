#include "command/model/choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "command/model/words.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

constexpr std::size_t most_layers = 1000, most_numbers = 65536, most_inner = 1 << 20;

struct Size {
  std::string_view name;
  TransformerSizes sizes;
};

constexpr Size named_sizes[] = {
    {"tiny", {.layers = 2, .d_model = 4, .heads = 2, .d_ff = 8}},
    {"base", {.layers = 6, .d_model = 512, .heads = 8, .d_ff = 2048}},  // Vaswani et al. 2017
};

using Words = std::vector<std::string>;

Words with_new_words(Words first, const Words& words) {
  for (const std::string& word : words) {
    if (std::ranges::find(first, word) == first.end()) first.push_back(word);
  }
  return first;
}

class Chooser {
 public:
  Chooser(const Arguments& arguments, std::string_view usual) : arguments_(arguments), usual_(usual) {}

  // What would not fit into memory is refused before anything is drawn.
  ModelChoice choose() {
    take_model();
    take_what_goes_in();
    if (drawn_) require_drawable(choice_.model);
    require_memory(choice_);
    if (!drawn_) return std::move(choice_);
    arguments_.tell("drawing parameters");
    draw_parameters(choice_.model, seed_);
    return std::move(choice_);
  }

  ModelChoice plan_only() {
    take_model();
    take_what_goes_in();
    return std::move(choice_);
  }

 private:
  void refuse_beside(std::string_view one, std::initializer_list<std::string_view> others) const {
    for (const std::string_view other : others) arguments_.exclude(one, other);
  }

  void take_model() {
    choice_.model.norm = &norm_placements().front();
    if (arguments_.has("model")) {
      refuse_beside(
          "model", {"parameters", "size", "layers", "d-model", "d-ff", "heads", "positions", "norm", "kind"});
      take_file(read_model_file(*arguments_.text("model")));
    } else if (arguments_.has("parameters")) {
      refuse_beside("parameters", {"size", "layers", "d-model", "d-ff", "kind"});
      take_recipe();
      read_parameter_file(*arguments_.text("parameters"));
    } else {
      plan();
      drawn_ = true;
    }
  }

  void take_what_goes_in() {
    take_words(choice_, {arguments_, told_}, look_up(model_kinds(), usual_, "kind of model"));
    remark_on_idle_options();
  }

  void remark_on_idle_options() {
    const ModelChoice& choice = choice_;
    const bool draws_vectors = (choice.source.x && !arguments_.has("x")) ||
                               (choice.target.x && !arguments_.has("target-x")) ||
                               (choice.memory && !arguments_.has("memory"));
    if (arguments_.has("seed") && !drawn_ && !draws_vectors) {
      choice_.remarks.emplace_back("--seed changes nothing here: nothing is drawn");
    }
    const bool embeds = !choice.source.ids.empty() || !choice.target.ids.empty();
    if (arguments_.has("positions") && !embeds) {
      choice_.remarks.emplace_back(
          "--positions changes nothing here: positions are added to embeddings, and vectors are given");
    }
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
    if (const auto norm = arguments_.text("norm")) {
      model.norm = &look_up(norm_placements(), *norm, "placement of norms");
    }
    if (const auto positions = arguments_.text("positions")) {
      const PositionKind& kind = look_up(position_kinds(), *positions, "kind of positions");
      if (!kind.of_embeddings && kind.name != "none") {
        fail(
            "--positions {}: a Transformer adds positions to its embeddings: give none, sinusoidal, "
            "concatenated or "
            "learned",
            kind.name);
      }
      model.positions = kind.name;
    }
  }

  void read_parameter_file(const std::string& path) {
    Transformer& model = choice_.model;
    const std::optional<std::size_t> heads = arguments_.count("heads", 1, most_numbers);
    if (!heads)
      fail("--parameters {}: the file does not tell how many heads there are: give --heads N", path);
    model.sizes.heads = *heads;
    arguments_.tell("reading parameters");
    ParameterFile file = read_parameters(path);
    take_parameters(model, std::move(file.parameters), path);
    if (model.sizes.places > 0 && !arguments_.has("positions")) model.positions = "learned";
    model.title = fmt::format("{} of {}", file.layout, path);
  }

  // Kind and sizes of a model that is drawn, and the words that it knows.
  void plan() {
    Transformer& model = choice_.model;
    model.kind =
        &look_up(model_kinds(), arguments_.text("kind").value_or(std::string(usual_)), "kind of model");
    model.sizes =
        look_up(std::span<const Size>(named_sizes), arguments_.text("size").value_or("tiny"), "size").sizes;
    const auto take = [&](std::string_view option, std::size_t& size, std::size_t most) {
      if (const auto given = arguments_.count(option, 1, most)) size = *given;
    };
    take("layers", model.sizes.layers, most_layers);
    take("d-model", model.sizes.d_model, most_numbers);
    take("heads", model.sizes.heads, most_numbers);
    take("d-ff", model.sizes.d_ff, most_inner);
    if (model.sizes.d_model % model.sizes.heads != 0) {
      fail("--heads {}: the {} numbers of d_model cannot be shared out equally among them", model.sizes.heads,
           model.sizes.d_model);
    }
    take_recipe();
    const AskedWords asked{arguments_, told_};
    const Words source = source_words(asked), target = target_words(asked);
    if (!arguments_.has("x")) model.source_vocabulary = with_new_words({}, source);
    if (!arguments_.has("target-x")) {
      model.target_vocabulary = with_new_words({std::string(start_word), std::string(end_word)}, target);
    }
    model.sizes.source_words = model.source_vocabulary.size();
    model.sizes.target_words = model.target_vocabulary.size();
    if (model.positions == "learned") {
      model.sizes.places = std::max(source.size(), target.size() + 1);
    }
  }

  const Arguments& arguments_;
  std::string_view usual_;
  ModelChoice choice_;
  ToldSentences told_;
  std::uint32_t seed_ = model_seed(arguments_);
  bool drawn_ = false;
};

}  // namespace

std::vector<Option> model_options() {
  return {
      {"--model", "NAME", "a built-in model, or a JSON file with its parameters and words"},
      {"--parameters", "FILE", "safetensors, npz or JSON; state dictionaries of PyTorch's modules too"},
      {"--save-parameters", "FILE", "writes the parameters: .safetensors or .npz"},
      {"--size", "NAME", "tiny, which fits a screen, or base, the paper's (tiny)"},
      {"--layers", "N", "layers of the encoder and of the decoder"},
      {"--heads", "N", "heads of every attention"},
      {"--d-model", "N", "numbers in a word's vector"},
      {"--d-ff", "N", "numbers inside the feed-forward layer"},
      {"--norm", "WHERE", "post: after the residual connection, pre: before the sub-layer, none (post)"},
      {"--positions", "KIND", "none, sinusoidal, concatenated or learned (sinusoidal)"},
      {"--seed", "N", "of what is drawn (1)"},
      {"--source", "SENTENCE", "what is encoded; <blank> is padding"},
      {"--target", "SENTENCE", "what the decoder is given, one place later"},
      {"--x", "MATRIX", "vectors in place of the source's words"},
      {"--target-x", "MATRIX", "vectors in place of the target's words"},
      {"--memory", "MATRIX", "what was encoded, for a decoder alone"},
      {"--n", "N", "as many words on both sides, without names of their own"},
  };
}

ModelChoice chosen_model(const Arguments& arguments, std::string_view usual) {
  return Chooser(arguments, usual).choose();
}

ModelChoice planned_model(const Arguments& arguments, std::string_view usual) {
  return Chooser(arguments, usual).plan_only();
}

Keep telling(Keep keep, const Arguments& arguments) {
  return [keep = std::move(keep), &arguments](const Node& node) {
    if (!node.name.empty()) arguments.tell(node.name);
    return keep(node);
  };
}

std::string word_of(const std::vector<std::string>& vocabulary, std::size_t id) {
  return id <= vocabulary.size() ? vocabulary[id - 1] : std::to_string(id);
}

}  // namespace attn
