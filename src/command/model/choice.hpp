#pragma once

#include "command/command.hpp"
#include "data/transformer_file.hpp"

namespace attn {

/// A model, and the words or vectors that it is run on.
struct ModelChoice {
  Transformer model;
  ModelInput source;
  ModelInput target;                  // what goes into the decoder
  std::vector<std::string> expected;  // the target's words one place earlier: what should come out
  std::optional<Matrix> memory;       // in place of what an encoder would have made of the source
  std::vector<std::string> remarks;
};

/// The options that choose a model, its sizes, its parameters and its words.
std::vector<Option> model_options();

/// What the arguments ask for: a model file or example, a file of parameters, or sizes to be drawn. `usual`
/// is the kind of model where nothing else decides it, and has the sides that are given words. Throws
/// InputError.
ModelChoice chosen_model(const Arguments& arguments, std::string_view usual);

/// Only kind, sizes and words: no parameter is read or drawn. For graphs that never evaluate.
ModelChoice planned_model(const Arguments& arguments, std::string_view usual);

/// The file that --save-parameters asks for, or none. Throws InputError for another ending than .safetensors
/// and .npz.
std::vector<FileToWrite> saved_parameters(const Arguments& arguments, const Transformer& model);

/// Keeps what `keep` keeps, and tells of every node that is made.
Keep telling(Keep keep, const Arguments& arguments);

/// The word of an id, which is counted from 1.
std::string word_of(const std::vector<std::string>& vocabulary, std::size_t id);

}  // namespace attn
