#include "school/browser/computation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include "core/op/operations.hpp"
#include "data/files/fields.hpp"
#include "page/render/width.hpp"
#include "school/browser/browser_document.hpp"

namespace attn {
namespace {

constexpr int digits_compared = 12;

// --- the parts that attention can do without

constexpr double of_first_operand = std::numeric_limits<double>::quiet_NaN();

// A node that belongs to such a part, and the number in all its cells without it, or its first operand.
struct Dispensable {
  std::string_view part;
  const Role& role;
  double instead;
  bool (*where)(const Node& node) = [](const Node&) { return true; };
};

bool is_computed(const Node& node) { return node.op && !node.is_alias(); }
bool is_scaling(const Node& node) { return is_computed(node) && node.find(setting::number); }

constexpr Dispensable dispensables[] = {
    {"scale", role::scaled, of_first_operand, is_scaling},
    {"mask", role::mask, 1.0},
    {"mask", role::local_mask, 1.0},
    {"mask", role::cross_mask, 1.0},
    {"mask", role::bias, 0.0},
    {"mask", role::cross_bias, 0.0},
    {"positions", role::positions, 0.0},
    {"positions", role::relative, 0.0},
    {"positions", role::rotated_q, of_first_operand, is_computed},
    {"positions", role::rotated_k, of_first_operand, is_computed},
};

// What a gradient does on the way back through the scaling is left out with it.
constexpr Dispensable way_back_through_scaling{"scale", role::scores, of_first_operand, is_scaling};

const Dispensable* dispensable(const Node& node) {
  if (node.family == &family::gradient && node.role == &role::scores && is_scaling(node))
    return &way_back_through_scaling;
  for (const Dispensable& row : dispensables) {
    if (node.is(row.role) && row.where(node)) return &row;
  }
  return nullptr;
}

// --- numbers and labels

std::string_view name_of_content(Content content) {
  switch (content) {
    case Content::numbers:
      return "numbers";
    case Content::weights:
      return "weights";
    case Content::permissions:
      return "permissions";
    case Content::ids:
      return "ids";
  }
  return "";
}

double with_digits_compared(double value) {
  return std::isfinite(value) ? std::stod(fmt::format("{:.{}g}", value, digits_compared)) : value;
}

bool has_numbers(const Node& node) { return !node.op || (!node.name.empty() && !node.is_alias()); }

// Each list of labels once. The words that a table of embeddings has are a list of their own, though a sentence may
// have the same: those of a sentence change with its ids.
class LabelLists {
 public:
  explicit LabelLists(std::span<const Node* const> nodes) {
    for (const Node* node : nodes) {
      if (node->op && node->op == &op::embed) tables_.insert(node->operands[1]->frame.rows.labels.get());
    }
  }

  std::size_t index_of_labels(const std::vector<std::string>& labels) {
    List list{tables_.contains(&labels), {}};
    for (const std::string& label : labels) list.second.push_back(printable(label));
    const auto [found, is_new] = places_.emplace(std::move(list), lists_.size());
    if (is_new) lists_.push_back(&found->first.second);
    return found->second;
  }
  const std::vector<const std::vector<std::string>*>& lists() const { return lists_; }

 private:
  using List = std::pair<bool, std::vector<std::string>>;  // whether a table has it, and its labels
  std::set<const std::vector<std::string>*> tables_;
  std::map<List, std::size_t> places_;
  std::vector<const std::vector<std::string>*> lists_;
};

// What nodes are written in: places among them, and the labels that were told of so far.
struct NodesOnPage {
  NodesOnPage(std::span<const Node* const> all, const std::function<bool(const Node& node)>& compared,
              const Calculation& drawings)
      : nodes(all), is_compared(compared), drawn(drawings), labels(all) {
    for (const Node* node : nodes) {
      places.emplace(node, places.size());
      const bool embeds = node->op && node->op == &op::embed;
      if (embeds) tables.emplace(node->operands[0], node->operands[1]);
    }
  }

  std::optional<std::size_t> index_of_labels(const Axis& axis) const {
    return axis.labels ? std::optional(labels.index_of_labels(*axis.labels)) : std::nullopt;
  }

  std::span<const Node* const> nodes;
  const std::function<bool(const Node& node)>& is_compared;
  const Calculation& drawn;
  std::map<const Node*, std::size_t> places;
  std::map<const Node*, const Node*> tables;  // of ids: the embeddings that they choose from
  mutable LabelLists labels;
};

using NamedAttributes =
    std::vector<std::pair<std::string, std::variant<double, std::size_t, std::string, std::vector<double>>>>;

// What the texts of cells read: numbers, each with its notation where it has one, lists and words.
NamedAttributes attributes_of_node(const Node& node) {
  NamedAttributes attributes;
  const auto add = [&]<class T>(std::string_view name, const T& value) {
    if constexpr (std::is_same_v<T, Scalar>) {
      attributes.emplace_back(name, value.value);
      attributes.emplace_back(notation_of_setting(name), value.notation.plain);
    } else if constexpr (std::is_same_v<T, RowPositions>) {
      attributes.emplace_back(name, value.all());
    } else if constexpr (std::is_same_v<T, Distance>) {
      attributes.emplace_back(name, value.parents());
    } else if constexpr (!std::is_same_v<T, Axis> && !std::is_same_v<T, Frame> && !std::is_pointer_v<T>) {
      attributes.emplace_back(name, value);
    }
  };
  for (const OpSetting& setting : node.settings) {
    std::visit([&](const auto& value) { add(setting.name, value); }, setting.value);
  }
  return attributes;
}

std::optional<std::vector<std::size_t>> places_of_operands(const Node& node, const NodesOnPage& page) {
  if (!node.op) return std::nullopt;
  std::vector<std::size_t> places;
  for (const Node* operand : node.operands) places.push_back(page.places.at(operand));
  return places;
}

std::string_view content_to_tell(const Node& node) {
  return node.content() == Content::numbers ? "" : name_of_content(node.content());
}

// Of ids: the list of the words that they choose from.
std::optional<std::size_t> index_of_words(const Node& ids, const NodesOnPage& page) {
  const auto table = page.tables.find(&ids);
  return table == page.tables.end() ? std::nullopt : page.index_of_labels(table->second->frame.rows);
}

// Where a node stands: in a part of the model, a layer where it has layers; there in a scope around all heads; and
// in one of these.
std::string block_of(const Node& node) {
  const NamedScope* const around = attn::around(node.place, scope::head);
  const NamedScope* const layer = attn::within(around, scope::number);
  const NamedScope* const block = layer ? layer : outermost(around);
  return block ? block->prefix : std::string();
}

std::string_view scope_around_heads(const Node& node) {
  const NamedScope* const around = attn::around(node.place, scope::head);
  return around ? std::string_view(around->prefix) : std::string_view();
}

std::optional<std::size_t> head_of_node(const Node& node) {
  const NamedScope* const head = node.within(scope::head);
  return head ? head->number : std::nullopt;
}

// "weights = softmax(scaled)"
std::string formula_on_page(const Node& node) {
  return node.op && !node.name.empty() && !node.is_alias() ? formula_of(node, node.scope()).plain : std::string();
}

bool is_of_gradient_family(const Node& node) { return node.family == &family::gradient; }

bool is_attention(const Node& node) { return node.is(role::weights) && !node.is_alias(); }

std::string_view dispensable_part(const Node& node) {
  const Dispensable* const row = dispensable(node);
  return row ? row->part : "";
}

std::optional<std::variant<std::string_view, double>> instead_of(const Node& node) {
  const Dispensable* const row = dispensable(node);
  if (!row) return std::nullopt;
  if (std::isnan(row->instead)) return "operand";
  return row->instead;
}

// So many numbers of an input are written as people write them, and so many of a result are all compared.
constexpr std::size_t most_as_text = 1000, most_compared = 300;

bool is_compared(const Node& node, const NodesOnPage& page) {
  return node.op && has_numbers(node) && page.is_compared(node);
}

// Of inputs, many as the bytes of doubles, which take less room.
std::optional<std::variant<std::string, std::vector<double>>> numbers_on_page(const Node& node,
                                                                              const NodesOnPage& page) {
  if (node.op ? !is_compared(node, page) : page.drawn.drawing_of(node) != nullptr) return std::nullopt;
  const bool has_many = node.frame.shape.cells() > (node.op ? most_compared : most_as_text);
  if (has_many && node.op) return std::nullopt;
  const auto values = cells(node.matrix());
  if (has_many) return in_base64(std::as_bytes(std::span(values)));
  std::vector<double> numbers(values.begin(), values.end());
  if (node.op) std::ranges::transform(numbers, numbers.begin(), with_digits_compared);
  return numbers;
}

// Of a large result: every so many of its numbers from the first on, and the sum of all that are finite.
struct SomeNumbers {
  std::size_t every;
  std::vector<double> numbers;
  double sum;
};

std::optional<SomeNumbers> some_numbers_of(const Node& node, const NodesOnPage& page) {
  constexpr std::size_t usual_count = 50;
  const std::size_t count = node.frame.shape.cells();
  if (!is_compared(node, page) || count <= most_compared) return std::nullopt;
  SomeNumbers some{.every = (count / usual_count) | 1, .numbers = {}, .sum = 0.0};  // an odd number: of many columns
  const auto values = cells(node.matrix());
  for (std::size_t i = 0; i < count; i += some.every) some.numbers.push_back(with_digits_compared(values[i]));
  for (const double value : values) some.sum += std::isfinite(value) ? value : 0.0;
  some.sum = with_digits_compared(some.sum);
  return some;
}

const DrawnFrom* drawing_of(const Node& node, const NodesOnPage& page) {
  return node.op ? nullptr : page.drawn.drawing_of(node);
}

}  // namespace

template <>
constexpr auto objects_in<NodesOnPage> = std::tuple(
    object<Axis>(Field{"name", &Axis::name},
                 Field{"labels", [](const Axis& axis, const NodesOnPage& page) { return page.index_of_labels(axis); }}),
    object<Node>(
        Field{"title", [](const Node& node) { return node.name.empty() ? std::optional(node.title()) : std::nullopt; }},
        Field{"name", &Node::name, WriteWhen::unless_empty}, Field{"scope", &Node::scope, WriteWhen::unless_empty},
        Field{"block", block_of, WriteWhen::unless_empty}, Field{"around", scope_around_heads, WriteWhen::unless_empty},
        Field{"head", head_of_node}, Field{"gradient", is_of_gradient_family, WriteWhen::unless_empty},
        Field{"formula", formula_on_page, WriteWhen::unless_empty},
        Field{"operation", [](const Node& node) { return node.op ? std::optional(node.op->name) : std::nullopt; }},
        Field{"attributes", attributes_of_node, WriteWhen::unless_empty}, Field{"operands", places_of_operands},
        Field{"origin", [](const Node& node) { return node.op ? "" : node.origin; }, WriteWhen::unless_empty},
        Field{"shape", through(&Node::frame, &Frame::shape)}, Field{"rows", through(&Node::frame, &Frame::rows)},
        Field{"columns", through(&Node::frame, &Frame::columns)},
        Field{"content", content_to_tell, WriteWhen::unless_empty}, Field{"words", index_of_words},
        Field{"sums", &Node::rows_sum_to_one, WriteWhen::unless_empty},
        Field{"masks", &Node::may_be_masked, WriteWhen::unless_empty},
        Field{"attention", is_attention, WriteWhen::unless_empty},
        Field{"part", dispensable_part, WriteWhen::unless_empty}, Field{"instead", instead_of},
        Field{"numbers", numbers_on_page}, Field{"drawn", drawing_of}, Field{"some", some_numbers_of}),
    object<DrawnFrom>(Field{"seed", &DrawnFrom::seed}, Field{"name", &DrawnFrom::name, WriteWhen::unless_empty},
                      Field{"before", &DrawnFrom::before}, Field{"from", &DrawnFrom::from}, Field{"to", &DrawnFrom::to},
                      Field{"labels", &DrawnFrom::labels, WriteWhen::unless_empty},
                      Field{"byColumn", &DrawnFrom::by_column, WriteWhen::unless_empty},
                      Field{"rows", &DrawnFrom::rows, WriteWhen::unless_empty}),
    object<SomeNumbers>(Field{"every", &SomeNumbers::every}, Field{"numbers", &SomeNumbers::numbers},
                        Field{"sum", &SomeNumbers::sum}),
    object<NodesOnPage>(Field{"nodes", &NodesOnPage::nodes},
                        Field{"labels", [](const NodesOnPage& page) { return page.labels.lists(); }}));

void write_computation(const Graph& graph, JsonWriter& json, const Calculation& drawn) {
  std::vector<const Node*> nodes;
  for (const Node& node : graph.nodes()) nodes.push_back(&node);
  const std::function<bool(const Node& node)> all_are = [](const Node&) { return true; };
  const NodesOnPage page(nodes, all_are, drawn);
  write_value(page, page, json);
}

void write_computation(std::span<const Node* const> nodes, const std::function<bool(const Node& node)>& is_compared,
                       JsonWriter& json) {
  const Calculation nothing_is_drawn;
  const NodesOnPage page(nodes, is_compared, nothing_is_drawn);
  write_value(page, page, json);
}

std::vector<const Node*> with_all_behind(std::span<const Node* const> nodes) {
  const auto by_index = [](const Node* a, const Node* b) { return a->index < b->index; };
  std::set<const Node*, decltype(by_index)> all(by_index);
  std::vector<const Node*> open(nodes.begin(), nodes.end());
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    if (all.insert(node).second) open.insert(open.end(), node->operands.begin(), node->operands.end());
  }
  return {all.begin(), all.end()};
}

std::size_t numbers_written(const Graph& graph) {
  std::size_t count = 0;
  for (const Node& node : graph.nodes()) {
    if (has_numbers(node)) count += node.frame.shape.cells();
  }
  return count;
}

}  // namespace attn
