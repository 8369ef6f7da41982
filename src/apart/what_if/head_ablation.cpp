#include "apart/what_if/head_ablation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apart/change/alteration.hpp"
#include "apart/change/changed_matrix.hpp"
#include "apart/what_if/held_out.hpp"
#include "core/graph/find.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/number_pair.hpp"
#include "core/support/text.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/lens_tables.hpp"

namespace attn {
namespace {

// What is asked of each head: some cells of a matrix.
struct AskedOfHeads {
  const Node* node;
  std::vector<Cell> cells;  // empty: all
  bool is_usual_word = false;

  Difference moved(const Matrix& now) const {
    if (cells.empty()) return difference(node->matrix(), now);
    Difference all;
    for (const Cell& cell : cells) {
      const double one = cell.value(), other = now(cell.row, cell.column);
      if (!Rounding().same(one, other)) all.add(cell.row, cell.column, std::fabs(other - one));
    }
    return all;
  }
};

AskedOfHeads asked_of_heads(const Graph& graph, const Arguments& arguments) {
  if (const std::optional<std::string> of = arguments.text(option::of)) {
    if (of->find('[') == std::string::npos) return {&only_match(graph, *of, "--of"), {}};
    std::vector<Cell> cells = while_reading("--of " + *of, [&] { return find_cells(graph, *of); });
    const Node* const node = cells.front().node;
    return {node, std::move(cells)};
  }
  const Node& result = *result_of(graph);
  if (!result.is(role::logits)) return {&result, {}};
  const std::size_t last = result.frame.shape.rows - 1;
  const std::optional<std::size_t> most = most_probable_id(row(result.matrix(), last));
  return most ? AskedOfHeads{&result, {{&result, last, *most - 1}}, true} : AskedOfHeads{&result, {}};
}

std::string told_as_asked(const AskedOfHeads& asked, const std::optional<std::string>& of) {
  if (asked.is_usual_word) {
    const Cell& cell = asked.cells.front();
    const auto as_large =
        static_cast<std::size_t>(std::ranges::count(row(cell.node->matrix(), cell.row), cell.value()));
    return fmt::format("Asked for: {}, {:the largest logit|one of the # largest logits} of the last row. It is {}.",
                       address_of(cell), Count{as_large}, written_value(cell.value()));
  }
  if (asked.cells.size() == 1)
    return fmt::format("Asked for: {}. It is {}.", address_of(asked.cells.front()),
                       written_value(asked.cells.front().value()));
  return fmt::format("Asked for: {}, in which each line tells the number that changes most.",
                     of.value_or(asked.node->name));
}

// What becomes of it without one head.
struct WithoutHead {
  const Node* head;
  Difference moved;
  Cell where;  // the cell that is asked for, or the one that changes most
  double after;
  std::string probability = {}, most_probable = {};

  double before() const { return where.value(); }
  double change() const { return after - before(); }
};

WithoutHead computed_without(const Node& head, const AskedOfHeads& asked, const Node* distribution) {
  Rewriting again(*head.graph, without_head(head));
  const Value remade = again.of(*asked.node);
  const Matrix& now = remade.matrix();
  WithoutHead one{.head = &head, .moved = asked.moved(now), .where = {}, .after = 0.0};
  one.where = asked.cells.size() == 1 ? asked.cells.front() : Cell{asked.node, one.moved.row, one.moved.column};
  one.after = now(one.where.row, one.where.column);
  if (!distribution) return one;
  const std::span<const double> probabilities = row(again.of(*distribution).node().matrix(), one.where.row);
  one.probability = one.most_probable = "NaN";
  if (!most_probable_id(probabilities)) return one;
  one.probability = percent(probabilities[one.where.column]);
  one.most_probable = most_probable_words(probabilities, distribution->frame.columns, 1);
  return one;
}

// A line for each head.
Listing listing_of_heads(const std::vector<WithoutHead>& all, bool is_one_cell, bool tells_words) {
  Listing listing{{"without", "largest change", "cell", "was", "is now"}, {}, true};
  if (is_one_cell) listing.columns = {"without", "change", "is now"};
  if (tells_words) listing.columns.insert(listing.columns.end(), {"in percent", "most probable"});
  for (const WithoutHead& one : all) {
    const bool moves = !one.moved.is_small();
    const std::string still = one.moved.agrees() ? "0" : "less than 1e-9";
    auto [before, after] = written_apart(one.before(), one.after);
    std::vector<std::string>& line = listing.rows.emplace_back(1, name_of_head(*one.head));
    if (is_one_cell) {
      line.insert(line.end(), {moves ? written_value(one.change()) : still, std::move(after)});
    } else if (moves) {
      line.insert(line.end(),
                  {written_value(one.moved.change), place_in_brackets(one.where), std::move(before), std::move(after)});
    } else {
      line.insert(line.end(), {still, "", "", ""});
    }
    if (tells_words) line.insert(line.end(), {one.probability, one.most_probable});
  }
  return listing;
}

// Which head matters most, or which ones do so alike.
void add_most(Page& page, std::vector<WithoutHead> all) {
  constexpr double apart = 1e-9;  // of the largest
  std::ranges::stable_sort(all, std::ranges::greater(), [](const WithoutHead& one) { return one.moved.largest; });
  if (all.front().moved.is_small()) return page.say("No head alone changes it by 1e-9 or more.");
  const double largest = all.front().moved.largest;
  std::vector<std::string> names;
  for (const WithoutHead& one : all) {
    if (one.moved.largest == largest || largest - one.moved.largest <= apart * largest)
      names.push_back(name_of_head(*one.head));
  }
  if (!std::isfinite(largest))
    return page.say(fmt::format("Its numbers are not finite without {}.", list_in_words(names)));
  if (all.size() == 1) return;
  if (names.size() == all.size()) return page.say("It changes as much without one head as without any other one.");
  page.say(text(names.size() == 1 ? "It changes most without " : "It changes most, and by as much, without each of ",
                strong(list_in_words(names)), "."));
}

}  // namespace

Answer head_ablation_page(const std::shared_ptr<Graph>& computed, Answer said, const Arguments& arguments) {
  const Graph& graph = *computed;
  const std::vector<const Node*> heads = head_outputs(graph);
  if (heads.empty()) fail("--each-head: there are no heads here");
  const AskedOfHeads asked = asked_of_heads(graph, arguments);
  const bool is_one_cell = asked.cells.size() == 1;
  const Node* const distribution = is_one_cell && asked.node->is(role::logits) ? distribution_of(graph) : nullptr;
  std::vector<WithoutHead> all;
  Records records{"heads", {"head", "change", "place", "before", "after"}, {}};
  for (const Node* head : heads) {
    const WithoutHead& one = all.emplace_back(computed_without(*head, asked, distribution));
    records.rows.push_back({name_of_head(*head), one.change(), address_of(one.where), one.before(), one.after});
  }
  Page page;
  page.head(1, "Each head left out");
  page.say(heads.front()->within(scope::head)
               ? "Each line is the computation without one head: the head gives 0 to the concatenation."
               : "Each line is the computation without its head: the output of the head is 0.");
  page.say(told_as_asked(asked, arguments.text(option::of)));
  if (const std::string random = what_is_random(said.computation); !random.empty()) page.say(random);
  page.say(listing_of_heads(all, is_one_cell, distribution != nullptr));
  add_most(page, std::move(all));
  page.say(std::move(records));
  return {.page = std::move(page),
          .warnings = std::move(said.warnings),
          .computation = {computed, said.computation.problem}};
}

}  // namespace attn
