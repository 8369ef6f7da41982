#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

// A mask says which keys each query may attend to: 1 (may) or 0 (may not).  [n_q, n_k]  It is made row by row
// from its reasons, so that n_q × n_k cells need not stand anywhere.

/// One reason: sets to 0 what the query may not attend to. Queries count from 0.
using MaskRule = std::function<void(std::size_t query, std::span<double> keys)>;

/// Query i may attend to keys 1 … i, aligned at the top left when the lengths differ; after `before` earlier
/// queries, to keys 1 … before + i: with before = n_k − n_q the mask is aligned at the bottom right, as with
/// a cache of keys and values. Below 0 even its own key, and so many before it, are later ones.
/// (Vaswani et al. 2017, section 3.2.3)
MaskRule causal_rule(std::ptrdiff_t before = 0);

/// No key that stands `window` or more positions before its query, where so many keys come before the first query.
/// (Beltagy et al. 2020, Longformer, section 3.1; Jiang et al. 2023, Mistral 7B, section 2: the query itself counts)
MaskRule window_rule(std::size_t window, std::size_t before = 0);

/// Query i may attend to the first lengths[i] keys; a single length holds for all queries.  (Zhang et al.,
/// Dive into Deep Learning, 11.3.2.1) A length above the number of keys is all of them. Throws InputError:
/// neither one length nor one for each query.
MaskRule valid_length_rule(Shape shape, std::span<const std::size_t> lengths);

/// Which words of some sentences below each other are padding; it may change between two runs.
using Blanks = std::shared_ptr<const std::vector<bool>>;

/// No query may attend to a key of its sentence that is padding. `of_sentence` is the shape of the mask of
/// one sentence; there are no more flags than keys.
MaskRule padding_rule(Blanks blanks, Shape of_sentence);

/// A rule of each of some sentences, whose queries, so many, follow those of the sentence before.
MaskRule in_each_sentence(MaskRule rule, std::size_t queries);

/// What another mask allows: one row for each query, or one for all of them.
MaskRule rule_of(Matrix mask);

/// The mask that allows what all rules allow.
MakeRows mask_by(std::vector<MaskRule> rules);
Matrix mask_by(std::vector<MaskRule> rules, Shape shape);

/// The token that stands for no word: padding.
constexpr std::string_view blank = "<blank>";

/// Which of the words are padding.
std::vector<bool> blanks_among(const std::vector<std::string>& words);
bool any(const std::vector<bool>& flags);

}  // namespace attn
