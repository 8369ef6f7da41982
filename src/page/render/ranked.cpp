#include "page/render/ranked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/support/number.hpp"
#include "page/render/table_layout.hpp"

namespace attn {
namespace {

// The places of the largest numbers of a row that is not masked there, the largest first.
std::vector<std::size_t> largest_places(const Table& table, std::size_t i) {
  const std::span<const double> numbers = row(*table.cells, i);
  std::vector<std::size_t> places;
  for (std::size_t j = 0; j < numbers.size(); ++j) {
    if (!is_masked(table, i, j)) places.push_back(j);
  }
  const auto size = [&](std::size_t j) {
    return std::isnan(numbers[j]) ? -std::numeric_limits<double>::infinity() : numbers[j];
  };
  const auto is_before = [&](std::size_t a, std::size_t b) { return size(a) != size(b) ? size(a) > size(b) : a < b; };
  const std::size_t count = std::min(places.size(), columns_ranked_first);
  const auto end = places.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(places.begin(), end, places.end(), is_before);
  places.resize(count);
  return places;
}

std::string noun_of(const Axis& axis, std::string_view otherwise) {
  return axis.name.empty() ? std::string(otherwise) : axis.name;
}

std::string rows_left_out(std::size_t count) { return fmt::format("… {} more {}", count, count == 1 ? "row" : "rows"); }

}  // namespace

bool is_wide(const Table& table) { return table.ranks && table.cells->shape().columns > most_ranked_columns; }

std::vector<Block> ranked(const Table& table, int precision) {
  const std::size_t columns = table.cells->shape().columns;
  const bool are_weights = table.heat == Heat::weights;
  const int digits = std::max(precision, 1);
  Listing listing{
      {noun_of(table.rows, "row"), noun_of(table.columns, "column"), "at", are_weights ? "weight" : "number"},
      {},
      true};
  const Shown rows = shown_rows(table);
  for (std::size_t n = 0; n < rows.places.size(); ++n) {
    if (rows.gap_before(n) > 0) listing.rows.push_back({rows_left_out(rows.gap_before(n)), "", "", ""});
    const std::size_t i = rows.places[n];
    const std::vector<std::size_t> places = largest_places(table, i);
    double rest = 0.0;
    for (const double number : row(*table.cells, i)) rest += number;
    for (const std::size_t j : places) {
      const double number = (*table.cells)(i, j);
      rest -= number;
      listing.rows.push_back({j == places.front() ? place_in_lists(table.rows, i) : "", table.columns.label(j),
                              fmt::format("[{},{}]", i + 1, j + 1), written_digits(number, digits)});
    }
    listing.rows.push_back({places.empty() ? place_in_lists(table.rows, i) : "",
                            fmt::format("{} others", with_commas(columns - places.size())), "",
                            are_weights ? written_digits(std::max(rest, 0.0), digits) : "–"});
  }
  return {Prose{text(code(table.title),
                     fmt::format(": the {} largest of the {} numbers of each row, and the others{} (",
                                 columns_ranked_first, with_commas(columns), are_weights ? " with their sum" : ""),
                     code("--full"), " shows all).")},
          std::move(listing)};
}

}  // namespace attn
