#pragma once

namespace attn {

/// How exactly numbers are held: as a text writes them, or in a type with so many bits. Whole numbers are exact.
enum class Precision { written, float16, bfloat16, float32, float64 };

}  // namespace attn
