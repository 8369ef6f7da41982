#include "mistake/telling_apart.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "attention/watches.hpp"
#include "mistake/rewriting.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

// Two results of which a reader who prints 3 decimals sees that they differ.
bool look_equal(const Matrix& a, const Matrix& b) {
  constexpr double seen = 1e-3;
  return a.shape() == b.shape() && std::ranges::equal(cells(a), cells(b), [](double x, double y) {
           return x == y || std::fabs(x - y) < seen || (std::isnan(x) && std::isnan(y));
         });
}

using Results = std::vector<std::shared_ptr<const Matrix>>;

}  // namespace

std::vector<std::size_t> told_apart(const Graph& graph, std::span<const Mistake* const> mistakes,
                                    std::span<const Role* const> roles) {
  std::vector<const Node*> nodes;
  for (const Node* node : graph.named()) {
    if (node->operation && std::ranges::find(roles, node->role) != roles.end()) nodes.push_back(node);
  }
  compute(graph, nodes);
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
    const auto same = [&](const Results& other) {
      return std::ranges::equal(results, other,
                                [](const auto& a, const auto& b) { return look_equal(*a, *b); });
    };
    const auto found = std::ranges::find_if(different, same);
    numbers.push_back(static_cast<std::size_t>(found - different.begin()));
    if (found == different.end()) different.push_back(std::move(results));
  }
  return numbers;
}

}  // namespace attn
