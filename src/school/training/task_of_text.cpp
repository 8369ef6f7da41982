#include <fmt/format.h>

#include <algorithm>

#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "school/training/task.hpp"

namespace attn {
namespace {

constexpr std::string_view about_text[] = {
    "A decoder alone reads a text and predicts at each position what comes next. "
    "Its words are pieces of the text. A sentence here is a window: so many pieces in a row, wherever they begin.",
    "The text is cut into blocks, and every tenth is held out. "
    "Each window that is held out is predicted by itself, so its first pieces have little before them.",
};

std::shared_ptr<const TextWindows> text_of_course() {
  static const std::shared_ptr<const TextWindows> windows =
      windows_of({.name = "the prose of this course", .text = std::string(course_text())});
  return windows;
}

std::vector<std::string> about_windows(const TextWindows& text) {
  const TextSource& from = text.from;
  std::vector<std::string> about = {fmt::format(
      "The text is {}: {} characters, of which {} are trained on. Its words are {}, of which there are {}, and a window has {}.",
      from.name, with_commas(text.characters), with_commas(text.trained_characters),
      from.subwords == 0 ? "its characters" : "subwords that were learned from the part that is trained on",
      text.words.pieces->size(), from.window)};
  if (text.left_out > 0)
    about.push_back(fmt::format(
        "{0:# character|# characters} of what is held out {0:does|do} not occur in what is trained on, and {0:is|are} left out.",
        Count{text.left_out}));
  return about;
}

std::vector<ReferenceLoss> references_of(const TextWindows& text) {
  return {{"frequency", "to know only how often each word occurs in the part that is trained on",
           text.counted.by_frequency},
          {"pairs", "to know also how often each word follows the one before it", text.counted.by_pair}};
}

// The beginning of what is held out, to be continued: where there is one, from the beginning of a word.
Ids prompt_from_text(const TextWindows& text) {
  constexpr std::size_t usual_length = 12;
  const Ids& first = text.held_out.front().given;
  const std::size_t half = (first.size() + 1) / 2;
  const Words pieces = words_of(first, *text.words.pieces);
  const auto end = pieces.begin() + static_cast<std::ptrdiff_t>(half);
  const auto space = std::find_if(pieces.begin(), end, [](const std::string& piece) { return piece == "␣"; });
  const auto begin = first.begin() + (space == end ? 0 : space - pieces.begin() + 1);
  return {begin, begin + static_cast<std::ptrdiff_t>(std::min(usual_length, half))};
}

TaskSetup set_up_text(const TaskRequest& request) {
  const std::shared_ptr<const TextWindows> text = request.text ? request.text : text_of_course();
  const TransformerSizes sizes =
      with_size_changes({.decoder_layers = 2, .d_model = 64, .heads = 4, .d_ff = 128}, request.sizes);
  Transformer model = one_sided(decoder_only(), *text->words.pieces, sizes, named_recipes().front().recipe());
  model.title = fmt::format("A language model of {}", text->from.name);
  model.summary = "It continues a text, piece by piece.";
  const Ids prompt = prompt_from_text(*text);
  return {.model = std::move(model),
          .data = {.longest = {.given = text->from.window, .expected = text->from.window},
                   .draw = [text](Generator& generator) { return text->any_window(generator); },
                   .held_out = text->held_out},
          .defaults = {.steps = 1000, .batch = 8, .schedule = &falling_rate(), .rate = 1e-2},
          .about = about_windows(*text),
          .references = references_of(*text),
          .example = text->words.text_of(prompt, *text->words.pieces),
          .prompt = prompt,
          .words = text->words,
          .characters_of_word = text->characters_per_piece};
}

}  // namespace

const Task text_task{.name = "text",
                     .summary = "a text of your own, or the prose of this course: what comes next in it",
                     .about = about_text,
                     .measure = "words of windows that were held out, each given those before it in its window",
                     .goal = 0.0,
                     .example = "",
                     .one_sentence = "window",
                     .one_word = "piece",
                     .learns_text = true,
                     .has_right_sentences = false,
                     .set_up = set_up_text};

}  // namespace attn
