#include "command/quantity_page.hpp"

#include <algorithm>

namespace attn {

QuantityPage::QuantityPage() : tables_(std::make_shared<Graph>()) {}

void QuantityPage::table(std::string_view name, const std::vector<std::string>& columns,
                         const QuantityRows& rows) {
  Matrix cells({rows.size(), columns.size()});
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    labels.push_back(rows[i].first);
    std::ranges::copy(rows[i].second, row(cells, i).begin());
  }
  // Quantities of several kinds: no matrix of attention, whatever the table is called.
  const Name read = called(name);
  const Value table = tables_->input(Name(read.scopes(), {role::other, read.leaf()}), std::move(cells),
                                     axis("what", labels), axis("quantity", columns));
  const Node& node = table.node();
  page_.trace.add(node);
  say(Table{.title = node.name,
            .rows = node.frame.rows,
            .columns = node.frame.columns,
            .cells = node.cells(),
            .columns_differ = true});
}

void QuantityPage::matrix(std::string_view name, Matrix cells, const Axis& rows, const Axis& columns,
                          Heat heat) {
  const Value table = tables_->input(called(name), std::move(cells), rows, columns);
  const Node& node = table.node();
  page_.trace.add(node);
  say(Table{.title = node.name,
            .array = node.name,
            .rows = node.frame.rows,
            .columns = node.frame.columns,
            .cells = node.cells(),
            .heat = heat});
}

}  // namespace attn
