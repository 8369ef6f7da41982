#pragma once

#include <variant>
#include <vector>

#include "document/living.hpp"

namespace attn {

/// The most matrices, and numbers of them, that a computation of a lesson may have to be live on a page: with
/// inputs, and with what is made on the way.
constexpr std::size_t most_live_matrices = 85, most_live_numbers = 3'000;

/// What a command has computed, as far as the page of the lesson shows it and a reader can change it.
struct LiveResult {
  std::vector<const Node*> nodes;    // what its output shows, and all that this is computed from
  std::vector<const Node*> results;  // that have a table
  std::vector<const Node*> behind;   // that get a table behind the output, to be changed there
};

/// Why nothing of a result can be changed.
enum class Still { computes_nothing, too_large };

/// Whether a node is a named input of a computation.
bool is_input(const Node& node);

/// What of a result can be changed. An output with tables is followed by the inputs that it does not show;
/// one without tables, such as how a number was made, by all matrices.
std::variant<Still, LiveResult> live(const CommandResult& result);

}  // namespace attn
