#include "page/render/ranked_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/graph/name.hpp"
#include "core/support/largest.hpp"
#include "core/support/number.hpp"
#include "page/render/table_layout.hpp"
#include "page/render/width.hpp"

namespace attn {

namespace {

// The columns with the largest numbers of a row, of those that are not masked there.
LargestNumbers largest_places(const Table& table, std::size_t i, std::size_t most) {
  const std::span<const double> numbers = row(*table.cells, i);
  std::vector<std::size_t> places;
  std::vector<double> shown;
  for (std::size_t j = 0; j < numbers.size(); ++j) {
    if (is_masked(table, i, j)) continue;
    places.push_back(j);
    shown.push_back(numbers[j]);
  }
  LargestNumbers largest = largest_numbers(shown, most);
  for (std::vector<std::size_t>* all : {&largest.named, &largest.alike}) {
    for (std::size_t& place : *all) place = places[place];
  }
  return largest;
}

// But for rounding.
bool are_equal(double one, double other) {
  return one == other || std::fabs(one - other) <= 1e-9 * std::max(std::fabs(one), std::fabs(other));
}

std::string noun_of(const Axis& axis, std::string_view otherwise) {
  return axis.name.empty() ? std::string(otherwise) : axis.name;
}

// --- in a terminal

class RankedRows {
 public:
  RankedRows(const Table& table, const ShownPlaces& rows, const Style& style)
      : table_(table), rows_(rows), style_(style), are_weights_(table.heat == Heat::weights) {
    digits_ = digits_for(*table.cells, std::min(style.precision, 2));
    title_ = style.signs(table.title);
    label_width_ = display_width(title_);
    labels_ =
        short_labels(table.rows, rows.places, std::clamp<std::size_t>(style.width / 3, 8, longest_row_label), style);
    for (const std::string& label : labels_) label_width_ = std::max(label_width_, display_width(label));
  }

  void write(Sink& sink) {
    const std::string beside = style_.unicode ? " │ " : " | ", head = title_ + blanks(title_);
    const std::size_t width = style_.width - std::min(style_.width, label_width_ + 5);
    sink.write("  " + head + beside + heading_within(width) + "\n");
    const std::string_view dash = style_.unicode ? "─" : "-";
    std::string rule = "  ";
    for (std::size_t n = 0; n < label_width_ + 1; ++n) rule += dash;
    rule += style_.unicode ? "┼" : "+";
    for (std::size_t n = 0; n < width + 1; ++n) rule += dash;
    sink.write(rule + "\n");
    for (std::size_t n = 0; n <= rows_.places.size(); ++n) {
      if (const std::size_t gap = rows_.gap_before(n); gap > 0)
        sink.write(
            fmt::format("  {}{}{}{:# more row|# more rows}\n", ellipsis(), blanks(ellipsis()), beside, Count{gap}));
      if (n == rows_.places.size()) break;
      std::string line = "  " + labels_[n] + blanks(labels_[n]) + beside + told(rows_.places[n], width);
      line.erase(line.find_last_not_of(' ') + 1);
      sink.write(line + "\n");
    }
    std::string legend = are_weights_ ? "what rounds to 0 % is not listed" : "";
    const std::string_view then = legend.empty() ? "" : "; ", which = has_alike_ ? "equal or smaller" : "smaller";
    if (has_no_mark_) {
      legend += fmt::format("{}others with {} numbers are left out", then, which);
    } else if (was_cut_) {
      legend += fmt::format("{}{} others with {} numbers", then, ellipsis(), which);
    }
    if (legend.empty()) legend = "the largest numbers of each row";
    for (const std::string& line : wrap(legend + " (--full)", style_.width - std::min<std::size_t>(style_.width, 2)))
      sink.write("  " + dim(style_) + line + plain(style_) + "\n");
  }

 private:
  std::string ellipsis() const { return style_.unicode ? "…" : "..."; }
  std::string heading_within(std::size_t width) const {
    const std::string whole = heading();
    return display_width(whole) <= width ? whole : "largest";
  }

  // What a row of a distribution ranks are words, and not weights.
  std::string heading() const {
    const std::size_t count = table_.cells->shape().columns;
    if (&name_from_text(table_.array).role() == &role::distribution)
      return fmt::format("the most probable of {} words", count);
    return fmt::format("the largest of {} {}", count, are_weights_ ? "weights" : "numbers");
  }
  std::string blanks(const std::string& text) const {
    return std::string(label_width_ - std::min(label_width_, display_width(text)), ' ');
  }

  std::string number(double value) const {
    std::string text;
    if (are_weights_) {
      text = written_fixed(100.0 * value, style_.is_precise ? std::max(style_.precision - 2, 0) : 0);
      return text.find_first_not_of("-0.") == std::string::npos ? "" : text + " %";
    }
    digits_.append(text, value);
    return text;
  }

  // As many of the row as there is room for.
  std::string told(std::size_t i, std::size_t width) {
    std::vector<std::string> words, numbers;
    auto [places, alike] = largest_places(table_, i, most_told);
    places.insert(places.end(), alike.begin(), alike.end());
    for (const std::size_t j : places) {
      std::string text = number((*table_.cells)(i, j));
      if (text.empty()) break;
      words.push_back(style_.words(place_in_lists(table_.columns, j)));
      numbers.push_back(std::move(text));
    }
    if (words.empty()) return places.empty() ? "" : "all round to 0 %";
    const std::string further = ", " + ellipsis();
    std::string line = words.front() + " " + numbers.front();
    if (display_width(line) + (words.size() > 1 ? display_width(further) : 0) > width) {
      has_alike_ = has_alike_ || (words.size() > 1 && numbers[1] == numbers[0]);
      return cut(places.front(), numbers.front(), width, words.size() > 1);
    }
    std::vector<std::string> lines = {line};
    for (std::size_t n = 1; n < words.size(); ++n) {
      line += ", " + words[n] + " " + numbers[n];
      if (display_width(line) + display_width(further) > width) return cut_behind(lines, places, i, numbers, width);
      lines.push_back(line);
    }
    return line;
  }

  // The longest of the lines behind which there is room to tell how many more have the number that it ends with.
  std::string cut_behind(const std::vector<std::string>& lines, const std::vector<std::size_t>& places, std::size_t i,
                         const std::vector<std::string>& numbers, std::size_t width) {
    was_cut_ = true;
    const std::string further = ", " + ellipsis();
    for (std::size_t n = lines.size(); n > 0; --n) {
      const std::size_t more = equal_behind(n, places, i, numbers.size());
      const std::string tie = more == 0 ? "" : fmt::format(", {} more of {}", more, numbers[n - 1]);
      const std::string line = lines[n - 1] + tie + (n + more < numbers.size() ? further : "");
      if (display_width(line) > width) continue;
      has_alike_ = has_alike_ || (n + more < numbers.size() && numbers[n + more] == numbers[n - 1]);
      return line;
    }
    has_alike_ = true;
    return lines.back() + further;
  }

  // How many of the places behind the first n have the same number as the last of these.
  std::size_t equal_behind(std::size_t n, const std::vector<std::size_t>& places, std::size_t i,
                           std::size_t told) const {
    std::size_t count = 0;
    while (n + count < told && are_equal((*table_.cells)(i, places[n + count]), (*table_.cells)(i, places[n - 1])))
      ++count;
    return count;
  }

  // Where there is no room for one entry, its word is cut, and never a number: neither its own nor that of the word.
  std::string cut(std::size_t j, const std::string& number, std::size_t width, bool has_further) {
    has_no_mark_ = has_no_mark_ || has_further;
    const std::size_t taken = display_width(number) + 1, room = std::max(width, taken + 1) - taken;
    const std::string word = style_.words(table_.columns.label(j)),
                      place = style_.words(place_in_lists(table_.columns, j)), behind = place.substr(word.size());
    if (display_width(place) <= room) return place + " " + number;
    if (behind.empty()) return shortened(word, room, ellipsis()) + " " + number;
    const std::size_t of_place = display_width(behind);
    if (of_place + 1 < room) return shortened(word, room - of_place, ellipsis()) + behind + " " + number;
    return (of_place <= room + 1 ? behind.substr(1) : ellipsis()) + " " + number;
  }

  static constexpr std::size_t most_told = 256;

  const Table& table_;
  const ShownPlaces& rows_;
  const Style& style_;
  bool are_weights_;
  Digits digits_;
  std::string title_;
  std::vector<std::string> labels_;  // of the rows that are shown
  std::size_t label_width_ = 0;
  bool was_cut_ = false;      // a row has more than its line holds
  bool has_alike_ = false;    // of which one is written as the last one that is told
  bool has_no_mark_ = false;  // and its line has no room to say so
};

}  // namespace

bool is_wide(const Table& table) { return table.ranks && table.cells->shape().columns > most_ranked_columns; }

std::vector<Block> blocks_of_ranks(const Table& table, int precision) {
  const std::size_t columns = table.cells->shape().columns;
  const bool are_weights = table.heat == Heat::weights;
  const int digits = std::max(precision, 1);
  Listing listing{
      {noun_of(table.rows, "row"), noun_of(table.columns, "column"), "at", are_weights ? "weight" : "number"},
      {},
      true};
  const ShownPlaces rows = shown_rows(table);
  bool has_others = false;
  for (std::size_t n = 0; n < rows.places.size(); ++n) {
    if (const std::size_t gap = rows.gap_before(n); gap > 0)
      listing.rows.push_back({fmt::format("… {:# more row|# more rows}", Count{gap}), "", "", ""});
    const std::size_t i = rows.places[n];
    const auto written = [&](double number) { return written_digits(number, digits); };
    auto [places, alike] = largest_places(table, i, columns_ranked_first);
    // What rounds to 0 is one of the others.
    const auto rounds_to_zero = [&](std::size_t j) {
      return are_weights && 2.0 * (*table.cells)(i, j) < std::pow(10.0, -digits);
    };
    std::erase_if(places, [&, largest = places.front()](std::size_t j) { return j != largest && rounds_to_zero(j); });
    std::erase_if(alike, rounds_to_zero);
    double rest = 0.0;
    for (const double number : row(*table.cells, i)) rest += number;
    std::string title = place_in_lists(table.rows, i);
    const auto add_line = [&](std::string column, std::string at, std::string number) {
      listing.rows.push_back({std::exchange(title, ""), std::move(column), std::move(at), std::move(number)});
    };
    for (const std::size_t j : places) {
      const double number = (*table.cells)(i, j);
      rest -= number;
      add_line(table.columns.label(j), fmt::format("[{},{}]", i + 1, j + 1), written(number));
    }
    if (!alike.empty()) {
      for (const std::size_t j : alike) rest -= (*table.cells)(i, j);
      add_line(fmt::format("{} with this number each", with_commas(alike.size())), "",
               written((*table.cells)(i, alike.front())));
    }
    const std::size_t others = columns - places.size() - alike.size();
    if (others == 0) continue;
    has_others = true;
    add_line(fmt::format("{} {:other|others}", with_commas(others), Count{others}), "",
             are_weights ? written(std::max(rest, 0.0)) : "–");
  }
  if (!has_others) {
    return {Prose{text(code(table.title),
                       fmt::format(": all {} numbers of each row, equal ones counted together (", with_commas(columns)),
                       code("--full"), " shows each).")},
            std::move(listing)};
  }
  return {Prose{text(code(table.title),
                     fmt::format(": the {} largest of the {} numbers of each row, and the others{} (",
                                 columns_ranked_first, with_commas(columns), are_weights ? " with their sum" : ""),
                     code("--full"), " shows all).")},
          std::move(listing)};
}

// --- in a terminal

void write_ranked_rows(const Table& table, const ShownPlaces& rows, const Style& style, Sink& sink) {
  RankedRows(table, rows, style).write(sink);
}

}  // namespace attn
