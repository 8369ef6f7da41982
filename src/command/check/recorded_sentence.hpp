#pragma once

#include <functional>

#include "data/files/matrix_file.hpp"

namespace attn {

/// Leaves the first sentence of a recorded batch in what the modules took and made. `words_first` where the modules say
/// that the words stand before the sentences, as batch_first=False does; `is_of_heads` says of which results each head
/// has one matrix, in whose arrays the sentences stand first all the same. Says how many sentences there were.
using IsOfHeads = std::function<bool(const MatrixFile& file)>;
std::size_t leave_first_sentence(std::vector<MatrixFile>& files, bool words_first, const IsOfHeads& is_of_heads);

}  // namespace attn
