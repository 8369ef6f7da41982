#include "school/check/findings.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/attention/watches.hpp"
#include "core/support/error.hpp"

namespace attn {

namespace {

// Whether one of them, rounded like this, may be taken for the other: rounding moves a number by as much as what is
// rounded so may be from the right one. A reader who prints 3 decimals is to see that they differ.
bool look_equal(const Matrix& a, const Matrix& b, const Rounding& rounding) {
  constexpr double seen = 1e-3;
  const double largest = std::max(largest_of(a), largest_of(b));
  return a.shape() == b.shape() && std::ranges::equal(cells(a), cells(b), [&](double x, double y) {
           if (x == y || (std::isnan(x) && std::isnan(y))) return true;
           const double most = std::max(rounding.most_apart(x, y, largest), rounding.most_apart(y, x, largest));
           return std::fabs(x - y) < std::max(seen, 2.0 * most);
         });
}

using Results = std::vector<std::shared_ptr<const Matrix>>;

}  // namespace

std::vector<std::size_t> mistake_groups(const Graph& graph, std::span<const Mistake* const> mistakes,
                                        std::span<const ComparedMatrix> compared) {
  const auto has_role_of = [](const Node& node) {
    return [&node](const ComparedMatrix& one) { return one.node->role == node.role; };
  };
  std::vector<const Node*> nodes;
  for (const Node* node : graph.named()) {
    if (node->op && std::ranges::any_of(compared, has_role_of(*node))) nodes.push_back(node);
  }
  compute_watched(graph, nodes);
  const auto right = [&] {
    Results results;
    for (const Node* node : nodes) results.push_back(node->cells());
    return results;
  };
  const auto with = [&](const Mistake& mistake) {
    try {
      Rewriting again(graph, mistake);
      Results results;
      for (const Node* node : nodes) results.push_back(again.of(*node).node().cells());
      return results;
    } catch (const InputError&) {
      return right();
    }
  };
  std::vector<Results> different;
  std::vector<std::size_t> numbers;
  for (const Mistake* mistake : mistakes) {
    Results results = mistake ? with(*mistake) : right();
    const auto look_equal_at = [&](const Results& other, std::size_t i) {
      const auto has_role = has_role_of(*nodes[i]);
      return std::ranges::any_of(compared, [&](const ComparedMatrix& one) {
        return has_role(one) && look_equal(*results[i], *other[i], one.rounding);
      });
    };
    const auto same = [&](const Results& other) {
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!look_equal_at(other, i)) return false;
      }
      return true;
    };
    const auto found = std::ranges::find_if(different, same);
    numbers.push_back(static_cast<std::size_t>(found - different.begin()));
    if (found == different.end()) different.push_back(std::move(results));
  }
  return numbers;
}

}  // namespace attn
