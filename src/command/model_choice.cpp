#include "command/model_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "data/words.hpp"
#include "math/random.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

constexpr std::string_view start_word = "<start>", end_word = "<end>";
constexpr std::string_view usual_source = "the cat sat", usual_target = "die Katze saß";
constexpr std::size_t most_layers = 1000, most_numbers = 65536, most_inner = 1 << 20, most_words = 10000;

struct Size {
  std::string_view name;
  TransformerSizes sizes;
};

constexpr Size named_sizes[] = {
    {"tiny", {.layers = 2, .d_model = 4, .heads = 2, .d_ff = 8}},
    {"base", {.layers = 6, .d_model = 512, .heads = 8, .d_ff = 2048}},  // Vaswani et al. 2017
};

using Words = std::vector<std::string>;

bool has_word(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

Words with_new_words(Words first, const Words& words) {
  for (const std::string& word : words) {
    if (!has_word(first, word)) first.push_back(word);
  }
  return first;
}

Matrix finite(const std::string& option, const std::string& source) {
  Matrix matrix = read_matrix(source).matrix;
  if (!std::ranges::all_of(cells(matrix), [](double cell) { return std::isfinite(cell); })) {
    fail("--{}: every number must be finite", option);
  }
  return matrix;
}

class Chooser {
 public:
  Chooser(const Arguments& arguments, std::string_view usual) : arguments_(arguments), usual_(usual) {}

  ModelChoice choose() {
    Transformer& model = choice_.model;
    model.norm = &norm_placements().front();
    if (arguments_.has("model")) {
      refuse_beside("model",
                    {"parameters", "size", "layers", "d-model", "d-ff", "heads", "positions", "norm"});
      const std::string name = *arguments_.text("model");
      take_file(read_model_file(name));
    } else if (arguments_.has("parameters")) {
      refuse_beside("parameters", {"size", "layers", "d-model", "d-ff"});
      take_recipe();
      read_parameter_file(*arguments_.text("parameters"));
    } else {
      plan();
      draw_parameters(model, seed());
    }
    take_words();
    check();
    return std::move(choice_);
  }

  ModelChoice plan_only() {
    if (arguments_.has("model") || arguments_.has("parameters")) return choose();
    choice_.model.norm = &norm_placements().front();
    plan();
    take_words();
    return std::move(choice_);
  }

 private:
  void refuse_beside(std::string_view one, std::initializer_list<std::string_view> others) const {
    for (const std::string_view other : others) arguments_.exclude(one, other);
  }

  std::uint32_t seed() const {
    return static_cast<std::uint32_t>(
        arguments_.count("seed", 0, std::numeric_limits<std::uint32_t>::max()).value_or(1));
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
    told_source_ = std::move(file.source);
    told_target_ = std::move(file.target);
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
    ParameterFile file = read_parameters(path);
    take_parameters(model, std::move(file.parameters), path);
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
    if (!arguments_.has("x")) model.source_vocabulary = with_new_words({}, source_words());
    if (!arguments_.has("target-x")) {
      model.target_vocabulary =
          with_new_words({std::string(start_word), std::string(end_word)}, target_words());
    }
    model.sizes.source_words = model.source_vocabulary.size();
    model.sizes.target_words = model.target_vocabulary.size();
    if (model.positions == "learned") {
      model.sizes.places = std::max(source_words().size(), target_words().size() + 1);
    }
  }

  Words sentence(std::string_view option, const std::string& told, std::string_view usual) const {
    if (const auto n = arguments_.count("n", 1, most_words)) {
      Words words;
      for (std::size_t i = 1; i <= *n; ++i) words.push_back(fmt::format("w{}", i));
      return words;
    }
    const std::string text = arguments_.text(option).value_or(told.empty() ? std::string(usual) : told);
    Words words = split_words(text);
    if (words.size() > most_words)
      fail("--{} has {} words: give at most {}", option, words.size(), most_words);
    return words;
  }
  Words source_words() const { return sentence("source", told_source_, usual_source); }
  Words target_words() const { return sentence("target", told_target_, usual_target); }

  static ModelInput input_of(const Words& words, const Words& vocabulary, std::size_t rows) {
    ModelInput input{.tokens = words};
    for (const std::string& word : words) {
      input.blank.push_back(word == blank);
      if (word == blank && !has_word(vocabulary, word)) {
        input.ids.push_back(1);
        continue;
      }
      input.ids.push_back(id_of(word, vocabulary, rows));
    }
    return input;
  }

  static std::size_t id_of(const std::string& word, const Words& vocabulary, std::size_t rows) {
    if (!vocabulary.empty()) {
      const auto found = std::ranges::find(vocabulary, word);
      if (found == vocabulary.end()) fail_unknown("word", word, vocabulary);
      return static_cast<std::size_t>(found - vocabulary.begin()) + 1;
    }
    std::size_t id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size() || id < 1 || id > rows) {
      fail("'{}' is no word of this model, which has no words but numbers from 1 to {}", word, rows);
    }
    return id;
  }

  // Vectors that are given, or drawn where a model has no embeddings.
  ModelInput vectors(std::string_view option, const Words& words) {
    ModelInput input;
    const std::size_t d = choice_.model.sizes.d_model;
    if (const auto given = arguments_.text(option)) {
      input.x = finite(std::string(option), *given);
      if (input.x->shape()[1] != d) {
        fail("--{} is {} but d_model is {}: it must have {} columns", option, to_string(shape_of(*input.x)),
             d, d);
      }
      if (words.size() == input.x->shape()[0] && arguments_.has(option == "x" ? "source" : "target")) {
        input.tokens = words;
      }
      return input;
    }
    if (words.size() > most_cells / d)
      fail("--{}: {} words of {} numbers are too many", option, words.size(), d);
    input.x = random_kinds().front().make(seed() + (option == "x" ? 1 : 2))->embeddings({words.size(), d});
    input.tokens = words;
    choice_.remarks.push_back(
        fmt::format("the model has no embeddings: the words' vectors are drawn; give --{}", option));
    return input;
  }

  void take_words() {
    const Transformer& model = choice_.model;
    const bool has_encoder = !model.parameters.empty()
                                 ? model.parameters.contains("encoder.1.self_attention.w_q")
                                 : model.kind->encodes;
    if (model.kind->encodes && has_encoder) take_source();
    if (model.kind->encodes && !has_encoder) take_memory();
    if (model.kind->decodes) take_target();
  }

  void take_source() {
    const Transformer& model = choice_.model;
    Words words = source_words();
    if (arguments_.has("x") || model.sizes.source_words == 0) {
      choice_.source = vectors("x", words);
      return;
    }
    const bool ends = has_word(model.source_vocabulary, end_word) && words.back() != end_word;
    if (ends) words.emplace_back(end_word);
    choice_.source = input_of(words, model.source_vocabulary, model.sizes.source_words);
  }

  // A decoder alone looks at what somebody else encoded.
  void take_memory() {
    const std::size_t d = choice_.model.sizes.d_model;
    if (const auto given = arguments_.text("memory")) {
      choice_.memory = finite("memory", *given);
      if (choice_.memory->shape()[1] != d) {
        fail("--memory is {} but d_model is {}: it must have {} columns",
             to_string(shape_of(*choice_.memory)), d, d);
      }
      return;
    }
    ModelInput drawn = vectors("x", source_words());
    choice_.memory = std::move(drawn.x);
  }

  void take_target() {
    const Transformer& model = choice_.model;
    Words words = target_words();
    if (arguments_.has("target-x") || model.sizes.target_words == 0) {
      choice_.target = vectors("target-x", words);
      return;
    }
    // The outputs are offset by one: what goes in begins with <start>, and what should come out ends with
    // <end>.
    choice_.expected = words;
    if (has_word(model.target_vocabulary, start_word)) {
      words.insert(words.begin(), std::string(start_word));
    } else {
      choice_.expected.erase(choice_.expected.begin());
    }
    if (has_word(model.target_vocabulary, end_word)) choice_.expected.emplace_back(end_word);
    choice_.target = input_of(words, model.target_vocabulary, model.sizes.target_words);
  }

  // Every layer keeps a few matrices for each pair of words and for each word.
  void check() const {
    const TransformerSizes& sizes = choice_.model.sizes;
    const double n = static_cast<double>(std::max(choice_.source.size(), choice_.target.size()));
    const double of_layer = n * n * 4.0 * static_cast<double>(sizes.heads) +
                            n * static_cast<double>(20 * sizes.d_model + 2 * sizes.d_ff);
    if (2.0 * of_layer * static_cast<double>(sizes.layers) <= 4.0 * static_cast<double>(most_cells)) return;
    fail("{} words in {} layers would need too much memory: give fewer, or see the --outline", n,
         sizes.layers);
  }

  const Arguments& arguments_;
  std::string_view usual_;
  ModelChoice choice_;
  std::string told_source_, told_target_;
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

std::string word_of(const std::vector<std::string>& vocabulary, std::size_t id) {
  return id <= vocabulary.size() ? vocabulary[id - 1] : std::to_string(id);
}

}  // namespace attn
