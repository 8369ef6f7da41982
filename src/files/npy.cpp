#include "files/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "files/matrix_file.hpp"
#include "support/error.hpp"

namespace attn {

namespace {

constexpr bool is_little_endian = std::endian::native == std::endian::little;

// The element of the file that stands at a cell of the matrix.
class Elements {
 public:
  Elements(std::string_view bytes, const NpyHeader& header)
      : first_(reinterpret_cast<const unsigned char*>(bytes.data() + header.begin)), header_(header) {}

  double at(std::size_t index) const {
    const std::size_t bytes = header_.type->bytes;
    const unsigned char* element = first_ + index * bytes;
    if (!header_.big_endian) return header_.type->decode(element);
    std::array<unsigned char, 16> reversed{};
    std::reverse_copy(element, element + bytes, reversed.begin());
    return header_.type->decode(reversed.data());
  }

 private:
  const unsigned char* first_;
  const NpyHeader& header_;
};

void fill(Matrix& matrix, std::string_view bytes, const NpyHeader& header) {
  const auto [rows, columns] = header.shape;
  const bool as_in_memory =
      header.type->code == "f8" && header.big_endian != is_little_endian && !header.fortran_order;
  if (as_in_memory) {
    std::memcpy(matrix.data(), bytes.data() + header.begin, matrix.size() * sizeof(double));
    return;
  }
  const Elements elements(bytes, header);
  const std::size_t below = rows / header.count;  // rows of one matrix
  for (std::size_t i = 0; i < rows; ++i) {
    const std::span<double> cells = row(matrix, i);
    for (std::size_t j = 0; j < columns; ++j) {
      cells[j] = elements.at(header.fortran_order ? i / below + header.count * (i % below + below * j)
                                                  : i * columns + j);
    }
  }
}

}  // namespace

MatrixFile read_npy(std::string_view bytes, std::string_view key, const std::string& where) {
  refuse_key(key, where);
  const NpyHeader header = parse_npy_header(bytes, where);
  if (bytes.size() != header.end()) {
    fail(
        "the header of {} says {} elements in {} bytes, but {} bytes follow: the file is incomplete or "
        "damaged, "
        "save it again",
        where, header.shape.cells(), header.end() - header.begin, bytes.size() - header.begin);
  }
  MatrixFile file;
  file.matrix = Matrix(header.shape);
  file.kind = header.type->kind;
  file.count = header.count;
  file.precision = header.type->precision;
  fill(file.matrix, bytes, header);
  return file;
}

std::vector<MatrixFile> read_all_npy(std::string_view bytes, const std::string& where) {
  return {read_npy(bytes, "", where)};
}

std::string npy_head(Shape shape) {
  constexpr std::size_t alignment = 64;
  constexpr std::size_t preamble = 10;  // magic, version and length
  std::string dictionary = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}",
                                       shape.rows, shape.columns);
  const std::size_t unpadded = preamble + dictionary.size() + 1;
  dictionary.append((alignment - unpadded % alignment) % alignment, ' ');
  dictionary += '\n';
  std::string head = "\x93NUMPY";
  head += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xFFU),
           static_cast<char>(dictionary.size() >> 8U)};
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
