#include "data/files/cell_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "core/math/machine.hpp"
#include "core/math/stored_matrix.hpp"
#include "core/support/utf8.hpp"

namespace attn {

namespace {

// --- cells

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + ('a' - 'A')) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

// from_chars reports "out of range" for what is too large and, in some libraries, for what is too small.
WrittenCell parse_out_of_range(std::string_view text) {
  const double value = std::strtod(std::string(text).c_str(), nullptr);
  if (std::isinf(value)) return {CellKind::overflow, 0};
  return {CellKind::real, value};
}

WrittenCell parse_word(std::string_view text) {
  if (equals_ignoring_case(text, "true")) return {CellKind::boolean, 1};
  if (equals_ignoring_case(text, "false")) return {CellKind::boolean, 0};
  return {CellKind::text, 0};
}

// Whether every character has as many bytes as its first byte says.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i++]);
    if (first < 0x80) continue;
    if (first < 0xC2 || first > 0xF4) return false;
    for (int more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3; more > 0; --more) {
      if (i == text.size() || !continues_character(text[i++])) return false;
    }
  }
  return true;
}

char shown_byte(char c, bool utf8) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 || byte == 0x7F) return ' ';
  return byte < 0x80 || utf8 ? c : '?';
}

std::string shortened_in_quotes(std::string_view text, std::size_t longest) {
  std::string_view shown = text;
  if (shown.size() > longest) {
    std::size_t cut = longest;
    while (cut > longest - 4 && continues_character(text[cut])) --cut;
    shown = text.substr(0, cut);
  }
  std::string result = "'";
  const bool utf8 = is_utf8(shown);
  for (const char c : shown) result += shown_byte(c, utf8);
  return result + (shown.size() < text.size() ? "…'" : "'");
}

constexpr std::string_view typographic_minus = "\u2212";

// Spreadsheets and documents write it for '-', and it means nothing else.
std::string with_plain_minus(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find(typographic_minus), text.size());
    plain += text.substr(0, at);
    if (at < text.size()) plain += '-';
    text.remove_prefix(std::min(at + typographic_minus.size(), text.size()));
  }
  return plain;
}

// --- types of elements

double with_sign(double magnitude, bool negative) { return negative ? -magnitude : magnitude; }

// The x86 extended format: 64 bits of fraction with the leading one written out, 15 of exponent, 1 of sign.
// NumPy pads it to 12 or 16 bytes.
double extended(const unsigned char* bytes) {
  const std::uint64_t fraction = little_endian<std::uint64_t>(bytes);
  const unsigned top = little_endian<std::uint16_t>(bytes + 8);
  const bool negative = (top & 0x8000U) != 0;
  const int exponent = static_cast<int>(top & 0x7FFFU);
  if (exponent == 0x7FFF) {
    return (fraction << 1U) != 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : with_sign(std::numeric_limits<double>::infinity(), negative);
  }
  return with_sign(std::ldexp(static_cast<double>(fraction), exponent - 16383 - 63), negative);
}

constexpr ElementType element_types[] = {
    {"f8", "F64", 8, CellKind::real, Precision::float64, float64_from, nullptr, &stored_type::float64},
    {"f4", "F32", 4, CellKind::real, Precision::float32, float32_from, nullptr, &stored_type::float32},
    {"f2", "F16", 2, CellKind::real, Precision::float16, float16_from, nullptr, &stored_type::float16},
    {"", "BF16", 2, CellKind::real, Precision::bfloat16, bfloat16_from, nullptr, &stored_type::bfloat16},
    {"f16", "", 16, CellKind::real, Precision::float64, extended},
    {"f12", "", 12, CellKind::real, Precision::float64, extended},
    {"i1", "I8", 1, CellKind::whole, Precision::float64, whole_from<std::int8_t>},
    {"i2", "I16", 2, CellKind::whole, Precision::float64, whole_from<std::int16_t>},
    {"i4", "I32", 4, CellKind::whole, Precision::float64, whole_from<std::int32_t>},
    {"i8", "I64", 8, CellKind::whole, Precision::float64, whole_from<std::int64_t>, is_rounded_from<std::int64_t>},
    {"u1", "U8", 1, CellKind::whole, Precision::float64, whole_from<std::uint8_t>},
    {"u2", "U16", 2, CellKind::whole, Precision::float64, whole_from<std::uint16_t>},
    {"u4", "U32", 4, CellKind::whole, Precision::float64, whole_from<std::uint32_t>},
    {"u8", "U64", 8, CellKind::whole, Precision::float64, whole_from<std::uint64_t>, is_rounded_from<std::uint64_t>},
    {"b1", "BOOL", 1, CellKind::boolean, Precision::float64, boolean_from},
};

// --- text rows

// Below this many cells, more threads cost more than they give.
constexpr std::size_t least_cells_to_share = std::size_t{1} << 15;
// What a thread makes at a time, and what stands as text at most before it is passed on.
constexpr std::size_t cells_of_piece = std::size_t{1} << 13;
constexpr std::size_t pieces_of_thread = 8;

}  // namespace

// --- cells

WrittenCell parse_cell(std::string_view text) {
  if (text.find(typographic_minus) != std::string_view::npos) {
    const WrittenCell plain = parse_cell(with_plain_minus(text));
    return has_value(plain) ? plain : WrittenCell{CellKind::text, 0};
  }
  std::string_view number = text;
  if (number.size() > 1 && number[0] == '+' && number[1] != '-') number.remove_prefix(1);
  const char* const end = number.data() + number.size();
  double value = 0;
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  if (stop != end || number.empty() || number.back() == ')') return parse_word(text);  // `nan(7)` is no number
  if (error == std::errc::result_out_of_range) return parse_out_of_range(number);
  if (error != std::errc()) return parse_word(text);
  const bool is_whole = number.find_first_not_of("-0123456789") == std::string_view::npos;
  return {is_whole ? CellKind::whole : CellKind::real, value};
}

bool is_rounded(std::string_view whole) {
  constexpr std::size_t fewest_digits = 16;  // all shorter ones are exact
  if (whole.size() < fewest_digits) return false;
  if (whole.starts_with(typographic_minus)) whole.remove_prefix(typographic_minus.size());
  if (whole.front() == '-' || whole.front() == '+') whole.remove_prefix(1);
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size() - 1));
  return fmt::format("{:.0f}", parse_cell(whole).value) != whole;
}

void NumberNotation::add(std::string_view cell) {
  constexpr int farthest = 400;  // no number has more decimals
  if (cell.find(typographic_minus) != std::string_view::npos) {
    add(with_plain_minus(cell));
    return;
  }
  constexpr std::string_view all_digits = "0123456789";
  const std::size_t end = std::min(cell.find_first_of("eE"), cell.size());
  const std::string_view mantissa = cell.substr(0, end);
  if (mantissa.find_first_of(all_digits) == std::string_view::npos) return;  // true, inf
  int exponent = 0;
  if (end < cell.size()) {
    std::string_view text = cell.substr(end + 1);
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (error != std::errc()) exponent = text.starts_with('-') ? -farthest : farthest;
  }
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size() - 1);
  const int behind = static_cast<int>(mantissa.size() - 1 - point);
  decimals = std::max(decimals, behind - std::clamp(exponent, -farthest, farthest));
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return;  // 0
  const auto is_digit = [&](char c) { return all_digits.find(c) != std::string_view::npos; };
  digits = std::max(digits, static_cast<int>(std::ranges::count_if(mantissa.substr(first), is_digit)));
  (end < cell.size() ? has_exponents : has_no_exponents) = true;
}

std::string_view complaint(WrittenCell cell) {
  return cell.kind == CellKind::overflow ? "is too large for a number" : "is not a number";
}

std::string in_quotes(std::string_view text) { return shortened_in_quotes(text, 40); }

std::string name_in_quotes(std::string_view name) { return shortened_in_quotes(name, 120); }

double float32_from(const unsigned char* bytes) {
  return static_cast<double>(std::bit_cast<float>(little_endian<std::uint32_t>(bytes)));
}

double float64_from(const unsigned char* bytes) { return std::bit_cast<double>(little_endian<std::uint64_t>(bytes)); }

// 1 bit of sign, 5 of exponent, 10 of fraction.
double float16_from(const unsigned char* bytes) {
  const unsigned bits = little_endian<std::uint16_t>(bytes);
  const bool negative = (bits & 0x8000U) != 0;
  const int exponent = static_cast<int>(bits >> 10U & 0x1FU);
  const int fraction = static_cast<int>(bits & 0x3FFU);
  if (exponent == 0x1F) {
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : with_sign(std::numeric_limits<double>::infinity(), negative);
  }
  if (exponent == 0) return with_sign(std::ldexp(fraction, -24), negative);
  return with_sign(std::ldexp(fraction + 1024, exponent - 25), negative);
}

// The upper half of a float32.
double bfloat16_from(const unsigned char* bytes) {
  return static_cast<double>(std::bit_cast<float>(std::uint32_t{little_endian<std::uint16_t>(bytes)} << 16U));
}

// --- types of elements

const ElementType* find_element_type(std::string_view ElementType::*names, std::string_view name) {
  if (name.empty()) return nullptr;
  for (const ElementType& type : element_types) {
    if (type.*names == name) return &type;
  }
  return nullptr;
}

// --- text rows

void write_rows(Shape cells, const AppendRow& append, Sink& sink) {
  if (threads() == 1 || cells.cells() < least_cells_to_share) {
    for (std::size_t i = 0; i < cells.rows; ++i) {
      append(i, sink.block());
      sink.spill();
    }
    return;
  }
  const std::size_t rows = std::max<std::size_t>(1, cells_of_piece / cells.columns);
  std::vector<std::string> pieces(pieces_of_thread * threads());
  for (std::size_t begin = 0; begin < cells.rows; begin += rows * pieces.size()) {
    parallel_for(pieces.size(), [&](std::size_t piece) {
      pieces[piece].clear();
      const std::size_t first = begin + piece * rows;
      for (std::size_t i = first; i < std::min(first + rows, cells.rows); ++i) append(i, pieces[piece]);
    });
    for (const std::string& piece : pieces) sink.write(piece);
  }
}

}  // namespace attn
