#include "command/backward/influence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "command/backward/loss.hpp"
#include "command/backward/reach.hpp"
#include "command/solve.hpp"
#include "core/attention/watches.hpp"
#include "core/graph/find.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/heads.hpp"

namespace attn {

// --- through time

namespace {

// The states of the encoder, one after another; none: this is no recurrent network.
std::vector<const Node*> states_of(const Graph& graph) {
  std::vector<const Node*> states;
  while (const Node* state = graph.find({{scope::encoder, {scope::number, states.size() + 1}}, role::h}))
    states.push_back(state);
  return states;
}

struct Ways {
  Matrix by_attention, by_states;  // ‖∂ output t / ∂ state i‖  [outputs, states]
};

Ways ways_back(const Node& outputs, const std::vector<const Node*>& states, const Node* stacked) {
  std::vector<const Node*> wanted = states;
  if (stacked) wanted.push_back(stacked);
  Sensitivity back(outputs, wanted);
  const Shape shape{outputs.frame.shape.rows, states.size()};
  Ways ways{Matrix(shape, 0.0), Matrix(shape, 0.0)};
  for (std::size_t t = 0; t < shape.rows; ++t) {
    back.take(t, 0);
    const auto shortcut = stacked ? back.by(states.size()) : nullptr;
    for (std::size_t i = 0; i < shape.columns; ++i) {
      const auto whole = back.by(i);
      double direct = 0.0, along = 0.0;
      for (std::size_t c = 0; whole && c < whole->size(); ++c) {
        const double one = (*whole)(0, c), other = shortcut ? (*shortcut)(i, c) : 0.0;
        direct += other * other;
        along += (one - other) * (one - other);
      }
      ways.by_attention(t, i) = std::sqrt(direct);
      ways.by_states(t, i) = std::sqrt(along);
    }
  }
  return ways;
}

// Of a recurrent encoder-decoder: how much each output changes with each state of the encoder, along the
// states and along the shortcut through attention. Nothing for other computations.
void add_through_time(QuantityPage& page, const Node& outputs) {
  const Graph& graph = *outputs.graph;
  const std::vector<const Node*> states = states_of(graph);
  if (states.size() < 2 || outputs.frame.shape.columns != 1) return;
  const Node* const stacked = graph.find(role::h);
  const Ways ways = ways_back(outputs, states, stacked);
  const Axis& words = graph.at({{scope::encoder}, role::x}).frame.rows;
  const bool attends = graph.find(role::alignment) != nullptr;
  page.head(2, "Through the states, and through attention");
  page.say(
      "The size of the gradient of each output's logit (rows) with respect to each state of the encoder (columns). " +
      std::string(
          attends
              ? "Along the states are all paths except the direct ones of attention: they go through later states of the encoder, if there are any, and leave them by attention, or from the final state into the decoder."
              : "All paths lead along the states: through the later states of the encoder, if there are any, and from the final state into the decoder."));
  page.matrix("along_states", ways.by_states, outputs.frame.rows, words, Heat::around_zero);
  const std::size_t n = states.size();
  const double first = ways.by_states(0, 0), last = ways.by_states(0, n - 1);
  if (first > 0.0 && last > 0.0) {
    page.say(
        fmt::format("For output 1, the gradient along the states is {} at the final state and {} at the first: "
                    "{} times as large, after {}.",
                    written_digits(last, 4), written_digits(first, 4), written_digits(first / last, 4),
                    count_of(n - 1, "more state")));
  } else if (last > 0.0) {
    page.say("For output 1, nothing of the gradient along the states reaches the first state.");
  }
  if (!attends) {
    page.say("This variant has no attention: the gradient has no other path.");
    return;
  }
  page.say(
      "Through attention each output has a direct way to each state, whatever lies between. "
      "Its gradient depends on the weights, and not on the distance.");
  page.matrix("through_attention", ways.by_attention, outputs.frame.rows, words, Heat::around_zero);
  std::size_t stronger = 0;
  for (std::size_t k = 0; k < ways.by_states.size(); ++k) {
    if (cells(ways.by_attention)[k] > cells(ways.by_states)[k]) ++stronger;
  }
  page.say(fmt::format(
      "The way through attention carries more than the way along the states in {} of {} pairs of an output and a state.",
      stronger, ways.by_states.size()));
}

}  // namespace

// --- influence

namespace {

constexpr std::size_t most_ways_back = 20000;
constexpr std::uint64_t most_work_of_ways = std::uint64_t{1} << 34;
constexpr double rounding_of_derivative = 1e-12;  // of the largest derivative: less is what rounding leaves of 0
constexpr double rounding_of_ties = 1e-9;         // of the larger number: two that are nearer count as equal

void require_ways(std::uint64_t ways, std::uint64_t work) {
  if (ways <= most_ways_back && ways * std::max<std::uint64_t>(work, 1) <= most_work_of_ways) return;
  fail(
      "the backward pass would be run {} times, once for each number: choose one number with --of, or give fewer words or smaller sizes",
      ways);
}

bool is_computed(const Node& node) {
  return node.op && !node.is_alias() && !node.name.empty() && node.family != &family::gradient;
}

// "[it,1]"
std::string place_in_matrix(const Cell& cell) {
  const Axis &rows = cell.node->frame.rows, &columns = cell.node->frame.columns;
  return fmt::format("[{},{}]", place_called(rows, cell.row), place_called(columns, cell.column));
}

std::string asked_cells(const Cell& cell) { return cell.node->name + place_in_matrix(cell); }

// One number, or a whole row.
using Asked = std::vector<Cell>;

// One cell with the words of its row and column, where its address has numbers for them.
std::string asked_cells(const Asked& asked) {
  if (asked.size() == 1) {
    const Cell& cell = asked.front();
    const auto has_number = [](const Axis& axis, std::size_t i) {
      return axis.labels && place_called(axis, i) != axis.label(i);
    };
    const bool is_plain =
        !has_number(cell.node->frame.rows, cell.row) && !has_number(cell.node->frame.columns, cell.column);
    return is_plain ? asked_cells(cell) : fmt::format("{} ({})", asked_cells(cell), cell_in_words(cell));
  }
  const Node& node = *asked.front().node;
  return fmt::format("{}[{}]", node.name, place_called(node.frame.rows, asked.front().row));
}

// The words that go in: their vectors; or where there are none, what is given in their place.
std::vector<const Node*> words_of(const Graph& graph, const Node& result) {
  std::vector<const Node*> vectors, given;
  for (const Node& node : graph.nodes()) {
    if (node.index >= result.original().index) break;
    const bool is_inside = node.within(scope::layer) || node.within(scope::number);
    if (node.is(role::x) && !is_inside) vectors.push_back(&node);
    if (!node.op && (node.is(role::q) || node.is(role::k) || node.is(role::v))) given.push_back(&node);
  }
  return vectors.empty() ? given : vectors;
}

// What of a matrix a number influences, or is influenced by.
struct Counted {
  const Node* node;
  std::size_t depend = 0, masked = 0, apart = 0, flat = 0;
  double largest = 0.0;
  Cell where = {};
  std::size_t as_large = 0;  // others that are as large, but for rounding
};

// How each number of a matrix has to do with one number: its derivative, and what the explanations say.
struct Relation {
  const Marked& with_masks;
  const Marked& without_masks;
};

Counted counted(const Node& node, const Matrix* derivatives, const Relation& relation, double rounding) {
  Counted all{&node};
  for (std::size_t i = 0; i < node.frame.shape.rows; ++i) {
    for (std::size_t j = 0; j < node.frame.shape.columns; ++j) {
      const Cell cell{&node, i, j};
      const double size = derivatives ? std::fabs((*derivatives)(i, j)) : 0.0;
      if (size > rounding) {
        ++all.depend;
        const double most = std::fabs(all.largest);
        if (size > most * (1.0 + rounding_of_ties))
          all.as_large = 0;
        else if (size >= most * (1.0 - rounding_of_ties))
          ++all.as_large;
        if (size > most) {
          all.largest = (*derivatives)(i, j);
          all.where = cell;
        }
      } else if (relation.with_masks.has(cell)) {
        ++all.flat;
      } else if (relation.without_masks.has(cell)) {
        ++all.masked;
      } else {
        ++all.apart;
      }
    }
  }
  return all;
}

void add_counts(QuantityPage& page, const std::vector<Counted>& all) {
  page.say(
      "Each line counts the numbers of a matrix. "
      "Some depend: their derivative is not 0, and the largest stands at the end. "
      "Others do not: because a mask cuts them off; because they are apart, with no path between (other words, other heads); or because the derivative is 0 here, or less than 1e-12 of the largest on this page: a factor on the way is 0, as that of ReLU below 0, or several paths cancel.");
  Listing listing{{"matrix", "numbers", "depend", "masked", "apart", "zero", "largest", "at"}, {}, true};
  for (const Counted& one : all) {
    listing.rows.push_back({one.node->name, with_commas(one.node->frame.shape.cells()), with_commas(one.depend),
                            with_commas(one.masked), with_commas(one.apart), with_commas(one.flat),
                            one.depend ? written_digits(one.largest, 4) : "–",
                            one.depend == 0    ? "–"
                            : one.as_large > 0 ? "several"
                                               : place_in_matrix(one.where)});
  }
  page.say(std::move(listing));
}

const Node& node_of(const Graph& graph, const std::string& name) {
  if (name.find('[') != std::string::npos) return *find_cells(graph, name).front().node;
  const std::vector<const Node*> found = graph.matching(name);
  if (found.size() > 1)
    fail("--of {}: this can mean {} or {}. Give the whole name", name, found[0]->name, found[1]->name);
  return *found.front();
}

Asked differentiable_cells(const Graph& graph, const std::string& address) {
  Asked asked = find_cells(graph, address);
  const Content content = asked.front().node->content();
  if (content == Content::ids || content == Content::permissions)
    fail(
        "{} has no gradient, because it only chooses: nothing changes smoothly with it. Choose a number that is multiplied or added",
        address);
  return asked;
}

// --- what depends on a number

double norm_of(std::span<const double> numbers) {
  double squares = 0.0;
  for (const double number : numbers) squares += number * number;
  return std::sqrt(squares);
}

// The derivative by one number, or the length of the gradient by a row.
double derivative_by(const Matrix& gradient, const Asked& by) {
  const Cell& first = by.front();
  return by.size() == 1 ? gradient(first.row, first.column) : norm_of(row(gradient, first.row));
}

Matrix derivatives_of(const Node& later, const Asked& by, const Marked& reached) {
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

double largest_of(const Matrix& derivatives) {
  double largest = 0.0;
  for (const double one : cells(derivatives)) largest = std::max(largest, std::fabs(one));
  return largest;
}

void add_dependents(QuantityPage& page, const Node& last, const Asked& by) {
  const Graph& graph = *last.graph;
  const Marked with_masks = computed_from(by, last, true), without_masks = computed_from(by, last, false);
  std::vector<const Node*> later, beside;
  const Marked before = leading_to(by, false, [](const Node&) { return true; });
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
  if (later.empty()) fail("nothing is computed from {}: choose a number that something depends on", asked_cells(by));
  std::vector<Matrix> derivatives;
  double largest = 0.0;
  for (const Node* node : later) {
    derivatives.push_back(derivatives_of(*node, by, with_masks));
    largest = std::max(largest, largest_of(derivatives.back()));
  }
  page.head(2, "What depends on it");
  std::vector<Counted> all;
  for (std::size_t i = 0; i < later.size(); ++i)
    all.push_back(counted(*later[i], &derivatives[i], {with_masks, without_masks}, rounding_of_derivative * largest));
  add_counts(page, all);
  if (earlier > 0)
    page.say(fmt::format("It was itself computed from {}, which cannot depend on it.",
                         count_of(earlier, "other matrix", "other matrices")));
  if (!beside.empty()) {
    std::vector<std::string> names;
    for (const Node* node : beside) names.push_back(node->name);
    page.say(fmt::format("No path leads to {}: {}.",
                         beside.size() == 1 ? "one matrix beside it" : "the matrices beside it",
                         fmt::join(names, ", ")));
  }
  const Matrix& of_last = derivatives.back();
  if (all.back().depend == 0)
    page.say(largest_of(of_last) == 0.0
                 ? fmt::format("All derivatives of {} are 0: the effect of {} ends before.", later.back()->name,
                               asked_cells(by))
                 : fmt::format("All derivatives of {} are less than 1e-12 of the largest on this page.",
                               later.back()->name));
  if (all.back().depend == 0) return;
  page.head(2, fmt::format("The derivatives of {}", later.back()->name));
  page.say(fmt::format("How fast each number of {} grows with {}.", later.back()->name, asked_cells(by)));
  page.matrix("derivatives", of_last, last.frame.rows, last.frame.columns, Heat::around_zero);
}

// --- what a number depends on

// By word: the gradient's length, and the part that its vector has in a first-order change.
void add_by_word(QuantityPage& page, const Node& words, const Matrix& gradient, const Asked& asked,
                 const Marked& behind) {
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
    std::vector<double> numbers = {norm_of(row(gradient, j))};
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
std::vector<std::shared_ptr<const Matrix>> gradients_of(const Asked& of, const std::vector<const Node*>& by) {
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

std::size_t cells_of(const std::vector<const Node*>& nodes) {
  std::size_t cells = 0;
  for (const Node* node : nodes) cells += node->frame.shape.cells();
  return cells;
}

// What is given beside the words, where that is a large model: the way back to all of it would take longer than all
// else.
std::vector<const Node*> given_left_out(const Graph& graph, const Node& result) {
  constexpr std::size_t most_cells = std::size_t{1} << 20;
  const std::vector<const Node*> words = words_of(graph, result);
  std::vector<const Node*> given;
  for (const Node& node : graph.nodes()) {
    const bool counts = !node.op && !node.is(role::memory) && node.content() == Content::numbers &&
                        std::ranges::find(words, &node) == words.end();
    if (counts) given.push_back(&node);
  }
  return cells_of(given) > most_cells ? given : std::vector<const Node*>();
}

void add_sources(QuantityPage& page, const Graph& graph, const Asked& of) {
  const std::vector<const Node*> left_out = given_left_out(graph, *of.front().node);
  const auto is_told = [&](const Node& node) { return std::ranges::find(left_out, &node) == left_out.end(); };
  const Marked with_masks = leading_to(of, true, is_told), without_masks = leading_to(of, false, is_told);
  std::vector<const Node*> earlier;
  for (const Node& node : graph.nodes()) {
    const bool counts = !node.name.empty() && !node.is_alias() && &node != &of.front().node->original() &&
                        node.content() != Content::ids && node.content() != Content::permissions;
    if (counts && without_masks.has_any(node)) earlier.push_back(&node);
  }
  if (earlier.empty()) fail("{} is computed from nothing: choose a number that is computed", asked_cells(of));
  const std::vector<std::shared_ptr<const Matrix>> derivatives = gradients_of(of, earlier);
  double largest = 0.0;
  for (const auto& one : derivatives) {
    if (one) largest = std::max(largest, largest_of(*one));
  }
  if (largest == 0.0) {
    page.say("All derivatives are 0: to first order, no small change of what goes in changes it.");
  }
  page.head(2, "What it depends on");
  std::vector<Counted> all;
  for (std::size_t i = 0; i < earlier.size(); ++i)
    all.push_back(
        counted(*earlier[i], derivatives[i].get(), {with_masks, without_masks}, rounding_of_derivative * largest));
  add_counts(page, all);
  if (!left_out.empty()) {
    page.say(text(fmt::format("The {} that are given beside the words have {} numbers and are left out here. ",
                              count_of(left_out.size(), "matrix", "matrices"), with_commas(cells_of(left_out))),
                  code("attn backward"), " shows their gradients."));
  }
  for (const Node* words : words_of(graph, *of.front().node)) {
    const auto found = std::ranges::find(earlier, &words->original());
    if (found == earlier.end()) continue;
    const auto& gradient = derivatives[static_cast<std::size_t>(found - earlier.begin())];
    if (gradient) add_by_word(page, *words, *gradient, of, without_masks);
  }
}

// --- the outputs and the words, beside attention

// ‖∂ row i / ∂ word j‖ for each of some matrices of words.
std::vector<Matrix> influences(const Node& result, const std::vector<const Node*>& words) {
  Sensitivity back(result, words);
  const Shape shape = result.frame.shape;
  require_ways(shape.cells(), back.work());
  std::vector<Matrix> squares;
  for (const Node* one : words) squares.emplace_back(Shape{shape.rows, one->frame.shape.rows}, 0.0);
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t c = 0; c < shape.columns; ++c) {
      back.take(i, c);
      for (std::size_t w = 0; w < words.size(); ++w) {
        const auto gradient = back.by(w);
        for (std::size_t j = 0; gradient && j < gradient->shape().rows; ++j) {
          for (const double one : row(*gradient, j)) squares[w](i, j) += one * one;
        }
      }
    }
  }
  for (Matrix& one : squares) {
    for (double& cell : cells(one)) cell = std::sqrt(cell);
  }
  return squares;
}

// The place of the largest number, where it is larger than all others by more than rounding.
std::optional<std::size_t> largest_place(std::span<const double> numbers) {
  if (numbers.empty()) return std::nullopt;
  const auto best = static_cast<std::size_t>(std::ranges::max_element(numbers) - numbers.begin());
  if (!(numbers[best] > 0.0)) return std::nullopt;
  for (std::size_t j = 0; j < numbers.size(); ++j) {
    if (j != best && numbers[best] - numbers[j] <= rounding_of_ties * numbers[best]) return std::nullopt;
  }
  return best;
}

Matrix shares_of(const Matrix& influence) {
  Matrix shares = influence;
  for (std::size_t i = 0; i < shares.shape().rows; ++i) {
    double sum = 0.0;
    for (const double one : row(influence, i)) sum += one;
    for (double& one : row(shares, i)) one = sum > 0.0 ? one / sum : 0.0;
  }
  return shares;
}

// Attention weights of these queries and words: of each head, or of many heads their average.
struct Attending {
  std::string title;
  Matrix weights;
};

std::vector<Attending> attending(const Graph& graph, Shape shape) {
  constexpr std::size_t most_heads = 2;
  if (std::ranges::none_of(graph.nodes(), [](const Node& node) { return node.is(role::weights); })) return {};
  std::vector<Attending> all;
  std::vector<Attention> attentions = attentions_of(graph, std::nullopt);
  std::erase_if(attentions, [&](const Attention& one) { return one.heads.front()->frame.shape != shape; });
  std::size_t heads = 0;
  for (const Attention& one : attentions) heads += one.heads.size();
  for (const Attention& one : attentions) {
    if (heads <= most_heads) {
      for (const Node* head : one.heads) {
        const std::string place = head->place ? head->place->title() : head->name;
        all.push_back({place, head->matrix()});
      }
      continue;
    }
    Matrix sum(shape, 0.0);
    for (const Node* head : one.heads) {
      for (std::size_t i = 0; i < sum.size(); ++i)
        cells(sum)[i] += cells(head->matrix())[i] / static_cast<double>(one.heads.size());
    }
    all.push_back({one.place ? one.place->title() : "heads", std::move(sum)});
  }
  return all;
}

void add_comparison(QuantityPage& page, const Axis& rows, const Axis& words, const Matrix& shares,
                    const std::vector<Attending>& attending) {
  Listing listing{{"query", "gradient"}, {}, true};
  for (const Attending& one : attending) listing.columns.push_back(one.title);
  std::vector<std::size_t> others(attending.size(), 0);
  std::vector<std::size_t> compared(attending.size(), 0);
  for (std::size_t i = 0; i < shares.shape().rows; ++i) {
    const std::optional<std::size_t> most = largest_place(row(shares, i));
    std::vector<std::string> line = {place_in_lists(rows, i), most ? place_in_lists(words, *most) : "–"};
    for (std::size_t h = 0; h < attending.size(); ++h) {
      const std::optional<std::size_t> key = largest_place(row(attending[h].weights, i));
      line.push_back(key ? place_in_lists(words, *key) : "–");
      if (!key || !most) continue;
      ++compared[h];
      if (*key != *most) ++others[h];
    }
    listing.rows.push_back(std::move(line));
  }
  page.say(
      "The word with the largest share, and the word with the largest weight. "
      "A dash means that there is none, or that several share it.");
  page.say(std::move(listing));
  for (std::size_t h = 0; h < attending.size(); ++h) {
    page.say(text(
        code(attending[h].title),
        compared[h] == 0
            ? std::string(": no query has both a largest share and a largest weight, so nothing is compared.")
            : fmt::format(
                  ": {} compared. In {} of them, the largest weight and the largest gradient are at different words.",
                  count_of(compared[h], "query is", "queries are"), others[h])));
  }
}

void add_attention_beside_gradient(QuantityPage& page, const Node& result) {
  const Graph& graph = *result.graph;
  const std::vector<const Node*> words = words_of(graph, result);
  if (words.empty()) fail("no words go in whose influence could be shown: give --of and --by numbers");
  const std::vector<Matrix> all = influences(result, words);
  page.say(text(
      "The influence of a word on a row of ", code(result.name),
      " is the size of their Jacobian: the square root of the sum of all squared derivatives of the row's numbers with respect to the numbers of the word's vector. "
      "Shares are influences divided by the sum of their row."));
  for (std::size_t w = 0; w < words.size(); ++w) {
    const Node& one = *words[w];
    page.head(2, fmt::format("The influence of {}", one.name));
    if (largest_of(all[w]) == 0.0) {
      page.say("All derivatives are 0: to first order, no small change of these words changes the result.");
      continue;
    }
    page.matrix("influence." + one.name, all[w], result.frame.rows, one.frame.rows, Heat::around_zero);
    const Matrix shares = shares_of(all[w]);
    const std::vector<Attending> heads = attending(graph, shares.shape());
    page.head(2, fmt::format("Attention beside gradients: {}", one.name));
    HeatMaps maps;
    const auto add_map = [&](std::string title, const Matrix& cells) {
      maps.tables.push_back({.title = std::move(title),
                             .rows = result.frame.rows,
                             .columns = one.frame.rows,
                             .cells = std::make_shared<const Matrix>(cells),
                             .heat = Heat::weights});
    };
    add_map("shares", shares);
    for (const Attending& head : heads) add_map(head.title, head.weights);
    page.say(std::move(maps));
    std::vector<std::string> untouched;
    for (std::size_t i = 0; i < all[w].shape().rows; ++i) {
      if (std::ranges::all_of(row(all[w], i), [](double cell) { return cell == 0.0; }))
        untouched.push_back(place_in_lists(result.frame.rows, i));
    }
    if (!untouched.empty()) {
      page.say(fmt::format("No word influences {}, so there are no shares and 0 stands in their place.",
                           fmt::join(untouched, ", ")));
    }
    if (heads.empty()) {
      page.say("There are no attention weights of these queries and words to compare with.");
      continue;
    }
    add_comparison(page, result.frame.rows, one.frame.rows, shares, heads);
  }
}

// The logits of the right words where these are known, and otherwise the last result.
const Node& usual_result(const Differentiable& forward, const Arguments& arguments) {
  if (!forward.predictions.empty()) return add_right_logits(forward);
  return add_loss(forward, arguments).from.node();
}

}  // namespace

Answer influence_page(const Differentiable& forward, const Arguments& arguments) {
  Graph& graph = *forward.computation.graph;
  const std::optional<std::string> of = arguments.text(option::of), by = arguments.text(option::by);
  std::optional<Asked> by_cell, of_cell;
  if (by) by_cell = differentiable_cells(graph, *by);
  if (of && of->find('[') != std::string::npos) of_cell = find_cells(graph, *of);
  const Node& result = of ? node_of(graph, *of) : usual_result(forward, arguments);
  if (!result.original().op) fail("--of {}: it is given, so it depends on nothing", result.name);
  std::vector<const Node*> needed;
  for (const Node& node : graph.nodes()) {
    if (node.index <= result.original().index) needed.push_back(&node);
  }
  require_room(plan(graph, needed));
  compute(graph, needed);
  QuantityPage page;
  if (forward.computation.problem) page.set_problem(forward.computation.problem);
  const std::string asked = by_cell ? asked_cells(*by_cell) : of_cell ? asked_cells(*of_cell) : "";
  page.head(1, by_cell && of_cell ? fmt::format("{} and {}", asked_cells(*by_cell), asked_cells(*of_cell))
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
    const auto gradient = gradients_of(*of_cell, {by_cell->front().node}).front();
    const double derivative = gradient ? derivative_by(*gradient, *by_cell) : 0.0;
    const bool are_numbers = of_cell->size() == 1 && by_cell->size() == 1;
    page.say(text(are_numbers ? "The derivative of " : "The size of the Jacobian of ", code(asked_cells(*of_cell)),
                  " by ", code(asked_cells(*by_cell)), " is ", strong(written_digits(derivative, 6)),
                  gradient ? "." : ": the first is not computed from the second."));
    page.table("derivative", {"derivative"}, {{asked_cells(*of_cell), {derivative}}});
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
  return std::move(page).answer(std::move(remarks));
}

}  // namespace attn
