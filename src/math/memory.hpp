#pragma once

#include <cstddef>
#include <new>

namespace attn {

/// Memory for matrices: aligned to cache lines, and to huge pages from 4 MiB on, because the first touch of
/// fresh 4 KiB pages costs more than the arithmetic on them. Throws std::bad_alloc.
void* allocate_cells(std::size_t bytes);
void free_cells(void* cells);

/// Lets the process reuse the memory it has freed instead of handing it back and fetching it anew.
/// Called once, at the start of a program.
void keep_freed_memory();

/// The standard allocator's interface to the two functions above.
template <class T>
struct MatrixAllocator {
  using value_type = T;

  MatrixAllocator() = default;
  template <class U>
  MatrixAllocator(const MatrixAllocator<U>&) {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T) / 2) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_cells(n * sizeof(T)));
  }
  void deallocate(T* cells, std::size_t) { free_cells(cells); }

  bool operator==(const MatrixAllocator&) const = default;
};

}  // namespace attn
