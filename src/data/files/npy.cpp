#include "data/files/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/support/error.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

namespace {

constexpr bool is_little_endian = std::endian::native == std::endian::little;

// Where an element of the file stands in the matrix.
std::size_t cell_of(std::size_t element, const NpyHeader& header) {
  if (!header.fortran_order) return element;
  const std::size_t below = header.shape.rows / header.count;  // rows of one matrix
  const std::size_t inner = header.count / header.outer;       // matrices of one part
  const std::size_t first = element % header.count, rest = element / header.count;
  const std::size_t matrix = first % header.outer * inner + first / header.outer;
  return (matrix * below + rest % below) * header.shape.columns + rest / below;
}

}  // namespace

NpyReader::NpyReader(const NpyHeader& header, std::size_t most, const std::string& where)
    : header_(header), where_(where) {
  if (most < expected()) fail_incomplete(most);
  Budget::require_cells(header.shape.cells());
  file_.matrix = Matrix(header.shape);
  file_.kind = header.type->kind;
  file_.count = header.count;
  file_.outer = header.outer;
  file_.precision = header.type->precision;
  is_as_in_memory_ = header.type->numpy == "f8" && header.big_endian != is_little_endian && !header.fortran_order;
}

void NpyReader::take(std::string_view piece) {
  const std::size_t before = bytes_;
  bytes_ += piece.size();
  if (bytes_ > expected()) return;  // refused at the end
  if (is_as_in_memory_) {
    std::memcpy(reinterpret_cast<char*>(file_.matrix.data()) + before, piece.data(), piece.size());
    return;
  }
  const std::size_t size = header_.type->bytes;
  while (!piece.empty()) {
    if (begun_.empty() && piece.size() >= size) {
      put(reinterpret_cast<const unsigned char*>(piece.data()));
      piece.remove_prefix(size);
      continue;
    }
    const std::size_t more = std::min(size - begun_.size(), piece.size());
    begun_ += piece.substr(0, more);
    piece.remove_prefix(more);
    if (begun_.size() < size) return;
    put(reinterpret_cast<const unsigned char*>(begun_.data()));
    begun_.clear();
  }
}

void NpyReader::put(const unsigned char* element) {
  std::array<unsigned char, 16> reversed{};
  if (header_.big_endian) {
    std::reverse_copy(element, element + header_.type->bytes, reversed.begin());
    element = reversed.data();
  }
  const double value = header_.type->decode(element);
  if (!rounded_ && header_.type->is_rounded && header_.type->is_rounded(element)) rounded_ = value;
  file_.matrix.data()[cell_of(elements_++, header_)] = value;
}

void NpyReader::fail_incomplete(std::size_t came) const {
  fail(
      "the header of {} says {} elements in {} bytes, but {} bytes follow: the file is incomplete or damaged, save it again",
      where_, header_.shape.cells(), expected(), came);
}

MatrixFile NpyReader::finish() && {
  if (bytes_ != expected()) fail_incomplete(bytes_);
  file_.assumed.push_back(elements_of_type(header_.type->numpy));
  if (header_.is_vector) {
    file_.assumed.push_back(vector_as_row(header_.shape.columns));
  } else {
    file_.assumed.push_back({&assumed::order, header_.fortran_order
                                                  ? "the elements stand column by column (Fortran order)"
                                                  : "the elements stand row by row (C order)"});
  }
  if (rounded_) file_.assumed.push_back(rounded_to_double(fmt::format("a number near {}", *rounded_)));
  return std::move(file_);
}

MatrixFile read_npy(std::string_view bytes, std::string_view key, const std::string& where) {
  refuse_key(key, where);
  const NpyHeader header = parse_npy_header(bytes, where);
  NpyReader reader(header, bytes.size() - header.begin, where);
  reader.take(bytes.substr(header.begin));
  return std::move(reader).finish();
}

std::size_t count_cells_of_npy(std::string_view bytes, const std::string& where) {
  return parse_npy_header(bytes, where).shape.cells();
}

std::vector<MatrixFile> read_all_npy(std::string_view bytes, const std::string& where) {
  return {read_npy(bytes, "", where)};
}

std::string npy_head(Shape shape) {
  constexpr std::size_t alignment = 64;
  constexpr std::size_t preamble = 10;  // magic, version and length
  std::string dictionary =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", shape.rows, shape.columns);
  const std::size_t unpadded = preamble + dictionary.size() + 1;
  dictionary.append((alignment - unpadded % alignment) % alignment, ' ');
  dictionary += '\n';
  std::string head = "\x93NUMPY";
  head += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xFFU), static_cast<char>(dictionary.size() >> 8U)};
  return head + dictionary;
}

void write_npy_cells(const Matrix& matrix, Sink& sink) {
  static_assert(is_little_endian, "the cells are written as they lie in memory");
  constexpr std::size_t piece = 4096;
  std::span<const double> rest = cells(matrix);
  while (!rest.empty()) {
    const std::span<const double> now = rest.first(std::min(piece, rest.size()));
    sink.write({reinterpret_cast<const char*>(now.data()), now.size_bytes()});
    rest = rest.subspan(now.size());
  }
}

void write_npy(const Matrix& matrix, Sink& sink) {
  sink.write(npy_head(matrix.shape()));
  write_npy_cells(matrix, sink);
}

}  // namespace attn
