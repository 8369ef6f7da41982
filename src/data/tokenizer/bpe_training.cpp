#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "data/files/json.hpp"
#include "data/tokenizer/pre_tokenizers.hpp"
#include "data/tokenizer/tokenizer.hpp"
#include "data/tokenizer/unicode.hpp"

namespace attn {
namespace {

using Pair = std::pair<std::size_t, std::size_t>;

// Learns merges from words and how often they occur.
class Learner {
 public:
  explicit Learner(const std::map<std::string, std::uint64_t, std::less<>>& counts) {
    for (const unsigned char byte : bytes_in_order_of_signs()) {
      std::string sign;
      append_code_point(sign, sign_of_byte(byte));
      piece_of(sign);
    }
    for (const auto& [text, count] : counts) {
      counts_.push_back(count);
      const auto word = static_cast<std::uint32_t>(counts_.size() - 1);
      std::uint32_t before = none;
      for (const char32_t sign : code_points_of(text)) {
        std::string character;
        append_code_point(character, sign);
        const auto at = static_cast<std::uint32_t>(pieces_of_words_.size());
        pieces_of_words_.push_back({static_cast<std::uint32_t>(piece_of(character)), word, before, none});
        if (before != none) pieces_of_words_[before].next = at;
        before = at;
      }
    }
    for (std::uint32_t at = 0; at < pieces_of_words_.size(); ++at) count_pair(at, true);
    queue_changed();
  }

  void learn(std::size_t size) {
    while (pieces_.size() < size && !queue_.empty()) {
      const auto [count, negated] = queue_.top();
      queue_.pop();
      const Pair pair = {~negated.first, ~negated.second};
      const auto found = pairs_.find(pair);
      // It may be that it has become rarer since, and then it stands there again.
      if (found == pairs_.end() || found->second.count != count) continue;
      if (count < 2) break;
      merge(pair, count);
    }
  }

  const std::vector<std::string>& pieces() const { return pieces_; }
  const std::vector<LearnedMerge>& merges() const { return merges_; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  // A piece in a word, and where its neighbors there stand among all pieces. Merged into the one before it, it has no
  // word any more.
  struct PieceOfWord {
    std::uint32_t piece, word, before, next;
  };
  struct Occurrences {
    std::uint64_t count = 0;
    std::vector<std::uint32_t> places = {};  // of the first piece, in some order; it may stand there no more
  };

  std::size_t piece_of(const std::string& text) {
    const auto [place, is_new] = ids_.emplace(text, pieces_.size());
    if (is_new) pieces_.push_back(text);
    return place->second;
  }

  // The pair that begins at a place, if any does.
  void count_pair(std::uint32_t at, bool adds) {
    const PieceOfWord& first = pieces_of_words_[at];
    if (first.next == none) return;
    const Pair pair = {first.piece, pieces_of_words_[first.next].piece};
    Occurrences& there = pairs_[pair];
    if (adds) {
      there.count += counts_[first.word];
      there.places.push_back(at);
    } else {
      there.count -= counts_[first.word];
    }
    changed_.insert(pair);
  }

  bool begins(const Pair& pair, std::uint32_t at) const {
    const PieceOfWord& first = pieces_of_words_[at];
    return first.word != none && first.piece == pair.first && first.next != none &&
           pieces_of_words_[first.next].piece == pair.second;
  }

  void queue_changed() {
    for (const Pair& pair : changed_) {
      const auto found = pairs_.find(pair);
      if (found->second.count == 0) {
        pairs_.erase(found);
      } else {
        queue_.push({found->second.count, {~pair.first, ~pair.second}});
      }
    }
    changed_.clear();
  }

  void merge(const Pair& pair, std::uint64_t count) {
    const std::size_t made = piece_of(pieces_[pair.first] + pieces_[pair.second]);
    merges_.push_back({pair.first, pair.second, made, count});
    std::vector<std::uint32_t> places = std::exchange(pairs_.at(pair).places, {});
    constexpr std::uint64_t work_of_place = 100;
    Budget::take_reading(work_of_place * places.size());
    // Within a word from left to right: of three equal pieces the first two are merged.
    std::ranges::sort(places);
    for (const std::uint32_t at : places) {
      if (begins(pair, at)) merge_at(at, static_cast<std::uint32_t>(made));
    }
    queue_changed();
  }

  void merge_at(std::uint32_t at, std::uint32_t made) {
    PieceOfWord& first = pieces_of_words_[at];
    PieceOfWord& second = pieces_of_words_[first.next];
    if (first.before != none) count_pair(first.before, false);
    count_pair(at, false);
    count_pair(first.next, false);
    first.piece = made;
    first.next = second.next;
    second.word = none;
    if (first.next != none) pieces_of_words_[first.next].before = at;
    if (first.before != none) count_pair(first.before, true);
    count_pair(at, true);
  }

  std::vector<std::string> pieces_;
  std::unordered_map<std::string, std::size_t> ids_;
  std::vector<std::uint64_t> counts_;  // how often each word occurs
  std::vector<PieceOfWord> pieces_of_words_;
  std::map<Pair, Occurrences> pairs_;
  std::set<Pair> changed_;
  // How often a pair occurs, and the pair, negated: of those that occur equally often, the one with the lowest ids.
  std::priority_queue<std::pair<std::uint64_t, Pair>> queue_;
  std::vector<LearnedMerge> merges_;
};

// As GPT-2's, with these pieces and merges.
std::string byte_level_json(const Learner& learner) {
  std::string json =
      R"({
  "version": "1.0",
  "truncation": null,
  "padding": null,
  "added_tokens": [],
  "normalizer": null,
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
  "post_processor": null,
  "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
  "model": {
    "type": "BPE",
    "dropout": null,
    "unk_token": null,
    "continuing_subword_prefix": null,
    "end_of_word_suffix": null,
    "fuse_unk": false,
    "byte_fallback": false,
    "ignore_merges": false,
    "vocab": {
)";
  const std::vector<std::string>& pieces = learner.pieces();
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    json += fmt::format("      {}: {}{}\n", json_string(pieces[id]), id, id + 1 < pieces.size() ? "," : "");
  }
  json += "    },\n    \"merges\": [\n";
  const std::vector<LearnedMerge>& merges = learner.merges();
  for (std::size_t i = 0; i < merges.size(); ++i) {
    json += fmt::format("      [{}, {}]{}\n", json_string(pieces[merges[i].left]), json_string(pieces[merges[i].right]),
                        i + 1 < merges.size() ? "," : "");
  }
  return json + "    ]\n  }\n}\n";
}

}  // namespace

std::shared_ptr<const Tokenizer> learn_bpe(std::string_view text, std::size_t size, std::vector<LearnedMerge>* merges) {
  require_utf8(text, "the text");
  constexpr std::size_t bytes = 256, most_learned = 1'000'000;
  if (size <= bytes || size > most_learned) {
    fail(
        "a vocabulary of {} cannot be learned: the {} bytes are in it before the first merge. Give a size from {} to {}",
        count_of(size, "piece"), bytes, bytes + 1, most_learned);
  }
  std::map<std::string, std::uint64_t, std::less<>> counts;
  const auto count = [&](std::string_view word) {
    const auto known = counts.find(word);
    if (known == counts.end()) {
      counts.emplace(word, 1);
    } else {
      ++known->second;
    }
  };
  const auto count_word = [&](const AlignedText& part) {
    constexpr std::uint64_t work_of_counting = 100;
    const std::string_view word = part.text();
    Budget::take_reading(work_of_counting * word.size());
    count(word);
  };
  if (!text.empty()) split_as_gpt2(false)(AlignedText(text), count_word);
  Learner learner(counts);
  learner.learn(size);
  if (merges) *merges = learner.merges();
  return tokenizer_from_json(byte_level_json(learner), "the learned tokenizer", KeptText::yes);
}

std::string write_tokenizer(const Tokenizer& learned) {
  if (learned.written().empty()) fail("only a tokenizer that was learned is written: copy the files of the other one");
  return std::string(learned.written());
}

}  // namespace attn
