#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/command.hpp"

namespace attn {

/// How something is computed that neither the line nor the file says: a question, for which a few answers are tried.
struct SupposedSetting {
  const Option* option;
  OptionValue value;

  /// As one would type it: "--heads 2".
  std::string typed() const;
};
/// Some of them together, and the other readings of matrices with which they go (command/check/other_readings.hpp).
struct Supposition {
  std::vector<SupposedSetting> settings;
  std::optional<std::size_t> readings = {};  // the sum of 2ⁱ for each of them; nothing: those that agree best
};

/// What is tried: each of so many other readings, each setting alone, and then two of these together, as far as the
/// computation has steps that they concern. `taken` is the line with what the file says, of which the options `open`
/// are guesses as well; `is_recorded`: the file has all that its program was given.
std::vector<Supposition> suppositions(const Command& command, const Arguments& taken, const Graph& graph,
                                      const OptionList& open, bool is_recorded, std::size_t other_readings);

/// How many heads there may be.
std::vector<SupposedSetting> supposed_heads();

/// The option that says which of two conventions is meant: where the line has it, the other one is a mistake.
struct DecidedConvention {
  std::string_view convention;
  const Option* by;
};
std::span<const DecidedConvention> decided_conventions();

}  // namespace attn
