#include "command/backward/asked_loss.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/graph/find.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"

namespace attn {
namespace {

// What a loss is the sum of.
struct Summed {
  const Node* node;
  std::optional<Cell> cell;  // this number alone
};

// The gradient by a node, as an input beside it.
Value given_gradient(const Node& node, Matrix gradient) {
  Graph& graph = *node.graph;
  const Graph::Scope scope(graph, node.place);
  const Name name(family::gradient, *node.role, std::string(node.plain_leaf()));
  Value given = graph.input(name, std::move(gradient), node.frame.rows, node.frame.columns);
  graph.tell_origin(given.node(), "follows from the choice of the loss");
  return given;
}

void require_computed(const Node& node) {
  if (!node.original().op)
    fail("--of {}: it is given, so its gradients lead to nothing else. Choose a matrix that is computed", node.name);
}

Summed asked(const Graph& graph, const std::string& name) {
  if (name.find('[') != std::string::npos) {
    const Cell cell = find_cell(graph, name);
    require_computed(*cell.node);
    return {cell.node, cell};
  }
  const std::vector<const Node*> found = graph.matching(name);
  if (found.size() > 1)
    fail("--of {}: this can mean {} or {}. Give the whole name", name, found[0]->name, found[1]->name);
  require_computed(*found.front());
  return {found.front(), std::nullopt};
}

std::string told_place(const Cell& cell) {
  return fmt::format("{}[{},{}]", cell.node->name, cell.row + 1, cell.column + 1);
}

Loss loss_of(const Summed& summed, const Arguments& arguments) {
  const Node& node = *summed.node;
  const Shape shape = node.frame.shape;
  if (arguments.has(option::upstream)) {
    if (summed.cell)
      fail("--upstream is the gradient with respect to a whole matrix: give --of {} without a cell", node.name);
    const Matrix& given = arguments.matrix(option::upstream).matrix;
    if (given.shape() != shape)
      fail("--upstream is {}, and {} is {}: give a number for each of its numbers", to_string(given.shape()), node.name,
           to_string(shape));
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!std::isfinite(cells(given)[i]))
        fail("--upstream[{},{}] is not finite: give the gradient of a loss", i / shape.columns + 1,
             i % shape.columns + 1);
    }
    return {
        Value(node), given_gradient(node, given),
        text("The gradient with respect to ", code(node.name), " is given. The loss is then the sum of the numbers of ",
             code(node.name), ", each multiplied by its gradient.")};
  }
  if (summed.cell) {
    Matrix one(shape, 0.0);
    one(summed.cell->row, summed.cell->column) = 1.0;
    return {Value(node), given_gradient(node, std::move(one)),
            text("The loss is one number, ", code(told_place(*summed.cell)),
                 ". So the gradient with respect to this number is 1, and 0 with respect to all others of ",
                 code(node.name), ".")};
  }
  if (shape.cells() == 1) {
    return {Value(node), given_gradient(node, Matrix(shape, 1.0)),
            text("The loss is the one number of ", code(node.name),
                 ", so the gradient with respect to it is 1. --of chooses another loss.")};
  }
  return {Value(node), given_gradient(node, Matrix(shape, 1.0)),
          text("The loss is the sum of all numbers of ", code(node.name),
               ". Each of them counts once, so the gradient with respect to each is 1. --of chooses another loss.")};
}

// An outline has no numbers: there γ is what it is before training, all ones.
bool has_equal_numbers(const Node& node) {
  if (node.op || node.made) return false;
  if (!node.given) return true;
  const std::shared_ptr<const Matrix> numbers = node.cells();
  return std::ranges::all_of(cells(*numbers), [&](double one) { return one == (*numbers)(0, 0); });
}

// Its rows have the mean 0, each number times the same γ, plus β: their sum is the same whatever goes in.
bool is_normalized(const Node& node) {
  const Node* from = &node.original();
  while (from->op && (from->op == &op::add || from->op == &op::multiply)) {
    const Node& other = *from->operands.back();
    if (other.op || other.frame.shape.rows != 1) return false;
    if (from->op == &op::multiply && !has_equal_numbers(other)) return false;
    from = &from->operands.front()->original();
  }
  return from->op && from->op == &op::standardize;
}

Summed usual_loss(const Differentiable& forward) {
  Graph& graph = *forward.computation.graph;
  if (forward.results.empty())
    fail("nothing was computed whose gradients could be taken: give --x with its matrices, or --q, --k and --v");
  if (forward.results.size() > 1) {
    std::vector<Value> all;
    for (const Node* result : forward.results) all.emplace_back(*result);
    const Graph::Scope top(graph, nullptr);
    return {&graph.name({role::other, "outputs"}, stack(all)).node(), std::nullopt};
  }
  const Node& result = *forward.results.front();
  if (is_normalized(result)) return {&result, Cell{&result, 0, 0}};
  return {&result, std::nullopt};
}

// The logits of all positions that have a right word, and the ids of these; 0: the model does not know it.
struct Predicted {
  Value logits;
  std::vector<std::size_t> ids;
  std::size_t known;
};

Predicted predicted(const Differentiable& forward) {
  std::vector<Value> all;
  std::vector<std::size_t> ids;
  for (const Prediction& one : forward.predictions) {
    const Value logits(*one.logits);
    const bool are_all = logits.shape().rows == one.ids.size();
    all.push_back(are_all ? logits : rows(logits, 0, one.ids.size()));
    ids.insert(ids.end(), one.ids.begin(), one.ids.end());
  }
  const std::size_t known = ids.size() - static_cast<std::size_t>(std::ranges::count(ids, 0));
  if (known == 0) fail("the model knows none of the right words: give --target in words that it knows, or --of");
  const Graph::Scope top(*forward.computation.graph, nullptr);
  return {stack(all), std::move(ids), known};
}

Loss loss_of_cross_entropy(const Differentiable& forward) {
  Graph& graph = *forward.computation.graph;
  const Predicted right = predicted(forward);
  const std::size_t n = right.ids.size(), unknown = n - right.known;
  // A word that the model does not know does not count, whatever stands in its place.
  Matrix ids({n, 1}), counts({1, n}, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    if (right.ids[i] != 0) counts(0, i) = 1.0 / static_cast<double>(right.known);
    ids(i, 0) = static_cast<double>(std::max<std::size_t>(right.ids[i], 1));
  }
  const Graph::Scope top(graph, nullptr);
  const Axis words = right.logits.node().frame.rows;
  const Value expected = graph.input(role::expected, std::move(ids), words, axis("id"));
  const Value losses = name(role::losses, labelled(cross_entropy(right.logits, expected), words));
  const Value counted = graph.input(role::counted, std::move(counts), axis("loss"), words);
  graph.tell_origin(counted.node(), "follows from the number of words");
  const Value loss = name(role::loss, matmul(counted, losses));
  Text told = text("The loss is the cross-entropy, −ln of the probability of the right word, averaged over ",
                   fmt::format("{}. ", count_of(right.known, "word")), forward.told_words);
  if (unknown > 0) {
    told.push_back({Span::Style::plain,
                    fmt::format(" {} of them: the model does not know them, and they do not count.", unknown)});
  }
  return {loss, given_gradient(loss.node(), Matrix({1, 1}, 1.0)), std::move(told)};
}

}  // namespace

Loss add_loss(const Differentiable& forward, const Arguments& arguments) {
  if (const std::optional<std::string> name = arguments.text(option::of))
    return loss_of(asked(*forward.computation.graph, *name), arguments);
  if (!forward.predictions.empty() && !arguments.has(option::upstream)) return loss_of_cross_entropy(forward);
  Summed summed = usual_loss(forward);
  if (arguments.has(option::upstream)) summed.cell = std::nullopt;
  Loss loss = loss_of(summed, arguments);
  if (summed.cell) {
    loss.told.push_back(
        {Span::Style::plain,
         " The rows of the output are normalized, so the sum of all its numbers would be the same whatever goes in. --of chooses another loss."});
  }
  return loss;
}

const Node& add_right_logits(const Differentiable& forward) {
  Graph& graph = *forward.computation.graph;
  const Predicted right = predicted(forward);
  const Frame& frame = right.logits.node().frame;
  Matrix chosen(frame.shape, 0.0);
  for (std::size_t i = 0; i < right.ids.size(); ++i) {
    if (right.ids[i] != 0) chosen(i, right.ids[i] - 1) = 1.0;
  }
  const Graph::Scope top(graph, nullptr);
  const Value choice = graph.input({role::one_hot, "right_words"}, std::move(chosen), frame.rows, frame.columns);
  return graph.name({role::other, "right_logits"}, row_sums(multiply(right.logits, choice))).node();
}

double value_of(const Loss& loss) {
  const std::shared_ptr<const Matrix> numbers = loss.from.node().cells(), factors = loss.d_from.node().cells();
  double sum = 0.0;
  for (std::size_t i = 0; i < numbers->size(); ++i) {
    const double factor = cells(*factors)[i];
    if (factor != 0.0) sum += factor * cells(*numbers)[i];
  }
  return sum;
}

}  // namespace attn
