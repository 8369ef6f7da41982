#pragma once

#include <cstdint>

namespace attn {

/// The bytes that this process may still take, by what the system says at this moment: free memory of the
/// machine, the limits of the process (ulimit -v, -d) and of the groups it runs in (cgroups, as of
/// containers). What the system does not say does not count.
std::uint64_t free_memory();

}  // namespace attn
