#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "command/model/choice.hpp"
#include "command/model_rerun.hpp"
#include "school/browser/story.hpp"

namespace attn {

/// Runs a model on its words, as far as it goes: `source.x` … `distribution`.
void run_model(const ModelChoice& choice, Graph& graph);

/// The sentences of a line whose words go in one by one; a tokenizer makes others of them.
std::vector<SentenceOfLine> sentences_of_line(const ModelChoice& choice);

/// The same model on other words.
ModelRerun model_rerun(const ModelChoice& choice);

/// Throws InputError when what is wanted of a model would not fit into memory, or its parameters be too many.
/// Nothing is drawn or computed for it.
void require_room(const ModelChoice& choice, const std::function<std::vector<const Node*>(const Graph&)>& wanted);

/// Tells of every matrix that the graph's run comes to, where work is told of.
void tell_progress(const Graph& graph, const Arguments& arguments);

/// The sizes of a model and its recipe, in a sentence, with what is said of its positions:
/// "N = 6, d_model = 512, h = 8, …".
std::string sizes_in_words(const Transformer& model, std::string_view positions);

/// What the model tells of positions, in a sentence: "learned", "32 buckets of distances, the last from 128 on".
std::string positions_in_words(const Transformer& model);

/// The file that --save-parameters asks for, or none. Throws InputError for another ending than .safetensors
/// and .npz.
std::vector<FileToWrite> saved_parameters(const Arguments& arguments, const Transformer& model);

}  // namespace attn
