#pragma once

#include <span>
#include <string>
#include <vector>

#include "command/command.hpp"

namespace attn {

/// A word that may come next.
struct Candidate {
  std::string word;
  std::string summary = {};
};

/// What may stand in place of the last of some words.
struct Candidates {
  std::vector<Candidate> words = {};
  bool files = false;       // or a file
  bool unfinished = false;  // each word is the beginning of one: no blank comes after it
};

/// What may stand in place of the last word, which may be empty or a beginning, after those before it and
/// `attn`. Matrices are those that the command would show with the options so far; nothing is computed for
/// them where their names can be known without it, and nothing where something is wrong.
Candidates candidates(std::span<const std::string> typed, const Environment& environment);

}  // namespace attn
