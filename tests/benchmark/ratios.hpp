#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace attn {

/// Seconds of a clock that only goes forward.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Gathers the runs while they are printed as usual, and at the end prints a table of medians and their
/// ratios. Benchmarks are called WHAT/WHO/SIZE; the table compares each WHAT/attn with the other WHOs of the
/// same size.
class RatioReporter : public benchmark::ConsoleReporter {
 public:
  RatioReporter() : ConsoleReporter(OO_None) {}
  void ReportRuns(const std::vector<Run>& runs) override;
  void print_table() const;

 private:
  double median(const std::string& name) const;
  // Over the repetitions, the first with the first and so on.
  double largest_ratio(const std::string& own, const std::string& other) const;
  std::map<std::string, std::vector<double>> seconds_;
};

}  // namespace attn
