#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"
#include "page/block/page.hpp"

namespace attn {

/// One attention of a computation: the weights of its heads, queries as rows and keys as columns.
struct Attention {
  const NamedScope* place;  // around the heads; null: no scope
  std::vector<const Node*> heads;
};

/// The nodes that are the weights of an attention, and match the pattern where there is one. Those of a
/// recurrent decoder, which has a query at each step, are one matrix for all steps. Throws InputError where
/// there are none.
std::vector<const Node*> attention_weights(const Graph& graph, const std::optional<std::string>& pattern);

/// The same weights, by attention.
std::vector<Attention> attentions_of(const Graph& graph, const std::optional<std::string>& pattern);

/// "head 2", or of an attention without heads its name: "weights".
std::string head_title(const Node& weights);

/// The scores behind weights, whose cells are −∞ where a key is masked; null where nothing says.
std::shared_ptr<const Matrix> masks_behind(const Node& weights);

/// Whether row i and column i are the same word or position: not in cross-attention, and without words only where
/// queries and keys are made of the same vectors.
bool is_of_same_words(const Node& weights);

/// How many kinds of keys there are that a head may attend to.
inline constexpr std::size_t key_kind_count = 8;
/// "previous word", "itself" …, in the order in which they count where two have the same share.
std::span<const std::string_view> key_kind_names();

/// A query, a key, and the weight between them.
struct HeadPair {
  std::size_t query, key;
  double weight;
};

/// What is measured of one head, over the queries that have a choice: at least two permitted keys.
struct HeadMeasure {
  std::size_t queries = 0;
  std::size_t with_one_key = 0, without_keys = 0, without_shares = 0;
  double entropy = 0.0, most_entropy = 0.0;       // in bits, means over the queries
  std::array<double, key_kind_count> shares{};    // means over the queries that have such a key; 0 without any
  std::array<bool, key_kind_count> are_common{};  // whether enough queries have one
  std::optional<double> of_expected = {};      // mean weight of keys with the word that should come out; nothing: none
  bool expected_is_common = false;             // whether enough queries have such a key
  std::vector<HeadPair> strongest = {};        // of the weights that were added last
  std::array<std::size_t, 101> pairs_of = {};  // of these, how many pairs have each weight, in hundredths
};

/// A weight as two decimals show it.
std::size_t hundredths(double weight);

/// What is known of the queries of a head on one sentence.
struct QueryFacts {
  std::vector<bool> counts = {};           // those that are not left out; empty: all
  std::vector<std::string> expected = {};  // words that should come out there; an empty word: not known
};

/// Measures one head on one sentence after another.
class HeadMeter {
 public:
  /// The weights of the head.
  void add(const Node& weights, const QueryFacts& known = {});
  HeadMeasure measure() const;

 private:
  class Sentence;

  HeadMeasure sums_;
  std::array<std::size_t, key_kind_count> queries_with_{};
  std::size_t queries_with_expected_ = 0;
  double share_of_expected_ = 0.0;
};

/// What a head attends to, and the share that decided it.
struct HeadLabel {
  std::string_view name;
  std::optional<double> share = {};  // nothing where none did
};
HeadLabel label_of(const HeadMeasure& head);

/// All labels that there are, in the order of the rules.
std::vector<std::string_view> label_names();

/// Adds the rules by which heads with these measures get their labels.
void add_label_rules(Page& page, std::span<const HeadMeasure> heads);

/// "57 %".
std::string percent_of(double share);

}  // namespace attn
