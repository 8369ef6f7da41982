#pragma once

#include "drill/series.hpp"
#include "lesson/prompt.hpp"

namespace attn {

/// Asks problem after problem, with the same hints and diagnoses as lessons, until the reader leaves. After
/// each it shows how the answer comes about. `begin` says what is practised.
void take_drill(DrillSeries series, const RunCommand& run, Conversation& conversation,
                std::vector<Block> begin);

}  // namespace attn
