#include "tell/product.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/address.hpp"
#include "op/operations.hpp"
#include "support/error.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

std::string_view name_in(std::string_view address) {
  return address.substr(0, address.find('['));
}

[[noreturn]] void refuse(const Node& node, const Graph& graph) {
  std::string others;
  for (const Node& other : graph.nodes()) {
    constexpr std::size_t most = 60;
    if (other.name.empty() || other.is_alias() || !product_behind(other)) continue;
    if (others.size() > most) {
      others += ", …";
      break;
    }
    others += (others.empty() ? "" : ", ") + other.name;
  }
  if (others.empty()) fail("{} is not a matrix product, and there is none here", node.name);
  fail("{} is not a matrix product. Choose one of: {}", node.name, others);
}

// A matrix as a part of a product, where nobody needs the sums of its rows.
Table factor(const Node& node, std::string_view scope) {
  Table table = table_of(node);
  if (!node.name.empty()) table.title = node.name_within(scope);
  table.row_sums = false;
  table.told.clear();
  return table;
}

// The right factor, as it stands in the product: the keys of q ⋅ kᵀ transposed.
Table right_factor(const Product& product, std::string_view scope) {
  Table table = factor(product.right(), scope);
  if (!is_matmul_transposed(*product.product->operation)) return table;
  table.title += "ᵀ";
  table.array.clear();
  std::swap(table.rows, table.columns);
  table.cells = std::make_shared<const Matrix>(transposed(*table.cells));
  if (table.scores) table.scores = std::make_shared<const Matrix>(transposed(*table.scores));
  return table;
}

}  // namespace

std::optional<Product> product_behind(const Node& node) {
  const auto is_product = [](const Node& one) {
    return one.operation && (is_matmul(*one.operation) || is_matmul_transposed(*one.operation));
  };
  const Node& source = node.original();
  if (is_product(source)) return Product{&node, &source};
  for (const Node* operand : source.operands) {
    if (operand->name.empty() && is_product(*operand)) return Product{&node, operand};
  }
  return std::nullopt;
}

Product find_product(const Graph& graph, std::string_view address) {
  const std::vector<const Node*> nodes = graph.matching(name_in(address));
  if (nodes.size() > 1) {
    fail("'{}' can mean {} or {}: give the whole name", name_in(address), nodes[0]->name, nodes[1]->name);
  }
  const std::optional<Product> product = product_behind(*nodes.front());
  if (!product) refuse(*nodes.front(), graph);
  return *product;
}

void add_product(Page& page, const Graph& graph, const std::string& address) {
  const Product product = find_product(graph, address);
  std::optional<Cell> cell;
  if (address.size() > name_in(address).size()) cell = find_cell(graph, address);
  const Node& named = *product.named;
  for (const Node* node : {&product.left(), &product.right(), product.named}) {
    if (!node->name.empty() && !page.trace.find(node->name)) page.trace.add(*node);
  }
  const bool is_short = named.name_within(named.scope()) != named.name;
  const std::string_view scope = is_short ? named.scope() : "";
  page.head(1, "The product " + named.name);
  if (is_short) add_short_names(page, named);
  page.say(formula_block(named, scope));
  ProductBlock block{factor(product.left(), scope), right_factor(product, scope),
                     factor(*product.product, scope)};
  const bool is_part = &named.original() != product.product;
  if (!is_part) block.result = factor(named, scope);
  if (cell) {
    block.left.marked_row = block.result.marked_row = cell->row;
    block.right.marked_column = block.result.marked_column = cell->column;
  }
  const std::string left = block.left.title, right = block.right.title, result = block.result.title;
  page.say(std::move(block));
  if (is_part)
    page.say(
        fmt::format("The rest of the formula is added to this product: {}.", formula_of(named, scope).plain));
  if (!cell) {
    page.say(fmt::format(
        "Each cell of {} is made of its row of {} and its column of {}: number times number, and the sum.",
        result, left, right));
    return;
  }
  page.say(text("The cell ", strong(product.product->frame.rows.label(cell->row)), ", ",
                strong(product.product->frame.columns.label(cell->column)), " is made of that row of ",
                code(left), " and that column of ", code(right), ":"));
  page.say(derivation(*cell, 0, scope));
}

}  // namespace attn
