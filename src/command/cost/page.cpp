#include "command/cost/cost.hpp"

namespace attn {

const std::vector<std::string> work_columns = {"multiply-adds", "element-wise", "bytes", "ready after"};

Listing meaning_of_work_columns() {
  return {
      {"column", "what it counts"},
      {{"multiply-adds", "terms of matrix products and of squared distances"},
       {"element-wise", "elements that other operations compute or copy; a softmax counts each three times"},
       {"bytes", "memory of the results if all are kept, 8 bytes per number"},
       {"ready after",
        "sequential operations until the result is ready; more processors cannot reduce them"}}};
}

std::vector<double> numbers(const Work& work) {
  return {static_cast<double>(work.cost.multiply_adds), static_cast<double>(work.cost.element_operations),
          static_cast<double>(work.bytes), static_cast<double>(work.sequential)};
}

}  // namespace attn
