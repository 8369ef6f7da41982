#pragma once

#include "command/command.hpp"

namespace attn {

/// What a model should say at some positions: logits, a row for each, and the right words, as ids from 1.
struct Prediction {
  const Node* logits;
  std::vector<std::size_t> ids;
};

/// A computation before its numbers, of which gradients can be taken.
struct Differentiable {
  Calculation computation;
  std::string title;
  std::vector<const Node*> results;          // the last ones: their numbers are summed where no loss is named
  std::vector<Prediction> predictions = {};  // whose cross-entropy is the loss, where there are some
  std::string told_words = {};               // a sentence on where their right words come from
  std::vector<std::string> remarks = {};
  bool names_are_long = false;  // those of a model stand under headings for their scopes
};

/// Whether the arguments ask for gradients in place of the page.
bool asks_for_gradients(const Arguments& arguments);

/// The page that they ask for. Throws InputError: no such matrix or cell, one that nothing leads to, a
/// gradient of another shape, more than memory would hold.
Outcome gradients_of(const Differentiable& forward, const Arguments& arguments);

}  // namespace attn
