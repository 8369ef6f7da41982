#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/support/error.hpp"
#include "data/tokenizer/prefixes.hpp"
#include "data/tokenizer/seams.hpp"
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
    std::vector<std::pair<std::string_view, std::size_t>> pieces;
    for (std::size_t id = 0; id < this->vocabulary().size(); ++id) {
      if (!is_in_texts(id)) continue;
      pieces.emplace_back(this->vocabulary().piece(id), id);
      seams_.add(this->vocabulary().piece(id));
    }
    prefixes_ = Prefixes(std::move(pieces));
  }

  std::vector<WordPart> cut(std::string_view word) const override {
    std::vector<WordPart> pieces;
    put_pieces(word, [&](const WordPart& piece) { pieces.push_back(piece); });
    return pieces;
  }

  void put_pieces(std::string_view word, const std::function<void(const WordPart&)>& take) const override {
    const auto is_known = [&](std::string_view character) {
      const auto id = vocabulary().find(character);
      return id && is_in_texts(*id) && id != unknown_;
    };
    double score = 0.0;  // of all before: of sums that are nearly equal, rounding decides
    seams_.split(word, is_known, [&](const ByteRange& range) {
      const std::string_view part = word.substr(range.begin, range.end - range.begin);
      const BestWays ways = best_ways(part, 1, score);
      for (const auto& [id, of_part] : pieces_of_way(part, ways, 0))
        take({id, {range.begin + of_part.begin, range.begin + of_part.end}});
      score = ways.to(part.size(), 0).score;
    });
  }

  std::vector<CuttingStep> steps(std::string_view word) const override {
    constexpr std::size_t most_shown = 5;
    const BestWays ways = best_ways(word, most_shown, 0.0);
    std::vector<CuttingStep> steps;
    for (std::size_t rank = 0; rank < ways.count_to(word.size()); ++rank) {
      CuttingStep step{.score = ways.to(word.size(), rank).score};
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
    std::size_t begin = 0;   // of its last piece
    std::uint32_t rank = 0;  // which of the ways to there
    std::uint32_t id = 0;    // of its last piece
  };
  static constexpr std::uint32_t unknown_character = std::numeric_limits<std::uint32_t>::max();

  // The best ways to each byte of a word, the best one first.
  class BestWays {
   public:
    BestWays(std::size_t bytes, std::size_t most, double score)
        : most_(most), ways_((bytes + 1) * most), counts_(bytes + 1) {
      counts_[0] = 1;
      ways_[0].score = score;
    }
    std::size_t count_to(std::size_t end) const { return counts_[end]; }
    const Way& to(std::size_t end, std::size_t rank) const { return ways_[end * most_ + rank]; }

    void add(std::size_t begin, std::size_t end, double score, std::uint32_t id) {
      for (std::uint32_t rank = 0; rank < counts_[begin]; ++rank) {
        const Way way = {score + to(begin, rank).score, begin, rank, id};
        std::size_t place = counts_[end];
        while (place > 0 && way.score > to(end, place - 1).score) --place;
        if (place == most_) break;
        if (counts_[end] < most_) ++counts_[end];
        for (std::size_t i = counts_[end] - std::size_t{1}; i > place; --i) ways_[end * most_ + i] = to(end, i - 1);
        ways_[end * most_ + place] = way;
      }
    }

   private:
    std::size_t most_;
    std::vector<Way> ways_;
    std::vector<std::uint8_t> counts_;
  };

  // By dynamic programming (Viterbi 1967), behind what has this score.
  BestWays best_ways(std::string_view word, std::size_t most, double score) const {
    Budget::require_cells(word.size() * most * (sizeof(Way) + 1) / sizeof(double));
    BestWays ways(word.size(), most, score);
    for (std::size_t at = 0, size; at < word.size(); at += size) {
      size = code_point_at(word, at).size;
      bool is_known = false;
      prefixes_.find(word.substr(at), [&](std::size_t length, std::size_t id) {
        ways.add(at, at + length, scores_[id], static_cast<std::uint32_t>(id));
        is_known = is_known || length == size;
      });
      if (!is_known) ways.add(at, at + size, unknown_score_, unknown_character);
    }
    return ways;
  }

  std::vector<WordPart> pieces_of_way(std::string_view word, const BestWays& ways, std::size_t rank) const {
    std::vector<Way> path;
    std::vector<std::size_t> ends;
    for (std::size_t end = word.size(); end > 0;) {
      const Way& way = ways.to(end, rank);
      const bool is_unknown = way.id == unknown_character || way.id == unknown_;
      if (is_unknown && !path.empty() && path.back().id == unknown_character) {
        path.back().begin = way.begin;
      } else {
        path.push_back(way);
        if (is_unknown) path.back().id = unknown_character;
        ends.push_back(end);
      }
      end = way.begin;
      rank = way.rank;
    }
    std::vector<WordPart> pieces;
    for (std::size_t i = path.size(); i-- > 0;) {
      const std::optional<std::size_t> id =
          path[i].id == unknown_character ? std::nullopt : std::optional<std::size_t>(path[i].id);
      add_piece(pieces, word, {path[i].begin, ends[i]}, id);
    }
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
  Prefixes prefixes_;  // of the pieces that are in texts
  Seams seams_;        // between them
  std::vector<std::optional<std::size_t>> bytes_;
};

}  // namespace

std::unique_ptr<WordModel> make_unigram(PieceVocabulary vocabulary, std::vector<double> scores,
                                        std::optional<std::size_t> unknown, bool falls_back_to_bytes,
                                        const std::string& where) {
  return std::make_unique<Unigram>(std::move(vocabulary), std::move(scores), unknown, falls_back_to_bytes, where);
}

}  // namespace attn
