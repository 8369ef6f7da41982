#include "command/model/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/words.hpp"
#include "math/random.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/parsed.hpp"

namespace attn {
namespace {

constexpr std::string_view usual_source = "the cat sat", usual_target = "die Katze saß";
constexpr std::size_t most_words = 10000;

using Words = std::vector<std::string>;

// A side of a model, with the options that give it words.
struct Side {
  std::string_view sentence;
  std::string_view vectors;
  std::uint32_t after_seed;  // so that both sides are drawn differently
};

constexpr Side source_side{"source", "x", 1}, target_side{"target", "target-x", 2};

bool has_word(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

Words sentence(const Arguments& arguments, const Side& side, const std::string& usual) {
  for (const Side& each : {source_side, target_side}) {
    arguments.exclude("n", each.sentence);
    arguments.exclude("n", each.vectors);
  }
  Words words;
  if (const auto n = arguments.count("n", 1, most_words)) {
    for (std::size_t i = 1; i <= *n; ++i) words.push_back(fmt::format("w{}", i));
    return words;
  }
  words = split_words(arguments.text(side.sentence).value_or(usual));
  if (words.size() > most_words) {
    fail("--{} has {} words: give at most {}", side.sentence, words.size(), most_words);
  }
  return words;
}

std::size_t id_of(const std::string& word, const Words& vocabulary, std::size_t rows) {
  if (!vocabulary.empty()) {
    const auto found = std::ranges::find(vocabulary, word);
    if (found == vocabulary.end()) fail_unknown("word", word, vocabulary);
    return static_cast<std::size_t>(found - vocabulary.begin()) + 1;
  }
  const std::optional<std::size_t> id = parsed<std::size_t>(word);
  if (!id || *id < 1 || *id > rows) {
    fail("'{}' is no word of this model, which has no words but numbers from 1 to {}", word, rows);
  }
  return *id;
}

std::vector<bool> blanks_among(const Words& words) {
  std::vector<bool> blanks;
  for (const std::string& word : words) blanks.push_back(word == blank);
  return blanks;
}

// Nobody looks at a blank: any id does for one that the model does not know.
ModelInput input_of(const Words& words, const Words& vocabulary, std::size_t rows) {
  ModelInput input{.tokens = words, .blank = blanks_among(words)};
  for (const std::string& word : words) {
    const bool unknown_blank = word == blank && !has_word(vocabulary, word);
    input.ids.push_back(unknown_blank ? 1 : id_of(word, vocabulary, rows));
  }
  return input;
}

Matrix given_vectors(const std::string& option, const std::string& source, std::size_t d_model) {
  Matrix matrix = read_matrix(source).matrix;
  if (!std::ranges::all_of(cells(matrix), [](double cell) { return std::isfinite(cell); })) {
    fail("--{}: every number must be finite", option);
  }
  if (matrix.shape()[1] != d_model) {
    fail("--{} is {} but d_model is {}: it must have {} columns", option, to_string(shape_of(matrix)),
         d_model, d_model);
  }
  return matrix;
}

class WordTaker {
 public:
  WordTaker(ModelChoice& choice, const AskedWords& asked, const ModelKind& usual)
      : choice_(choice), asked_(asked), arguments_(asked.arguments), usual_(usual) {}

  void take() {
    const ModelKind& kind = *choice_.model.kind;
    const bool lone_decoder = !choice_.model.parameters.empty() && kind.encodes &&
                              !choice_.model.parameters.contains("encoder.1.self_attention.w_q");
    if (!kind.encodes) refuse({"source", "x", "memory"}, "the model has no encoder: give --target");
    if (!kind.decodes || !usual_.decodes) {
      refuse({"target", "target-x", "memory"}, "there is no decoder here to read it");
    }
    if (kind.encodes && lone_decoder) take_memory();
    if (kind.encodes && !lone_decoder) {
      refuse({"memory"}, "the model has an encoder of its own: give --source or --x");
      take_source();
    }
    if (kind.decodes && usual_.decodes) take_target();
  }

 private:
  void refuse(std::initializer_list<std::string_view> options, std::string_view reason) const {
    for (const std::string_view option : options) {
      if (arguments_.has(option)) fail("--{} changes nothing: {}", option, reason);
    }
  }

  // Vectors that are given, or drawn where a model has no embeddings.
  ModelInput vectors(const Side& side, const Words& words) {
    ModelInput input;
    const std::size_t d = choice_.model.sizes.d_model;
    if (const auto given = arguments_.text(side.vectors)) {
      input.x = given_vectors(std::string(side.vectors), *given, d);
      if (!arguments_.has(side.sentence)) return input;
      if (words.size() != input.size()) {
        fail("--{} has {} words but --{} has {} rows: give one word for each row", side.sentence,
             words.size(), side.vectors, input.size());
      }
    } else {
      if (words.size() > most_cells / d) {
        fail("--{}: {} words of {} numbers are too many", side.sentence, words.size(), d);
      }
      const std::uint32_t seed = model_seed(arguments_) + side.after_seed;
      input.x = random_kinds().front().make(seed)->embeddings({words.size(), d});
      choice_.remarks.push_back(
          fmt::format("the model has no embeddings: the words' vectors are drawn; give --{}", side.vectors));
    }
    input.tokens = words;
    input.blank = blanks_among(words);
    return input;
  }

  void require_places(const Side& side, const Words& words) const {
    const Transformer& model = choice_.model;
    if (model.positions != "learned" || model.sizes.places == 0 || words.size() <= model.sizes.places) return;
    fail("--{}: {} words go in, and {} positions were learned: give fewer words", side.sentence, words.size(),
         model.sizes.places);
  }

  void take_source() {
    const Transformer& model = choice_.model;
    Words words = source_words(asked_);
    if (arguments_.has("x") || model.sizes.source_words == 0) {
      choice_.source = vectors(source_side, words);
      return;
    }
    const bool ends = has_word(model.source_vocabulary, end_word) && words.back() != end_word;
    if (ends) words.emplace_back(end_word);
    require_places(source_side, words);
    choice_.source = input_of(words, model.source_vocabulary, model.sizes.source_words);
  }

  // A decoder alone looks at what somebody else encoded.
  void take_memory() {
    refuse({"x"}, "the model has no encoder: give --memory, what was encoded");
    if (const auto given = arguments_.text("memory")) {
      refuse({"source"}, "--memory is what was encoded");
      choice_.memory = given_vectors("memory", *given, choice_.model.sizes.d_model);
      return;
    }
    ModelInput drawn = vectors(source_side, source_words(asked_));
    choice_.remarks.back() = "the model has no encoder: what was encoded is drawn; give --memory";
    choice_.memory = std::move(drawn.x);
  }

  void take_target() {
    const Transformer& model = choice_.model;
    Words words = target_words(asked_);
    if (arguments_.has("target-x") || model.sizes.target_words == 0) {
      choice_.target = vectors(target_side, words);
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
    require_places(target_side, words);
    choice_.target = input_of(words, model.target_vocabulary, model.sizes.target_words);
  }

  ModelChoice& choice_;
  const AskedWords& asked_;
  const Arguments& arguments_;
  const ModelKind& usual_;
};

std::string or_usual(const std::string& told, std::string_view usual) {
  return told.empty() ? std::string(usual) : told;
}

}  // namespace

std::vector<std::string> source_words(const AskedWords& asked) {
  return sentence(asked.arguments, source_side, or_usual(asked.told.source, usual_source));
}

std::vector<std::string> target_words(const AskedWords& asked) {
  return sentence(asked.arguments, target_side, or_usual(asked.told.target, usual_target));
}

std::uint32_t model_seed(const Arguments& arguments) {
  return static_cast<std::uint32_t>(
      arguments.count("seed", 0, std::numeric_limits<std::uint32_t>::max()).value_or(1));
}

void take_words(ModelChoice& choice, const AskedWords& asked, const ModelKind& usual) {
  WordTaker(choice, asked, usual).take();
}

// Every layer keeps a few matrices for each pair of words and for each word.
void require_memory(const ModelChoice& choice) {
  const TransformerSizes& sizes = choice.model.sizes;
  const double n = static_cast<double>(std::max(choice.source.size(), choice.target.size()));
  const double of_layer = n * n * 4.0 * static_cast<double>(sizes.heads) +
                          n * static_cast<double>(20 * sizes.d_model + 2 * sizes.d_ff);
  if (2.0 * of_layer * static_cast<double>(sizes.layers) <= 4.0 * static_cast<double>(most_cells)) return;
  fail("{} words in {} layers would need too much memory: give fewer, or see the --outline", n, sizes.layers);
}

}  // namespace attn
