#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "command/options.hpp"

namespace attn {

// What is known of the modules of programs that were recorded.

/// How the names begin that a recorder gives: what is told of modules, their parameters, and what went in and came out.
constexpr std::string_view about_name = "about", parameter_prefix = "parameter.", buffer_prefix = "buffer.",
                           setting_prefix = "setting.", type_prefix = "type.", input_prefix = "input.",
                           output_prefix = "output.";

/// Which command computes what a module does, by the layout of its parameters.
struct RecordedLayout {
  std::string_view layout, command;
};
/// Null: it is of a part, such as an attention, or of nothing that is compared.
const RecordedLayout* layout_recorded_as(std::string_view layout);

/// The same by its type.
struct RecordedType {
  std::string_view type, command;
};
std::span<const RecordedType> recorded_types();

/// What goes into a module: its matrices, in the order of its arguments, its masks by how they are called, and the ids
/// of its words where it has an embedding.
struct RecordedInputs {
  std::string_view command;
  std::array<const Option*, 3> matrices;
  struct MaskName {
    std::string_view ending;  // of the argument
    const Option* option;
  };
  std::vector<MaskName> masks;  // those with a longer ending first
  std::array<const Option*, 2> ids = {};
};
/// Null: nothing that this command computes is a module.
const RecordedInputs* inputs_recorded_for(std::string_view command);

/// What goes into a linear layer and what comes out, by its weight.
struct AroundLinear {
  const Role* weight;
  const Role* taken;  // null: nothing that has a name
  const Role* made;
};
std::span<const AroundLinear> around_linear();

constexpr std::array<std::string_view, 7> names_of_heads = {
    "num_heads", "n_heads", "n_head", "nhead", "heads", "h", "num_attention_heads"};
constexpr std::array<std::string_view, 2> names_of_causal = {"is_causal", "causal"};

constexpr std::array<std::string_view, 3> names_of_activation = {"activation", "act", "act_fn"};
constexpr std::array<std::string_view, 1> names_of_approximation = {"approximate"};

/// The activation that a function or a type of modules computes. With a tanh in place of Φ where the module says so.
struct RecordedActivation {
  std::string_view theirs, ours, by_tanh = ours;
};
/// Null: it is none.
const RecordedActivation* activation_called(std::string_view theirs);

}  // namespace attn
