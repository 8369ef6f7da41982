#include "ratios.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn {

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
  fmt::print("\n| work | attn, ms | peer | peer, ms | ratio |\n| :--- | ---: | :--- | ---: | ---: |\n");
  const std::string own = "/attn";
  for (const auto& [name, seconds] : seconds_) {
    const std::size_t at = name.find(own);
    if (at == std::string::npos) continue;
    const std::string what = name.substr(0, at), size = name.substr(at + own.size());
    for (const auto& [other, ignored] : seconds_) {
      const bool same = other.starts_with(what + "/") && other.ends_with(size) && other != name;
      const std::size_t end = other.size() - size.size();
      if (!same || other.substr(what.size() + 1, end - what.size() - 1).find('/') != std::string::npos)
        continue;
      const std::string peer = other.substr(what.size() + 1, end - what.size() - 1);
      fmt::print("| {}{} | {:.2f} | {} | {:.2f} | {:.2f} |\n", what,
                 size.empty() ? "" : ", n = " + size.substr(1), median(name) * 1e3, peer, median(other) * 1e3,
                 median(name) / median(other));
    }
  }
  fmt::print("\n| writing | ns a cell |\n| :--- | ---: |\n");
  constexpr double cells = 2048.0 * 2048.0;
  for (const auto& [name, seconds] : seconds_) {
    if (name.starts_with("write/"))
      fmt::print("| {} | {:.0f} |\n", name.substr(6), median(name) * 1e9 / cells);
  }
}

}  // namespace attn
