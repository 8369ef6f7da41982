#pragma once

#include <span>
#include <string_view>

#include "core/model/recipe.hpp"

namespace attn {

/// A field of a recipe with the value that it has in one that has a name.
struct NamedField {
  const RecipeField* field;
  FieldValue value;
};

/// How the models of some time compute, as a set of choices that each have an option of their own.
struct NamedRecipe {
  std::string_view name;
  std::string_view summary;
  std::span<const NamedField> fields;  // the others are as usual
  bool biases = true;
  std::size_t shared_by = 1;  // heads of queries that share one of keys and values, where that divides the heads

  ModelRecipe recipe() const;
  /// Heads of keys and values, where there are so many of queries.
  std::size_t key_heads(std::size_t heads) const;
};

/// 2017 (Vaswani et al. 2017), gpt2 (Radford et al. 2019), llama (Touvron et al. 2023, Llama 2). A new one is a row.
/// The first is the usual one.
std::span<const NamedRecipe> named_recipes();

}  // namespace attn
