#include "apart/change/alteration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <variant>

#include "core/graph/find.hpp"
#include "core/math/matrix.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"

namespace attn {

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
         list_in_words(names_of_nodes(with_one)), other, list_in_words(names_of_nodes(with_other)));
  const std::vector<const Node*>& with_any = with_one.empty() ? with_other : with_one;
  for (const Node* node : with_any.empty() ? inputs : with_any) {
    const std::string_view missing = with_one.empty() ? one : other;
    const Axis& rows = node->frame.rows;
    const bool is_repeated_there = rows.labels && std::ranges::find(*rows.labels, missing) != rows.labels->end();
    if (is_repeated_there) row_to_swap(*node, missing);
  }
  if (with_any.empty())
    fail("--swap '{}': none of {} has a word or a position {}", words, list_in_words(names_of_nodes(inputs)), one);
  row_to_swap(*with_any.front(), with_one.empty() ? one : other);
}

bool has_words(const Node& node) { return !node.op && !node.name.empty() && (node.is(role::x) || node.is(role::ids)); }

}  // namespace

const Node& only_match(const Graph& graph, const std::string& name, std::string_view option) {
  const std::vector<const Node*> found =
      while_reading(fmt::format("{} {}", option, name), [&] { return graph.matching(name); });
  if (found.size() > 1)
    fail("{} {}: this can mean {} or {}. Give the whole name", option, name, found[0]->name, found[1]->name);
  return *found.front();
}

Matrix numbers_now(RewriteSite at, const std::optional<NodeReplacement>& made) {
  if (made) {
    const Matrix* const numbers = std::get_if<Matrix>(&*made);
    return numbers ? *numbers : std::get<Value>(*made).matrix();
  }
  return at.node.op ? at.itself().matrix() : at.node.matrix();
}

Alteration swapped_words(const Graph& graph, std::string_view words) {
  const std::vector<std::string_view> pieces = split_at(words);
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
    fail("--swap '{}': {} have both. {}", words, list_in_words(names_of_nodes(with_both)),
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
                [=](RewriteSite at, const std::optional<NodeReplacement>& made) -> std::optional<NodeReplacement> {
                  Matrix numbers = numbers_now(at, made);
                  std::ranges::swap_ranges(row(numbers, i), row(numbers, j));
                  return numbers;
                }};
          }};
}

Change combined_change(const Graph& graph, std::span<const Alteration> alterations) {
  std::vector<AlteredNodes> all;
  for (const Alteration& alteration : alterations) all.push_back(alteration.in(graph));
  const auto where = [all](const Node& node) {
    return std::ranges::any_of(all, [&](const AlteredNodes& one) { return one.where(node); });
  };
  return {where, [all](RewriteSite at) -> std::optional<Value> {
            std::optional<NodeReplacement> made;
            for (const AlteredNodes& one : all) {
              if (!one.where(at.node)) continue;
              if (std::optional<NodeReplacement> next = one.instead(at, made)) made = std::move(next);
            }
            if (!made) return std::nullopt;
            if (Matrix* const numbers = std::get_if<Matrix>(&*made)) return at.like(std::move(*numbers));
            return std::get<Value>(*made);
          }};
}

}  // namespace attn
