#include "apart/explore/changed.hpp"

#include <algorithm>

namespace attn {
void Changed::set(const CellSetting& setting) {
  std::vector<CellSetting> settings = settings_;
  const bool goes_on = !settings.empty() && setting.is_slid && settings.back().is_slid &&
                       settings.back().node == setting.node && settings.back().row == setting.row &&
                       settings.back().column == setting.column;
  if (goes_on) settings.pop_back();
  settings.push_back(setting);
  compute(std::move(settings));
}

bool Changed::undo() {
  if (settings_.empty()) return false;
  compute({settings_.begin(), settings_.end() - 1});
  return true;
}

void Changed::undo_all() { compute({}); }

const Node& Changed::now(const Node& original) const {
  if (!rewriting_ || !rewriting_->changes(original)) return original;
  return rewriting_->of(original).node();
}

bool Changed::is_set(const Node& original) const {
  return std::ranges::any_of(settings_, [&](const CellSetting& one) { return one.node == &original.original(); });
}

const std::vector<MatrixMoved>& Changed::moved() const {
  if (moved_) return *moved_;
  std::vector<MatrixMoved> all;
  if (rewriting_) all = what_moved(original_, *rewriting_);
  std::erase_if(all, [](const MatrixMoved& one) { return one.moved.agrees(); });
  return moved_.emplace(std::move(all));
}

const Graph& Changed::graph() const {
  if (!rewriting_) return original_;
  for (const Node* node : original_.named()) rewriting_->of(*node);
  return rewriting_->graph();
}

void Changed::compute(std::vector<CellSetting> settings) {
  std::unique_ptr<Rewriting> rewriting;
  if (!settings.empty()) {
    const auto is_set = [settings](const Node& node) {
      return std::ranges::any_of(settings, [&](const CellSetting& one) { return one.node == &node; });
    };
    const auto with_numbers = [settings](At at) -> std::optional<Value> {
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
