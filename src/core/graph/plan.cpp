#include "core/graph/plan.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/math/machine.hpp"
#include "core/math/matrix.hpp"
#include "core/math/product.hpp"
#include "core/support/error.hpp"

namespace attn {

namespace {

class Planner {
 public:
  explicit Planner(const PlanRequest& wish) : wish_(wish), bytes_(wish.bytes_before) {
    plan_.peak_bytes = plan_.most_bytes = bytes_;
    plan_.bytes_there = wish.bytes_there;
  }

  Plan run() && {
    for (const Node* target : wish_.targets) {
      find_needed(*target);
      parts_[target].stays = true;
    }
    std::ranges::sort(needed_, {}, &Node::index);
    for (const Node* node : needed_) find_whether_it_passes(*node);
    for (const Node* node : needed_) {
      if (!parts_.at(node).passes) count_uses(*node);
    }
    for (const Node* node : needed_) {
      if (!parts_.at(node).passes) add_step(*node);
    }
    return std::move(plan_);
  }

 private:
  struct Part {
    bool stays = false;
    bool passes = false;
    bool was_made = false;  // by a step
    bool by_rows = true;    // every user needs a few rows at a time
    std::size_t users = 0;  // once for each operand that it is
    std::size_t uses = 0;   // by steps to come
  };

  // Without recursion: a node of a long text stands on a chain of as many as there are.
  void find_needed(const Node& target) {
    std::size_t next = needed_.size();
    need(target);
    for (; next < needed_.size(); ++next) need_operands(*needed_[next]);
  }

  void need(const Node& node) {
    if (wish_.stands(node) || parts_.contains(&node)) return;
    parts_[&node].stays = wish_.stays(node);
    needed_.push_back(&node);
  }

  void need_operands(const Node& node) {
    const std::vector<Shape> shapes = shapes_of(node);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const Node& operand = *node.operands[i];
      if (needed(*node.op, node.use(), i, {0, node.frame.shape.rows}).count == 0) continue;
      need(operand);
      Part& part = parts_[&operand];
      ++part.users;
      if (is_large(operand)) part.by_rows = part.by_rows && passes_by(node, i);
    }
  }

  // A computed matrix passes by for one user only, or it would be computed twice; rows of a mask are made
  // again.
  void find_whether_it_passes(const Node& node) {
    Part& part = parts_.at(&node);
    const bool is_target = part.users == 0;
    if (!is_large(node) || part.stays || is_target || (node.op && part.users > 1)) return;
    part.passes = part.by_rows;
  }

  // The operands of a step that stand as a whole: its own, and those of what passes by.
  template <class Use>
  void for_each_whole(const Node& node, const Use& use) {
    for (const Node* operand : node.operands) {
      const auto found = parts_.find(operand);
      if (found == parts_.end()) continue;  // its numbers are not needed
      if (found->second.passes) {
        for_each_whole(*operand, use);
      } else {
        use(*operand, found->second);
      }
    }
  }

  void count_uses(const Node& node) {
    for_each_whole(node, [](const Node&, Part& part) { ++part.uses; });
  }

  // What passes by for a step, before what it passes to.
  void list_passing(const Node& node, std::vector<const Node*>& passing) const {
    for (const Node* operand : node.operands) {
      const auto found = parts_.find(operand);
      if (found == parts_.end() || !found->second.passes) continue;
      list_passing(*operand, passing);
      passing.push_back(operand);
    }
  }

  // The most bytes of what passes by for so many rows of a node: what one operand is made from is let go
  // before the next.
  std::uint64_t passing_bytes(const Node& node, RowRange made) const {
    std::uint64_t bytes = 0, most = 0;
    const std::vector<Shape> shapes = shapes_of(node);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const auto found = parts_.find(node.operands[i]);
      if (found == parts_.end() || !found->second.passes) continue;
      const RowRange those = whole_blocks(needed(*node.op, node.use(), i, made), shapes[i].rows);
      const bool in_place = i == 0 && node.op->in_place;
      if (!in_place) bytes += bytes_of({those.count, shapes[i].columns});
      most = std::max(most, bytes + passing_bytes(*node.operands[i], those));
    }
    return most;
  }

  bool may_overwrite(const Node& node) {
    if (!node.op || !node.op->in_place) return false;
    const Node& first = *node.operands.front();
    const auto found = parts_.find(&first);
    if (found == parts_.end()) return false;
    const Part& part = found->second;
    return part.was_made && !part.stays && part.uses == 1 && first.frame.shape == node.frame.shape;
  }

  void add_step(const Node& node) {
    Plan::Step step{.node = &node, .passing = {}, .in_place = may_overwrite(node), .done = {}};
    list_passing(node, step.passing);
    if (!step.in_place) bytes_ += bytes_of(node.frame.shape);
    const RowRange block{0, std::min(rows_of_block, node.frame.shape.rows)};
    const std::uint64_t passing = step.passing.empty() ? 0 : passing_bytes(node, block);
    const std::uint64_t blocks = node.frame.shape.rows / rows_of_block + 1;
    plan_.peak_bytes = std::max(plan_.peak_bytes, bytes_ + threads() * passing);
    plan_.most_bytes = std::max(plan_.most_bytes, bytes_ + blocks * passing);
    step.work = work_of(node);
    for (const Node* other : step.passing) step.work += work_of(*other);
    plan_.work += step.work;
    for_each_whole(node, [&](const Node& operand, Part& part) {
      const bool is_done = --part.uses == 0 && !part.stays && (operand.op || operand.made);
      if (!is_done || (step.in_place && &operand == node.operands.front())) return;
      if (!part.was_made && wish_.stays(operand)) return;
      bytes_ -= std::min(bytes_, bytes_of(operand.frame.shape));
      step.done.push_back(&operand);
    });
    parts_.at(&node).was_made = true;
    const bool is_largest = !plan_.largest || node.frame.shape.cells() > plan_.largest->frame.shape.cells();
    if (is_largest) plan_.largest = &node;
    plan_.steps.push_back(std::move(step));
  }

  const PlanRequest& wish_;
  std::unordered_map<const Node*, Part> parts_;
  std::vector<const Node*> needed_;
  std::uint64_t bytes_;
  Plan plan_;
};

}  // namespace

std::uint64_t work_of(const Node& node) {
  if (!node.op) return node.frame.shape.cells();
  const Cost cost = cost_of(*node.op, node.use(), shapes_of(node));
  constexpr std::uint64_t of_element = 8;  // multiplications in the time that an element takes
  return cost.multiply_adds + of_element * cost.element_operations;
}

std::uint64_t bytes_of(Shape shape) { return std::uint64_t{shape.rows} * shape.columns * sizeof(double); }

Plan plan(const PlanRequest& wish) { return Planner(wish).run(); }

Plan plan(const Graph& graph, const std::vector<const Node*>& nodes) {
  const auto has_numbers = [](const Node& node) { return !node.op && !node.made; };
  PlanRequest wish{.targets = {},
                   .stands = has_numbers,
                   .stays = [](const Node& node) { return is_kept(node, keep_nothing()); },
                   .bytes_before = 0,
                   .bytes_there = 0};
  for (const Node& node : graph.nodes()) {
    if (node.given && !node.given->has_cells()) continue;
    if (has_numbers(node)) wish.bytes_before += bytes_of(node.frame.shape);
    if (node.given) wish.bytes_there += bytes_of(node.frame.shape);
  }
  for (const Node* node : nodes) wish.targets.push_back(&node->original());
  return plan(wish);
}

std::vector<const Node*> all_nodes(const Graph& graph) {
  std::vector<const Node*> nodes;
  for (const Node& node : graph.nodes()) nodes.push_back(&node);
  return nodes;
}

std::vector<const Node*> nodes_at_rest(const Graph& graph) {
  std::vector<const Node*> nodes;
  std::vector<bool> rests(graph.nodes().size());
  for (const Node& node : graph.nodes()) {
    const auto needs_none = [&](const Node* operand) { return !operand->op || rests[operand->index]; };
    rests[node.index] = !is_large(node) && std::ranges::all_of(node.operands, needs_none);
    if (rests[node.index]) nodes.push_back(&node);
  }
  return nodes;
}

void require_room(const Plan& plan) {
  const std::uint64_t needed = bytes_in_use() + plan.peak_bytes - std::min(plan.bytes_there, plan.peak_bytes);
  constexpr double gibibyte = 1 << 30;
  constexpr std::string_view advice =
      "give fewer words or smaller sizes, or show fewer matrices, where the command can";
  for (const Plan::Step& step : plan.steps) {
    const Shape shape = step.node->frame.shape;
    if (fits(shape)) continue;
    fail("{} would be {}, more than the {} cells that a matrix may have: {}", step.node->title(), to_string(shape),
         most_cells, advice);
  }
  Budget::require_work(plan.work);
  Budget::require_cells(plan.most_bytes / sizeof(double));
  if (plan.steps.empty() || has_room_for(needed)) return;
  fail(
      "{} is {}, and all matrices at the same time need {:.1f} GiB, more than the {:.1f} GiB that they may have: "
      "{}",
      plan.largest->title(), to_string(plan.largest->frame.shape), static_cast<double>(needed) / gibibyte,
      static_cast<double>(most_matrix_bytes()) / gibibyte, advice);
}

bool is_kept(const Node& node, const Keep& keep) {
  const auto keeps = [&](const Node& one) { return one.handles > 0 || keep(one); };
  return keeps(node) || std::ranges::any_of(node.aliases, [&](const Node* alias) { return keeps(*alias); });
}

bool is_large(const Node& node) {
  const Shape shape = node.frame.shape;
  return shape.rows > rows_of_block && shape.cells() > most_cells_at_rest;
}

bool passes_by(const Node& user, std::size_t operand) {
  const std::vector<Shape> shapes = shapes_of(user);
  const RowRange block{0, std::min(rows_of_block, user.frame.shape.rows)};
  return needed(*user.op, user.use(), operand, block).count < shapes[operand].rows;
}

RowRange whole_blocks(RowRange rows, std::size_t of_all) {
  const std::size_t first = rows.first / rows_of_block * rows_of_block;
  const std::size_t blocks = (rows.first + rows.count - first + rows_of_block - 1) / rows_of_block;
  return {first, std::min(blocks * rows_of_block, of_all - first)};
}

std::vector<Shape> shapes_of(const Node& node) {
  std::vector<Shape> shapes;
  for (const Node* operand : node.operands) shapes.push_back(operand->frame.shape);
  return shapes;
}

}  // namespace attn
