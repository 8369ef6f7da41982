#include "data/files/csv_cells.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/support/text.hpp"

namespace attn {

WrittenCell cell_in(const CsvField& field) {
  return field.quoted ? WrittenCell{CellKind::text, 0} : parse_cell(field.text);
}

// --- other notations

namespace {

// 1.234,5 or 1,234.5 or 1,234,567.
bool has_grouped_digits(std::string_view text) {
  constexpr std::size_t group = 3;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  for (const auto& [sign, point] : {std::pair{',', '.'}, std::pair{'.', ','}}) {
    const std::size_t first = text.find(sign), end = std::min(text.find(point), text.size());
    const std::string_view digits = text.substr(0, end), behind = text.substr(std::min(end + 1, text.size()));
    if (first == 0 || first > group || first >= end || (sign == '.' && end == text.size())) continue;
    bool is_grouped = (end - first) % (group + 1) == 0 &&
                      behind.find_first_not_of("0123456789") == std::string_view::npos &&
                      (end == text.size() || !behind.empty());
    for (std::size_t i = 0; i < digits.size(); ++i) {
      const bool is_sign = i >= first && (i - first) % (group + 1) == 0;
      is_grouped = is_grouped && (is_sign ? digits[i] == sign : digits[i] >= '0' && digits[i] <= '9');
    }
    // With one sign alone, as 1,234, it may also be the decimal comma of another language.
    if (is_grouped && (end < text.size() || end - first > group + 1)) return true;
  }
  return false;
}

// 1,234: one comma, behind which there are three digits, and before it up to three that do not begin with 0.
bool may_be_thousand(std::string_view text) {
  constexpr std::size_t group = 3;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t comma = text.find(',');
  return comma != std::string_view::npos && comma > 0 && comma <= group && text.size() == comma + 1 + group &&
         text.front() != '0' && std::ranges::all_of(text.substr(0, comma), is_digit) &&
         std::ranges::all_of(text.substr(comma + 1), is_digit);
}

bool is_percentage(std::string_view text) {
  return text.ends_with('%') && has_value(parse_cell(trimmed(text.substr(0, text.size() - 1))));
}

// Numbers with a sign between them that separates cells in other files.
bool has_several_numbers(std::string_view text) {
  constexpr std::string_view separators = ",; \t";
  std::size_t count = 0;
  for (std::size_t at = text.find_first_not_of(separators); at != std::string_view::npos; ++count) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    if (!has_value(parse_cell(text.substr(at, end - at)))) return false;
    at = text.find_first_not_of(separators, end);
  }
  return count > 1;
}

bool has_underscores(std::string_view text) {
  std::string digits(text);
  const bool is_between = digits.find('_') != std::string::npos && digits.front() != '_' && digits.back() != '_';
  std::erase(digits, '_');
  return is_between && has_value(parse_cell(digits));
}

bool is_hexadecimal(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const bool has_prefix = text.starts_with("0x") || text.starts_with("0X");
  return has_prefix && text.size() > 2 && text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
}

constexpr OtherNotation other_notations[] = {
    {has_grouped_digits, "is not a number, because it has signs between thousands",
     "write the digits alone, with a decimal point, or put it in quotes if it is a label"},
    {may_be_thousand, "has a comma, which may be a decimal comma or a sign between thousands",
     "write a decimal point, or the digits alone", true},
    {has_decimal_comma, "has a decimal comma", "write a decimal point", true},
    {is_percentage, "is not a number, because it is a percentage", "write a decimal fraction, such as 0.1 for 10%",
     false, true},
    {has_several_numbers, "is not a number, but several",
     "separate all cells by the same sign, or put it in quotes if it is a label"},
    {has_underscores, "is not a number, because it has underscores",
     "write the digits alone, or put it in quotes if it is a label"},
    {is_hexadecimal, "is not a number, because it is hexadecimal",
     "write a decimal one, or put it in quotes if it is a label"},
};

}  // namespace

const OtherNotation* notation_of(const CsvField& field) {
  const auto* const row =
      std::ranges::find_if(other_notations, [&](const OtherNotation& notation) { return notation.is_in(field.text); });
  return row == std::end(other_notations) ? nullptr : row;
}

bool is_label(const CsvField& field) {
  const OtherNotation* const notation = notation_of(field);
  return cell_in(field).kind == CellKind::text &&
         (!notation || notation->may_be_label || (field.quoted && !notation->may_be_quoted));
}

bool is_missing(const CsvField& field) { return field.text.empty() && !field.quoted; }

// --- places

bool may_have_places(std::size_t cells) { return cells == 3 || cells == 4; }

PlacesOfNumbers places_in(std::span<const double> cells, std::size_t width) {
  const std::size_t rows = cells.size() / width, indices = width - 1;
  PlacesOfNumbers places;
  double all = 1;
  std::vector<std::size_t> counts;
  for (std::size_t j = 0; j < indices; ++j) {
    std::vector<double> column;
    for (std::size_t i = 0; i < rows; ++i) column.push_back(cells[i * width + j]);
    std::ranges::sort(column);
    column.erase(std::unique(column.begin(), column.end()), column.end());
    const bool is_whole_range = (column.front() == 0 || column.front() == 1) &&
                                column.back() == column.front() + static_cast<double>(column.size() - 1);
    if (!is_whole_range || (j + 2 >= indices && column.size() < 2)) return {};
    counts.push_back(column.size());
    places.most = std::max(places.most, column.size());
    all *= static_cast<double>(column.size());
  }
  bool by_rows = true, by_columns = true, is_lower = counts[indices - 1] == counts[indices - 2];
  for (std::size_t i = 0; i < rows; ++i) {
    const std::span<const double> here = cells.subspan(i * width, indices);
    is_lower = is_lower && here[indices - 1] <= here[indices - 2];
    if (i == 0) continue;
    const std::span<const double> before = cells.subspan((i - 1) * width, indices);
    by_rows = by_rows && std::ranges::lexicographical_compare(before, here);
    by_columns = by_columns && std::lexicographical_compare(before.rbegin(), before.rend(), here.rbegin(), here.rend());
  }
  places.are_told = by_rows || by_columns;
  const auto side = static_cast<double>(counts[indices - 1]);
  const double below = all / side * (side + 1) / 2;
  places.are_all = static_cast<double>(rows) == all || (is_lower && static_cast<double>(rows) == below);
  return places;
}

}  // namespace attn
