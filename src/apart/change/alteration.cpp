#include "apart/change/alteration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <variant>

#include "core/graph/find.hpp"
#include "core/math/matrix.hpp"
#include "core/support/error.hpp"
#include "core/support/number_pair.hpp"
#include "core/support/text.hpp"
#include "core/term/quantity.hpp"
#include "data/files/cells.hpp"
#include "school/mistake/mistake.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

const Node& only_match(const Graph& graph, const std::string& name, std::string_view option) {
  const std::vector<const Node*> found =
      while_reading(fmt::format("{} {}", option, name), [&] { return graph.matching(name); });
  if (found.size() > 1)
    fail("{} {}: this can mean {} or {}. Give the whole name", option, name, found[0]->name, found[1]->name);
  return *found.front();
}

// --- parts

namespace {

bool is_feed_forward(const Node& node) {
  const bool is_of_layer = node.is(role::output) && node.place && node.place->is(scope::feed_forward);
  return node.op && (is_of_layer || node.is(role::feed_forward));
}

bool is_added_mask(const Node& node) { return !node.op && has_role<role::bias, role::cross_bias>(node); }
std::optional<InPlace> all_zeros(At at) { return Matrix(at.node.frame.shape, 0.0); }

// Beside a residual connection it adds nothing; without one what goes in goes on.
std::optional<InPlace> nothing_fed_forward(At at) {
  const Graph& graph = *at.node.graph;
  const bool has_residual = std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.is(role::sum); });
  const Node* const inner = at.node.beside(role::inner);
  const auto taken = inner ? linear_nodes(*inner) : std::nullopt;
  if (!has_residual && taken && taken->x->frame.shape == at.node.frame.shape) return at.of(*taken->x);
  return all_zeros(at);
}

// A number for each distance, which is added to the scores. Where it is a product of the query, the scores without it
// have a name.
bool is_bias_of_distances(const Node& node) { return makes(node, role::relative) && !node.beside(role::distances); }

PartLeftOut as_change(const Change& change) { return {change.where, change.instead}; }

std::vector<PartLeftOut> as_mistakes(std::initializer_list<std::string_view> names,
                                     std::vector<PartLeftOut> changes = {}) {
  for (const std::string_view name : names) changes.push_back(as_change(look_up(mistakes(), name, "mistake")));
  return changes;
}

}  // namespace

std::span<const LeftOut> parts_to_leave_out() {
  static const std::vector<LeftOut> all = {
      {"scale", "the scores are not scaled", as_mistakes({"not-scaled"})},
      {"mask", "the mask hides no key", {as_change({masks_scores, left_out}), {is_added_mask, all_zeros}}},
      {"positions", "positions change neither vectors nor scores",
       as_mistakes({"positions-missing", "rotary-missing", "distance-missing"}, {{is_bias_of_distances, all_zeros}})},
      {"residual", "what goes into a sub-layer is not added to its result", as_mistakes({"residual-missing"})},
      {"norm", "nothing is normalized", as_mistakes({"norm-missing"})},
      {"feed-forward", "the feed-forward layers add nothing", {{is_feed_forward, nothing_fed_forward}}},
  };
  return all;
}

namespace {

// What is only another name for a matrix follows it.
bool can_be_made(const PartLeftOut& change, const Node& node) {
  return !node.is_alias() && node.family == &family::forward && change.where(node);
}

bool has_part(const Graph& graph, const LeftOut& part) {
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) {
    return std::ranges::any_of(part.changes, [&](const PartLeftOut& change) { return can_be_made(change, node); });
  });
}

// --- heads

bool is_head(const Node& node) {
  if (!node.op || node.is_alias()) return false;
  return node.is(role::head) || (node.is(role::output) && node.place && node.place->is(scope::head));
}

std::size_t number_of_head(const Node& output) {
  const NamedScope* const head = output.within(scope::head);
  return head && head->number ? *head->number : 1;
}

std::optional<std::size_t> layer_of_head(const Node& output) {
  for (const ScopeKind* kind : {&scope::number, &scope::layer}) {
    const NamedScope* const layer = output.within(*kind);
    if (layer && layer->number) return layer->number;
  }
  return std::nullopt;
}

// "1.2" in layer 1, "2" where there are no layers.
std::string short_name_of_head(const Node& output) {
  const std::optional<std::size_t> layer = layer_of_head(output);
  return layer ? fmt::format("{}.{}", *layer, number_of_head(output)) : std::to_string(number_of_head(output));
}

// Whether "2", "1.2" or "encoder.1.self_attention.head.2" names it.
bool names_head(std::string_view name, const Node& output) {
  return name == std::to_string(number_of_head(output)) || name == short_name_of_head(output) ||
         name == name_of_head(output);
}

std::string parts_there_are(const Graph& graph) {
  constexpr std::size_t most = 12;
  std::vector<std::string> names;
  for (const LeftOut& part : parts_to_leave_out()) {
    if (has_part(graph, part)) names.emplace_back(part.name);
  }
  std::vector<std::string> heads;
  for (const Node* output : head_outputs(graph)) {
    std::string name = fmt::format("'head {}'", short_name_of_head(*output));
    if (std::ranges::find(heads, name) == heads.end()) heads.push_back(std::move(name));
  }
  const bool has_more = heads.size() > most;
  if (has_more) heads.resize(most);
  names.insert(names.end(), heads.begin(), heads.end());
  if (has_more) names.emplace_back("…");
  if (names.empty()) return "This computation has no part that can be left out";
  return fmt::format("This computation has: {}", fmt::join(names, ", "));
}

}  // namespace

std::vector<const Node*> head_outputs(const Graph& graph) {
  std::vector<const Node*> outputs;
  for (const Node& node : graph.nodes()) {
    if (is_head(node)) outputs.push_back(&node);
  }
  return outputs;
}

std::string name_of_head(const Node& output) {
  return output.within(scope::head) ? std::string(output.scope_name()) : output.name;
}

Change without_head(const Node& output) {
  return {[&output](const Node& node) { return &node == &output; },
          [](At at) -> std::optional<Value> { return at.like(Matrix(at.node.frame.shape, 0.0)); }};
}

namespace {

Alteration left_out_head(const Graph& graph, std::string_view name) {
  std::vector<std::string> heads;
  for (const Node* output : head_outputs(graph)) {
    if (names_head(name, *output)) heads.push_back(output->name);
  }
  if (heads.empty()) fail("--without 'head {}': there is no such head. {}", name, parts_there_are(graph));
  const bool is_concatenated = graph.at(heads.front()).within(scope::head) != nullptr;
  const std::string told =
      fmt::format("Left out: head {}. {}: {}.", name,
                  is_concatenated ? "It gives 0 to the concatenation" : "Its output is 0", fmt::join(heads, ", "));
  return {told, [names = std::move(heads)](const Graph& other) {
            std::vector<const Node*> outputs;
            for (const std::string& one : names) {
              if (const Node* const output = other.find(one)) outputs.push_back(&output->original());
            }
            return AlteredNodes{
                [outputs](const Node& node) { return std::ranges::find(outputs, &node) != outputs.end(); },
                [](At at, const std::optional<InPlace>&) { return all_zeros(at); }};
          }};
}

}  // namespace

Alteration left_out_part(const Graph& graph, std::string_view part) {
  constexpr std::string_view head = "head ";
  const std::string_view name = trimmed(part);
  if (name.starts_with(head)) return left_out_head(graph, trimmed(name.substr(head.size())));
  const LeftOut* const row = find_row(parts_to_leave_out(), name);
  if (!row) {
    std::vector<std::string> names = names_of(parts_to_leave_out());
    names.emplace_back("head N");
    fail("{}", unknown("part for --without,", name, names));
  }
  if (!has_part(graph, *row))
    fail("--without {}: there is nothing of it to leave out. {}", name, parts_there_are(graph));
  const auto find = [row](const Node& node) -> const PartLeftOut* {
    const auto found =
        std::ranges::find_if(row->changes, [&](const PartLeftOut& change) { return can_be_made(change, node); });
    return found == row->changes.end() ? nullptr : &*found;
  };
  return {fmt::format("Left out: {}. This means: {}.", row->name, row->summary), [find](const Graph&) {
            return AlteredNodes{[find](const Node& node) { return find(node) != nullptr; },
                                [find](At at, const std::optional<InPlace>&) { return find(at.node)->instead(at); }};
          }};
}

// --- numbers

namespace {

// Where the sign stands that is in no quotes and in no brackets.
std::size_t equals_sign_in(std::string_view setting) {
  bool is_quoted = false;
  std::size_t open = 0;
  for (std::size_t i = 0; i < setting.size(); ++i) {
    const char c = setting[i];
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (c == '[') ++open;
    if (c == ']' && open > 0) --open;
    if (c == '=' && open == 0) return i;
  }
  fail("--set '{}': write a cell, = and a number, such as 'k[2,1] = 3'", setting);
}

void refuse_choosing(const Node& node, std::string_view option) {
  if (node.content() == Content::ids)
    fail("{}: {} has the numbers of words, which only choose vectors. Give other words instead", option, node.name);
}

// Whether it is NaN, infinite, or larger than all numbers, as files and pages write that.
bool is_written_not_finite(std::string_view text) {
  constexpr std::string_view minus = "−";
  if (text.starts_with(minus)) text.remove_prefix(minus.size());
  if (text == "∞" || text == "-∞" || text == "+∞") return true;
  const WrittenCell cell = parse_cell(text);
  return cell.kind == CellKind::overflow || (has_value(cell) && !std::isfinite(cell.value));
}

double number_given(std::string_view expression, const Graph& graph, std::string_view setting) {
  const std::string what = fmt::format("--set '{}'", setting);
  const auto refuse = [&] { fail("{}: a cell takes finite numbers, and '{}' is none", what, expression); };
  if (is_written_not_finite(expression)) refuse();
  const Quantity quantity = while_reading(what, [&] { return look_up_quantity(expression, &graph).quantity; });
  const double* const number = std::get_if<double>(&quantity);
  if (!number) fail("{}: '{}' is not a number", what, expression);
  if (!std::isfinite(*number)) refuse();
  return *number;
}

// "k[2,1] = 3"
struct Setting {
  std::string_view address, expression;
  Cell cell;
};

Setting read_setting(const Graph& graph, std::string_view setting) {
  const std::size_t sign = equals_sign_in(setting);
  const std::string_view address = trimmed(setting.substr(0, sign)), expression = trimmed(setting.substr(sign + 1));
  if (address.empty() || expression.empty())
    fail("--set '{}': write a cell, = and a number, such as 'k[2,1] = 3'", setting);
  return {address, expression,
          while_reading(fmt::format("--set '{}'", setting), [&] { return find_cell(graph, address); })};
}

// The numbers of a node as they now are.
Matrix numbers_now(At at, const std::optional<InPlace>& made) {
  if (made) {
    const Matrix* const numbers = std::get_if<Matrix>(&*made);
    return numbers ? *numbers : std::get<Value>(*made).matrix();
  }
  return at.node.op ? at.itself().matrix() : at.node.matrix();
}

// Of a number that is a word too, an address does not say which of both it means: it is the position.
std::string told_places(const Cell& cell) {
  std::vector<std::string> places;
  const auto add = [&](const Axis& axis, std::size_t i, std::string_view what) {
    if (axis.labels && parsed<double>(axis.label(i)))
      places.push_back(fmt::format("the {} of {}", what, place_in_words(axis, i, what)));
  };
  add(cell.node->frame.rows, cell.row, "row");
  add(cell.node->frame.columns, cell.column, "column");
  return places.empty() ? "" : fmt::format(" It is in {}.", listed(places));
}

}  // namespace

Cell cell_that_is_set(const Graph& graph, std::string_view setting) {
  const Cell cell = read_setting(graph, setting).cell;
  return {&cell.node->original(), cell.row, cell.column};
}

Alteration set_number(const Graph& graph, std::string_view setting) {
  const auto [address, expression, cell] = read_setting(graph, setting);
  const Node& node = cell.node->original();
  refuse_choosing(node, "--set");
  const double number = number_given(expression, graph, setting);
  if (node.content() == Content::permissions && number != 0.0 && number != 1.0)
    fail("--set '{}': {} has only 1 for keys that are attended to, and 0 for the others", setting, node.name);
  auto [now, before] = written_apart(number, cell.value(), 6);
  // A typed number stays as it was typed, where few digits are another number and it is not longer than its double.
  constexpr std::size_t most_typed = 24;
  if (parsed<double>(expression) && parsed<double>(now) != number && expression.size() <= most_typed) now = expression;
  std::string told = fmt::format("{} is set to {}. It was {}.", address, now, before);
  told += told_places(cell);
  if (&node != cell.node)
    told += fmt::format(" {} is another name for {}, and all that is computed from {} gets this number.",
                        cell.node->name, node.title(), node.title());
  return {told, [name = cell.node->name, row = cell.row, column = cell.column, number](const Graph& other) {
            const Node* const found = other.find(name);
            const Node* const chosen = found ? &found->original() : nullptr;
            return AlteredNodes{[=](const Node& node) {
                                  const Shape shape = node.frame.shape;
                                  return &node == chosen && row < shape.rows && column < shape.columns;
                                },
                                [=](At at, const std::optional<InPlace>& made) -> std::optional<InPlace> {
                                  Matrix numbers = numbers_now(at, made);
                                  numbers(row, column) = number;
                                  return numbers;
                                }};
          }};
}

Alteration patched(const Graph& graph, std::string_view name, const Matrix& numbers, std::string_view source) {
  const Node& named = graph.at(name);
  const Node& node = named.original();
  refuse_choosing(node, "--patch");
  if (numbers.shape() != node.frame.shape)
    fail("--patch {}: it is {}, and in {} it is {}. Both need the same shape", name, to_string(node.frame.shape),
         source, to_string(numbers.shape()));
  for (const double number : cells(numbers)) {
    if (!std::isfinite(number) && !(node.may_be_masked() && number < 0.0))
      fail("--patch {}: in {} it has a number that is not finite", name, source);
  }
  return {fmt::format("{} has the numbers of {}.", name, source),
          [name = std::string(name), given = std::make_shared<const Matrix>(numbers)](const Graph& other) {
            const Node* const found = other.find(name);
            const Node* const chosen = found ? &found->original() : nullptr;
            return AlteredNodes{
                [=](const Node& node) { return &node == chosen && node.frame.shape == given->shape(); },
                [=](At, const std::optional<InPlace>&) -> std::optional<InPlace> { return Matrix(*given); }};
          }};
}

// --- words

namespace {

// Whether a row is given by its number, and not by its word.
bool is_given_by_number(const Axis& rows, std::string_view given, std::size_t place) {
  const bool is_quoted = given.starts_with('"');
  return !rows.labels || (!is_quoted && rows.label(place) != given);
}

std::size_t row_to_swap(const Node& node, std::string_view given) {
  return find_named_place(node.frame.rows, node.frame.shape.rows, given,
                          fmt::format("--swap: row '{}' of {}", given, node.name));
}

std::string told_swap(const Node& node, std::string_view one, std::string_view other, std::size_t i, std::size_t j) {
  const Axis& rows = node.frame.rows;
  if (is_given_by_number(rows, one, i) || is_given_by_number(rows, other, j))
    return fmt::format(
        "Rows {} and {} of {} have changed places. Rows keep their labels: row {} now has what row {} had.", i + 1,
        j + 1, node.name, i + 1, j + 1);
  const std::string word = in_quotes(node.frame.rows.label(i)), other_word = in_quotes(node.frame.rows.label(j));
  return fmt::format("{0} and {1} have changed places in {2}. Rows keep their labels: the row {0} now belongs to {1}.",
                     word, other_word, node.name);
}

std::vector<std::string> names_of_nodes(const std::vector<const Node*>& nodes) {
  std::vector<std::string> names;
  for (const Node* node : nodes) names.push_back(node->name);
  return names;
}

bool names_a_row(const Node& node, std::string_view given) {
  return has_named_place(node.frame.rows, node.frame.shape.rows, given);
}

// Whether two words of one of these are in no other one, and there once.
bool has_own_pair(const std::vector<const Node*>& inputs) {
  return std::ranges::any_of(inputs, [&](const Node* node) {
    std::size_t own = 0;
    for (std::size_t i = 0; node->frame.rows.labels && i < node->frame.shape.rows; ++i) {
      const std::string word = fmt::format("\"{}\"", node->frame.rows.label(i));
      const auto with_it = std::ranges::count_if(inputs, [&](const Node* any) { return names_a_row(*any, word); });
      if (with_it == 1 && names_a_row(*node, word)) ++own;
    }
    return own >= 2;
  });
}

// Of several inputs none has both rows: says where each of them is, or which one says how to choose.
void refuse_apart(const std::vector<const Node*>& inputs, std::string_view words, std::string_view one,
                  std::string_view other) {
  std::vector<const Node*> with_one, with_other;
  for (const Node* node : inputs) {
    if (names_a_row(*node, one)) with_one.push_back(node);
    if (names_a_row(*node, other)) with_other.push_back(node);
  }
  if (!with_one.empty() && !with_other.empty())
    fail("--swap '{}': {} is in {}, and {} is in {}. Give two words that are in the same one", words, one,
         listed(names_of_nodes(with_one)), other, listed(names_of_nodes(with_other)));
  const std::vector<const Node*>& with_any = with_one.empty() ? with_other : with_one;
  for (const Node* node : with_any.empty() ? inputs : with_any) {
    const std::string_view missing = with_one.empty() ? one : other;
    const Axis& rows = node->frame.rows;
    const bool is_repeated_there = rows.labels && std::ranges::find(*rows.labels, missing) != rows.labels->end();
    if (is_repeated_there) row_to_swap(*node, missing);
  }
  if (with_any.empty())
    fail("--swap '{}': none of {} has a word or a position {}", words, listed(names_of_nodes(inputs)), one);
  row_to_swap(*with_any.front(), with_one.empty() ? one : other);
}

bool has_words(const Node& node) { return !node.op && !node.name.empty() && (node.is(role::x) || node.is(role::ids)); }

}  // namespace

Alteration swapped_words(const Graph& graph, std::string_view words) {
  const std::vector<std::string_view> pieces = pieces_of(words);
  if (pieces.size() != 2) fail("--swap '{}': give two words or two positions, such as 'it,animal' or 1,2", words);
  const std::string_view one = trimmed(pieces[0]), other = trimmed(pieces[1]);
  std::vector<const Node*> inputs, with_both;
  for (const Node& node : graph.nodes()) {
    if (!has_words(node)) continue;
    inputs.push_back(&node);
    const std::size_t rows = node.frame.shape.rows;
    if (has_named_place(node.frame.rows, rows, one) && has_named_place(node.frame.rows, rows, other))
      with_both.push_back(&node);
  }
  if (inputs.empty())
    fail(
        "--swap: neither ids of words nor their vectors are given here, which could change places. Exchange numbers with --set instead");
  if (with_both.size() > 1)
    fail("--swap '{}': {} have both. {}", words, listed(names_of_nodes(with_both)),
         has_own_pair(with_both)
             ? "Give two words that only one of them has"
             : "Exchange the words in the text that is given, and compare the two computations with attn diff");
  if (with_both.empty() && inputs.size() > 1) refuse_apart(inputs, words, one, other);
  const Node& node = with_both.empty() ? *inputs.front() : *with_both.front();
  const std::size_t i = row_to_swap(node, one), j = row_to_swap(node, other);
  if (i == j) fail("--swap '{}': this is the same position twice. Give two", words);
  return {told_swap(node, one, other, i, j), [name = node.name, i, j](const Graph& later) {
            const Node* const chosen = later.find(name);
            return AlteredNodes{
                [=](const Node& at) { return &at == chosen && i < at.frame.shape.rows && j < at.frame.shape.rows; },
                [=](At at, const std::optional<InPlace>& made) -> std::optional<InPlace> {
                  Matrix numbers = numbers_now(at, made);
                  std::ranges::swap_ranges(row(numbers, i), row(numbers, j));
                  return numbers;
                }};
          }};
}

// --- all

Change all_of(const Graph& graph, std::span<const Alteration> alterations) {
  std::vector<AlteredNodes> all;
  for (const Alteration& alteration : alterations) all.push_back(alteration.in(graph));
  const auto where = [all](const Node& node) {
    return std::ranges::any_of(all, [&](const AlteredNodes& one) { return one.where(node); });
  };
  return {where, [all](At at) -> std::optional<Value> {
            std::optional<InPlace> made;
            for (const AlteredNodes& one : all) {
              if (!one.where(at.node)) continue;
              if (std::optional<InPlace> next = one.instead(at, made)) made = std::move(next);
            }
            if (!made) return std::nullopt;
            if (Matrix* const numbers = std::get_if<Matrix>(&*made)) return at.like(std::move(*numbers));
            return std::get<Value>(*made);
          }};
}

}  // namespace attn
