#pragma once

#include "command/backward/asked_loss.hpp"

namespace attn {

/// What goes into a layer, a step of a recurrent network, or a sentence from outside: a node that is used
/// outside of where it was computed. Everything else can be computed again from these.
CheckpointRule checkpoint_between_layers(const Graph& graph);

/// What some nodes take: the most bytes at the same time, and all operations.
struct PassCost {
  std::uint64_t peak_bytes = 0;
  Cost cost = {};
};

/// The way forward alone, with the way back, and with a way back that keeps only what goes into layers.
struct PassMemory {
  PassCost forward, both, recomputed;
};

/// Known from shapes alone: nothing is computed. The gradients that are asked for are those of the inputs.
PassMemory memory_of_pass(const Node& loss);

/// Adds what the ways there and back take; with --recompute the third as well, and whether it gives the same
/// numbers, for which both are computed.
void add_memory(Page& page, const Loss& loss, bool recomputes);

}  // namespace attn
