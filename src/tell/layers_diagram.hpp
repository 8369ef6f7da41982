#pragma once

#include "model/layers.hpp"
#include "page/page.hpp"

namespace attn {

/// How far one layer of each kind reaches: self-attention, recurrent and convolution beside each other, each
/// with as many layers as the first and the last of n positions need to meet, and the ways on which they do.
Diagram layers_diagram(std::size_t n, std::size_t k);

}  // namespace attn
