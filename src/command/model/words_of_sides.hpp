#pragma once

#include "command/model/choice.hpp"
#include "core/model/input.hpp"

namespace attn {

/// The sentences that a model file gives; empty: none.
struct GivenSentences {
  std::string source;
  std::string target;
};

/// What decides the words: the options, then the model file, then a usual sentence.
struct AskedWords {
  const Arguments& arguments;
  const GivenSentences& told;
  const ModelWords& words;
};

/// A side of a model, with the options that give it words or vectors.
struct Side {
  const Option& sentence;
  const Option& vectors;
  std::string_view usual;
  std::string GivenSentences::*told;
  const ScopeKind& place;  // where its vectors stand
};

constexpr Side source_side{option::source, option::x, "the cat sat", &GivenSentences::source, scope::source};
constexpr Side target_side{option::target, option::target_x, "die Katze saß", &GivenSentences::target, scope::target};

/// The words of a side, without <start> and <end>. Throws InputError: none, or too many.
std::vector<std::string> sentence(const AskedWords& asked, const Side& side);

/// Whether the words were given by name: with --n they have none.
bool has_given_words(const AskedWords& asked, const Side& side);

/// The words that a side of a model has embeddings of.
struct WordsOfSide {
  const Vocabulary& vocabulary;
  std::size_t most;  // that may go in
};

/// Those of them that stand for themselves, unlike <start>, <end> and <blank>.
std::vector<std::string> own_words(const WordsOfSide& known);

/// What --seed says, or 1.
std::uint32_t model_seed(const Arguments& arguments);

/// Gives the model of the choice its words or vectors, on those sides that its usual kind has. Where nobody
/// says which, and the model does not know the usual sentence, it is given the first of its own words. Throws
/// InputError: words that it does not know, vectors that do not fit, options for a side that it does not
/// have.
void take_words(ModelChoice& choice, const AskedWords& asked, const ModelUse& use);

}  // namespace attn
