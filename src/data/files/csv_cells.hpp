#pragma once

#include <span>
#include <string_view>

#include "data/files/cell_values.hpp"
#include "data/files/csv_rows.hpp"

namespace attn {

// What the cells of a CSV text are, before it is known where they stand.

using Row = std::span<const CsvField>;

/// A cell in quotes is text, whatever it says.
WrittenCell cell_in(const CsvField& field);

/// A number in a notation that is not ours, what to say of it, and what to write instead.
struct OtherNotation {
  bool (*is_in)(std::string_view text);
  std::string_view complaint;
  std::string_view way_out;
  bool may_be_quoted = false;  // because commas separate the cells
  bool may_be_label = false;   // where no number is needed
};

/// Nothing, for text and for our own numbers.
const OtherNotation* notation_of(const CsvField& field);

bool is_label(const CsvField& field);
bool is_missing(const CsvField& field);

/// Whether so many cells may be the place of a number, of which a head may be a part, and the number; and what to write
/// instead.
bool may_have_places(std::size_t cells);
inline constexpr std::string_view rows_for_queries = "write one row for each query, with a number for each key";

/// What the columns before the last one count, if each row is the place of a number and the number.
struct PlacesOfNumbers {
  bool are_told = false;
  bool are_all = false;  // a row for each place, or for each up to the diagonal
  std::size_t most = 0;  // of one column
};
/// Of rows of so many cells, at least 3.
PlacesOfNumbers places_in(std::span<const double> cells, std::size_t width);

}  // namespace attn
