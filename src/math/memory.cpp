#include "math/memory.hpp"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdlib>
#include <limits>

namespace attn {

void* allocate_cells(std::size_t bytes) {
  constexpr std::size_t cache_line = 64;
  constexpr std::size_t huge_page = std::size_t{1} << 21;
  const bool large = bytes >= 2 * huge_page;
  const std::size_t alignment = large ? huge_page : cache_line;
  void* cells = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!cells) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (large) madvise(cells, bytes, MADV_HUGEPAGE);  // advice: where it is refused, ordinary pages serve
#endif
  return cells;
}

void free_cells(void* cells) {
  std::free(cells);
}

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

}  // namespace attn
