#include "apart/explore/editable_computation.hpp"

#include <algorithm>

namespace attn {
void EditableComputation::set(const CellSetting& setting) {
  std::vector<CellSetting> settings = settings_;
  const bool goes_on = !settings.empty() && setting.is_slid && settings.back().is_slid &&
                       settings.back().node == setting.node && settings.back().row == setting.row &&
                       settings.back().column == setting.column;
  if (goes_on) settings.pop_back();
  settings.push_back(setting);
  compute(std::move(settings));
}

bool EditableComputation::undo() {
  if (settings_.empty()) return false;
  compute({settings_.begin(), settings_.end() - 1});
  return true;
}

void EditableComputation::undo_all() { compute({}); }

const Node& EditableComputation::now(const Node& original) const {
  if (!rewriting_ || !rewriting_->changes(original)) return original;
  return rewriting_->of(original).node();
}

bool EditableComputation::is_set(const Node& original) const {
  return std::ranges::any_of(settings_, [&](const CellSetting& one) { return one.node == &original.original(); });
}

const std::vector<ChangedMatrix>& EditableComputation::moved() const {
  if (moved_) return *moved_;
  std::vector<ChangedMatrix> all;
  if (rewriting_) all = changed_matrices(original_, *rewriting_);
  std::erase_if(all, [](const ChangedMatrix& one) { return one.moved.agrees(); });
  return moved_.emplace(std::move(all));
}

const Graph& EditableComputation::graph() const {
  if (!rewriting_) return original_;
  for (const Node* node : original_.named()) rewriting_->of(*node);
  return rewriting_->graph();
}

void EditableComputation::compute(std::vector<CellSetting> settings) {
  std::unique_ptr<Rewriting> rewriting;
  if (!settings.empty()) {
    const auto is_set = [settings](const Node& node) {
      return std::ranges::any_of(settings, [&](const CellSetting& one) { return one.node == &node; });
    };
    const auto with_numbers = [settings](RewriteSite at) -> std::optional<Value> {
      Matrix numbers = at.node.op ? at.itself().matrix() : at.node.matrix();
      for (const CellSetting& one : settings) {
        if (one.node == &at.node) numbers(one.row, one.column) = one.value;
      }
      return at.like(std::move(numbers));
    };
    rewriting = std::make_unique<Rewriting>(original_, Change{is_set, with_numbers});
    // What cannot be computed is refused here, while all is as it was.
    for (const Node* node : original_.named()) {
      if (rewriting->changes(*node)) rewriting->of(*node).matrix();
    }
  }
  settings_ = std::move(settings);
  rewriting_ = std::move(rewriting);
  moved_.reset();
}

}  // namespace attn
