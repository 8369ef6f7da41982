#pragma once

#include "training/task.hpp"

namespace attn {

// The tasks, each in a file of its own.
extern const Task reverse_task, sort_task, induction_task, fixed_induction_task, names_task, dates_task,
    coreference_task, pairs_task;

// What several tasks are made of.

/// A whole number from 0 to below `count`, each as probable.
std::size_t any_of(std::size_t count, Generator& generator);

/// A model of one side with an output layer, an encoder or a decoder, that knows these words.
Transformer one_sided(const ModelKind& kind, const Vocabulary& words, const TransformerSizes& sizes,
                      const ModelRecipe& recipe);

/// The kinds of models by name.
const ModelKind& encoder_only();
const ModelKind& decoder_only();
const ModelKind& both_sides();

/// A recipe with another placement and kind of norms, and another kind of positions.
ModelRecipe recipe_with(std::string_view norm, std::string_view norm_kind, std::string_view positions);

/// The schedule that falls to 0.
const RateSchedule& falling_rate();

/// The sizes, changed as they are asked for.
TransformerSizes changed(TransformerSizes sizes, const SizeChanges& changes);

}  // namespace attn
