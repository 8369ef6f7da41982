#pragma once

#include <optional>
#include <string>

#include "core/graph/row_positions.hpp"
#include "data/problem/model_file.hpp"
#include "data/problem/option.hpp"

namespace attn {

/// Which attention of a model is meant, and on which words.
struct AttentionOfModel {
  std::string model;                    // as the reader called it
  std::vector<std::string> texts = {};  // in place of its own sentence; in a decoder alone what it is given; or a pair
  std::optional<RowPositions> positions = {};  // of the words that go in, on the side of the texts
  std::optional<std::string> layer = {};       // "2", or "decoder.1.cross_attention"; nothing: the last
};

/// One attention of a Transformer as a problem: what goes into it when the model runs on the words, and its
/// own parameters. Throws InputError: words that the model does not know, no such layer, an attention that a
/// problem cannot have.
OptionValues attention_of(const TransformerFile& file, const AttentionOfModel& asked);

}  // namespace attn
