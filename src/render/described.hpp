#pragma once

#include "render/drawing.hpp"

namespace attn {

// A drawing with what it shows, in words. Numbers are those that the style writes.

Drawing described(Drawing drawing, const HeatMap& map, const Style& style);
Drawing described(Drawing drawing, const Plot& plot, const Style& style);
Drawing described(Drawing drawing, const Flow& flow);

}  // namespace attn
