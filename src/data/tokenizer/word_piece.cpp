#include <algorithm>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/utf8.hpp"
#include "data/tokenizer/prefixes.hpp"
#include "data/tokenizer/word_model.hpp"

namespace attn {
namespace {

class LongestFirst : public WordModel {
 public:
  LongestFirst(PieceVocabulary vocabulary, const std::string& unknown, const std::string& inner_prefix,
               std::size_t longest, const std::string& where)
      : WordModel(std::move(vocabulary)), longest_(longest) {
    const auto id = this->vocabulary().find(unknown);
    if (!id) {
      fail("{}: the piece for unknown words is '{}', which the vocabulary does not have: take both from the same model",
           where, shown_text(unknown));
    }
    unknown_ = *id;
    std::vector<std::pair<std::string_view, std::size_t>> first, inner;
    for (std::size_t number = 0; number < this->vocabulary().size(); ++number) {
      const std::string_view piece = this->vocabulary().piece(number);
      first.emplace_back(piece, number);
      if (piece.starts_with(inner_prefix)) inner.emplace_back(piece.substr(inner_prefix.size()), number);
    }
    first_ = Prefixes(std::move(first));
    inner_ = Prefixes(std::move(inner));
  }

  std::vector<WordPart> cut(std::string_view word) const override { return cut_and_tell(word, nullptr); }

  std::vector<CuttingStep> steps(std::string_view word) const override {
    std::vector<CuttingStep> steps;
    cut_and_tell(word, &steps);
    return steps;
  }

  std::string_view kind() const override { return "WordPiece"; }

 private:
  std::vector<WordPart> cut_and_tell(std::string_view word, std::vector<CuttingStep>* steps) const {
    std::vector<WordPart> pieces;
    const auto tell = [&](std::size_t tried) {
      if (!steps) return;
      CuttingStep step{.tried = tried};
      for (const WordPart& piece : pieces) step.pieces.push_back(piece.id);
      steps->push_back(std::move(step));
    };
    const auto give_up = [&](std::size_t tried) {
      pieces = {{unknown_, {0, word.size()}}};
      tell(tried);
      return pieces;
    };
    if (has_more_characters(word, longest_)) return give_up(0);
    for (std::size_t begin = 0; begin < word.size();) {
      const std::string_view rest = word.substr(begin);
      std::optional<std::size_t> found;
      std::size_t bytes = 0;
      (begin == 0 ? first_ : inner_).find(rest, [&](std::size_t size, std::size_t id) {
        bytes = size;
        found = id;
      });
      // All that is longer was looked up before.
      const std::size_t tried = steps ? characters_in(rest.substr(bytes)) + (found ? 1 : 0) : 0;
      if (!found) return give_up(tried);
      pieces.push_back({*found, {begin, begin + bytes}});
      begin += bytes;
      tell(tried);
    }
    return pieces;
  }

  static std::size_t characters_in(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !continues_character(c); }));
  }
  static bool has_more_characters(std::string_view text, std::size_t most) {
    return text.size() > most && characters_in(text) > most;
  }

  Prefixes first_, inner_;  // pieces that begin a word, and, without their prefix, those inside of one
  std::size_t longest_;
  std::size_t unknown_ = 0;
};

}  // namespace

std::unique_ptr<WordModel> make_word_piece(PieceVocabulary vocabulary, const std::string& unknown,
                                           const std::string& inner_prefix, std::size_t longest,
                                           const std::string& where) {
  return std::make_unique<LongestFirst>(std::move(vocabulary), unknown, inner_prefix, longest, where);
}

}  // namespace attn
