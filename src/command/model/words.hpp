#pragma once

#include "command/model/choice.hpp"

namespace attn {

constexpr std::string_view start_word = "<start>", end_word = "<end>";

/// The sentences that a model file tells; empty: none.
struct ToldSentences {
  std::string source;
  std::string target;
};

/// What decides the words: the options, then the model file, then a usual sentence.
struct AskedWords {
  const Arguments& arguments;
  const ToldSentences& told;
};

/// The words of a side, without <start> and <end>. Throws InputError: none, or too many.
std::vector<std::string> source_words(const AskedWords& asked);
std::vector<std::string> target_words(const AskedWords& asked);

/// What --seed says, or 1.
std::uint32_t model_seed(const Arguments& arguments);

/// Gives the model of the choice its words or vectors, on those sides that `usual` has. Throws InputError:
/// words that it does not know, vectors that do not fit, options for a side that it does not have.
void take_words(ModelChoice& choice, const AskedWords& asked, const ModelKind& usual);

/// Throws InputError when so many words in so many layers would not fit into memory.
void require_memory(const ModelChoice& choice);

}  // namespace attn
