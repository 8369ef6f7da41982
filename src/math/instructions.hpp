#pragma once

#include <string_view>

// A distribution's compiler flags stay those of the oldest processor; vectors of newer ones are worth four
// times as much in the loops of kernels. These are compiled for each of the sets of instructions, and chosen
// when the program starts. Every one gives the same bits: sums have a fixed order, and no multiplication is
// fused with an addition.
#if defined(__x86_64__) && defined(__GNUC__)
#define ATTN_WIDEST "avx512f"
#define ATTN_WIDE "avx2"
#endif

/// Before a function whose loops the compiler turns into vectors.
#if defined(ATTN_WIDEST) && !defined(__clang__)
#define ATTN_FOR_EACH_PROCESSOR __attribute__((target_clones(ATTN_WIDEST, ATTN_WIDE, "default")))
#else
#define ATTN_FOR_EACH_PROCESSOR
#endif

namespace attn {

/// The vector instructions that the kernels were built for and that this processor has: "avx2".
std::string_view vector_instructions();

}  // namespace attn
