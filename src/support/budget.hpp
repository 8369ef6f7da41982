#pragma once

#include <cstdint>
#include <string_view>

namespace attn {

/// What commands may take that somebody else has written down. It is counted
/// and never measured, so that every machine gives the same verdict.
struct Allowance {
  std::string_view whose;  // "a block"
  std::uint64_t work;      // multiply-adds, and all else in the time that these take
  std::uint64_t cells;     // of all matrices at the same time
  std::uint64_t output;    // bytes
};

/// While it lives, what is computed, read and printed is counted against its
/// allowance, and against those of the budgets around it. Without a budget,
/// nothing is counted. The functions throw InputError where it is more than is
/// allowed.
class Budget {
 public:
  explicit Budget(const Allowance& allowance);
  ~Budget();
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  static void take_work(std::uint64_t work);
  static void take_output(std::uint64_t bytes);
  /// What is about to be taken.
  static void require_work(std::uint64_t work);
  static void require_cells(std::uint64_t cells);

 private:
  Allowance allowance_;
  std::uint64_t work_ = 0, output_ = 0;  // that were taken
  Budget* around_;
};

}  // namespace attn
