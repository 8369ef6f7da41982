#pragma once

#include "page/page.hpp"

namespace attn {

/// The tree of the trace's nodes with shapes and multiplications, and no numbers. Layers and heads that are
/// like the one before are told in one line.
void add_outline(Page& page);

}  // namespace attn
