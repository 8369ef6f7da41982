#pragma once

#include "page/document/document_outputs.hpp"

namespace attn {

/// Runs the command lines of lessons and documents as main runs its own, with nothing around them: no
/// terminal, no color, UTF-8, 80 columns. Refuses whatever would write a file.
RunCommand block_runner();

}  // namespace attn
