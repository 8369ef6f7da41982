#include "tell/outline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "graph/cost.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

// A node, or a scope with all that lies within.
struct Branch {
  std::string name;
  std::string shape = {};  // empty: a scope
  std::uint64_t multiply_adds = 0;
  std::vector<Branch> within = {};
  std::map<std::string, std::size_t, std::less<>> places = {};  // within it, by name

  bool is_number() const {
    return std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
  }
  // Whether another branch differs in nothing but its name.
  bool is_like(const Branch& other) const {
    return shape == other.shape && multiply_adds == other.multiply_adds &&
           std::ranges::equal(within, other.within, [](const Branch& a, const Branch& b) {
             return a.name == b.name && a.is_like(b);
           });
  }
};

// "encoder.1.sum_1" becomes a branch within a branch within a branch; each counts what it costs.
Branch& grown(Branch& root, std::string_view name, std::uint64_t multiply_adds) {
  Branch* branch = &root;
  while (true) {
    branch->multiply_adds += multiply_adds;
    if (name.empty()) return *branch;
    const std::string_view first = name.substr(0, name.find('.'));
    name.remove_prefix(std::min(name.size(), first.size() + 1));
    const auto [place, is_new] = branch->places.emplace(first, branch->within.size());
    if (is_new) branch->within.push_back({std::string(first)});
    branch = &branch->within[place->second];
  }
}

void add_rows(Listing& listing, const Branch& parent, std::size_t depth) {
  const std::string indent(2 * depth, ' ');
  for (auto branch = parent.within.begin(); branch != parent.within.end(); ++branch) {
    auto last = branch;
    while (branch->is_number() && last + 1 != parent.within.end() && last[1].is_number() &&
           last[1].is_like(*branch)) {
      ++last;
    }
    listing.rows.push_back({indent + branch->name, branch->shape,
                            branch->multiply_adds ? with_commas(branch->multiply_adds) : ""});
    add_rows(listing, *branch, depth + 1);
    if (last == branch) continue;
    const std::string others = last == branch + 1 ? last->name : branch[1].name + " … " + last->name;
    listing.rows.push_back({indent + others + ": as " + branch->name, "", ""});
    branch = last;
  }
}

}  // namespace

void add_outline(Page& page, const Graph& graph, const std::vector<const Node*>& nodes) {
  Branch root;
  Cost pending, total;
  const std::set<const Node*> wanted(nodes.begin(), nodes.end());
  for (const Node& node : graph.nodes()) {
    pending += cost_of(node);
    if (node.name.empty()) continue;  // what it costs is counted where it is used
    const Cost cost = std::exchange(pending, {});
    if (wanted.contains(&node)) {
      total += cost;
      grown(root, node.name, cost.multiply_adds).shape = to_string(node.frame.shape);
    }
  }
  Listing listing{{"matrix", "shape", "multiply-adds"}, {}};
  add_rows(listing, root, 0);
  page.blocks.emplace_back(Prose{
      text("Each line: a matrix, its shape, and the multiply-adds of its matrix products. A group shows the "
           "sum of its parts.")});
  page.blocks.emplace_back(std::move(listing));
  page.blocks.emplace_back(
      Prose{text(fmt::format("Total: {} multiply-adds of matrix products and {} element-wise operations.",
                             with_commas(total.multiply_adds), with_commas(total.element_operations)))});
}

}  // namespace attn
