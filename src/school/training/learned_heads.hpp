#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "page/block/page.hpp"
#include "page/tell/heads.hpp"
#include "school/training/example.hpp"

namespace attn {

/// What the heads of a trained model do, measured on some sentences.
struct LearnedHeads {
  std::vector<std::string> names;   // of the weights
  std::vector<std::string> titles;  // "encoder.1.self_attention, head 2"
  std::vector<HeadMeasure> heads;
  std::size_t sentences = 0;
  bool leaves_out = false;  // queries whose words do not count
};
LearnedHeads heads_of(const TrainedModel& model, const std::vector<TaskExample>& sentences);

/// "head 2 of encoder.1.self_attention", or of an attention with one head its place.
std::string head_in_place(const Node& weights);

/// Adds what rules find in them, the rules, and a matrix of the numbers.
void add_heads(Page& page, const LearnedHeads& learned);

/// Adds pictures of the weights of all heads, where they are not too many.
void add_pictures(Page& page, const Graph& graph);

}  // namespace attn
