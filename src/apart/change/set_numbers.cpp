#include "apart/change/alteration.hpp"

#include <fmt/format.h>

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
#include "data/files/cell_values.hpp"

namespace attn {

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

// Of a number that is a word too, an address does not say which of both it means: it is the position.
std::string told_places(const Cell& cell) {
  std::vector<std::string> places;
  const auto add = [&](const Axis& axis, std::size_t i, std::string_view what) {
    if (axis.labels && parse_number<double>(axis.label(i)))
      places.push_back(fmt::format("the {} of {}", what, place_in_words(axis, i, what)));
  };
  add(cell.node->frame.rows, cell.row, "row");
  add(cell.node->frame.columns, cell.column, "column");
  return places.empty() ? "" : fmt::format(" It is in {}.", list_in_words(places));
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
  if (parse_number<double>(expression) && parse_number<double>(now) != number && expression.size() <= most_typed)
    now = expression;
  std::string told = fmt::format("{} is set to {}. It was {}.", address, now, before);
  told += told_places(cell);
  if (&node != cell.node)
    told += fmt::format(" {} is another name for {}, and all that is computed from {} gets this number.",
                        cell.node->name, node.title(), node.title());
  return {told, [name = cell.node->name, row = cell.row, column = cell.column, number](const Graph& other) {
            const Node* const found = other.find(name);
            const Node* const chosen = found ? &found->original() : nullptr;
            return AlteredNodes{
                [=](const Node& node) {
                  const Shape shape = node.frame.shape;
                  return &node == chosen && row < shape.rows && column < shape.columns;
                },
                [=](RewriteSite at, const std::optional<NodeReplacement>& made) -> std::optional<NodeReplacement> {
                  Matrix numbers = numbers_now(at, made);
                  numbers(row, column) = number;
                  return numbers;
                }};
          }};
}

Alteration activation_patch(const Graph& graph, std::string_view name, const Matrix& numbers, std::string_view source) {
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
                [=](RewriteSite, const std::optional<NodeReplacement>&) -> std::optional<NodeReplacement> {
                  return Matrix(*given);
                }};
          }};
}

}  // namespace attn
