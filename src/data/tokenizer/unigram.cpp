#include <algorithm>
#include <cmath>
#include <limits>

#include "core/support/error.hpp"
#include "data/tokenizer/word_model.hpp"

namespace attn {
namespace {

class Unigram : public WordModel {
 public:
  Unigram(PieceVocabulary vocabulary, std::vector<double> scores, std::optional<std::size_t> unknown,
          bool falls_back_to_bytes, const std::string& where)
      : WordModel(std::move(vocabulary)), scores_(std::move(scores)), unknown_(unknown) {
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t id = 0; id < scores_.size(); ++id) {
      if (std::isnan(scores_[id]) || scores_[id] > std::numeric_limits<double>::max()) {
        fail("{}: the score of the piece with the id {} is not a finite number: get the file anew", where, id);
      }
      if (!is_in_texts(id)) continue;
      lowest = std::min(lowest, scores_[id]);
      longest_ = std::max(longest_, this->vocabulary().piece(id).size());
    }
    if (unknown_ && *unknown_ >= this->vocabulary().size()) {
      fail("{}: the id of the unknown piece is {}, beyond the vocabulary of {}: get the file anew", where, *unknown_,
           this->vocabulary().size());
    }
    constexpr double penalty = 10.0;  // as in sentencepiece
    unknown_score_ = (std::isfinite(lowest) ? lowest : 0.0) - penalty;
    if (falls_back_to_bytes) {
      for (unsigned byte = 0; byte < 256; ++byte) {
        bytes_.push_back(this->vocabulary().find(piece_of_byte(static_cast<unsigned char>(byte))));
      }
    }
    // The lengths of pieces that begin with a byte: a few only, of all up to the longest.
    lengths_.resize(256);
    std::vector<std::vector<bool>> seen(256, std::vector<bool>(longest_ + 1));
    for (std::size_t id = 0; id < this->vocabulary().size(); ++id) {
      const std::string_view piece = this->vocabulary().piece(id);
      if (!piece.empty() && is_in_texts(id)) seen[static_cast<unsigned char>(piece.front())][piece.size()] = true;
    }
    for (std::size_t first = 0; first < 256; ++first) {
      for (std::size_t size = 1; size <= longest_; ++size) {
        if (seen[first][size]) lengths_[first].push_back(size);
      }
    }
  }

  std::vector<WordPart> cut(std::string_view word) const override {
    std::vector<std::vector<Way>> ways = best_ways(word, 1);
    return ways.back().empty() ? std::vector<WordPart>() : pieces_of_way(word, ways, 0);
  }

  std::vector<CuttingStep> steps(std::string_view word) const override {
    constexpr std::size_t most_shown = 5;
    const std::vector<std::vector<Way>> ways = best_ways(word, most_shown);
    std::vector<CuttingStep> steps;
    for (std::size_t rank = 0; rank < ways.back().size(); ++rank) {
      CuttingStep step{.score = ways.back()[rank].score};
      for (const WordPart& piece : pieces_of_way(word, ways, rank)) step.pieces.push_back(piece.id);
      steps.push_back(std::move(step));
    }
    return steps;
  }

  std::string_view kind() const override { return "unigram"; }

 private:
  bool is_in_texts(std::size_t id) const { return std::isfinite(scores_[id]); }

  // How the first bytes of a word can be cut.
  struct Way {
    double score = 0.0;
    std::size_t begin = 0;          // of its last piece
    std::size_t before = 0;         // which of the ways to there
    std::optional<std::size_t> id;  // of its last piece; nothing: an unknown character
  };

  // The best ways to each byte of a word, the best one first, by dynamic programming (Viterbi 1967).
  std::vector<std::vector<Way>> best_ways(std::string_view word, std::size_t most) const {
    std::vector<std::vector<Way>> ways(word.size() + 1);
    ways[0].push_back({});
    const auto add = [&](std::size_t begin, std::size_t end, double score, std::optional<std::size_t> id) {
      std::vector<Way>& there = ways[end];
      for (std::size_t rank = 0; rank < ways[begin].size(); ++rank) {
        const double sum = score + ways[begin][rank].score;
        if (there.size() == most && sum <= there.back().score) break;
        if (there.size() == most) there.pop_back();
        const auto place = std::ranges::find_if(there, [&](const Way& way) { return sum > way.score; });
        there.insert(place, {sum, begin, rank, id});
      }
    };
    for (std::size_t at = 0, size; at < word.size(); at += size) {
      size = code_point_at(word, at).size;
      bool is_known = false;
      for (const std::size_t length : lengths_[static_cast<unsigned char>(word[at])]) {
        if (length > word.size() - at) break;
        const auto id = vocabulary().find(word.substr(at, length));
        if (!id || !is_in_texts(*id)) continue;
        add(at, at + length, scores_[*id], id);
        is_known = is_known || length == size;
      }
      if (!is_known) add(at, at + size, unknown_score_, std::nullopt);
    }
    return ways;
  }

  std::vector<WordPart> pieces_of_way(std::string_view word, const std::vector<std::vector<Way>>& ways,
                                      std::size_t rank) const {
    std::vector<Way> path;
    std::vector<std::size_t> ends;
    for (std::size_t end = word.size(); end > 0;) {
      const Way& way = ways[end][rank];
      const bool is_unknown = !way.id || (unknown_ && *way.id == *unknown_);
      if (is_unknown && !path.empty() && !path.back().id) {
        path.back().begin = way.begin;
      } else {
        path.push_back(way);
        if (is_unknown) path.back().id.reset();
        ends.push_back(end);
      }
      end = way.begin;
      rank = way.before;
    }
    std::vector<WordPart> pieces;
    for (std::size_t i = path.size(); i-- > 0;) add_piece(pieces, word, {path[i].begin, ends[i]}, path[i].id);
    return pieces;
  }

  void add_piece(std::vector<WordPart>& pieces, std::string_view word, ByteRange range,
                 std::optional<std::size_t> id) const {
    const std::string_view text = word.substr(range.begin, range.end - range.begin);
    if (!id) id = vocabulary().find(text);
    if (id && !is_in_texts(*id)) id.reset();
    if (!id && !bytes_.empty() &&
        std::ranges::all_of(text, [&](char c) { return bytes_[static_cast<unsigned char>(c)].has_value(); })) {
      // Each of them stands for all unknown characters, as in the package tokenizers.
      for (std::size_t i = 0; i < text.size(); ++i) {
        pieces.push_back({*bytes_[static_cast<unsigned char>(text[i])], range});
      }
      return;
    }
    if (!id) id = unknown_;
    if (!id) {
      fail("the vocabulary has no piece for '{}', and none for what is unknown: leave it out of the text",
           shown_text(text));
    }
    pieces.push_back({*id, range});
  }

  std::vector<double> scores_;
  std::optional<std::size_t> unknown_;
  double unknown_score_ = 0.0;
  std::size_t longest_ = 0;
  std::vector<std::vector<std::size_t>> lengths_;
  std::vector<std::optional<std::size_t>> bytes_;
};

}  // namespace

std::unique_ptr<WordModel> make_unigram(PieceVocabulary vocabulary, std::vector<double> scores,
                                        std::optional<std::size_t> unknown, bool falls_back_to_bytes,
                                        const std::string& where) {
  return std::make_unique<Unigram>(std::move(vocabulary), std::move(scores), unknown, falls_back_to_bytes, where);
}

}  // namespace attn
