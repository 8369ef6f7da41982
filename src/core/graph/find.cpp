#include "core/graph/find.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

// --- address

bool is_quoted(std::string_view text) { return text.size() >= 2 && text.front() == '"' && text.back() == '"'; }

// The comma between row and column: outside quotes, or npos unless there is exactly one.
std::size_t find_comma(std::string_view text) {
  bool quoted = false;
  std::size_t found = std::string_view::npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] != ',' || quoted) continue;
    if (found != std::string_view::npos) return std::string_view::npos;
    found = i;
  }
  return found;
}

bool has_label(const Axis& axis, std::string_view label) {
  return axis.labels && std::ranges::find(*axis.labels, label) != axis.labels->end();
}

// 3 of "position 3"; nothing of anything else.
std::optional<std::size_t> number_of_position(const Axis& axis, std::string_view place) {
  constexpr std::string_view position = "position ";
  if (!place.starts_with(position) || has_label(axis, place)) return std::nullopt;
  return parse_number<std::size_t>(trimmed(place.substr(position.size())));
}

std::optional<std::size_t> number_of_place(const Axis& axis, std::string_view place, const WorkOutPlace& work_out) {
  if (is_quoted(place)) return std::nullopt;
  if (const std::optional<std::size_t> number = parse_number<std::size_t>(place)) return number;
  if (const std::optional<std::size_t> number = number_of_position(axis, place)) return number;
  return work_out ? work_out(place) : std::nullopt;
}

// What chooses a position, and can be read as nothing else.
std::string written_position(const Axis& axis, std::size_t i) {
  const std::string number = std::to_string(i + 1);
  return has_label(axis, number) ? fmt::format("'position {}'", number) : number;
}

// A matrix, and what stands in brackets behind it.
struct Address {
  const Node& node;
  std::string_view inside;
};

Address read_address(const Graph& graph, std::string_view address) {
  const std::size_t open = address.find('[');
  if (open == std::string_view::npos || !address.ends_with(']')) {
    fail("'{}' is not a cell: write it as weights[1,2], or by words as weights[it,animal]", address);
  }
  const std::vector<const Node*> nodes = graph.matching(address.substr(0, open));
  if (nodes.size() > 1) {
    fail("'{}' can mean {} or {}: give the whole name", address.substr(0, open), nodes[0]->name, nodes[1]->name);
  }
  return {*nodes.front(), address.substr(open + 1, address.size() - open - 2)};
}

std::size_t find_row_of(const Node& node, std::string_view row, const WorkOutPlace& work_out = {}) {
  return find_place(node.frame.rows, node.frame.shape.rows, row, fmt::format("row '{}' of {}", trimmed(row), node.name),
                    work_out);
}

}  // namespace

// --- address

std::size_t find_place(const Axis& axis, std::size_t size, std::string_view place, std::string_view what,
                       const WorkOutPlace& work_out) {
  place = trimmed(place);
  if (const std::optional<std::size_t> number = number_of_place(axis, place, work_out)) {
    if (*number >= 1 && *number <= size) return *number - 1;
    if (!has_label(axis, place)) fail("{}: there is none; they are numbered from 1 to {}", what, size);
  }
  const std::string_view label = is_quoted(place) ? place.substr(1, place.size() - 2) : place;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; axis.labels && i < size; ++i) {
    if ((*axis.labels)[i] == label) found.push_back(i);
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    fail("{}: {} have this name. Give a position, such as {}", what, found.size(),
         written_position(axis, found.front()));
  }
  if (!axis.labels) fail("{}: there are no words here. Give a number from 1 to {}", what, size);
  constexpr std::size_t few = 20;
  const std::string words = size <= few ? fmt::format("Choose one of: {}, or a number", fmt::join(*axis.labels, ", "))
                                        : fmt::format("Give one of the words, or a number from 1 to {}", size);
  fail("{}: there is no such word{}. {}", what, did_you_mean(label, *axis.labels), words);
}

std::string name_of_place(const Axis& axis, std::size_t i) {
  const std::string label = axis.label(i);
  const bool is_word = label.find_first_of(",[]\" ") == std::string::npos && !parse_number<std::size_t>(label);
  return is_word && !is_repeated(axis, i) ? label : std::to_string(i + 1);
}

bool has_place(const Axis& axis, std::size_t size, std::string_view place) {
  try {
    find_place(axis, size, place, "");
    return true;
  } catch (const InputError&) {
    return false;
  }
}

std::size_t find_named_place(const Axis& axis, std::size_t size, std::string_view place, std::string_view what) {
  place = trimmed(place);
  const std::size_t i = find_place(axis, size, place, what);
  if (!axis.labels || !parse_number<std::size_t>(place)) return i;
  std::vector<std::string> places;
  for (std::size_t j = 0; j < size; ++j) {
    if (j != i && axis.label(j) == place) places.push_back(std::to_string(j + 1));
  }
  if (places.empty()) return i;
  if (places.size() == 1 && axis.label(i) != place)
    fail(
        "{0}: {1} is position {2}, and also the word at position {3}. Write '\"{1}\"' for the word, or 'position "
        "{1}' for the position",
        what, place, i + 1, places.front());
  fail(
      "{0}: {1} is position {2}, and also the word at {3:position|positions} {4}. Write 'position {1}', or another position likewise",
      what, place, i + 1, Count{places.size()}, list_in_words(places));
}

bool has_named_place(const Axis& axis, std::size_t size, std::string_view place) {
  return has_place(axis, size, place);
}

std::string cell_in_words(const Cell& cell) {
  const Axis &rows = cell.node->frame.rows, &columns = cell.node->frame.columns;
  std::string place;
  if (rows.labels) place += rows.label(cell.row);
  if (columns.labels) place += (place.empty() ? "" : ", ") + columns.label(cell.column);
  return place;
}

Cell find_cell(const Graph& graph, std::string_view address, const WorkOutPlace& work_out) {
  const auto [node, inside] = read_address(graph, address);
  const std::size_t comma = find_comma(inside);
  if (comma == std::string_view::npos) {
    fail("'{}' is not a cell: write a row and a column in the brackets, separated by one comma", address);
  }
  const std::string_view column = inside.substr(comma + 1);
  return {&node, find_row_of(node, inside.substr(0, comma), work_out),
          find_place(node.frame.columns, node.frame.shape.columns, column,
                     fmt::format("column '{}' of {}", trimmed(column), node.name), work_out)};
}

std::vector<Cell> find_cells(const Graph& graph, std::string_view address) {
  const auto [node, inside] = read_address(graph, address);
  if (inside.find(',') != std::string_view::npos) return {find_cell(graph, address)};
  const std::size_t row = find_row_of(node, inside);
  std::vector<Cell> cells;
  for (std::size_t j = 0; j < node.frame.shape.columns; ++j) cells.push_back({&node, row, j});
  return cells;
}

// --- random

bool follows_from_random(const Node& node) {
  std::set<const Node*> seen;
  std::vector<const Node*> left = {&node};
  while (!left.empty()) {
    const Node* const one = left.back();
    left.pop_back();
    if (!seen.insert(one).second) continue;
    if (one->is_random) return true;
    left.insert(left.end(), one->operands.begin(), one->operands.end());
  }
  return false;
}

// --- path

// A node comes after its operands in a graph, so one pass in that order visits every node when the shortest
// ways to its operands are known.
ShortestPaths::ShortestPaths(const Graph& graph, const Node& from, const std::function<bool(const Node&)>& counts) {
  steps_[&from] = {0, nullptr};
  for (const Node& node : graph.nodes()) {
    const Node* nearest = nullptr;
    for (const Node* operand : node.operands) {
      const auto found = steps_.find(operand);
      if (found == steps_.end()) continue;
      if (!nearest || found->second.length < steps_[nearest].length) nearest = operand;
    }
    if (nearest) steps_[&node] = {steps_[nearest].length + (counts(node) ? 1 : 0), nearest};
  }
}

std::optional<std::size_t> ShortestPaths::length(const Node& to) const {
  const auto found = steps_.find(&to);
  if (found == steps_.end()) return std::nullopt;
  return found->second.length;
}

std::vector<const Node*> ShortestPaths::path(const Node& to) const {
  std::vector<const Node*> path;
  for (const Node* node = &to; node; node = steps_.at(node).before) path.push_back(node);
  std::ranges::reverse(path);
  return path;
}

}  // namespace attn
