#include "math/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>

namespace attn {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = std::size_t{1} << 21;
constexpr std::size_t smallest_kept = std::size_t{1} << 16;

constexpr std::size_t most_kept = std::size_t{1} << 31;

// Sizes that are nearly the same become the same, so that what grows a little at a time finds a freed block
// again: eight sizes between one power of two and the next.
std::size_t rounded_up(std::size_t bytes) {
  std::size_t unit = cache_line;
  if (bytes >= smallest_kept) unit = std::bit_floor(bytes) / 8;
  if (bytes >= 2 * huge_page) unit = std::max(unit, huge_page);
  return (bytes + unit - 1) / unit * unit;
}

void* allocate_fresh(std::size_t bytes) {
  const bool large = bytes >= 2 * huge_page;
  void* cells = std::aligned_alloc(large ? huge_page : cache_line, bytes);
#ifdef MADV_HUGEPAGE
  if (cells && large)
    madvise(cells, bytes, MADV_HUGEPAGE);  // advice: where it is refused, ordinary pages serve
#endif
  return cells;
}

// Freed blocks by size, most_kept bytes at most.
class Kept {
 public:
  // A block of exactly this size, as the next head or layer asks for; null when there is none.
  void* take(std::size_t bytes) {
    const auto found = blocks_.find(bytes);
    if (found == blocks_.end()) return nullptr;
    void* const cells = found->second;
    blocks_.erase(found);
    total_ -= bytes;
    return cells;
  }

  // Frees the block where it cannot be kept.
  void give(void* cells, std::size_t bytes) noexcept {
    try {
      if (bytes > most_kept - std::min(total_, most_kept)) return std::free(cells);
      blocks_.emplace(bytes, cells);
      total_ += bytes;
    } catch (const std::bad_alloc&) {
      std::free(cells);
    }
  }

  void release() {
    for (const auto& [bytes, cells] : blocks_) std::free(cells);
    blocks_.clear();
    total_ = 0;
  }

 private:
  std::multimap<std::size_t, void*> blocks_;
  std::size_t total_ = 0;
};

// Never destroyed: matrices may outlive every other static object.
Kept& kept() {
  static Kept& blocks = *new Kept;
  return blocks;
}

}  // namespace

void* allocate_cells(std::size_t bytes) {
  bytes = rounded_up(bytes);
  if (bytes >= smallest_kept) {
    if (void* const cells = kept().take(bytes)) return cells;
  }
  void* cells = allocate_fresh(bytes);
  if (!cells) {
    kept().release();
    cells = allocate_fresh(bytes);
  }
  if (!cells) throw std::bad_alloc();
  return cells;
}

void free_cells(void* cells, std::size_t bytes) {
  bytes = rounded_up(bytes);
  if (bytes < smallest_kept) return std::free(cells);
  kept().give(cells, bytes);
}

}  // namespace attn
