#include "command/model/translation.hpp"

#include <algorithm>

#include "problem/encoder_decoder_file.hpp"
#include "problem/words.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

constexpr std::size_t drawn_numbers = 4;

using Words = std::vector<std::string>;

// A sentence as words, closed by <end>.
Words sentence_of(const std::string& text, const Option& option) {
  Words words = split_words(text);
  if (words.back() != end_word) words.emplace_back(end_word);
  if (words.size() <= most_words) return words;
  fail("{} has {} words: give at most {}", option.name, words.size(), most_words);
}

const AlignmentVariant& variant_of(const Arguments& arguments, const std::string& usual) {
  const std::string told = usual.empty() ? std::string(alignment_variants().front().name) : usual;
  return look_up(alignment_variants(), arguments.text(option::variant).value_or(told), "variant");
}

const Recurrence& cell_of(const Arguments& arguments, const std::string& usual) {
  const std::string told = usual.empty() ? std::string(recurrences().front().name) : usual;
  return look_up(recurrences(), arguments.text(option::cell).value_or(told), "cell");
}

// A model for any words, with random parameters.
EncoderDecoder drawn_model(const Arguments& arguments, const Words& source, const Words& target) {
  const std::size_t size = arguments.count(option::hidden).value_or(drawn_numbers);
  EncoderDecoder model{
      .cell = &cell_of(arguments, ""),
      .variant = &variant_of(arguments, ""),
      .source_words = with_new_words({}, source),
      .target_words = with_new_words({std::string(start_word), std::string(end_word)}, target),
      .features = {},
      .source_size = size,
      .target_size = size,
      .state_size = size};
  const std::size_t seed = arguments.count(option::seed).value_or(1);
  draw_parameters(model, static_cast<std::uint32_t>(seed));
  return model;
}

// Every step keeps a few numbers for each word of the source, and some states.
void require_memory(const EncoderDecoder& model, std::size_t inputs, std::size_t outputs) {
  const std::size_t d = model.state_size, of_pair = model.variant->score == "additive" ? 4 * d + 4 : 4;
  const std::size_t of_output = inputs * of_pair + 2 * model.target_words.size() + 16 * d;
  if (of_output <= most_cells / outputs && inputs <= most_cells / (8 * d)) return;
  fail(
      "{} inputs, {} outputs and states of size {} need more than {} numbers: give shorter sentences, fewer "
      "--steps or a smaller --hidden",
      inputs, outputs, d, most_cells);
}

// --text is the same as --source.
std::optional<std::string> source_of(const Arguments& arguments) {
  const std::vector<std::string>& texts = arguments.texts(option::text);
  if (texts.size() > 1) fail("--text is given {} times: give it once", texts.size());
  return texts.empty() ? arguments.text(option::source) : texts.front();
}

}  // namespace

namespace {

EncoderDecoderFile read_built_in(const ModelExample& example) {
  const bool is_trained = attn::is_trained(example);
  return read_encoder_decoder(example.bytes, is_trained ? std::string(example.name) : "the built-in example");
}

}  // namespace

EncoderDecoderFile encoder_decoder_file_of(const Arguments& arguments) {
  if (const std::optional<std::string> path = arguments.text(option::parameters))
    return read_encoder_decoder(read_bytes(*path), *path);
  if (const std::optional<std::string> model = arguments.text(option::model)) {
    if (const ModelExample* example = find_built_in(*model)) return read_built_in(*example);
    if (is_name_of_model(*model)) fail_unknown("model", *model, names_of(alignment_examples()));
    return read_encoder_decoder(read_bytes(*model), *model);
  }
  const std::string name =
      arguments.text(option::example).value_or(std::string(alignment_examples().front().name));
  return read_built_in(look_up(alignment_examples(), name, "example"));
}

namespace {

std::string pointer_to_trained() {
  const std::span<const ModelExample> all = alignment_examples();
  const auto found = std::ranges::find_if(all, is_trained);
  return found == all.end() ? "" : fmt::format(" For trained ones: attn align --model {}.", found->name);
}

}  // namespace

Translation translation_of(const Arguments& arguments) {
  const bool draws = arguments.has(option::seed) || arguments.has(option::hidden);
  const EncoderDecoderFile file = encoder_decoder_file_of(arguments);
  const std::optional<std::string> given = source_of(arguments);
  const std::string source = given.value_or(file.source);
  if (source.empty()) fail("there is nothing to translate: give --source SENTENCE");
  // The file's target translates the file's source.
  const bool own = !draws && !given && !arguments.has(option::steps);
  const std::string target = arguments.text(option::target).value_or(own ? file.target : "");
  const Words from = sentence_of(source, option::source);
  const Words to = target.empty() ? Words{} : sentence_of(target, option::target);

  Translation translation;
  if (draws) {
    translation.title = "A translation with random numbers";
    translation.about = {
        "All matrices are random, not trained. The steps are those of a real translator, but the words have "
        "no meaning." +
        pointer_to_trained()};
    translation.on_random = translation.about.front();
    translation.model = drawn_model(arguments, from, to.empty() ? from : to);
  } else {
    translation.title = file.title;
    translation.about = file.about;
    translation.numbers = file.numbers;
    translation.known = known_translations(file);
    translation.model =
        encoder_decoder_of(file, variant_of(arguments, file.variant), cell_of(arguments, file.cell));
  }
  const EncoderDecoder& model = translation.model;
  translation.source = ids_of(from, model.source_words, "source");
  translation.target = ids_of(to, model.target_words, "target");
  translation.is_forced = !to.empty();
  const std::size_t most =
      arguments.count(option::steps).value_or(std::min((draws ? 1 : 2) * from.size() + 2, most_words));
  require_memory(model, from.size(), translation.is_forced ? to.size() : most);
  if (!translation.is_forced) translation.target = translate(model, translation.source, most);
  return translation;
}

}  // namespace attn
