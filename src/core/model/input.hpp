#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/masks.hpp"
#include "core/graph/graph.hpp"

namespace attn {

/// What the queries of some words may attend to, as it was given.
struct WordMask {
  std::optional<Matrix> allowed = {};           // 1 and 0 for may and may not   [n_q or 1, n_k]
  std::optional<Matrix> bias = {};              // added to the scaled scores    [n_q or 1, n_k]
  std::optional<Matrix> keys = {};              // 1 and 0 for may and may not, for all queries   [1, n_k]
  std::vector<std::size_t> valid_lengths = {};  // of the keys: one, or one for each query; empty: all

  bool any() const { return allowed || bias || keys || !valid_lengths.empty(); }
};

/// Words as they go into a model: their ids, or their vectors. Several sentences of equal length stand below
/// each other.
struct ModelInput {
  std::vector<std::string> tokens = {};  // labels; empty: none
  std::vector<std::size_t> ids = {};     // from 1
  std::optional<Matrix> x = {};          // [n, d_model], in place of ids
  std::size_t sentences = 1;
  std::vector<bool> blank = {};         // one for each word: true where it stands for no word
  std::vector<std::size_t> types = {};  // of the words, from 0; empty: all of the first
  /// Of the words of a sentence; nothing: they follow the words before, or begin with 0.
  std::optional<RowPositions> positions = {};
  WordMask mask = {};         // for the attention to the words themselves
  WordMask memory_mask = {};  // for that to what was encoded

  std::size_t size() const { return x ? x->shape().rows : ids.size(); }
  std::size_t words_of_sentence() const { return size() / sentences; }
  bool has_blanks() const { return any(blank); }
  /// What its rows are called, with their labels.
  Axis rows(std::string name) const;
  /// What the words of one sentence are called; of several sentences they have no labels.
  Axis words(std::string name) const;
};

/// The words of an input of a graph, which may be exchanged for others between two runs.
class LiveWords {
 public:
  LiveWords() = default;
  explicit LiveWords(const ModelInput& words);

  const std::shared_ptr<const Matrix> ids() const { return ids_; }  // [n, 1]
  Blanks blanks() const { return blanks_; }
  /// Puts others in their place, as many as they are. Throws std::logic_error for another number.
  void exchange(const ModelInput& words);

 private:
  std::shared_ptr<Matrix> ids_;
  std::shared_ptr<std::vector<bool>> blanks_;
};

/// The words that a model knows; a word's id is its place, from 1.
using Vocabulary = std::vector<std::string>;

/// The words before the first and after the last word of a sentence.
constexpr std::string_view start_word = "<start>";
constexpr std::string_view end_word = "<end>";

/// The words of a model whose file names none: the ids of its tokens, which count from 0 as those of a tokenizer.
Vocabulary token_ids(std::size_t count);
bool are_token_ids(const Vocabulary& vocabulary);

/// The id of a word, or 0 where the vocabulary does not have it.
std::size_t id_in(const Vocabulary& vocabulary, std::string_view word);

/// The vocabulary, and behind it those of the words that it does not have yet.
Vocabulary with_new_words(Vocabulary vocabulary, const std::vector<std::string>& words);

}  // namespace attn
