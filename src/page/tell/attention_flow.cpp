#include "page/tell/attention_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/graph/find.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

// --- picture

// A matrix that has a box of its own, and what stands in it.
struct BoxOf {
  const Role& role;
  std::string_view title;
  bool is_cut = false;  // every head has its own columns of it
};

constexpr BoxOf boxes[] = {{role::x, "x"},
                           {role::positioned, "x + positions"},
                           {role::memory, "memory"},
                           {role::q, "q", true},
                           {role::k, "k", true},
                           {role::v, "v", true},
                           {role::scores, "scores"},
                           {role::weights, "weights"},
                           {role::concat, "concat"},
                           {role::output, "output"},
                           {role::feed_forward, "feed-forward"}};

const BoxOf* box_of(const Node& node) {
  const auto found = std::ranges::find_if(boxes, [&](const BoxOf& box) { return node.is(box.role); });
  return node.is_alias() || found == std::end(boxes) ? nullptr : found;
}

// Whether it is not one of the first head, the first layer or the first sentence; the averaging of layers is
// another computation.
bool is_elsewhere(const NamedScope* place) {
  for (const ScopeKind* kind : {&scope::head, &scope::layer, &scope::sentence}) {
    if (!place || !place->is(*kind)) continue;
    if (place->number != 1) return true;
    place = place->outer;
  }
  return place != nullptr;
}

class PictureOfProblem {
 public:
  explicit PictureOfProblem(const Problem& problem) : problem_(problem) {}

  Flow of(const Graph& graph) {
    for (const Node& node : graph.nodes()) {
      if (has_box(node)) add(node);
    }
    if (problem_.layers > 1 && !flow_.boxes.empty()) add_layers_above();
    return std::move(flow_);
  }

 private:
  bool has_box(const Node& node) const {
    const BoxOf* const box = box_of(node);
    return box && !is_elsewhere(node.place) && (node.within(scope::head) || !is_cut_for_heads(*box));
  }

  bool is_cut_for_heads(const BoxOf& box) const { return problem_.heads > 1 && box.is_cut; }

  static bool is_of_another_head(const Node& node) {
    const NamedScope* const head = node.within(scope::head);
    return head && head->number != 1;
  }

  void add(const Node& node) {
    std::string title(box_of(node)->title);
    if (node.within(scope::head)) title += fmt::format(" × {} heads", problem_.heads);
    std::set<const Node*> seen;
    std::vector<std::size_t> from;
    find_sources(node, seen, from);
    std::ranges::sort(from);
    places_[&node] = flow_.boxes.size();
    flow_.boxes.push_back({std::move(title), to_string(node.frame.shape), std::move(from)});
  }

  // The boxes that lead to a node, whatever lies between. The first head's stand for those of all.
  void find_sources(const Node& node, std::set<const Node*>& seen, std::vector<std::size_t>& from) const {
    for (const Node* operand : node.operands) {
      if (!seen.insert(operand).second || is_of_another_head(*operand)) continue;
      if (const auto found = places_.find(operand); found != places_.end()) {
        from.push_back(found->second);
      } else {
        find_sources(*operand, seen, from);
      }
    }
  }

  void add_layers_above() {
    const std::string layers = problem_.layers == 2 ? "layer 2" : fmt::format("layers 2 to {}", problem_.layers);
    flow_.boxes.push_back({layers + ": the same again", flow_.boxes.back().detail, {flow_.boxes.size() - 1}});
  }

  const Problem& problem_;
  Flow flow_;
  std::map<const Node*, std::size_t> places_;
};

// --- product

std::string_view name_in(std::string_view address) { return address.substr(0, address.find('[')); }

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
  if (product.product->op != &op::matmul_transposed) return table;
  const Formula name = symbol(name_from_text(table.title));
  table.title += "ᵀ";
  table.symbol = {table.title, "{" + name.latex + "}^{\\top}"};
  table.array.clear();
  std::swap(table.rows, table.columns);
  table.cells = std::make_shared<const Matrix>(transposed(*table.cells));
  if (table.scores) table.scores = std::make_shared<const Matrix>(transposed(*table.scores));
  return table;
}

}  // namespace

// --- picture

Flow attention_flow(const Graph& graph, const Problem& problem) { return PictureOfProblem(problem).of(graph); }

// --- product

std::optional<Product> product_behind(const Node& node) {
  const auto is_product = [](const Node& one) {
    return one.op && (one.op == &op::matmul || one.op == &op::matmul_transposed);
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
  ProductBlock block{factor(product.left(), scope), right_factor(product, scope), factor(*product.product, scope)};
  const bool is_part = &named.original() != product.product;
  if (!is_part) block.result = factor(named, scope);
  if (cell) {
    block.left.told = {{.row = cell->row, .is_marked = true}};
    block.right.told = {{.column = cell->column, .is_marked = true}};
    block.result.told = {{cell->row, cell->column, true}};
  }
  const std::string left = block.left.title, right = block.right.title, result = block.result.title;
  page.say(std::move(block));
  if (is_part)
    page.say(fmt::format("The rest of the formula is added to this product: {}.", formula_of(named, scope).plain));
  if (!cell) {
    page.say(
        fmt::format("Each cell of {} is made of its row of {} and its column of {}: number times number, and the sum.",
                    result, left, right));
    return;
  }
  page.say(text("The cell ", strong(product.product->frame.rows.label(cell->row)), ", ",
                strong(product.product->frame.columns.label(cell->column)), " is made of that row of ", code(left),
                " and that column of ", code(right), ":"));
  page.say(derivation(*cell, 0, scope));
}

}  // namespace attn
