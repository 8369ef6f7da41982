#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/rewrite/rewriting.hpp"

namespace attn {

/// A mistake that people make in a computation: another computation, which differs in some nodes. It is known
/// by what nodes are, and so it can be made wherever there are such nodes.
struct Mistake {
  /// Whether it is an error, or what others do by agreement.
  enum class Kind { error, convention };
  /// What is made in the place of a node; nothing: with these numbers it is no other. Throws InputError where that
  /// cannot be computed.
  using Instead = std::optional<Value> (*)(RewriteSite at);

  std::string_view name;  // "softmax-over-queries"
  Kind kind;
  std::string_view summary;  // in a phrase: "softmax over the queries instead of the keys"
  std::string_view says;     // what was done and what to do instead; of a convention, who does it so
  /// Whether it can be made at a node, by what that is: its operation, role, scope, frame and operands. It
  /// computes nothing.
  bool (*where)(const Node& node);
  Instead instead;
  /// Other ways in which people make the same mistake, at the same nodes; null: none. All that it says is true of them.
  std::array<Instead, 3> variants = {};
  /// Whether its numbers are NaN or infinite by what it does. NaN speaks for no other.
  bool about_no_number = false;

  /// As it is made first; a variant of it is a change of its own.
  operator Change() const { return {where, instead}; }
};

/// All of them, those on one subject together. A new one is a row in the table of its subject.
std::span<const Mistake> mistakes();

// The subjects, in the files of_*.cpp.
std::span<const Mistake> mistakes_of_scores();
std::span<const Mistake> mistakes_of_softmax();
std::span<const Mistake> mistakes_of_values();
std::span<const Mistake> mistakes_of_heads();
std::span<const Mistake> mistakes_of_masks();
std::span<const Mistake> mistakes_of_sides();
std::span<const Mistake> mistakes_of_norms();
std::span<const Mistake> mistakes_of_residuals();
std::span<const Mistake> mistakes_of_embeddings();
std::span<const Mistake> mistakes_of_positions();
std::span<const Mistake> mistakes_of_rotary_positions();
std::span<const Mistake> mistakes_of_feed_forward();
std::span<const Mistake> mistakes_of_maps();
std::span<const Mistake> mistakes_of_recurrence();
std::span<const Mistake> mistakes_of_losses();
std::span<const Mistake> mistakes_of_gradients();
std::span<const Mistake> mistakes_of_kernels();

/// A mistake that can be made in a computation, and the first node where. Nothing before that can change.
struct PossibleMistake {
  const Mistake* mistake;
  const Node* first;
};

/// Those that can be made at some node of a computation.
std::vector<PossibleMistake> possible_mistakes(const Graph& graph);

}  // namespace attn
