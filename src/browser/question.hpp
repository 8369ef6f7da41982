#pragma once

#include <optional>
#include <string>

#include "graph/graph.hpp"

namespace attn {

/// A question that a reader has about a computation: about one row of some attention weights.
struct OpeningQuestion {
  std::string before, after;            // what stands before the word that is asked about, and after it
  const Node* weights = nullptr;        // null: it is about no weights
  std::size_t query = 0;                // the row of the weights
  std::string rows = {}, columns = {};  // what rows and columns of the weights are, in words
};

/// The question to begin with: about the query that gives another word the largest weight.
OpeningQuestion question_of(const Graph& graph);

/// What is asked, and the answer as numbers give it: the keys with the most weight.
std::string asked(const OpeningQuestion& question);
std::string answered(const OpeningQuestion& question);

}  // namespace attn
