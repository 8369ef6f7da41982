#include "ratios.hpp"

#include <fmt/format.h>

#include <algorithm>
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

}  // namespace

void RatioReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
    const std::string name =
        run.run_name.function_name + (run.run_name.args.empty() ? "" : "/") + run.run_name.args;
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

void RatioReporter::print_table() const {
  struct Comparison {
    std::string what, peer;
    int size;
    double own, other;
  };
  std::vector<Comparison> comparisons;
  for (const auto& [name, seconds] : seconds_) {
    const Parts parts = parts_of(name);
    if (parts.who == "attn" || parts.what == "write") continue;
    const std::string own = parts.what + "/attn" + (parts.size.empty() ? "" : "/" + parts.size);
    if (!seconds_.contains(own)) continue;
    comparisons.push_back(
        {parts.what, parts.who, parts.size.empty() ? 0 : std::stoi(parts.size), median(own), median(name)});
  }
  std::ranges::sort(comparisons, [](const Comparison& a, const Comparison& b) {
    return std::tie(a.what, a.peer, a.size) < std::tie(b.what, b.peer, b.size);
  });
  fmt::print("\n| work | attn, ms | peer | peer, ms | ratio |\n| :--- | ---: | :--- | ---: | ---: |\n");
  for (const Comparison& c : comparisons) {
    fmt::print("| {}{} | {:.2f} | {} | {:.2f} | {:.2f} |\n", c.what,
               c.size ? fmt::format(", n = {}", c.size) : "", c.own * 1e3, c.peer, c.other * 1e3,
               c.own / c.other);
  }
  fmt::print("\n| writing | ns a cell |\n| :--- | ---: |\n");
  constexpr double cells = 2048.0 * 2048.0;
  for (const auto& [name, seconds] : seconds_) {
    if (name.starts_with("write/"))
      fmt::print("| {} | {:.1f} |\n", name.substr(6), median(name) * 1e9 / cells);
  }
}

}  // namespace attn
