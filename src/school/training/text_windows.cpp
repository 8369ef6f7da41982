#include "school/training/text_windows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "core/math/elementary_functions.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "data/tokenizer/characters.hpp"
#include "school/training/task.hpp"

namespace attn {
namespace {

// --- blocks

constexpr std::size_t usual_block = 2000, least_blocks = 20, every_block = 10;

struct TextParts {
  std::vector<std::string_view> trained, held_out;
  std::size_t characters = 0, trained_characters = 0;
};

// What is left over by whole blocks belongs to the last one.
TextParts parts_of_text(const TextSource& source) {
  const std::vector<std::string_view> characters = characters_in(source.text, source.name);
  TextParts parts{.trained = {}, .held_out = {}, .characters = characters.size()};
  const std::size_t block = std::clamp<std::size_t>(characters.size() / least_blocks, 1, usual_block);
  const std::size_t blocks = characters.size() / block;
  const auto between = [&](std::size_t first, std::size_t end) {
    const char* const begin = characters[first * block].data();
    const char* const behind = end >= blocks ? source.text.data() + source.text.size() : characters[end * block].data();
    return std::string_view(begin, static_cast<std::size_t>(behind - begin));
  };
  for (std::size_t first = 0; first < blocks; first += every_block) {
    const std::size_t last = first + every_block - 1;  // which is held out
    const std::size_t end = std::min(last, blocks);
    parts.trained.push_back(between(first, end));
    parts.trained_characters += (end >= blocks ? characters.size() : end * block) - first * block;
    if (last < blocks) parts.held_out.push_back(between(last, last + 1));
  }
  return parts;
}

// --- pieces

constexpr std::size_t bytes_there_are = 256;

// What the words of a model of the training part are.
ModelWords words_to_learn(const std::vector<std::string_view>& trained, const TextSource& source) {
  std::string text;
  for (const std::string_view run : trained) text += run;
  if (source.subwords > 0 && source.subwords <= bytes_there_are)
    fail("{}: {} subwords are too few: give at least {}, because each of the {} bytes is one", source.name,
         source.subwords, bytes_there_are + 1, bytes_there_are);
  std::shared_ptr<const Tokenizer> tokenizer =
      source.subwords > 0 ? learn_bpe(text, source.subwords) : character_tokenizer(text, source.name);
  if (tokenizer->size() > most_trained_words)
    fail("{} has more than {} different characters: give a text with fewer", source.name, most_trained_words);
  const std::size_t size = tokenizer->size();
  return words_of_tokenizer(std::move(tokenizer), size, source.name);
}

// The ids of the words of a text, from 1.
Ids ids_of_text(const ModelWords& words, std::string_view text) {
  Ids ids;
  words.tokenizer->put_pieces(text, false, {.piece = [&](const Token& piece) { ids.push_back(piece.id + 1); }});
  return ids;
}

// Stretches of a text that have only characters that the model knows, and how many characters are left out between.
std::vector<std::string_view> known_stretches(const ModelWords& words, std::string_view text, std::size_t& left_out) {
  if (words.tokenizer->kind() != "characters") return {text};
  std::unordered_set<std::string_view> known;
  for (std::size_t id = 0; id < words.tokenizer->size(); ++id) known.insert(words.tokenizer->piece(id));
  std::vector<std::string_view> stretches;
  std::size_t begin = 0, at = 0;
  for (const std::string_view character : characters_in(text, "the text")) {
    if (!known.contains(character)) {
      ++left_out;
      stretches.push_back(text.substr(begin, at - begin));
      begin = at + character.size();
    }
    at += character.size();
  }
  stretches.push_back(text.substr(begin));
  return stretches;
}

// --- counts

class PieceCounts {
 public:
  PieceCounts(const std::vector<Ids>& runs, std::size_t words)
      : counts_(words + 1, 0), first_(counts_), next_(counts_) {
    for (const Ids& run : runs) {
      for (const std::size_t id : run) ++counts_[id];
      all_ += run.size();
      for (std::size_t i = 1; i < run.size(); ++i) {
        ++first_[run[i - 1]];
        if (++pairs_[key(run[i - 1], run[i])] == 1) ++next_[run[i - 1]];
      }
    }
  }

  double frequency(std::size_t id) const {
    return static_cast<double>(counts_[id] + 1) / static_cast<double>(all_ + counts_.size() - 1);
  }
  double after(std::size_t before, std::size_t id) const {
    if (first_[before] == 0) return frequency(id);
    const auto found = pairs_.find(key(before, id));
    const double pairs = found == pairs_.end() ? 0.0 : static_cast<double>(found->second),
                 kinds = static_cast<double>(next_[before]);
    return (pairs + kinds * frequency(id)) / (static_cast<double>(first_[before]) + kinds);
  }

 private:
  static std::uint64_t key(std::size_t before, std::size_t id) { return (std::uint64_t{before} << 32) | id; }

  std::vector<std::size_t> counts_, first_, next_;  // by id
  std::unordered_map<std::uint64_t, std::size_t> pairs_;
  std::size_t all_ = 0;
};

CountedLosses losses_on(const std::vector<TaskExample>& windows, const PieceCounts& counts) {
  CountedLosses losses;
  std::size_t predicted = 0;
  for (const TaskExample& window : windows) {
    for (std::size_t i = 0; i < window.expected.size(); ++i) {
      losses.by_frequency -= elementary::log(counts.frequency(window.expected[i]));
      losses.by_pair -= elementary::log(counts.after(window.given[i], window.expected[i]));
    }
    predicted += window.expected.size();
  }
  losses.by_frequency /= static_cast<double>(predicted);
  losses.by_pair /= static_cast<double>(predicted);
  return losses;
}

// --- windows

constexpr std::size_t most_held_out = 100;

// Of more windows than are measured, as many as that, evenly over the text.
std::vector<TaskExample> some_of(std::vector<TaskExample> windows) {
  if (windows.size() <= most_held_out) return windows;
  std::vector<TaskExample> some;
  for (std::size_t i = 0; i < most_held_out; ++i)
    some.push_back(std::move(windows[i * windows.size() / most_held_out]));
  return some;
}

std::string_view noun(const TextSource& source) { return source.subwords == 0 ? "character" : "subword"; }

// Also of a state that somebody else has written.
void require_text(const TextSource& source) {
  if (source.window < 1 || source.window > most_window)
    fail("{}: a window of {} pieces: give from 1 to {}", source.name, source.window, most_window);
  if (source.text.empty()) fail("{} is empty: give a text", source.name);
  if (source.text.size() > most_text)
    fail("{} has {} bytes: give a text of at most {}", source.name, with_commas(source.text.size()),
         with_commas(most_text));
}

[[noreturn]] void fail_too_short(const TextWindows& windows) {
  fail("{} has {}, and a window of it {} {}s: give a longer text or a smaller --window", windows.from.name,
       count_of(windows.characters, "character"), windows.from.window, noun(windows.from));
}

}  // namespace

TaskExample TextWindows::window_at(const Ids& run, std::size_t begin) const {
  const auto first = run.begin() + static_cast<std::ptrdiff_t>(begin),
             end = first + static_cast<std::ptrdiff_t>(from.window);
  return {.given = {first, end}, .expected = {first + 1, end + 1}};
}

TaskExample TextWindows::any_window(Generator& generator) const {
  std::size_t places = 0;
  for (const Ids& run : runs) places += run.size() - from.window;
  std::size_t place = uniform_index(places, generator);
  for (const Ids& run : runs) {
    const std::size_t of_run = run.size() - from.window;
    if (place < of_run) return window_at(run, place);
    place -= of_run;
  }
  return window_at(runs.front(), 0);
}

std::shared_ptr<const TextWindows> windows_of(TextSource source) {
  require_text(source);
  auto windows = std::make_shared<TextWindows>();
  windows->from = std::move(source);
  const TextParts parts = parts_of_text(windows->from);
  windows->characters = parts.characters;
  windows->trained_characters = parts.trained_characters;
  windows->words = words_to_learn(parts.trained, windows->from);
  const std::size_t window = windows->from.window, words = windows->words.pieces->size();
  if (words < 2)
    fail("{} has only one character, '{}': there is nothing to predict; give a text with several", windows->from.name,
         windows->words.pieces->front());
  for (const std::string_view run : parts.trained) {
    Ids ids = ids_of_text(windows->words, run);
    if (ids.size() > window) windows->runs.push_back(std::move(ids));
  }
  std::size_t held_out_pieces = 0, held_out_characters = 0;
  std::vector<TaskExample> held_out;
  for (const std::string_view block : parts.held_out) {
    for (const std::string_view stretch : known_stretches(windows->words, block, windows->left_out)) {
      const Ids ids = ids_of_text(windows->words, stretch);
      held_out_pieces += ids.size();
      held_out_characters += characters_in(stretch, windows->from.name).size();
      for (std::size_t i = 0; i + window < ids.size(); i += window) held_out.push_back(windows->window_at(ids, i));
    }
  }
  if (windows->runs.empty() || held_out.empty()) fail_too_short(*windows);
  windows->held_out = some_of(std::move(held_out));
  windows->characters_per_piece = static_cast<double>(held_out_characters) / static_cast<double>(held_out_pieces);
  windows->counted = losses_on(windows->held_out, PieceCounts(windows->runs, words));
  return windows;
}

std::string line_of(const ModelWords& words, const std::vector<std::string>& shown) {
  if (!words.tokenizer) return fmt::format("{}", fmt::join(shown, " "));
  constexpr std::string_view space = "␣";
  std::string line = fmt::format("{}", fmt::join(shown, ""));
  for (std::size_t at = 0; (at = line.find(space, at)) != std::string::npos; ++at) line.replace(at, space.size(), " ");
  return line;
}

}  // namespace attn
