#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

// What a command that runs a model hangs on its answer, for those that change the computation.

/// What a model should say at some positions: logits, a row for each, and the right words, as ids from 1.
struct Prediction {
  const Node* logits;
  std::vector<std::size_t> ids;
};

/// Those of a model whose right words are known.
struct RightWords {
  std::vector<Prediction> predictions;
};

/// A model that writes words behind those that it is given, the most probable one each time.
struct WordWriter {
  std::size_t most = 0;                                                  // words
  std::function<bool(std::size_t id)> ends;                              // whether nothing follows this one
  std::function<std::string(const std::vector<std::size_t>& ids)> told;  // words as a text
  /// The computation of the logits, a row for each word, of what it is given and what is written behind it.
  std::function<std::shared_ptr<Graph>(const std::vector<std::size_t>& written)> run;
};

/// A model on other words than those of the command line, by ids from 1: its computation up to the logits. A side that
/// it does not have gets none.
struct ModelRerun {
  std::function<std::shared_ptr<Graph>(const std::vector<std::size_t>& source, const std::vector<std::size_t>& target)>
      run;
};

}  // namespace attn
