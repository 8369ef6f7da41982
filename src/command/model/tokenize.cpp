#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "command/command.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "core/support/utf8.hpp"
#include "data/files/json.hpp"
#include "data/tokenizer/tokenizer.hpp"

namespace attn {
namespace {

// The words of Sennrich et al. 2016, figure 1, as often as there: its first ten merges.
constexpr std::string_view usual_text =
    "low low low low low lower lower newest newest newest newest newest newest widest widest widest";
constexpr std::size_t usual_pieces = 256 + 10;

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

std::string shown_pieces(const Tokenizer& tokenizer, std::span<const std::uint64_t> ids) {
  std::string shown;
  for (const std::uint64_t id : ids) shown += (shown.empty() ? "" : " ") + shown_piece(tokenizer, id);
  return shown;
}

// The same of many pieces, of which only the first are at hand.
std::string shown_pieces(const Tokenizer& tokenizer, std::span<const std::uint64_t> first, std::size_t count) {
  std::string shown = shown_pieces(tokenizer, first);
  if (count > first.size()) shown += fmt::format(" … and {} more", with_commas(count - first.size()));
  return shown;
}

// How much of a list, and of a word or a text, readers see.
struct ShownAmount {
  std::size_t rows, bytes;

  explicit ShownAmount(bool is_full)
      : rows(is_full ? std::numeric_limits<std::size_t>::max() : most_rows),
        bytes(is_full ? std::numeric_limits<std::size_t>::max() : most_bytes_in_row) {}

  // The beginning of a text, by whole characters.
  std::string_view of(std::string_view text) const {
    std::size_t end = std::min(text.size(), bytes);
    while (end < text.size() && continues_character(text[end])) ++end;
    return text.substr(0, end);
  }
  std::string behind(std::string_view text) const {
    const std::size_t more = text.size() - of(text).size();
    return more == 0 ? "" : fmt::format(" … and {} bytes more", with_commas(more));
  }

 private:
  static constexpr std::size_t most_rows = 200, most_bytes_in_row = 1000;
};

// A part of a text by its characters.
class CharacterCount {
 public:
  explicit CharacterCount(std::string_view text) : text_(text) {}
  // How many there are before a byte. Bytes may be asked for in any order; in their own order it is fast.
  std::uint64_t before(std::size_t byte) {
    if (byte < at_) at_ = count_ = 0;
    for (; at_ < byte; ++at_) count_ += !continues_character(text_[at_]) ? 1U : 0U;
    return count_;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t count_ = 0;
};

// The first rows of a list, and a sentence where there are more.
void say_listing(Page& page, Listing listing, std::string_view rows, std::size_t all) {
  listing.headed = true;
  const std::size_t shown = listing.rows.size();
  page.say(std::move(listing));
  if (shown < all) {
    page.say(fmt::format("These are the first {} of {} {}. --full shows all.", shown, with_commas(all), rows));
  }
}

// --- one text

// What is told of a text, taken while it is cut.
class CutText {
 public:
  CutText(const Tokenizer& tokenizer, std::string_view text, const Arguments& arguments)
      : tokenizer_(tokenizer),
        text_(text),
        wanted_(arguments.text(option::by_word)),
        is_full_(arguments.has(option::full)),
        shown_(is_full_),
        characters_(text) {
    tokenizer.put_pieces(text, !arguments.has(option::no_special),
                         {.piece = [this](const Token& piece) { take(piece); },
                          .word = [this](const WordOfText& word) { take(word); },
                          .words_end = [this] { end_word(); }});
    if (wanted_ && !to_show_ && names_.empty()) fail("--by-word: the text has no word '{}'", *wanted_);
    if (wanted_ && !to_show_) fail_unknown("word of --by-word", *wanted_, names_);
  }

  std::size_t count() const { return ids_.size(); }
  // The word whose steps are shown: the one that was asked for, or else the longest of those whose steps are few enough
  // to be read. Nothing: there is none.
  const std::optional<CutWord>& word_to_show() const { return to_show_; }

  void say_pieces(Page& page) {
    say_listing(page, std::move(pieces_), "pieces", count());
    if (is_full_) page.say(std::move(records_));
    Records text{"text", {"ids"}, {}};
    text.rows.emplace_back().emplace_back(std::move(ids_));
    page.say(std::move(text));
  }
  void say_words(Page& page) {
    if (words_.rows.empty()) return;
    page.head(2, "Words");
    page.say("The text is first split into words. Each word is then cut into pieces by itself.");
    say_listing(page, std::move(words_), "words", count_of_words_);
  }

 private:
  void take(const Token& piece) {
    if (in_word_) {
      if (of_word_.size() < shown_.rows) of_word_.push_back(piece.id);
      ++count_in_word_;
    }
    if (pieces_.rows.size() < shown_.rows) show(piece);
    ids_.push_back(piece.id);
  }

  void show(const Token& piece) {
    const auto range = [](std::size_t begin, std::size_t end) {
      return begin == end ? std::string("none") : fmt::format("{} to {}", begin + 1, end);
    };
    const std::uint64_t begin = characters_.before(piece.begin), end = characters_.before(piece.end);
    const std::string_view of_text = text_.substr(piece.begin, piece.end - piece.begin);
    const std::string shown = shown_piece(tokenizer_, piece.id);
    pieces_.rows.push_back({shown, std::to_string(piece.id),
                            of_text.empty() ? "nothing" : shown_text(shown_.of(of_text)) + shown_.behind(of_text),
                            range(begin, end), range(piece.begin, piece.end)});
    if (!is_full_) return;
    records_.rows.push_back({std::string(piece.text), shown, std::uint64_t{piece.id}, std::string(of_text), begin, end,
                             std::uint64_t{piece.begin}, std::uint64_t{piece.end}, piece.is_special});
  }

  void take(const WordOfText& word) {
    end_word();
    in_word_ = true;
    of_word_.clear();
    count_in_word_ = 0;
    is_added_ = word.is_added;
    if (words_.rows.size() < shown_.rows) {
      const std::string_view some = shown_.of(word.text);
      shown_word_ = (word.is_added ? shown_text(some) : shown_word(tokenizer_, some)) + shown_.behind(word.text);
    }
    if (!word.is_added) consider(word);
  }

  void end_word() {
    if (!in_word_) return;
    in_word_ = false;
    ++count_of_words_;
    if (words_.rows.size() >= shown_.rows) return;
    words_.rows.push_back(
        {shown_word_, shown_pieces(tokenizer_, of_word_, count_in_word_) + (is_added_ ? " (an added token)" : "")});
  }

  void consider(const WordOfText& word) {
    constexpr std::size_t most_bytes_with_steps_shown = 100, most_names = 200;
    const auto choose = [&] {
      to_show_ = CutWord{.text = std::string(word.text), .begin = word.begin, .end = word.end};
    };
    if (!wanted_) {
      const std::size_t size = word.end - word.begin;
      if (word.text.size() > most_bytes_with_steps || size > most_bytes_with_steps_shown) return;
      if (!to_show_ || size > to_show_->end - to_show_->begin) choose();
      return;
    }
    if (to_show_) return;
    // With or without the space that belongs to it.
    std::string shown = shown_word(tokenizer_, word.text);
    std::string_view bare = shown;
    if (bare.starts_with("␣")) bare.remove_prefix(std::string_view("␣").size());
    if (*wanted_ == word.text || *wanted_ == shown || *wanted_ == bare) return choose();
    if (names_.size() < most_names && std::ranges::find(names_, shown) == names_.end())
      names_.push_back(std::move(shown));
  }

  const Tokenizer& tokenizer_;
  std::string_view text_;
  std::optional<std::string> wanted_;
  bool is_full_;
  ShownAmount shown_;
  CharacterCount characters_;

  std::vector<std::uint64_t> ids_;
  Listing pieces_{{"piece", "id", "stands for", "characters", "bytes"}}, words_{{"word", "pieces"}};
  Records records_{
      "pieces", {"piece", "shown", "id", "text", "begin", "end", "first_byte", "end_byte", "is_special"}, {}};
  std::size_t count_of_words_ = 0;
  std::optional<CutWord> to_show_;
  std::vector<std::string> names_;  // of words that were not asked for

  // Of the word that is being cut.
  bool in_word_ = false, is_added_ = false;
  std::string shown_word_;
  std::vector<std::uint64_t> of_word_;  // the first pieces
  std::size_t count_in_word_ = 0;
};

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

const StepsOfKind& steps_of_kind(const Tokenizer& tokenizer) {
  return *std::ranges::find_if(steps_of_kinds,
                               [&](const StepsOfKind& row) { return tokenizer.kind().starts_with(row.kind); });
}

void say_steps(Page& page, const Tokenizer& tokenizer, const CutWord& word, const ShownAmount& shown) {
  const StepsOfKind& kind = steps_of_kind(tokenizer);
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
    std::vector<std::uint64_t> ids(step.pieces.begin(), step.pieces.end());
    if (listing.rows.size() < shown.rows) listing.rows.push_back({std::move(number), shown_pieces(tokenizer, ids)});
    std::vector<std::string> texts;
    for (const std::size_t id : step.pieces) texts.emplace_back(tokenizer.piece(id));
    records.rows.push_back({std::move(value), std::move(texts), std::move(ids)});
  }
  say_listing(page, std::move(listing), "steps", records.rows.size());
  page.say(std::move(records));
}

// The merges for programs, which come behind the ids.
Records say_learned(Page& page, const ChosenTokenizer& chosen, const ShownAmount& shown) {
  const Tokenizer& tokenizer = *chosen.tokenizer;
  page.head(2, "Merges that were learned");
  page.say(
      "The pair of pieces that occurs most often becomes one piece. "
      "Of pairs that occur equally often, the one with the lowest ids is taken. Pairs are counted within words.");
  Listing listing{{"rank", "pair", "occurs", "new piece", "id"}};
  Records records{"merges", {"rank", "left", "right", "count", "piece", "id"}, {}};
  for (std::size_t i = 0; i < chosen.merges.size(); ++i) {
    const auto& [left, right, made, count] = chosen.merges[i];
    if (i < shown.rows) {
      listing.rows.push_back({std::to_string(i + 1), shown_pieces(tokenizer, std::array<std::uint64_t, 2>{left, right}),
                              fmt::format("{:once|# times}", Count{count}), shown_piece(tokenizer, made),
                              std::to_string(made)});
    }
    records.rows.push_back({std::uint64_t{i + 1}, std::string(tokenizer.piece(left)),
                            std::string(tokenizer.piece(right)), std::uint64_t{count},
                            std::string(tokenizer.piece(made)), std::uint64_t{made}});
  }
  if (chosen.merges.empty()) {
    page.say("No pair occurs twice in this text, so no merge was learned.");
  } else {
    say_listing(page, std::move(listing), "merges", chosen.merges.size());
  }
  return records;
}

// --- many texts

// The texts of a file, one after the other.
void for_each_text(const std::string& path, const std::function<void(const std::string& text)>& take) {
  const std::string bytes = read_bytes(path), where = place_of_file(path);
  std::size_t number = 0;
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    ++number;
    if (trimmed(line).empty()) continue;
    const std::string place = fmt::format("{}:{}", where, number);
    if (!trimmed(line).starts_with('"'))
      fail("{}: a JSON string is expected on each line: write the text in double quotes, such as \"Hello\"", place);
    const Json value = parse_json(line, place);
    take(value.get_ref<const std::string&>());
  }
}

Answer tokenize_many(const Tokenizer& tokenizer, const std::string& path, bool with_special, bool is_full) {
  const ShownAmount shown(is_full);
  Listing listing{{"text", "pieces"}};
  Records records{"texts", {"ids"}, {}};
  if (is_full) records.members = {"ids", "pieces", "begins", "ends", "decoded"};
  for_each_text(path, [&](const std::string& text) {
    CharacterCount begins(text), ends(text);
    std::vector<std::string> names;
    std::vector<std::uint64_t> ids, first, last;
    const auto take = [&](const Token& piece) {
      ids.push_back(piece.id);
      if (!is_full) return;
      names.emplace_back(piece.text);
      first.push_back(begins.before(piece.begin));
      last.push_back(ends.before(piece.end));
    };
    tokenizer.put_pieces(text, with_special, {.piece = take});
    if (listing.rows.size() < shown.rows) {
      listing.rows.push_back(
          {text.empty() ? "(empty)" : shown_text(shown.of(text)) + shown.behind(text),
           shown_pieces(tokenizer, std::span(ids).first(std::min(ids.size(), shown.rows)), ids.size())});
    }
    std::vector<Records::Value>& row = records.rows.emplace_back();
    if (is_full) {
      std::string decoded = tokenizer.decode(std::vector<std::size_t>(ids.begin(), ids.end()));
      row = {std::monostate(), std::move(names), std::move(first), std::move(last), std::move(decoded)};
    } else {
      row.emplace_back();
    }
    row.front() = std::move(ids);
  });
  Page page;
  page.head(1, fmt::format("Pieces of {}", count_of(records.rows.size(), "text")));
  say_listing(page, std::move(listing), "texts", records.rows.size());
  page.say(std::move(records));
  return {.page = std::move(page)};
}

}  // namespace

Answer run_tokenize(const Command&, const Arguments& arguments) {
  if (const auto file = arguments.text(option::texts_file)) {
    if (!arguments.words.empty()) fail("--texts has the texts: leave out the words '{}'", arguments.words.front());
    return tokenize_many(*choose_tokenizer(arguments, {}).tokenizer, *file, !arguments.has(option::no_special),
                         arguments.has(option::full));
  }
  const std::string text = text_to_tokenize(arguments);
  const ChosenTokenizer chosen = choose_tokenizer(arguments, text);
  const Tokenizer& tokenizer = *chosen.tokenizer;
  CutText cut(tokenizer, text, arguments);
  Page page;
  page.head(1, fmt::format("{} of the text", count_of(cut.count(), "piece")));
  page.say(fmt::format("Kind of tokenizer: {}. It has {} ids.{}", tokenizer.kind(), with_commas(tokenizer.size()),
                       chosen.merges.empty() ? "" : " It was learned from this text."));
  std::optional<Records> merges;
  if (!arguments.has(option::tokenizer)) merges = say_learned(page, chosen, ShownAmount(arguments.has(option::full)));
  if (cut.count() > 0) {
    page.head(2, "Pieces");
    page.say("␣ is a space. The text of a piece is a part of the vocabulary; its id is what a model gets.");
    cut.say_pieces(page);
  }
  cut.say_words(page);
  if (merges) page.say(std::move(*merges));
  if (cut.word_to_show()) say_steps(page, tokenizer, *cut.word_to_show(), ShownAmount(arguments.has(option::full)));
  Answer answer{.page = std::move(page)};
  if (const auto path = arguments.text(option::save_tokenizer))
    answer.files.push_back({*path, write_tokenizer(tokenizer)});
  return answer;
}

}  // namespace attn
