#include "core/graph/run.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <utility>

#include "core/math/machine.hpp"
#include "core/math/matrix.hpp"
#include "core/math/product.hpp"
#include "core/math/rows.hpp"
#include "core/math/stored_matrix.hpp"
#include "core/support/error.hpp"

namespace attn {
namespace {

std::atomic<std::uint64_t> twice = 0;

// Below this much work, more threads cost more than they give.
constexpr std::uint64_t least_work_to_share = std::uint64_t{1} << 21;

}  // namespace

std::uint64_t Run::computed_twice() { return twice; }

const Run::Numbers* Run::numbers_of(const Node& node) const {
  const std::size_t index = node.original().index;
  return index < numbers_.size() ? &numbers_[index] : nullptr;
}

Run::Numbers& Run::numbers(const Node& node) {
  if (numbers_.size() < graph_.nodes().size()) numbers_.resize(graph_.nodes().size());
  return numbers_[node.original().index];
}

bool Run::holds(const Node& node) const {
  const Numbers* found = numbers_of(node);
  return node.original().given || (found && found->cells);
}

Rows Run::whole(const Node& node) const { return rows_of(node.given ? *node.given : *numbers_of(node)->cells); }

// An operand that stands, as the operation takes it. What is stored stays so whatever was made of it, as bits do not
// depend on what is kept.
Rows Run::operand_of(const Node& node, std::size_t i) const {
  const Node& operand = *node.operands[i];
  const StoredMatrix* const stored = operand.given && node.op->stored_operand == i ? operand.given->stored() : nullptr;
  const Shape shape = operand.frame.shape;
  if (!stored || shape.cells() <= most_cells_of_small) return whole(operand);
  return {.shape = shape, .stored = stored, .in_single = is_single_};
}

Rows Run::rows_of_input(const Node& input, RowRange rows, Matrix& memory) const {
  if (holds(input)) return whole(input.original());
  const Shape shape{rows.count, input.frame.shape.columns};
  memory = Matrix(shape);
  const RowsToMake to_make{memory.data(), rows.first, shape};
  input.made(to_make);
  return to_make;
}

// A graph grows at its end: an input is counted once.
std::uint64_t Run::bytes_at_rest() {
  const std::deque<Node>& nodes = graph_.nodes();
  for (; inputs_counted_ < nodes.size(); ++inputs_counted_) {
    const Node& node = nodes[inputs_counted_];
    if (node.given && node.given->has_cells()) bytes_ += bytes_of(node.frame.shape);
  }
  return bytes_;
}

// What was asked for once is kept.
Plan Run::planned(const std::vector<const Node*>& targets) {
  PlanRequest wish{.targets = {},
                   .stands = [this](const Node& node) { return holds(node); },
                   .stays = [this](const Node& node) { return numbers(node).were_asked_for || is_kept(node, keep_); },
                   .bytes_before = bytes_at_rest(),
                   .bytes_there = bytes_at_rest()};
  for (const Node* target : targets) {
    numbers(*target).were_asked_for = true;
    if (!holds(*target)) wish.targets.push_back(&target->original());
  }
  return plan(wish);
}

// What is made from nothing has the same numbers each time, and is made once.
Plan Run::plan_to_repeat(const std::vector<const Node*>& nodes) {
  const auto is_constant = [](const Node& node) { return node.op && node.operands.empty(); };
  PlanRequest wish{.targets = {},
                   .stands = [&](const Node& node) { return node.given || (is_constant(node) && holds(node)); },
                   .stays = [](const Node&) { return false; },
                   .bytes_before = bytes_at_rest(),
                   .bytes_there = bytes_at_rest()};
  for (const Node* node : nodes) wish.targets.push_back(&node->original());
  for (const Plan::Step& step : plan(wish).steps) {
    if (is_constant(*step.node)) at(*step.node);
  }
  wish.bytes_before = wish.bytes_there = bytes_at_rest();
  std::erase_if(wish.targets, [&](const Node* node) { return wish.stands(*node); });
  return plan(wish);
}

void Run::repeat(const Plan& plan) {
  for (const Plan::Step& step : plan.steps) {
    let_go(*step.node);
    for (const Node* passing : step.passing) let_go(*passing);
  }
  carry_out(plan);
}

void Run::let_go(const Node& node) {
  Numbers& those = numbers(node);
  those.were_made = false;
  if (!those.cells) return;
  those.cells.reset();
  bytes_ -= bytes_of(node.frame.shape);
}

void Run::compute() {
  std::vector<const Node*> targets;
  for (const Node& node : graph_.nodes()) {
    if (node.op && !node.is_alias() && is_kept(node, keep_)) targets.push_back(&node);
  }
  compute(targets);
}

void Run::compute(const std::vector<const Node*>& nodes) { carry_out(planned(nodes)); }

std::shared_ptr<const Matrix> Run::at(const Node& node) {
  if (node.original().given) return node.original().given;
  if (!holds(node)) carry_out(planned({&node}));
  return numbers_of(node)->cells;
}

void Run::carry_out(const Plan& plan) {
  require_room(plan);
  Budget::take_work(plan.work);
  Budget::require_cells((bytes_in_use() + plan.most_bytes - std::min(plan.most_bytes, bytes_at_rest())) /
                        sizeof(double));
  for (const Plan::Step& step : plan.steps) take_step(step);
  for (const std::shared_ptr<Watch>& watch : watches_) watch->ends();
}

void Run::begin(const Node& node) {
  if (std::exchange(numbers(node).were_made, true) && node.op) ++twice;
  for (const std::shared_ptr<Watch>& watch : watches_) {
    watch->begins(node);
    for (const Node* alias : node.aliases) watch->begins(*alias);
  }
}

void Run::take_step(const Plan::Step& step) {
  const Node& node = *step.node;
  for (const Node* passing : step.passing) begin(*passing);
  begin(node);
  const Shape shape = node.frame.shape;
  const std::shared_ptr<Matrix> cells =
      step.in_place ? std::move(numbers(*node.operands.front()).cells) : std::make_shared<Matrix>(shape);
  const bool in_blocks = !step.passing.empty() || (step.work >= least_work_to_share && threads() > 1);
  const std::size_t size = in_blocks ? rows_of_block : std::max<std::size_t>(shape.rows, 1);
  parallel_for((shape.rows + size - 1) / size, [&](std::size_t block) {
    const std::size_t first = block * size, count = std::min(size, shape.rows - first);
    make(node, {cells->data() + first * shape.columns, first, {count, shape.columns}}, step.in_place);
  });
  numbers(node).cells = cells;
  if (!step.in_place) bytes_ += bytes_of(shape);
  for (const Node* done : step.done) {
    numbers(*done).cells.reset();
    bytes_ -= bytes_of(done->frame.shape);
  }
}

// The operations that change rows where they stand and need nothing else that passes by: from this node down
// to those rows.
std::vector<const Node*> Run::changes_before(const Node& node) const {
  const auto changes_rows = [this](const Node& one) {
    return one.op && one.op->in_place && !holds(*one.operands.front()) &&
           std::all_of(one.operands.begin() + 1, one.operands.end(),
                       [this](const Node* other) { return holds(*other); });
  };
  std::vector<const Node*> changes;
  for (const Node* one = &node; changes_rows(*one); one = one->operands.front()) changes.push_back(one);
  return changes;
}

void Run::make(const Node& node, RowsToMake rows, bool in_place) const {
  const std::vector<const Node*> changes = in_place ? std::vector<const Node*>() : changes_before(node);
  const Node& first = changes.empty() ? node : *changes.back()->operands.front();
  compute(first, rows, in_place);
  // Changed a few rows at a time, which stay in the cache meanwhile.
  constexpr std::size_t cells_in_cache = std::size_t{1} << 15;
  const std::size_t all = rows.shape.rows, columns = rows.shape.columns;
  const std::size_t few = changes.empty() ? all : std::max<std::size_t>(1, cells_in_cache / columns);
  for (std::size_t i = 0; i < all; i += few) {
    const RowsToMake part{rows.cells + i * columns, rows.first + i, {std::min(few, all - i), columns}};
    tell_watches(first, part);
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
      compute(**change, part, true);
      tell_watches(**change, part);
    }
  }
}

void Run::tell_watches(const Node& node, Rows rows) const {
  if (!node.op) return;
  for (const std::shared_ptr<Watch>& watch : watches_) watch->made(node, rows);
}

// Operands that stand are seen as a whole; the others pass by.
void Run::compute(const Node& node, RowsToMake rows, bool in_place) const {
  if (!node.op) {
    if (!node.made) throw std::logic_error(node.name + " has no numbers");
    node.made(rows);
    return;
  }
  const std::vector<Shape> shapes = shapes_of(node);
  std::vector<Rows> operands;
  std::deque<Matrix> passing;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Node& operand = *node.operands[i];
    const RowRange those = needed(*node.op, node.use(), i, {rows.first, rows.shape.rows});
    if (those.count == 0) {
      operands.push_back({nullptr, 0, {0, shapes[i].columns}});
    } else if (in_place && i == 0) {
      operands.push_back(rows);
    } else if (holds(operand)) {
      operands.push_back(operand_of(node, i));
    } else if (i == 0 && node.op->in_place) {
      make(operand, rows, false);
      operands.push_back(rows);
    } else {
      const RowRange made = whole_blocks(those, shapes[i].rows);
      Matrix& block = passing.emplace_back(Shape{made.count, shapes[i].columns});
      const RowsToMake to_make{block.data(), made.first, block.shape()};
      make(operand, to_make, false);
      operands.push_back(to_make);
    }
  }
  attn::compute(*node.op, node.use(), operands, rows);
  if (is_single_) attn::round_to_single(rows.all());
}

// What a block of a large matrix is made from; operands that are themselves large pass by.
void Run::prepare(const Node& node) {
  const std::vector<Shape> shapes = shapes_of(node);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Node& operand = *node.operands[i];
    const bool is_needed = needed(*node.op, node.use(), i, {0, node.frame.shape.rows}).count > 0;
    if (!is_needed || holds(operand)) continue;
    if (is_large(operand) && passes_by(node, i)) {
      prepare(operand);
    } else {
      at(operand);
    }
  }
}

const Run::Block& Run::block_with(const Node& node, std::size_t row) {
  const std::size_t first = row / rows_of_block * rows_of_block;
  const auto found = std::ranges::find_if(blocks_, [&](const Block& b) { return b.node == &node && b.first == first; });
  if (found != blocks_.end()) return *found;
  prepare(node);
  constexpr std::size_t most = 16;
  if (blocks_.size() == most) blocks_.pop_front();
  const Shape shape{std::min(rows_of_block, node.frame.shape.rows - first), node.frame.shape.columns};
  Budget::take_work(work_of(node) / node.frame.shape.rows * shape.rows);
  blocks_.push_back({&node, Matrix(shape), first});
  Block& block = blocks_.back();
  make(node, {block.cells.data(), first, shape}, false);
  for (const std::shared_ptr<Watch>& watch : watches_) watch->ends();
  return block;
}

double Run::cell(const Node& node, std::size_t row, std::size_t column) {
  const Node& original = node.original();
  if (const StoredMatrix* const stored = original.given ? original.given->stored() : nullptr)
    return stored->number(row, column);
  if (holds(original)) return whole(original)(row, column);
  if (!is_large(original)) return (*at(original))(row, column);
  const Block& block = block_with(original, row);
  return block.cells(row - block.first, column);
}

std::vector<double> Run::row(const Node& node, std::size_t i) {
  const Node& original = node.original();
  if (!holds(original) && is_large(original)) {
    const Block& block = block_with(original, i);
    const std::span<const double> cells = attn::row(block.cells, i - block.first);
    return {cells.begin(), cells.end()};
  }
  const std::shared_ptr<const Matrix> all = at(original);
  if (const StoredMatrix* const stored = all->stored()) {
    std::vector<double> cells(all->shape().columns);
    stored->widen_row(i, cells.data());
    return cells;
  }
  const std::span<const double> cells = attn::row(*all, i);
  return {cells.begin(), cells.end()};
}

}  // namespace attn
