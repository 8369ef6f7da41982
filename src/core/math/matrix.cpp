#include "core/math/matrix.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "core/math/machine.hpp"
#include "core/math/stored_matrix.hpp"
#include "core/math/xtensor.hpp"
#include "core/support/error.hpp"

// clang has no such header where its sanitizers are not installed.
#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) (static_cast<void>(begin), static_cast<void>(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) (static_cast<void>(begin), static_cast<void>(bytes))
#endif

namespace attn {

// --- matrix

std::string to_string(Shape shape) { return fmt::format("{}×{}", shape.rows, shape.columns); }

Matrix::Matrix() : Matrix(Shape{}) {}

Matrix::Matrix(Shape shape)
    : array_(std::make_shared<Array>(Array::shape_type{shape.rows, shape.columns})),
      shape_(shape),
      cells_(array_->data()) {}

Matrix::Matrix(Shape shape, double value) : Matrix(shape) { std::ranges::fill(cells(*this), value); }

struct StoredCells {
  explicit StoredCells(StoredMatrix numbers) : stored(std::move(numbers)) {}

  StoredMatrix stored;
  std::once_flag once = {};
  std::shared_ptr<Array> array = {};  // made once
  std::atomic<bool> has_cells = false;
};

Matrix::Matrix(StoredMatrix stored)
    : stored_(std::make_shared<StoredCells>(std::move(stored))), shape_(stored_->stored.shape), cells_(nullptr) {}

const StoredMatrix* Matrix::stored() const { return stored_ ? &stored_->stored : nullptr; }

bool Matrix::has_cells() const { return !stored_ || stored_->has_cells; }

const Array& Matrix::array() const {
  if (!stored_) return *array_;
  cells_of_stored();
  return *stored_->array;
}

const double* Matrix::cells_of_stored() const {
  std::call_once(stored_->once, [this] {
    require_size("a matrix of a file", shape_);
    auto array = std::make_shared<Array>(Array::shape_type{shape_.rows, shape_.columns});
    stored_->stored.widen_all(array->data());
    stored_->array = std::move(array);
    stored_->has_cells = true;
  });
  return stored_->array->data();
}

Matrix::Matrix(Matrix&& other) noexcept
    : array_(std::move(other.array_)),
      stored_(std::move(other.stored_)),
      shape_(std::exchange(other.shape_, {})),
      cells_(std::exchange(other.cells_, nullptr)) {}

Matrix& Matrix::operator=(Matrix other) noexcept {
  std::swap(array_, other.array_);
  std::swap(stored_, other.stored_);
  std::swap(shape_, other.shape_);
  std::swap(cells_, other.cells_);
  return *this;
}

Matrix::~Matrix() = default;

void Matrix::take_own_cells() {
  Matrix own(shape_);
  std::copy_n(std::as_const(*this).data(), size(), own.cells_);
  *this = std::move(own);
}

bool Matrix::operator==(const Matrix& other) const {
  return shape_ == other.shape_ && std::ranges::equal(cells(*this), cells(other));
}

bool fits(Shape shape) { return shape.columns == 0 || shape.rows <= most_cells / shape.columns; }

void require_size(std::string_view name, Shape shape) {
  if (!fits(shape)) {
    fail("{} would be {}, more than the {} cells that a matrix may have: give fewer words or smaller sizes", name,
         to_string(shape), most_cells);
  }
  constexpr double gibibyte = 1 << 30;
  const std::uint64_t bytes = bytes_in_use() + shape.cells() * sizeof(double);
  if (has_room_for(bytes)) return;
  fail(
      "{} would be {}, and with it the matrices would take {:.1f} GiB, more than the {:.1f} GiB that they may have: give fewer words or smaller sizes",
      name, to_string(shape), static_cast<double>(bytes) / gibibyte,
      static_cast<double>(most_matrix_bytes()) / gibibyte);
}

void transpose_into(Rows matrix, RowsToMake result) {
  constexpr std::size_t block = 16;  // what is written stays in the cache until its lines are full
  for (std::size_t begin = matrix.first; begin < matrix.end(); begin += block) {
    const std::size_t end = std::min(begin + block, matrix.end());
    for (std::size_t j = result.first; j < result.end(); ++j) {
      const std::span<double> cells = result.row(j);
      for (std::size_t i = begin; i < end; ++i) cells[i] = matrix(i, j);
    }
  }
}

Matrix transposed(const Matrix& matrix) {
  Matrix result({matrix.shape().columns, matrix.shape().rows});
  transpose_into(rows_of(matrix), rows_to_make(result));
  return result;
}

// --- memory

namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = std::size_t{1} << 21;
constexpr std::size_t smallest_kept = std::size_t{1} << 16;

constexpr std::size_t most_kept = std::size_t{1} << 31;

// Blocks of these sizes are cut from regions of huge pages, and stay theirs: the first touch of a huge page
// costs much less than that of the 512 pages in its place, and each of these blocks is too small for one.
constexpr std::size_t smallest_in_region = std::size_t{1} << 18;
constexpr std::size_t region = 4 * huge_page;

bool is_in_region(std::size_t bytes) { return bytes >= smallest_in_region && bytes < 2 * huge_page; }

// Sizes that are nearly the same become the same, so that what grows a little at a time finds a freed block
// again: eight sizes between one power of two and the next.
std::size_t rounded_up(std::size_t bytes) {
  std::size_t unit = cache_line;
  if (bytes >= smallest_kept) unit = std::bit_floor(bytes) / 8;
  if (bytes >= 2 * huge_page) unit = std::max(unit, huge_page);
  return (bytes + unit - 1) / unit * unit;
}

void* allocate_huge_pages(std::size_t bytes) {
  void* const cells = std::aligned_alloc(huge_page, bytes);
#ifdef MADV_HUGEPAGE
  if (cells) madvise(cells, bytes, MADV_HUGEPAGE);  // advice: where it is refused, ordinary pages serve
#endif
  return cells;
}

// The next block of the region; what is left of one region is lost when the next begins.
void* cut_from_region(std::size_t bytes) {
  static std::mutex& mutex = *new std::mutex;
  static std::byte* next = nullptr;
  static std::size_t left = 0;
  const std::lock_guard lock(mutex);
  if (left < bytes) {
    void* const fresh = allocate_huge_pages(region);
    if (!fresh) return nullptr;
    next = static_cast<std::byte*>(fresh);
    left = region;
  }
  left -= bytes;
  return std::exchange(next, next + bytes);
}

void* allocate_fresh(std::size_t bytes) {
  if (is_in_region(bytes)) return cut_from_region(bytes);
  return bytes >= 2 * huge_page ? allocate_huge_pages(bytes) : std::aligned_alloc(cache_line, bytes);
}

// Freed blocks by size: those of regions, and most_kept bytes of others at most.
class Kept {
 public:
  // A block of exactly this size, as the next head or layer asks for; null when there is none.
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(bytes);
    if (found == blocks_.end()) return nullptr;
    void* const cells = found->second;
    blocks_.erase(found);
    if (!is_in_region(bytes)) total_ -= bytes;
    return cells;
  }

  // Frees the block where it cannot be kept.
  void give(void* cells, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    const bool stays = is_in_region(bytes);
    freed_ += bytes;
    try {
      if (!stays && bytes > most_kept - std::min(total_, most_kept)) return std::free(cells);
      blocks_.emplace(bytes, cells);
      if (!stays) total_ += bytes;
    } catch (const std::bad_alloc&) {
      if (!stays) std::free(cells);
    }
  }

  std::size_t total() {
    const std::lock_guard lock(mutex_);
    return total_;
  }

  void release() {
    const std::lock_guard lock(mutex_);
    std::erase_if(blocks_, [](const auto& block) {
      if (is_in_region(block.first)) return false;
      std::free(block.second);
      return true;
    });
    total_ = 0;
  }

  // Of regions only the pages go back: their blocks can be given out again.
  void release_if_more(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      if (freed_ <= bytes) return;
      freed_ = 0;
      for (const auto& [size, cells] : blocks_) {
        if (is_in_region(size)) madvise(cells, size, MADV_DONTNEED);
      }
    }
    release();
  }

 private:
  std::mutex mutex_;
  std::multimap<std::size_t, void*> blocks_;
  std::size_t total_ = 0;
  std::size_t freed_ = 0;  // since the last release
};

// Never destroyed: matrices may outlive every other static object.
Kept& kept() {
  static Kept& blocks = *new Kept;
  return blocks;
}

std::atomic<std::size_t> in_use = 0, most_in_use = 0;

void count(std::size_t bytes) {
  const std::size_t now = in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::size_t most = most_in_use.load(std::memory_order_relaxed);
  while (now > most && !most_in_use.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

}  // namespace

// The system is asked once, and only by those who need much: most runs need little.
std::uint64_t most_matrix_bytes() {
  static const std::uint64_t most = [] {
    constexpr std::uint64_t usual = std::uint64_t{1} << 32;
    return std::min(usual, in_use + free_memory());
  }();
  return most;
}

bool has_room_for(std::uint64_t bytes) {
  constexpr std::uint64_t always_given = std::uint64_t{1} << 26;
  return bytes <= always_given || bytes <= most_matrix_bytes();
}

std::size_t bytes_in_use() { return in_use; }
std::size_t most_bytes_in_use() { return most_in_use; }
void measure_bytes_anew() { most_in_use = in_use.load(); }

void return_freed_cells(std::size_t unless_fewer_bytes) { kept().release_if_more(unless_fewer_bytes); }

void* allocate_cells(std::size_t bytes) {
  const std::size_t asked = bytes;
  if (asked >= smallest_in_region) Budget::require_cells((in_use + asked) / sizeof(double));
  if (!has_room_for(in_use + asked)) throw std::bad_alloc();
  count(asked);
  bytes = rounded_up(asked);
  void* cells = bytes >= smallest_kept ? kept().take(bytes) : nullptr;
  if (!cells && !has_room_for(in_use + kept().total())) kept().release();
  if (!cells) cells = allocate_fresh(bytes);
  if (!cells) {
    kept().release();
    cells = allocate_fresh(bytes);
  }
  if (!cells) {
    in_use.fetch_sub(asked, std::memory_order_relaxed);
    throw std::bad_alloc();
  }
  // A sanitizer must see what nobody asked for, and what nobody has any more. Elsewhere this does nothing.
  ASAN_UNPOISON_MEMORY_REGION(cells, asked);
  ASAN_POISON_MEMORY_REGION(static_cast<std::byte*>(cells) + asked, bytes - asked);
  return cells;
}

void free_cells(void* cells, std::size_t bytes) {
  in_use.fetch_sub(bytes, std::memory_order_relaxed);
  bytes = rounded_up(bytes);
  if (bytes < smallest_kept) return std::free(cells);
  ASAN_POISON_MEMORY_REGION(cells, bytes);
  kept().give(cells, bytes);
}

}  // namespace attn
