#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apart/change/alteration.hpp"
#include "command/model_rerun.hpp"
#include "page/block/page.hpp"

namespace attn {

/// The largest of a row of logits, from 1; nothing where one of them is NaN.
std::optional<std::size_t> most_probable_id(std::span<const double> logits);
/// −ln p of the right word of a row of logits.
double cross_entropy_of(std::span<const double> logits, std::size_t id);
/// Its mean over the rows. (Zhang et al., Dive into Deep Learning, section 4.1)
double mean_cross_entropy(const Matrix& logits, const std::vector<std::size_t>& ids);

/// Adds how many words a model gets right on sentences of a task that training never sees, as it is and as it is
/// altered; the graph is that of the words of the command line. Throws InputError: the model knows no words, or other
/// ones than the task has.
void add_held_out(Page& page, const Graph& graph, const ModelRerun* on_other_words, const std::string& task,
                  std::span<const Alteration> alterations);

}  // namespace attn
