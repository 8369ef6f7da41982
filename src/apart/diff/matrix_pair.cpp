#include "apart/diff/matrix_pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>

#include "core/graph/find.hpp"
#include "core/op/operations.hpp"
#include "core/support/number_pair.hpp"

namespace attn {

namespace {

// Where each row, or column, of A stands in B: a word stands for itself, the first of several for the first, and a
// place without a word for its number. Nothing where the words are others.
std::optional<std::vector<std::size_t>> places_in_b(const Axis& a, const Axis& b, std::size_t size) {
  std::vector<std::size_t> places(size);
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (!a.labels || !b.labels || *a.labels == *b.labels) return places;
  std::map<std::string_view, std::vector<std::size_t>> in_b;  // the last place first
  for (std::size_t j = size; j-- > 0;) in_b[(*b.labels)[j]].push_back(j);
  for (std::size_t i = 0; i < size; ++i) {
    const auto found = in_b.find((*a.labels)[i]);
    if (found == in_b.end() || found->second.empty()) return std::nullopt;
    places[i] = found->second.back();
    found->second.pop_back();
  }
  return places;
}

bool has_label_once(const Axis& axis, std::string_view label) { return std::ranges::count(*axis.labels, label) == 1; }

bool repeats_a_label(const Axis& axis) {
  return axis.labels &&
         std::ranges::any_of(*axis.labels, [&](const std::string& label) { return !has_label_once(axis, label); });
}

Matrix arranged(const Matrix& numbers, const std::vector<std::size_t>& rows, const std::vector<std::size_t>& columns) {
  Matrix all(numbers.shape());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < columns.size(); ++j) all(i, j) = numbers(rows[i], columns[j]);
  }
  return all;
}

// The words that ids stand for: the rows of the table that is looked up in. Null: no words are known.
const Axis* words_of_ids(const SideOfPair& matrix) {
  if (!matrix.node || matrix.node->content() != Content::ids) return nullptr;
  for (const Node& node : matrix.node->graph->nodes()) {
    const bool looks_up = node.op == &op::embed && &node.operands[0]->original() == &matrix.node->original();
    if (looks_up && node.operands[1]->frame.rows.labels) return &node.operands[1]->frame.rows;
  }
  return nullptr;
}

// Ids of B as those of A that stand for the same word; NaN where A has no such word.
Matrix with_ids_of_a(Matrix ids, const Axis& words_of_a, const Axis& words_of_b) {
  for (double& id : cells(ids)) {
    const std::string word = words_of_b.label(static_cast<std::size_t>(id) - 1);
    const auto found = std::ranges::find(*words_of_a.labels, word);
    id = found == words_of_a.labels->end() ? std::nan("")
                                           : static_cast<double>(found - words_of_a.labels->begin()) + 1.0;
  }
  return ids;
}

// What a row or a column is called: its word, wherever one has it alone.
std::string called_by_word(const Axis& axis, std::size_t i) {
  std::string place = name_of_place(axis, i);
  if (!axis.labels) return place;
  const std::string label = axis.label(i);
  const bool can_be_quoted = label.find('"') == std::string::npos && has_label_once(axis, label);
  return place != label && can_be_quoted ? fmt::format("\"{}\"", label) : place;
}

constexpr DifferenceWording all_words[] = {
    {DifferenceKind::equal, "equal", "is equal", "are equal"},
    {DifferenceKind::equal_by_word, "equal by word", "is equal word by word", "are equal word by word"},
    {DifferenceKind::different, "different", "has other numbers", "have other numbers"},
    {DifferenceKind::other_words, "other words", "is of other words", "are of other words"},
    {DifferenceKind::other_shape, "other shape", "has another shape", "have another shape"},
    {DifferenceKind::only_in_a, "only in A", "stands only in A", "stand only in A"},
    {DifferenceKind::only_in_b, "only in B", "stands only in B", "stand only in B"},
};

}  // namespace

void compare_cells(MatrixPair& one, double tolerance) {
  if (one.stands_once()) {
    one.how = one.a ? DifferenceKind::only_in_a : DifferenceKind::only_in_b;
    return;
  }
  const Frame &a = one.a->frame, &b = one.b->frame;
  if (a.shape != b.shape) {
    one.how = DifferenceKind::other_shape;
    return;
  }
  const auto rows = places_in_b(a.rows, b.rows, a.shape.rows),
             columns = places_in_b(a.columns, b.columns, a.shape.columns);
  if (!rows || !columns) {
    one.how = DifferenceKind::other_words;
    return;
  }
  const bool is_in_order = std::ranges::is_sorted(*rows) && std::ranges::is_sorted(*columns);
  const std::shared_ptr<const Matrix> of_a = one.a->cells();
  Matrix of_b = is_in_order ? *one.b->cells() : arranged(*one.b->cells(), *rows, *columns);
  const Axis *const words_of_a = words_of_ids(*one.a), *const words_of_b = words_of_ids(*one.b);
  one.are_ids = words_of_a && words_of_b && *words_of_a->labels != *words_of_b->labels;
  if (one.are_ids) of_b = with_ids_of_a(std::move(of_b), *words_of_a, *words_of_b);
  one.apart = difference(*of_a, of_b, Rounding::to_part(tolerance));
  one.how = !one.apart.agrees()           ? DifferenceKind::different
            : is_in_order && !one.are_ids ? DifferenceKind::equal
                                          : DifferenceKind::equal_by_word;
  one.is_in_other_order = !is_in_order;
  one.has_repeated_words = !is_in_order && (repeats_a_label(a.rows) || repeats_a_label(a.columns));
  one.is_tolerated = one.apart.agrees() && !agree(*of_a, of_b);
  one.row_in_b = (*rows)[one.apart.row];
  one.column_in_b = (*columns)[one.apart.column];
}

std::span<const DifferenceWording> words_for_differences() { return all_words; }

std::string listed_as(DifferenceKind how) {
  return std::string(std::ranges::find(all_words, how, &DifferenceWording::how)->listed);
}

std::string place_of_largest_difference(const MatrixPair& one) {
  return fmt::format("[{},{}]", called_by_word(one.a->frame.rows, one.apart.row),
                     called_by_word(one.a->frame.columns, one.apart.column));
}

double cell_in_a(const MatrixPair& one) { return (*one.a->cells())(one.apart.row, one.apart.column); }
double cell_in_b(const MatrixPair& one) { return (*one.b->cells())(one.row_in_b, one.column_in_b); }

std::string difference_in_words(const MatrixPair& one) {
  if (one.has_difference()) {
    const bool is_too_large =
        std::isinf(one.apart.change) && std::isfinite(cell_in_a(one)) && std::isfinite(cell_in_b(one));
    return is_too_large ? "beyond double precision" : written_value(one.apart.change);
  }
  if (one.how != DifferenceKind::other_shape) return "";
  return fmt::format("{} and {}", to_string(one.a->frame.shape), to_string(one.b->frame.shape));
}

}  // namespace attn
