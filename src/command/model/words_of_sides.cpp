#include "command/model/words_of_sides.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/math/random.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/model_words.hpp"

namespace attn {
namespace {

constexpr std::size_t few_words = 3;

// The only matrix of an option, with a row of size d_model for each word.
Matrix given_vectors(const Arguments& arguments, const Option& option, std::size_t d_model,
                     std::string_view what = "d_model") {
  const std::vector<MatrixFile>& files = arguments.matrices(option);
  if (files.size() > 1) fail("{} gives {} matrices: give one of them", option.name, files.size());
  const Matrix& matrix = files.front().matrix;
  if (!std::ranges::all_of(cells(matrix), [](double cell) { return std::isfinite(cell); })) {
    fail("{}: every number must be finite", option.name);
  }
  if (matrix.shape().columns != d_model) {
    fail("{} is {} but {} is {}: it must have {} columns", option.name, to_string(matrix.shape()), what, d_model,
         d_model);
  }
  return matrix;
}

class WordTaker {
 public:
  WordTaker(ModelChoice& choice, const AskedWords& asked, const ModelUse& use)
      : choice_(choice),
        asked_(asked),
        arguments_(asked.arguments),
        use_(use),
        usual_(look_up(model_kinds(), use.usual_kind, "kind of model")) {}

  void take() {
    const ModelKind& kind = *choice_.model.kind;
    const bool lone_decoder = kind.encodes && !choice_.model.has_encoder();
    if (!kind.encodes)
      refuse({&option::source, &option::x, &option::memory}, "the model has no encoder: give --target");
    if (!kind.decodes || !usual_.decodes) {
      refuse({&option::target, &option::target_x, &option::memory}, "there is no decoder here");
    }
    if (kind.encodes && lone_decoder) take_memory();
    if (kind.encodes && !lone_decoder) {
      refuse({&option::memory}, "the model has an encoder of its own: give --source or --x");
      take_source();
    }
    if (kind.decodes && usual_.decodes) take_target();
  }

 private:
  void refuse(std::initializer_list<const Option*> options, std::string_view reason) const {
    for (const Option* option : options) {
      if (arguments_.has(*option)) fail("{} has no effect: {}", option->name, reason);
    }
  }

  // Vectors that are given, or drawn where a model has no embeddings.
  ModelInput vectors(const Side& side, const Words& words) {
    ModelInput input;
    const TransformerSizes& sizes = choice_.model.sizes;
    const std::size_t d = &side.sentence == &option::source && sizes.patch ? sizes.patch : sizes.d_model;
    if (arguments_.has(side.vectors)) {
      input.x = given_vectors(arguments_, side.vectors, d, d == sizes.d_model ? "d_model" : "the size of a patch");
      if (!arguments_.has(side.sentence)) return input;
      if (words.size() != input.size()) {
        fail("{} has {} but {} has {}: give one word for each row", side.sentence.name, count_of(words.size(), "word"),
             side.vectors.name, count_of(input.size(), "row"));
      }
    } else {
      if (words.size() > most_cells / d) {
        fail("{}: {} words of size {} are too many: give fewer words", side.sentence.name, words.size(), d);
      }
      RandomSource random(random_kind::by_name, model_seed(arguments_));
      const std::string table = Name({side.place}, role::x).text();
      input.x = random.vectors({table, {words.size(), d}, words});
      choice_.drawings.add(random.drawings());
      choice_.remarks.push_back(
          fmt::format("the model has no embeddings: the vectors of the words are random. To choose them, give {}",
                      side.vectors.name));
    }
    input.tokens = words;
    input.blank = blanks_among(words);
    return input;
  }

  // How many words may go in: there are only so many learned positions.
  std::size_t places(std::size_t learned) const { return choice_.model.most_words(learned).value_or(most_words + 1); }

  static void require_places(const Side& side, const Words& words, std::size_t places) {
    if (words.size() <= places) return;
    fail("{}: the input has {}, but the model has vectors for only {}: give fewer words", side.sentence.name,
         count_of(words.size(), "word"), count_of(places, "position"));
  }

  // The words that were given; where none were, the usual ones, or else the model's own.
  Words known_words(const Side& side, const WordsOfSide& known) {
    Words words = sentence(asked_, side);
    const auto is_known = [&](const std::string& word) { return id_in(known.vocabulary, word) != 0; };
    if (has_given_words(asked_, side) || std::ranges::all_of(words, is_known)) return words;
    const Words own = own_words(known);
    if (own.empty() || known.most == 0) fail("the model has no words to begin with: give {}", side.sentence.name);
    const bool counted = arguments_.has(option::n);
    words.resize(counted ? words.size() : std::min({few_words, own.size(), known.most}));
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = own[i % own.size()];
    if (!counted) {
      choice_.remarks.push_back(fmt::format("{0} is not given: the first words of the vocabulary are used, {1}",
                                            side.sentence.name, fmt::join(words, " ")));
    }
    return words;
  }

  void take_source() {
    const Transformer& model = choice_.model;
    if (model.recipe.first_output && has_given_words(asked_, source_side) && !arguments_.has(option::x))
      fail("{}: this model takes no words: give a row for each patch with --x", source_side.sentence.name);
    if (arguments_.has(option::x) || model.source_vocabulary.empty()) {
      choice_.source = vectors(source_side, sentence(asked_, source_side));
      return;
    }
    const std::string& end = asked_.words.end();
    const bool can_end = asked_.words.ends_source(model.source_vocabulary);
    const std::size_t most = places(model.sizes.source_places);
    Words words = known_words(source_side, {model.source_vocabulary, most - can_end});
    if (can_end && words.back() != end) words.push_back(end);
    require_places(source_side, words, most);
    choice_.source = input_of(words, model.source_vocabulary);
  }

  // A decoder alone attends to the output of another model's encoder.
  void take_memory() {
    if (arguments_.has(option::memory)) {
      refuse({&option::source}, "--memory already is the encoder output");
      choice_.memory = given_vectors(arguments_, option::memory, choice_.model.sizes.d_model);
      return;
    }
    ModelInput drawn = vectors(source_side, sentence(asked_, source_side));
    choice_.remarks.back() = "the model has no encoder: its output is random. To choose it, give --memory";
    choice_.memory = std::move(drawn.x);
  }

  void take_target() {
    const Transformer& model = choice_.model;
    if (arguments_.has(option::target_x) || model.target_vocabulary.empty()) {
      choice_.target = vectors(target_side, sentence(asked_, target_side));
      if (arguments_.has(option::target) && !model.target_vocabulary.empty()) expect_next(choice_.target.tokens);
      return;
    }
    const std::string& start = asked_.words.start;
    const bool has_start = !told_by_tokenizer() && id_in(model.target_vocabulary, start) != 0;
    if (use_.writes && has_start && model.kind->encodes && !arguments_.has(option::target)) {
      choice_.target = input_of({start}, model.target_vocabulary);
      return;
    }
    const std::size_t most = places(model.sizes.target_places);
    Words words = known_words(target_side, {model.target_vocabulary, most - has_start});
    if (has_start && words.front() == start) words.erase(words.begin());
    // Shifted right by one: what goes in begins with <start>, and what should come out ends with <end>.
    if (has_start) words.insert(words.begin(), start);
    expect_next(words);
    require_places(target_side, words, most);
    choice_.target = input_of(words, model.target_vocabulary);
  }

  // Whether a tokenizer adds what begins a text.
  bool told_by_tokenizer() const { return asked_.words.tokenizer && asked_.words.begins_alone; }

  // After each of the words that go in the next one should come out, and after the last <end>, if the model knows it.
  void expect_next(const Words& words) {
    choice_.expected.assign(words.begin() + 1, words.end());
    const std::string& end = asked_.words.end();
    if (id_in(choice_.model.target_vocabulary, end) != 0) choice_.expected.push_back(end);
  }

  ModelChoice& choice_;
  const AskedWords& asked_;
  const Arguments& arguments_;
  const ModelUse& use_;
  const ModelKind& usual_;
};

}  // namespace

std::vector<std::string> sentence(const AskedWords& asked, const Side& side) {
  std::vector<std::string> words;
  if (const auto n = asked.arguments.count(option::n)) {
    for (std::size_t i = 1; i <= *n; ++i) words.push_back(fmt::format("w{}", i));
    return words;
  }
  const std::string& told = asked.told.*side.told;
  const std::string usual = told.empty() ? std::string(side.usual) : told;
  const bool with_special = &side == &source_side || asked.words.begins_alone;
  words = asked.words.of(asked.arguments.text(side.sentence).value_or(usual), with_special);
  if (words.size() > most_words) {
    fail("{} has {} words: give at most {}", side.sentence.name, words.size(), most_words);
  }
  return words;
}

bool has_given_words(const AskedWords& asked, const Side& side) {
  return asked.arguments.has(side.sentence) || (!asked.arguments.has(option::n) && !(asked.told.*side.told).empty());
}

std::vector<std::string> own_words(const WordsOfSide& known) {
  std::vector<std::string> own;
  for (const std::string& word : known.vocabulary) {
    if (word != start_word && word != end_word && word != blank) own.push_back(word);
  }
  return own;
}

std::uint32_t model_seed(const Arguments& arguments) {
  return static_cast<std::uint32_t>(arguments.count(option::seed).value_or(1));
}

void take_words(ModelChoice& choice, const AskedWords& asked, const ModelUse& use) {
  WordTaker(choice, asked, use).take();
}

}  // namespace attn
