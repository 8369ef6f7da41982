#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace attn {

/// Memory for matrices: aligned to cache lines, and to huge pages from 4 MiB on. Large blocks that were freed
/// are kept and given out again, because the first touch of fresh pages costs more than the arithmetic on
/// them. Any thread may ask. Throws std::bad_alloc, also beyond most_matrix_bytes(), and InputError where a
/// Budget has no room for it.
void* allocate_cells(std::size_t bytes);
/// `bytes` is what was asked for.
void free_cells(void* cells, std::size_t bytes);

/// The most bytes that all matrices together may take at the same time: 4 GiB, or less where the system
/// leaves less (support/machine.hpp). What is asked for beyond it is not given.
std::uint64_t most_matrix_bytes();
/// Whether all matrices together may take as many.
bool has_room_for(std::uint64_t bytes);

/// Gives freed blocks back to the system, if more bytes than this were freed since it was last done.
void return_freed_cells(std::size_t unless_fewer_bytes);

/// The bytes of matrices that live at this moment, and the most that lived at the same time since the last
/// measure_bytes_anew().
std::size_t bytes_in_use();
std::size_t most_bytes_in_use();
void measure_bytes_anew();

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
  void deallocate(T* cells, std::size_t n) { free_cells(cells, n * sizeof(T)); }

  bool operator==(const MatrixAllocator&) const = default;
};

}  // namespace attn
