#pragma once

#include <memory>
#include <optional>
#include <string>

#include "command/command.hpp"
#include "command/options.hpp"
#include "data/problem/problem_options.hpp"
#include "school/training/task.hpp"
#include "school/training/trainer.hpp"

namespace attn {

/// Options of a text that is learned, and those of the recipe of a model.
inline constexpr const Option* of_texts[] = {&option::text_file, &option::subwords, &option::window};
inline constexpr const Option* of_recipes[] = {&option::no_bias, &option::kv_heads};

/// A training that a command line asks for.
struct AskedTraining {
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<Trainer> beside = nullptr;  // of another architecture; null: none
  std::optional<std::string> resumed;         // the bytes of the state that it goes on with
  std::optional<std::string> text;            // the sentence that is looked at
};

/// Reads what the options ask for. Throws InputError: an unknown task, a state of another task, options that
/// a state contradicts, sizes that do not fit, words that the task does not have.
AskedTraining asked_training(const Arguments& arguments);

/// The sentence that is looked at: the reader's own, or the first that was held out.
TaskExample watched_sentence(const AskedTraining& asked);

}  // namespace attn
