#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// The place of the matrix called `key` among the matrices of a file; an empty key means the only one.
/// Throws InputError that lists the names when there is no such matrix, or none can be told from the others.
std::size_t choose_matrix(const std::vector<std::string>& names, std::string_view key,
                          const std::string& where);

/// Throws InputError when a key is given for a source that holds one matrix without a name.
void refuse_key(std::string_view key, const std::string& where);

}  // namespace attn
