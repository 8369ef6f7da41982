#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/command.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/json.hpp"
#include "data/tokenizer/tokenizer.hpp"

namespace attn {
namespace {

// The words of Sennrich et al. 2016, figure 1, as often as there: its first ten merges.
constexpr std::string_view usual_text =
    "low low low low low lower lower newest newest newest newest newest newest widest widest widest";
constexpr std::size_t usual_pieces = 256 + 10;

// How much of long lists readers see without --full.
constexpr std::size_t most_rows = 200;

struct ChosenTokenizer {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<LearnedMerge> merges;  // where it was learned
};

std::string text_to_tokenize(const Arguments& arguments) {
  const auto file = arguments.text(option::text_file);
  if (file && !arguments.words.empty()) {
    fail("the text is given twice, by words and by --text-file: leave one of them out");
  }
  if (file) return read_bytes(*file);
  if (arguments.words.empty()) return std::string(usual_text);
  return fmt::format("{}", fmt::join(arguments.words, " "));
}

ChosenTokenizer choose_tokenizer(const Arguments& arguments, std::string_view text) {
  ChosenTokenizer chosen;
  if (const auto path = arguments.text(option::tokenizer)) {
    chosen.tokenizer = given_tokenizer(*path);
  } else {
    chosen.tokenizer = learn_bpe(text, arguments.count(option::learn).value_or(usual_pieces), &chosen.merges);
  }
  return chosen;
}

std::string shown_pieces(const Tokenizer& tokenizer, const std::vector<std::size_t>& ids) {
  std::string shown;
  for (const std::size_t id : ids) shown += (shown.empty() ? "" : " ") + shown_piece(tokenizer, id);
  return shown;
}

std::vector<std::size_t> ids_of_pieces(const std::vector<Token>& pieces) {
  std::vector<std::size_t> ids;
  for (const Token& piece : pieces) ids.push_back(piece.id);
  return ids;
}

// A part of a text by its characters.
class CharacterCount {
 public:
  explicit CharacterCount(std::string_view text) : text_(text) {}
  // How many there are before a byte. Bytes may be asked for in any order; in their own order it is fast.
  std::uint64_t before(std::size_t byte) {
    if (byte < at_) at_ = count_ = 0;
    for (; at_ < byte; ++at_) count_ += (static_cast<unsigned char>(text_[at_]) & 0xC0U) != 0x80U ? 1U : 0U;
    return count_;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t count_ = 0;
};

// Lists as readers see them, and a sentence where some of it is left out.
void say_listing(Page& page, Listing listing, std::string_view rows, bool is_full) {
  listing.headed = true;
  const std::size_t all = listing.rows.size();
  if (!is_full && all > most_rows) listing.rows.resize(most_rows);
  const std::size_t shown = listing.rows.size();
  page.say(std::move(listing));
  if (shown < all) {
    page.say(fmt::format("These are the first {} of {} {}. --full shows all.", shown, with_commas(all), rows));
  }
}

// --- one text

void say_pieces(Page& page, const Tokenizer& tokenizer, std::string_view text, const std::vector<Token>& pieces,
                bool is_full) {
  Listing listing{{"piece", "id", "stands for", "characters", "bytes"}};
  Records records{
      "pieces", {"piece", "shown", "id", "text", "begin", "end", "first_byte", "end_byte", "is_special"}, {}};
  CharacterCount characters(text);
  const auto range = [](std::size_t begin, std::size_t end) {
    return begin == end ? std::string("none") : fmt::format("{} to {}", begin + 1, end);
  };
  for (const Token& piece : pieces) {
    const std::uint64_t begin = characters.before(piece.begin), end = characters.before(piece.end);
    const std::string of_text(text.substr(piece.begin, piece.end - piece.begin));
    const std::string shown = shown_piece(tokenizer, piece.id);
    listing.rows.push_back({shown, std::to_string(piece.id), of_text.empty() ? "nothing" : shown_text(of_text),
                            range(begin, end), range(piece.begin, piece.end)});
    records.rows.push_back({piece.text, shown, std::uint64_t{piece.id}, of_text, begin, end, std::uint64_t{piece.begin},
                            std::uint64_t{piece.end}, piece.is_special});
  }
  say_listing(page, std::move(listing), "pieces", is_full);
  page.say(std::move(records));
}

void say_words(Page& page, const Tokenizer& tokenizer, const std::vector<CutWord>& words, bool is_full) {
  Listing listing{{"word", "pieces"}};
  for (const CutWord& word : words) {
    const std::vector<std::size_t> ids = ids_of_pieces(word.pieces);
    listing.rows.push_back(
        {word.is_added ? shown_text(word.text) : shown_word(tokenizer, word.text),
         word.is_added ? shown_pieces(tokenizer, ids) + " (an added token)" : shown_pieces(tokenizer, ids)});
  }
  say_listing(page, std::move(listing), "words", is_full);
}

// What the steps of a kind of tokenizer are, and how a row of them is told.
struct StepsOfKind {
  std::string_view kind;  // or how it begins
  std::string_view sentence;
  std::string_view number;  // what a step has a number of
};
constexpr StepsOfKind steps_of_kinds[] = {
    {"unigram",
     "Each piece has a log-probability. The segmentation with the largest sum is taken. These are the best ones.",
     "log-probability"},
    {"WordPiece", "The longest piece of the vocabulary that begins the rest of the word is taken, again and again.",
     "pieces looked up"},
    {"", "The merge with the lowest rank is made first, until no two neighbors can be merged.", "rank of the merge"}};

const StepsOfKind& steps_of(const Tokenizer& tokenizer) {
  return *std::ranges::find_if(steps_of_kinds,
                               [&](const StepsOfKind& row) { return tokenizer.kind().starts_with(row.kind); });
}

void say_steps(Page& page, const Tokenizer& tokenizer, const CutWord& word, bool is_full) {
  const StepsOfKind& kind = steps_of(tokenizer);
  page.head(2, fmt::format("How the word {} is cut", shown_word(tokenizer, word.text)));
  page.say(std::string(kind.sentence));
  Listing listing{{std::string(kind.number), "pieces"}};
  Records records{"steps", {"number", "pieces", "ids"}, {}};
  for (const CuttingStep& step : tokenizer.steps(word)) {
    std::string number = "none yet";
    Records::Value value = std::monostate();
    if (step.score) {
      number = written_digits(*step.score, 6);
      value = *step.score;
    }
    for (const auto& count : {step.rank, step.tried}) {
      if (!count) continue;
      number = std::to_string(*count);
      value = std::uint64_t{*count};
    }
    listing.rows.push_back({std::move(number), shown_pieces(tokenizer, step.pieces)});
    std::vector<std::string> texts;
    for (const std::size_t id : step.pieces) texts.emplace_back(tokenizer.piece(id));
    records.rows.push_back(
        {std::move(value), std::move(texts), std::vector<std::uint64_t>(step.pieces.begin(), step.pieces.end())});
  }
  say_listing(page, std::move(listing), "steps", is_full);
  page.say(std::move(records));
}

// The word whose steps are shown: the one that was asked for, or else the longest of those whose steps are few enough
// to be read. Null: there is none.
const CutWord* word_to_show(const Tokenizer& tokenizer, const std::vector<CutWord>& words, const Arguments& arguments) {
  constexpr std::size_t most_bytes_shown = 100;
  const auto wanted = arguments.text(option::by_word);
  std::vector<std::string> names;
  const CutWord* longest = nullptr;
  for (const CutWord& word : words) {
    if (word.is_added) continue;
    if (!wanted) {
      const std::size_t size = word.end - word.begin;
      if (size <= most_bytes_shown && (!longest || size > longest->end - longest->begin)) longest = &word;
      continue;
    }
    // With or without the space that belongs to it.
    std::string shown = shown_word(tokenizer, word.text);
    std::string_view bare = shown;
    if (bare.starts_with("␣")) bare.remove_prefix(std::string_view("␣").size());
    if (*wanted == word.text || *wanted == shown || *wanted == bare) return &word;
    if (names.size() < most_rows && std::ranges::find(names, shown) == names.end()) names.push_back(std::move(shown));
  }
  if (wanted && names.empty()) fail("--by-word: the text has no word '{}'", *wanted);
  if (wanted) fail_unknown("word of --by-word", *wanted, names);
  return longest;
}

void say_learned(Page& page, const ChosenTokenizer& chosen, bool is_full) {
  const Tokenizer& tokenizer = *chosen.tokenizer;
  page.head(2, "Merges that were learned");
  page.say(
      "The pair of pieces that occurs most often becomes one piece. "
      "Of pairs that occur equally often, the one with the lowest ids is taken. Pairs are counted within words.");
  Listing listing{{"rank", "pair", "occurs", "new piece", "id"}};
  Records records{"merges", {"rank", "left", "right", "count", "piece", "id"}, {}};
  for (std::size_t i = 0; i < chosen.merges.size(); ++i) {
    const auto& [left, right, made, count] = chosen.merges[i];
    listing.rows.push_back({std::to_string(i + 1), shown_pieces(tokenizer, {left, right}),
                            count == 1 ? "once" : fmt::format("{} times", count), shown_piece(tokenizer, made),
                            std::to_string(made)});
    records.rows.push_back({std::uint64_t{i + 1}, std::string(tokenizer.piece(left)),
                            std::string(tokenizer.piece(right)), std::uint64_t{count},
                            std::string(tokenizer.piece(made)), std::uint64_t{made}});
  }
  if (chosen.merges.empty()) {
    page.say("No pair occurs twice in this text, so no merge was learned.");
  } else {
    say_listing(page, std::move(listing), "merges", is_full);
  }
  page.say(std::move(records));
}

// --- many texts

std::vector<std::string> texts_of_file(const std::string& path) {
  const std::string bytes = read_bytes(path), where = place_of_file(path);
  std::vector<std::string> texts;
  std::size_t number = 0;
  for (const std::string_view line : pieces_of(bytes, '\n')) {
    ++number;
    if (trimmed(line).empty()) continue;
    const std::string place = fmt::format("{}:{}", where, number);
    const Json value = parse_json(line, place);
    if (!value.is_string()) fail("{}: a JSON string is expected on each line", place);
    texts.push_back(value.get<std::string>());
  }
  return texts;
}

Answer tokenize_many(const Tokenizer& tokenizer, const std::vector<std::string>& texts, bool with_special,
                     bool is_full) {
  Page page;
  page.head(1, fmt::format("Pieces of {}", count_of(texts.size(), "text")));
  Listing listing{{"text", "pieces"}};
  Records records{"texts", {"ids", "pieces", "begins", "ends", "decoded"}, {}};
  for (const std::string& text : texts) {
    const std::vector<Token> pieces = tokenizer.encode(text, with_special);
    const std::vector<std::size_t> ids = ids_of_pieces(pieces);
    listing.rows.push_back({shown_text(text), shown_pieces(tokenizer, ids)});
    CharacterCount begins(text), ends(text);
    std::vector<std::string> names;
    std::vector<std::uint64_t> first, last;
    for (const Token& piece : pieces) {
      names.push_back(piece.text);
      first.push_back(begins.before(piece.begin));
      last.push_back(ends.before(piece.end));
    }
    records.rows.push_back({std::vector<std::uint64_t>(ids.begin(), ids.end()), std::move(names), std::move(first),
                            std::move(last), tokenizer.decode(ids)});
  }
  say_listing(page, std::move(listing), "texts", is_full);
  page.say(std::move(records));
  return {.page = std::move(page)};
}

}  // namespace

Answer run_tokenize(const Command&, const Arguments& arguments) {
  const bool with_special = !arguments.has(option::no_special), is_full = arguments.has(option::full);
  if (const auto file = arguments.text(option::texts_file)) {
    if (!arguments.words.empty()) fail("--texts has the texts: leave out the words '{}'", arguments.words.front());
    return tokenize_many(*choose_tokenizer(arguments, {}).tokenizer, texts_of_file(*file), with_special, is_full);
  }
  const std::string text = text_to_tokenize(arguments);
  const ChosenTokenizer chosen = choose_tokenizer(arguments, text);
  const Tokenizer& tokenizer = *chosen.tokenizer;
  const std::vector<Token> pieces = tokenizer.encode(text, with_special);
  const std::vector<CutWord> words = tokenizer.cut(text);
  Page page;
  page.head(1, fmt::format("{} of the text", count_of(pieces.size(), "piece")));
  page.say(fmt::format("Kind of tokenizer: {}. It has {} ids.{}", tokenizer.kind(), with_commas(tokenizer.size()),
                       chosen.merges.empty() ? "" : " It was learned from this text."));
  if (!arguments.has(option::tokenizer)) say_learned(page, chosen, is_full);
  if (!pieces.empty()) {
    page.head(2, "Pieces");
    page.say("␣ is a space. The text of a piece is a part of the vocabulary; its id is what a model gets.");
    say_pieces(page, tokenizer, text, pieces, is_full);
  }
  if (!words.empty()) {
    page.head(2, "Words");
    page.say("The text is first split into words. Each word is then cut into pieces by itself.");
    say_words(page, tokenizer, words, is_full);
  }
  if (const CutWord* const word = word_to_show(tokenizer, words, arguments)) say_steps(page, tokenizer, *word, is_full);
  Answer answer{.page = std::move(page)};
  if (const auto path = arguments.text(option::save_tokenizer))
    answer.files.push_back({*path, write_tokenizer(tokenizer)});
  return answer;
}

}  // namespace attn
