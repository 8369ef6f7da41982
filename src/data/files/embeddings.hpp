#pragma once

#include <string>
#include <vector>

#include "core/math/matrix.hpp"

namespace attn {

/// Reads the vectors of `words` from a file in the GloVe text format (a word and its numbers on each line; a
/// word2vec header line is passed over), streaming: the file may be gigabytes long.
/// A word is looked for as written, then in lower case. Returns one row per word, in order.
/// Throws InputError: unreadable, a line that does not fit (with its number), a word that is not in the file.
Matrix read_embeddings(const std::string& path, const std::vector<std::string>& words);

}  // namespace attn
