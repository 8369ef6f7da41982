#pragma once

#include "command/command.hpp"
#include "data/problem/model_file.hpp"

namespace attn {

/// What a command does with a model.
struct ModelUse {
  enum class Needs { any, encoder, decoder };

  std::string_view command;
  std::string_view usual_kind;  // a row of model_kinds(), where nothing else decides it; its sides get words
  Needs needs = Needs::any;
  bool begins_with_target = false;  // what it shows, and so what --text gives
  bool writes = false;              // the target's words: it needs none to begin with but <start>, where there is one
};

/// A model, and the words or vectors that it is run on.
struct ModelChoice {
  Transformer model;  // without parameters as long as they are to be drawn
  ModelInput source;
  ModelInput target;  // what goes into the decoder
  ModelWords words = {};
  std::vector<std::string> expected;  // the target's words one place earlier: what should come out
  std::optional<Matrix> memory;       // in place of what an encoder would have made of the source
  std::vector<std::string> remarks;
  DrawnMatrices drawings = {};                   // of what was drawn for it
  std::optional<std::uint32_t> drawn_with = {};  // the seed of random parameters; none: they were given
};

/// What the arguments ask for, a model file or example, a file of parameters, or sizes, with the words that
/// it is run on. Parameters of a model that is not read are not drawn yet. Throws InputError.
ModelChoice planned_model(const Arguments& arguments, const ModelUse& use);

/// The same without words, where a model that is read needs none: what it has learned is only looked at.
ModelChoice planned_model_alone(const Arguments& arguments, const ModelUse& use);

/// With parameters drawn, if it has none. Throws InputError for more than are drawn.
ModelChoice with_drawn_parameters(ModelChoice choice, const Arguments& arguments, const ModelUse& use);

/// What is said of a model whose parameters are random, and where trained ones of its kind are.
std::string note_on_random_parameters(const ModelUse& use, const ModelKind& kind, std::uint32_t seed);

}  // namespace attn
