#include "core/support/error.hpp"
#include "data/tokenizer/word_model.hpp"

namespace attn {
namespace {

class LongestFirst : public WordModel {
 public:
  LongestFirst(PieceVocabulary vocabulary, const std::string& unknown, std::string inner_prefix, std::size_t longest,
               const std::string& where)
      : WordModel(std::move(vocabulary)), inner_prefix_(std::move(inner_prefix)), longest_(longest) {
    const auto id = this->vocabulary().find(unknown);
    if (!id) {
      fail("{}: the piece for unknown words is '{}', which the vocabulary does not have: take both from the same model",
           where, shown_text(unknown));
    }
    unknown_ = *id;
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
    std::size_t tried = 0;
    const auto tell = [&] {
      if (!steps) return;
      CuttingStep step{.tried = tried};
      for (const WordPart& piece : pieces) step.pieces.push_back(piece.id);
      steps->push_back(std::move(step));
      tried = 0;
    };
    const auto give_up = [&] {
      pieces = {{unknown_, {0, word.size()}}};
      tell();
      return pieces;
    };
    if (code_points_of(word).size() > longest_) return give_up();
    std::string looked_up;
    for (std::size_t begin = 0; begin < word.size();) {
      std::size_t end = word.size();
      std::optional<std::size_t> found;
      while (end > begin) {
        looked_up = begin > 0 ? inner_prefix_ : "";
        looked_up += word.substr(begin, end - begin);
        ++tried;
        if ((found = vocabulary().find(looked_up))) break;
        // One character less.
        do --end;
        while (end > begin && (static_cast<unsigned char>(word[end]) & 0xC0U) == 0x80U);
      }
      if (!found) return give_up();
      pieces.push_back({*found, {begin, end}});
      begin = end;
      tell();
    }
    return pieces;
  }

  std::string inner_prefix_;
  std::size_t longest_;
  std::size_t unknown_ = 0;
};

}  // namespace

std::unique_ptr<WordModel> make_word_piece(PieceVocabulary vocabulary, const std::string& unknown,
                                           std::string inner_prefix, std::size_t longest, const std::string& where) {
  return std::make_unique<LongestFirst>(std::move(vocabulary), unknown, std::move(inner_prefix), longest, where);
}

}  // namespace attn
