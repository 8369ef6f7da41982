#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>

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
  explicit Learner(const std::map<std::string, std::uint64_t>& counts) {
    for (const unsigned char byte : bytes_in_order_of_signs()) {
      std::string sign;
      append_code_point(sign, sign_of_byte(byte));
      piece_of(sign);
    }
    for (const auto& [text, count] : counts) {
      Word word{.count = count};
      for (const char32_t sign : code_points_of(text)) {
        std::string character;
        append_code_point(character, sign);
        word.pieces.push_back(piece_of(character));
      }
      words_.push_back(std::move(word));
    }
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (std::size_t i = 0; i + 1 < words_[word].pieces.size(); ++i) count_pair(word, i, true);
    }
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
  struct Word {
    std::vector<std::size_t> pieces = {};
    std::uint64_t count = 0;
  };
  struct Occurrences {
    std::uint64_t count = 0;
    std::set<std::size_t> words = {};
  };

  std::size_t piece_of(const std::string& text) {
    const auto [place, is_new] = ids_.emplace(text, pieces_.size());
    if (is_new) pieces_.push_back(text);
    return place->second;
  }

  void count_pair(std::size_t word, std::size_t at, bool adds) {
    const Word& its = words_[word];
    const Pair pair = {its.pieces[at], its.pieces[at + 1]};
    Occurrences& there = pairs_[pair];
    if (adds) {
      there.count += its.count;
      there.words.insert(word);
    } else {
      there.count -= its.count;
    }
    changed_.insert(pair);
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
    const std::set<std::size_t> words = std::move(pairs_.at(pair).words);
    pairs_.at(pair).words.clear();
    for (const std::size_t word : words) {
      std::vector<std::size_t>& pieces = words_[word].pieces;
      constexpr std::uint64_t work_of_piece = 100;
      Budget::take_work(work_of_piece * pieces.size());
      // A word that has lost the pair before has it no more.
      bool has = false;
      for (std::size_t i = 0; i + 1 < pieces.size(); ++i) has = has || Pair{pieces[i], pieces[i + 1]} == pair;
      if (!has) continue;
      for (std::size_t i = 0; i + 1 < pieces.size(); ++i) count_pair(word, i, false);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        const bool is_pair = i + 1 < pieces.size() && Pair{pieces[i], pieces[i + 1]} == pair;
        pieces[kept++] = is_pair ? made : pieces[i];
        if (is_pair) ++i;
      }
      pieces.resize(kept);
      for (std::size_t i = 0; i + 1 < pieces.size(); ++i) count_pair(word, i, true);
    }
    queue_changed();
  }

  std::vector<std::string> pieces_;
  std::unordered_map<std::string, std::size_t> ids_;
  std::vector<Word> words_;
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
  std::map<std::string, std::uint64_t> counts;
  std::vector<TextPart> parts;
  if (!text.empty()) parts.push_back({.text = AlignedText(text)});
  split_as_gpt2(false)(parts);
  // A word that goes on and on is counted in parts: each merge goes over all of each word that has its pair.
  constexpr std::size_t longest_counted = 1000;
  for (const TextPart& part : parts) {
    std::string_view word = part.text.text();
    while (word.size() > longest_counted) {
      std::size_t end = longest_counted;
      while ((static_cast<unsigned char>(word[end]) & 0xC0U) == 0x80U) --end;
      ++counts[std::string(word.substr(0, end))];
      word.remove_prefix(end);
    }
    ++counts[std::string(word)];
  }
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
