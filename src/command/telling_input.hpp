#pragma once

#include <optional>
#include <vector>

#include "command/command.hpp"
#include "tell/comparison_page.hpp"

namespace attn {

/// A small computation of this command, or of one that computes the same, in whose matrices of these roles
/// the mistakes can best be told apart. Nothing: they give the same numbers in all that are tried.
std::optional<TellingInput> telling_input(const Command& command, const std::vector<const Mistake*>& mistakes,
                                          const std::vector<const Role*>& roles,
                                          const Environment& environment);

}  // namespace attn
