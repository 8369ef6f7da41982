#include "command/backward/derivatives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/graph/find.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

constexpr std::size_t most_ways_back = 20000;
constexpr std::uint64_t most_work_of_ways = std::uint64_t{1} << 34;

// "[it,1]"
std::string place_in_matrix(const Cell& cell) {
  const Axis &rows = cell.node->frame.rows, &columns = cell.node->frame.columns;
  return fmt::format("[{},{}]", name_of_place(rows, cell.row), name_of_place(columns, cell.column));
}

std::string asked_cell(const Cell& cell) { return cell.node->name + place_in_matrix(cell); }

}  // namespace

std::string selection_in_words(const CellSelection& asked) {
  if (asked.size() == 1) {
    const Cell& cell = asked.front();
    const auto has_number = [](const Axis& axis, std::size_t i) {
      return axis.labels && name_of_place(axis, i) != axis.label(i);
    };
    const bool is_plain =
        !has_number(cell.node->frame.rows, cell.row) && !has_number(cell.node->frame.columns, cell.column);
    return is_plain ? asked_cell(cell) : fmt::format("{} ({})", asked_cell(cell), cell_in_words(cell));
  }
  const Node& node = *asked.front().node;
  return fmt::format("{}[{}]", node.name, name_of_place(node.frame.rows, asked.front().row));
}

std::vector<const Node*> words_going_in(const Graph& graph, const Node& result) {
  std::vector<const Node*> vectors, given;
  for (const Node& node : graph.nodes()) {
    if (node.index >= result.original().index) break;
    const bool is_inside = node.within(scope::layer) || node.within(scope::number);
    if (node.is(role::x) && !is_inside) vectors.push_back(&node);
    if (!node.op && (node.is(role::q) || node.is(role::k) || node.is(role::v))) given.push_back(&node);
  }
  return vectors.empty() ? given : vectors;
}

void require_ways(std::uint64_t ways, std::uint64_t work) {
  if (ways <= most_ways_back && ways * std::max<std::uint64_t>(work, 1) <= most_work_of_ways) return;
  fail(
      "the backward pass would be run {} times, once for each number: choose one number with --of, or give fewer words or smaller sizes",
      ways);
}

double length_of(std::span<const double> numbers) {
  double squares = 0.0;
  for (const double number : numbers) squares += number * number;
  return std::sqrt(squares);
}

double largest_derivative(const Matrix& derivatives) {
  double largest = 0.0;
  for (const double one : cells(derivatives)) largest = std::max(largest, std::fabs(one));
  return largest;
}

double derivative_by(const Matrix& gradient, const CellSelection& by) {
  const Cell& first = by.front();
  return by.size() == 1 ? gradient(first.row, first.column) : length_of(row(gradient, first.row));
}

DependenceCounts dependence_counts(const Node& node, const Matrix* derivatives, const ReachableCells& relation,
                                   double rounding) {
  DependenceCounts all{&node};
  for (std::size_t i = 0; i < node.frame.shape.rows; ++i) {
    for (std::size_t j = 0; j < node.frame.shape.columns; ++j) {
      const Cell cell{&node, i, j};
      const double size = derivatives ? std::fabs((*derivatives)(i, j)) : 0.0;
      if (size > rounding) {
        ++all.depend;
        const double most = std::fabs(all.largest);
        if (size > most * (1.0 + rounding_of_ties))
          all.as_large = 0;
        else if (size >= most * (1.0 - rounding_of_ties))
          ++all.as_large;
        if (size > most) {
          all.largest = (*derivatives)(i, j);
          all.where = cell;
        }
      } else if (relation.with_masks.has(cell)) {
        ++all.flat;
      } else if (relation.without_masks.has(cell)) {
        ++all.masked;
      } else {
        ++all.apart;
      }
    }
  }
  return all;
}

void add_counts(QuantityPage& page, const std::vector<DependenceCounts>& all) {
  page.say(
      "Each line counts the numbers of a matrix. "
      "Some depend: their derivative is not 0, and the largest stands at the end. "
      "Others do not: because a mask cuts them off; because they are apart, with no path between (other words, other heads); or because the derivative is 0 here, or less than 1e-12 of the largest on this page: a factor on the way is 0, as that of ReLU below 0, or several paths cancel.");
  Listing listing{{"matrix", "numbers", "depend", "masked", "apart", "zero", "largest", "at"}, {}, true};
  for (const DependenceCounts& one : all) {
    listing.rows.push_back({one.node->name, with_commas(one.node->frame.shape.cells()), with_commas(one.depend),
                            with_commas(one.masked), with_commas(one.apart), with_commas(one.flat),
                            one.depend ? written_digits(one.largest, 4) : "–",
                            one.depend == 0    ? "–"
                            : one.as_large > 0 ? "several"
                                               : place_in_matrix(one.where)});
  }
  page.say(std::move(listing));
}

}  // namespace attn
