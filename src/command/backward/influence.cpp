#include "command/backward/influence.hpp"
#include "command/browser_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "command/backward/asked_loss.hpp"
#include "command/backward/beside_attention.hpp"
#include "command/backward/derivatives.hpp"
#include "command/backward/reach.hpp"
#include "command/backward/through_time.hpp"
#include "command/computed_problem.hpp"
#include "core/attention/watches.hpp"
#include "core/graph/find.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

bool is_computed(const Node& node) {
  return node.op && !node.is_alias() && !node.name.empty() && node.family != &family::gradient;
}

const Node& node_of(const Graph& graph, const std::string& name) {
  if (name.find('[') != std::string::npos) return *find_cells(graph, name).front().node;
  const std::vector<const Node*> found = graph.matching(name);
  if (found.size() > 1)
    fail("--of {}: this can mean {} or {}. Give the whole name", name, found[0]->name, found[1]->name);
  return *found.front();
}

CellSelection differentiable_cells(const Graph& graph, const std::string& address) {
  CellSelection asked = find_cells(graph, address);
  const Content content = asked.front().node->content();
  if (content == Content::ids || content == Content::permissions)
    fail(
        "{} has no gradient, because it only chooses: nothing changes smoothly with it. Choose a number that is multiplied or added",
        address);
  return asked;
}

// --- what depends on a number

Matrix derivatives_of(const Node& later, const CellSelection& by, const CellSet& reached) {
  Sensitivity back(later, {by.front().node});
  Matrix all(later.frame.shape, 0.0);
  for (std::size_t i = 0; i < all.shape().rows; ++i) {
    for (std::size_t j = 0; j < all.shape().columns; ++j) {
      if (!reached.has({&later, i, j})) continue;
      back.take(i, j);
      if (const auto gradient = back.by(0)) all(i, j) = derivative_by(*gradient, by);
    }
  }
  return all;
}

void add_dependents(QuantityPage& page, const Node& last, const CellSelection& by) {
  const Graph& graph = *last.graph;
  const CellSet with_masks = dependents_of(by, last, true), without_masks = dependents_of(by, last, false);
  std::vector<const Node*> later, beside;
  const CellSet before = ancestors_of(by, false, [](const Node&) { return true; });
  std::size_t ways = 0, earlier = 0;
  for (const Node& node : graph.nodes()) {
    if (!is_computed(node) || node.index > last.original().index || &node == &by.front().node->original()) continue;
    if (without_masks.has_any(node)) {
      later.push_back(&node);
      ways += node.frame.shape.cells();
    } else if (before.has_any(node)) {
      ++earlier;
    } else {
      beside.push_back(&node);
    }
  }
  require_ways(ways, 1);
  if (later.empty())
    fail("nothing is computed from {}: choose a number that something depends on", selection_in_words(by));
  std::vector<Matrix> derivatives;
  double largest = 0.0;
  for (const Node* node : later) {
    derivatives.push_back(derivatives_of(*node, by, with_masks));
    largest = std::max(largest, largest_derivative(derivatives.back()));
  }
  page.head(2, "What depends on it");
  std::vector<DependenceCounts> all;
  for (std::size_t i = 0; i < later.size(); ++i)
    all.push_back(
        dependence_counts(*later[i], &derivatives[i], {with_masks, without_masks}, rounding_of_derivative * largest));
  add_counts(page, all);
  if (earlier > 0)
    page.say(fmt::format("It was itself computed from {:# other matrix|# other matrices}, which cannot depend on it.",
                         Count{earlier}));
  if (!beside.empty()) {
    std::vector<std::string> names;
    for (const Node* node : beside) names.push_back(node->name);
    page.say(fmt::format("No path leads to {:one matrix|the matrices} beside it: {}.", Count{beside.size()},
                         fmt::join(names, ", ")));
  }
  const Matrix& of_last = derivatives.back();
  if (all.back().depend == 0)
    page.say(largest_derivative(of_last) == 0.0
                 ? fmt::format("All derivatives of {} are 0: the effect of {} ends before.", later.back()->name,
                               selection_in_words(by))
                 : fmt::format("All derivatives of {} are less than 1e-12 of the largest on this page.",
                               later.back()->name));
  if (all.back().depend == 0) return;
  page.head(2, fmt::format("The derivatives of {}", later.back()->name));
  page.say(fmt::format("How fast each number of {} grows with {}.", later.back()->name, selection_in_words(by)));
  page.matrix("derivatives", of_last, last.frame.rows, last.frame.columns, Heat::around_zero);
}

// --- what a number depends on

// By word: the gradient's length, and the part that its vector has in a first-order change.
void add_by_word(QuantityPage& page, const Node& words, const Matrix& gradient, const CellSelection& asked,
                 const CellSet& behind) {
  const Cell& of = asked.front();
  const bool is_one = asked.size() == 1;
  const Matrix& vectors = words.matrix();
  std::vector<const Node*> heads;
  for (const Node& node : words.graph->nodes()) {
    const bool has_query =
        node.frame.rows.labels == of.node->frame.rows.labels && node.frame.shape.rows == of.node->frame.shape.rows;
    if (node.is(role::weights) && behind.has_any(node) && has_query && node.frame.shape.columns == vectors.shape().rows)
      heads.push_back(&node);
  }
  if (heads.size() > 4) heads.clear();
  std::vector<std::string> columns = {"gradient"};
  if (is_one) columns.emplace_back("gradient × input");
  for (const Node* head : heads) columns.push_back(head->name);
  QuantityRows rows;
  for (std::size_t j = 0; j < vectors.shape().rows; ++j) {
    double product = 0.0;
    for (std::size_t c = 0; c < vectors.shape().columns; ++c) product += vectors(j, c) * gradient(j, c);
    std::vector<double> numbers = {length_of(row(gradient, j))};
    if (is_one) numbers.push_back(product);
    for (const Node* head : heads) numbers.push_back(head->matrix()(of.row, j));
    rows.emplace_back(place_in_lists(words.frame.rows, j), std::move(numbers));
  }
  page.head(2, fmt::format("By word: {}", words.name));
  page.say(fmt::format(
      "Each line is a row of {}: {} {}", words.name,
      is_one
          ? "the length of the gradient with respect to the word's vector, and gradient × input, the dot product of the gradient with the vector."
          : "the size of the Jacobian of the whole row with respect to its vector.",
      heads.empty() ? "" : "Beside them stand the attention weights of this query."));
  page.table("by_word." + words.name, columns, rows);
}

// Of a whole row, the square root of the sum of its squared derivatives by each number.
std::vector<std::shared_ptr<const Matrix>> gradients_of_asked(const CellSelection& of,
                                                              const std::vector<const Node*>& by) {
  Sensitivity back(*of.front().node, by);
  require_ways(of.size(), back.work());
  std::vector<std::shared_ptr<const Matrix>> all(by.size());
  std::vector<std::shared_ptr<Matrix>> squares(by.size());
  for (const Cell& cell : of) {
    back.take(cell.row, cell.column);
    for (std::size_t i = 0; i < by.size(); ++i) {
      const auto gradient = back.by(i);
      if (!gradient) continue;
      all[i] = gradient;
      if (!squares[i]) squares[i] = std::make_shared<Matrix>(gradient->shape(), 0.0);
      for (std::size_t k = 0; k < gradient->size(); ++k)
        cells(*squares[i])[k] += cells(*gradient)[k] * cells(*gradient)[k];
    }
  }
  if (of.size() == 1) return all;
  for (std::size_t i = 0; i < by.size(); ++i) {
    if (!squares[i]) continue;
    for (double& cell : cells(*squares[i])) cell = std::sqrt(cell);
    all[i] = squares[i];
  }
  return all;
}

std::size_t cell_count(const std::vector<const Node*>& nodes) {
  std::size_t cells = 0;
  for (const Node* node : nodes) cells += node->frame.shape.cells();
  return cells;
}

// What is given beside the words, where that is a large model: the way back to all of it would take longer than all
// else.
std::vector<const Node*> given_left_out(const Graph& graph, const Node& result) {
  constexpr std::size_t most_cells = std::size_t{1} << 20;
  const std::vector<const Node*> words = words_going_in(graph, result);
  std::vector<const Node*> given;
  for (const Node& node : graph.nodes()) {
    const bool counts = !node.op && !node.is(role::memory) && node.content() == Content::numbers &&
                        std::ranges::find(words, &node) == words.end();
    if (counts) given.push_back(&node);
  }
  return cell_count(given) > most_cells ? given : std::vector<const Node*>();
}

void add_sources(QuantityPage& page, const Graph& graph, const CellSelection& of) {
  const std::vector<const Node*> left_out = given_left_out(graph, *of.front().node);
  const auto is_told = [&](const Node& node) { return std::ranges::find(left_out, &node) == left_out.end(); };
  const CellSet with_masks = ancestors_of(of, true, is_told), without_masks = ancestors_of(of, false, is_told);
  std::vector<const Node*> earlier;
  for (const Node& node : graph.nodes()) {
    const bool counts = !node.name.empty() && !node.is_alias() && &node != &of.front().node->original() &&
                        node.content() != Content::ids && node.content() != Content::permissions;
    if (counts && without_masks.has_any(node)) earlier.push_back(&node);
  }
  if (earlier.empty()) fail("{} is computed from nothing: choose a number that is computed", selection_in_words(of));
  const std::vector<std::shared_ptr<const Matrix>> derivatives = gradients_of_asked(of, earlier);
  double largest = 0.0;
  for (const auto& one : derivatives) {
    if (one) largest = std::max(largest, largest_derivative(*one));
  }
  if (largest == 0.0) {
    page.say("All derivatives are 0: to first order, no small change of what goes in changes it.");
  }
  page.head(2, "What it depends on");
  std::vector<DependenceCounts> all;
  for (std::size_t i = 0; i < earlier.size(); ++i)
    all.push_back(dependence_counts(*earlier[i], derivatives[i].get(), {with_masks, without_masks},
                                    rounding_of_derivative * largest));
  add_counts(page, all);
  if (!left_out.empty()) {
    page.say(text(fmt::format("The {} that are given beside the words have {} numbers and are left out here. ",
                              count_of(left_out.size(), "matrix", "matrices"), with_commas(cell_count(left_out))),
                  code("attn backward"), " shows their gradients."));
  }
  for (const Node* words : words_going_in(graph, *of.front().node)) {
    const auto found = std::ranges::find(earlier, &words->original());
    if (found == earlier.end()) continue;
    const auto& gradient = derivatives[static_cast<std::size_t>(found - earlier.begin())];
    if (gradient) add_by_word(page, *words, *gradient, of, without_masks);
  }
}

// The logits of the right words where these are known, and otherwise the last result.
const Node& usual_result(const Differentiable& forward, const Arguments& arguments) {
  if (!forward.predictions.empty()) return add_right_logits(forward);
  return add_loss(forward, arguments).from.node();
}

// The gradients of one number, by all that it is computed from: what a page for browsers computes. Which number that
// is, its first gradient says, an input.
void add_gradients_in_browser(Answer& answer, const Differentiable& forward, const Arguments& arguments) {
  const Loss loss = add_loss(forward, arguments);
  const Backward back(loss.from, loss.d_from);
  compute_watched(*forward.computation.graph);
  answer.attachments.put(BrowserPageContent{.graph = forward.computation.graph});
  answer.computation.drawings = forward.computation.drawings;
  answer.computation.random = forward.computation.random;
}

// Without another one it is the first number of the last row: in a causal model it depends on all words.
Arguments asked_for_browser(const Arguments& arguments, const Differentiable& forward) {
  Arguments asked = arguments;
  if (asked.has(option::by))
    fail(
        "--by: a page for browsers follows the gradients of one number with respect to all others. Give that number with --of CELL, and leave out --by");
  const std::string of = asked.text(option::of).value_or("");
  if (of.find('[') != std::string::npos) return asked;
  const bool has_last = forward.predictions.empty() && !forward.results.empty();
  const Node& result = !of.empty() ? node_of(*forward.computation.graph, of)
                       : has_last  ? *forward.results.back()
                                   : usual_result(forward, arguments);
  asked.put(option::of, fmt::format("{}[{},1]", result.name, result.frame.shape.rows));
  return asked;
}

}  // namespace

Answer influence_page(const Differentiable& forward, const Arguments& given) {
  Graph& graph = *forward.computation.graph;
  const Arguments arguments = given.has(option::page) ? asked_for_browser(given, forward) : given;
  const std::optional<std::string> of = arguments.text(option::of), by = arguments.text(option::by);
  std::optional<CellSelection> by_cell, of_cell;
  if (by) by_cell = differentiable_cells(graph, *by);
  if (of && of->find('[') != std::string::npos) of_cell = find_cells(graph, *of);
  const Node& result = of ? node_of(graph, *of) : usual_result(forward, arguments);
  if (!result.original().op) fail("--of {}: it is given, so it depends on nothing", result.name);
  std::vector<const Node*> needed;
  for (const Node& node : graph.nodes()) {
    if (node.index <= result.original().index) needed.push_back(&node);
  }
  require_room(plan(graph, needed));
  compute_watched(graph, needed);
  QuantityPage page;
  if (forward.computation.problem) page.set_problem(forward.computation.problem);
  const std::string asked = by_cell ? selection_in_words(*by_cell) : of_cell ? selection_in_words(*of_cell) : "";
  page.head(1, by_cell && of_cell ? fmt::format("{} and {}", selection_in_words(*by_cell), selection_in_words(*of_cell))
               : asked.empty()    ? std::string("Gradients of the outputs")
                                  : fmt::format("{} {}", by ? "Gradients with respect to" : "Gradients of", asked));
  if (!forward.title.empty()) page.say(text(Span{Span::Style::emphasis, forward.title}));
  const std::string random = what_is_random(forward.computation);
  if (!random.empty()) page.say(random);
  page.say(
      "A derivative says how fast one number grows when another one grows by a little. "
      "Derivatives are computed by going back through the computation, not from differences.");
  const bool has_row = (by_cell && by_cell->size() > 1) || (of_cell && of_cell->size() > 1);
  if (has_row) {
    page.say("Of a whole row, the square root of the sum of the squared derivatives stands in place of a derivative.");
  }
  if (by_cell && of_cell) {
    const auto gradient = gradients_of_asked(*of_cell, {by_cell->front().node}).front();
    const double derivative = gradient ? derivative_by(*gradient, *by_cell) : 0.0;
    const bool are_numbers = of_cell->size() == 1 && by_cell->size() == 1;
    page.say(text(are_numbers ? "The derivative of " : "The size of the Jacobian of ",
                  code(selection_in_words(*of_cell)), " by ", code(selection_in_words(*by_cell)), " is ",
                  strong(written_digits(derivative, 6)),
                  gradient ? "." : ": the first is not computed from the second."));
    page.table("derivative", {"derivative"}, {{selection_in_words(*of_cell), {derivative}}});
  } else if (by_cell) {
    add_dependents(page, result, *by_cell);
  } else if (of_cell) {
    add_sources(page, graph, *of_cell);
  } else {
    add_attention_beside_gradient(page, result);
    add_through_time(page, result);
  }
  std::vector<std::string> remarks = forward.remarks;
  for (std::string& warning : warnings(graph)) remarks.push_back(std::move(warning));
  Answer answer = std::move(page).answer(std::move(remarks));
  if (arguments.has(option::page)) add_gradients_in_browser(answer, forward, arguments);
  return answer;
}

}  // namespace attn
