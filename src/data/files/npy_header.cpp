#include "data/files/npy.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/support/error.hpp"
#include "data/files/cell_values.hpp"

namespace attn {

namespace {

// The Python dictionary that makes up the header of a .npy file, read strictly: three keys, each once, and
// nothing else. Throws InputError where it is damaged.
class NpyDictionary {
 public:
  NpyDictionary(std::string_view text, const std::string& where) : text_(text), where_(where) { read(); }

  std::string_view descr;       // the elements' type, as NumPy writes it
  std::string_view shape_text;  // the shape as it stands there, for messages
  std::vector<std::size_t> shape;
  bool fortran_order = false;

 private:
  void read();
  void read_member();
  std::string_view read_string();
  std::string_view read_descr();
  std::string_view read_structure();
  bool read_bool();
  std::vector<std::size_t> read_tuple();
  std::size_t read_size();
  void skip_blanks();
  bool take(char c);
  void expect(char c);
  [[noreturn]] void damaged() const;

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
  bool seen_descr_ = false;
  bool seen_order_ = false;
  bool seen_shape_ = false;
};

void NpyDictionary::read() {
  expect('{');
  while (!take('}')) {
    read_member();
    if (take(',')) continue;
    expect('}');
    break;
  }
  skip_blanks();
  if (at_ != text_.size() || !seen_descr_ || !seen_order_ || !seen_shape_) damaged();
}

void NpyDictionary::read_member() {
  skip_blanks();
  const std::string_view key = read_string();
  expect(':');
  skip_blanks();
  if (key == "descr" && !seen_descr_) {
    seen_descr_ = true;
    descr = read_descr();
  } else if (key == "fortran_order" && !seen_order_) {
    seen_order_ = true;
    fortran_order = read_bool();
  } else if (key == "shape" && !seen_shape_) {
    seen_shape_ = true;
    const std::size_t begin = at_;
    shape = read_tuple();
    shape_text = text_.substr(begin, at_ - begin);
  } else {
    damaged();
  }
}

std::string_view NpyDictionary::read_string() {
  if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) damaged();
  const std::size_t begin = at_ + 1;
  const std::size_t end = text_.find(text_[at_], begin);
  if (end == std::string_view::npos) damaged();
  const std::string_view string = text_.substr(begin, end - begin);
  if (string.find('\\') != std::string_view::npos) damaged();
  at_ = end + 1;
  return string;
}

std::string_view NpyDictionary::read_descr() {
  return at_ < text_.size() && text_[at_] == '[' ? read_structure() : read_string();
}

// A type made of parts is a list of tuples; it is only read to be named in the refusal.
std::string_view NpyDictionary::read_structure() {
  const std::size_t begin = at_;
  std::size_t depth = 0;
  do {
    if (at_ >= text_.size()) damaged();
    const char c = text_[at_];
    if (c == '\'' || c == '"') {
      read_string();
      continue;
    }
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    ++at_;
  } while (depth > 0);
  return text_.substr(begin, at_ - begin);
}

bool NpyDictionary::read_bool() {
  for (const std::string_view word : {"True", "False"}) {
    if (!text_.substr(at_).starts_with(word)) continue;
    at_ += word.size();
    return word == "True";
  }
  damaged();
}

std::vector<std::size_t> NpyDictionary::read_tuple() {
  std::vector<std::size_t> sizes;
  bool comma = false;
  expect('(');
  while (!take(')')) {
    skip_blanks();
    sizes.push_back(read_size());
    comma = take(',');
    if (comma) continue;
    expect(')');
    break;
  }
  // Without a comma, (3) is a number in brackets.
  if (sizes.size() == 1 && !comma) damaged();
  return sizes;
}

std::size_t NpyDictionary::read_size() {
  std::uint64_t size = 0;
  const auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
  if (error == std::errc::invalid_argument) damaged();
  at_ = static_cast<std::size_t>(stop - text_.data());
  return error == std::errc() ? size : SIZE_MAX;  // refused later, as more than a matrix may have
}

void NpyDictionary::skip_blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
}

bool NpyDictionary::take(char c) {
  skip_blanks();
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void NpyDictionary::expect(char c) {
  if (!take(c)) damaged();
}

void NpyDictionary::damaged() const {
  fail("the header of the NumPy array {} is damaged at character {}: save the array again with numpy.save", where_,
       at_ + 1);
}

constexpr std::string_view magic = "\x93NUMPY";

// Version 1 has two bytes for the length, the later ones have four; lowest byte first.
std::size_t length_field_bytes(std::string_view bytes, const std::string& where) {
  const auto version = static_cast<unsigned char>(bytes[magic.size()]);
  const auto minor = static_cast<unsigned char>(bytes[magic.size() + 1]);
  if (version < 1 || version > 3 || minor != 0) {
    fail("{} is a NumPy array of format version {}.{}: save it in version 1.0, 2.0 or 3.0", where, version, minor);
  }
  return version == 1 ? 2 : 4;
}

std::pair<const ElementType*, bool> npy_type_of(std::string_view descr, const std::string& where) {
  const bool ordered = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  const ElementType* type = ordered ? find_element_type(&ElementType::numpy, descr.substr(1)) : nullptr;
  if (!type) {
    fail("{} has elements of the type {}, which are not real numbers: save an array of real numbers", where,
         in_quotes(descr));
  }
  return {type, descr[0] == '>'};
}

// The matrices of an array of three dimensions stand below each other.
Shape shape_from(const NpyDictionary& header, const std::string& where) {
  const std::vector<std::size_t> sizes = without_single_ones(header.shape);
  if (sizes.empty() || sizes.size() > most_array_dimensions) {
    fail("{} has the shape {} of {} dimensions: give a matrix (2 dimensions) or a vector (1 dimension)", where,
         in_quotes(header.shape_text), header.shape.size());
  }
  Shape shape{1, sizes.back()};
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    shape.rows = sizes[i] > 0 && shape.rows > most_cells / sizes[i] ? most_cells + 1 : shape.rows * sizes[i];
  }
  if (shape.rows == 0 || shape.columns == 0) {
    fail("{} is empty, of shape {}: give an array with at least one element", where, in_quotes(header.shape_text));
  }
  if (shape.rows > most_cells / shape.columns) {
    fail("{} has the shape {}, which is more than {} cells: give a smaller array", where, in_quotes(header.shape_text),
         most_cells);
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
  for (std::size_t i = begin; i-- > begin - field;) length = length << 8U | static_cast<unsigned char>(bytes[i]);
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
  std::tie(header.type, header.big_endian) = npy_type_of(dictionary.descr, where);
  header.fortran_order = dictionary.fortran_order;
  header.shape = shape_from(dictionary, where);
  const std::vector<std::size_t> sizes = without_single_ones(dictionary.shape);
  for (std::size_t i = 0; i + 2 < sizes.size(); ++i) header.count *= sizes[i];
  if (sizes.size() == most_array_dimensions) header.outer = sizes.front();
  header.is_vector = dictionary.shape.size() == 1;
  header.begin = *size;
  return header;
}

}  // namespace attn
