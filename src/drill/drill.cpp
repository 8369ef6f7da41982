#include "drill/drill.hpp"

#include <vector>

namespace attn {

std::span<const Drill> drills() {
  static const std::vector<Drill> all = [] {
    std::vector<Drill> rows;
    for (const auto& subject : {drills_of_scores(), drills_of_weights(), drills_of_shapes(),
                                drills_of_layers(), drills_of_training()})
      rows.insert(rows.end(), subject.begin(), subject.end());
    return rows;
  }();
  return all;
}

}  // namespace attn
