#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace attn {

// How numbers are written. Different processors give different last bits, and teaching numbers sit on
// rounding ties: so up to 11 digits a number within 5e-13 of its own size below a tie counts as the tie, and
// ties are rounded away from zero, as at school: 0.125 is 0.13 at two digits everywhere. From 12 digits on,
// where so much would be part of the last digit, a number is rounded as the double that it is.

/// The shortest decimal that reads back as the same double.
void append_exact(std::string& out, double value);

/// With a fixed number of decimals: "-0.8808"; never "-0.0000". NaN is "nan", infinities "inf" and "-inf".
void append_fixed(std::string& out, double value, int decimals);

/// The same as a string.
std::string written_fixed(double value, int decimals);

/// With so many digits, wherever the point is: "0.247", "1.5e+08".
std::string written_digits(double value, int digits);

/// The characters that append_fixed writes, without writing them.
int fixed_width(double value, int decimals);

/// Whether `decimals` digits show the value exactly, to 12 significant digits.
bool is_exact(double value, int decimals);

/// The fewest decimals, at most `most`, that show all finite values exactly.
int decimals_for(std::span<const double> values, int most);

/// Whether a difference between results that are equal in mathematics is no more than rounding makes.
bool is_rounding(double difference);

/// How far two results are apart that mathematics says are equal, or are not: "0.32", but "less than 1e-9"
/// for whatever rounding alone makes, because that is another number on another processor.
std::string written_difference(double difference);

/// With a fixed number of digits after the point of its mantissa: "1.2500e+30".
void append_scientific(std::string& out, double value, int decimals);

/// The place of the number that is larger than all others, also as so many decimals show them; nothing where several
/// are the largest, or none is above 0.
std::optional<std::size_t> preferred_key(std::span<const double> weights, int decimals);

/// A count that is easy to read: "3,152,384".
std::string with_commas(std::uint64_t count);

/// A count whose words agree with it: "{:# cell differs|# cells differ}" writes "1 cell differs" and "3 cells differ",
/// and "{:is|are}" the words alone. Those before | are for one, those behind it for others, and # is the count. "{}"
/// writes the count alone. Any other format does not compile.
struct Count {
  std::uint64_t number;
  bool is_one() const { return number == 1; }
};

/// The short form for a noun: "1 cell", "2 cells".
std::string count_of(std::size_t n, std::string_view noun);
/// The same with a plural of its own: "1 query", "2 queries".
std::string count_of(std::size_t n, std::string_view one, std::string_view many);

/// A share as a percentage with one decimal: "12.5 %".
std::string percent(double share);

}  // namespace attn

template <>
struct fmt::formatter<attn::Count> {
  std::string_view words = "#|#";

  constexpr const char* parse(format_parse_context& text) {
    const char* const end = std::find(text.begin(), text.end(), '}');
    if (end != text.begin()) words = {text.begin(), end};
    if (std::count(words.begin(), words.end(), '|') != 1) throw format_error("a count needs words for one|for others");
    return end;
  }
  appender format(attn::Count count, format_context& context) const;
};
