#pragma once

#include <cmath>
#include <functional>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/rewrite/rewriting.hpp"

namespace attn {

// What people and short programs round on the way, each as changes of a computation.

enum class RoundOrCut { nearest, nearest_even, cut };

constexpr int most_decimals_by_hand = 4;

/// A number at so many decimals. One that stands exactly between two is rounded away from 0, as people do, or to the
/// even one, as NumPy does.
double kept(double x, int decimals, RoundOrCut keep);

using OfNumber = std::function<double(double)>;

Matrix each_number(const Matrix& matrix, const OfNumber& function);

/// Whether it is a matrix with a name that is computed on the way to the result.
bool is_step(const Node& node);

/// What the other changes make of a step, with a function of each number.
Change behind_each(std::function<bool(const Node& node)> where, OfNumber function);

/// The division of scores by a root that is no whole number.
bool divides_by_a_root(const Node& node);

struct RoundedRoot {
  int decimals;
  RoundOrCut keep;
  bool is_reciprocal;  // 1/√2 as 0.71, by which the scores are multiplied
};
/// The usual ones first.
std::span<const RoundedRoot> rounded_roots();
double root_kept(double root, const RoundedRoot& as);
Change with_rounded_root(const RoundedRoot& as);

struct Exponentials {
  std::optional<int> decimals = {};  // nothing: they are not rounded
  RoundOrCut keep = RoundOrCut::nearest;
  bool less_largest = false;  // after the largest number of the row is subtracted
  double base = std::numbers::e;
};

/// Faster ones that are nearly right.
struct OtherExponential {
  std::string_view told;
  double (*function)(double);
};
std::span<const OtherExponential> other_exponentials();

/// The softmax of attention by another exponential, of each number, or of each less the largest of its row.
Change softmax_by(OfNumber function, bool less_largest);
Change with_exponentials_as(const Exponentials& as);

/// What somebody may have rounded on the way.
struct HandRounding {
  std::vector<std::pair<const Role*, int>> roles = {};  // to how many decimals; null: each step
  RoundOrCut keep = RoundOrCut::nearest;
  std::optional<Exponentials> exponentials = {};
  std::optional<RoundedRoot> root = {};

  /// A matrix that is compared has the decimals of its file: whatever else it is, it is not rounded for itself.
  std::vector<Change> changes(const Node* const& compared) const;
  /// In words; `scaled`: the node that divides by the root, where there is one.
  std::string told(const Node* scaled) const;
};

}  // namespace attn
