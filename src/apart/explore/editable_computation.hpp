#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "apart/change/changed_matrix.hpp"
#include "core/graph/graph.hpp"
#include "core/rewrite/rewriting.hpp"

namespace attn {

/// A cell that is set to another number than the one that was computed or given.
struct CellSetting {
  const Node* node = nullptr;  // of the original
  std::size_t row = 0, column = 0;
  double value = 0.0;
  bool is_slid = false;  // step by step: a further step at the same cell takes its place
};

/// A computation, and the same once more after some cells were set: everything that is made of them follows. The
/// original outlives it.
class EditableComputation {
 public:
  explicit EditableComputation(const Graph& original) : original_(original) {}

  /// Sets a cell. Throws InputError where that cannot be computed, and then nothing is changed.
  void set(const CellSetting& setting);
  /// Takes the last setting back; false: there is none.
  bool undo();
  void undo_all();
  const std::vector<CellSetting>& settings() const { return settings_; }

  /// A node as it now is: of the original, where nothing behind it was set.
  const Node& now(const Node& original) const;
  bool has_changed(const Node& original) const { return &now(original) != &original; }
  /// Whether a cell of a matrix is set.
  bool is_set(const Node& original) const;
  /// The matrices that differ from what they were, in order.
  const std::vector<ChangedMatrix>& moved() const;
  /// All matrices as they now are, under their names.
  const Graph& graph() const;

 private:
  void compute(std::vector<CellSetting> settings);

  const Graph& original_;
  std::vector<CellSetting> settings_;
  std::unique_ptr<Rewriting> rewriting_;  // null: nothing is set
  mutable std::optional<std::vector<ChangedMatrix>> moved_;
};

}  // namespace attn
