#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// The names of the matrices in a .npz archive, in its order and without `.npy`; each can be a key of
/// read_npz. Throws InputError: no archive, or a damaged directory.
std::vector<std::string> npz_names(std::string_view bytes, const std::string& where);

}  // namespace attn
