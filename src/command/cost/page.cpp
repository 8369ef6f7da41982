#include <algorithm>

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

CostPage::CostPage() : tables_(std::make_shared<Graph>()) {}

void CostPage::table(std::string_view name, const std::vector<std::string>& columns,
                     const QuantityRows& rows) {
  Matrix cells({rows.size(), columns.size()});
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    labels.push_back(rows[i].first);
    std::ranges::copy(rows[i].second, row(cells, i).begin());
  }
  const Value table =
      tables_->input(called(name), std::move(cells), axis("what", labels), axis("quantity", columns));
  const Node& node = table.node();
  page_.trace.add(node);
  say(Table{.title = node.name,
            .rows = node.frame.rows,
            .columns = node.frame.columns,
            .cells = node.cells(),
            .columns_differ = true});
}

}  // namespace attn
