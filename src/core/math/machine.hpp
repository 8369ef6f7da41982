#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__)
#define ATTN_WIDEST "avx512f"
#define ATTN_WIDE "avx2"
#endif
#if defined(ATTN_WIDEST) && !defined(__clang__)
#define ATTN_FOR_EACH_PROCESSOR __attribute__((target_clones(ATTN_WIDEST, ATTN_WIDE, "default")))
#else
#define ATTN_FOR_EACH_PROCESSOR
#endif

namespace attn {

/// The bytes that this process may still take, by what the system says at this moment: free memory of the
/// machine, the limits of the process (ulimit -v, -d) and of the groups it runs in (cgroups, as of
/// containers). What the system does not say does not count.
std::uint64_t free_memory();

/// How many threads work side by side; 0 stands for one on each processor that this process may use, as it is
/// at first. They are started when the first large piece of work comes, as
/// many of them as the system allows.
std::size_t threads();
void use_threads(std::size_t count);

/// Does task(0) … task(count − 1), each once, side by side where there is more than one thread. What a task
/// computes must not depend on the others. Within a task that is shared, tasks are done one after another. Where tasks
/// throw, the exception of the first one is thrown when all are done.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& task);

// A distribution's compiler flags stay those of the oldest processor; vectors of newer ones are worth four
// times as much in the loops of kernels. These are compiled for each of the sets of instructions, and chosen
// when the program starts. Every one gives the same bits: sums have a fixed order, and no multiplication is
// fused with an addition.
/// Before a function whose loops the compiler turns into vectors.

/// The vector instructions that the kernels were built for and that this processor has: "avx2".
std::string_view vector_instructions();

/// A library that the program was built with, or what else can differ between two of its builds.
struct Library {
  std::string name;
  std::string version;
};

/// What matrices are computed with: libraries, the kernel that OpenBLAS chose for this processor, the vector
/// instructions that our own kernels chose, and how many threads there are.
std::vector<Library> libraries_of_math();

}  // namespace attn
