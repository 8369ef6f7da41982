#include "data/files/npy_header.hpp"

#include <tuple>
#include <vector>

#include "data/files/cell.hpp"
#include "data/files/npy_dictionary.hpp"
#include "data/matrix_file.hpp"
#include "support/error.hpp"

namespace attn {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

// Version 1 has two bytes for the length, the later ones have four; lowest byte first.
std::size_t length_field_bytes(std::string_view bytes, const std::string& where) {
  const auto version = static_cast<unsigned char>(bytes[magic.size()]);
  const auto minor = static_cast<unsigned char>(bytes[magic.size() + 1]);
  if (version < 1 || version > 3 || minor != 0) {
    fail("{} is a NumPy array of format version {}.{}: save it in version 1.0, 2.0 or 3.0", where, version,
         minor);
  }
  return version == 1 ? 2 : 4;
}

std::pair<const NpyType*, bool> type_of(std::string_view descr, const std::string& where) {
  const bool ordered = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  const NpyType* type = ordered ? find_npy_type(descr.substr(1)) : nullptr;
  if (!type) {
    fail("{} has elements of the type {}, which are not real numbers: convert it with .astype(float) first",
         where, in_quotes(descr));
  }
  return {type, descr[0] == '>'};
}

Shape shape_from(const NpyDictionary& header, const std::string& where) {
  const std::vector<std::size_t>& sizes = header.shape;
  if (sizes.empty() || sizes.size() > 2) {
    fail("{} has the shape {} of {} dimensions: give a matrix (2 dimensions) or a vector (1 dimension)",
         where, in_quotes(header.shape_text), sizes.size());
  }
  const Shape shape = sizes.size() == 1 ? Shape{1, sizes[0]} : Shape{sizes[0], sizes[1]};
  if (shape.rows == 0 || shape.columns == 0) {
    fail("{} is empty, of shape {}: give an array with at least one element", where,
         in_quotes(header.shape_text));
  }
  if (shape.rows > most_cells / shape.columns) {
    fail("{} has the shape {}, which is more than {} cells: give a smaller array", where,
         in_quotes(header.shape_text), most_cells);
  }
  return shape;
}

}  // namespace

std::optional<std::size_t> npy_header_size(std::string_view bytes, const std::string& where) {
  constexpr std::size_t longest = std::size_t{1} << 20;
  if (bytes.substr(0, magic.size()) != magic.substr(0, bytes.size())) {
    fail("{} is not a NumPy array: save it with numpy.save", where);
  }
  if (bytes.size() < magic.size() + 2) return std::nullopt;
  const std::size_t field = length_field_bytes(bytes, where);
  const std::size_t begin = magic.size() + 2 + field;
  if (bytes.size() < begin) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = begin; i-- > begin - field;)
    length = length << 8U | static_cast<unsigned char>(bytes[i]);
  if (length > longest)
    fail("{} has a header of {} bytes, more than the limit of {}: save it again", where, length, longest);
  return begin + length;
}

NpyHeader parse_npy_header(std::string_view bytes, const std::string& where) {
  const std::optional<std::size_t> size = npy_header_size(bytes, where);
  if (!size || *size > bytes.size()) {
    fail("the NumPy array {} ends within its header: the file is incomplete, save it again", where);
  }
  const std::size_t field = length_field_bytes(bytes, where);
  const std::size_t begin = magic.size() + 2 + field;
  const NpyDictionary dictionary(bytes.substr(begin, *size - begin), where);
  NpyHeader header;
  std::tie(header.type, header.big_endian) = type_of(dictionary.descr, where);
  header.fortran_order = dictionary.fortran_order;
  header.shape = shape_from(dictionary, where);
  header.begin = *size;
  return header;
}

}  // namespace attn
