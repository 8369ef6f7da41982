// How long the definition of an operation takes, for one that its kernel takes: what a kernel is there for. Usage:
// attn_benchmark_definitions

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "../operation_samples.hpp"
#include "ratios.hpp"

namespace attn {
namespace {

constexpr std::array sizes = {std::size_t{8}, std::size_t{64}, std::size_t{512}};

// The shortest of several runs, each of which takes a millisecond or more.
double seconds_of(Compute compute, const Use& use, Operands operands, RowsToMake result) {
  constexpr double least = 1e-3;
  double shortest = 1e9;
  for (int run = 0; run < 7; ++run) {
    int times = 0;
    const double begin = now();
    double end = begin;
    for (; end - begin < least; ++times, end = now()) compute(use, operands, result);
    shortest = std::min(shortest, (end - begin) / times);
  }
  return shortest;
}

std::string ratio_of(const OperationSample& sample, std::size_t size) {
  Graph graph;
  Samples from(graph, {size, size <= 64 ? size : 16, size});
  const Value value = sample.apply(from);
  const Node& node = value.node();
  std::vector<Rows> operands;
  for (const Node* operand : node.operands) operands.push_back(rows_of(operand->matrix()));
  Matrix result(value.shape());
  const double own = seconds_of(node.op->compute, node.use(), operands, rows_to_make(result));
  return fmt::format("{:.2g}",
                     seconds_of(node.op->definition.compute, node.use(), operands, rows_to_make(result)) / own);
}

void print_ratios() {
  fmt::print("| operation | n = {} | n = {} | n = {} |\n| :--- | ---: | ---: | ---: |\n", sizes[0], sizes[1], sizes[2]);
  std::set<std::string_view> known;
  for (const OperationSample& sample : operation_samples()) {
    if (!known.insert(sample.name).second) continue;
    Graph graph;
    Samples from(graph);
    if (!sample.apply(from).node().op->compute) continue;
    fmt::print("| {} | {} | {} | {} |\n", sample.name, ratio_of(sample, sizes[0]), ratio_of(sample, sizes[1]),
               ratio_of(sample, sizes[2]));
  }
}

}  // namespace
}  // namespace attn

int main() { attn::print_ratios(); }
