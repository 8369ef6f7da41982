#include "ratios.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

namespace attn {
namespace {

// WHAT/WHO/SIZE, the size perhaps empty.
struct Parts {
  std::string what, who, size;
};

Parts parts_of(const std::string& name) {
  const std::size_t first = name.find('/');
  const std::size_t second = std::min(name.find('/', first + 1), name.size());
  return {name.substr(0, first), name.substr(first + 1, second - first - 1),
          second == name.size() ? "" : name.substr(second + 1)};
}

// What a ratio should not exceed, from a size on.
struct Goal {
  std::string_view what, peer;
  int least_size;
  double ratio;
};
constexpr Goal goals[] = {{"attention", "products", 512, 1.2},
                          {"decoding", "torch", 0, 0.25},
                          {"training", "torch", 0, 0.6},
                          {"transformer", "torch", 0, 0.9}};

}  // namespace

void RatioReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
    const std::string name = run.run_name.function_name + (run.run_name.args.empty() ? "" : "/") + run.run_name.args;
    seconds_[name].push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
  }
  ConsoleReporter::ReportRuns(runs);
}

double RatioReporter::median(const std::string& name) const {
  std::vector<double> sorted = seconds_.at(name);
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0;
}

double RatioReporter::largest_ratio(const std::string& own, const std::string& other) const {
  const std::vector<double>&a = seconds_.at(own), &b = seconds_.at(other);
  double largest = 0.0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, a[i] / b[i]);
  return largest;
}

void RatioReporter::print_table() const {
  struct Comparison {
    std::string what, peer;
    int size;
    double own, other, largest;
  };
  std::vector<Comparison> comparisons;
  for (const auto& [name, seconds] : seconds_) {
    const Parts parts = parts_of(name);
    if (parts.who == "attn" || parts.what == "write") continue;
    const std::string own = parts.what + "/attn" + (parts.size.empty() ? "" : "/" + parts.size);
    if (!seconds_.contains(own)) continue;
    comparisons.push_back({.what = parts.what,
                           .peer = parts.who,
                           .size = parts.size.empty() ? 0 : std::stoi(parts.size),
                           .own = median(own),
                           .other = median(name),
                           .largest = largest_ratio(own, name)});
  }
  std::ranges::sort(comparisons, [](const Comparison& a, const Comparison& b) {
    return std::tie(a.what, a.peer, a.size) < std::tie(b.what, b.peer, b.size);
  });
  fmt::print(
      "\n| work | attn, ms | peer | peer, ms | ratio | largest | goal |\n"
      "| :--- | ---: | :--- | ---: | ---: | ---: | ---: |\n");
  for (const Comparison& c : comparisons) {
    const auto goal = std::ranges::find_if(
        goals, [&](const Goal& g) { return g.what == c.what && g.peer == c.peer && c.size >= g.least_size; });
    fmt::print("| {}{} | {:.2f} | {} | {:.2f} | {:.2f} | {:.2f} | {} |\n", c.what,
               c.size ? fmt::format(", n = {}", c.size) : "", c.own * 1e3, c.peer, c.other * 1e3, c.own / c.other,
               c.largest, goal == std::end(goals) ? "" : fmt::format("≤ {:g}", goal->ratio));
  }
  fmt::print("\n| writing | ns per cell |\n| :--- | ---: |\n");
  constexpr double cells = 2048.0 * 2048.0;
  for (const auto& [name, seconds] : seconds_) {
    if (name.starts_with("write/")) fmt::print("| {} | {:.1f} |\n", name.substr(6), median(name) * 1e9 / cells);
  }
}

}  // namespace attn
