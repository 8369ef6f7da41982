#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"
#include "data/problem/problem.hpp"
#include "page/block/page.hpp"

namespace attn {

/// One picture of an attention: a box for each of its main matrices with its shape, and arrows as they were
/// computed from each other. Heads that do the same are one box, and so are the layers above the first.
Flow attention_flow(const Graph& graph, const Problem& problem);

/// A matrix product behind a named matrix: the matrix itself, or what a bias is added to.
struct Product {
  const Node* named;
  const Node* product;

  const Node& left() const { return *product->operands[0]; }
  const Node& right() const { return *product->operands[1]; }
};

/// The product behind a node, or nothing. It follows from the operation.
std::optional<Product> product_behind(const Node& node);

/// The product that `address` chooses: `scores`, or with a cell `scores[it,animal]`. Throws InputError: no
/// such matrix, or it is no product.
Product find_product(const Graph& graph, std::string_view address);

/// Adds the product as people draw it; of a chosen cell the row and the column that it is made of, and how it
/// came about. Throws InputError without such a cell.
void add_product(Page& page, const Graph& graph, const std::string& address);

}  // namespace attn
