#pragma once

#include "command/backward/copy.hpp"

namespace attn {

/// The derivatives of the numbers of one matrix by those of others, exactly: one way back, which is run for
/// one number after another.
class Sensitivity {
 public:
  /// Throws InputError as runs do.
  Sensitivity(const Node& of, const std::vector<const Node*>& by);

  /// Goes back from one number.
  void take(std::size_t row, std::size_t column);
  /// Its derivatives by the i-th of the others; null: it does not depend on that matrix.
  std::shared_ptr<const Matrix> by(std::size_t i) const;
  /// What it takes to go back once, in multiply-adds.
  std::uint64_t work() const { return plan_.work; }

 private:
  GraphCopy copy_;
  std::shared_ptr<Matrix> upstream_;
  std::vector<const Node*> gradients_;
  Plan plan_;
};

}  // namespace attn
