#include "school/browser/computation.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/op/operations.hpp"
#include "page/render/width.hpp"
#include "school/browser/document.hpp"

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
    {"mask", role::cross_mask, 1.0},
    {"mask", role::bias, 0.0},
    {"mask", role::cross_bias, 0.0},
    {"positions", role::positions, 0.0},
    {"positions", role::relative, 0.0},
    {"positions", role::rotated_q, of_first_operand, is_computed},
    {"positions", role::rotated_k, of_first_operand, is_computed},
};

const Dispensable* dispensable(const Node& node) {
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

class ComputationWriter {
 public:
  ComputationWriter(std::span<const Node* const> nodes, const std::function<bool(const Node& node)>& is_compared,
                    JsonWriter& json)
      : nodes_(nodes), is_compared_(is_compared), json_(json), labels_(nodes) {
    for (const Node* node : nodes_) {
      places_.emplace(node, places_.size());
      const bool embeds = node->op && node->op == &op::embed;
      if (embeds) tables_.emplace(node->operands[0], node->operands[1]);
    }
  }

  void write() {
    json_.begin_object();
    json_.key("nodes");
    json_.begin_array();
    for (const Node* node : nodes_) write(*node);
    json_.end_array();
    json_.key("labels");
    json_.begin_array();
    for (const auto* labels : labels_.lists()) json_.strings(*labels);
    json_.end_array();
    json_.end_object();
  }

 private:
  void write(const Node& node) {
    json_.begin_object();
    if (node.name.empty()) {
      member("title", node.title());
    } else {
      member("name", node.name);
    }
    if (!node.scope().empty()) member("scope", node.scope());
    if (node.op) {
      member("operation", node.op->name);
      write_attributes(node.settings);
      json_.key("operands");
      json_.begin_array();
      for (const Node* operand : node.operands) json_.integer(places_.at(operand));
      json_.end_array();
    } else if (!node.origin.empty()) {
      member("origin", node.origin);
    }
    json_.key("shape");
    json_.begin_array();
    json_.integer(node.frame.shape.rows);
    json_.integer(node.frame.shape.columns);
    json_.end_array();
    write("rows", node.frame.rows);
    write("columns", node.frame.columns);
    if (node.content() != Content::numbers) member("content", name_of_content(node.content()));
    write_words(node);
    if (node.rows_sum_to_one()) json_.key("sums"), json_.boolean(true);
    if (node.is(role::weights) && !node.is_alias()) write_attention(node);
    if (const Dispensable* row = dispensable(node)) write(*row);
    if (has_numbers(node) && (!node.op || is_compared_(node))) write_numbers(node);
    json_.end_object();
  }

  void member(std::string_view name, std::string_view value) {
    json_.key(name);
    json_.string(value);
  }

  void write(std::string_view name, const Axis& axis) {
    json_.key(name);
    json_.begin_object();
    member("name", axis.name);
    if (axis.labels) json_.key("labels"), json_.integer(labels_.index_of_labels(*axis.labels));
    json_.end_object();
  }

  // Of ids: the list of the words that they choose from.
  void write_words(const Node& ids) {
    const auto table = tables_.find(&ids);
    if (table == tables_.end() || !table->second->frame.rows.labels) return;
    json_.key("words");
    json_.integer(labels_.index_of_labels(*table->second->frame.rows.labels));
  }

  // Whose weights they are: of an attention, which has a scope, and there of one of its heads.
  void write_attention(const Node& weights) {
    const NamedScope* const head = weights.within(scope::head);
    const NamedScope* const around = attn::around(weights.place, scope::head);
    json_.key("attention");
    json_.begin_object();
    member("scope", around ? std::string_view(around->prefix) : std::string_view());
    if (head && head->number) json_.key("head"), json_.integer(*head->number);
    json_.end_object();
  }

  // What the texts of cells read: numbers, lists and words.
  void write_attributes(const OpSettings& settings) {
    if (settings.size() == 0) return;
    json_.key("attributes");
    json_.begin_object();
    for (const OpSetting& setting : settings) {
      std::visit([&](const auto& value) { write_value(setting.name, value); }, setting.value);
    }
    json_.end_object();
  }

  void write_value(std::string_view name, double value) { json_.key(name), json_.number(value); }
  void write_value(std::string_view name, std::size_t value) { json_.key(name), json_.integer(value); }
  void write_value(std::string_view name, const std::string& value) { member(name, value); }
  void write_value(std::string_view name, const Scalar& value) {
    write_value(name, value.value);
    member(notation_of_setting(name), value.notation.plain);
  }
  void write_value(std::string_view name, const std::vector<double>& values) {
    json_.key(name);
    json_.begin_array();
    for (const double value : values) json_.number(value);
    json_.end_array();
  }
  void write_value(std::string_view, const SinusoidLayout*) {}
  void write_value(std::string_view, const Axis&) {}
  void write_value(std::string_view, const Frame&) {}

  void write(const Dispensable& row) {
    member("part", row.part);
    json_.key("instead");
    if (std::isnan(row.instead)) {
      json_.string("operand");
    } else {
      json_.number(row.instead);
    }
  }

  // Few of them as people write them; many as the bytes of doubles, which take less room.
  void write_numbers(const Node& node) {
    json_.key("numbers");
    constexpr std::size_t most_as_text = 1000;
    if (node.frame.shape.cells() > most_as_text)
      return json_.string(in_base64(std::as_bytes(std::span(cells(node.matrix())))));
    json_.begin_array();
    for (const double value : cells(node.matrix())) json_.number(node.op ? with_digits_compared(value) : value);
    json_.end_array();
  }

  std::span<const Node* const> nodes_;
  const std::function<bool(const Node& node)>& is_compared_;
  JsonWriter& json_;
  std::map<const Node*, std::size_t> places_;
  std::map<const Node*, const Node*> tables_;  // of ids: the embeddings that they choose from
  LabelLists labels_;
};

}  // namespace

void write_computation(const Graph& graph, JsonWriter& json) {
  std::vector<const Node*> nodes;
  for (const Node& node : graph.nodes()) nodes.push_back(&node);
  write_computation(
      nodes, [](const Node&) { return true; }, json);
}

void write_computation(std::span<const Node* const> nodes, const std::function<bool(const Node& node)>& is_compared,
                       JsonWriter& json) {
  ComputationWriter(nodes, is_compared, json).write();
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
