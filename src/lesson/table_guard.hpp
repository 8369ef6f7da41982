#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Throws InputError with path and line where the rows of Markdown's tables lack more cells than any honest
/// table does: whoever reads a table fills them in, and a few bytes would take all memory.
void refuse_monstrous_tables(std::string_view markdown, const std::string& path);

}  // namespace attn
