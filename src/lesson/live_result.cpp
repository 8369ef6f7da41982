#include "lesson/live_result.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "browser/computation.hpp"
#include "render/format.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

bool shows(const Table& table, const Node& node) {
  return cells(*table.cells).size() == node.frame.shape.cells() && table.cells->shape() == node.frame.shape &&
         std::ranges::equal(cells(*table.cells), cells(node.matrix()),
                            [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
}

// The matrices of a computation that blocks have tables of; nothing where a table has other numbers than the
// matrix that it names.
std::optional<std::set<const Node*>> shown_in(const std::vector<Block>& blocks, const Graph& graph) {
  std::set<const Node*> shown;
  bool all_are = true;
  const auto collect = [&](const Table& table) {
    const Node* const node = table.array.empty() ? nullptr : graph.find(table.array);
    if (node && shows(table, *node)) {
      shown.insert(node);
    } else if (node) {
      all_are = false;
    }
  };
  for (const Table& table : tables_of(blocks)) collect(table);
  if (!all_are) return std::nullopt;
  return shown;
}

// A graph that is only counted has inputs without numbers.
bool has_numbers(const Node* node) {
  return node->operation || node->given || node->made;
}

std::size_t count_of_numbers(const std::vector<const Node*>& nodes) {
  std::size_t count = 0;
  for (const Node* node : nodes) count += node->frame.shape.cells();
  return count;
}

}  // namespace

bool is_input(const Node& node) {
  return !node.operation && !node.name.empty();
}

std::variant<Still, LiveResult> live(const CommandResult& result) {
  const Graph* const graph = result.computation.graph.get();
  if (!graph || look_up(formats(), result.format, "format").audience != Audience::readers) return {};
  const std::optional<std::set<const Node*>> shown = shown_in(result.page->blocks, *graph);
  if (!shown) return {};
  LiveResult live;
  const bool shows_results = std::ranges::any_of(*shown, [](const Node* node) { return !is_input(*node); });
  std::vector<const Node*> asked(shown->begin(), shown->end());
  if (!shows_results) {
    constexpr std::size_t most_behind = 400;
    std::erase_if(asked = graph->named(), [](const Node* node) { return node->is_alias(); });
    if (count_of_numbers(asked) > most_behind) return {};
  }
  live.nodes = with_all_behind(asked);
  if (live.nodes.size() > most_live_matrices || count_of_numbers(live.nodes) > most_live_numbers)
    return Still::too_large;
  if (!std::ranges::all_of(live.nodes, has_numbers)) return {};
  constexpr std::size_t most_of_input = 400;
  for (const Node* node : live.nodes) {
    const bool has_table = shown->contains(node);
    const bool is_small_input = is_input(*node) && node->frame.shape.cells() <= most_of_input;
    const bool gets_table =
        !has_table && (shows_results ? is_small_input : std::ranges::count(asked, node) > 0);
    if (gets_table) live.behind.push_back(node);
    if (node->operation && (has_table || gets_table)) live.results.push_back(node);
  }
  const bool has_input = std::ranges::any_of(live.nodes, [](const Node* node) { return is_input(*node); });
  if (live.results.empty() || !has_input) return {};
  return live;
}

}  // namespace attn
